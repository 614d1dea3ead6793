"""Inequalities and equations at points: what is compared, and what is refused."""

import math
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from signalbook import checks
from signallab.case import Case

POINTS = [{"n": n} for n in (1, 2, 5)]


def squares(n, power=2, factor=1.0):
    return Case(float(sum(2 * k + 1 for k in range(n))), factor * float(n) ** power)


def test_a_point_outside_the_hypotheses_says_nothing():
    with pytest.raises(ValueError, match="does not satisfy the hypothesis 'n > 1'"):
        checks.at_most_one(lambda n: Case(0, 1, {"n > 1": n > 1}), over=POINTS)


def test_points_are_counted_in_words():
    assert "one point" in checks.at_most_one(squares, over=POINTS[:1]).measured
    assert "3 points" in checks.at_most_one(squares, over=POINTS).measured


def test_no_points_decide_nothing():
    with pytest.raises(ValueError, match="at least one point"):
        checks.at_most_one(squares, over=[])


def test_a_tolerance_needs_its_reason():
    with pytest.raises(ValueError, match="because must say"):
        checks.equal(squares, over=POINTS, tolerance=1e-12, because=" ")


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1))
@example([(2e-313, 1.0)])
@example([(1e6, 2e-313)])
@example([(5e-324, 0.0)])
def test_a_bound_is_what_it_says_also_where_sides_are_not_positive(pairs):
    check = checks.at_most_one(
        lambda k: Case(*pairs[k]), over=[{"k": k} for k in range(len(pairs))]
    )
    tiny = sys.float_info.min  # what lies below the smallest normal double is rounding
    slack = [1e-8 * max(abs(left), abs(right), tiny) for left, right in pairs]
    if all(left <= right for left, right in pairs):
        assert check.passed
    if any(left > right + room for (left, right), room in zip(pairs, slack, strict=True)):
        assert not check.passed


def test_entries_of_arrays_are_compared_one_by_one():
    both = checks.at_most_one(lambda: Case([1.0, 2.0], [3.0, 1.0]), over=[{}])
    assert both.worst == 2.0
    witness = both.witness(both.failing[0])
    assert (witness.left, witness.right) == (2.0, 1.0), "not 1 and 3, which differ by more"


@pytest.mark.parametrize("left", [1.5, np.full(5, 1.5)])
def test_what_is_not_random_fails_again_by_however_little(left):
    check = checks.at_most_one(lambda: Case(left, 1.0), over=[{}])
    assert (check.passed, check.escape) == (False, 0.0)


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


def test_what_is_told_of_a_bound():
    check = checks.at_most_one(lambda n: Case(n, 12.0, {"n > 0": n > 0}), over=POINTS)
    assert check.worst == pytest.approx(5 / 12)
    assert check.numbers == {"room": "2.4", "largest": "0.417", "count": "3", "failures": "0"}
    assert (check.error, check.escape) == (0, 1), "nothing random: it always passes"
    wide = checks.at_most_one(lambda n: Case(n, 1111.1), over=POINTS)
    assert (wide.numbers["room"], wide.numbers["largest"]) == ("222", "0.0045")
    other = check.rival(lambda n: Case(n, 1.6, {"n > 0": n > 0}))
    assert other.worst == pytest.approx(5 / 1.6)
    assert (other.numbers["failures"], other.escape) == ("2", 0)
    assert other.failing == ({"n": 2}, {"n": 5})
    witness = other.witness({"n": 5})
    assert (witness.left, witness.right, witness.hypotheses) == (5, 1.6, ("n > 0",))
    assert witness.p_value is None


@pytest.mark.parametrize("check", [checks.at_most_one, checks.some_point])
def test_rounding_is_no_excess(check):
    for excess, passed in ((5e-10, True), (5e-9, False)):
        found = check(lambda e=excess: Case(1 + e, 1.0), over=[{}])
        assert found.passed == passed
        assert bool(found.failing) != passed
    assert check(lambda: Case(0.8, 1.0), over=[{}]).worst == 0.8


def test_no_excess_where_the_right_side_is_not_positive():
    """Then left / right says nothing: the excess is taken relative to the larger side."""
    for left, right, worst in (
        (-2.0, -1.0, 0.5),
        (-1.0, -2.0, 1.5),
        (0.0, 0.0, 1.0),
        (3, -1, 7 / 3),
    ):
        found = checks.at_most_one(lambda left=left, right=right: Case(left, right), over=[{}])
        assert found.worst == pytest.approx(worst)


def test_a_bound_on_a_mean_errs_as_students_interval_does():
    runs = np.random.default_rng(1).normal(1, 1, 50)
    standard, freedom = runs.std(ddof=1) / math.sqrt(50), 49
    quantile = stats.t.isf(checks.LEVEL, freedom)
    for bound in (1.9, 3.0):
        check = checks.at_most_one(lambda b=bound: Case(runs, b), over=[{}])
        assert check.worst == pytest.approx((runs.mean() + quantile * standard) / bound)
        margin = (bound - runs.mean()) / standard
        assert check.error == pytest.approx(stats.t.sf(margin - quantile, freedom))
    near, low = (check.rival(lambda b=b: Case(runs, b)) for b in (1.2, 0.2))
    assert near.error == low.error == checks.LEVEL
    by_test = stats.ttest_1samp(runs, 0.2, alternative="greater").pvalue
    assert low.escape == pytest.approx(by_test)
    assert low.witness(low.failing[0]).p_value == pytest.approx(by_test)
    twice = checks.at_most_one(lambda b: Case(runs, b), over=[{"b": 0.2}, {"b": 9.0}])
    assert twice.escape == pytest.approx(2 * by_test), "any of two points may have been luck"
    same = checks.at_most_one(lambda: Case(np.ones(5), 2.0), over=[{}])
    assert (same.worst, same.error, same.escape) == (0.5, 0, 1)


def test_runs_without_a_model_claim_no_chances():
    check = checks.at_most_one(squares, over=POINTS, modelled=False)
    assert check.error is check.escape is None


def test_a_difference_is_relative_to_the_larger_side():
    def worst(left, right):
        both = checks.equal(lambda: Case(left, right), over=[{}], tolerance=0.1, because="round")
        assert both.numbers["count"] == "1"
        return both.worst

    assert worst(1.0, 1.05) == pytest.approx(0.05 / 1.05 / 0.1)
    assert worst(-1.05, -1.0) == pytest.approx(0.05 / 1.05 / 0.1)
    assert worst([1e-3, 2.0], [2e-3, 2.0]) == pytest.approx(1e-3 / 2 / 0.1)
    assert worst([0.0, 0.0], [1.0, 1e-3]) == pytest.approx(10)
    assert worst([1.0, 1e-3], [0.0, 0.0]) == pytest.approx(10)
    assert worst([0.0, 0.0], 0.0) == 0


def test_a_failing_equation_says_where_and_by_how_much():
    check = checks.equal(squares, over=POINTS, tolerance=1e-3, because="digits")
    other = check.rival(lambda n: squares(n, factor=1.0 if n < 5 else 1.1))
    assert other.failing == ({"n": 5},)
    assert other.numbers == {"off": "0.091", "count": "3", "failures": "1"}
    witness = other.witness({"n": 5})
    assert (witness.left, witness.right) == (25, pytest.approx(27.5))
    with pytest.raises(AssertionError, match="holds at its counterexample"):
        other.witness({"n": 2})
    arrays = checks.equal(lambda: Case([1.0, 2.0, 1.0], 1.0), over=[{}], tolerance=0.1, because="1")
    witness = arrays.witness({})
    assert (witness.left, witness.right) == (2, 1), "the entry that is off, no mean"
    exact = checks.equal(lambda: Case(1.0, 1.0), over=[{}], tolerance=0.0, because="whole numbers")
    assert exact.passed
    assert not exact.rival(lambda: Case(1.0, 1 + 1e-15)).passed


def test_existence_is_judged_at_the_best_point():
    check = checks.some_point(lambda n: Case(n, 1.5), over=POINTS)
    assert check.passed
    assert check.worst == pytest.approx(2 / 3)
    assert check.numbers == {"least": "0.667", "count": "3"}
    other = check.rival(lambda n: Case(n, 0.5))
    assert other.worst == 2
    assert other.failing == ({"n": 1},)
    assert other.witness({"n": 1}).left == 1
