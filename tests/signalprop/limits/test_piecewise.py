"""Lines between kinks: the closed form against the quadrature by panels, up to parallel inputs."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import signalprop as sp
from signalprop.limits.lengths import pair_moments
from signalprop.limits.piecewise import PiecewiseLinear, piecewise_linear
from signalprop.limits.unequal import closed_form

RHO = torch.tensor([1.0, 1 - 1e-12, 0.99, 0.5, 0.0, -0.3, -1 + 1e-10, -1.0], dtype=torch.float64)
ONES = torch.ones_like(RHO)


@pytest.mark.parametrize(
    "function", [F.hardtanh, F.relu6, sp.activations.norm_relu(), F.hardshrink, F.softshrink]
)
@pytest.mark.parametrize(("a", "b"), [(1.3, 1.3), (0.4, 3.0)])
def test_against_the_quadrature(function, a, b):
    phi = sp.as_activation(function)
    form = piecewise_linear(phi)
    moments, slopes = form(a * ONES, b * ONES, RHO)
    size = (form(a * ONES, a * ONES, ONES)[0] * form(b * ONES, b * ONES, ONES)[0]).sqrt()
    error = (moments - pair_moments(phi, phi, a * ONES, b * ONES, RHO)).abs() / size
    assert float(error.max()) < 1e-12
    if not any(form.jumps):
        direct = pair_moments(phi, phi.derivative, a * ONES, b * ONES, RHO)
        torch.testing.assert_close(slopes, direct, rtol=0, atol=1e-12)


def test_at_zero_it_is_the_arc_cosine_kernel():
    phi = sp.activations.leaky_relu(0.1)
    for ours, exact in zip(
        piecewise_linear(phi)(2 * ONES, 0.7 * ONES, RHO),
        closed_form(phi)(2 * ONES, 0.7 * ONES, RHO),
        strict=True,
    ):
        torch.testing.assert_close(ours, exact, rtol=1e-12, atol=1e-14)


def test_an_input_of_no_length_is_a_constant():
    phi = sp.as_activation(lambda x: torch.relu(x + 0.5) + torch.relu(x - 1))
    moments, _ = piecewise_linear(phi)(0 * ONES, 1.2 * ONES, 0 * RHO)
    mean = sp.LengthMap(phi).mean(1.2**2)
    torch.testing.assert_close(moments, 0.5 * mean * ONES, rtol=1e-11, atol=0)


def test_the_pieces_are_those_of_the_definition():
    found = piecewise_linear(sp.as_activation(F.hardshrink).gained(-2.0).scaled(3.0))
    assert found.kinks == (-0.25, 0.25)
    np.testing.assert_allclose(found.jumps, [-1.5, -1.5])
    np.testing.assert_allclose([found.slope, *found.bends], [-6.0, 6.0, -6.0])
    ramps = PiecewiseLinear((0.0, 6.0), 0.0, 0.0, (0.0, 0.0), (1.0, -1.0))
    assert piecewise_linear(sp.as_activation(F.relu6)) == ramps
    far = sp.Activation("far", lambda x: F.relu(x - 0.5) + F.relu(x - 100), (0.5, 100.0))
    np.testing.assert_allclose(piecewise_linear(far).bends, [1.0, 1.0])


@pytest.mark.parametrize("function", [F.hardswish, torch.tanh, F.elu, lambda x: x * x])
def test_what_is_curved_is_none(function):
    assert piecewise_linear(sp.as_activation(function)) is None


def test_a_thousand_inputs_of_unequal_lengths():
    """Many more pairs than a quadrature each would do; some of them by it."""
    x = sp.Stream(0).numpy("x").standard_normal((1000, 20))
    x *= sp.Stream(0).numpy("lengths").uniform(0.5, 2.0, (1000, 1)) / 20**0.5
    few = [0, 17, 500, 999]
    whole = sp.ntk(x @ x.T, F.hardtanh, depth=1)
    assert np.array_equal(whole, whole.T)
    stds = torch.as_tensor(np.linalg.norm(x[few], axis=1))
    gram = torch.as_tensor(x[few] @ x[few].T)
    rho = (gram / (stds[:, None] * stds)).clamp(-1, 1).fill_diagonal_(1.0)
    phi = sp.as_activation(F.hardtanh)
    a, b = torch.broadcast_tensors(stds[:, None], stds)
    expected = pair_moments(phi, phi, a, b, rho)
    expected = expected + gram * pair_moments(phi, phi.derivative, a, b, rho)
    np.testing.assert_allclose(whole[np.ix_(few, few)], expected, atol=1e-10)
