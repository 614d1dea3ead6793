"""The corollaries from the bounds that their proofs start with, and by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalprop import theory


def test_by_hand():
    """n = 10, delta = 0.1, mu = 1: L_0 = 4, L_1 = 8."""
    assert theory.cond_corollary_4(11, 10, 0.1, 1.0) == pytest.approx(20 / 8)
    assert theory.cond_corollary_4(11, 10, 0.1, 1.0, "down") == pytest.approx(20 / 32)
    assert theory.cond_corollary_4_sharper(11, 10, 0.1, 1.0) == pytest.approx(18 / 128)
    assert theory.cond_corollary_8(2, 10, 0.1, 1.0) == pytest.approx(100 / 2.25)
    assert theory.cond_corollary_8_sharper(2, 10, 0.1, 1.0) == pytest.approx(90 / 4)


@given(st.integers(2, 60), st.floats(1e-4, 0.99), st.floats(0.02, 1.0), st.integers(0, 60))
def test_follow_from_the_bound_of_the_entries(n, delta, mu, beyond):
    layers = theory.cond_l_1(n, delta, mu) + beyond
    x = (n - 1) * theory.cond_b(layers, delta, mu)
    discs = 2 * x / (1 - x)
    assert discs <= theory.cond_corollary_4_sharper(layers, n, delta, mu) * (1 + 1e-9)
    assert theory.cond_corollary_4_sharper(layers, n, delta, mu) <= theory.cond_corollary_4(
        layers, n, delta, mu
    ) * (1 + 1e-9)


@given(st.integers(2, 60), st.floats(1e-4, 0.99), st.floats(0.02, 1.0), st.integers(0, 300))
def test_corollary_8_from_the_same(n, delta, mu, layers):
    floor = theory.cond_b(float(layers), delta, mu)
    printed = theory.cond_corollary_8(layers, n, delta, mu)
    assert n * floor / (1 - floor) <= printed * (1 + 1e-9)
    sharper = theory.cond_corollary_8_sharper(layers, n, delta, mu)
    assert sharper <= printed * (1 + 1e-9)
    # KER Theorem 5.8 at 1 - delta and the slope 1 - mu
    potential = theory.ker_theorem_5_8(1 - delta, float(layers), 1 - mu)
    assert sharper == pytest.approx(n * float(potential), rel=1e-9)
    assert n * theory.ker_potential(theory.cond_sharpest(delta, mu, layers)[-1]) <= sharper * (
        1 + 1e-9
    )


def test_lemma_43_gives_back_the_width_that_it_asks_for():
    """At the width (4 C)^(L+1) log(n) / gamma^2 the accuracy is gamma."""
    for size, layers, n, gamma in ((1.0, 3, 5, 0.2), (1.5, 2, 10, 0.5), (0.3, 4, 80, 1.0)):
        width = (4 * size) ** (layers + 1) * math.log(n) / gamma**2
        assert theory.cond_lemma_43(width, layers, n, size) == pytest.approx(gamma)
    assert theory.cond_lemma_43(6**3, 2, math.e**4, 1.5) == pytest.approx(2)
