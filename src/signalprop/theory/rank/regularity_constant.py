"""The regularity constant of RANK Definition 7, for spectra given by values and multiplicities.

If all rows of M have the same norm, ``tr diag(M^2)^2 / tr M^3`` is a function of its eigenvalues:
``|l|_2^4 / (|l|_1 |l|_3^3)``, where the trace ``|l|_1`` is d for matrices with a unit diagonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop.theory._formula import formula

__all__ = ["rank_example_17", "rank_regularity", "rank_regularity_deficit"]


@formula(values=1)
def rank_regularity(values: Any, counts: Any = 1.0) -> float:
    """Return ``|l|_2^4 / (|l|_1 |l|_3^3)`` of eigenvalues l with multiplicities ``counts``.

    >>> rank_regularity([2.0, 2.0, 0.0]), rank_regularity([3.0, 1.0], [1, 3])
    (1.0, 0.8)
    """
    values, counts = _spectrum(values, counts)
    first, second, third = ((counts * values**k).sum() for k in (1, 2, 3))
    return float(second / first * (second / third))


@formula(values=1)
def rank_regularity_deficit(values: Any, counts: Any = 1.0) -> float:
    """Return ``1 - alpha`` as a sum of squares, which is zero for flat spectra only.

    It is ``sum_ij l_i l_j (l_i - l_j)^2 / (2 |l|_1 |l|_3^3)``: Lagrange's identity for the
    inequality of Cauchy and Schwarz in RANK Eq. 89.

    >>> round(rank_regularity_deficit([3.0, 1.0], [1, 3]), 12)
    0.2
    """
    values, counts = _spectrum(values, counts)
    mass = counts * values
    spread = mass[:, None] * mass * (values[:, None] - values) ** 2
    return float(spread.sum() / (2 * mass.sum() * (mass * values**2).sum()))


@formula(values=1)
def rank_example_17(values: Any, counts: Any = 1.0) -> float:
    """Return an upper bound of alpha: ``(|l|_2 / l_1)^4 l_1 / |l|_1``, l_1 the largest.

    Why it is right: ``|l|_3^3 >= l_1^3``. It is ``O(d^(beta - 1))``, which RANK Example 17 claims,
    if ``l_1`` is of the order ``d^beta`` *and* the others have squares that sum to no more than the
    order of ``l_1^2``.

    >>> round(rank_example_17([3.0, 1.0], [1, 3]), 4)
    0.8889
    """
    values, counts = _spectrum(values, counts)
    top = values.max()
    squares = (counts * (values / top) ** 2).sum()
    return float(squares**2 * (top / (counts * values).sum()))


def _spectrum(values: Any, counts: Any) -> tuple[Any, Any]:
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or not (values >= 0).all() or not values.any():
        raise ValueError(f"values must be non-negative eigenvalues, not all zero, got {values}")
    return values, np.broadcast_to(np.asarray(counts, dtype=float), values.shape)
