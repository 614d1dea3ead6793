"""Checks: a comparison of numbers that can be repeated on a rival, which it must reject.

Two things are fixed before anything is measured: the reading error of the print and :data:`LEVEL`,
the chance that a true statement fails a check by bad luck. Tolerances follow from them and from the
raw runs. Every check knows its statement as something that can be exchanged (a function of points,
a list of numbers), so that a rival goes through the very code that judged the statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from scipy import stats

from signalbook.words import show
from signallab.case import Case

__all__ = [
    "LEVEL",
    "Check",
    "Witness",
    "approaches",
    "at_most_one",
    "equal",
    "follows",
    "near",
    "ordered",
    "same_law",
    "share",
    "some_point",
]

Kind = Literal["identity", "bound", "rate", "level", "ordering", "limit", "existence", "law"]
Point = Mapping[str, Any]
Statement = Callable[..., Case]

#: The chance that a true statement fails one check. The book has 340 IDs with up to four checks
#: each; together they give a false alarm in less than one of a thousand builds.
LEVEL = 5e-7
ROUNDING = 1e-9  # relative, of both sides of an inequality in double precision


@dataclass(frozen=True)
class Witness:
    """A place where a statement fails, evaluated on its own: both sides and the hypotheses
    there."""

    words: str
    left: float
    right: float
    hypotheses: tuple[str, ...] = ()
    p_value: float | None = None


@dataclass(frozen=True)
class Check:
    """A comparison that was made; ``worst`` is 1 or less where it passed, whatever the units.

    - ``measured`` tells the comparison in words, ``numbers`` are there to be quoted by name;
    - ``error`` is the chance that a true statement fails, ``escape`` the chance that a false one
      with
      these numbers passes on another draw. Both are 0 where nothing is random, and None where no
      sampling model is claimed;
    - ``rival`` repeats the check with another statement;
    - ``failing`` are the points where the statement fails, ``witness`` evaluates one of them again.
    """

    kind: Kind
    worst: float
    measured: str
    rival: Callable[[Any], Check] = field(repr=False)
    numbers: Mapping[str, str] = field(default_factory=dict)
    error: float | None = 0.0
    escape: float | None = 0.0
    failing: tuple[Any, ...] = field(default=(), repr=False)
    witness: Callable[[Any], Witness] | None = field(default=None, repr=False)

    @property
    def passed(self) -> bool:
        """Whether the statement stands."""
        return self.worst <= 1


def at_most_one(statement: Statement, *, over: Iterable[Point], modelled: bool = True) -> Check:
    """``left <= right`` at every point: ``statement(**point)`` gives both sides and the hypotheses.

    A point that violates a hypothesis is an error, as it says nothing about the statement. Where
    ``left`` holds one number a run, the upper end of the interval of its mean has to lie below
    (Student, at :data:`LEVEL`). ``modelled=False`` says that points are single runs of something
    random for which no sampling model is claimed: each run is shown to satisfy the bound, no more.
    A rival is another function of points.

    >>> check = at_most_one(lambda n: Case(n, n + 1.0), over=[{"n": 1}, {"n": 4}])
    >>> check.passed, check.worst, check.rival(lambda n: Case(n, 3.5)).passed
    (True, 0.8, False)
    """
    points, cases = _evaluated(statement, over)
    found = [_inequality(case) for case in cases]
    ratios = np.array([entry.ratio for entry in found])
    at = int(np.argmax(ratios))
    bad = tuple(p for p, ratio in zip(points, ratios, strict=True) if ratio > 1 + ROUNDING)
    where = f", largest at {cases[at].words}" if cases[at].words else ""
    measured = (
        f"left / right exceeds 1 at {len(bad)} of {_points(points)}, by a factor of "
        f"{show(ratios[at])} at most"
        if bad
        else f"left / right at most {show(ratios[at])} over {_points(points)}{where}"
    )
    return Check(
        "bound",
        float(ratios[at]) if bad else min(float(ratios[at]), 1.0),
        measured,
        lambda other: at_most_one(other, over=points, modelled=modelled),
        {
            "room": show(np.floor(10 / ratios[at]) / 10, 3) if ratios[at] > 0 else "",
            "largest": show(ratios[at], 3),
            "count": show(len(points)),
            "failures": show(len(bad)),
        },
        error=sum(entry.error for entry in found) if modelled else None,
        escape=_doubt(found) if modelled else None,
        failing=bad,
        witness=lambda point: _witness(statement, point, found_false_by=_inequality),
    )


def equal(statement: Statement, *, over: Iterable[Point], tolerance: float, because: str) -> Check:
    """``left = right`` at every point, two independent computations, entry by entry.

    The difference is compared with ``tolerance`` times the larger of the two sides; ``because``
    says where the tolerance comes from (rounding, digits that were printed). A rival is another
    function of points.

    >>> both = lambda n, power=2: Case(sum(range(n + 1)), n * (n + 1) / power)
    >>> check = equal(both, over=[{"n": 3}, {"n": 10}], tolerance=1e-12, because="exact in doubles")
    >>> check.passed, check.rival(lambda n: both(n, power=3)).passed
    (True, False)
    """
    if not because.strip():
        raise ValueError("because must say where the tolerance comes from, got an empty string")
    points, cases = _evaluated(statement, over)
    off = np.array([_difference(case) for case in cases])
    at = int(np.argmax(off))
    bad = tuple(p for p, o in zip(points, off, strict=True) if not o <= tolerance)
    where = f" at {cases[at].words}" if cases[at].words else ""
    return Check(
        "identity",
        _ratio(float(off[at]), tolerance),
        f"the sides differ by {show(off[at], 2)} of the larger at most, over {_points(points)}"
        f"{where}; tolerance {show(tolerance)}: {because}",
        lambda other: equal(other, over=points, tolerance=tolerance, because=because),
        {"off": show(off[at], 2), "count": show(len(points)), "failures": show(len(bad))},
        failing=bad,
        witness=lambda point: _witness(
            statement, point, found_false_by=lambda case: _Found(_difference(case) / tolerance)
        ),
    )


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
    sample = _numbers(runs, "runs")
    sample = sample.reshape(len(sample), -1)
    if len(sample) < 2:
        raise ValueError(f"runs must hold at least two runs to have a spread, got {len(sample)}")
    ends = published if isinstance(published, tuple) else (published, published)
    low, high = (
        np.broadcast_to(_numbers(end, "published").ravel(), sample.shape[1:]) for end in ends
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
    samples = {name: _numbers(runs, name).ravel() for name, runs in values.items()}
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
    trials = _numbers(events, "events").ravel().astype(bool)
    hits, count = int(trials.sum()), len(trials)
    found = stats.binomtest(hits, count).proportion_ci(1 - 2 * LEVEL, method="exact")
    limits = {"at_least": at_least, "at_most": at_most}
    # Each side: what is demanded over what the interval allows.
    sides = [
        0.0 if at_least is None else _ratio(at_least, float(found.high)),
        0.0 if at_most is None else _ratio(float(found.low), at_most),
    ]
    escape = 1.0
    if at_least is not None and sides[0] > 1:
        escape = float(stats.binom.sf(_hits_allowed(count, at_least), count, hits / count))
    elif at_most is not None and sides[1] > 1:
        escape = float(
            stats.binom.cdf(count - _hits_allowed(count, 1 - at_most), count, hits / count)
        )
    told = " and ".join(
        f"{n.replace('_', ' ')} {show(v)}" for n, v in limits.items() if v is not None
    )

    def rival(other: Any) -> Check:
        return share(events, **other) if isinstance(other, Mapping) else share(other, **limits)

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
        witness=lambda _: Witness(
            f"share in {count} trials, claimed {told}",
            hits / count,
            float(at_least if at_least is not None else at_most or 0.0),
            p_value=float(
                stats.binomtest(hits, count, at_least, alternative="less").pvalue
                if at_least is not None
                else stats.binomtest(hits, count, at_most, alternative="greater").pvalue
            ),
        ),
    )


def same_law(sample: Any, other: Any) -> Check:
    """Two samples of numbers come from one law: Kolmogorov and Smirnov's test at :data:`LEVEL`.

    A rival is another second sample.
    """
    first, second = _numbers(sample, "sample").ravel(), _numbers(other, "other").ravel()
    return _law(stats.ks_2samp(first, second).pvalue, lambda rival: same_law(sample, rival))


def follows(sample: Any, law: Callable[[Any], Any]) -> Check:
    """A sample of numbers follows a law, given by its distribution function; a rival is another
    one.

    >>> uniform = np.random.default_rng(0).random(500)
    >>> check = follows(uniform, stats.uniform.cdf)
    >>> check.passed, check.rival(stats.norm.cdf).passed
    (True, False)
    """
    numbers = _numbers(sample, "sample").ravel()
    return _law(stats.kstest(numbers, law).pvalue, lambda rival: follows(sample, rival))


def approaches(values: Sequence[float], limit: float, *, ratio: float) -> Check:
    """A sequence approaches ``limit`` geometrically: finite evidence for an asymptotic statement.

    From one term to the next the distance is divided by about ``ratio`` (2 to the power of the
    order, if sizes double). Removing that error from neighbouring terms gives two estimates of the
    limit; their difference is the tolerance, and the last one has to lie within it. A rival is
    another limit.

    >>> check = approaches([1 + 2.0**-k + 4.0**-k for k in range(8)], 1.0, ratio=2)
    >>> check.passed, check.rival(1.001).passed
    (True, False)
    """
    terms = _numbers(values, "values").ravel()
    if terms.size < 3 or not ratio > 1:
        raise ValueError(
            f"needs three terms and ratio > 1, got {terms.size} terms, ratio {ratio!r}"
        )
    estimates = terms[1:] + np.diff(terms) / (ratio - 1)
    tolerance = abs(float(estimates[-1] - estimates[-2])) + ROUNDING * abs(limit)
    off = abs(float(estimates[-1] - limit))
    return Check(
        "limit",
        _ratio(off, tolerance),
        f"the last of {terms.size} terms is {show(terms[-1])}, extrapolated "
        f"{show(estimates[-1], 6)}; claimed {show(limit)}, off by {show(off, 2)}, tolerance "
        f"{show(tolerance, 2)} = change of the extrapolation",
        lambda other: approaches(values, other, ratio=ratio),
        {"last": show(terms[-1]), "measured": show(estimates[-1], 4), "off": show(off, 2)},
        failing=(0,) if off > tolerance else (),
        witness=lambda _: Witness("extrapolated limit", float(estimates[-1]), float(limit)),
    )


def some_point(statement: Statement, *, over: Iterable[Point]) -> Check:
    """``left <= right`` at one point at least: what is said to exist is constructed and evaluated.

    A rival is another function of points; it has to find no point at all.
    """
    points, cases = _evaluated(statement, over)
    ratios = np.array([_inequality(case).ratio for case in cases])
    at = int(np.argmin(ratios))
    return Check(
        "existence",
        float(ratios[at]) if ratios[at] > 1 + ROUNDING else min(float(ratios[at]), 1.0),
        f"left {show(np.mean(cases[at].left))}, right {show(cases[at].right)} "
        f"at {cases[at].words}, the best of {_points(points)}",
        lambda other: some_point(other, over=points),
        {"least": show(ratios[at], 3), "count": show(len(points))},
        failing=(points[at],) if ratios[at] > 1 + ROUNDING else (),
        witness=lambda point: _witness(statement, point, found_false_by=_inequality),
    )


@dataclass(frozen=True)
class _Found:
    """A statement at one point: left over right, and its chances with the runs that it rests on."""

    ratio: float
    error: float = 0.0
    passing: float = 1.0
    p_value: float | None = None


def _evaluated(
    statement: Statement, over: Iterable[Point]
) -> tuple[list[dict[str, Any]], list[Case]]:
    points = [dict(point) for point in over]
    if not points:
        raise ValueError("over must hold at least one point, got none")
    cases = [statement(**point) for point in points]
    for point, case in zip(points, cases, strict=True):
        if broken := [name for name, true in case.hypotheses.items() if not true]:
            raise ValueError(f"{point} does not satisfy the hypothesis {broken[0]!r}")
    return points, cases


def _inequality(case: Case) -> _Found:
    left, right = _numbers(case.left, "left"), _numbers(case.right, "right")
    if not left.ndim or right.ndim:  # nothing random: entry by entry
        ratio = float(np.max(_over(left, right)))
        return _Found(ratio, passing=float(ratio <= 1 + ROUNDING))
    freedom, standard = left.size - 1, float(stats.sem(left))
    quantile = float(stats.t.isf(LEVEL, freedom))
    mean, bound = float(left.mean()), float(right)
    ratio = float(_over(np.array(mean + quantile * standard), np.array(bound)))
    if standard == 0:
        return _Found(ratio, passing=float(ratio <= 1 + ROUNDING))
    margin = (bound - mean) / standard
    return _Found(
        ratio,
        error=float(stats.t.sf(margin - quantile, freedom)) if margin > quantile else LEVEL,
        p_value=float(stats.t.cdf(margin, freedom)),
    )


def _doubt(found: Sequence[_Found]) -> float:
    """How far chance alone explains that a bound does not pass: the p-value of the clearest point.

    An interval that reaches beyond the bound, around a mean below it, refutes nothing.
    """
    chances = [f.passing if f.p_value is None else f.p_value for f in found]
    return float(min(1.0, len(chances) * min(chances)))


def _over(left: Any, right: Any) -> Any:
    """left / right; where right is not positive, 1 + the excess relative to the larger side."""
    size = np.maximum(np.maximum(np.abs(left), np.abs(right)), np.finfo(float).tiny)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.where(right > 0, left / np.where(right > 0, right, 1), 1 + (left - right) / size)


def _difference(case: Case) -> float:
    left, right = np.broadcast_arrays(_numbers(case.left, "left"), _numbers(case.right, "right"))
    size = max(float(np.max(np.abs(left))), float(np.max(np.abs(right))))
    return float(np.max(np.abs(left - right)) / size) if size else 0.0


def _witness(
    statement: Statement, point: Point, *, found_false_by: Callable[[Case], _Found]
) -> Witness:
    """Evaluate a failing point again, on its own."""
    case = statement(**point)
    found = found_false_by(case)
    if found.ratio <= 1:
        raise AssertionError(f"the statement holds at its counterexample {dict(point)}")
    left, right = _numbers(case.left, "left"), _numbers(case.right, "right")
    if left.ndim and right.ndim:
        worst = np.unravel_index(int(np.argmax(np.abs(left - right))), left.shape)
        left, right = left[worst], right[worst]
    return Witness(
        case.words or show(dict(point)),
        float(np.mean(left)),
        float(np.mean(right)),
        tuple(case.hypotheses),
        found.p_value,
    )


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
    return _Step(mean, mean / spread if spread else np.sign(mean) * np.inf, freedom)


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


def _ratio(value: float, allowed: float) -> float:
    if allowed > 0:
        return value / allowed
    return 0.0 if value <= 0 else np.inf


def _ratios(values: Any, allowed: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(allowed > 0, values / allowed, np.where(values > 0, np.inf, 0.0))


def _points(points: Sequence[Any]) -> str:
    return "one point" if len(points) == 1 else f"{len(points)} points"


def _numbers(value: Any, name: str) -> Any:
    """``value`` as a float array without NaN: a comparison with NaN would decide nothing."""
    numbers = np.asarray(value, dtype=float)
    if numbers.size == 0 or np.isnan(numbers).any():
        raise ValueError(f"{name} must hold numbers and no NaN, got {value!r}")
    return numbers
