"""A limit is told from its neighbours by what the extrapolation still changes."""

import numpy as np
import pytest

from signalbook import checks


def terms(ratio, count=10, limit=3.0):
    return [limit + 2.0 * ratio**-k - 0.7 * ratio ** (-2 * k) for k in range(count)]


@pytest.mark.parametrize("ratio", [1.5, 2, 4])
def test_the_limit_passes_and_its_neighbours_do_not(ratio):
    check = checks.approaches(terms(ratio), 3.0, ratio=ratio)
    assert check.passed
    assert check.kind == "limit"
    # Removing the first term of the error leaves 0.7 ratio^(1 - 2k) at term k.
    left = [0.7 * ratio ** (1 - 2 * k) for k in (8, 9)]
    tolerance = left[0] - left[1] + 1e-9 * 3
    for side in (-1, 1):
        allowed = left[1] + side * tolerance
        assert check.rival(3.0 + 0.99 * allowed).passed
        assert not check.rival(3.0 + 1.01 * allowed).passed


def test_the_wrong_order_of_the_error_is_not_extrapolated_away():
    assert not checks.approaches(terms(2), 3.0, ratio=64).passed


def test_a_failing_limit_says_where_the_terms_go():
    check = checks.approaches(terms(2), 4.0, ratio=2)
    witness = check.witness(check.failing[0])
    assert witness.left == pytest.approx(3.0, abs=1e-4)
    assert witness.right == 4.0


@pytest.mark.parametrize(
    ("values", "ratio", "told"),
    [([1.0, 2.0], 2, "got 2 terms"), ([1, 2, 3], 1.0, "ratio 1.0"), ([1, np.nan, 2], 2, "no NaN")],
)
def test_what_has_no_limit_is_refused(values, ratio, told):
    with pytest.raises(ValueError, match=told):
        checks.approaches(values, 0.0, ratio=ratio)
