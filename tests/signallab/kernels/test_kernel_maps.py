"""The routes and the dictionary against closed forms, mpmath, simulation and small polynomials."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

import signalprop as sp
from signallab.kernels import kernel_maps as lab

A = sp.activations
RHO = np.array([-0.9, -0.3, 0.0, 0.6, 0.99])


def polynomial(*coefficients):
    return A.Activation.from_hermite(list(coefficients))


@pytest.mark.parametrize("route", [lab.by_quadrature, lab.by_map])
def test_closed_forms(route):
    exact = {
        A.sign: 2 / np.pi * np.arcsin(RHO),
        A.exp: np.e * np.exp(RHO),
        A.sin: np.sinh(RHO) / np.e,
        A.cube: 9 * RHO + 6 * RHO**3,
        A.relu: (np.sqrt(1 - RHO**2) + RHO * (np.pi - np.arccos(RHO))) / (2 * np.pi),
    }
    for phi, values in exact.items():
        np.testing.assert_allclose(route(phi, RHO), values, rtol=1e-11, atol=1e-15)


def test_series_of_a_polynomial():
    phi = polynomial(0.1, -0.5, 0.2)
    np.testing.assert_allclose(
        lab.by_series(phi, RHO, 4), 0.01 + 0.25 * RHO + 0.04 * RHO**2, atol=1e-13
    )
    np.testing.assert_allclose(
        lab.by_series(phi, RHO, 4, power=1, lag=2),
        RHO**2 * (0.1 - 0.5 * RHO + 0.2 * RHO**2),
        atol=1e-13,
    )


def test_reflection_is_what_reflected_pairs_give():
    """A mean over pairs (X, X) and (X, -X), within five standard errors; both ends exactly."""
    phi, rho = A.elu, 0.4
    rng = np.random.default_rng(1)
    x = rng.standard_normal(200_000)
    y = np.where(rng.random(x.size) < (1 + rho) / 2, x, -x)
    product = phi(x) * phi(y)
    value = float(lab.by_reflection(phi, np.array([rho]))[0])
    assert abs(product.mean() - value) < 5 * stats.sem(product)
    ends = np.array([-1.0, 1.0])
    np.testing.assert_allclose(
        lab.by_reflection(phi, ends), lab.by_quadrature(phi, ends), rtol=1e-12
    )


def test_routes_hold_the_stable_activations():
    rows = lab.routes(np.array([0.25, 1.0]), 400).set_index(["activation", "correlation"])
    assert len(rows) == 2 * len(lab.ACTIVATIONS)
    np.testing.assert_allclose(rows.loc[("exp", 0.25)], math.exp(-0.75), rtol=1e-12)
    ends = rows.xs(1.0, level="correlation")
    np.testing.assert_allclose(ends[["quadrature", "map"]], 1, rtol=1e-12)
    assert (ends["series"] < 1 + 1e-12).all()


def test_agrees_and_largest_and_fixed():
    case = lab.agrees(A.sign, RHO, lambda phi, rho: 2 * rho)
    np.testing.assert_allclose(case.left, 2 * RHO)
    np.testing.assert_allclose(case.right, 2 / np.pi * np.arcsin(RHO), rtol=1e-12)
    assert lab.largest(A.exp, np.array([-1.0, 0.0])).left == pytest.approx(math.e)
    assert lab.largest(polynomial(0.0, 1.0), np.array([-1.0, 0.5])).left == pytest.approx(1.0)
    fixed = lab.fixed_at(A.exp, -1.0)
    assert (fixed.left, fixed.right) == (pytest.approx(1.0), -1.0)


def test_fixed_points():
    rows = lab.fixed_points().set_index("activation")
    assert rows.loc["sign", "fixed points"] == "−1, 0, 1"
    assert rows.loc["sign", "slope there"] == pytest.approx(2 / math.pi)
    at = rows.loc["gelu", "the attracting one"]
    assert at == pytest.approx(float(lab.by_quadrature(A.gelu.normalized(), np.array([at]))[0]))
    assert 0 < at < 1


def test_partial_sums():
    frame = lab.partial_sums(A.exp, np.array([0.5, 1.0]), [0, 2])
    np.testing.assert_allclose(frame["correlation"], [0.5, 1.0])
    np.testing.assert_allclose(frame["order 0"], math.e * np.expm1([0.5, 1.0]), rtol=1e-11)
    rest = [math.exp(0.5) - 1.625, math.e - 2.5]
    np.testing.assert_allclose(frame["order 2"], math.e * np.array(rest), rtol=1e-10)


def test_taylor_coefficients_are_those_of_the_closed_forms():
    forms = {
        A.exp: lambda r: mpmath.e * mpmath.exp(r),
        A.sin: lambda r: mpmath.sinh(r) / mpmath.e,
        A.cube: lambda r: 9 * r + 6 * r**3,
        A.relu: lambda r: (
            (mpmath.sqrt(1 - r**2) + r * (mpmath.pi - mpmath.acos(r))) / (2 * mpmath.pi)
        ),
        A.sign: lambda r: 2 / mpmath.pi * mpmath.asin(r),
    }
    assert set(forms) == set(lab.TAYLOR)
    for phi, form in forms.items():
        with mpmath.workdps(40):
            expected = [float(c) for c in mpmath.taylor(form, 0, 9)]
        found = [lab.TAYLOR[phi](k) for k in range(10)]
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_squares():
    plain, first = lab.squares(A.cube, 4), lab.squares(A.cube, 4, power=1, lag=1)
    np.testing.assert_allclose(plain.left, [0, 9, 0, 6, 0], atol=1e-13)
    np.testing.assert_allclose(first.left, [0, 0, 3, 0, math.sqrt(6)], atol=1e-13)
    np.testing.assert_array_equal(first.right, [0, 9, 0, 6, 0])


def test_never_falls_sees_a_negative_coefficient_at_the_order_that_shows_it():
    """50 (rho + .. + rho^5) - rho^6: the sixth difference is -6! 0.1^6, the others are positive."""
    dips = lambda phi, rho: 50 * sum(rho**k for k in range(1, 6)) - rho**6  # noqa: E731
    case = lab.never_falls(A.relu, dips)
    assert case.left == pytest.approx(math.factorial(6) * 0.1**6, rel=1e-6)
    assert case.right == pytest.approx(64e-14 * float(dips(A.relu, 0.9)))
    assert lab.never_falls(A.relu, dips, orders=5).left < 0
    assert lab.never_falls(A.relu).left < 0


def test_three_languages_of_a_polynomial():
    phi = polynomial(0.3, -0.5, 0.2, 0.0, 0.0, 0.1)
    numbers = [0.09, 0.39, 0.05]
    case = lab.three_languages(phi, 8)
    np.testing.assert_allclose(case.left, numbers * 2, atol=1e-12)
    # the difference quotient is off by 4 h^4 c_5^2
    np.testing.assert_allclose(case.right, numbers * 2, atol=1e-10)
    assert case.where["distance from a line"] == pytest.approx(0.05)
    other = lab.three_languages(phi, 8, first=1, power=1, end=-1.0).right
    at_minus_one = 0.09 - 0.25 + 0.04 - 0.01
    expected = [0.3, 0.1, -0.2, 0.09, at_minus_one, at_minus_one - 0.09 - 0.25]
    np.testing.assert_allclose(other, expected, atol=1e-10)


def test_three_languages_need_the_tail_of_a_kink():
    """ReLU is a line plus |x|/2, whose distance from a line is (1 - 2/pi)/4."""
    case = lab.three_languages(A.relu, 300)
    numbers = [1 / (2 * math.pi), 0.5, (1 - 2 / math.pi) / 4]
    np.testing.assert_allclose(case.left, numbers * 2, rtol=1e-12)
    np.testing.assert_allclose(case.right, numbers * 2, rtol=1e-6)


@pytest.mark.parametrize(
    "phi", [A.sign, A.step, A.relu, A.selu, A.norm_relu()], ids=lambda phi: phi.name
)
def test_tail_is_what_is_missing(phi):
    order = 800
    missing = phi.second_moment - float(lab.by_series(phi, np.array([1.0]), order)[0])
    assert lab.tail(phi, order) == pytest.approx(missing, rel=0.02)


def test_smooth_activations_have_no_tail():
    assert lab.tail(A.gelu, 10) == 0
