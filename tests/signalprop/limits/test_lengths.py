"""Length maps and unequal lengths against closed forms."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import norm

from signalprop import activations as A
from signalprop.limits.lengths import LengthMap
from signalprop.limits.maps import KernelMap

Q = np.array([0.0, 1e-6, 0.3, 1.0, 2.5, 40.0])


@pytest.mark.parametrize(
    ("phi", "exact"),
    [
        (A.relu, lambda q: q / 2),
        (A.erf, lambda q: 2 / np.pi * np.arcsin(2 * q / (1 + 2 * q))),
        (A.sin, lambda q: -np.expm1(-2 * q) / 2),
        (A.cube, lambda q: 15 * q**3),
        (A.step, lambda q: np.where(q > 0, 0.5, 1.0)),  # step(0) = 1
    ],
    ids=["relu", "erf", "sin", "cube", "step"],
)
def test_against_closed_forms(phi, exact):
    np.testing.assert_allclose(LengthMap(phi)(Q), exact(Q), rtol=1e-12, atol=1e-300)
    both = LengthMap(phi, weight_variance=1.7, bias_variance=0.2)(Q)
    np.testing.assert_allclose(both, 1.7 * exact(Q) + 0.2, rtol=1e-12)


def test_exponential_growth():
    q = np.array([0.5, 1.0, 4.0])
    np.testing.assert_allclose(LengthMap(A.exp)(q), np.exp(2 * q), rtol=1e-12)
    np.testing.assert_allclose(LengthMap(A.exp).mean(q), np.exp(q / 2), rtol=1e-12)


@pytest.mark.parametrize("c", [-1.5975, 0.5])
def test_norm_relu_of_cond(c):
    """The three closed forms of COND App. I.1."""
    phi = A.norm_relu(c)
    scale, b = phi.scale, phi.shift / phi.scale
    g = np.array([0.5, 1.0, 1.5, 2.0])
    root, above, pdf = np.sqrt(g), norm.sf(c / np.sqrt(g)), norm.pdf(c / np.sqrt(g))
    mean = scale * (root * pdf - above * c + b)
    value = scale**2 * ((c**2 + g - 2 * c * b) * above + (2 * b - c) * root * pdf + b**2)
    slope = scale**2 * (above + b / root * pdf)
    length = LengthMap(phi)
    np.testing.assert_allclose(length.mean(g), mean, atol=1e-13)
    np.testing.assert_allclose(length(g), value, rtol=1e-12)
    np.testing.assert_allclose(length.derivative(g), slope, rtol=1e-11)


@pytest.mark.parametrize("phi", [A.tanh, A.gelu, A.selu, A.norm_relu(0.5)], ids=lambda p: p.name)
def test_derivative_against_differences(phi):
    length, q, h = LengthMap(phi, 1.5, 0.1), np.array([0.2, 1.0, 3.0]), 1e-5
    slope = (length(q + h) - length(q - h)) / (2 * h)
    np.testing.assert_allclose(length.derivative(q), slope, rtol=1e-8)


def test_derivative_sees_jumps():
    phi = A.Activation("late", lambda x: (x > 1).to(x.dtype), (1.0,))
    q = np.array([0.5, 2.0])
    exact = norm.pdf(1 / np.sqrt(q)) / 2 / q**1.5  # of P(sqrt(q) X > 1)
    np.testing.assert_allclose(LengthMap(phi).derivative(q), exact, rtol=1e-11)


@pytest.mark.parametrize("phi", [A.tanh, A.gelu, A.selu, A.elu], ids=lambda phi: phi.name)
def test_iteration_reaches_the_fixed_point(phi):
    length = LengthMap(phi, weight_variance=1.4, bias_variance=0.3)
    path = length.iterate([0.1, 5.0], 150)
    assert path.shape == (2, 151)
    np.testing.assert_allclose(path[:, -1], length.fixed_point(), rtol=1e-8)


def test_fixed_points_at_the_ends():
    assert LengthMap(A.tanh, weight_variance=0.9).fixed_point() == 0
    assert LengthMap(A.relu, weight_variance=2.0).fixed_point(3.0) == pytest.approx(3.0, rel=1e-12)
    assert LengthMap(A.selu).fixed_point() == pytest.approx(1.0, rel=1e-12)
    with pytest.raises(ValueError, match="relu grow without a fixed point"):
        LengthMap(A.relu, weight_variance=2.5).fixed_point()


def test_unequal_lengths_against_closed_forms():
    q1, q2, rho = np.array([0.5, 2.0, 9.0]), np.array([3.0, 0.1, 9.0]), np.array([0.4, -0.8, 0.99])
    product = rho * np.sqrt(q1 * q2)
    erf = 2 / np.pi * np.arcsin(2 * product / np.sqrt((1 + 2 * q1) * (1 + 2 * q2)))
    np.testing.assert_allclose(LengthMap(A.erf).covariance(q1, q2, rho), erf, rtol=1e-12)
    sin = np.exp(-(q1 + q2) / 2) * np.sinh(product)
    np.testing.assert_allclose(LengthMap(A.sin).covariance(q1, q2, rho), sin, rtol=1e-10)
    # ReLU is homogeneous: correlations do not see the lengths
    relu = LengthMap(A.relu).correlation(q1, q2, rho)
    np.testing.assert_allclose(relu, KernelMap(A.relu.normalized())(rho), rtol=1e-12)


def test_equal_unit_lengths_are_the_kernel_map():
    rho = np.array([-1.0, -0.4, 0.7, 0.999, 1.0])
    for phi in (A.gelu, A.norm_relu(), A.sign):
        ours = LengthMap(phi).covariance(1.0, 1.0, rho)
        np.testing.assert_allclose(ours, KernelMap(phi)(rho), rtol=1e-12, atol=1e-14)


def test_zero_length():
    phi = A.sigmoid
    value = LengthMap(phi).covariance(0.0, 1.0, 0.0)
    assert value == pytest.approx(0.5 * phi.mean, rel=1e-12)
    with pytest.raises(ValueError, match="does not map to 0"):
        LengthMap(A.tanh).correlation(0.0, 1.0, 0.0)


def test_torch_in_torch_out():
    q = torch.tensor([[0.5], [2.0]])
    assert LengthMap(A.tanh)(q).shape == (2, 1)
    assert LengthMap(A.tanh)(q).dtype == torch.float64
    assert isinstance(LengthMap(A.tanh).covariance(q, q, q * 0), torch.Tensor)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="weight_variance must be finite"):
        LengthMap(A.relu, weight_variance=-1.0)
    with pytest.raises(ValueError, match="bias_variance must be finite"):
        LengthMap(A.relu, bias_variance=math.nan)
    with pytest.raises(ValueError, match="q must not be negative"):
        LengthMap(A.relu)(-1.0)
    with pytest.raises(ValueError, match="q must be positive"):
        LengthMap(A.relu).derivative([0.0, 1.0])
    with pytest.raises(ValueError, match=r"rho must lie in \[-1, 1\]"):
        LengthMap(A.relu).covariance(1.0, 1.0, 1.5)
    with pytest.raises(ValueError, match="Gaussian expectation"):
        LengthMap(A.exp_square)(1.0)
    with pytest.raises(ValueError, match="depth must be at least 0"):
        LengthMap(A.relu).iterate(1.0, -1)
    with pytest.raises(ValueError, match="start must be positive"):
        LengthMap(A.relu).fixed_point(0.0)
