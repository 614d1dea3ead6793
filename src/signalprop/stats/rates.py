"""Rates of decay of curves that end on a floor."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from signalprop._arrays import Floats
from signalprop.stats._sample import floats, positive_floats
from signalprop.stats.intervals import Estimate
from signalprop.stats.slopes import slope

__all__ = ["DecayRate", "exponential_rate", "power_rate"]

MIN_FLOOR = 3  # points that must lie on a floor before we believe in it


@dataclass(frozen=True, repr=False)
class DecayRate(Estimate):
    """A decay rate with its interval, and the floor on which the decay ends.

    The curve is near ``amplitude * exp(-value * x)`` (or ``amplitude * x**-value``) until
    ``floor_start``, then near ``floor``; both are ``None`` if the curve shows no floor.
    ``points`` counts the points of the decay that the rate was fitted to.

    >>> rate = exponential_rate([8.0, 4.0, 2.0, 1.0])       # halves: rate log 2
    >>> round(rate.value, 4), round(rate.amplitude, 12), rate.floor
    (0.6931, 8.0, None)
    """

    amplitude: float
    r_squared: float
    points: int
    floor: float | None
    floor_start: float | None


def exponential_rate(
    values: object, x: object = None, level: float = 0.95, margin: float = 3.0
) -> DecayRate:
    """Fit the rate r of ``values ~ exp(-r x)`` where the curve has not reached its floor yet.

    ``values`` has shape (points,) or (runs, points) and is positive; ``x`` (points,) defaults to
    0, 1, 2, ... The estimator has two steps:

    1. the logarithm, averaged over runs, is fitted by least squares with a line that turns flat at
       a change point, tried at every x; the turn is kept if it has three points and beats the
       straight line by the Bayes information criterion;
    2. the rate is the :func:`~signalprop.stats.slope` through the points above ``margin`` times
       the floor, with its interval (over runs if there are several).

    Why it is right: a floor that adds to the decay shifts the logarithms used by at most
    ``log(1 + 1/margin)``, and by exponentially less before; a larger ``margin`` trades points for
    bias. A growing curve has a negative rate and no floor.

    >>> import numpy as np
    >>> rate = exponential_rate(np.maximum(np.exp(-0.5 * np.arange(40)), 1e-4))
    >>> round(rate.value, 6), round(rate.floor, 6), round(rate.floor_start, 1)
    (0.5, 0.0001, 18.4)
    """
    curves = positive_floats(values, "values", (1, 2))
    grid = np.arange(curves.shape[-1]) if x is None else floats(x, "x", (1,))
    return _decay(grid, np.log(curves), level, margin)


def power_rate(values: object, x: object, level: float = 0.95, margin: float = 3.0) -> DecayRate:
    """Fit the exponent r of ``values ~ x**-r`` where the curve has not reached its floor yet.

    As :func:`exponential_rate`, in log x; ``x`` must be positive.

    >>> import numpy as np
    >>> x = np.arange(1, 200)
    >>> round(power_rate(np.maximum(x**-2.0, 1e-3), x).value, 6)
    2.0
    """
    curves = positive_floats(values, "values", (1, 2))
    rate = _decay(np.log(positive_floats(x, "x", (1,))), np.log(curves), level, margin)
    if rate.floor_start is None:
        return rate
    return dataclasses.replace(rate, floor_start=float(np.exp(rate.floor_start)))


def _decay(x: Floats, logs: Floats, level: float, margin: float) -> DecayRate:
    if x.shape != logs.shape[-1:] or (np.diff(x) <= 0).any():
        raise ValueError(f"x must be increasing with {logs.shape[-1]} points, got shape {x.shape}")
    if margin < 1:
        raise ValueError(f"margin must be at least 1, so above the floor, got {margin}")
    mean = np.atleast_2d(logs).mean(axis=0)
    floor = _floor(x, mean)
    used = len(x) if floor is None else _points_above(mean, floor + np.log(margin))
    if used < 3:
        raise ValueError(
            f"values must decay for at least 3 points above margin={margin:g} times their floor "
            f"{np.exp(mean.min() if floor is None else floor):.3g}, got {used}"
        )
    line = slope(x[:used], logs[..., :used], level)
    return DecayRate(
        value=-line.value,
        low=-line.high,
        high=-line.low,
        level=level,
        amplitude=float(np.exp(line.intercept)),
        r_squared=line.r_squared,
        points=used,
        floor=None if floor is None else float(np.exp(floor)),
        floor_start=None if floor is None else (floor - line.intercept) / line.value,
    )


def _points_above(mean: Floats, threshold: float) -> int:
    """Return how many points come before the curve first goes below the threshold."""
    below = np.flatnonzero(mean < threshold)
    return int(below[0]) if len(below) else len(mean)


def _floor(x: Floats, mean: Floats) -> float | None:
    """Return the level of the flat end of the best line that turns flat, if it beats a line."""
    points = len(x)
    if points < 2 + MIN_FLOOR:
        return None
    turns = x[1 : points - MIN_FLOOR]
    residuals, steepness = _fit(np.maximum(turns[:, None] - x, 0), mean)
    straight = _fit(-x[None], mean)[0][0]
    best = int(np.argmin(residuals))
    # Bayes information criterion; twice the penalty, for the turn was searched for.
    better = residuals[best] * points ** (2 / points) < straight
    return float(mean[x > turns[best]].mean()) if better and steepness[best] > 0 else None


def _fit(ramps: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Fit y by a constant plus a multiple of each ramp: squared residuals and multiples."""
    centred = ramps - ramps.mean(axis=1, keepdims=True)
    multiples = centred @ (y - y.mean()) / (centred**2).sum(axis=1)
    residuals = ((y - y.mean() - multiples[:, None] * centred) ** 2).sum(axis=1)
    return residuals, multiples
