"""The coefficient of non-linearity beside quadrature and the distance from the best line."""

import math

import pytest
from scipy import integrate
from scipy.stats import norm

from signalprop import activations as A
from signalprop import theory
from signalprop.limits.maps import KernelMap


@pytest.mark.parametrize("phi", [A.relu, A.tanh, A.exp, A.hermite(2), A.identity])
def test_is_the_distance_from_the_best_line(phi):
    k = KernelMap(phi)
    mu = theory.cond_mu(float(k.derivative(0.0)), float(k(0.0)), float(k(1.0)))
    standard = phi.standardized()
    slope = integrate.quad(lambda x: x * float(standard(x)) * norm.pdf(x), -12, 12, points=[0])[0]
    rest = integrate.quad(
        lambda x: (float(standard(x)) - slope * x) ** 2 * norm.pdf(x), -12, 12, points=[0]
    )[0]
    assert mu == pytest.approx(rest, abs=1e-8)
    assert theory.cond_mu(slope**2) == pytest.approx(rest, abs=1e-8)


@pytest.mark.parametrize("threshold", [-3.0, -1.5975, 0.0, 1.0])
def test_norm_relu_from_its_integrals(threshold):
    first, second = (
        integrate.quad(lambda x, j=j: (x - threshold) ** j * norm.pdf(x), threshold, 14)[0]
        for j in (1, 2)
    )
    scale = (second - first**2) ** -0.5
    slope = integrate.quad(lambda x: x * (x - threshold) * norm.pdf(x), threshold, 14)[0]
    expected = 1 - (scale * slope) ** 2
    assert theory.cond_norm_relu_mu(threshold) == pytest.approx(expected, abs=1e-10)


def test_relu_is_the_norm_relu_of_threshold_zero():
    closed = (math.pi - 2) / (2 * math.pi - 2)
    assert theory.cond_norm_relu_mu(0.0) == pytest.approx(closed, rel=1e-12)
