"""Lemma 41 and Theorem 42 by their printed formulas, and where one form must imply another."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalprop import theory

unit = st.floats(0.0, 1.0)


def test_lemma_41_as_printed():
    near = math.sqrt(1 - (1 + 0.2) * 0.3) * math.sqrt(1 - (1 + 0.05) * 0.3)
    assert theory.cond_lemma_41(-0.7, 0.4, 0.1) == pytest.approx(near)
    for rho in (0.2, -0.49):
        far = math.sqrt(0.8) * math.sqrt(0.95) * abs(rho)
        assert theory.cond_lemma_41(rho, 0.4, 0.1) == pytest.approx(far)


@given(st.floats(-1, 1), unit, unit)
def test_sharper_is_below(rho, mu_x, mu_y):
    sharper = theory.cond_lemma_41_sharper(rho, mu_x, mu_y)
    printed = theory.cond_lemma_41(rho, mu_x, mu_y)
    assert sharper <= printed * (1 + 1e-9) + 1e-12
    assert printed <= abs(rho) * (1 + 1e-12) + 1e-12


def test_sharper_by_hand():
    expected = 0.5 * math.sqrt(1 - 0.4 * 0.75) * math.sqrt(1 - 0.1 * 0.75)
    assert theory.cond_lemma_41_sharper(-0.5, 0.4, 0.1) == pytest.approx(expected)


def test_depth_brings_norms_within_a_quarter_of_mu():
    alpha, mu = 0.3, 0.2
    depth = theory.cond_theorem_42_depth(np.array([0.01, 5.0]), alpha, mu)
    assert depth[0] == 0
    assert 5.0 * math.exp(-alpha * depth[1]) == pytest.approx(mu / 4)


def test_theorem_42():
    value = theory.cond_theorem_42(np.array([12.0, 40.0]), 0.1, 0.5, 2.5)
    np.testing.assert_allclose(value, theory.cond_b(np.array([9.5, 37.5]), 0.1, 0.25))


@pytest.mark.parametrize("delta", [0.05, 0.4, 0.9])
def test_sharper_theorem_is_below_b(delta):
    mu = 0.3
    sharper = theory.cond_theorem_42_sharper(60, delta, mu)
    steps = np.arange(61.0)
    assert (sharper <= theory.cond_b(steps, delta, mu / 2) + 1e-12).all()
    one = (1 - delta) * (1 - 0.75 * mu * (1 - (1 - delta) ** 2))
    assert sharper[1] == pytest.approx(one)
