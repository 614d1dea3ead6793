"""Stationary laws and the Dobrushin coefficient against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signalprop.theory import dobrushin_coefficient, stationary_law

seeds = st.integers(0, 2**32 - 1)


def random_chain(seed, states=4):
    return np.random.default_rng(seed).dirichlet(np.full(states, 0.3), size=states)


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_stationary_law_is_the_limit_of_powers(seed):
    p = 0.9 * random_chain(seed) + 0.1 / 4
    assert np.allclose(stationary_law(p), np.linalg.matrix_power(p, 1000)[0], atol=1e-10)


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_coefficient_is_the_best_contraction_of_oscillation(seed):
    """Extremal functions of oscillation 1 are indicators: all of them are tried."""
    p = random_chain(seed)
    indicators = np.array([[(i >> k) & 1 for k in range(4)] for i in range(16)]).T
    best = np.ptp(p @ indicators, axis=0).max()
    assert np.isclose(dobrushin_coefficient(p), best, atol=1e-12)


def test_coefficients_of_extreme_chains():
    assert dobrushin_coefficient(np.eye(3)) == 1
    assert dobrushin_coefficient(np.full((3, 3), 1 / 3)) == 0
    assert dobrushin_coefficient([[1.0]]) == 0


def test_two_stationary_laws_are_refused():
    with pytest.raises(ValueError, match="several"):
        stationary_law(np.eye(2))


@pytest.mark.parametrize("bad", [[[0.5, 0.4], [0, 1]], [[1.0, 0.0]], [[1.5, -0.5], [0, 1]], [1.0]])
def test_other_matrices_are_refused(bad):
    with pytest.raises(ValueError, match="transition"):
        dobrushin_coefficient(bad)
