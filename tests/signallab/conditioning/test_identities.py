"""Statements that are proved by algebra, beside numbers; and neighbours that algebra refuses."""

import numpy as np
import pytest
import sympy
from scipy import stats

import signalprop as sp
from signallab.conditioning import identities
from signalprop import theory


@pytest.mark.parametrize("name", identities.__all__)
def test_all_are_identities(name):
    assert getattr(identities, name)()


@pytest.mark.parametrize("kink", [-1.5975, 0.0, 1.2])
@pytest.mark.parametrize("variance", [0.5, 1.0, 3.0])
def test_closed_forms_are_those_of_a_hinge(kink, variance):
    values = identities._hinge(identities.gamma)
    at = {identities.gamma: variance, identities.c: kink}
    mean, square, above, _ = (float(value.subs(at)) for value in values)
    z = np.linspace(kink, 40, 400_001)
    density = stats.norm.pdf(z, scale=np.sqrt(variance))
    step = z[1] - z[0]
    assert above == pytest.approx(stats.norm.sf(kink / np.sqrt(variance)))
    assert mean == pytest.approx(((z - kink) * density).sum() * step, rel=1e-6)
    assert square == pytest.approx(((z - kink) ** 2 * density).sum() * step, rel=1e-6)


@pytest.mark.parametrize("scale", [0.2, 1.0, 4.0])
def test_the_coefficient_near_norm_one(scale):
    """erf(a x) over its deviation: ``a_1`` and the second moment in closed form."""
    power = np.array([scale**2])

    def first(gamma):
        return 4 / np.pi * gamma * power / (1 + 2 * gamma * power)

    def square(gamma):
        return 2 / np.pi * np.arcsin(2 * gamma * power / (1 + 2 * gamma * power))

    mu = float(1 - (first(1) / square(1))[0])
    gamma = 1 + np.linspace(-1, 1, 41) * mu / 4
    assert (np.diff(first(gamma)) > 0).all()
    assert (np.diff(first(gamma) / gamma) < 0).all()
    at_gamma = 1 - first(gamma) / square(gamma)
    floor = np.where(gamma < 1, 1 - (1 - mu) / gamma, 1 - gamma * (1 - mu))
    assert (at_gamma >= floor - 1e-12).all()
    assert (floor >= 0.75 * mu - 1e-12).all()


def test_slopes_in_the_kink_fix_the_coefficient():
    c = np.array([-1.5975, 0.3])
    scale = theory.cond_equation_4_scale(c)
    assert theory.cond_norm_relu_mu(c) == pytest.approx(1 - (scale * stats.norm.sf(c)) ** 2)


def test_the_lines_and_the_parabola_of_a_map():
    k = sp.KernelMap.from_series([0, 0.4, 0.3, 0.2, 0.1])
    mu, delta = 0.6, np.linspace(0, 1, 101)
    curve = (1 - delta) * (1 - mu * delta)
    lines = np.where(delta <= 0.5, 1 - (1 + mu / 2) * delta, (1 - mu / 2) * (1 - delta))
    assert (k(1 - delta) <= curve + 1e-12).all()
    assert (curve <= lines + 1e-12).all()
    assert (np.abs(k(delta - 1)) <= k(1 - delta) + 1e-12).all()


def test_products_of_generalized_hermite_polynomials():
    variances, covariance, order = (0.5, 2.0), 0.6, 3
    x, w = np.polynomial.hermite_e.hermegauss(20)
    w = w / w.sum()
    first = np.sqrt(variances[0]) * x[:, None]
    slope = covariance / variances[0]
    second = slope * first + np.sqrt(variances[1] - slope * covariance) * x

    def polynomial(z, variance):
        return np.polynomial.hermite_e.HermiteE.basis(order)(z / np.sqrt(variance)) / np.sqrt(6)

    values = polynomial(first, variances[0]) * polynomial(second, variances[1])
    expected = (covariance / np.sqrt(np.prod(variances))) ** order
    assert np.einsum("i,j,ij", w, w, values) == pytest.approx(expected)


@pytest.mark.parametrize("half", [False, True])
def test_means_of_polynomials(half):
    y = sympy.Symbol("y")
    z = np.linspace(0 if half else -12, 12, 200_001)
    values = (1 + 2 * z + 3 * z**2 - z**3) * stats.norm.pdf(z)
    expected = (values.sum() - values[0] / 2) * (z[1] - z[0])
    found = identities._mean(1 + 2 * y + 3 * y**2 - y**3, y, half)
    assert float(found) == pytest.approx(expected, rel=1e-6)


def test_a_layer_of_an_odd_activation_is_below_the_cubic_and_that_below_the_parabola():
    k = sp.KernelMap.from_series([0, 0.6, 0, 0.3, 0, 0.1])
    mu, rho = 0.4, np.linspace(0, 1, 101)
    cubic = rho * (1 - mu * (1 - rho**2))
    assert (k(rho) <= cubic + 1e-12).all()
    assert (cubic <= rho * (1 - mu * (1 - rho)) + 1e-12).all()


def test_duals_of_the_step_and_of_relu_from_polynomials_at_zero():
    orders = np.arange(12)
    at_zero = np.array([0.0 if k % 2 else stats.binom.pmf(k // 2, k, 0.5) for k in orders])
    a = np.asarray(sp.limits.hermite_coefficients(sp.activations.step, 12)) ** 2
    b = np.asarray(sp.limits.hermite_coefficients(sp.activations.relu, 13)) ** 2
    k = orders + 1
    assert a[1:] == pytest.approx(at_zero / (2 * np.pi * k), abs=1e-12)
    assert b[2:] == pytest.approx(at_zero / (2 * np.pi * k * (k + 1)), abs=1e-12)


def test_what_lines_leave():
    phi = sp.activations.gelu.normalized()
    a = np.asarray(sp.limits.hermite_coefficients(phi, 1))
    x, w = np.polynomial.hermite_e.hermegauss(120)
    w, values = w / w.sum(), np.asarray(phi(x))
    for slope, offset in [(0.3, 0.0), (-1.0, 0.4)]:
        line = 1 - a[1] ** 2 + (slope - a[1]) ** 2
        affine = 1 - (a**2).sum() + (slope - a[1]) ** 2 + (offset - a[0]) ** 2
        assert w @ (values - slope * x) ** 2 == pytest.approx(line)
        assert w @ (values - offset - slope * x) ** 2 == pytest.approx(affine)


def test_norms_of_a_concave_activation():
    phi = sp.activations.tanh.normalized()
    z, gamma = np.linspace(-4, 4, 81)[:, None], np.linspace(0.1, 5, 200)
    values = np.asarray(phi(np.sqrt(gamma) * z)) ** 2
    assert (np.diff(values, axis=1) >= -1e-12).all()
    assert (np.diff(values, n=2, axis=1) <= 1e-12).all()
    transfer = sp.LengthMap(phi)
    for q in (0.5, 0.2):
        alpha = 1 - (1 - float(transfer(q))) / (1 - q)
        below = np.linspace(q, 1, 41)
        assert (1 - np.asarray(transfer(below)) <= (1 - alpha) * (1 - below) + 1e-12).all()
        above = np.linspace(1, 9, 41)
        assert (np.asarray(transfer(above)) - 1 <= (1 - alpha) * (above - 1) + 1e-12).all()
