"""What random runs gave: means beside printed numbers, orders, probabilities, laws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats

from signalbook.checks.check import LEVEL, Check, Kind, Witness, numbers_of, of_allowed
from signalbook.words import show

__all__ = ["follows", "near", "ordered", "same_law", "share"]


def near(
    runs: Any,
    published: Any,
    *,
    reading: float,
    their_runs: int | None = None,
    kind: Kind = "level",
) -> Check:
    """The mean over independent runs agrees with printed numbers, each read to within ``reading``.

    ``runs`` is ``(runs,)`` or ``(runs, k)`` beside k numbers. A printed range is a pair of lists
    ``(low, high)`` (a tuple), and the mean has to lie in it. The tolerance is the reading error
    plus what chance explains: Student's quantile at :data:`LEVEL`, split over the k numbers, times
    the standard error of ours and, where theirs is a mean as well, of ``their_runs`` runs with our
    spread. A rival is other numbers (in place of the printed) or, with the shape of ``runs`` and
    one more axis than the printed numbers, other runs.

    >>> runs = np.random.default_rng(0).normal(1.0, 0.1, 100)
    >>> check = near(runs, 1.0, reading=0.01)
    >>> check.passed, check.rival(1.5).passed, check.rival((1.2, 1.4)).passed
    (True, False, False)
    """
    sample = numbers_of(runs, "runs")
    sample = sample.reshape(len(sample), -1)
    if len(sample) < 2:
        raise ValueError(f"runs must hold at least two runs to have a spread, got {len(sample)}")
    ends = published if isinstance(published, tuple) else (published, published)
    low, high = (
        np.broadcast_to(numbers_of(end, "published").ravel(), sample.shape[1:]) for end in ends
    )
    mean, freedom = sample.mean(axis=0), len(sample) - 1
    spread = sample.std(axis=0, ddof=1)
    standard = spread * np.sqrt(1 / len(sample) + (1 / their_runs if their_runs else 0))
    quantile = float(stats.t.isf(LEVEL / len(low) / 2, freedom))
    reach = reading + quantile * standard
    off = np.maximum(np.maximum(low - mean, mean - high), 0)
    at = int(np.argmax(_ratios(off, reach)))
    # Another draw changes our mean and not the print: a false value passes where our chance alone
    # covers what lies beyond the tolerance.
    beyond = _ratios(off - reach, spread / np.sqrt(len(sample)))
    escape = float(np.min(np.where(off > reach, stats.t.sf(beyond, freedom), 1.0)))

    def rival(other: Any) -> Check:
        theirs = np.shape(other) == np.shape(runs) and np.ndim(other) > np.ndim(ends[0])
        replaced = (other, published) if theirs else (runs, other)
        return near(*replaced, reading=reading, their_runs=their_runs, kind=kind)

    target = show(low[at]) if low[at] == high[at] else f"{show(low[at])} to {show(high[at])}"
    p_value = float(2 * stats.t.sf(_ratios(np.maximum(off - reading, 0), standard)[at], freedom))
    return Check(
        kind,
        float(_ratios(off, reach)[at]),
        f"{show(mean[at])} over {len(sample)} runs against {target}; off by {show(off[at], 2)}, "
        f"tolerance {show(reach[at], 2)} = {show(reading)} for reading + "
        f"{show(reach[at] - reading, 2)} for chance"
        + (f" (the worst of {len(low)} numbers)" if len(low) > 1 else ""),
        rival,
        {
            "measured": show(mean[at], 3),
            "published": target,
            "off": show(off[at], 2),
            "largest_off": show(off.max(), 2),
            "tolerance": show(reach[at], 2),
            "count": show(len(low)),
            "runs": show(len(sample)),
        },
        error=LEVEL,
        escape=escape,
        failing=(at,) if off[at] > reach[at] else (),
        witness=lambda k: Witness(
            f"mean of {len(sample)} runs",
            float(mean[k]),
            float(low[k] if mean[k] < low[k] else high[k]),
            p_value=p_value,
        ),
    )


def ordered(values: Mapping[str, Any], *, by: float = 0.0) -> Check:
    """The means of the named samples increase in the order given, each step by more than ``by``.

    Each value holds one number a run; samples of one length are taken as pairs (the same run under
    two treatments). Each step has to exceed ``by`` by more than chance explains (Student, paired or
    Welch, at :data:`LEVEL` split over the steps). A rival is another mapping of samples, or a list
    of the names in another order.

    >>> rng = np.random.default_rng(0)
    >>> check = ordered({"narrow": rng.normal(0, 1, 40), "wide": rng.normal(3, 1, 40)})
    >>> check.passed, check.rival(["wide", "narrow"]).passed
    (True, False)
    """
    if len(values) < 2:
        raise ValueError(f"values must name at least two samples to order, got {len(values)}")
    samples = {name: numbers_of(runs, name).ravel() for name, runs in values.items()}
    names, level = list(samples), LEVEL / (len(samples) - 1)
    steps = [_step(samples[a], samples[b], by) for a, b in pairwise(names)]
    worst = np.array([np.inf if s.t <= 0 else stats.t.isf(level, s.freedom) / s.t for s in steps])
    at = int(np.argmax(worst))

    def rival(other: Any) -> Check:
        named = other if isinstance(other, Mapping) else {name: values[name] for name in other}
        return ordered(named, by=by)

    # The step that is least sure decides both how often a true and how often a false order passes.
    passing = [float(stats.t.sf(stats.t.isf(level, s.freedom) - s.t, s.freedom)) for s in steps]
    told = " < ".join(f"{name} ({show(samples[name].mean(), 3)})" for name in names)
    return Check(
        "ordering",
        float(worst[at]),
        f"{told}; the least sure step is {show(steps[at].mean, 2)}, "
        f"{show(steps[at].t, 3)} standard errors; needed are "
        f"{show(stats.t.isf(level, steps[at].freedom), 3)}"
        + (f", beyond {show(by)}" if by else ""),
        rival,
        {name.replace(" ", "_"): show(runs.mean(), 3) for name, runs in samples.items()},
        error=sum(1 - p for p in passing),
        escape=float(np.min(passing)),
        failing=(at,) if worst[at] > 1 else (),
        witness=lambda k: Witness(
            f"{names[k]} against {names[k + 1]}",
            float(samples[names[k]].mean()),
            float(samples[names[k + 1]].mean()),
        ),
    )


def share(events: Any, *, at_least: float | None = None, at_most: float | None = None) -> Check:
    """The probability of an event lies within printed limits; one entry of ``events`` a trial.

    It fails only if the exact interval of Clopper and Pearson at :data:`LEVEL` lies outside. A
    rival is a dict of other limits, or other events.

    >>> check = share(np.arange(1000) % 10 > 0, at_least=0.85)
    >>> check.passed, check.rival({"at_least": 0.99}).passed
    (True, False)
    """
    if at_least is None and at_most is None:
        raise ValueError("at_least or at_most must be given, got neither")
    trials = numbers_of(events, "events").ravel().astype(bool)
    hits, count = int(trials.sum()), len(trials)
    found = stats.binomtest(hits, count).proportion_ci(1 - 2 * LEVEL, method="exact")
    limits = {"at_least": at_least, "at_most": at_most}
    # Each side: what is demanded over what the interval allows.
    sides = [
        0.0 if at_least is None else of_allowed(at_least, float(found.high)),
        0.0 if at_most is None else of_allowed(float(found.low), at_most),
    ]
    escape = 1.0
    if at_least is not None and sides[0] > 1:
        escape = float(stats.binom.sf(_hits_allowed(count, at_least), count, hits / count))
    elif at_most is not None and sides[1] > 1:
        missed = count - _hits_allowed(count, 1 - at_most)  # rejected from so many hits on
        escape = float(stats.binom.cdf(missed - 1, count, hits / count))
    told = " and ".join(
        f"{n.replace('_', ' ')} {show(v)}" for n, v in limits.items() if v is not None
    )

    def rival(other: Any) -> Check:
        return share(events, **other) if isinstance(other, Mapping) else share(other, **limits)

    def witness(_: Any) -> Witness:
        limit, side = (at_least, "less") if sides[0] > 1 else (at_most, "greater")
        assert limit is not None, "its side is 0, and fails never"
        p_value = float(stats.binomtest(hits, count, limit, alternative=side).pvalue)
        return Witness(
            f"share in {count} trials, claimed {told}", hits / count, limit, p_value=p_value
        )

    return Check(
        "level",
        float(max(sides)),
        f"{hits} of {count} trials, between {show(float(found.low))} and "
        f"{show(float(found.high))} with error {show(LEVEL)}; claimed is {told}",
        rival,
        {"hits": show(hits), "trials": show(count), "measured": show(hits / count, 3)},
        error=LEVEL,
        escape=escape,
        failing=(0,) if max(sides) > 1 else (),
        witness=witness,
    )


def same_law(sample: Any, other: Any) -> Check:
    """Two samples of numbers come from one law: Kolmogorov and Smirnov's test at :data:`LEVEL`.

    A rival is another second sample.
    """
    first, second = numbers_of(sample, "sample").ravel(), numbers_of(other, "other").ravel()
    return _law(stats.ks_2samp(first, second).pvalue, lambda rival: same_law(sample, rival))


def follows(sample: Any, law: Callable[[Any], Any]) -> Check:
    """A sample of numbers follows a law, given by its distribution function; a rival is another
    one.

    >>> uniform = np.random.default_rng(0).random(500)
    >>> check = follows(uniform, stats.uniform.cdf)
    >>> check.passed, check.rival(stats.norm.cdf).passed
    (True, False)
    """
    numbers = numbers_of(sample, "sample").ravel()
    return _law(stats.kstest(numbers, law).pvalue, lambda rival: follows(sample, rival))


@dataclass(frozen=True)
class _Step:
    mean: float
    t: float
    freedom: float


def _step(first: Any, second: Any, by: float) -> _Step:
    """The mean increase from one sample to the next, in standard errors."""
    mean = float(second.mean() - first.mean()) - by
    if len(first) == len(second):
        spread, freedom = float(stats.sem(second - first)), len(first) - 1.0
    else:
        parts = np.array([stats.sem(first) ** 2, stats.sem(second) ** 2])
        spread = float(np.sqrt(parts.sum()))
        freedom = float(parts.sum() ** 2 / (parts**2 / [len(first) - 1, len(second) - 1]).sum())
    certain = np.sign(mean) * np.inf if mean else 0.0  # where nothing varies
    return _Step(mean, mean / spread if spread else certain, freedom)


def _law(p_value: float, rival: Callable[[Any], Check]) -> Check:
    floor = float(np.log(max(p_value, 1e-300)))
    return Check(
        "law",
        floor / float(np.log(LEVEL)),
        f"p-value {show(p_value, 2)}, rejected below {show(LEVEL)}",
        rival,
        {"p_value": show(p_value, 2)},
        error=LEVEL,
        # A law as far off as this one is rejected again unless the distance shrinks by a half.
        escape=0.0 if p_value < LEVEL**2 else 1.0,
        failing=(0,) if p_value < LEVEL else (),
        witness=lambda _: Witness("p-value against its level", p_value, LEVEL, p_value=p_value),
    )


def _hits_allowed(count: int, at_least: float) -> int:
    """The largest number of hits whose exact interval still lies below ``at_least``."""
    hits = np.arange(count + 1)
    high = stats.beta.isf(LEVEL, hits + 1, np.maximum(count - hits, 1e-12))
    below = np.flatnonzero(np.where(hits == count, 1.0, high) < at_least)
    return int(below[-1]) if below.size else -1


def _ratios(values: Any, allowed: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(allowed > 0, values / allowed, np.where(values > 0, np.inf, 0.0))
