"""Paired differences: against Student's test of SciPy, from both sides of each limit."""

import numpy as np
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
