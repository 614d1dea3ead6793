import numpy as np
import pytest
import torch

from signalprop import activations, theory
from signalprop.limits.expansions import hermite_coefficients, hermite_polynomials
from signalprop.random import Stream

STREAM = Stream(0).child("test_hermite")


def test_mehler_kernel_is_the_ratio_of_densities_and_the_sum_of_the_series():
    x, y = STREAM.numpy("points").uniform(-3, 3, (2, 50))
    for rho in (-0.8, -0.3, 0.0, 0.5, 0.9):
        joint = np.exp(-(x**2 + y**2 - 2 * rho * x * y) / (2 * (1 - rho**2)))
        ratio = joint / np.sqrt(1 - rho**2) / np.exp(-(x**2 + y**2) / 2)
        kernel = theory.mehler_kernel(x, y, rho)
        np.testing.assert_allclose(kernel, ratio, rtol=1e-12)
        terms = hermite_polynomials(x, 500) * hermite_polynomials(y, 500)
        np.testing.assert_allclose((terms * rho ** np.arange(501)).sum(-1), kernel, atol=1e-10)


def test_mehler_kernel_broadcasts_differentiates_and_refuses_the_ends():
    x = torch.linspace(-1, 1, 5, dtype=torch.float64, requires_grad=True)
    kernel = theory.mehler_kernel(x[:, None], x, torch.tensor(0.5))
    assert kernel.shape == (5, 5)
    kernel.sum().backward()
    assert bool(torch.isfinite(x.grad).all())
    with pytest.raises(ValueError, match="rho must lie in"):
        theory.mehler_kernel(0.0, 0.0, [0.5, -1.0])


def both(x):
    return torch.where(x < 0, 0 * x, 1 + 40 * x)


@pytest.mark.parametrize(
    ("phi", "jumps", "at"),
    [
        (activations.sign, [2.0], 0.0),
        (activations.relu, [0.0, 1.0], 0.0),
        (activations.selu, [0.0, 1.0507009873554805 * (1 - 1.6732632423543772)], 0.0),
        (activations.elu, [0.0, 0.0, -1.0], 0.0),
        (activations.norm_relu(1.0), [0.0, activations.norm_relu(1.0).scale], 1.0),
        (activations.Activation("both", both, (0.0,)), [1.0, 40.0], 0.0),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_tail_is_that_of_the_coefficients(phi, jumps, at):
    squares = hermite_coefficients(phi, 1000) ** 2
    for order in (100, 1000):
        tail = phi.second_moment - squares[: order + 1].sum()
        expected = theory.hermite_tail(order, jumps, at)
        # the next order is relatively 1/order; away from 0 oscillations are 1/sqrt(order)
        accuracy = 5 / order if at == 0 else order**-0.5
        assert tail == pytest.approx(expected, rel=accuracy)


def test_tail_refuses_no_coefficients():
    with pytest.raises(ValueError, match="order"):
        theory.hermite_tail(0, [1.0])


def test_tail_of_a_jump_and_a_kink_at_a_point():
    """A jump J leaves ``J^2 p(t) / (pi sqrt K)``, a kink ``1 / (3 K)`` of it; at 0 by default."""
    for at, density in ((0.0, 0.3989422804014327), (1.5, 0.12951759566589174)):
        jump = 9 * density / np.pi / 2
        assert theory.hermite_tail(4, [3.0], at) == pytest.approx(jump)
        assert theory.hermite_tail(4, [0.0, 3.0], at) == pytest.approx(jump / 12)
    assert theory.hermite_tail(4, [3.0]) == theory.hermite_tail(4, [3.0], 0.0)
    assert theory.hermite_tail(1, [1.0]) == pytest.approx(0.3989422804014327 / np.pi)
