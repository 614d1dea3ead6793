"""Where the symmetric fixed point G* of MF Eq. 3.3 repels, and where the recursion goes then."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import optimize

import signalprop as sp
from signallab.case import Case
from signallab.meanfield.gram_recursion import activation, chain, deviation, gram_of
from signallab.meanfield.one_apart import branches, matrix, next_ratio
from signalprop import theory
from signalprop.limits import GramFixedPoint, gram_fixed_point
from signalprop.random import Stream

__all__ = [
    "apart_path",
    "bifurcation",
    "first_batch",
    "loud_and_quiet",
    "multipliers",
    "one_long_sample",
    "phase",
    "printed_bound",
    "slope_at_one",
    "theorem",
    "width_to_see",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Bound = Callable[[float, int, int, float, float, float], float]

DEEPEST = 60  # layers of the networks of the theorem
STEP = 1e-3  # of the ratio, for a central difference
GUESS = 0.05  # the mixing rate supposed where the linearized map gives none
RATIO = (
    4.0  # at which the chains of the theorem start: one sample about twice as long as the others
)


def multipliers(names: Sequence[str], batches: Sequence[int]) -> pd.DataFrame:
    """Return ``activation, samples, eigenvalue, condition``: of the linearized map, and of G*.

    The eigenvalue is the largest in absolute value.

    >>> multipliers(["relu"], [2, 3])["condition"].round(3).tolist()
    [1.0, 1.367]
    """
    rows = []
    for name in names:
        for n in batches:
            point = gram_fixed_point(activation(name), n)
            eigenvalue, condition = point.contraction, point.condition_number
            row = {"activation": name, "samples": n}
            rows.append(row | {"eigenvalue": eigenvalue, "condition": condition})
    return pd.DataFrame(rows)


def phase(betas: Sequence[float], batches: Sequence[int]) -> pd.DataFrame:
    """Return ``beta, samples, eigenvalue`` for ``x sigmoid(beta x)``, from linear to ReLU.

    ``beta = 1`` is SiLU, 1.702 nearly GELU, 0 linear; ReLU is the limit of large beta.

    >>> phase([1.0], [26])["eigenvalue"].round(4).tolist()
    [1.0007]
    """
    rows = []
    for beta in betas:
        for n in batches:
            point = gram_fixed_point(sp.activations.silu.gained(beta), n)
            rows.append({"beta": beta, "samples": n, "eigenvalue": point.contraction})
    return pd.DataFrame(rows)


def first_batch(name: str, most: int = 200) -> int | None:
    """Return the smallest batch whose fixed point repels, or None if there is none up to ``most``.

    >>> first_batch("silu")
    26
    """
    return next((n for n in range(2, most + 1) if _point(name, n).contraction > 1), None)


def slope_at_one(name: str, n: int, kind: str = "points") -> Case:
    """The growth of one point apart, by a central difference, against the library's eigenvalue.

    >>> case = slope_at_one("gelu", 10)
    >>> bool(abs(case.left - case.right) < 1e-5)
    True
    """
    phi = activation(name)
    up, down = (next_ratio(phi, n, 1 + sign * STEP) for sign in (1, -1))
    eigenvalue = getattr(_point(name, n), f"multiplier_{kind}")
    return Case((up - down) / (2 * STEP), eigenvalue, words=f"{name}, {n} samples")


def bifurcation(name: str, batches: Sequence[int], highest: float) -> pd.DataFrame:
    """Return ``samples, ratio, attracts``: all ratios from 0.2 to ``highest`` that a layer keeps.

    Attraction is meant among batches with one point apart. Ratio 1 is among them for every batch.

    >>> bifurcation("gelu", [20], 5.0)
       samples  ratio  attracts
    0       20    1.0      True
    """
    rows = []
    for n in batches:
        phi, attracts = activation(name), _point(name, n).multiplier_points < 1
        rows.append({"samples": n, "ratio": 1.0, "attracts": attracts})
        sides = branches(phi, n, 0.2, 0.99) + branches(phi, n, 1.01, highest)
        rows += [{"samples": n, "ratio": r, "attracts": stable} for r, stable in sides]
    return pd.DataFrame(rows)


def apart_path(name: str, n: int, ratio: float, depth: int) -> pd.DataFrame:
    """Return ``layer, ratio, error``: the recursion with one point apart, and its distance to G*.

    The matrix of layer 0 is that after the first normalization and activation, as in MF Eq. 3.2,
    of Gaussian inputs with this ratio.

    >>> apart_path("relu", 10, 4.0, 2)["error"].round(3).tolist()
    [0.75, 0.564, 0.431]
    """
    phi, goal = activation(name), _point(name, n).matrix()
    rows = []
    for layer in range(depth + 1):
        error = float(np.linalg.norm(matrix(phi, n, ratio) - goal))
        rows.append({"layer": layer, "ratio": ratio, "error": error})
        ratio = next_ratio(phi, n, ratio)
    return pd.DataFrame(rows)


def one_long_sample(n: int, ratio: float) -> sp.inputs.Input:
    """Return Gaussian samples of which the first is longer, such that the recentred ratio is this.

    Why it is right: with variance v of the first sample and 1 of the others, point 1 against the
    mean of the others has ``((n - 1) v + 1)/n``.

    >>> one_long_sample(3, 4.0)(5, 2, Stream(0)).shape
    torch.Size([2, 3, 5])
    """
    scale = torch.ones(n, 1, dtype=torch.float64)
    scale[0] = math.sqrt((n * ratio - 1) / (n - 1))
    plain = sp.inputs.gaussian_samples(n)
    return lambda width, runs, stream: scale * plain(width, runs, stream)


def printed_bound(
    width: float, n: int, depth: int, alpha: float, condition: float, start: float
) -> float:
    """MF Theorem 3.2 with the distance at the start as constant of the first term, 1 of the second.

    >>> round(printed_bound(math.inf, 10, 2, 0.5, 3.0, 2.0), 12)
    3.0
    """
    decay: float = condition * start * (1 - alpha) ** (depth / 2)
    if math.isinf(width):
        return decay
    noise = theory.mf_theorem_3_2(width, n, math.inf, alpha, condition)
    return float(decay + noise)


def theorem(bound: Bound = printed_bound) -> Callable[..., Case]:
    """Return MF Theorem 3.2 as a statement about chains that start with one long sample.

    Points have ``name, n, depth`` and ``width`` (by default infinite), ``runs`` and ``stream``. The
    mixing rate is that of the linearized map, ``(1 - alpha)^(1/2) = eigenvalue``, or a guess of
    0.05 where that exceeds 1. The left side is the error at that layer, one a run. Assumption 3.1
    is asked for these starts only: where the fixed point repels, ratios that differ by a factor 16
    have to have one limit (up to the order of the samples).

    >>> case = theorem()("relu", 10, 30)
    >>> bool(case.left < case.right), all(case.hypotheses.values())
    (True, True)
    """

    def statement(
        name: str,
        n: int,
        depth: int,
        width: int | None = None,
        runs: int = 0,
        stream: Stream | None = None,
    ) -> Case:
        point, limit = _point(name, n), _apart(name, n, RATIO, depth)
        attracts = point.contraction < 1
        alpha = 1 - point.contraction**2 if attracts else GUESS
        start = float(_apart(name, n, RATIO, depth)["error"].iloc[0])
        if width is None or stream is None:
            left: Any = float(limit["error"].iloc[-1])
            words = f"{name}, {n} samples, infinite width, layer {depth}"
        else:
            left = _errors(name, n, width, runs, stream)[:, depth]
            words = f"{name}, {n} samples, width {width}, layer {depth}"
        size = math.inf if width is None else float(width)
        hypotheses = {
            "G* is not degenerate": math.isfinite(point.condition_number),
            "|phi(x)| <= |x|": _grows_linearly(name),
            "the start is forgotten": attracts or _forgets(name, n, depth),
        }
        right = bound(size, n, depth, alpha, point.condition_number, start)
        return Case(left, right, hypotheses, words=words)

    return statement


def width_to_see(name: str, n: int, depth: int) -> float:
    """Return the width at which the printed bound falls below the limit that the error has.

    The constants are those of :func:`printed_bound`; infinite where the bound stays above.

    >>> width_to_see("relu", 5, 4)
    inf
    """
    case, point = theorem()(name, n, depth), _point(name, n)
    if case.left <= case.right:
        return math.inf
    alpha = 1 - point.contraction**2 if point.contraction < 1 else GUESS
    start = float(_apart(name, n, RATIO, depth)["error"].iloc[0])

    def above(log_width: float) -> float:
        width = math.exp(log_width)
        bound = printed_bound(width, n, depth, alpha, point.condition_number, start)
        return bound - float(case.left)

    # From d = e^2 n on, sqrt(ln(d/n)/d) falls with d.
    return math.exp(float(optimize.brentq(above, 2 + math.log(n), 100)))


def loud_and_quiet(
    name: str, n: int, width: int, layers: Sequence[int], stream: Stream
) -> tuple[Floats, Floats]:
    """Return Gram matrices ``(layers, n, n)`` of one network, and its errors by layer.

    The samples are put in the order of their diagonal entries at the last of the layers.

    >>> loud_and_quiet("gelu", 4, 50, [0, 3], Stream(0))[0].shape
    (2, 4, 4)
    """
    goal = _point(name, n).matrix()
    path = chain(name, width).run(sp.inputs.gaussian_samples(n), max(layers), seed=stream)
    grams = path.measure(gram_of(name)).values[0]
    order = np.argsort(-np.diagonal(grams[-1]))
    errors: Floats = np.linalg.norm(grams - goal, axis=(1, 2))
    return grams[list(layers)][:, order][:, :, order], errors


@cache
def _point(name: str, n: int) -> GramFixedPoint:
    return gram_fixed_point(activation(name), n)


@cache
def _apart(name: str, n: int, ratio: float, depth: int) -> pd.DataFrame:
    return apart_path(name, n, ratio, depth)


@cache
def _errors(name: str, n: int, width: int, runs: int, stream: Stream) -> Floats:
    """Errors ``(runs, layers)`` of networks that start with one long sample."""
    draw = stream.child("theorem", name, n, width)
    path = chain(name, width).run(one_long_sample(n, RATIO), DEEPEST, runs, draw)
    errors: Floats = path.measure(deviation(name, _point(name, n).matrix())).values
    return errors


@cache
def _forgets(name: str, n: int, depth: int) -> bool:
    ends = [_apart(name, n, ratio, depth)["ratio"].iloc[-1] for ratio in (RATIO / 2, 8 * RATIO)]
    return bool(abs(ends[1] / ends[0] - 1) < 1e-6)


@cache
def _grows_linearly(name: str) -> bool:
    x = np.concatenate([-np.geomspace(1e-6, 1e3, 2000), np.geomspace(1e-6, 1e3, 2000)])
    return bool(np.max(np.abs(activation(name)(x) / x)) <= 1)
