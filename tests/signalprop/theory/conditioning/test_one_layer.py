"""Floors of the smallest eigenvalue, from kernels in closed form and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import signalprop as sp
from signalprop import theory


def test_relu_weights_are_the_series_of_the_kernel_map():
    weights = theory.cond_relu_weights(400)
    kernel = sp.KernelMap(sp.activations.relu)
    rho = np.array([-0.8, -0.3, 0.2, 0.9])
    np.testing.assert_allclose(weights @ rho ** np.arange(401)[:, None], kernel(rho), atol=1e-12)
    np.testing.assert_allclose(weights[:12], kernel.hermite_coefficients(11) ** 2, atol=1e-10)
    np.testing.assert_allclose(theory.cond_relu_weights(1), [1 / (2 * math.pi), 0.25])
    with pytest.raises(ValueError, match="order"):
        theory.cond_relu_weights(0)


def test_by_hand():
    assert theory.cond_theorem_56(2, 0.25) == pytest.approx(0.125 / 4e6 / 8)
    assert theory.cond_note_56(5, 0.5) == pytest.approx((0.5 / math.log(10)) ** 1.5 / 250)
    # (1/2)^k times 2: nothing for k = 0, 1; one half and three quarters then
    assert theory.cond_theorem_58_floor(3, 0.5, [1, 10, 100, 1000]) == pytest.approx(50 + 750)


@given(st.integers(2, 200), st.floats(0.01, 1.0))
def test_chain_of_floors(n, delta):
    floor = theory.cond_theorem_58_floor(n, delta, theory.cond_relu_weights(4000))
    assert theory.cond_theorem_56(n, delta) <= theory.cond_note_56(n, delta) <= floor


@given(st.integers(2, 12), st.integers(2, 5), st.integers(0, 10**6))
def test_floor_of_random_inputs(n, d, seed):
    x = np.random.default_rng(seed).standard_normal((n, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    gram = np.clip(x @ x.T, -1, 1)
    np.fill_diagonal(gram, 1.0)
    delta = 1 - np.abs(gram[np.triu_indices(n, 1)]).max()
    floor = theory.cond_theorem_58_floor(n, delta, theory.cond_relu_weights(1000))
    values = np.linalg.eigvalsh(sp.KernelMap(sp.activations.relu)(gram))
    assert floor <= values[0] + 1e-10


def test_separations_are_those_of_unit_vectors():
    assert theory.cond_theorem_56(1, 2.0) == pytest.approx(2**1.5 / 4e6)
    for floor in (theory.cond_theorem_56, theory.cond_note_56):
        for delta in (0.0, 2.5):
            with pytest.raises(ValueError, match=r"delta must lie in \(0, 2\]"):
                floor(2, delta)
