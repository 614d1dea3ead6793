"""Two methods compared run by run: intervals of paired differences, and what they decide.

Runs of one seed share initial weights, where shapes allow, and batches. Intervals are Student's at
95 %: a handful of trained networks allows no smaller error, and no chance of a false alarm is
claimed with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from signallab.case import Case
from signalprop._arrays import Floats
from signalprop.stats import Estimate, mean_interval
from signalprop.stats._sample import t_quantile

__all__ = [
    "GUESS",
    "LEARNED",
    "Pairs",
    "ahead",
    "close",
    "decided",
    "deciding",
    "interval",
    "jointly",
    "mixed",
    "places",
    "runs_for",
]

#: Twice as often right as a guess among ten classes: a network that has learned.
LEARNED, GUESS = 0.2, 0.1
#: The level of intervals that stand alone.
LEVEL = 0.95
#: Digits that an accuracy in single precision has after the point.
DIGITS = 6


def interval(first: ArrayLike, second: ArrayLike, level: float = LEVEL) -> Estimate:
    """Return the mean of ``second - first``, one number a run ``(runs,)``, with its interval.

    Rounded to the digits that accuracies have, so that equal means differ by 0.

    >>> interval([0.1, 0.2, 0.3], [0.2, 0.4, 0.6])
    Estimate(0.2 in [-0.04841, 0.4484] at 95%)
    """
    found = mean_interval(np.asarray(second, float) - np.asarray(first, float), level=level)
    ends = np.round([found.value, found.low, found.high], DIGITS) + 0.0  # no negative zero
    value, low, high = ends.tolist()
    return Estimate(value, low, high, found.level)


def runs_for(found: Estimate, runs: int, half_width: float) -> int:
    """Return how many runs narrow the interval ``found`` of ``runs`` to a ``half_width``.

    That is if their spread stays. Two runs are the least that have an interval.

    >>> [runs_for(interval([0.1, 0.2, 0.3], [0.2, 0.4, 0.6]), 3, w) for w in (1.0, 0.25, 0.1)]
    [2, 3, 7]
    """
    spread: float = found.half_width * math.sqrt(runs) / t_quantile(0.95, runs - 1)
    least = max(2, math.ceil((NormalDist().inv_cdf(0.975) * spread / half_width) ** 2))
    # Student's intervals are wider than normal ones, by ever less: a few steps from the least.
    wide = ((k, t_quantile(0.95, k - 1) * spread / math.sqrt(k)) for k in count(least))
    return next(k for k, half in wide if half <= half_width)


def mixed(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """Return the two with every second run exchanged, as if there were no difference of methods.

    >>> mixed([0, 0, 0], [1, 1, 1])
    (array([0, 1, 0]), array([1, 0, 1]))
    """
    one, two = np.asarray(first), np.asarray(second)
    odd = np.arange(len(one)) % 2 == 1
    return np.where(odd, two, one), np.where(odd, one, two)


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


def decided(
    first: ArrayLike,
    second: ArrayLike,
    limits: Sequence[float],
    words: str = "",
    level: float = LEVEL,
) -> Case:
    """No limit lies inside the interval: it says on which side of each the difference is.

    >>> case = decided([0.1, 0.2, 0.3], [0.2, 0.4, 0.6], [0.0])
    >>> bool(case.left <= case.right)
    False
    """
    found = interval(first, second, level)
    distance = min(abs(found.value - limit) for limit in limits)
    return Case(found.half_width, distance, words=words)


def deciding(
    over: Sequence[Mapping[str, Any]], statement: Callable[..., Case], decided: Callable[..., Case]
) -> list[Mapping[str, Any]]:
    """Return the places that have to be decided before a statement on all of them is.

    One where it is decided against is enough; where there is none, all have to be decided for it.

    >>> points = [{"x": 1.0}, {"x": -1.0}]
    >>> deciding(points, lambda x: Case(0.0, x), lambda x: Case(0.5, abs(x)))
    [{'x': -1.0}]
    """
    against = [at for at in over if _true(decided(**at)) and not _true(statement(**at))]
    return against or list(over)


def jointly(
    over: Sequence[Mapping[str, Any]], statement: Callable[..., Case], decided: Callable[..., Case]
) -> list[Mapping[str, Any]]:
    """Return :func:`deciding` where one place against is enough only at a level for all together.

    For a statement each interval has to be on its side, so each has its own level. Against it one
    of k is enough, and k intervals of 95 % would bring one about by chance k times as often. So
    ``decided`` is asked with the ``level`` 1 - 0.05 / k, as Bonferroni's, where the statement is
    not true.

    >>> points = [{"x": 1.0}, {"x": -1.0}]
    >>> jointly(points, lambda x: Case(0.0, x), lambda x, level=0.95: Case(level, abs(x)))
    [{'x': -1.0, 'level': 0.975}]
    """
    level = 1 - (1 - LEVEL) / len(over)
    asked = [at if _true(statement(**at)) else {**at, "level": level} for at in over]
    return deciding(asked, lambda level=LEVEL, **at: statement(**at), decided)


def _true(case: Case) -> bool:
    return bool(np.all(case.left <= case.right))


def places(others: Sequence[str], depths: Sequence[int]) -> list[dict[str, Any]]:
    """Return where :class:`Pairs` compares: with each of the others, in training and in testing.

    >>> places(["SELU"], [32])[1]
    {'other': 'SELU', 'depth': 32, 'part': 'test'}
    """
    parts = ("train", "test")
    return [{"other": m, "depth": d, "part": p} for m in others for d in depths for p in parts]


@dataclass(frozen=True)
class Pairs:
    """One method beside the others: what their accuracies say, run by run.

    ``ends`` has a row for each method, depth and run, which are its index, and the columns "train
    accuracy" and "test accuracy"; a network that diverged, whose accuracy is NaN, counts as a
    guess. Where it is compared is said as
    by :func:`places`.

    >>> names = ["method", "depth", "run"]
    >>> index = pd.MultiIndex.from_product([["old", "new"], [2], [0, 1, 2]], names=names)
    >>> accuracies = [0.1, 0.2, 0.3, 0.2, 0.4, 0.6]
    >>> pairs = Pairs(pd.DataFrame({"test accuracy": accuracies}, index), "new")
    >>> pairs.interval("old", 2)
    Estimate(0.2 in [-0.04841, 0.4484] at 95%)
    """

    ends: pd.DataFrame = field(repr=False)
    method: str

    def interval(self, other: str, depth: int, part: str = "test") -> Estimate:
        """Return by how much the method is ahead of the other, with its interval."""
        return interval(*self._both(other, depth, part))

    def ahead(self, other: str, depth: int, part: str, mix: bool = False) -> Case:
        """The method is ahead of the other; with ``mix`` the two are :func:`mixed`."""
        one, two = self._both(other, depth, part)
        one, two = mixed(one, two) if mix else (one, two)
        return ahead(one, two, f"{other}, {part}, depth {depth}")

    def close(self, other: str, depth: int, part: str, margin: float, guess: bool = False) -> Case:
        """The two are at most ``margin`` apart; with ``guess`` the other guesses."""
        one, two = self._both(other, depth, part)
        one = np.full_like(one, GUESS) if guess else one
        return close(one, two, margin, f"{other}, {part}, depth {depth}")

    def decided(
        self,
        other: str,
        depth: int,
        part: str,
        limits: Sequence[float],
        level: float = LEVEL,
    ) -> Case:
        """The method has learned, and no limit lies inside the interval."""
        one, two = self._both(other, depth, part)
        if two.mean() < LEARNED:
            return Case(LEARNED, two.mean(), words=f"{self.method}, {part}, depth {depth}")
        return decided(one, two, limits, f"{other}, {part}, depth {depth}", level)

    def differences(self, at: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
        """Return a row for each place: method, depth, part, mean difference, and its interval."""
        found = [{**place, **vars(self.interval(**place))} for place in at]
        names = {"other": "ahead of", "value": "by", "low": "from", "high": "to"}
        return pd.DataFrame(found).drop(columns="level").rename(columns=names)

    def range(self, at: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """Return the least and the greatest end of the intervals at several places."""
        found = [self.interval(**place) for place in at]
        return {"low": min(of.low for of in found), "high": max(of.high for of in found)}

    def numbers(self, name: str, other: str, depth: int, part: str = "test") -> dict[str, float]:
        """Return the difference of accuracies and its ends, for a sentence."""
        found = self.interval(other, depth, part)
        return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}

    def _both(self, other: str, depth: int, part: str) -> tuple[Floats, Floats]:
        of = self.ends[f"{part} accuracy"].fillna(GUESS).sort_index()
        one, two = (of[name, depth].to_numpy() for name in (other, self.method))
        return one, two
