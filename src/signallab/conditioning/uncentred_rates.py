"""How fast correlations converge with a mean: COND Lemmas 34, 35 and 36.

``s`` is the dual activation, ``p`` its smallest fixed point in [0, 1], ``g = 1 - p`` the gap,
``mu~`` the coefficient of non-affinity, and ``beta = mu~ g / 2``. Functions take a name and a map,
or a batch of maps, and give the place where the two sides are nearest.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.uncentred_activations import CRITICAL, IN_USE
from signallab.kernels.families import column
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "above",
    "below",
    "critical",
    "critical_maps",
    "critical_rate",
    "curves",
    "depths",
    "distances",
    "growth",
    "lemma_35",
    "lemma_35_at_one",
    "negative",
    "slope_near_one",
    "with_mean",
]

SEPARATIONS: Floats = np.array([1e-6, 1e-3, 0.1, 0.5, 0.99])
SHARES: Floats = np.linspace(0, 1, 201)[1:-1]
LEVELS: Floats = np.array([0.49, 0.45, 0.4, 0.3, 0.2, 0.1, 0.03, 0.01])
ROUNDING = 1e-13
TINY = 1e-290


def with_mean(maps: dict[str, sp.KernelMap]) -> dict[str, sp.KernelMap]:
    """Return those of ``maps`` with ``s(0) > 0``, as Lemmas 35 and 36 ask for.

    >>> list(with_mean({"square": sp.KernelMap.from_series([0, 0, 1.0])}))
    []
    """
    return {name: k for name, k in maps.items() if np.min(np.asarray(k(0.0))) > 1e-9}


def above(name: str, k: sp.KernelMap, *, sharper: bool = False, factor: float = 1.0) -> Case:
    """COND Lemma 34, ranges 1 and 2: ``beta min(r - p, 1 - r)`` beside ``r - s(r)`` on [p, 1].

    The first range has the second entry and the second the first. ``sharper`` is Lemma 32, with
    ``mu~ (r - p)(1 - r)`` on the left; ``factor`` makes a rival. Maps with ``p < 0.99`` only.

    >>> case = above("quadratic", sp.KernelMap.from_series([1 / 3, 0, 2 / 3]))
    >>> round(case.left / case.right, 9)    # at the middle
    1.0
    """
    gap, _, _, mu = _numbers(k)
    share = SHARES.reshape(-1, *[1] * np.ndim(gap))
    to_one, from_point = share * gap, (1 - share) * gap
    left = mu * to_one * from_point if sharper else mu * gap / 2 * np.minimum(to_one, from_point)
    left = np.where(gap > 0.01, factor * left, 0.0)
    return _nearest(left, np.asarray(k.complement(to_one)) - to_one + ROUNDING, name)


def below(name: str, k: sp.KernelMap, *, factor: float = 1.0, value: bool = False) -> Case:
    """COND Lemma 34, range 3: ``p - s(r)`` beside ``s'(p) (p - r)`` on [0, p).

    ``factor`` goes to the right; ``value`` has ``s(p) = p`` there, as the scan shows it.

    >>> case = below("quadratic", sp.KernelMap.from_series([1 / 3, 0, 2 / 3]))
    >>> round(case.left / case.right, 2)
    1.0
    """
    gap, multiplier, _, _ = _numbers(k)
    p = np.asarray(1 - gap)
    distance = np.append(SHARES, 1.0).reshape(-1, *[1] * np.ndim(gap)) * p
    left = np.where(p > 0.01, np.asarray(k.complement(gap + distance)) - gap, 0.0)
    slope = p if value else multiplier
    return _nearest(left, factor * slope * distance + ROUNDING, name)


def negative(name: str, k: sp.KernelMap, *, sharper: bool = False, factor: float = 1.0) -> Case:
    """COND Lemma 34, range 4: ``1 - s(r)`` beside ``1 - r - s(0)`` on [-1, 0).

    ``sharper`` has ``(1 - s(0)) (1 - r)`` on the right. ``factor`` goes to ``s(0)``.

    >>> case = negative("mean and line", sp.KernelMap.from_series([0.5, 0.5]), sharper=True)
    >>> round(case.left / case.right, 9)
    1.0
    """
    mean = factor * np.asarray(k(0.0))
    from_one = (1 + np.append(SHARES, [1e-6, 1.0])).reshape(-1, *[1] * np.ndim(mean))
    right = (1 - mean) * from_one if sharper else from_one - mean
    return _nearest(np.asarray(k.complement(from_one)), right + ROUNDING, name)


def distances(k: sp.KernelMap, depth: int) -> Floats:
    """Return ``|s^(L)(r) - p|`` from both ends of :data:`SEPARATIONS`, less the rounding.

    ``(2, separations, .., depth + 1)``, first the starts ``1 - delta``, then ``delta - 1``.

    >>> distances(sp.KernelMap.from_series([1 / 3, 0, 2 / 3]), 3).shape
    (2, 5, 4)
    """
    delta = SEPARATIONS.reshape(-1, *[1] * np.ndim(k(0.0)))
    starts = np.stack([1 - delta, delta - 1])
    return np.asarray(np.maximum(k.approach(starts, depth) - ROUNDING, 0))


def lemma_35(
    name: str,
    k: sp.KernelMap,
    found: Floats,
    *,
    sharper: bool = False,
    rate: float = 1.0,
) -> Case:
    """COND Lemma 35: the largest quotient of ``|s^(L)(r) - p|`` by its bound, for ``p < 0.99``.

    ``found`` are the :func:`distances`. In the layers from ``L_0`` on; for each start the bound has
    its own separation. ``sharper`` takes the larger of two bounds, how far above p and how far
    below, from :func:`theory.cond_until_positive` layers on. ``rate`` multiplies beta.

    >>> k = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])
    >>> bool(0.1 < lemma_35("quadratic", k, distances(k, 50)).left < 1)
    True
    """
    gap, slope, mean, mu = _numbers(k)
    delta = SEPARATIONS.reshape(-1, *[1] * np.ndim(gap))
    layers = np.arange(found.shape[-1] * 1.0)
    if sharper:
        bound, first = _two_sided(k, delta, layers, rate)
    else:
        first = np.asarray(theory.cond_lemma_35_l_0(delta, mu, gap, mean))
        base = np.maximum(1 - rate * mu * gap / 2, slope)
        waited = np.maximum(layers - column(first), 0)
        bound = column(base) ** waited * column(1 - gap / 2)
    counts = (layers >= column(first)) & (column(gap) > 0.01)
    ratio = np.where(counts, found / np.maximum(bound, TINY), 0)
    return Case(float(ratio.max()), 1.0, {"a mean": bool(mean.min() > 0)}, name)


@functools.cache
def _numbers(k: sp.KernelMap) -> tuple[Floats, Floats, Floats, Floats]:
    """``g``, ``s'(p)``, ``s(0)`` and ``mu~`` of each map."""
    point = k.fixed_point()
    gap = np.maximum(np.asarray(point.gap), 0.0)
    return gap, np.asarray(point.multiplier), np.asarray(k(0.0)), np.asarray(k.nonlinearity)


def _two_sided(
    k: sp.KernelMap, delta: Floats, layers: Floats, rate: float
) -> tuple[Floats, Floats]:
    """The larger of the sharper bounds above and below p, and the layer from which both hold."""
    gap, slope, mean, mu = _numbers(k)
    first = np.asarray(theory.cond_until_positive(mean))
    upper = theory.cond_lemma_35_sharper(layers, column(delta), rate * column(mu), column(gap))
    waited = np.maximum(layers - column(first), 0)
    lower = column(1 - gap) * column(slope) ** waited
    return np.maximum(upper, lower), first


def lemma_35_at_one(
    name: str, k: sp.KernelMap, depth: int, *, sharper: bool = False, power: float = 1.0
) -> Case:
    """COND Lemma 35 for maps with ``p = 1`` and ``s'(1) < 1``: ``1 - s^(L)(r)`` beside its bound.

    There beta is 0, and the printed bound 1. ``sharper`` has ``s'(1)^(L - L_2)`` with the layers
    L_2 after which no start is negative; ``power`` goes to the slope.

    >>> flat = sp.KernelMap.from_series([0.5, 0.5])
    >>> round(float(lemma_35_at_one("line", flat, 20, sharper=True).left), 9)
    1.0
    """
    gap, slope, mean, _ = _numbers(k)
    counts = (gap == 0) & (slope < 1 - 1e-6)
    first = column(theory.cond_until_positive(mean) if sharper else np.ceil(1 / mean))
    layers = np.arange(depth + 1.0)
    waited = power * np.maximum(layers - first, 0)
    bound = column(slope) ** waited if sharper else np.ones_like(layers)
    starts = np.linspace(-1, 1, 21)[:-1].reshape(-1, *[1] * np.ndim(gap))
    distance = np.asarray(k.iterate_complement(1 - starts, depth))
    seen = column(counts) & (layers >= first) & (distance > TINY)
    ratio = np.where(seen, distance / np.maximum(bound, TINY), 0)
    hypotheses = {"some map of the kind": bool(counts.any()), "a mean": bool(mean.min() > 0)}
    return Case(float(ratio.max()), 1.0, hypotheses, name)


def critical_maps(series: int, largest: int, stream: Stream) -> dict[str, sp.KernelMap]:
    """Return maps with ``s'(1) = 1`` and a mean: three in use, random series, pairs of orders.

    Weights on the orders from 1 on are scaled until ``sum i a_i^2 = 1``; the rest is the mean. The
    pairs of orders 1 and 2 are the quadratics.

    >>> maps = critical_maps(3, 5, sp.Stream(0))
    >>> np.asarray(maps["random series"].derivative(1.0)).round(9)
    array([1., 1., 1.])
    """
    found = {name: sp.KernelMap(IN_USE[name]) for name in CRITICAL}
    pairs = sp.limits.pair_series([1, 2, 3, 5, 10, 40], [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
    pairs = pairs[np.abs(pairs[:, 1] - 1) > 1e-9]  # order 1 alone is the identity
    for name, weights in {
        "random series": sp.limits.random_series(series, largest, stream),
        "pairs of orders": pairs,
    }.items():
        orders = np.arange(weights.shape[1])
        scaled = weights / (weights @ orders)[:, None]
        scaled[:, 0] = 1 - scaled[:, 1:].sum(1)
        found[name] = sp.KernelMap.from_series(scaled)
    return found


def _both(k: sp.KernelMap) -> tuple[Floats, Floats]:
    """``mu~``, and ``mu = 1 - (E X phi)^2`` as Definition 2 has it."""
    return np.asarray(k.nonlinearity), 1 - np.asarray(k.derivative(0.0))


def slope_near_one(
    name: str, k: sp.KernelMap, *, sharper: bool = False, factor: float = 1.0
) -> Case:
    """COND, proof of Lemma 36: ``2 alpha mu~`` beside ``1 - s'(1 - alpha)``.

    ``sharper`` has ``alpha mu`` on the left, which is never less.

    >>> case = slope_near_one("quadratic", sp.KernelMap.from_series([0.5, 0, 0.5]), sharper=True)
    >>> round(case.left / case.right, 9)
    1.0
    """
    affine, mu = _both(k)
    alpha = SHARES.reshape(-1, *[1] * np.ndim(mu))
    left = factor * alpha * (mu if sharper else 2 * affine)
    return _nearest(left, 1 - np.asarray(k.derivative(1 - alpha)) + ROUNDING, name)


@functools.cache
def _from_one(k: sp.KernelMap, depth: int) -> Floats:
    """``1 - s^(L)(r)`` for 0..depth layers, at the worst of five starts in [-1, 0]."""
    starts = np.linspace(1, 2, 5).reshape(-1, *[1] * np.ndim(k(0.0)))
    return np.asarray(np.asarray(k.iterate_complement(starts, depth)).max(0))


def critical(
    name: str, k: sp.KernelMap, depth: int, *, share: float = 0.5, affine: bool = False
) -> Case:
    """COND Lemma 36: ``(1 - s^(L)(r)) / eps`` at ``L = L_0(eps)``, beside 1.

    At the worst of :data:`LEVELS` with ``L_0 <= depth``, and of starts in [-1, 0], which include
    the worst of all. ``share`` is the factor of ``eps mu``, and ``affine`` takes ``mu~`` for mu.

    >>> case = critical("quadratic", sp.KernelMap.from_series([0.5, 0, 0.5]), 100)
    >>> bool(0.2 < case.left < 1)
    True
    """
    without, mu = _both(k)
    distance, mean = _from_one(k, depth), np.asarray(k(0.0))
    worst = 0.0
    for level in LEVELS:
        coefficient = without if affine else mu
        layers = np.asarray(theory.cond_lemma_36_l_0(level, coefficient, mean, share))
        at = np.minimum(layers, depth).astype(int)[..., None]
        there = np.take_along_axis(distance, at, axis=-1)[..., 0]
        worst = max(worst, float(np.where(layers <= depth, there / level, 0).max()))
    return Case(worst, 1.0, {"slope 1 at 1": _is_critical(k)}, name)


def critical_rate(name: str, k: sp.KernelMap, depth: int, *, factor: float = 1.0) -> Case:
    """Return ``1 - s^(L)(r)`` times ``s(0) L``, the largest of all layers, beside 1.

    ``factor`` makes a rival.

    >>> case = critical_rate("quadratic", sp.KernelMap.from_series([0.5, 0, 0.5]), 1000)
    >>> 0.98 < case.left < 1
    True
    """
    bound = theory.cond_lemma_36_sharper(np.arange(1.0, depth + 1), column(k(0.0)))
    ratio = _from_one(k, depth)[..., 1:] / (factor * bound)
    return Case(float(ratio.max()), 1.0, {"slope 1 at 1": _is_critical(k)}, name)


def _is_critical(k: sp.KernelMap) -> bool:
    return bool(np.allclose(np.asarray(k.derivative(1.0)), 1, atol=1e-9))


def depths(name: str, levels: Floats) -> pd.DataFrame:
    """Return the layers that bring every start to within eps of 1, and what is said of them.

    Columns: eps, layers, ``1 / (eps s(0))`` and ``L_0`` of Lemma 36.

    >>> depths("exponential", np.array([0.1])).round(1).iloc[0].tolist()
    [0.1, 18.0, 27.2, 94.0]
    """
    k = sp.KernelMap(IN_USE[name])
    mean, (_, mu) = float(k(0.0)), _both(k)
    simple = 1 / (levels * mean)
    depth = 64
    while _from_one(k, depth)[-1] > levels.min():
        depth *= 2
    distance = _from_one(k, depth)
    return pd.DataFrame(
        {
            "eps": levels,
            "layers": [int(np.argmax(distance <= level)) for level in levels],
            "1 / (ε s(0))": simple,
            "Lemma 36": theory.cond_lemma_36_l_0(levels, mu, mean),
        }
    )


def growth(name: str, *, logarithm: bool = False) -> Case:
    """Return the exponent of ``1/eps`` in the layers needed, beside its limit.

    From a depth of 10^4 to one of 10^6; the limit is 1 over the power of the activation.
    ``logarithm`` has the exponent of ``log(1/eps) / eps`` between the same distances.

    >>> case = growth("exponential")
    >>> round(case.left, 3), case.right
    (1.0, 1.0)
    """
    k = sp.KernelMap(IN_USE[name])
    first, last = (-math.log(float(k.leap(0.0, depth))) for depth in (10**4, 10**6))
    left = math.log(100) / (last - first)
    right = 1 / CRITICAL[name][0]
    if logarithm:
        right = 1 + math.log(last / first) / (last - first)
    return Case(left, right, words=name)


def curves(name: str, depth: int, delta: float) -> pd.DataFrame:
    """Return the largest distance from p by layer, over starts with ``|r| <= 1 - delta``.

    Columns: layer, truth, Lemma 35 (from ``L_0`` on) and its sharper form.

    >>> curves("GELU", 1, 0.01)["truth"].round(4).tolist()
    [1.7504, 0.9352]
    """
    k = sp.KernelMap(IN_USE[name])
    layers = np.arange(depth + 1.0)
    gap, slope, mean, mu = (float(x) for x in _numbers(k))
    start = float(theory.cond_lemma_35_l_0(delta, mu, gap, mean))
    base = max(1 - mu * gap / 2, slope)
    sharper, first = _two_sided(k, np.asarray(delta), layers, 1.0)
    return pd.DataFrame(
        {
            "layer": layers,
            "truth": k.approach(np.linspace(delta - 1, 1 - delta, 41), depth).max(0),
            "Lemma 35": np.where(layers >= start, base ** (layers - start) * (1 - gap / 2), np.nan),
            "sharper": np.where(layers >= first, np.minimum(sharper, 1), np.nan),
        }
    )


def _nearest(left: Floats, right: Floats, words: str) -> Case:
    """Both sides where their quotient is largest."""
    left, right = np.broadcast_arrays(left, right)
    at = np.unravel_index(int(np.argmax(left / np.maximum(right, TINY))), left.shape)
    return Case(float(left[at]), float(right[at]), words=words)
