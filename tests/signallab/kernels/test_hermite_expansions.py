"""Hermite polynomials from four sources, and expansions against hand and quadrature."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import special

import signalprop as sp
from signallab.kernels import hermite_expansions as lab


@pytest.mark.parametrize("k", range(7))
def test_definition_is_scipys_polynomial(k):
    expected = special.hermitenorm(k).coeffs
    found = [float(c) for c in lab.definition(k).all_coeffs()]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    physics = [float(c) for c in lab.definition(k, Fraction(1)).all_coeffs()]
    np.testing.assert_allclose(physics, special.hermite(k).coeffs, atol=1e-9)


@pytest.mark.parametrize("x", [Fraction(0), Fraction(3, 4), Fraction(15)])
def test_rational_values_in_long_arithmetic(x):
    found = lab.rational_values(x, 150)
    with mpmath.workdps(60):
        z = mpmath.mpf(x.numerator) / x.denominator
        he = 2 ** mpmath.mpf(-75) * mpmath.hermite(150, z / mpmath.sqrt(2))
        assert found[150] == pytest.approx(float(he / mpmath.sqrt(mpmath.factorial(150))))


@pytest.mark.parametrize("x", [Fraction(0), Fraction(-7, 3), Fraction(10)])
def test_recurrence(x):
    case = lab.recurrence(8)(x)
    np.testing.assert_allclose(case.left, case.right, atol=1e-13)
    wrong = lab.recurrence(8, lambda k: lab.definition(k, sign=1))(x)
    assert (np.abs(wrong.left - wrong.right) > 1e-6).any() == (x != 0)


def test_table_is_the_definition():
    for k in range(5):
        case = lab.table_5_1()(k)
        np.testing.assert_allclose(case.left, case.right, atol=1e-15)
    assert lab.table_5_1()(4).left.tolist()[:5] == [3, 0, -6, 0, 1]
    assert lab.table_5_1()(4).left[7] == pytest.approx(-6 / math.sqrt(24))


def test_product_moments():
    assert [lab.product_moment(k, k) for k in range(6)] == [1, 1, 2, 6, 24, 120]
    assert lab.product_moment(1, 3) == lab.product_moment(2, 5) == 0
    case = lab.orthogonality()(4, 4)
    assert (case.left, case.right) == (24, 24)


@pytest.mark.parametrize("name", ["exp", "relu"])
def test_closed_coefficients_by_quadrature(name):
    nodes, weights = np.polynomial.hermite_e.hermegauss(100)
    weights = weights / weights.sum()
    phi = {"exp": np.exp, "relu": lambda t: np.maximum(t, 0)}[name]
    closed = lab.closed_coefficients(name, 6)
    for k in range(7):
        he = special.hermitenorm(k)(nodes) / math.sqrt(math.factorial(k))
        assert abs((weights * phi(nodes) * he).sum()) == pytest.approx(closed[k], abs=2e-3)
    np.testing.assert_allclose(np.abs(lab.expansion(name, 40)), lab.closed_coefficients(name, 40),
                               atol=1e-13)  # fmt: skip


def test_missing_share_of_relu_is_the_rest_of_its_closed_series():
    rest = (lab.closed_coefficients("relu", 169)[51:] ** 2).sum()
    beyond = float(sp.theory.hermite_tail(169, [0.0, 1.0]))
    assert lab.missing_after("relu", 50) == pytest.approx(rest + beyond, rel=0.01)
    assert lab.jump_of_slope("selu") == pytest.approx(1.0507009873554805 * (1 - 1.6732632423543772))
    assert lab.jump_of_slope("gelu") == 0


def test_tail_passes_and_half_of_it_does_not():
    assert lab.tail(100)("relu").left <= lab.tail(100)("relu").right
    assert lab.tail(100, 0.5)("relu").left > lab.tail(100, 0.5)("relu").right


@pytest.mark.parametrize("rho", [-0.9, 0.0, 0.4])
def test_moments_by_simulation_and_by_hand(rho):
    case = lab.moments(4)(rho)
    np.testing.assert_allclose(case.left, case.right, atol=1e-12)
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal((2, 400_000))
    y = rho * x + math.sqrt(1 - rho**2) * z
    sampled = np.mean((x**2 - 1) * (y**2 - 1)) / 2
    assert sampled == pytest.approx(case.left[2, 2], abs=0.05)


def test_mehler_at_the_origin():
    """Sum of rho^2j C(2j, j) / 4^j is 1/sqrt(1 - rho^2); without the power it has no limit."""
    sums = lab.partial_sums(0.0, 0.0, 0.5, 200)
    assert sums[-1] == pytest.approx(2 / math.sqrt(3))
    printed = lab.partial_sums(0.0, 0.0, 1.0, 2001)
    assert printed[-1] / printed[500] == pytest.approx(2, rel=0.01)
    case = lab.mehler_series()(1.0, -2.0, 0.3)
    assert case.left == pytest.approx(case.right, rel=1e-10)


@pytest.mark.parametrize("y", [Fraction(3), Fraction(-5, 4)])
def test_exact_sum_is_the_kernel_where_doubles_cancel(y):
    x, rho = Fraction(1, 2), Fraction(-9, 10)
    with mpmath.workdps(40):
        a, b, r = (mpmath.mpf(v.numerator) / v.denominator for v in (x, y, rho))
        power = -(r**2 * (a**2 + b**2) - 2 * a * b * r) / (2 * (1 - r**2))
        kernel = float(mpmath.exp(power) / mpmath.sqrt(1 - r**2))
    assert lab.exact_sum(x, y, rho) == pytest.approx(kernel, rel=1e-13)
    off = abs(lab.partial_sums(0.5, float(y), -0.9, lab.TERMS)[-1] / kernel - 1)
    assert (off > 1e-8) == (y == 3)


def test_largest_term():
    """At (1/2, 3) with -0.9: the terms by scipy's polynomials."""
    terms = [
        special.eval_hermitenorm(m, 0.5)
        * special.eval_hermitenorm(m, 3.0)
        * (-0.9) ** m
        / math.factorial(m)
        for m in range(30)
    ]
    assert lab.largest_term(0.5, 3.0, -0.9) == pytest.approx(np.abs(terms).max())
