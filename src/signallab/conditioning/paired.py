"""Two methods compared run by run: intervals of paired differences, and what they decide.

Runs of one seed share initial weights, where shapes allow, and batches. Intervals are Student's at
95 %: a handful of trained networks allows no smaller error, and no chance of a false alarm is
claimed with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from signallab.case import Case
from signalprop._arrays import Floats
from signalprop.stats import Estimate, mean_interval

__all__ = ["LEARNED", "Pairs", "ahead", "close", "decided", "interval", "not_behind", "places"]

#: Twice as often right as a guess among ten classes: a network that has learned.
LEARNED, GUESS = 0.2, 0.1


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

    def ahead(self, other: str, depth: int, part: str, swap: bool = False) -> Case:
        """The method is ahead of the other; with ``swap`` the other way round."""
        one, two = self._both(other, depth, part)
        return ahead(*((two, one) if swap else (one, two)), words=f"{other}, {part}, depth {depth}")

    def close(self, other: str, depth: int, part: str, margin: float, guess: bool = False) -> Case:
        """The two are at most ``margin`` apart; with ``guess`` the other guesses."""
        one, two = self._both(other, depth, part)
        one = np.full_like(one, GUESS) if guess else one
        return close(one, two, margin, f"{other}, {part}, depth {depth}")

    def decided(self, other: str, depth: int, part: str, limits: Sequence[float]) -> Case:
        """The method has learned, and no limit lies inside the interval."""
        one, two = self._both(other, depth, part)
        if two.mean() < LEARNED:
            return Case(LEARNED, two.mean(), words=f"{self.method}, {part}, depth {depth}")
        return decided(one, two, limits, f"{other}, {part}, depth {depth}")

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
