"""The chain of RANK Eq. 5 in as many digits as asked for, and exact decisions about rank.

Matrices are the document's ``H`` ``(d, N)``, a row for each unit, as numpy arrays of mpmath
numbers. For the few small cases that judge what float64 says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import mpmath
import numpy as np

__all__ = ["ACTIVATIONS", "batch_norm_path", "elimination_rank", "exactly"]

Matrix = np.ndarray[Any, np.dtype[Any]]

#: Odd functions with ``|F(x)| <= |x|``, entry by entry on mpmath numbers.
ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "identity": lambda x: x,
    "tanh": mpmath.tanh,
    "sin": mpmath.sin,
}


def exactly(values: Any) -> Matrix:
    """Return doubles as mpmath numbers, digit by digit.

    >>> exactly([0.5])
    array([mpf('0.5')], dtype=object)
    """
    converted: Matrix = np.asarray(np.frompyfunc(mpmath.mpf, 1, 1)(np.asarray(values, dtype=float)))
    return converted


def batch_norm_path(
    h: Matrix, weights: Iterable[Any], gamma: float | None, activation: str, digits: int
) -> Iterator[Matrix]:
    """Yield the representations ``(d, N)`` after one layer, two layers, ..., in ``digits`` digits.

    Rows of ``H + gamma W F(H)`` (``W F(H)`` if gamma is None) are scaled to the norm ``sqrt N``.

    >>> path = batch_norm_path(exactly([[1, 1]]), [[[2.0]]], 1.0, "identity", 30)
    >>> [float(x) for x in next(path).ravel()]
    [1.0, 1.0]
    """
    apply = np.frompyfunc(ACTIVATIONS[activation], 1, 1)
    root = np.frompyfunc(mpmath.sqrt, 1, 1)
    with mpmath.workdps(digits):
        for w in weights:
            moved = exactly(w) @ apply(h)
            z = moved if gamma is None else h + mpmath.mpf(gamma) * moved
            h = z / root((z * z).sum(axis=1, keepdims=True) / z.shape[1])
            yield h


def elimination_rank(h: Matrix, digits: int) -> int:
    """Return the number of pivots of complete elimination above ``10^(-digits/2)`` of the first.

    Complete pivoting is rank-revealing for matrices as small as these: a pivot is of the size of
    a singular value, up to a modest factor. Half of the digits are kept for rounding.

    >>> elimination_rank(exactly([[1, 2], [2, 4]]), 30), elimination_rank(exactly(np.eye(2)), 30)
    (1, 2)
    """
    with mpmath.workdps(digits):
        rest = np.array(h, dtype=object)
        least = mpmath.mpf(10) ** (-(digits // 2)) * abs(rest).max()
        rank = 0
        while rest.size and abs(rest).max() > least:
            i, j = np.unravel_index(int(np.argmax(abs(rest))), rest.shape)
            pivot, row, column = rest[i, j], rest[i], rest[:, j]
            rest = rest - np.outer(column / pivot, row)
            rest = np.delete(np.delete(rest, i, axis=0), j, axis=1)
            rank += 1
        return rank
