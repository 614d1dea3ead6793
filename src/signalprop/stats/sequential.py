"""Means measured until they are known well enough, or the budget ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from signalprop._arrays import Floats
from signalprop.stats._sample import check_level, floats
from signalprop.stats.intervals import Estimate, mean_interval

__all__ = ["SequentialEstimate", "sequential_mean"]

FIRST_LOOK = 32  # draws before the first interval: few, but enough for Student's to be near level


@dataclass(frozen=True, repr=False)
class SequentialEstimate(Estimate):
    """A mean with its interval, the draws that it took, and whether the target was reached.

    >>> estimate = sequential_mean(lambda runs: [r % 2 for r in runs], half_width=0.1, budget=100)
    >>> estimate.draws, estimate.reached
    (100, False)
    """

    draws: int
    reached: bool


def sequential_mean(
    draw: Callable[[range], object], half_width: float, budget: int, level: float = 0.95
) -> SequentialEstimate:
    """Draw runs until the interval of their mean is within ``half_width``, or ``budget`` is spent.

    ``draw(runs)`` gets a range of run indices and returns one number for each: with a
    :class:`~signalprop.random.Stream` keyed by run the result does not depend on the stopping.
    Look k = 1, 2, ... comes after 32, 64, 128, ... draws (the last one at ``budget``).

    Why stopping is allowed: look k uses an interval of error ``(1 - level) / (k (k + 1))``; these
    errors sum to ``1 - level`` at most, so that all looks are right at once with the probability
    ``level`` (as far as Student's interval is exact), the look one stops at included.

    >>> from signalprop.random import Stream
    >>> coin = lambda runs: [float(Stream(0).numpy(r).random() < 0.5) for r in runs]
    >>> estimate = sequential_mean(coin, half_width=0.1, budget=10_000)
    >>> estimate.reached, estimate.draws, bool(estimate.contains(0.5))
    (True, 256, True)
    """
    check_level(level)
    if budget < 2 or not half_width > 0:
        raise ValueError(
            f"budget must be at least 2 and half_width > 0, got {budget} and {half_width}"
        )
    values = np.empty(0)
    look = 0
    while True:
        look += 1
        target = min(budget, FIRST_LOOK * 2 ** (look - 1))
        values = np.concatenate([values, _new_values(draw, range(len(values), target))])
        interval = mean_interval(values, level=1 - (1 - level) / (look * (look + 1)))
        reached = bool(interval.half_width <= half_width)
        if reached or target == budget:
            return SequentialEstimate(
                interval.value, interval.low, interval.high, level, len(values), reached
            )


def _new_values(draw: Callable[[range], object], runs: range) -> Floats:
    values = floats(draw(runs), "draw(runs)")
    if values.shape != (len(runs),):
        raise ValueError(f"draw(runs) must return {len(runs)} numbers, got shape {values.shape}")
    return values
