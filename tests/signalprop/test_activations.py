"""Activations against torch's own layers, exact moments, and their algebra."""

import math
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from torch import nn

from signalprop import activations as A
from signalprop.random import Stream

NAMED = [
    *(A.identity, A.relu, A.leaky_relu(0.1), A.tanh, A.sin, A.erf, A.exp, A.step, A.sign, A.gelu),
    *(A.gelu_tanh, A.silu, A.elu, A.selu, A.sigmoid, A.softplus, A.cube, A.hermite(3)),
    A.norm_relu(),
]
names = pytest.mark.parametrize("phi", NAMED, ids=lambda phi: phi.name)


@pytest.mark.parametrize(
    ("phi", "layer"),
    [
        (A.relu, nn.ReLU()),
        (A.leaky_relu(), nn.LeakyReLU()),
        (A.tanh, nn.Tanh()),
        (A.gelu, nn.GELU()),
        (A.gelu_tanh, nn.GELU(approximate="tanh")),
        (A.silu, nn.SiLU()),
        (A.elu, nn.ELU()),
        (A.selu, nn.SELU()),
        (A.sigmoid, nn.Sigmoid()),
        (A.softplus, nn.Softplus()),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_same_as_torch_layers(phi, layer):
    x = Stream(1).numpy().standard_normal((50, 3)) * 3
    np.testing.assert_allclose(phi(x), layer(torch.from_numpy(x)).numpy(), rtol=1e-12, atol=1e-14)


@names
def test_kind_shape_and_type(phi):
    x = torch.linspace(-2, 2, 12).reshape(3, 4)
    assert phi(x).shape == (3, 4)
    assert phi(x).dtype == phi.derivative(x).dtype == torch.float32
    assert isinstance(phi(x.numpy()), np.ndarray)
    assert phi(x.numpy()).dtype == np.float32
    assert phi(torch.tensor([1, 2])).dtype == torch.float64
    assert phi(2).shape == ()


@names
def test_moments_against_sampling(phi):
    x = phi(Stream(2).numpy().standard_normal(400_000))
    for sample, exact in ((x, phi.mean), ((x - phi.mean) ** 2, phi.variance)):
        error = sample.std() / math.sqrt(x.size)
        assert abs(sample.mean() - exact) <= 6 * error + 1e-12


@names
def test_derivative_between_the_kinks(phi):
    x = np.array([-2.3, -1.1, -0.4, 0.2, 0.9, 2.1])
    h = 1e-6
    slope = (phi(x + h) - phi(x - h)) / (2 * h)
    np.testing.assert_allclose(phi.derivative(x), slope, rtol=1e-7, atol=1e-8)


@names
def test_smooth_away_from_kinks(phi):
    """A kink that the kinks do not name would show in the second difference."""
    x = np.arange(-4.001, 4, 0.004)
    second = np.abs(phi(x + 2e-3) - 2 * phi(x) + phi(x - 2e-3)) / np.maximum(1, np.abs(phi(x)))
    far = np.all([np.abs(x - t) > 5e-3 for t in phi.kinks], axis=0) | np.zeros(x.size, bool)
    assert second[far].max() < 1e-4
    assert all(second[np.abs(x - t) < 5e-3].max() > 3e-6 for t in phi.kinks)


@names
def test_versions(phi):
    assert phi.standardized().mean == pytest.approx(0, abs=1e-14)
    assert phi.standardized().second_moment == pytest.approx(1, rel=1e-13)
    assert phi.normalized().second_moment == pytest.approx(1, rel=1e-13)
    assert phi.centered().mean == pytest.approx(0, abs=1e-14)
    assert phi.centered().variance == pytest.approx(phi.variance, rel=1e-13)


@names
@given(st.floats(-3, 3).filter(lambda a: abs(a) > 0.1), st.floats(-3, 3), st.floats(-3, 3))
@settings(max_examples=10, deadline=None)
def test_operations_compose(phi, gain, factor, x):
    both = phi.centered().gained(gain).scaled(factor)
    expected = factor * (phi(gain * x) - phi.mean)
    assert both(x) == pytest.approx(float(expected), rel=1e-12, abs=1e-12)
    assert both.kinks == tuple(sorted(t / gain for t in phi.kinks))


@names
def test_values_can_be_sent_to_other_processes(phi):
    copy = pickle.loads(pickle.dumps(phi.normalized()))
    assert copy(0.7) == phi.normalized()(0.7)


def test_differentiable_twice():
    x = torch.tensor([0.3, -0.8], dtype=torch.float64, requires_grad=True)
    (second,) = torch.autograd.grad(A.tanh.derivative(x).sum(), x)
    t = torch.tanh(x.detach())
    torch.testing.assert_close(second, -2 * t * (1 - t**2))


@pytest.mark.parametrize("c", [-3.0, -2.0, -1.5975, -1.0, 0.0, 1.0])
def test_norm_relu_constants_of_cond(c):
    b = norm.sf(c) * c - norm.pdf(c)
    inside = norm.sf(c) * norm.cdf(c) * c**2 + (1 - 2 * norm.cdf(c)) * norm.pdf(c) * c
    scale = (inside + norm.sf(c) - norm.pdf(c) ** 2) ** -0.5
    x = np.linspace(-4, 4, 9)
    np.testing.assert_allclose(
        A.norm_relu(c)(x), scale * (np.maximum(x - c, 0) + b), rtol=1e-11, atol=1e-11
    )


def test_from_hermite():
    phi = A.Activation.from_hermite([0.5, 0, math.sqrt(2)])
    x = np.linspace(-2, 2, 5)
    np.testing.assert_allclose(phi(x), 0.5 + x**2 - 1, atol=1e-14)
    assert phi.mean == pytest.approx(0.5, abs=1e-15)
    with pytest.raises(ValueError, match="one row of numbers"):
        A.Activation.from_hermite([[1.0]])
    with pytest.raises(ValueError, match="order must be at least 0"):
        A.hermite(-1)


def test_without_a_slope_the_leaky_relu_is_the_relu():
    assert A.leaky_relu(0.0) is A.leaky_relu(-0.0) is A.relu
    assert A.leaky_relu(0)(torch.tensor([-math.inf, math.inf])).tolist() == [0, math.inf]
    far = torch.tensor([-math.inf, -2.0])
    assert A.leaky_relu(1e-30)(far)[0] == -math.inf
    assert A.leaky_relu(-0.5).normalized()(far)[0] == math.inf


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: A.leaky_relu(math.nan), "slope must be finite, and within float32, got nan"),
        (lambda: A.leaky_relu(1e300), "slope must be finite, and within float32, got 1e"),
        (lambda: A.norm_relu(math.nan), "threshold must be finite, got nan"),
        (lambda: A.Activation("own", torch.abs, (math.nan,)), "kinks must be finite"),
        (lambda: A.Activation("own", torch.abs, 0.0), "kinks must be one row of numbers"),
        (lambda: A.Activation.from_hermite([]), "coefficients must be at least one number"),
    ],
)
def test_what_makes_no_function_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_no_second_moment_is_refused_by_name():
    assert A.exp_square(1.0) == pytest.approx(math.e)
    for use in (lambda: A.exp_square.mean, A.exp_square.normalized, A.exp_square.standardized):
        with pytest.raises(ValueError, match="exp_square needs a finite second moment"):
            use()


@pytest.mark.parametrize(
    ("phi", "way"),
    [
        (A.relu.scaled(1e300), "down"),
        (A.exp.gained(8.0).scaled(1e150), "down"),
        (A.tanh.scaled(2e-161), "up"),
    ],
)
def test_moments_beyond_the_floats_are_refused(phi, way):
    for use in (lambda: phi.second_moment, phi.normalized, phi.standardized):
        with pytest.raises(ValueError, match=f"must have moments within float64: scale it {way}"):
            use()
    assert math.isfinite(phi.mean)


def test_bad_values_are_refused():
    with pytest.raises(ValueError, match="gain must not be 0"):
        A.relu.gained(0.0)
    with pytest.raises(ValueError, match="scale must be finite"):
        A.relu.scaled(math.inf)
    with pytest.raises(ValueError, match="x must be finite"):
        A.relu(np.array([np.nan]))
    with pytest.raises(ValueError, match="constant"):
        A.hermite(0).standardized()
    with pytest.raises(ValueError, match="is zero"):
        A.relu.scaled(0.0).normalized()


def test_gelu_by_tanh_is_torchs_and_has_a_derivative_far_out():
    x = torch.linspace(-120, 120, 2401, dtype=torch.float64)
    expected = torch.nn.functional.gelu(x, approximate="tanh")
    torch.testing.assert_close(A.gelu_tanh(x), expected, rtol=0, atol=0)
    far = torch.tensor([-1e30, -1e15, 1e15, 1e30])
    torch.testing.assert_close(A.gelu_tanh(far), far.relu(), rtol=0, atol=0)
    assert A.gelu_tanh.derivative(far).tolist() == [0, 0, 1, 1]
