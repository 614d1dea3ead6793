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
    assert witness.left == pytest.approx(3.0 + 0.7 * 2.0 ** (1 - 2 * 9), rel=1e-12)
    assert witness.right == 4.0


@pytest.mark.parametrize(
    ("values", "ratio", "told"),
    [([1.0, 2.0], 2, "got 2 terms"), ([1, 2, 3], 1.0, "ratio 1.0"), ([1, np.nan, 2], 2, "no NaN")],
)
def test_what_has_no_limit_is_refused(values, ratio, told):
    with pytest.raises(ValueError, match=told):
        checks.approaches(values, 0.0, ratio=ratio)


def test_what_is_told_of_a_limit():
    check = checks.approaches([2.0, 1.5, 1.25, 1.126], 1.0, ratio=2)
    before, last = 1.25 + (1.25 - 1.5), 1.126 + (1.126 - 1.25)
    assert check.numbers == {"last": "1.126", "measured": "1.002", "off": "0.002"}
    assert check.worst == pytest.approx(abs(last - 1) / (abs(last - before) + 1e-9))
    assert check.failing == ()


def test_an_exact_sequence_leaves_room_for_rounding_alone():
    exact = [5 + 2.0**-k for k in range(6)]
    check = checks.approaches(exact, 5.0, ratio=2)
    assert check.passed
    assert check.rival(5 + 4e-9).passed
    assert not check.rival(5 + 6e-9).passed
    assert checks.approaches(exact[:3], 5.0, ratio=2).passed, "three terms are enough"
