"""Equation 7 and its relative form beside kernels of the library; bounds written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import signalprop as sp
from signalprop import theory

SHARES = st.floats(0.01, 1.0)


def test_equation_7_written_out():
    path, slopes = np.array([0.5, 0.3, 0.2]), np.array([2.0, 3.0, 5.0])
    assert theory.cond_equation_7(path, slopes) == pytest.approx(0.5 * 6 + 0.3 * 3 + 0.2)
    assert theory.cond_equation_7(path, slopes, shift=0) == pytest.approx(0.5 * 15 + 0.3 * 5 + 0.2)
    with pytest.raises(ValueError, match="shift must be 0 or 1, got 2"):
        theory.cond_equation_7(path, slopes, shift=2)


def test_relative_kernel_is_that_of_the_library_over_its_diagonal():
    phi, rho = sp.activations.gelu.standardized(), -0.3
    k = sp.KernelMap(phi)
    path = np.asarray(k.iterate(rho, 5))
    found = theory.cond_tangent(path, k.derivative(path), k.derivative(1.0))
    for depth in range(6):
        kernel = np.asarray(sp.ntk(np.array([[1, rho], [rho, 1]]), phi, depth))
        assert found[depth] == pytest.approx(kernel[0, 1] / kernel[0, 0], rel=1e-10)


def test_relative_kernel_does_not_overflow():
    path = np.full(3001, 1.0)
    found = theory.cond_tangent(path, np.full(3001, 2.0), 2.0)
    np.testing.assert_allclose(found, 1, rtol=1e-12)


def test_lemma_26_and_theorem_5_written_out():
    assert theory.cond_lemma_26(-0.2, 0.5) == pytest.approx(0.6)
    assert theory.cond_lemma_26_sharper(-0.2, 0.5) == pytest.approx(1 - 0.8 * 2 / 3)
    # delta = 0.4, mu = 1: L_0 = 1
    layers = np.array([2.0, 3, 6])
    expected = [2 * (1 - 0.4 * 1.5), 0.5**0.5, 0.25]
    np.testing.assert_allclose(theory.cond_theorem_5(layers, 0.4, 1.0), expected, rtol=1e-12)
    assert theory.cond_theorem_5_diagonal(1.5, 3) == pytest.approx(1 + 1.5 + 1.5**2 + 1.5**3)


@settings(max_examples=30)
@given(st.floats(1e-6, 0.999), SHARES)
def test_bounds_in_order(delta, mu):
    best = theory.cond_tangent_sharpest(delta, mu, 60)
    assert np.all(best <= theory.cond_sharpest(delta, mu, 60) * (1 + 1e-9))
    series = sp.KernelMap.from_series([0.0, 1 - mu, mu])
    path = np.asarray(series.iterate(1 - delta, 60))
    own = theory.cond_tangent(path, series.derivative(path), series.derivative(1.0))
    np.testing.assert_allclose(best, own, rtol=1e-9)


def test_corollaries_by_hand():
    """n = 8, delta = 0.1, mu = 1: L_0 = 4 and L_2 = 2 * 4 + 2 * 4 = 16, as log_2(16) = 4."""
    assert theory.cond_l_2(8, 0.1, 1.0) == 16
    assert theory.cond_corollary_6(36, 8, 0.1, 1.0) == pytest.approx(32 / 4)
    assert theory.cond_corollary_6_proven(16, 8, 0.1, 1.0) == pytest.approx(28 / 16)
    assert theory.cond_corollary_10(4, 8, 0.1, 1.0) == pytest.approx(160 / 2.25)
    assert theory.cond_l_2(9, 0.1, 1.0) == 17
    assert theory.cond_l_2(9, 0.1, 1.0, "down") == 8 + 2 * 3
    assert theory.cond_corollary_6(36, 9, 0.1, 1.0, "down") == pytest.approx(36 / 16)


@given(st.integers(2, 60), st.floats(1e-3, 0.99), SHARES, st.integers(0, 30))
def test_corollary_6_from_theorem_5(n, delta, mu, beyond):
    layers = theory.cond_l_2(n, delta, mu) + beyond
    x = (n - 1) * theory.cond_theorem_5(layers, delta, mu)
    proven = theory.cond_corollary_6_proven(layers, n, delta, mu)
    assert 2 * x / (1 - x) <= proven * (1 + 1e-9)
    assert proven <= theory.cond_corollary_6(layers, n, delta, mu) * (1 + 1e-9)
    # the bound of the top layer, from the same entries at full depth
    assert theory.cond_corollary_4_sharper(layers, n, delta, mu) <= proven * (1 + 1e-9)
