"""Every check passes for what is true, rejects what is not, and errs as seldom as it says."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from signalbook import checks
from signallab.case import Case

POINTS = [{"n": n} for n in (1, 2, 5)]
RNG = np.random.default_rng(7)


def squares(n, power=2, factor=1.0):
    return Case(float(sum(2 * k + 1 for k in range(n))), factor * float(n) ** power)


@pytest.mark.parametrize(
    ("check", "rival"),
    [
        (
            checks.at_most_one(squares, over=POINTS),
            lambda n: squares(n, power=1.9),
        ),
        (
            checks.equal(squares, over=POINTS, tolerance=1e-12, because="exact"),
            lambda n: squares(n, factor=1.001),
        ),
        (checks.near(RNG.normal(2, 0.1, 50), 2.0, reading=0.01), 2.5),
        (checks.near(RNG.normal(2, 0.1, 50), 2.0, reading=0.01), RNG.normal(3, 0.1, 50)),
        (checks.near(RNG.normal(2, 0.1, 50), (1.5, 2.5), reading=0), (0.5, 1.5)),
        (
            checks.near(RNG.normal([1, 2], 0.1, (50, 2)), [1, 2], reading=0.01),
            [2, 1],
        ),
        (
            checks.ordered({"a": RNG.normal(0, 1, 50), "b": RNG.normal(5, 1, 60)}),
            ["b", "a"],
        ),
        (checks.share(RNG.random(1000) < 0.5, at_least=0.4, at_most=0.6), {"at_least": 0.9}),
        (checks.share(RNG.random(1000) < 0.5, at_most=0.6), {"at_most": 0.2}),
        (checks.same_law(RNG.random(500), RNG.random(500)), RNG.normal(size=500)),
        (checks.follows(RNG.random(500), stats.uniform.cdf), stats.norm.cdf),
        (checks.approaches([3 + 0.5**k + 0.25**k for k in range(9)], 3.0, ratio=2), 3.01),
        (
            checks.some_point(squares, over=POINTS),
            lambda n: squares(n, factor=0.5),
        ),
    ],
)
def test_the_true_statement_passes_and_its_rival_does_not(check, rival):
    assert check.passed, check.measured
    other = check.rival(rival)
    assert not other.passed, other.measured
    assert other.kind == check.kind
    assert other.escape is None or other.escape <= checks.LEVEL
    assert other.failing
    witness = other.witness(other.failing[0])
    assert math.isfinite(witness.left)
    assert math.isfinite(witness.right)


def test_a_point_outside_the_hypotheses_says_nothing():
    with pytest.raises(ValueError, match="does not satisfy the hypothesis 'n > 1'"):
        checks.at_most_one(lambda n: Case(0, 1, {"n > 1": n > 1}), over=POINTS)


@pytest.mark.parametrize("bad", [math.nan, [1.0, math.nan], []])
def test_nan_decides_nothing(bad):
    with pytest.raises(ValueError, match="must hold numbers and no NaN"):
        checks.at_most_one(lambda: Case(bad, 1.0), over=[{}])


def test_no_points_decide_nothing():
    with pytest.raises(ValueError, match="at least one point"):
        checks.at_most_one(squares, over=[])


def test_a_tolerance_needs_its_reason():
    with pytest.raises(ValueError, match="because must say"):
        checks.equal(squares, over=POINTS, tolerance=1e-12, because=" ")


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1))
def test_a_bound_is_what_it_says_also_where_sides_are_not_positive(pairs):
    check = checks.at_most_one(
        lambda k: Case(*pairs[k]), over=[{"k": k} for k in range(len(pairs))]
    )
    slack = [1e-8 * max(abs(left), abs(right)) for left, right in pairs]
    if all(left <= right for left, right in pairs):
        assert check.passed
    if any(left > right + room for (left, right), room in zip(pairs, slack, strict=True)):
        assert not check.passed


def test_entries_of_arrays_are_compared_one_by_one():
    both = checks.at_most_one(lambda: Case([1.0, 2.0], [3.0, 1.0]), over=[{}])
    assert both.worst == 2.0


@pytest.mark.parametrize("runs", [5, 20, 200])
def test_false_alarms_come_as_seldom_as_said(runs, monkeypatch):
    """At a level of 1 % a true mean is rejected in 1 % of samples, whatever their number."""
    monkeypatch.setattr(checks, "LEVEL", 0.01)
    rng = np.random.default_rng(3)
    trials = 4000
    level = sum(
        not checks.near(rng.normal(1, 3, runs), 1.0, reading=0).passed for _ in range(trials)
    )
    theirs = sum(
        not checks.near(
            rng.normal(0, 1, runs), rng.normal(0, runs**-0.5), reading=0, their_runs=runs
        ).passed
        for _ in range(trials)
    )
    for alarms in (level, theirs):
        assert stats.binomtest(alarms, trials, 0.01).pvalue > 1e-6


def test_the_chance_of_escape_is_that_of_another_draw(monkeypatch):
    """A rival 4 standard errors off is rejected at 1 % most of the time; the rest was foreseen."""
    monkeypatch.setattr(checks, "LEVEL", 0.01)
    rng = np.random.default_rng(5)
    passed = [checks.near(rng.normal(0, 1, 100), 0.4, reading=0).passed for _ in range(3000)]
    typical = np.concatenate([np.full(50, -1.0), np.full(50, 1.0)]) * math.sqrt(0.99)
    foreseen = checks.near(typical, 0.4, reading=0).escape
    assert np.mean(passed) == pytest.approx(foreseen, abs=0.02)


def test_a_random_left_side_needs_its_interval_below():
    rng = np.random.default_rng(0)
    close = checks.at_most_one(lambda: Case(rng.normal(1, 1, 100), 1.2), over=[{}])
    clear = checks.at_most_one(lambda: Case(rng.normal(1, 1, 100), 3.0), over=[{}])
    assert not close.passed
    assert clear.passed
    assert clear.error < checks.LEVEL


def test_an_interval_that_reaches_beyond_a_bound_refutes_nothing():
    """The mean lies below the bound, too near for these runs: rejected, but by luck."""
    runs = np.random.default_rng(0).normal(1, 1, 100)
    check = checks.at_most_one(lambda bound=3.0: Case(runs, bound), over=[{}])
    near, clear = (check.rival(lambda b=b: Case(runs, b)) for b in (1.2, 0.2))
    assert not near.passed
    assert near.escape > 0.5
    assert not clear.passed
    assert clear.escape < checks.LEVEL


def test_a_print_is_not_drawn_again():
    """Their sampling error widens the tolerance; only ours changes from draw to draw."""
    runs = np.random.default_rng(0).normal(0, 1, 10_000)
    check = checks.near(runs, 0.0, reading=0, their_runs=20)
    assert not check.rival(1.5).passed
    assert check.rival(1.5).escape < checks.LEVEL
    assert check.rival(1.0).passed


def test_orders_are_paired_where_runs_are():
    """The same runs under two treatments: a small gain is seen through a large spread."""
    base = np.random.default_rng(0).normal(0, 100, 30)
    gain = base + 1 + np.random.default_rng(1).normal(0, 0.1, 30)
    assert checks.ordered({"before": base, "after": gain}).passed
    assert not checks.ordered({"before": base[1:], "after": gain}).passed


@pytest.mark.parametrize("hits", [0, 3, 500, 1000])
def test_share_is_the_exact_interval(hits):
    events = np.arange(1000) < hits
    ends = stats.binomtest(hits, 1000).proportion_ci(1 - 2 * checks.LEVEL, method="exact")
    assert checks.share(events, at_least=ends.high - 1e-9).passed
    if ends.high < 1:
        assert not checks.share(events, at_least=ends.high + 1e-9).passed
