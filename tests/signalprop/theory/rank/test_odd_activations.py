"""Lemma 20's bound against the worst case that can be built, and Theorem 5's step by hand."""

import numpy as np
import pytest

from signalprop import theory


@pytest.mark.parametrize("d", [1, 3, 6])
@pytest.mark.parametrize("gamma", [0.01, 0.5, 2.0])
@pytest.mark.parametrize("bound", [1.0, 3.0])
def test_bound_is_attained_by_signs_that_add_up(d, gamma, bound):
    ones, w = np.ones((d, 2)), np.full((d, d), np.sqrt(3))
    z = ones + gamma * w @ (bound * ones)
    worst = np.abs(z @ z.T / 2 - 1).max()
    assert theory.rank_lemma_20(d, gamma, bound) == pytest.approx(worst, rel=1e-12)


def test_step_by_hand():
    assert theory.rank_theorem_5_step(5, 2.0) == pytest.approx(1 / 80)
    value = theory.rank_lemma_20(7, theory.rank_theorem_5_step(7, 3.0), 3.0)
    assert value == pytest.approx(np.sqrt(3) / 4 + 3 / 64)


def test_bad_input():
    with pytest.raises(ValueError, match=r"d must be at least 1, got 0\.5"):
        theory.rank_lemma_20(0.5, 0.1)
    with pytest.raises(ValueError, match="bound must be positive"):
        theory.rank_theorem_5_step(3, 0.0)


def test_activations_are_bounded_by_the_identity_if_nothing_is_said():
    assert theory.rank_theorem_5_step(5) == theory.rank_theorem_5_step(5, 1.0)
    assert theory.rank_lemma_20(5, 0.1) == theory.rank_lemma_20(5, 0.1, 1.0)
