"""The square-root theorem of RANK on long chains: bounds, exponents, whitening, and rounding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signallab.rank.long_chains import linear_chain, regularity, strength, stretches
from signalprop import theory, weights
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "LAWS",
    "READINGS",
    "at",
    "balance",
    "by_width",
    "chains",
    "fits",
    "frobenius",
    "levels",
    "local_exponents",
    "many_singular_values",
    "rank_bound",
    "rounding",
    "slopes",
    "soft_bound",
    "whitened",
]

_NO_SKIP = {8: 1.50, 16: 2.20, 32: 2.82, 64: 3.46, 128: 4.07, 256: 4.65}

#: log2 of the average soft rank, by strength of the branch and width: read from the images that the
#: authors stored with a later version of the document, to 0.04. Weights there are Gaussian. The
#: curve of strength 1 lies on that without skip connection.
READINGS: Mapping[float, Mapping[int, float]] = {
    0.01: {8: 1.70, 16: 2.28, 32: 2.89, 64: 3.48, 128: 4.08, 256: 4.66},
    1.0: _NO_SKIP,
    1e9: _NO_SKIP,
}

#: Laws of growth that a quantity may follow, up to a factor.
LAWS: Mapping[str, Callable[[Any], Any]] = {
    "d^0.4": lambda d: d**0.4,
    "sqrt d": lambda d: d**0.5,
    "d^0.6": lambda d: d**0.6,
    "sqrt(d log d)": lambda d: np.sqrt(d * np.log(d)),
    "d": lambda d: d,
    "log d": lambda d: np.log(d),
}


def chains(
    widths: Sequence[int], gammas: Sequence[float], stream: Stream, **size: Any
) -> pd.DataFrame:
    """Return the averages of :func:`~signallab.rank.long_chains.stretches` for all pairs.

    >>> len(chains([4, 6], [1.0], Stream(0), layers=250, runs=1))
    40
    """
    return pd.concat(
        [stretches(d, g, stream=stream.child(d, str(g)), **size) for g in gammas for d in widths],
        ignore_index=True,
    )


def at(frame: pd.DataFrame, gamma: float, width: int) -> pd.DataFrame:
    """Return the stretches of one pair.

    >>> at(pd.DataFrame({"gamma": [0.1, 1.0], "width": 4}), 1.0, 4).index.tolist()
    [1]
    """
    return frame[(frame["gamma"] == gamma) & (frame["width"] == width)]


def rank_bound(frame: pd.DataFrame, gamma: float, width: int, constant: float = 1.0) -> Case:
    """RANK Eq. 65, ``constant sqrt((1 - alpha) d) <= r``, as a ratio with one number a stretch.

    To first order in the errors the mean of the numbers is the ratio of the means.
    """
    part = at(frame, gamma, width)
    alphas, r = regularity(part), part["r"].to_numpy()
    alpha = alphas.mean()
    ratio = theory.rank_theorem_3(alpha, width) / r.mean()
    moved = 1 - (alphas - alpha) / (2 * (1 - alpha)) - (r / r.mean() - 1)
    return Case(constant * ratio * moved, 1.0, words=_words(gamma, width))


def soft_bound(frame: pd.DataFrame, gamma: float, width: int, factor: float = 0.25) -> Case:
    """RANK Lemma 2 for averages, ``factor r <= soft rank`` at one half, as a ratio."""
    part = at(frame, gamma, width)
    r, soft = part["r"].to_numpy(), part["soft rank"].to_numpy()
    moved = 1 + (r / r.mean() - 1) - (soft / soft.mean() - 1)
    return Case(factor * r.mean() / soft.mean() * moved, 1.0, words=_words(gamma, width))


def frobenius(frame: pd.DataFrame, gamma: float, width: int, constant: float = 1.0) -> Case:
    """RANK Eq. 55, ``|M|^2 <= constant d^(3/2) / sqrt(1 - alpha)`` in the mean, as a ratio."""
    part = at(frame, gamma, width)
    alphas, norm = regularity(part), part["squared norm"].to_numpy()
    alpha = alphas.mean()
    bound = theory.rank_lemma_18(alpha, width, constant)
    moved = norm / norm.mean() - (alphas - alpha) / (2 * (1 - alpha))
    return Case(norm.mean() / bound * moved, 1.0, words=_words(gamma, width))


def many_singular_values(
    frame: pd.DataFrame, gamma: float, width: int, factor: float = 1 / 24
) -> Case:
    """RANK Sec. 3.2: ``factor sqrt d`` is at most the average soft rank at one half, as a ratio."""
    soft = at(frame, gamma, width)["soft rank"].to_numpy()
    needed = factor * np.sqrt(width) / soft.mean()
    return Case(needed * (2 - soft / soft.mean()), 1.0, words=_words(gamma, width))


def _words(gamma: float, width: int) -> str:
    return f"gamma = {strength(gamma)}, d = {width}"


def balance(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the left side of RANK Eq. 57 over ``d^2`` with its standard error, by gamma and width.

    It is the drift of ``|M|^2`` under the invariant law, which vanishes as gamma tends to 0.

    >>> columns = ["squared norm", "cube", "diagonal term"]
    >>> rows = pd.DataFrame({"gamma": 1.0, "width": 2, **dict.fromkeys(columns, [2.0, 2.0])})
    >>> balance(rows)["drift / d^2"].tolist()
    [1.0]
    """
    rows = []
    for (gamma, width), part in frame.groupby(["gamma", "width"]):
        terms = part["diagonal term"] - part["cube"]
        drift = 2 - 2 * part["squared norm"] / width**2 + 8 * terms / width**2
        rows.append(
            {
                "branch": strength(gamma),
                "width": width,
                "γ²d": gamma**2 * width if strength(gamma) != "∞" else "∞",
                "drift / d^2": float(drift.mean()),
                "standard error": float(drift.std() / np.sqrt(len(part))),
            }
        )
    return pd.DataFrame(rows)


def by_width(frame: pd.DataFrame, gamma: float, quantity: str) -> pd.DataFrame:
    """Return a quantity by width (columns), a row a stretch; widths are independent of each other.

    >>> rows = pd.DataFrame({"gamma": 1.0, "width": [4, 4, 8, 8], "r": [1.0, 2.0, 3.0, 4.0]})
    >>> by_width(rows, 1.0, "r")[8].tolist()
    [3.0, 4.0]
    """
    part = frame[frame["gamma"] == gamma]
    return pd.DataFrame({width: rows[quantity].to_numpy() for width, rows in part.groupby("width")})


def levels(frame: pd.DataFrame, quantity: str, pairs: Sequence[tuple[float, int]]) -> Floats:
    """Return numbers whose mean is log2 of a quantity's mean, a row a stretch, a column a pair.

    Pairs of gamma and width. To first order in the errors, as in :func:`slopes`.

    >>> rows = pd.DataFrame({"gamma": 1.0, "width": [4, 4, 8, 8], "r": [1.0, 1.0, 2.0, 6.0]})
    >>> levels(rows, "r", [(1.0, 4), (1.0, 8)]).mean(axis=0)
    array([0., 2.])
    """
    values = np.column_stack([at(frame, *pair)[quantity].to_numpy() for pair in pairs])
    means = values.mean(axis=0)
    result: Floats = np.log2(means) + (values / means - 1) / np.log(2)
    return result


def slopes(frame: pd.DataFrame, gamma: float, quantity: str) -> Floats:
    """Return numbers whose mean is the exponent of a quantity in the width, one a stretch.

    The fit is of the logarithms of the means over all stretches; each stretch moves them by its
    relative deviation, to first order.

    >>> rows = pd.DataFrame({"gamma": 1.0, "width": [4, 4, 16, 16], "r": [2.0, 2.0, 8.0, 8.0]})
    >>> slopes(rows, 1.0, "r").round(9).tolist()
    [1.0, 1.0]
    """
    table = by_width(frame, gamma, quantity)
    x = np.log(table.columns.to_numpy(dtype=float))
    weight = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    means = table.mean().to_numpy()
    result: Floats = (np.log(means) + table.to_numpy() / means - 1) @ weight
    return result


def local_exponents(frame: pd.DataFrame, gamma: float, quantity: str) -> pd.Series[float]:
    """Return the exponents between neighbouring widths.

    >>> rows = pd.DataFrame({"gamma": 1.0, "width": [4, 16], "r": [2.0, 8.0]})
    >>> local_exponents(rows, 1.0, "r").round(9).to_dict()
    {'4 to 16': 1.0}
    """
    means = by_width(frame, gamma, quantity).mean()
    widths = means.index.to_numpy(dtype=float)
    names = [f"{a:g} to {b:g}" for a, b in pairwise(widths)]
    return pd.Series(np.diff(np.log(means)) / np.diff(np.log(widths)), index=names)


def fits(frame: pd.DataFrame, gamma: float, quantities: Sequence[str]) -> pd.DataFrame:
    """Return how far the laws of growth are off, each with its best factor, in standard errors.

    Root mean square over the widths of ``log(mean / law)``, less its weighted mean, over the error.

    >>> rows = [(1.0, d, d**0.6 * f) for d in (4, 16, 64) for f in (0.99, 1.01)]
    >>> found = fits(pd.DataFrame(rows, columns=["gamma", "width", "r"]), 1.0, ["r"])
    >>> bool(found.set_index("law")["r"].round(6)["d^0.6"] == 0)
    True
    """
    result: dict[str, Any] = {"law": list(LAWS)}
    for quantity in quantities:
        table = by_width(frame, gamma, quantity)
        means, errors = table.mean(), table.sem() / table.mean()
        off = []
        for law in LAWS.values():
            logs = np.log(means) - np.log(law(table.columns.to_numpy(dtype=float)))
            centre = np.average(logs, weights=errors**-2)
            off.append(float(np.sqrt(np.mean(((logs - centre) / errors) ** 2))))
        result[quantity] = off
    return pd.DataFrame(result)


def whitened(d: int, samples: int, stream: Stream, gamma: float = 0.5, depth: int = 10) -> Case:
    """RANK Sec. 3.2: soft ranks of a chain with ``M^(-1/2)`` for ``diag(M)^(-1/2)``, and d.

    With fewer samples than units M has no inverse, and the pseudo-inverse is taken.

    >>> whitened(3, 5, Stream(0)).left.tolist()
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3]
    """
    draw = stream.numpy("whitening", d, samples)
    h: Any = draw.normal(size=(d, samples))
    ranks = []
    for _ in range(depth):
        w = draw.uniform(-np.sqrt(3), np.sqrt(3), size=(d, d))
        left, _, right = np.linalg.svd(h + gamma * w @ h, full_matrices=False)
        h = np.sqrt(samples) * left @ right
        ranks.append(int(sp.soft_rank(h.T, 0.5)))
    return Case(np.array(ranks), np.full(depth, d), words=f"d = {d}, N = {samples}")


def rounding(d: int, layers: int, stream: Stream, digits: int = 100, every: int = 10) -> Any:
    """Return r and the conditioning of one chain in float64 and in many digits, same weights.

    Columns layer, numbers ("float64" or the number of digits), r, and the smallest over the largest
    singular value. No skip connection.

    >>> frame = rounding(3, 20, Stream(0))
    >>> frame["numbers"].unique().tolist()
    ['float64', '100 digits']
    """
    generator = stream.numpy("rounding", d)
    start = generator.normal(size=(d, d))
    drawn = weights.uniform().sample(d, d, [generator] * layers).numpy()
    h = torch.from_numpy(start)[None]
    rows = []
    with mpmath.workdps(digits):
        exact = mpmath.matrix(start.T.tolist())  # units are rows here, samples in h
        steps = linear_chain(d, np.inf).steps(h, lambda a: a @ torch.from_numpy(drawn[layer].T))
        for layer in range(layers):
            h = next(steps)
            exact = _normalized(mpmath.matrix(drawn[layer].tolist()) * exact)
            if (layer + 1) % every == 0:
                values = torch.linalg.svdvals(h[0])
                rows.append((layer + 1, "float64", values.tolist()))
                rows.append(
                    (layer + 1, f"{digits} digits", list(mpmath.svd_r(exact, False, False)))
                )
    return pd.DataFrame(
        {"layer": layer, "numbers": kind, "r": _ratio(s), "conditioning": float(s[-1] / s[0])}
        for layer, kind, s in rows
    )


def _normalized(z: Any) -> Any:
    for i in range(z.rows):
        norm = mpmath.sqrt(sum(z[i, j] ** 2 for j in range(z.cols)))
        for j in range(z.cols):
            z[i, j] *= mpmath.sqrt(z.cols) / norm
    return z


def _ratio(singular: Sequence[Any]) -> float:
    squares = [s**2 for s in singular]
    return float(sum(squares) ** 2 / sum(value**2 for value in squares))
