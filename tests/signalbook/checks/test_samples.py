"""Checks of random runs err as seldom as they say."""

import math

import numpy as np
import pytest
from scipy import stats

from signalbook import checks
from signalbook.checks import samples
from signalbook.words import show


@pytest.mark.parametrize("runs", [5, 20, 200])
@pytest.mark.slow
def test_false_alarms_come_as_seldom_as_said(runs, monkeypatch):
    """At a level of 1 % a true mean is rejected in 1 % of samples, whatever their number."""
    monkeypatch.setattr(samples, "LEVEL", 0.01)
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
    monkeypatch.setattr(samples, "LEVEL", 0.01)
    rng = np.random.default_rng(5)
    passed = [checks.near(rng.normal(0, 1, 100), 0.4, reading=0).passed for _ in range(3000)]
    typical = np.concatenate([np.full(50, -1.0), np.full(50, 1.0)]) * math.sqrt(0.99)
    foreseen = checks.near(typical, 0.4, reading=0).escape
    assert np.mean(passed) == pytest.approx(foreseen, abs=0.02)


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


def test_the_tolerance_of_a_mean_is_reading_plus_chance():
    runs = np.random.default_rng(2).normal([1, 5], [0.1, 2], (30, 2))
    check = checks.near(runs, [1.3, 5.9], reading=0.023, their_runs=10)
    standard = runs.std(axis=0, ddof=1) * np.sqrt(1 / 30 + 1 / 10)
    reach = 0.023 + stats.t.isf(checks.LEVEL / 2 / 2, 29) * standard
    off = np.abs(runs.mean(axis=0) - [1.3, 5.9])
    at = int(np.argmax(off / reach))
    assert check.worst == pytest.approx((off / reach).max())
    assert check.error == checks.LEVEL
    assert check.numbers == {
        "measured": show(runs.mean(axis=0)[at], 3),
        "published": show([1.3, 5.9][at]),
        "off": show(off[at], 2),
        "largest_off": show(off.max(), 2),
        "tolerance": show(reach[at], 2),
        "count": "2",
        "runs": "30",
    }
    assert check.measured.endswith("for chance (the worst of 2 numbers)")
    assert checks.near(runs[:, 0], 1.0, reading=0.0).measured.endswith("for chance")
    assert at != int(np.argmax(off)), "the worst is relative to what each number allows"


def test_a_mean_far_off_says_so_with_its_p_value():
    runs = np.random.default_rng(3).normal(1, 0.1, 30)
    alone = checks.near(runs, 2.0, reading=0.0)
    test = stats.ttest_1samp(runs, 2.0)
    witness = alone.witness(alone.failing[0])
    assert (witness.left, witness.right) == (pytest.approx(runs.mean()), 2.0)
    assert witness.p_value == pytest.approx(test.pvalue, rel=1e-6, abs=0)
    read = checks.near(runs, 2.0, reading=0.5)
    moved = stats.ttest_1samp(runs, 1.5).pvalue
    assert read.witness(0).p_value == pytest.approx(moved, rel=1e-6, abs=0)
    standard = runs.std(ddof=1) / math.sqrt(30)
    beyond = (2.0 - runs.mean() - 0.5) / standard - stats.t.isf(checks.LEVEL / 2, 29)
    assert read.escape == pytest.approx(stats.t.sf(beyond, 29), rel=1e-6, abs=0)
    assert checks.near(runs, 1.0, reading=0.5).escape == 1


def test_of_several_numbers_the_one_farthest_off_decides_the_escape():
    """A false table passes where all its numbers pass: no likelier than the least likely one."""
    runs = np.random.default_rng(5).normal(1, 0.1, (30, 3))
    table = [1.0, 1.12, 1.2]
    both = checks.near(runs, table, reading=0.0)
    beyond = (np.array(table) - runs.mean(0)) / runs.std(0, ddof=1) * math.sqrt(30)
    beyond -= stats.t.isf(checks.LEVEL / 6, 29)
    assert beyond[2] > max(0, beyond[1]), "the last is far off"
    assert both.escape == pytest.approx(stats.t.sf(beyond[2], 29), rel=1e-6, abs=0)


@pytest.mark.parametrize(("mean", "end"), [(0.0, 1.0), (5.0, 2.0)])
def test_a_printed_range_is_left_at_its_nearer_end(mean, end):
    runs = np.random.default_rng(4).normal(mean, 0.01, 20)
    check = checks.near(runs, (1.0, 2.0), reading=0.1)
    assert check.witness(check.failing[0]).right == end
    assert check.numbers["published"] == "1 to 2"
    assert checks.near(runs - mean + 1.5, (1.0, 2.0), reading=0.0).worst == 0


def test_other_runs_are_a_rival_as_well_as_other_numbers():
    runs = np.random.default_rng(5).normal([1, 2], 0.01, (20, 2))
    check = checks.near(runs, [1, 2], reading=0.01)
    assert check.rival(runs + 0.005).passed
    assert not check.rival(runs + 1).passed
    assert not check.rival([2, 1]).passed
    one_for_all = checks.near(runs, 1.5, reading=0.6)
    assert one_for_all.rival([1.2, 1.8]).numbers["count"] == "2", "other numbers, not other runs"
    assert check.rival(runs + 1).numbers["published"] in ("1", "2")


def test_two_runs_are_the_fewest_with_a_spread():
    assert checks.near([1.0, 1.1], 1.0, reading=0.0).passed
    with pytest.raises(ValueError, match="at least two runs"):
        checks.near([1.0], 1.0, reading=0.0)


@pytest.mark.parametrize("by", [0.0, 0.7])
@pytest.mark.parametrize("second", [40, 50])
def test_each_step_of_an_order_is_students_or_welchs(second, by):
    rng = np.random.default_rng(5)
    values = {
        "low": rng.normal(0, 1, 40),
        "middle": rng.normal(6, 3, second),
        "high end": rng.normal(20, 1, 40),
    }
    check = checks.ordered(values, by=by)
    low, middle, high = values.values()

    def step(first, last):
        moved = last - by
        if len(first) == len(last):
            found = stats.ttest_rel(moved, first)
        else:
            found = stats.ttest_ind(moved, first, equal_var=False)
        return found.statistic, stats.t.isf(checks.LEVEL / 2, found.df), found.df

    steps = [step(low, middle), step(middle, high)]
    assert check.worst == pytest.approx(max(needed / t for t, needed, _ in steps))
    passing = [stats.t.sf(needed - t, df) for t, needed, df in steps]
    assert check.error == pytest.approx(sum(1 - p for p in passing), abs=1e-12)
    assert check.escape == pytest.approx(min(passing))
    assert check.numbers == {n.replace(" ", "_"): show(v.mean(), 3) for n, v in values.items()}
    other = check.rival(["middle", "low", "high end"])
    assert other.worst == np.inf
    witness = other.witness(other.failing[0])
    assert witness.words == "middle against low"
    assert (witness.left, witness.right) == (middle.mean(), low.mean())


def test_the_least_sure_step_of_an_order_decides():
    """Steps of 5.0 and 7.5 standard errors, where 6.01 are needed: the first fails, by little."""
    half = np.repeat([-1.0, 1.0], 20)
    low = np.zeros(40)
    middle = low + half + 5.0 * stats.sem(half)
    high = middle + half[::-1] + 7.5 * stats.sem(half)
    check = checks.ordered({"low": low, "middle": middle, "high": high})
    needed = stats.t.isf(checks.LEVEL / 2, 39)
    assert 5.0 < needed < 7.5
    assert check.worst == pytest.approx(needed / 5.0)
    assert check.failing == (0,)
    assert check.escape == pytest.approx(stats.t.sf(needed - 5.0, 39))
    assert check.error == pytest.approx(
        stats.t.cdf(needed - 5.0, 39) + stats.t.cdf(needed - 7.5, 39)
    )


def test_an_order_of_constants_has_no_chance():
    same = {"a": np.zeros(3), "b": np.ones(3)}
    assert checks.ordered(same).worst == 0
    assert checks.ordered({"a": np.zeros(3), "b": np.zeros(3)}).worst == np.inf
    assert checks.ordered(same, by=1.0).worst == np.inf, "not by more than 1"
    half = np.repeat([-1.0, 1.0], 20)  # half a standard error is no certainty, and no contradiction
    unsure = checks.ordered({"a": np.zeros(40), "b": half + stats.sem(half) / 2})
    assert unsure.worst == pytest.approx(2 * stats.t.isf(checks.LEVEL, 39))
    with pytest.raises(ValueError, match="at least two samples"):
        checks.ordered({"a": [1.0, 2.0]})


def binomial_escape(count, hits, passes):
    """The chance that another draw at the measured share passes, by trying every outcome."""
    chances = stats.binom.pmf(np.arange(count + 1), count, hits / count)
    return sum(p for h, p in enumerate(chances) if passes(np.arange(count) < h))


@pytest.mark.parametrize(
    ("hits", "limit"),
    [
        (10, {"at_least": 0.6}),
        (60, {"at_most": 0.2}),
        (40, {"at_most": 0.2}),
        (0, {"at_least": 0.5}),
        (79, {"at_least": 1 - 1e-15}),
    ],
)
def test_the_escape_of_a_share_counts_the_draws_that_pass(hits, limit):
    count = 80
    check = checks.share(np.arange(count) < hits, **limit)
    assert check.failing
    brute = binomial_escape(count, hits, lambda events: checks.share(events, **limit).passed)
    assert check.escape == pytest.approx(brute, rel=1e-6, abs=0)
    side, value = next(iter(limit.items()))
    alternative = {"at_least": "less", "at_most": "greater"}[side]
    witness = check.witness(0)
    assert (witness.left, witness.right) == (hits / count, value)
    exact = stats.binomtest(hits, count, value, alternative=alternative).pvalue
    assert witness.p_value == pytest.approx(exact, abs=0)
    assert check.numbers == {
        "hits": show(hits), "trials": "80", "measured": show(hits / count, 3),
    }  # fmt: skip


def test_a_share_within_both_limits():
    events = np.arange(1000) < 300
    ends = stats.binomtest(300, 1000).proportion_ci(1 - 2 * checks.LEVEL, method="exact")
    check = checks.share(events, at_least=0.1, at_most=0.5)
    assert check.worst == pytest.approx(max(0.1 / ends.high, ends.low / 0.5))
    assert (check.error, check.escape, check.failing) == (checks.LEVEL, 1.0, ())
    assert checks.share(events, at_most=0.9).worst == pytest.approx(ends.low / 0.9)
    assert checks.share(events, at_least=1e-3).worst == pytest.approx(1e-3 / ends.high)
    assert checks.share(0 * events, at_most=0.9).worst == 0
    for close in ({"at_least": 0.36}, {"at_most": 0.24}):  # beside the share, within its interval
        passing = checks.share(events, **close)
        assert (passing.passed, passing.escape, passing.failing) == (True, 1.0, ())
    above, below = (checks.share(events, at_least=a, at_most=b) for a, b in [(0.1, 0.2), (0.4, 1)])
    for failing, limit, side in [(above, 0.2, "greater"), (below, 0.4, "less")]:
        witness, exact = failing.witness(0), stats.binomtest(300, 1000, limit, alternative=side)
        assert (witness.left, witness.right, witness.p_value) == (0.3, limit, exact.pvalue)
    with pytest.raises(ValueError, match="at_least or at_most"):
        checks.share(events)


def test_a_law_is_judged_by_the_logarithm_of_its_p_value():
    rng = np.random.default_rng(6)
    first, second = rng.random(300), rng.random(200)
    check = checks.same_law(first, second)
    p_value = stats.ks_2samp(first, second).pvalue
    assert check.worst == pytest.approx(np.log(p_value) / np.log(checks.LEVEL))
    assert (check.error, check.escape) == (checks.LEVEL, 1.0)
    slightly = check.rival(second + 0.27)
    assert checks.LEVEL**2 < slightly.witness(0).p_value < checks.LEVEL
    assert (slightly.passed, slightly.escape) == (False, 1.0)
    more = check.rival(second + 0.33)
    assert checks.LEVEL**3 < more.witness(0).p_value < checks.LEVEL**2
    assert more.escape == 0.0
    clearly = check.rival(second + 0.9)
    assert (clearly.failing, clearly.escape) == ((0,), 0.0)
    assert checks.same_law(np.zeros(2000), np.ones(2000)).worst <= np.log(1e-300) / np.log(
        checks.LEVEL
    ) * (1 + 1e-12)
