"""Length maps and unequal lengths against closed forms."""

import math

import mpmath as mp
import numpy as np
import pytest
import torch
from scipy.stats import norm

from signalprop import activations as A
from signalprop.limits.lengths import LengthMap
from signalprop.limits.maps import KernelMap
from signalprop.limits.piecewise import piecewise_linear

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


def mean(f, scale):
    """E f(X) for f that changes over 1/scale around 0, by mpmath."""
    ends = [mp.mpf(2) ** k / scale for k in range(-3, 8)]
    ends = sorted({mp.mpf(e) for e in (0.5, 1, 2, 4, 8, 14)} | {e for e in ends if e < 14})
    edges = [-e for e in reversed(ends)] + [mp.mpf(0), *ends]
    return mp.quad(lambda x: f(x) * mp.npdf(x), edges)


def sech(x):
    return mp.sech(x) if abs(x) < 1000 else mp.mpf(0)


def gelu_pair(a, b, rho):
    """E gelu(aX) gelu(bY): given X, the mean over Y is known in closed form."""
    a, b, rho = (mp.mpf(v) for v in (a, b, rho))
    t = b * mp.sqrt(1 - rho**2)
    root = mp.sqrt(1 + t * t)

    def inner(x):
        m = b * rho * x
        return m * mp.ncdf(m / root) + t * t / root * mp.npdf(m / root)

    return mean(lambda x: a * x * mp.ncdf(a * x) * inner(x), max(a, mp.mpf(1)))


SCALES = [1e-8, 1e-4, 0.3, 30.0, 1e3 * math.sqrt(10), 1e4, 1e6, 1e8]


@pytest.mark.parametrize("scale", SCALES)
def test_lengths_and_slopes_at_every_scale(scale):
    """Steep activations: what is narrower than any panel of a fixed width must not be missed."""
    q = scale**2
    with mp.workdps(40):
        s = mp.mpf(scale)
        erf = 2 / mp.pi * mp.asin(2 * s**2 / (1 + 2 * s**2))
        erf_slope = 4 / mp.pi / ((1 + 2 * s**2) * mp.sqrt(1 + 4 * s**2))
        tanh = mean(lambda x: mp.tanh(s * x) ** 2, max(s, 1))
        tanh_slope = mean(lambda x: mp.tanh(s * x) * sech(s * x) ** 2 * x, max(s, 1)) / s
        gelu = mean(lambda x: (s * x * mp.ncdf(s * x)) ** 2, max(s, 1))
    for phi, value, slope in ((A.erf, erf, erf_slope), (A.tanh, tanh, tanh_slope)):
        assert LengthMap(phi)(q) == pytest.approx(float(value), rel=1e-12)
        assert LengthMap(phi).derivative(q) == pytest.approx(float(slope), rel=1e-11)
    assert LengthMap(A.gelu)(q) == pytest.approx(float(gelu), rel=1e-12)


@pytest.mark.parametrize("scale", [1e-8, 0.1, 30.0, 1e3, 1e8])
@pytest.mark.parametrize("rho", [-0.9, 0.3])
@pytest.mark.slow
def test_covariances_at_every_scale(scale, rho):
    with mp.workdps(30):
        for other in (scale, 1.0):
            exact = float(gelu_pair(scale, other, rho))
            ours = LengthMap(A.gelu).covariance(scale**2, other**2, rho)
            assert ours == pytest.approx(exact, rel=1e-11)
    q1, q2 = scale**2, 4.0
    with mp.workdps(30):
        product = rho * mp.mpf(scale) * 2
        root = mp.sqrt((1 + 2 * mp.mpf(scale) ** 2) * 9)
        erf = float(2 / mp.pi * mp.asin(2 * product / root))
    assert LengthMap(A.erf).covariance(q1, q2, rho) == pytest.approx(erf, rel=1e-11)


@pytest.mark.parametrize(
    "phi", [A.sigmoid, A.softplus, A.silu, A.norm_relu()], ids=lambda p: p.name
)
@pytest.mark.parametrize("q", [1e-16, 1e-10, 1e-6, 1e-4])
def test_slopes_where_the_activation_is_nearly_affine(phi, q):
    """At 0 the slope is phi'(0)^2 + phi(0) phi''(0); the first correction is of order q."""
    x = torch.zeros((), dtype=torch.float64)
    first, second = (torch.func.grad(phi)(x), torch.func.grad(torch.func.grad(phi))(x))
    exact = float(first**2 + phi(x) * second)
    assert LengthMap(phi).derivative(q) == pytest.approx(exact, rel=10 * q + 1e-12)


def test_slopes_without_digits_are_refused():
    kink = A.Activation("kink", lambda x: 1 + x + 1e-9 * torch.relu(x - 1e-9), (1e-9,))
    with pytest.raises(ValueError, match=r"less than nine digits .* at q = 1e-16"):
        LengthMap(kink).derivative(1e-16)


@pytest.mark.parametrize("phi", [A.tanh, A.gelu, A.selu, A.norm_relu(0.5)], ids=lambda p: p.name)
def test_derivative_against_differences(phi):
    length, q, h = LengthMap(phi, 1.5, 0.1), np.array([0.2, 1.0, 3.0]), 1e-5
    slope = (length(q + h) - length(q - h)) / (2 * h)
    np.testing.assert_allclose(length.derivative(q), slope, rtol=1e-8)


def test_the_nearest_of_several_kinks_decides_what_is_small():
    """E (1 + relu)^2 = 1 + 2 sqrt(q / 2 pi) + q / 2; the other kink is far away."""
    kinked = A.Activation("1 + relu", lambda x: 1 + torch.clamp(x, 0, 9), (0.0, 9.0))
    q = np.array([1e-12, 1e-8, 1e-4])
    exact = 1 / np.sqrt(2 * np.pi * q) + 0.5
    np.testing.assert_allclose(LengthMap(kinked).derivative(q), exact, rtol=1e-9)


def test_derivative_sees_jumps():
    phi = A.Activation("late", lambda x: (x > 1).to(x.dtype), (1.0,))
    q = np.array([0.5, 2.0])
    exact = norm.pdf(1 / np.sqrt(q)) / 2 / q**1.5  # of P(sqrt(q) X > 1)
    np.testing.assert_allclose(LengthMap(phi).derivative(q), exact, rtol=1e-11)


def test_the_derivative_sees_the_squares_on_both_sides_of_a_jump():
    phi = A.Activation("step", lambda x: torch.where(x > 1, 4.0, -3.0).to(x.dtype), (1.0,))
    q = np.array([0.5, 2.0])
    exact = (16 - 9) * norm.pdf(1 / np.sqrt(q)) / 2 / q**1.5
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
    # the map to a constant has it as its fixed point: within 40 octaves of the start it is found
    for constant, found in ((2.0**-39.9, 2.0**-39.9), (2.0**-40.1, 0.0), (2.0**39.9, 2.0**39.9)):
        assert LengthMap(A.relu, 0.0, constant).fixed_point() == pytest.approx(found, rel=1e-12)
    with pytest.raises(ValueError, match="grow without a fixed point"):
        LengthMap(A.relu, 0.0, 2.0**40.1).fixed_point()


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


@pytest.mark.parametrize(("q1", "q2"), [(4.0, 0.5), (0.5, 4.0), (0.2, 0.3)])
def test_kinks_count_on_both_sides_of_a_covariance(q1, q2):
    """The exact moment of lines between kinks, and the same when the inputs change places."""
    hard_tanh = A.Activation("hard tanh", torch.nn.functional.hardtanh, (-1.0, 1.0))
    for rho in (-0.9, 0.3, 0.99):
        stds = torch.tensor([q1, q2, rho], dtype=torch.float64)
        exact, _ = piecewise_linear(hard_tanh)(stds[0].sqrt(), stds[1].sqrt(), stds[2])
        ours = LengthMap(hard_tanh).covariance(q1, q2, rho)
        np.testing.assert_allclose(ours, float(exact), rtol=1e-12)


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
    for start in (0.0, math.inf):
        with pytest.raises(ValueError, match="start must be positive"):
            LengthMap(A.relu).fixed_point(start)
    with pytest.raises(ValueError, match="weight_variance must be finite"):
        LengthMap(A.relu, weight_variance=math.inf)
    for q1, q2 in ((-1.0, 1.0), (1.0, -1.0)):
        with pytest.raises(ValueError, match="q1 and q2 must not be negative"):
            LengthMap(A.relu).covariance(q1, q2, 0.5)
    with pytest.raises(ValueError, match="q must not be empty"):
        LengthMap(A.relu)([])
    assert LengthMap(A.relu).iterate(3.0, 0).tolist() == [3.0]
    assert LengthMap(A.relu, 0.0, 0.0)(2.0) == 0.0


def test_it_says_what_it_is():
    assert repr(LengthMap(torch.tanh, 1.5, 0.1)) == (
        "LengthMap(tanh, weight_variance=1.5, bias_variance=0.1)"
    )
