"""Rates of GRAD Appendix C by hand, and against one another as the proofs use them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalprop import theory

WIDTHS, GAPS = st.integers(2, 300), st.floats(1e-9, 100)


def test_by_hand():
    np.testing.assert_allclose(theory.grad_lemma_c_9(3, np.array([0.009, 0.9])), [5e-4, 1 / 864])
    np.testing.assert_allclose(theory.grad_equation_c_73(3, np.array([0.5, 1e-9])), [432, 18])
    assert theory.grad_theorem_6_1(3, 0.5) == pytest.approx(32 * 9 * 2.5)
    assert theory.grad_theorem_6_1(3, 0.5, constant=0.015) == pytest.approx(0.3375)
    np.testing.assert_allclose(theory.grad_lemma_c_14(2, np.array([0.5, 0.03])), [2048, 0])
    assert theory.grad_lemma_c_15(1, 0.25, 32) == pytest.approx(16 * (1 - np.exp(-1)))
    assert theory.grad_lemma_c_15(4, 1.0, 8192) == pytest.approx(32 * 512 * (1 - np.exp(-1)))
    assert theory.grad_lemma_c_15(4, 1.0, 0) == 0


@given(WIDTHS)
def test_the_two_regimes_meet(d):
    edge = 1 / (16 * d)
    below, above = theory.grad_lemma_c_9(d, np.array([edge * (1 - 1e-9), edge * (1 + 1e-9)]))
    assert below == pytest.approx(above, rel=1e-8)
    assert theory.grad_lemma_c_9(d, 2 * edge) == pytest.approx(1 / (32 * d**3))


@given(WIDTHS, GAPS)
def test_the_rate_is_what_the_falls_make_of_it(d, psi):
    """(C.64) to (C.73): while the gap is at most psi it falls by the share 1 / k at least."""
    k = theory.grad_equation_c_73(d, psi)
    for share in (1, 0.3, 1e-3):
        assert theory.grad_lemma_c_9(d, share * psi) >= share * psi / k * (1 - 1e-12)
    assert k <= theory.grad_theorem_6_1(d, psi)


@given(WIDTHS, GAPS)
def test_the_time_is_what_the_rate_makes_of_it(d, psi):
    """(C.118): ``16 d psi k``, where the gap is above the threshold."""
    bound = 16 * d * psi * theory.grad_equation_c_73(d, psi)
    expected = bound if psi > 1 / (16 * d) else 0
    assert theory.grad_lemma_c_14(d, psi) == pytest.approx(expected)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_second_phase_bounds_a_geometric_sum(d):
    """From sqrt(d psi), by the factor ``1 - 1 / (32 d^4)`` in each layer after the first."""
    for depth in (1, 10, 1000):
        terms = (1 - 1 / (32 * d**4)) ** np.arange(1, depth + 1)
        bound = theory.grad_lemma_c_15(d, 0.7, depth)
        assert np.sqrt(0.7 * d) * terms.sum() <= bound <= np.sqrt(0.7 * d) * (terms.sum() + 1)
