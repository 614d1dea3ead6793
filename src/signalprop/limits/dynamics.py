"""Where the iteration ``rho <- kappa(rho)`` goes, how fast, and from where."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import torch

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
    "rate",
]

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

    It is the smallest one in [0, 1]: 0 if ``kappa(0) = 0``; 1 if ``kappa'(1) <= 1``; else the one
    sign change of the convex ``kappa(rho) - rho`` inside, by bisection in ``log(rho / (1 - rho))``.

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
    multiplier = kernel._slope(value)
    return FixedPoint(value.numpy()[()], gap.numpy()[()], multiplier.numpy()[()], True)


def approach(kernel: KernelMap, rho: Any, depth: int) -> Any:
    """Return ``|rho_l - rho*|`` for l = 0..depth, ``(..., depth + 1)``, in numpy.

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
        distance = np.abs(np.asarray(kernel.iterate(start, depth)) - value)
    if near_zero.all():
        return distance
    by_gap = np.abs(np.asarray(kernel.iterate_complement(1 - start, depth)) - gap)
    return np.where(near_zero, distance, by_gap)


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
