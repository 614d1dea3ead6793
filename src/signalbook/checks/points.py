"""Statements that are inequalities or equations: both sides, evaluated at points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from signalbook.checks.check import LEVEL, ROUNDING, Check, Witness, numbers_of, of_allowed
from signalbook.runnable import at_point
from signalbook.words import show
from signallab.case import Case

__all__ = ["at_most_one", "equal", "some_point"]

Point = Mapping[str, Any]
Statement = Callable[..., Case]


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
            # the reciprocal of a subnormal ratio overflows: no room is told, as for a ratio of 0
            "room": show(np.floor(10 / ratios[at]) / 10, 3) if ratios[at] > 1e-300 else "",
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
    off = np.array([_equation(case).ratio for case in cases])
    at = int(np.argmax(off))
    bad = tuple(p for p, o in zip(points, off, strict=True) if not o <= tolerance)
    where = f" at {cases[at].words}" if cases[at].words else ""
    return Check(
        "identity",
        of_allowed(float(off[at]), tolerance),
        f"the sides differ by {show(off[at], 2)} of the larger at most, over {_points(points)}"
        f"{where}; tolerance {show(tolerance)}: {because}",
        lambda other: equal(other, over=points, tolerance=tolerance, because=because),
        {"off": show(off[at], 2), "count": show(len(points)), "failures": show(len(bad))},
        failing=bad,
        witness=lambda point: _witness(
            statement, point, found_false_by=_equation, allowed=tolerance
        ),
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
    """A statement at one point, and its chances with the runs that it rests on.

    ``ratio`` is left over right of an inequality, or the relative difference of an equation;
    ``sides`` are those to show: means over runs, or the worst entries of arrays.
    """

    ratio: float
    sides: tuple[float, float]
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
    left, right = numbers_of(case.left, "left"), numbers_of(case.right, "right")
    if not left.ndim or right.ndim:  # nothing random: entry by entry
        ratio, sides = _worst(left, right, _over)
        return _Found(ratio, sides, passing=float(ratio <= 1 + ROUNDING))
    freedom, standard = left.size - 1, float(stats.sem(left))
    quantile = float(stats.t.isf(LEVEL, freedom))
    mean, bound = float(left.mean()), float(right)
    ratio = float(_over(np.array(mean + quantile * standard), np.array(bound)))
    if standard == 0:
        return _Found(ratio, (mean, bound), passing=float(ratio <= 1 + ROUNDING))
    margin = (bound - mean) / standard
    return _Found(
        ratio,
        (mean, bound),
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


def _equation(case: Case) -> _Found:
    left, right = numbers_of(case.left, "left"), numbers_of(case.right, "right")
    off, sides = _worst(left, right, lambda a, b: np.abs(a - b))
    size = max(float(np.max(np.abs(left))), float(np.max(np.abs(right))))
    return _Found(off / size if size else 0.0, sides)


def _worst(
    left: Any, right: Any, by: Callable[[Any, Any], Any]
) -> tuple[float, tuple[float, float]]:
    """The largest entry of ``by(left, right)``, and both sides there."""
    left, right = np.broadcast_arrays(left, right)
    values = by(left, right)
    at = np.unravel_index(int(np.argmax(values)), values.shape)
    return float(values[at]), (float(left[at]), float(right[at]))


def _witness(
    statement: Statement,
    point: Point,
    *,
    found_false_by: Callable[[Case], _Found],
    allowed: float = 1.0,
) -> Witness:
    """Evaluate a failing point again, on its own."""
    case = statement(**point)
    found = found_false_by(case)
    if found.ratio <= allowed:
        raise AssertionError(f"the statement holds at its counterexample {dict(point)}")
    return Witness(
        case.words or show(dict(point)),
        *found.sides,
        tuple(case.hypotheses),
        found.p_value,
        at_point(
            statement,
            point,
            found.sides,
            lambda other: found_false_by(other).sides,
            runs=found.p_value is not None,
        ),
    )


def _points(points: Sequence[Any]) -> str:
    return "one point" if len(points) == 1 else f"{len(points)} points"
