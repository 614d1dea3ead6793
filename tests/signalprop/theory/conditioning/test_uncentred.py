"""Depths of Lemmas 35 and 36 by counting layers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalprop import theory


def test_lemma_35_by_counting():
    """mu = 1, gap = 1/2, delta = 0.01: 0.01 * 1.25^15 >= 1/4 > 0.01 * 1.25^14."""
    assert 0.01 * 1.25**14 < 0.25 <= 0.01 * 1.25**15
    assert theory.cond_lemma_35_l_0(0.01, 1.0, 0.5, 0.25) == 15
    assert theory.cond_lemma_35_l_0(0.01, 1.0, 0.5, 0.03) == 34
    assert theory.cond_lemma_35_l_0(0.5, 1.0, 0.0, 0.3) == 4
    below = math.nextafter(0.5, 0)  # as the dual of the step has it at 0, where it is a half
    assert theory.cond_lemma_35_l_0(1.0, 0.2, 0.2, below) == 2
    assert theory.cond_lemma_36_l_0(0.9, 0.999, below, 1.0) == 2
    assert theory.cond_until_positive(below) == 1


def test_lemma_36_by_hand():
    assert theory.cond_lemma_36_l_0(0.25, 1.0, 0.5) == math.ceil(math.log(8) / math.log(8 / 7))
    assert theory.cond_lemma_36_l_0(0.25, 1.0, 0.5, 1.0) == math.ceil(math.log(8) / math.log(4 / 3))
    assert theory.cond_lemma_36_l_0(0.4, 1.0, 0.01) == 100


@given(st.floats(1e-3, 0.99))
def test_no_start_is_negative_any_more(mean):
    layers = int(theory.cond_until_positive(mean))
    assert 2 * (1 - mean) ** layers <= 1 + 1e-9
    assert 2 * (1 - mean) ** (layers - 1) >= 1 - 1e-9
    assert layers <= 1 / mean + 1e-9


@given(st.floats(1e-3, 1.0), st.floats(0.05, 0.95), st.floats(1e-4, 0.9), st.integers(0, 40))
def test_upper_bound_of_the_worst_map(mu, gap, delta, layers):
    """The worst map is the quadratic rho - mu (rho - p)(1 - rho)."""
    above = gap - delta
    for _ in range(layers):
        above -= mu * above * (gap - above)
    bound = theory.cond_lemma_35_sharper(layers, delta, mu, gap)
    assert bound == pytest.approx(
        gap * max(gap / delta - 1, 0) * (1 + mu * gap) ** -layers, rel=1e-9
    )
    assert above <= bound + 1e-12


@given(st.floats(0.01, 0.5), st.integers(1, 300))
def test_critical_bound_of_the_quadratic(mean, layers):
    """From -1: mean + (1 - 2 mean) rho + mean rho^2 takes e to e - mean e^2."""
    e = 2.0
    for _ in range(layers):
        e -= mean * e**2
    assert e <= theory.cond_lemma_36_sharper(layers, mean) * (1 + 1e-9)


@pytest.mark.parametrize("mean", [0.2, 0.5])
def test_critical_bound_is_reached_in_the_end(mean):
    """The quadratic goes as 1 / (mean L): a layer adds mean and terms that die out to 1 / e."""
    e, layers = 1.0, 20_000
    for _ in range(layers):
        e -= mean * e**2
    assert theory.cond_lemma_36_sharper(layers, mean) == pytest.approx(e, rel=2e-3)
