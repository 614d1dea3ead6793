"""The coefficient beside closed forms; the table beside power series known from elsewhere."""

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import norm

import signalprop as sp
from signallab.conditioning import coefficient_of_nonlinearity as lab
from signallab.conditioning.reference import ACTIVATIONS


def mean(function):
    return integrate.quad(lambda x: function(x) * norm.pdf(x), -12, 12, points=[0], limit=200)[0]


@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_coefficient(name):
    phi = ACTIVATIONS[name]
    a = mean(lambda x: x * float(phi(x)))
    assert lab.slope(phi) == pytest.approx(a, abs=1e-7)
    case = lab.coefficient(name)
    np.testing.assert_allclose(case.left, 1 - a**2, atol=1e-7)
    np.testing.assert_allclose(case.right, case.left, atol=1e-10)
    assert lab.coefficient(name, power=1).left[0] == pytest.approx(1 - abs(a), abs=1e-7)
    assert lab.coefficient(name, power=1).left[1] == case.left[1]


def test_table_of_coefficients():
    rows = lab.table_of_coefficients().set_index("activation")
    assert rows.loc["ReLU", "1 − a₁², not normalized"] == pytest.approx(0.75)
    assert rows.loc["sine", "μ"] == pytest.approx(1 - 1 / math.sinh(1))
    np.testing.assert_allclose(rows["μ"], 1 - rows["slope of the best line"] ** 2)


def test_best_line():
    x = np.array([-1.0, 2.0])
    rows = lab.best_line(["step", "second Hermite"], x)
    np.testing.assert_allclose(rows["value"][:2], [-1, 1], rtol=1e-12)
    np.testing.assert_allclose(rows["line"][:2], math.sqrt(2 / math.pi) * x, rtol=1e-12)
    np.testing.assert_allclose(rows["line"][2:], 0, atol=1e-12)


def test_duals():
    sine = np.sinh(lab.INSIDE) / math.sinh(1)
    np.testing.assert_allclose(lab.dual("sine").left, sine, rtol=1e-10)
    np.testing.assert_allclose(lab.dual("sine").right, sine, rtol=1e-10)
    slope = np.cosh(lab.INSIDE) / math.sinh(1)
    np.testing.assert_allclose(lab.dual_of_derivative("sine").left, slope, rtol=1e-10)
    np.testing.assert_allclose(lab.dual_of_derivative("sine").right, slope, rtol=1e-10)
    # probabilists' polynomials: a_i = E phi He_i, squared, without the i! that belongs below
    a_3 = mean(lambda x: (x**3 - 3 * x) * math.sin(x)) / math.sqrt(ACTIVATIONS["sine"].scale ** -2)
    wrong = lab.dual("sine", factorials=True).right
    fit = np.polynomial.polynomial.polyfit(lab.INSIDE, wrong, 13)
    assert fit[3] == pytest.approx(a_3**2, rel=0.05)
    assert np.abs(lab.dual("sine", power=1).right - sine).max() > 0.1
    assert np.abs(lab.dual_of_derivative("sine", lag=2).right - slope).max() > 0.1


def test_a_jump_has_no_derivative_that_integrates():
    case = lab.dual_of_derivative("step")
    assert np.abs(case.left).max() == 0
    assert case.right.min() > 0.5


def test_lemma_19():
    for phi in lab.polynomials(20, 6, sp.Stream(1)):
        case = lab.in_range(phi)
        assert all(case.hypotheses.values())
        c = sp.limits.hermite_coefficients(phi, 6)
        assert case.right[0] == pytest.approx(1 - c[1] ** 2, abs=1e-10)
        assert case.left[1] == case.right[0]
    assert not lab.in_range(sp.activations.identity).hypotheses["not linear"]
    assert not lab.in_range(sp.activations.relu).hypotheses["normalized"]
    assert lab.remainder(lab.NEARLY_LINEAR) == pytest.approx(1e-3, rel=1e-9)
    assert all(lab.in_range(lab.NEARLY_LINEAR).hypotheses.values())
    assert lab.in_range(lab.NEARLY_LINEAR, above=0.1, most=0.5).left[0] == 0.1


COLUMNS = ["series", "closed form", "coefficient"]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("row", list(lab.ROWS))
def test_table_mended(row, column):
    case = lab.cell(row, column, mended=True)
    np.testing.assert_allclose(case.left, case.right, atol=1e-10)


def test_what_is_wrong_in_the_table():
    wrong = {
        (row, column)
        for row in lab.ROWS
        for column in COLUMNS
        if not np.allclose(*(vars(lab.cell(row, column))[side] for side in ("left", "right")))
    }
    assert wrong == {("ReLU", "series"), ("exponential", "series"), ("exponential", "closed form")}
    # arccosine kernel by expanding its closed form: the second derivative at 0 is 1 / (2 pi)
    r = np.array([-1e-3, 0, 1e-3])
    second = np.diff(lab.ROWS["ReLU"].closed(r), 2)[0] / 1e-6
    assert second / 2 == pytest.approx(1 / (4 * math.pi), rel=1e-5)
    case = lab.cell("exponential", "closed form")
    np.testing.assert_allclose(case.left / case.right, math.exp(2), rtol=1e-9)


def test_rivals_of_the_table():
    assert lab.cell("ReLU", "series", power=1).right[1] == pytest.approx(0.5)
    assert lab.cell("ReLU", "coefficient", mean=False).right[0] == pytest.approx(0.5)
    with pytest.raises(ValueError, match="column must be"):
        lab.cell("ReLU", "mu")


@pytest.mark.parametrize("c", [-2.5, -1.0, 0.5])
def test_norm_relu(c):
    case = lab.norm_relu(c)
    assert case.left == pytest.approx(case.right, abs=1e-10)
    scale = sp.activations.norm_relu(c).scale
    assert lab.norm_relu(c, below=True).right == pytest.approx(1 - (scale * norm.cdf(c)) ** 2)
    assert lab.norm_relu(c, power=1).right == pytest.approx(1 - scale * norm.sf(c))


def test_norm_relu_numbers():
    case = lab.norm_relu_numbers(-1.5975)
    np.testing.assert_allclose(case.right, [0.005, 0.00005, 0.00005])  # half of the last digit
    np.testing.assert_allclose(case.where["values"], [1.050001, 0.055077, 0.015599], atol=1e-6)
    assert (case.left <= case.right).all()
    assert not (lab.norm_relu_numbers(-1.6).left <= case.right).all()
