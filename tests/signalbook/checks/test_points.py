"""Inequalities and equations at points: what is compared, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalbook import checks
from signallab.case import Case

POINTS = [{"n": n} for n in (1, 2, 5)]


def squares(n, power=2, factor=1.0):
    return Case(float(sum(2 * k + 1 for k in range(n))), factor * float(n) ** power)


def test_a_point_outside_the_hypotheses_says_nothing():
    with pytest.raises(ValueError, match="does not satisfy the hypothesis 'n > 1'"):
        checks.at_most_one(lambda n: Case(0, 1, {"n > 1": n > 1}), over=POINTS)


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
