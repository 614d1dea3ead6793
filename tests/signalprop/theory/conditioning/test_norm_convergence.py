"""Theorem 37 beside the iteration of norm transfers that are known in closed form."""

import numpy as np
import pytest

from signalprop import theory


def transfer(gamma, gain):
    """E erf(gain sqrt(gamma) X)^2 over its value at 1."""
    t = 2 * gain**2
    return np.arcsin(t * gamma / (1 + t * gamma)) / np.arcsin(t / (1 + t))


@pytest.mark.parametrize("gain", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("lower", [0.1, 0.5])
def test_bounds_the_iteration_and_is_sharp_in_one_layer(gain, lower):
    slope = (transfer(1 + 1e-6, gain) - transfer(1 - 1e-6, gain)) / 2e-6
    alpha = theory.cond_theorem_37_alpha(transfer(lower, gain), slope, lower)
    gammas = np.array([lower, 0.9, 2.0, 50.0])
    path = [gammas]
    for _ in range(12):
        path.append(transfer(path[-1], gain))
    bound = theory.cond_theorem_37(np.arange(13)[:, None], gammas, alpha)
    assert (np.abs(np.array(path) - 1) <= bound * (1 + 1e-9) + 1e-14).all()
    assert abs(path[1][0] - 1) == pytest.approx(bound[1, 0], rel=1e-12)


def test_alpha_as_printed():
    assert theory.cond_theorem_37_alpha(0.7, 0.5) == pytest.approx(2 * 0.7 - 1)
    assert theory.cond_theorem_37_alpha(0.9, 0.5) == 0.5
    assert theory.cond_theorem_37_alpha(0.4, 0.1, lower=0.25) == pytest.approx(1 - 0.6 / 0.75)


def test_lower_end_below_one():
    with pytest.raises(ValueError, match=r"lower must lie in \[0, 1\)"):
        theory.cond_theorem_37_alpha(0.5, 0.5, lower=1.0)
