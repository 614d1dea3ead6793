"""Paired differences: against Student's test of SciPy, from both sides of each limit."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from signallab.conditioning import paired as lab

ONE = np.array([0.30, 0.34, 0.28, 0.36])
TWO = np.array([0.33, 0.35, 0.32, 0.37])


def holds(case):
    return bool(case.left <= case.right)


def limits():
    found = stats.ttest_rel(TWO, ONE).confidence_interval(0.95)
    return found.low, found.high


def test_intervals_are_those_of_the_paired_test():
    found = lab.interval(ONE, TWO)
    assert (found.low, found.high) == pytest.approx(limits())


def test_not_behind_ends_at_the_lower_end():
    low, _ = limits()
    assert low < 0.0225
    by = 0.1  # shifts the second sample below the first
    assert holds(lab.not_behind(ONE, TWO - by, by - low + 1e-9))
    assert not holds(lab.not_behind(ONE, TWO - by, by - low - 1e-9))
    assert holds(lab.not_behind(ONE, TWO + by, 1e-9))


def test_close_takes_the_far_end_on_either_side():
    low, high = limits()
    for a, b in ((ONE, TWO), (TWO, ONE)):
        assert holds(lab.close(a, b, high + 1e-9))
        assert not holds(lab.close(a, b, high - 1e-9))
    assert abs(low) < high


def test_ahead_is_an_interval_above_zero():
    low, _ = limits()
    assert holds(lab.ahead(ONE, TWO - low + 1e-9))
    assert not holds(lab.ahead(ONE, TWO - low - 1e-9))
    assert not holds(lab.ahead(TWO, ONE))


def test_a_limit_inside_the_interval_decides_nothing():
    low, high = limits()
    assert not holds(lab.decided(ONE, TWO, [low + 1e-6]))
    assert not holds(lab.decided(ONE, TWO, [high - 1e-6]))
    assert holds(lab.decided(ONE, TWO, [low - 1e-6, high + 1e-6]))
    assert not holds(lab.decided(ONE, TWO, [low - 1e-6, high - 1e-6]))


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
    assert (found.low, found.high) == pytest.approx((low, high))
    rows = pairs.differences(lab.places(["old"], [2, 5]))
    assert list(rows.columns) == ["ahead of", "depth", "part", "by", "from", "to"]
    assert list(rows["part"]) == ["train", "test"] * 2
    assert list(rows["depth"]) == [2, 2, 5, 5]
    off = (TWO - ONE).mean()
    assert rows["by"].to_numpy() == pytest.approx([2 * off, off] * 2)
    told = {"x": found.value, "x_low": low, "x_high": high}
    flipped = lab.Pairs(pairs.ends, "old").range(lab.places(["new"], [2]))
    ends = [sign * end for end in (low, high) for sign in (-1, -2)]
    assert flipped == pytest.approx({"low": min(ends), "high": max(ends)})
    assert pairs.numbers("x", "old", 2) == pytest.approx(told)
    assert pairs.numbers("x", "old", 2, "train")["x_high"] == pytest.approx(2 * high)


def test_statements_of_pairs_are_those_of_the_samples(pairs):
    low, high = limits()
    assert pairs.ahead("old", 2, "test").right == pytest.approx(low)
    assert pairs.ahead("old", 2, "test", swap=True).right == pytest.approx(-high)
    assert pairs.close("old", 2, "test", 0.05).left == pytest.approx(high)
    guess = lab.close(np.full(4, 0.1), TWO, 0.05).left
    assert pairs.close("old", 2, "test", 0.05, guess=True).left == pytest.approx(guess)
    assert holds(pairs.decided("old", 2, "test", [high + 1e-6]))
    assert not holds(pairs.decided("old", 2, "test", [high - 1e-6]))


def test_networks_that_have_not_learned_decide_nothing(pairs):
    assert TWO.mean() - 0.2 < 0.2 < TWO.mean()
    assert holds(pairs.decided("old", 5, "train", [1.0]))
    assert not holds(pairs.decided("old", 5, "test", [1.0]))


def test_a_network_that_diverged_is_a_guess(pairs):
    ends = pairs.ends.sort_index()
    ends.loc[("old", 2, 1), "test accuracy"] = np.nan
    one = np.where(np.arange(4) == 1, 0.1, ONE)
    assert lab.Pairs(ends, "new").interval("old", 2).value == pytest.approx((TWO - one).mean())
