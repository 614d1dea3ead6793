"""The closed forms against mpmath integrals, and against each other."""

import numpy as np
import pytest
from mpmath import mp

from signalprop import theory

KINKS = [-3.0, -2.0, -1.5975, -1.0, 0.0, 1.0]
GAMMAS = [0.5, 1.0, 1.5, 2.0]


def expectation(f, c, gamma=1):
    """E f(sqrt(gamma) X) for a function with a kink at c."""
    kink = c / mp.sqrt(gamma)
    edges = sorted({mp.mpf(-14), mp.mpf(kink), mp.mpf(14)} | {mp.mpf(e) for e in (-4, 0.25, 4)})
    return mp.quad(lambda x: f(mp.sqrt(gamma) * x) * mp.npdf(x), edges)


def hinge(c):
    """NormReLU from its definition: mean and deviation of max(X - c, 0) by integration."""
    mean = expectation(lambda x: max(x - c, 0), c)
    deviation = mp.sqrt(expectation(lambda x: (max(x - c, 0) - mean) ** 2, c))
    return mean, deviation


@pytest.mark.parametrize("c", KINKS)
def test_shift_and_scale(c):
    mean, deviation = hinge(c)
    assert float(theory.cond_equation_4_shift(c)) == pytest.approx(-float(mean), rel=1e-13)
    assert float(theory.cond_equation_4_scale(c)) == pytest.approx(float(1 / deviation), rel=1e-11)


@pytest.mark.parametrize("c", [-1.5975, 0.5])
def test_moments_at_any_variance(c):
    mean, deviation = hinge(c)

    def phi(x):
        return (max(x - c, 0) - mean) / deviation

    first = [float(expectation(phi, c, g)) for g in GAMMAS]
    second = [float(expectation(lambda x: phi(x) ** 2, c, g)) for g in GAMMAS]
    np.testing.assert_allclose(theory.cond_norm_relu_mean(GAMMAS, c), first, atol=1e-12)
    np.testing.assert_allclose(theory.cond_norm_relu_length(GAMMAS, c), second, rtol=1e-12)
    bias = np.array(first) ** 2 / np.array(second)
    np.testing.assert_allclose(theory.cond_norm_relu_bias(GAMMAS, c), bias, atol=1e-12)


@pytest.mark.parametrize("c", [-1.5975, 0.5])
def test_slope_is_the_derivative(c):
    gammas, step = np.array(GAMMAS), 1e-4
    ends = [theory.cond_norm_relu_length(gammas + s * step, c) for s in (-2, -1, 1, 2)]
    difference = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * step)
    np.testing.assert_allclose(
        theory.cond_norm_relu_length_slope(gammas, c), difference, rtol=1e-10
    )


def test_kinks_and_variances_broadcast():
    table = theory.cond_norm_relu_length(np.array([[0.5], [2.0]]), np.array([-1.0, 0.0, 1.0]))
    assert table.shape == (2, 3)
    assert table[1, 0] == theory.cond_norm_relu_length(2.0, -1.0)


@pytest.mark.parametrize("gamma", [0.0, -1.0])
def test_variance_must_be_positive(gamma):
    with pytest.raises(ValueError, match="gamma must be positive"):
        theory.cond_norm_relu_length([1.0, gamma])


def test_without_a_kink_it_is_the_printed_one():
    assert theory.cond_norm_relu_mean(2.0) == theory.cond_norm_relu_mean(2.0, -1.5975)
