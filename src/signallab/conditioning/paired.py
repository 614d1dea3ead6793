"""Two methods compared run by run: intervals of paired differences, and what they decide.

Runs of one seed share initial weights, where shapes allow, and batches. Intervals are Student's at
95 %: a handful of trained networks allows no smaller error, and no chance of a false alarm is
claimed with them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from signallab.case import Case
from signalprop.stats import Estimate, mean_interval

__all__ = ["ahead", "close", "decided", "interval", "not_behind"]


def interval(first: ArrayLike, second: ArrayLike) -> Estimate:
    """Return the mean of ``second - first``, one number a run ``(runs,)``, with its interval.

    >>> interval([0.1, 0.2, 0.3], [0.2, 0.4, 0.6])
    Estimate(0.2 in [-0.04841, 0.4484] at 95%)
    """
    return mean_interval(np.asarray(second, float) - np.asarray(first, float))


def not_behind(first: ArrayLike, second: ArrayLike, margin: float, words: str = "") -> Case:
    """``second`` is at most ``margin`` behind ``first``, with its interval.

    >>> not_behind([0.1, 0.2, 0.3], [0.2, 0.4, 0.6], 0.05).left.round(4)
    np.float64(0.0484)
    """
    return Case(np.maximum(0.0, -interval(first, second).low), margin, words=words)


def close(first: ArrayLike, second: ArrayLike, margin: float, words: str = "") -> Case:
    """The two are at most ``margin`` apart, with the interval.

    >>> close([0.1, 0.2, 0.3], [0.2, 0.4, 0.6], 0.5).left.round(4)
    np.float64(0.4484)
    """
    found = interval(first, second)
    return Case(np.maximum(abs(found.low), abs(found.high)), margin, words=words)


def ahead(first: ArrayLike, second: ArrayLike, words: str = "") -> Case:
    """``second`` is ahead of ``first``: the interval lies above 0.

    >>> case = ahead([0.1, 0.2, 0.3], [0.2, 0.4, 0.6])
    >>> bool(case.left <= case.right)
    False
    """
    return Case(0.0, interval(first, second).low, words=words)


def decided(first: ArrayLike, second: ArrayLike, limits: Sequence[float], words: str = "") -> Case:
    """No limit lies inside the interval: it says on which side of each the difference is.

    >>> case = decided([0.1, 0.2, 0.3], [0.2, 0.4, 0.6], [0.0])
    >>> bool(case.left <= case.right)
    False
    """
    found = interval(first, second)
    distance = min(abs(found.value - limit) for limit in limits)
    return Case(found.half_width, distance, words=words)
