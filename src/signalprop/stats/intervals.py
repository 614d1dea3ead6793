"""Means with confidence intervals, of independent runs and of correlated series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats

from signalprop._arrays import Floats
from signalprop.random import Stream, as_stream
from signalprop.stats._sample import check_level, floats, t_quantile, to_unit

__all__ = ["Estimate", "batch_means", "mean_interval", "per_test_error"]

RESAMPLES = 2000  # percentiles of a 95 % interval are then good to about 0.3 % in probability


@dataclass(frozen=True, repr=False)
class Estimate:
    """An estimated number (or array of numbers) with its confidence interval.

    >>> Estimate(value=2.0, low=1.5, high=2.5, level=0.95)
    Estimate(2 in [1.5, 2.5] at 95%)
    """

    value: Any
    low: Any
    high: Any
    level: float

    @property
    def half_width(self) -> Any:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    def contains(self, x: Any) -> Any:
        """Return whether ``x`` lies in the interval (elementwise for arrays)."""
        return (self.low <= x) & (x <= self.high)

    def __repr__(self) -> str:
        value, low, high = (_show(part) for part in (self.value, self.low, self.high))
        return f"{type(self).__name__}({value} in [{low}, {high}] at {100 * self.level:.6g}%)"


def _show(number: Any) -> str:
    return np.array2string(np.asarray(number), precision=4, formatter={"float": "{:.4g}".format})


def mean_interval(
    values: object,
    axis: int = 0,
    level: float = 0.95,
    method: Literal["t", "bootstrap"] = "t",
    seed: int | Stream = 0,
) -> Estimate:
    """Return the mean over ``axis`` (independent runs) with a confidence interval for each entry.

    ``"t"`` is Student's interval: exact for Gaussian runs, and near its level for others once
    there are some tens of them. ``"bootstrap"`` is the bias-corrected accelerated bootstrap (BCa,
    2,000 resamples drawn from ``seed``), which follows skewed laws better but is too narrow
    below ten runs or so. Entries that are constant over the runs get an interval of length 0.

    >>> mean_interval([1.0, 2.0, 3.0, 4.0])
    Estimate(2.5 in [0.4457, 4.554] at 95%)
    """
    check_level(level)
    runs, unit = to_unit(_runs_first(values, axis), axis=0)
    mean = runs.mean(axis=0)
    if method == "t":
        reach = t_quantile(level, len(runs) - 1) * stats.sem(runs, axis=0)
        low, high = mean - reach, mean + reach
    elif method == "bootstrap":
        low, high = _bca(runs, level, as_stream(seed))
    else:
        raise ValueError(f"method must be 't' or 'bootstrap', got {method!r}")
    with np.errstate(over="ignore"):
        mean, low, high = ((end * unit)[()] for end in (mean, low, high))
    if not np.isfinite([mean, low, high]).all():
        raise ValueError(
            f"values must have an interval within float64, got values up to {np.max(unit):.1g}"
        )
    return Estimate(mean, low, high, level)


def _runs_first(values: object, axis: int) -> Floats:
    array = floats(values, "values")
    if not -array.ndim <= axis < array.ndim:
        raise ValueError(f"axis {axis} is not an axis of values, whose shape is {array.shape}")
    runs = np.moveaxis(array, axis, 0)
    if len(runs) < 2:
        raise ValueError(f"values must have at least 2 runs along axis {axis} for an interval")
    return runs


def _bca(runs: Floats, level: float, stream: Stream) -> tuple[Floats, Floats]:
    entries = runs.reshape(len(runs), -1)
    low, high = entries.mean(axis=0), entries.mean(axis=0)
    varies = np.ptp(entries, axis=0) > 0  # BCa is 0/0 on constants
    if varies.any():
        result = stats.bootstrap(
            (entries[:, varies],),
            np.mean,
            confidence_level=level,
            n_resamples=RESAMPLES,
            batch=100,
            rng=stream.numpy("bootstrap"),
        )
        low[varies], high[varies] = result.confidence_interval
    return low.reshape(runs.shape[1:]), high.reshape(runs.shape[1:])


def batch_means(series: object, axis: int = -1, batches: int = 20, level: float = 0.95) -> Estimate:
    """Return the time average of a stationary correlated series, with an honest interval.

    The series is cut along ``axis`` into ``batches`` consecutive blocks of equal length (the few
    entries that do not fill one are left out at the start) and Student's interval is taken over
    the block means. It is right when blocks are much longer than the correlation time: the block
    means are then nearly independent and Gaussian, whatever the correlations inside a block.

    >>> import numpy as np
    >>> batch_means(np.arange(100) % 2, batches=10)
    Estimate(0.5 in [0.5, 0.5] at 95%)
    """
    times, unit = to_unit(np.moveaxis(floats(series, "series", None), axis, 0), axis=0)
    length = len(times) // batches if batches >= 2 else 0
    if length == 0:
        raise ValueError(f"batches must lie in 2..{len(times)}, the series' length, got {batches}")
    blocks = times[len(times) - batches * length :].reshape(batches, length, *times.shape[1:])
    return mean_interval(blocks.mean(axis=1) * unit, level=level)


def per_test_error(tests: int, total: float = 1e-3) -> float:
    """Return the error probability of each of ``tests`` tests so that all pass but for ``total``.

    By the union bound it needs no independence.

    >>> per_test_error(tests=100)
    1e-05
    """
    if tests < 1 or not 0 < total < 1:
        raise ValueError(f"tests must be >= 1 and 0 < total < 1, got {tests} and {total}")
    if total / tests == 0:
        raise ValueError(f"total must be large enough to divide, got {total} over {tests}")
    return total / tests
