"""The regularity constant of RANK Definition 7: its range, its extremes, and how it falls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import scipy

import signalprop as sp
from signallab.case import Case
from signallab.rank.invariant_laws import one_sample_law
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "FAMILIES",
    "at_most_cube",
    "by_definition",
    "example_16",
    "example_17",
    "families_against_width",
    "flat",
    "flat_in_blocks",
    "normalized",
    "one_sample",
    "sign_circulants",
    "terms",
]

Spectrum = tuple[list[float], list[float]]


def normalized(d: int, samples: int, spread: float, stream: Stream, count: int) -> Floats:
    """Return matrices ``(count, d, samples)`` with rows of norm ``sqrt samples``.

    Gaussian, times a diagonal of samples with log-deviation ``spread``: from well conditioned to
    nearly of rank one.

    >>> float((normalized(3, 4, 1.0, Stream(0), 1) ** 2).sum().round(9))
    12.0
    """
    draw = stream.numpy("normalized", d, samples, str(spread))
    h = draw.normal(size=(count, d, samples))
    h = h * np.exp(spread * draw.normal(size=(count, 1, samples)))
    result: Floats = h / np.linalg.norm(h, axis=2, keepdims=True) * np.sqrt(samples)
    return result


def by_definition(h: Floats, diagonal_first: bool = False) -> Floats:
    """RANK Definition 7 at ``h`` ``(d, N)``: ``Tr(diag(M^2)^2)`` and ``Tr(M^3)``, as written.

    ``diagonal_first`` takes the diagonal of M in place of that of ``M^2``.

    >>> by_definition(np.array([[1.0, 1.0], [1.0, -1.0]]))
    array([2., 2.])
    """
    m = h @ h.T / h.shape[1]
    diagonal = np.diag(np.diag(m if diagonal_first else m @ m))
    return np.array([np.trace(diagonal @ diagonal), np.trace(m @ m @ m)])


def terms(d: int, samples: int, stream: Stream, diagonal_first: bool = False) -> Case:
    """The library's two terms beside the definition, for four random matrices.

    >>> case = terms(3, 5, Stream(0))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    h: Any = normalized(d, samples, 1.0, stream, 4)
    library = np.stack(sp.metrics.regularity_terms(h.swapaxes(1, 2)), -1)
    return Case(
        library,
        np.stack([by_definition(each, diagonal_first) for each in h]),
        words=f"d = {d}, N = {samples}",
    )


def at_most_cube(
    d: int, samples: int, spread: float, stream: Stream, count: int = 200, factor: float = 1.0
) -> Case:
    """``factor Tr(diag(M^2)^2)`` and ``Tr(M^3)`` of random matrices: numerator and denominator.

    >>> case = at_most_cube(2, 2, 0.0, Stream(0), 3)
    >>> bool((case.left <= case.right).all())
    True
    """
    h: Any = normalized(d, samples, spread, stream, count)
    diagonal, cube = sp.metrics.regularity_terms(h.swapaxes(1, 2))
    words = f"d = {d}, N = {samples}, spread {spread:g}"
    return Case(factor * np.asarray(diagonal), np.asarray(cube), words=words)


def one_sample(d: int, gamma: float, *, margin: float = 0.0, square_outside: bool = False) -> Case:
    """Lemma 15 for one sample, linear: alpha of the one invariant law plus ``margin``, and 1.

    The law is computed, and several are a ``ValueError``. ``square_outside`` has
    ``Tr(diag(M^2))^2`` in the numerator.

    >>> float(one_sample(2, 2.0).left)
    1.0
    """
    law = one_sample_law("identity", d, gamma)
    numerator = denominator = 0.0
    for signs, probability in zip(product((1.0, -1.0), repeat=d), law.ravel(), strict=True):
        inside, cube = by_definition(np.array(signs)[:, None])
        numerator += probability * (float(d**2) ** 2 if square_outside else inside)
        denominator += probability * cube
    alpha = round(numerator / denominator, 12)
    words = f"d = {d}, N = 1, gamma = {gamma:g}"
    return Case(alpha + margin, 1.0, {"one invariant law": True}, words)


def flat_in_blocks() -> dict[str, Floats]:
    """Return matrices M with a unit diagonal on which the ratio is 1, by name, and two others.

    >>> [m.diagonal().round(12).tolist() for m in flat_in_blocks().values()][0]
    [1.0, 1.0, 1.0, 1.0]
    """
    angles = 2 * np.pi * np.arange(5) / 5
    star = np.stack([np.cos(angles), np.sin(angles)], -1)
    signs = np.outer([1, -1, 1, 1], [1, -1, 1, 1.0])
    return {
        "orthogonal units": np.eye(4),
        "equal units, up to signs": signs,
        "a star of five in a plane": star @ star.T,
        "star, equal units and one more": scipy.linalg.block_diag(star @ star.T, signs, 1.0),
        "cosines of 1/2": 0.5 * np.eye(4) + 0.5,
        "two cosines of 1/2 in a row": scipy.linalg.toeplitz([1, 0.5, 0]),
    }


def sign_circulants(largest: int) -> Iterator[dict[str, Any]]:
    """Yield ``S S^T``, whole numbers, for circulants S of all signs of the sizes 2 to ``largest``.

    Rows of S have norm ``sqrt N`` with ``N = d``, so ``M = S S^T / N`` is circulant with a unit
    diagonal, and all its rows have one norm. The first sign is plus.

    >>> [point["words"] for point in sign_circulants(2)]
    ['++', '+-']
    """
    for n in range(2, largest + 1):
        for rest in product((1, -1), repeat=n - 1):
            s = scipy.linalg.circulant((1, *rest)).astype(np.int64)
            yield {"g": s @ s.T, "words": "".join("+" if k > 0 else "-" for k in (1, *rest))}


def flat(g: Any) -> bool:
    """Tell whether all non-zero eigenvalues of a whole-number circulant ``g = N M`` are equal.

    Exact: it is so if and only if ``M^2`` is a multiple of M, and M has a unit diagonal.

    >>> flat(np.array([[2, 0], [0, 2]])), flat(np.array([[3, 1, 1], [1, 3, 1], [1, 1, 3]]))
    (True, False)
    """
    square = g @ g
    return bool((len(g) * square == square[0, 0] * g).all())


def example_16(g: Any, words: str, spectrum: Callable[[Any], bool] = flat) -> Case:
    """RANK Example 16: whether the constant is at least 1, and whether the spectrum is flat.

    In whole numbers: ``Tr(diag(g^2)^2) >= N Tr(g^3)`` for ``g = N M``.

    >>> case = example_16(np.array([[2, 2], [2, 2]]), "")
    >>> case.left, case.right
    (True, True)
    """
    square = g @ g
    at_least = (np.diag(square) ** 2).sum() >= len(g) * np.trace(square @ g)
    return Case(bool(at_least), spectrum(g), words=words)


def _all_equal(d: float, beta: float) -> Spectrum:
    top = d**beta
    return [top, (d - top) / (d - 1)], [1.0, d - 1]


def _below(ratio: Callable[[float], float]) -> Callable[[float, float], Spectrum]:
    """The others are zero but for as many as the trace allows, of ``ratio(d)`` times the top."""

    def family(d: float, beta: float) -> Spectrum:
        top = d**beta
        count = np.ceil((d - top) / (top * ratio(d)))
        return [top, (d - top) / count], [1.0, float(count)]

    return family


#: Spectra that sum to d with ``l_1 = d^beta``, by name: eigenvalues and their multiplicities.
FAMILIES: Mapping[str, Callable[[float, float], Spectrum]] = {
    "the others equal": _all_equal,
    "the others d^(-1/10) times the top": _below(lambda d: d**-0.1),
    "the others 1/log d times the top": _below(lambda d: 1 / np.log(d)),
}


def example_17(
    family: str,
    beta: float,
    log2_width: int,
    bound: Callable[[Any, Any], float] = lambda values, counts: 0.9,
) -> Case:
    """RANK Example 17: the constant of a spectrum, and 0.9 (or another bound).

    Such a matrix exists: with Hadamard eigenvectors every spectrum that sums to d has a unit
    diagonal and rows of one norm, for d a power of two.

    >>> round(example_17("the others equal", 0.5, 10).left, 4)
    0.1143
    """
    d = 2.0**log2_width
    values, counts = FAMILIES[family](d, beta)
    total = float(np.dot(values, counts))
    return Case(
        theory.rank_regularity(values, counts),
        bound(values, counts),
        {
            "the eigenvalues sum to the width": abs(total / d - 1) < 1e-9,
            "the others are smaller than the first": values[1] < values[0],
        },
        words=f"{family}, beta = {beta:g}, d = 2^{log2_width}",
    )


def families_against_width(betas: Sequence[float], log2_widths: Sequence[int]) -> pd.DataFrame:
    """Return the constant of all families of Example 17, by beta and width.

    >>> len(families_against_width([0.5], [6, 8]))
    6
    """
    return pd.DataFrame(
        {
            "family": name,
            "beta": beta,
            "log2 of the width": k,
            "regularity constant": example_17(name, beta, k).left,
        }
        for name in FAMILIES
        for beta in betas
        for k in log2_widths
    )
