"""Straight lines through curves, and exponents of power laws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from signalprop._arrays import Floats
from signalprop.stats._sample import floats, positive_floats, t_quantile, to_unit
from signalprop.stats.intervals import Estimate, mean_interval

__all__ = ["Slope", "exponent", "slope"]


@dataclass(frozen=True, repr=False)
class Slope(Estimate):
    """A slope with its interval, the intercept of the line and the share of variance it explains.

    ``r_squared`` is that of the curve averaged over the runs; it is 1 for a constant curve, which
    a line fits exactly.

    >>> line = slope([0, 1, 2, 3], [1.0, 3.0, 5.0, 7.0])
    >>> round(line.value, 12), round(line.intercept, 12), round(line.r_squared, 12)
    (2.0, 1.0, 1.0)
    """

    intercept: float
    r_squared: float


def slope(x: object, y: object, level: float = 0.95) -> Slope:
    """Fit ``y = intercept + value * x`` by least squares and return the slope with its interval.

    ``x`` has shape (points,). With ``y`` of shape (runs, points) each run gets its own slope and
    the interval is Student's over the independent runs: it holds however the points of one run
    are correlated. With a single curve, of shape (points,) or (1, points), it is that of linear
    regression, which supposes independent errors of one variance and needs three points; of a
    constant curve it has length 0.

    >>> slope([0, 1, 2, 3], [1.0, 3.1, 4.9, 7.0])
    Slope(1.98 in [1.797, 2.163] at 95%)
    """
    x, curves = _curves(x, y)
    (x, run), (curves, rise) = to_unit(x), to_unit(curves)
    mean = curves.mean(axis=0)
    line = stats.linregress(x, mean)
    fitted = line.intercept + line.slope * x
    scatter = float(((mean - mean.mean()) ** 2).sum())
    r_squared = 1 - float(((mean - fitted) ** 2).sum()) / scatter if scatter > 0 else 1.0
    interval = (
        mean_interval(_run_slopes(x, curves), level=level)
        if len(curves) > 1
        else _regression_interval(line.slope, line.stderr, len(x) - 2, level)
    )
    value, low, high = (
        float(part / run * rise) for part in (line.slope, interval.low, interval.high)
    )
    return Slope(value, low, high, level, float(line.intercept * rise), r_squared)


def exponent(x: object, y: object, level: float = 0.95) -> Slope:
    """Return the exponent p of ``y = c x^p``: the :func:`slope` of log y on log x.

    >>> round(exponent([1, 10, 100], [5.0, 50.0, 500.0]).value, 12)
    1.0
    """
    return slope(np.log(positive_floats(x, "x")), np.log(positive_floats(y, "y")), level)


def _curves(x: object, y: object) -> tuple[Floats, Floats]:
    x, y = floats(x, "x", (1,)), floats(y, "y", (1, 2))
    if y.shape[-1] != len(x):
        raise ValueError(f"y must have {len(x)} points, one for each of x, got shape {y.shape}")
    if np.ptp(x) == 0:
        raise ValueError(f"x must hold at least two different values, got only {x[0]}")
    if len(np.atleast_2d(y)) == 1 and len(x) < 3:
        raise ValueError("y must have at least 3 points, or 2 runs, for an interval of the slope")
    return x, np.atleast_2d(y)


def _run_slopes(x: Floats, curves: Floats) -> Floats:
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    result: Floats = curves @ weights
    return result


def _regression_interval(value: float, error: float, freedom: int, level: float) -> Estimate:
    # scipy has no error for a constant curve, which a line fits exactly
    reach = 0.0 if np.isnan(error) else t_quantile(level, freedom) * error
    return Estimate(value, value - reach, value + reach, level)
