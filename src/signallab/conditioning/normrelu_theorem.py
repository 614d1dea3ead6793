"""Correlations under NormReLU for inputs of unequal norm (COND Theorem 59 and its proof)."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from signallab.case import Case
from signallab.conditioning.normrelu import as_printed
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.theory.conditioning.shifted_relu import C

__all__ = [
    "ALPHA",
    "CONSTANTS",
    "DELTA",
    "PAIRS",
    "chord",
    "coefficient",
    "constant",
    "constants",
    "correlation",
    "depth_per_fold",
    "depths",
    "drift",
    "near_one",
    "one_input",
    "paths",
    "sum_of_biases",
    "sums",
    "theorem_59",
    "waiting",
]

ALPHA, DELTA = 0.0798, 0.0185  # alpha' and delta' as Theorem 59 has them
SCALE = float(theory.cond_equation_4_scale(C))
MU = float(theory.cond_norm_relu_mu(C))
NORMS = (0.5, 0.75, 1.0, 1.5, 2.0)
#: Pairs of squared norms in the range of the theorem.
PAIRS = tuple((x, y) for x in NORMS for y in NORMS if x <= y)
#: Constants of the proof as printed.
CONSTANTS = {"rate below 1": "0.0798", "rate above 1": "0.1572", "δ′": "0.0185"}
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)


def correlation(x: Any, y: Any, rho: Any) -> Floats:
    """Return the correlation after a layer of NormReLU, from squared norms and correlation before.

    The second derivative of the product moment in ``rho`` is ``lambda^2 sqrt(xy)`` times the joint
    density of both inputs at the kink, since the activation's is a point mass there; the value and
    slope at ``rho = 0`` are products of means and of first coefficients. With ``rho = sin(t)`` the
    rest is a smooth integral. The three arguments broadcast.

    >>> correlation(1.0, 1.0, [0.0, 1.0]).round(12)
    array([0., 1.])
    """
    x, y, rho = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (x, y, rho)))
    x, y, rho = x.copy(), y.copy(), rho.copy()
    u, v = C / np.sqrt(x), C / np.sqrt(y)
    at_zero = theory.cond_norm_relu_mean(x) * theory.cond_norm_relu_mean(y)
    slope = SCALE**2 * np.sqrt(x * y) * norm.sf(u) * norm.sf(v)
    end = np.arcsin(rho)
    t = end[..., None] * (NODES + 1) / 2
    sine, cosine = np.sin(t), np.cos(t)
    squares, product = (u**2 + v**2)[..., None], (u * v)[..., None]
    joint = np.exp((product * sine - squares / 2) / cosine**2) / (2 * math.pi)
    bent = ((rho[..., None] - sine) * joint * WEIGHTS).sum(-1) * end / 2
    moment = at_zero + slope * rho + SCALE**2 * np.sqrt(x * y) * bent
    size = theory.cond_norm_relu_length(x) * theory.cond_norm_relu_length(y)
    return np.asarray(moment / np.sqrt(size))


@functools.lru_cache(maxsize=64)
def paths(
    starts: tuple[float, ...],
    depth: int,
    pairs: tuple[tuple[float, float], ...] = PAIRS,
) -> Floats:
    """Return correlations ``(depth + 1, pairs, starts)``, layer by layer, at infinite width.

    >>> paths((0.5,), 2, ((1.0, 1.0),))[:, 0, 0].round(4)
    array([0.5   , 0.4947, 0.4895])
    """
    norms = np.array(pairs)
    rho = np.broadcast_to(np.array(starts), (len(pairs), len(starts)))
    path = [rho]
    for _ in range(depth):
        rho = correlation(norms[:, :1], norms[:, 1:], rho)
        norms = theory.cond_norm_relu_length(norms)
        path.append(rho)
    return np.array(path)


def waiting(epsilon: float, alpha: float = ALPHA) -> float:
    """Return ``L^ = (2 / alpha') log(3 / min(epsilon, mu/4))`` of COND Theorem 59.

    >>> round(waiting(0.3), 1)
    166.6
    """
    return 2 / alpha * math.log(3 / min(epsilon, MU / 4))


def theorem_59(
    start: float,
    epsilon: float,
    depth: int,
    *,
    sharper: float | None = None,
    drift: float = DELTA,
    rate: float = 1.0,
) -> Case:
    """COND Theorem 59: correlations of all :data:`PAIRS` from layer ``L^`` on, and the bound.

    ``left`` ``(pairs, layers)``. The separation is ``1 - start``, at most 1. With ``sharper`` the
    potential ``rho / (1 - rho)`` of all layers is compared with
    ``sharper (1/delta - 1 + drift) (1 + rate mu)^-L``.

    >>> case = theorem_59(0.9, 0.3, 180)
    >>> bool((case.left <= case.right).all()), case.left.shape
    (True, (15, 14))
    """
    rho = paths((start,), depth)[:, :, 0].T
    delta = min(1 - start, 1.0)
    stated = {"δ > δ′": delta > DELTA, "ε > 0": epsilon > 0}
    words = f"correlation {start:g}, ε = {epsilon:g}"
    if sharper is not None:
        layers = np.arange(depth + 1)
        right = sharper * (1 / delta - 1 + drift) * (1 + rate * MU) ** -layers.astype(float)
        return Case(rho / (1 - rho), np.broadcast_to(right, rho.shape), stated, words=words)
    first = math.ceil(waiting(epsilon))
    steps = np.arange(first, depth + 1) - waiting(epsilon)
    right = theory.cond_b(steps, delta - DELTA, MU / 2) + DELTA * epsilon
    return Case(rho[:, first:], np.broadcast_to(right, rho[:, first:].shape), stated, words=words)


def drift(starts: Sequence[float], depth: int) -> pd.DataFrame:
    """Return by how much the correlation rises above its start at most, over layers and pairs.

    >>> drift([0.0], 20).round(4).values.tolist()    # delta' is 0.0185
    [[0.0, 0.0064]]
    """
    most = paths(tuple(starts), depth).max(axis=(0, 1))
    return pd.DataFrame({"correlation of the inputs": starts, "rise": most - np.array(starts)})


def chord(gamma: float, below: float = 2.0, above: float = 1.0) -> Case:
    """COND Eq. 28: the bias below its chords from 1 to the ends of [0.5, 2].

    ``below`` and ``above`` are the factors of ``bias(0.5) (1 - gamma)`` and
    ``bias(2) (gamma - 1)``.

    >>> case = chord(0.5)
    >>> bool(case.left == case.right)
    True
    """
    if gamma <= 1:
        right = below * float(theory.cond_norm_relu_bias(0.5)) * (1 - gamma)
    else:
        right = above * float(theory.cond_norm_relu_bias(2.0)) * (gamma - 1)
    stated = {"γ in [0.5, 2]": 0.5 <= gamma <= 2}
    return Case(float(theory.cond_norm_relu_bias(gamma)), right, stated, words=f"γ = {gamma:g}")


def constants() -> dict[str, float]:
    """Return the constants of :data:`CONSTANTS`, recomputed.

    >>> {name: round(value, 6) for name, value in constants().items()}
    {'rate below 1': 0.079978, 'rate above 1': 0.157233, 'δ′': 0.018543}
    """
    below = 2 * float(theory.cond_norm_relu_length(0.5)) - 1
    above = 1 - float(theory.cond_norm_relu_length_slope(1.0))
    biases = [float(theory.cond_norm_relu_bias(g)) for g in (0.5, 2.0)]
    delta = max(biases[0] / below, biases[1] / above)
    return {"rate below 1": below, "rate above 1": above, "δ′": delta}


def constant(name: str, printed: dict[str, str] = CONSTANTS, units: float = 0.5) -> Case:
    """How far a constant is from the print, in units of its last place: see ``as_printed``.

    >>> round(float(constant("δ′").left), 2)
    0.43
    """
    return as_printed(name, printed, values=constants(), units=units)


def sum_of_biases(side: str, epsilon: float, factor: float = 1.0) -> Case:
    """COND App. I.1: sums of biases along the sequences of the proof, and what is displayed.

    Sides "below" (from 0.5) and "above" (from 2, with the mended recursion). The sum starts with
    the first layer at which the distance from 1 has shrunk by ``epsilon`` (1: with the inputs).
    ``factor`` multiplies the right side, ``bias epsilon / alpha``.

    >>> case = sum_of_biases("above", 1.0)
    >>> bool(case.left < case.right)
    True
    """
    alpha = constants()["rate below 1" if side == "below" else "rate above 1"]
    start = 0.5 if side == "below" else 2.0
    first = math.ceil(math.log(epsilon) / math.log1p(-alpha) - 1e-12)
    layers = np.arange(first, first + 2000)
    gamma = 1 + (start - 1) * (1 - alpha) ** layers
    total = float(theory.cond_norm_relu_bias(gamma).sum())
    right = factor * float(theory.cond_norm_relu_bias(start)) * epsilon / alpha
    return Case(total, right, words=f"from {start:g}, ε = {epsilon:g}")


def sums() -> pd.DataFrame:
    """Return sums of biases over all layers: displayed, along the sequences, along true norms.

    >>> sums().iloc[1, 1:].round(4).tolist()    # from 2; the largest is delta'
    [0.0185, 0.0106, 0.0077]
    """
    rows = []
    for side, start in (("below", 0.5), ("above", 2.0)):
        case = sum_of_biases(side, 1.0)
        gamma, along = np.array(start), 0.0
        for _ in range(400):
            along += float(theory.cond_norm_relu_bias(gamma))
            gamma = theory.cond_norm_relu_length(gamma)
        rows.append(
            {
                "squared norm at the start": start,
                "displayed": case.right,
                "along the sequence": case.left,
                "along the true norms": along,
            }
        )
    return pd.DataFrame(rows)


def coefficient(gamma: float) -> float:
    """Return ``mu^{gamma}`` of NormReLU: 1 minus the share of ``a_1^2`` in the mean square.

    >>> round(coefficient(1.0), 4)
    0.0156
    """
    first = SCALE**2 * gamma * float(norm.sf(C / math.sqrt(gamma))) ** 2
    return 1 - first / float(theory.cond_norm_relu_length(gamma))


def near_one(share: float, *, least: float = 0.5) -> Case:
    """COND, proof of Theorem 59: the coefficient at ``1 + share mu/4`` is at least ``least mu``.

    >>> case = near_one(-1.0)
    >>> bool(case.left < case.right)
    True
    """
    stated = {"within μ/4 of 1": abs(share) <= 1}
    words = f"γ = 1 {share:+g} μ/4"
    return Case(least * MU, coefficient(1 + share * MU / 4), stated, words=words)


def one_input(gamma: float, rho: float, *, whole: bool) -> Case:
    """COND Eq. 29, the factor of one input: its first line, and the second.

    ``left`` is ``sum_{j>=1} a_j^2 rho^j`` over ``sum_{j>=1} a_j^2`` as printed, or, with ``whole``,
    over the sum from 0. ``right`` is ``rho (1 - mu^{gamma} (1 - rho))``.

    >>> case = one_input(2.0, 0.01, whole=False)
    >>> bool(case.left > case.right)
    True
    """
    bias = float(theory.cond_norm_relu_bias(gamma))
    series = float(correlation(gamma, gamma, rho)) - bias  # over the sum from 0
    right = rho * (1 - coefficient(gamma) * (1 - rho))
    left = series if whole else series / (1 - bias)
    return Case(left, right, words=f"γ = {gamma:g}, correlation {rho:g}")


def _depth_to(level: float, path: Floats) -> float:
    """The layer at which a correlation falls to ``level``, interpolated in its logarithm."""
    at = int(np.argmax(path <= level))
    high, low = np.log(path[at - 1]), np.log(path[at])
    return float(at - 1 + (high - math.log(level)) / (high - low))


def depths(
    start: float, levels: Sequence[float], pair: tuple[float, float] = (0.5, 2.0), depth: int = 1600
) -> pd.DataFrame:
    """Return the layers to bring a correlation to each of ``levels``: in truth, and promised.

    Promised is the first layer of COND Theorem 59 whose bound is at most the level, with the
    level for epsilon.

    >>> depths(0.9, [0.1]).round(1).values.tolist()
    [[0.1, 190.9, 1051.0]]
    """
    path = paths((start,), depth, (pair,))[:, 0, 0]
    rows = []
    for level in levels:
        wait = waiting(level)
        far = theory.cond_l_0(1 - start - DELTA, MU / 2)
        rest = math.log(2 * level * (1 - DELTA)) / math.log1p(-MU / 4)
        promised = math.ceil(wait + float(far) + max(rest, 0.0))
        rows.append({"level": level, "layers": _depth_to(level, path), "layers promised": promised})
    return pd.DataFrame(rows)


def depth_per_fold(
    start: float, pair: tuple[float, float], *, per: float | None = None, depth: int = 1600
) -> Case:
    """COND Remark 60: layers between the levels 1e-5 and 1e-6, over ``log(10)``.

    ``right`` is ``1 / -log(1 - mu)``, or ``per``: a logarithmic depth has a limit here, and near
    0 a correlation shrinks by ``1 - mu`` a layer.

    >>> case = depth_per_fold(0.9, (0.5, 2.0))
    >>> bool(np.isclose(case.left, case.right, rtol=1e-3))
    True
    """
    path = paths((start,), depth, (pair,))[:, 0, 0]
    found = (_depth_to(1e-6, path) - _depth_to(1e-5, path)) / math.log(10)
    words = f"correlation {start:g}, squared norms {pair[0]:g} and {pair[1]:g}"
    return Case(found, per or -1 / math.log1p(-MU), words=words)
