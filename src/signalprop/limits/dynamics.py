"""Where the iteration ``rho <- kappa(rho)`` goes, how fast, and from where."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.polynomial import Chebyshev
from torch import Tensor

if TYPE_CHECKING:
    from signalprop.limits.maps import KernelMap

__all__ = [
    "Basin",
    "ConvergenceRate",
    "FixedPoint",
    "approach",
    "attractor",
    "basin",
    "fixed_points",
    "leap",
    "long_path",
    "rate",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]

NODES = 400  # of the interpolation in the logarithm of the distance
EXACT = 64  # layers before a leap
STRIDE = 256  # layers that are computed one by one between leaps
LOWEST = -100.0  # log of the distance below which the rate is the asymptotic one
CRITICAL = 1e-9  # a multiplier this close to 1 counts as 1
CENTERED = 1e-24  # kappa(0) is a square: below this its root is rounding error


@dataclass(frozen=True)
class FixedPoint:
    """A point with ``kappa(value) = value``; arrays for a batch of maps.

    ``gap`` is ``1 - value`` with its own digits and ``multiplier`` is ``kappa'(value)``.

    >>> from signalprop.limits.maps import KernelMap
    >>> point = KernelMap.from_series([0.25, 0.0, 0.75]).fixed_points()[0]   # of (1 + 3 rho^2) / 4
    >>> round(point.value, 12), round(point.multiplier, 12), point.attracting
    (0.333333333333, 0.5, True)
    """

    value: Any
    gap: Any
    multiplier: Any
    attracting: bool


@dataclass(frozen=True)
class ConvergenceRate:
    """How the distance to the attracting fixed point decays with depth.

    ``geometric``: by the factor ``value`` a layer. ``power``: as ``constant * depth^(-value)``
    (the multiplier is 1). ``superlinear``: as the power ``value`` of itself (the multiplier is 0).

    >>> from signalprop.limits.maps import KernelMap
    >>> KernelMap.from_series([0.5, 0.5]).rate()
    ConvergenceRate(kind='geometric', value=0.5, constant=nan)
    """

    kind: Literal["geometric", "power", "superlinear"]
    value: float
    constant: float = math.nan


class Basin(NamedTuple):
    """An interval, and whether it contains its ends.

    >>> from signalprop.limits.maps import KernelMap
    >>> KernelMap.from_series([0.0, 0.0, 0.0, 1.0]).basin()     # of 0, under rho^3
    Basin(low=-1.0, high=1.0, closed_low=False, closed_high=False)
    """

    low: float
    high: float
    closed_low: bool
    closed_high: bool


def fixed_points(kernel: KernelMap) -> list[FixedPoint]:
    """Return all fixed points of one map, ascending, found by search and not by theory.

    Sign changes of ``kappa(rho) - rho`` on 4,000 points of ``[-1, 1/2]`` and, in the logarithm of
    ``1 - rho``, on 2,000 of ``[1/2, 1 - 1e-10]``, refined by Brent's method, and the two ends. None
    hides between: on [0, 1] the difference is convex (COND Lemma 31), and below 0 it is positive.

    >>> from signalprop.activations import cube
    >>> from signalprop.limits.maps import KernelMap
    >>> [(p.value, p.attracting) for p in KernelMap(cube.normalized()).fixed_points()]
    [(-1.0, False), (0.0, True), (1.0, False)]
    """
    inner = _roots(lambda r: kernel(r) - r, np.linspace(-1 + 1e-6, 0.5, 4001), 1e-17)
    outer = _roots(lambda d: d - kernel.complement(d), np.geomspace(1e-10, 0.5, 2001), 1e-26)
    gaps = [1 - r for r in inner] + [d for d in reversed(outer) if d < 0.5] + [0.0]
    values = [0.0 if abs(r) < 1e-15 else r for r in inner] + [1 - g for g in gaps[len(inner) :]]
    if abs(float(kernel(-1.0)) + 1) < 1e-12:
        values, gaps = [-1.0, *values], [2.0, *gaps]
    return [_describe(kernel, v, g) for v, g in zip(values, gaps, strict=True)]


def _roots(excess: Any, grid: Any, precision: float) -> list[float]:
    from scipy.optimize import brentq  # slow to load, and few need it

    values = excess(grid)
    roots = [float(x) for x, v in zip(grid, values, strict=True) if v == 0]
    changes = np.flatnonzero(values[:-1] * values[1:] < 0)
    brent = functools.partial(brentq, lambda x: float(excess(x)), xtol=precision)
    return sorted(roots + [brent(grid[i], grid[i + 1]) for i in changes])


def _describe(kernel: KernelMap, value: float, gap: float) -> FixedPoint:
    multiplier = float(kernel.derivative(value))
    if abs(multiplier - 1) > CRITICAL:
        return FixedPoint(value, gap, multiplier, abs(multiplier) < 1)
    # critical: look at which way the neighbours move
    left = value == -1 or float(kernel(value - 1e-4)) > value - 1e-4
    right = value == 1 or float(kernel(value + 1e-4)) < value + 1e-4
    return FixedPoint(value, gap, multiplier, left and right)


def attractor(kernel: KernelMap) -> FixedPoint:
    """Return the attracting fixed point of each map of a batch (KER Theorem 5.11).

    It is the smallest one in [0, 1] where ``kappa(0) >= 0``: 0 if ``kappa(0) = 0``; 1 if
    ``kappa'(1) <= 1``; else the one sign change of the convex ``kappa(rho) - rho`` inside, by
    bisection in ``log(rho / (1 - rho))``. That nothing attracts below 0 is looked at, on 2,000
    points, and not assumed: a series with negative weights, which no activation has, may start
    with ``kappa(0) < 0`` and go to a fixed point in [-1, 0), which is bisected, or have several
    that attract, which is a ``ValueError``.

    >>> from signalprop.limits.maps import KernelMap
    >>> round(float(attractor(KernelMap.from_series([0.25, 0.0, 0.75])).value), 12)
    0.333333333333
    """
    one = torch.ones_like(kernel._constant)
    low, high = torch.full_like(one, -75.0), torch.full_like(one, 40.0)
    for _ in range(70):
        middle = (low + high) / 2
        rho, gap = torch.sigmoid(middle), torch.sigmoid(-middle)
        climbs = torch.where(rho < 0.5, kernel._value(rho) > rho, kernel._complement(gap) < gap)
        low, high = torch.where(climbs, middle, low), torch.where(climbs, high, middle)
    at_one = kernel._slope(one) <= 1 + CRITICAL
    centered = kernel._constant <= CENTERED
    gap = torch.where(centered, one, torch.where(at_one, 0 * one, torch.sigmoid(-low)))
    value = torch.where(centered, 0 * one, torch.where(at_one, one, torch.sigmoid(low)))
    below = kernel._constant < -CENTERED
    _require_single(kernel, below)
    if bool(below.any()):
        value = torch.where(below, _root_below_zero(kernel), value)
        gap = torch.where(below, 1 - value, gap)
    multiplier = kernel._slope(value)
    attracting = bool((multiplier.abs() <= 1 + CRITICAL).all())
    return FixedPoint(value.numpy()[()], gap.numpy()[()], multiplier.numpy()[()], attracting)


def _require_single(kernel: KernelMap, below: Tensor) -> None:
    """Refuse maps that descend somewhere below 0 and yet climb from 0."""
    grid = torch.linspace(-1 + 1e-6, -1e-6, 2000, dtype=torch.float64)
    grid = grid.reshape(-1, *[1] * below.ndim)
    descends = (kernel._value(grid) - grid < -1e-12).any(0)
    if bool((descends & ~below).any()):
        raise ValueError(f"{kernel.name} has attracting fixed points on both sides of 0")


def _root_below_zero(kernel: KernelMap) -> Tensor:
    low, high = -torch.ones_like(kernel._constant), torch.zeros_like(kernel._constant)
    for _ in range(80):
        middle = (low + high) / 2
        climbs = kernel._value(middle) > middle
        low, high = torch.where(climbs, middle, low), torch.where(climbs, high, middle)
    return low


def approach(kernel: KernelMap, rho: Any, depth: int, layers: Sequence[int] | None = None) -> Any:
    """Return ``|rho_l - rho*|`` for l = 0..depth, ``(..., depth + 1)``, or at ``layers``, in numpy.

    Iterated in ``rho`` or in ``1 - rho``, whichever is the smaller at the fixed point, so that the
    distance to 0 and to 1 keeps its relative accuracy; to any other point it ends at rounding.

    >>> from signalprop.limits.maps import KernelMap
    >>> KernelMap.from_series([0.5, 0.5]).approach(0.0, 3)
    array([1.   , 0.5  , 0.25 , 0.125])
    """
    point, start = attractor(kernel), np.asarray(rho, dtype=float)
    value, gap = np.asarray(point.value)[..., None], np.asarray(point.gap)[..., None]
    near_zero, distance = value < 0.5, np.asarray(0.0)
    if near_zero.any():
        distance = np.abs(np.asarray(kernel.iterate(start, depth, layers)) - value)
    if near_zero.all():
        return distance
    by_gap = np.abs(np.asarray(kernel.iterate_complement(1 - start, depth, layers)) - gap)
    return np.where(near_zero, distance, by_gap)


def leap(kernel: KernelMap, rho: Any, depth: int) -> Any:
    """Return ``|rho_depth - rho*|`` of one map in the shape of ``rho``, in numpy.

    The first 64 layers are computed one by one. Those that are left are computed by doubling: if in
    ``y = log |rho - rho*|`` n layers take off ``d_n(y)``, then 2n layers take off ``d_n(y) +
    d_n(y - d_n(y))``. What d has beyond its limit far down, n times the logarithm of the
    multiplier, is interpolated at Chebyshev points, with an error of about 1e-15 a layer: 1e-9 of
    the distance for a million. Right because it is smooth: it ends as ``exp(b y)``. Points between
    are compared with the map: what is off by 1e-12 is a ``ValueError``. Starts near 1, where 1
    repels, are computed layer by layer until they are half way.

    Towards a fixed point that is neither 0 nor 1 the distance ends at rounding: there layers are
    computed until nothing changes any more.

    >>> from signalprop.limits.maps import KernelMap
    >>> round(float(leap(KernelMap.from_series([0.5, 0.5]), 0.0, 200) * 2.0**200), 12)
    1.0
    """
    point, start = attractor(kernel), np.asarray(rho, dtype=float)
    value, multiplier = float(point.value), float(point.multiplier)
    if depth <= EXACT or multiplier <= CENTERED or value not in (0.0, 1.0):
        return _until_it_rests(kernel, start, depth)
    rate = -math.log(multiplier)
    if value == 1:
        gaps = np.asarray(kernel.iterate_complement(1 - start, EXACT, [EXACT]))[..., 0]
        return _doubled(kernel._complement, gaps, depth - EXACT, rate)
    ends, done = start, 0
    while done < depth and (done == 0 or (np.abs(ends) > 0.5).any()):  # away from what repels
        few = min(EXACT, depth - done)
        before, ends = ends, np.asarray(kernel.iterate(ends, few, [few]))[..., 0]
        done += few
        if np.array_equal(before, ends):
            break
    distances = np.array(np.abs(ends))
    for sign in (1.0, -1.0):  # the multiplier is positive: no layer changes the sign
        side = (sign * ends > 0) & (sign * ends <= 0.5)
        step = functools.partial(_centered_step, kernel, sign)
        distances[side] = _doubled(step, sign * ends[side], depth - done, rate)
    return distances[()]


def long_path(kernel: KernelMap, rho: Tensor, layers: Floats, gaps: bool) -> Tensor | None:
    """Return ``rho_l`` of one map at so many ``layers`` ``(L,)``, ``(..., L)``, or None.

    With ``gaps`` it takes and gives ``1 - rho``. None where the way goes to no end of [0, 1] or is
    not smooth enough for :func:`leap`, whose leaps, of 256 layers and their doubles, all layers
    together take; those between are computed one by one, a whole batch at a time.

    >>> from signalprop.limits.maps import KernelMap
    >>> kernel, layers = KernelMap.from_series([0.5, 0.5]), np.array([1, 1000])
    >>> gap = torch.ones(1, dtype=torch.float64)
    >>> (long_path(kernel, gap, layers, gaps=True).log2()).round(decimals=9)
    tensor([[   -1., -1000.]], dtype=torch.float64)
    """
    point = attractor(kernel)
    value, multiplier = float(point.value), float(point.multiplier)
    if value not in (0.0, 1.0) or multiplier <= CENTERED:
        return None
    start = (1 - rho if gaps != (value == 1) else rho).numpy()
    step = kernel._complement if value == 1 else functools.partial(_centered_step, kernel, 1.0)
    farthest = 2.0 if value == 1 else 0.5
    first, ends = _first_layers(step, start, farthest, layers)
    result, done = np.zeros((*start.shape, len(layers))), len(first) - 1
    early = layers <= done
    result[..., early] = np.stack(first, axis=-1)[..., layers[early]]
    try:
        result[..., ~early] = _later(
            kernel, ends, layers[~early] - done, -math.log(multiplier), value == 1, farthest
        )
    except ValueError:  # not smooth enough
        return None
    path = torch.from_numpy(result)
    return 1 - path if gaps != (value == 1) else path


def _first_layers(
    step: Callable[[Tensor], Tensor], start: Floats, farthest: float, layers: Floats
) -> tuple[list[Floats], Floats]:
    """Return the layers up to the 64th, and on until all has come near or rests."""
    path = [start]
    while len(path) <= layers.max():
        ends = path[-1]
        after = step(torch.from_numpy(ends)).clamp(-1.0, max(1.0, farthest)).numpy()
        if len(path) > EXACT and ((np.abs(ends) <= farthest) | (after == ends)).all():
            break
        path.append(after)
    return path, path[-1]


def _later(
    kernel: KernelMap, start: Floats, layers: Floats, rate: float, to_one: bool, farthest: float
) -> Floats:
    """Return the layers that come later, ``(..., L)``: what is farther away rests."""
    stride, after = np.divmod(layers, STRIDE)
    new = np.diff(stride, prepend=-1) > 0
    bases, which = STRIDE * stride[new], np.cumsum(new) - 1
    together = np.split(np.argsort(after, kind="stable"), np.bincount(after).cumsum()[:-1])
    result = np.broadcast_to(start[..., None], (*start.shape, len(layers))).copy()
    for sign in (1.0,) if to_one else (1.0, -1.0):  # the multiplier is positive: no change of sign
        step = kernel._complement if to_one else functools.partial(_centered_step, kernel, sign)
        side = (sign * start > 0) & (sign * start <= farthest)
        if side.any():
            now = torch.from_numpy(_doubled(step, sign * start[side][:, None], bases, rate))
            found = result[side]
            for here in together:
                found[:, here] = sign * now.numpy()[:, which[here]]
                now = step(now)
            result[side] = found
    return result


def _centered_step(kernel: KernelMap, sign: float, distance: Tensor) -> Tensor:
    return sign * kernel._factor * kernel._form.centered(sign * distance)


def _until_it_rests(kernel: KernelMap, start: Any, depth: int) -> Any:
    done, now = 0, approach(kernel, start, 0)[..., 0]
    while done < depth:
        before, done = now, min(depth, max(2 * done, EXACT))
        now = approach(kernel, start, done, [done])[..., 0]
        if np.array_equal(before, now):
            break
    return now


def _doubled(step: Callable[[Tensor], Tensor], distance: Floats, layers: Any, rate: float) -> Any:
    """Return ``distance`` after so many steps, each of which divides it by ``exp(rate)`` or so.

    ``layers`` is a number, or whole numbers that broadcast against ``distance``.
    """

    def one(y: Floats) -> Floats:
        x = np.exp(y)
        return np.asarray(-np.log(step(torch.from_numpy(x)).numpy() / x) - rate)

    distance, left = np.broadcast_arrays(distance, layers)
    result, moving = np.zeros(distance.shape), distance > math.exp(LOWEST)
    resting = distance[~moving]
    result[~moving] = resting * np.exp(-rate * left[~moving])
    if not moving.any():
        return result[()]
    y, left = np.log(distance[moving]), left[moving]
    domain = [LOWEST, float(y.max()) + 1e-9]
    excess, size = Chebyshev.interpolate(one, NODES, domain), 1
    between = np.linspace(domain[0], domain[1], 1013)
    if np.abs(excess(between) - one(between)).max() > 1e-12:
        raise ValueError("the map is not smooth enough for a leap: take iterate with layers")
    while left.any():
        now = left % 2 == 1
        y[now] = y[now] - size * rate - excess(np.maximum(y[now], LOWEST))
        left = left // 2
        excess, size = _twice(excess, size * rate), 2 * size
    result[moving] = np.exp(y)
    return result[()]


def _twice(excess: Chebyshev, rate: float) -> Chebyshev:
    def both(y: Floats) -> Floats:
        first = excess(y)
        return np.asarray(first + excess(np.maximum(y - rate - first, LOWEST)))

    return Chebyshev.interpolate(both, NODES, excess.domain)


def rate(kernel: KernelMap) -> ConvergenceRate:
    """Return the asymptotic rate of one map towards its attracting fixed point.

    A multiplier in (0, 1) is the rate. With multiplier 1 the gap obeys
    ``gap <- gap - a gap^(1 + b)``, hence ``gap ~ (a b depth)^(-1/b)``: ``b = 1`` for smooth
    activations and 1/2 with kinks. With multiplier 0 the first non-zero term of the series rules.

    >>> from signalprop.activations import relu
    >>> from signalprop.limits.maps import KernelMap
    >>> r = KernelMap(relu.normalized()).rate()
    >>> r.kind, r.value, abs(r.constant / (9 * math.pi**2 / 2) - 1) < 1e-5
    ('power', 2.0, True)
    """
    point = attractor(kernel)
    multiplier = float(point.multiplier)
    if abs(multiplier - 1) <= CRITICAL:
        return _power_law(kernel)
    if multiplier > CENTERED:
        return ConvergenceRate("geometric", multiplier)
    coefficients = np.abs(kernel.hermite_coefficients(64))
    return ConvergenceRate(
        "superlinear", float(np.flatnonzero(coefficients > math.sqrt(CENTERED))[0])
    )


def _power_law(kernel: KernelMap) -> ConvergenceRate:
    gaps = 1e-4 / 4.0 ** np.arange(3)
    deficit = 1 - kernel.complement(gaps) / gaps  # a gap^b (1 + O(gap^(1/2)))
    b = round(2 * math.log(deficit[1] / deficit[2], 4)) / 2
    ratios = deficit / gaps**b
    # Richardson: remove the terms in gap^(1/2), then in gap
    halves = 2 * ratios[1:] - ratios[:-1]
    a = float(4 * halves[1] - halves[0]) / 3
    return ConvergenceRate("power", 1 / b, (a * b) ** (-1 / b))


def basin(kernel: KernelMap) -> Basin:
    """Return the basin of attraction in [-1, 1] of one map: between the fixed points that repel.

    >>> from signalprop.activations import relu, tanh
    >>> from signalprop.limits.maps import KernelMap
    >>> KernelMap(relu.normalized()).basin()
    Basin(low=-1.0, high=1.0, closed_low=True, closed_high=True)
    >>> KernelMap(tanh.normalized()).basin()
    Basin(low=-1.0, high=1.0, closed_low=False, closed_high=False)
    """
    points = fixed_points(kernel)
    centre = next(p.value for p in points if p.attracting)
    low = max((p.value for p in points if p.value < centre), default=-1.0)
    high = min((p.value for p in points if p.value > centre), default=1.0)
    image = float(kernel(-1.0))  # -1 may be no fixed point and yet be sent to one
    closed_low = all(p.value != low for p in points) and not (image > 1 - 1e-12 and centre < 1)
    return Basin(low, high, closed_low, high == centre)
