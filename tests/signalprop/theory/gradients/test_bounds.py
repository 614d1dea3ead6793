"""Bounds on gradients by hand, and where they have to be more than one another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalprop import theory


def test_by_hand():
    assert theory.grad_theorem_6_5(3, 2.0) == 243 * 9
    assert theory.grad_theorem_6_5(3, 2.0, constant=0.5) == 243 * 4.5
    assert theory.grad_lemma_c_12(2, 0.0, 512) == pytest.approx(8704 * 32 * (1 - np.exp(-1)))
    assert theory.grad_lemma_c_12(2, 2.0, 0) == 8704 * 32 * 8
    found = theory.grad_lemma_c_13(4, np.array([0.01, 1 / 64, 0.016, 0.5]))
    np.testing.assert_allclose(found, [0.4, 0.5, 1.064, 3])


@given(st.integers(2, 200), st.floats(0, 50), st.integers(0, 10**6))
def test_the_sum_is_less_than_its_limit_and_more_than_the_first_phase(d, psi, depth):
    """(C.94): ``512 d^4 psi^2 (1 + d psi)`` from the layers before S."""
    total = theory.grad_lemma_c_12(d, psi, depth)
    assert total <= 8704 * theory.grad_theorem_6_5(d, psi)
    if psi > 1 / (16 * d):
        assert 512 * d**4 * psi**2 * (1 + d * psi) <= total * (1 + 1e-9)


@given(st.lists(st.floats(1e-6, 10), min_size=2, max_size=8))
def test_no_spectrum_exceeds_the_bound_on_one_layer(values):
    """Lemma C.17 for eigenvalues scaled to sum to d; half of it is the log norm."""
    eigenvalues = np.array(values) / np.mean(values)
    psi = max(-np.log(eigenvalues).mean(), 0)
    assert -np.log(eigenvalues.min()) <= theory.grad_lemma_c_13(len(values), psi) + 1e-7
