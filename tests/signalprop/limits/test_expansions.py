"""Hermite polynomials and coefficients against exact values."""

import math

import mpmath as mp
import numpy as np
import pytest
import torch
from numpy.polynomial.hermite_e import hermeval

from signalprop.activations import Activation, cube, exp, gelu, relu, selu, sign, step, tanh
from signalprop.limits.expansions import hermite_coefficients, hermite_polynomials, hermite_series
from signalprop.limits.quadrature import panel_rule


@pytest.mark.parametrize("order", [0, 1, 2, 5, 12, 30])
def test_polynomials_agree_with_numpy(order):
    x = np.linspace(-4, 4, 17)
    exact = hermeval(x, np.eye(order + 1)[order]) / math.sqrt(math.factorial(order))
    np.testing.assert_allclose(hermite_polynomials(x, order)[:, order], exact, rtol=1e-9, atol=1e-9)


def test_polynomials_are_orthonormal():
    x, weights = panel_rule(torch.zeros(0, dtype=torch.float64), 24.0, width=0.5)
    rows = hermite_polynomials(x, 100)
    gram = rows.T @ (weights[:, None] * rows)
    torch.testing.assert_close(gram, torch.eye(101, dtype=torch.float64), rtol=0, atol=1e-12)


def test_polynomials_do_not_overflow_and_keep_kind_and_type():
    x = torch.linspace(-15, 15, 9)
    rows = hermite_polynomials(x, 1000)
    assert rows.shape == (9, 1001)
    assert rows.dtype == torch.float32
    assert bool(torch.isfinite(rows).all())
    wide = hermite_polynomials(np.linspace(-20, 20, 9), 1000)
    assert np.isfinite(wide).all()
    assert hermite_polynomials(2, 0) == 1


@pytest.mark.parametrize("x", [1e200, np.float32(1e20), torch.tensor([1.0, 3e38])])
def test_polynomials_beyond_the_floats_are_refused(x):
    with pytest.raises(ValueError, match="x must be so small that polynomials up to order 2"):
        hermite_polynomials(x, 2)
    assert torch.isfinite(torch.as_tensor(hermite_polynomials(x, 1))).all()


def test_series_is_the_sum():
    x = torch.linspace(-2, 2, 5, dtype=torch.float64)
    c = (0.5, -1.0, 0.0, 2.0)
    expected = hermite_polynomials(x, 3) @ torch.tensor(c, dtype=torch.float64)
    torch.testing.assert_close(hermite_series(x, c), expected)


def test_a_series_keeps_kind_and_type():
    assert hermite_series([1, 2], [1.0, 2.0]).tolist() == [3, 5]
    assert hermite_series(torch.tensor([True]), [1.0, 2.0]).dtype == torch.float64
    assert hermite_series(torch.ones(2), [1.0]).dtype == torch.float32


@pytest.mark.parametrize(
    ("x", "coefficients", "words"),
    [
        (math.inf, [1.0, 2.0, 3.0, 4.0], "x must be finite"),
        (1e200, [1.0, 2.0, 3.0], "x must be so small that polynomials up to order 2"),
        (1.0, [1.0, math.nan], "coefficients must be finite"),
        (1.0, 2.0, "coefficients must be one row"),
    ],
)
def test_series_without_a_number_are_refused(x, coefficients, words):
    with pytest.raises(ValueError, match=words):
        hermite_series(x, coefficients)


def exact_relu(k):
    """The coefficient of max(x, 0), by integrating by parts twice: he_{k-2}(0) phi(0) rescaled."""
    if k < 2:
        return mp.mpf(1) / 2 if k else 1 / mp.sqrt(2 * mp.pi)
    if k % 2:
        return mp.mpf(0)
    j = (k - 2) // 2  # He_{2j}(0) = (-1)^j (2j)! / (2^j j!)
    value = (-1) ** j * mp.factorial(2 * j) / (mp.mpf(2) ** j * mp.factorial(j))
    return value / mp.sqrt(2 * mp.pi * mp.factorial(k))


def test_relu_to_order_1000():
    c = hermite_coefficients(relu, 1000)
    with mp.workdps(30):
        exact = np.array([float(exact_relu(k)) for k in range(1001)])
    np.testing.assert_allclose(c, exact, rtol=0, atol=1e-15)
    # near machine precision relative to the coefficients too: they are about 1e-4 out there
    np.testing.assert_allclose(c[900:1001:2], exact[900:1001:2], rtol=1e-10)


def test_exp_is_exact():
    c = hermite_coefficients(exp.gained(1.5), 60)
    exact = [math.exp(1.125) * 1.5**k / math.sqrt(math.factorial(k)) for k in range(61)]
    np.testing.assert_allclose(c, exact, rtol=0, atol=1e-13)


@pytest.mark.parametrize("phi", [relu, selu, step, tanh, gelu], ids=lambda phi: phi.name)
def test_parseval(phi):
    """The missing tail of sum c_k^2 has the sign and size of its algebraic law."""
    c = hermite_coefficients(phi, 1000)
    tail = phi.second_moment - (c**2).sum()
    # c_k^2 ~ k^{-3/2} with a jump, k^{-5/2} with a kink: tails of order K^{-1/2} and K^{-3/2}
    limit = {"step": 1000**-0.5, "relu": 1000**-1.5, "selu": 1000**-1.5}.get(phi.name, 1e-14)
    assert -1e-14 < tail < limit
    if limit > 1e-14:
        assert tail > limit / 100


def test_parity_and_finite_expansions():
    assert np.abs(hermite_coefficients(sign, 300)[::2]).max() < 1e-15
    np.testing.assert_allclose(
        hermite_coefficients(cube, 5), [0, 3, 0, math.sqrt(6), 0, 0], atol=1e-14
    )


def test_bad_orders_are_refused():
    with pytest.raises(ValueError, match="order must be at least 0"):
        hermite_coefficients(relu, -1)
    with pytest.raises(ValueError, match="order must be at least 0"):
        hermite_polynomials(1.0, -1)


def test_an_activation_without_second_moment_is_refused():
    phi = Activation("half_square", lambda x: torch.exp(x**2 / 2))
    with pytest.raises(ValueError, match="half_square needs a finite second moment"):
        hermite_coefficients(phi, 3)
