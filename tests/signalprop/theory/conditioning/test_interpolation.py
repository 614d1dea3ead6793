"""The bounds of the appendix on interpolation, by hand and from the steps of their proofs."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalprop import theory


def test_depth():
    """log2(25) lies between 4 and 5, and log(5) / log(1.5) between 3 and 4."""
    assert theory.cond_theorem_16_depth(25, 0.1, 1.0) == 5 + 4
    assert theory.cond_theorem_16_depth(1, 1.0, 0.3) == 0


def test_covariance():
    assert theory.cond_lemma_54(1) == 0
    assert theory.cond_lemma_54(20) == pytest.approx(0.4 * math.log(20))
    u = 10 * theory.cond_lemma_54_sharper(10)
    assert math.exp(-(u - 1.5 - 1.5 * math.log(u / 1.5))) < 0.5
    v = 0.97 * u  # and hardly anything smaller will do
    assert math.exp(-(v - 1.5 - 1.5 * math.log(v / 1.5))) > 0.5


@given(st.integers(1, 1000), st.floats(0, 100))
def test_theorem_16_follows_from_its_steps(n, norm):
    steps = theory.cond_theorem_16_given(n, norm, theory.cond_lemma_54_sharper(n**2))
    assert steps <= theory.cond_theorem_16(n, norm) * (1 + 1e-12)
    assert theory.cond_theorem_16(1, 2.0) == 42
    assert theory.cond_theorem_16(7, 3.0) == pytest.approx(2 + 9 / 7)
    assert theory.cond_theorem_16_given(8, 3.0, 0.5) == pytest.approx(24.5)


def test_theorem_16_is_attained_where_both_errors_have_one_direction():
    """One sample at half a unit of norm: on the line all is a number."""
    feature, best = math.sqrt(0.5), 3.0  # Kbar = 1/2, its smallest allowed value
    found = -1 / feature  # the interpolant of the label -1
    excess = feature**2 * (found - best) ** 2  # Sigma is feature^2
    assert theory.cond_theorem_16_given(1, best, feature**2) == pytest.approx(excess)
