"""Paired differences: against Student's test of SciPy, from both sides of each limit."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from signallab.case import Case
from signallab.conditioning import paired as lab

ONE = np.array([0.30, 0.34, 0.28, 0.36])
TWO = np.array([0.33, 0.35, 0.32, 0.37])


def holds(case):
    return bool(case.left <= case.right)


def limits():
    found = stats.ttest_rel(TWO, ONE).confidence_interval(0.95)
    return found.low, found.high


def near(expected):
    """To the digits of an interval."""
    return pytest.approx(expected, abs=2e-6)


def test_intervals_are_those_of_the_paired_test():
    found = lab.interval(ONE, TWO)
    assert (found.low, found.high) == near(limits())


def test_what_single_precision_leaves_of_equal_accuracies_is_no_difference():
    found = lab.interval(np.float32(ONE), ONE)
    assert np.abs(np.float32(ONE) - ONE).max() > 0
    assert (found.value, found.low, found.high) == (0, 0, 0)
    swapped = lab.interval([0.1, 0.2, 0.3], [0.3, 0.2, 0.1])
    assert str(swapped.value) == "0.0"


@pytest.mark.parametrize("half", [0.001, 0.01, 0.03, 0.2])
def test_runs_for_is_the_first_number_that_is_enough(half):
    found = lab.interval(ONE, TWO)
    spread = (TWO - ONE).std(ddof=1)
    wide = {k: stats.t.ppf(0.975, k - 1) * spread / np.sqrt(k) for k in range(2, 3000)}
    assert lab.runs_for(found, 4, half) == next(k for k in wide if wide[k] <= half)


def test_one_place_against_is_enough():
    def statement(x, off=0.0):
        return Case(0.0, x)

    def decided(x, off=0.0):
        return Case(off, abs(x))

    undecided, against, stands = {"x": -1.0, "off": 2.0}, {"x": -1.0}, {"x": 1.0}
    assert lab.deciding([undecided, against, stands], statement, decided) == [against]
    assert lab.deciding([undecided, stands], statement, decided) == [undecided, stands]


def test_one_of_several_places_is_against_at_a_level_for_all_of_them():
    off = TWO - ONE
    low = {n: stats.ttest_1samp(off, 0).confidence_interval(1 - 0.05 / n).low for n in (1, 3)}
    assert low[3] < low[1]

    def ahead(by):
        return lab.ahead(ONE, TWO - by)

    def decided(by, level=0.95):
        return lab.decided(ONE, TWO - by, [0.0], level=level)

    def behind(by):
        return lab.ahead(TWO - by, ONE)

    clear, close, within = ({"by": low[3] - 1e-5}, {"by": low[1] - 1e-5}, {"by": off.mean()})
    # For the statement each place has a level of its own; against it all have one together.
    assert lab.jointly([clear, close], ahead, decided) == [clear, close]
    assert lab.jointly([close], behind, decided) == [close | {"level": 0.95}]
    three = lab.jointly([clear, within, within], behind, decided)
    assert three == [clear | {"level": pytest.approx(1 - 0.05 / 3)}]
    undecided = lab.jointly([close, within, within], behind, decided)
    assert [at["by"] for at in undecided] == [close["by"], within["by"], within["by"]]
    assert not holds(decided(**undecided[0]))


@pytest.mark.parametrize("runs", [3, 4, 5])
def test_what_is_ahead_is_not_ahead_once_mixed(runs):
    rng = np.random.default_rng(0)
    off = rng.exponential(size=(2000, runs)) + rng.uniform(0, 3, (2000, 1))
    ahead = [d for d in off if holds(lab.ahead(0 * d, d))]
    assert len(ahead) > 100
    assert not any(holds(lab.ahead(*lab.mixed(0 * d, d))) for d in ahead)


def test_close_takes_the_far_end_on_either_side():
    low, high = limits()
    for a, b in ((ONE, TWO), (TWO, ONE)):
        assert holds(lab.close(a, b, high + 1e-5))
        assert not holds(lab.close(a, b, high - 1e-5))
    assert abs(low) < high


def test_ahead_is_an_interval_above_zero():
    low, _ = limits()
    assert holds(lab.ahead(ONE, TWO - low + 1e-5))
    assert not holds(lab.ahead(ONE, TWO - low - 1e-5))
    assert not holds(lab.ahead(TWO, ONE))


def test_a_limit_inside_the_interval_decides_nothing():
    low, high = limits()
    assert not holds(lab.decided(ONE, TWO, [low + 1e-5]))
    assert not holds(lab.decided(ONE, TWO, [high - 1e-5]))
    assert holds(lab.decided(ONE, TWO, [low - 1e-5, high + 1e-5]))
    assert not holds(lab.decided(ONE, TWO, [low - 1e-5], level=0.99))
    assert not holds(lab.decided(ONE, TWO, [low - 1e-5, high - 1e-5]))


@pytest.fixture
def pairs():
    """Two methods at depth 2 and at depth 5, runs out of order; the second is called new."""
    rows = [
        {"method": name, "depth": d, "run": k, "test accuracy": x - shift, "train accuracy": 2 * x}
        for name, of in (("old", ONE), ("new", TWO))
        for d, shift in ((2, 0.0), (5, 0.2))
        for k, x in reversed(list(enumerate(of)))
    ]
    return lab.Pairs(pd.DataFrame(rows).set_index(["method", "depth", "run"]), "new")


def test_pairs_take_the_method_less_the_other(pairs):
    low, high = limits()
    found = pairs.interval("old", 2)
    assert (found.low, found.high) == near((low, high))
    rows = pairs.differences(lab.places(["old"], [2, 5]))
    assert list(rows.columns) == ["ahead of", "depth", "part", "by", "from", "to"]
    assert list(rows["part"]) == ["train", "test"] * 2
    assert list(rows["depth"]) == [2, 2, 5, 5]
    off = (TWO - ONE).mean()
    assert rows["by"].to_numpy() == near([2 * off, off] * 2)
    told = {"x": found.value, "x_low": low, "x_high": high}
    flipped = lab.Pairs(pairs.ends, "old").range(lab.places(["new"], [2]))
    ends = [sign * end for end in (low, high) for sign in (-1, -2)]
    assert flipped == near({"low": min(ends), "high": max(ends)})
    assert pairs.numbers("x", "old", 2) == near(told)
    assert pairs.numbers("x", "old", 2, "train")["x_high"] == near(2 * high)


def test_statements_of_pairs_are_those_of_the_samples(pairs):
    low, high = limits()
    assert pairs.ahead("old", 2, "test").right == near(low)
    exchanged = stats.ttest_1samp((TWO - ONE) * [1, -1, 1, -1], 0).confidence_interval(0.95)
    assert pairs.ahead("old", 2, "test", mix=True).right == near(exchanged.low)
    assert pairs.close("old", 2, "test", 0.05).left == near(high)
    guess = lab.close(np.full(4, 0.1), TWO, 0.05).left
    assert pairs.close("old", 2, "test", 0.05, guess=True).left == near(guess)
    assert holds(pairs.decided("old", 2, "test", [high + 1e-5]))
    assert not holds(pairs.decided("old", 2, "test", [high - 1e-5]))


def test_networks_that_have_not_learned_decide_nothing(pairs):
    assert TWO.mean() - 0.2 < 0.2 < TWO.mean()
    assert holds(pairs.decided("old", 5, "train", [1.0]))
    assert not holds(pairs.decided("old", 5, "test", [1.0]))


def test_a_network_that_diverged_is_a_guess(pairs):
    ends = pairs.ends.sort_index()
    ends.loc[("old", 2, 1), "test accuracy"] = np.nan
    one = np.where(np.arange(4) == 1, 0.1, ONE)
    assert lab.Pairs(ends, "new").interval("old", 2).value == near((TWO - one).mean())
