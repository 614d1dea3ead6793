"""Experiments on the drift against formulas by hand and against one another."""

import numpy as np
import pytest

from signallab.rank import drift_lemma as lab
from signalprop import theory
from signalprop.random import Stream


def test_correlations():
    for d in (3, 6):
        for name, m in lab.correlations(d, Stream(0)).items():
            np.testing.assert_allclose(m.diagonal(), 1)
            assert np.linalg.matrix_rank(m) == (2 if name == "of rank 2" else d)


def test_remainder_by_hand():
    """One unit of two parallel ones stays: no drift and no remainder."""
    assert lab.remainder(np.ones((3, 3)), 0.1) == pytest.approx(0, abs=1e-9)
    m = lab.correlations(3, Stream(0))["random, d samples"]
    moved = theory.expected_frobenius(m, 0.1, 12) - (m**2).sum()
    assert lab.remainder(m, 0.1, lambda m: 1.5) == pytest.approx(moved / 0.01 - 1.5)


def test_a_wrong_drift_leaves_a_remainder_of_order_zero():
    case = lab.order(3, Stream(0), drift=lambda m: theory.rank_lemma_12(m) + 10)
    assert np.all(np.abs(case.right) < 0.02)
    assert np.all(lab.order(3, Stream(0), claimed=2).left == 2)


def test_two_orders_that_nearly_cancel_do_not_pass_for_a_lower_one():
    stream = Stream(6, ("rank/drift-lemma",))  # the matrix of rank 2 has such a second order
    assert lab.order(2, stream).right.min() > 1.95
    assert lab.order(2, stream, floor=0.0).right.min() < 1.9


def test_the_floor_touches_small_remainders_only():
    stream = Stream(0, ("rank/drift-lemma",))
    raw, counted = (lab.order(2, stream, floor=floor).right for floor in (0.0, lab.FLOOR))
    assert raw.min() > 1.95  # this stream needs no floor
    assert np.sum(np.abs(raw - counted) > 1e-12) <= 2


def test_simulated_agrees_with_the_exact_mean():
    m = lab.correlations(4, Stream(1))["random, d samples"]
    values = lab.simulated(m, 0.1, 4000, Stream(2))
    exact = (theory.expected_frobenius(m, 0.1) - (m**2).sum()) / 0.01
    assert abs(values.mean() - exact) < 5.5 * values.std() / np.sqrt(4000)


def test_display_78_sums_to_the_drift():
    m = lab.correlations(4, Stream(3))["random, d samples"]
    case = lab.display_78(m)
    np.testing.assert_allclose(case.left, case.right, rtol=1e-10)
    assert case.right[:-1].sum() == pytest.approx(case.right[-1])
    wrong = lab.display_78(m, printed=(1, -8, 2))
    assert np.abs(wrong.left - wrong.right).max() > 1e-3


def test_equal_rows():
    for m in lab.equal_rows(Stream(0), 6).values():
        np.testing.assert_allclose(m.diagonal(), 1)
        np.testing.assert_allclose((m**2).sum(axis=1), (m**2).sum() / len(m))


def test_by_eigenvalues():
    case = lab.by_eigenvalues(np.ones((2, 2)), formula=lab.square_outside)
    np.testing.assert_allclose(case.left, [0, 8], atol=1e-12)
    np.testing.assert_allclose(case.right, [8 * 16 / 2, 8])


def test_nearly_rank_one_has_the_eigenvalues_of_the_example():
    values = np.linalg.eigvalsh(lab.nearly_rank_one(5, 0.3))
    np.testing.assert_allclose(values, [0.09] * 4 + [5 - 0.09 * 4])


def test_falls():
    case = lab.falls(4, 0.01)
    assert case.left == pytest.approx(16e-8)
    assert case.right == pytest.approx(336e-8, rel=0.01)


def test_first_order_by_hand():
    """(d - x(d-1))^2 = d^2 - 2d(d-1)x + ...: twice d - 1 over d, and so on."""
    case = lab.first_order(6, factor=lambda d: d - 1)
    np.testing.assert_allclose(case.left, [-10, -15, -20], rtol=1e-6)
    np.testing.assert_allclose(case.right, [-10, -15, -20], rtol=1e-12)
    np.testing.assert_allclose(lab.first_order(6).right, [-2, -3, -4])


def test_leading_eigenvalue_falls_by_the_fall_of_the_norm_over_twice_the_width():
    values = lab.leading_eigenvalue(4, 0.01, 3000, Stream(4))
    expected = -theory.rank_example_14(4) / 8
    assert abs(values.mean() - expected) < 5.5 * values.std() / np.sqrt(3000) + 0.01 * expected


def test_pairs_of_weights_cancel_odd_orders():
    """The mean over W and -W is one for gamma and -gamma, number by number."""
    m = lab.correlations(3, Stream(5))["of rank 2"]
    one, other = (lab.simulated(m, gamma, 3, Stream(6)) for gamma in (0.1, -0.1))
    np.testing.assert_allclose(one, other, rtol=1e-12)
    one, other = (lab.leading_eigenvalue(3, gamma, 3, Stream(7)) for gamma in (0.1, -0.1))
    np.testing.assert_allclose(one, other, rtol=1e-9)
