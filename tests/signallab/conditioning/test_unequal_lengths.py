"""Polynomials, series and recursions against closed forms for erf and sine, and quadrature."""

import math

import numpy as np
import pytest
from scipy.special import eval_hermitenorm

import signalprop as sp
from signallab.conditioning import unequal_lengths as lab
from signalprop import theory


def erf_correlation(p, q, rho):
    """E erf(X) erf(Y) = (2/pi) asin(2 cov / sqrt((1 + 2p)(1 + 2q)))."""
    root = np.sqrt((1 + 2 * p) * (1 + 2 * q))
    angles = [np.arcsin(2 * v / (1 + 2 * v)) for v in (p, q)]
    return np.arcsin(2 * np.sqrt(p * q) * rho / root) / np.sqrt(angles[0] * angles[1])


@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_generalized_hermite(gamma):
    z = np.linspace(-2, 3, 7)
    h = lab.generalized_hermite(z, 5, gamma)
    for j in range(6):
        expected = eval_hermitenorm(j, z / np.sqrt(gamma)) / math.sqrt(math.factorial(j))
        np.testing.assert_allclose(h[:, j], expected, rtol=1e-12, atol=1e-12)
    # with the square: Hermite polynomials of variance gamma^2, divided by sqrt(gamma^j j!)
    printed = lab.generalized_hermite(z, 5, gamma, power=2)
    for j in range(6):
        norm = math.sqrt(gamma**j * math.factorial(j))
        expected = gamma**j * eval_hermitenorm(j, z / gamma) / norm
        np.testing.assert_allclose(printed[:, j], expected, rtol=1e-12, atol=1e-12)


def test_lemma_40():
    case = lab.lemma_40(2.0, 0.5, -0.6, 4)
    np.testing.assert_allclose(case.right, np.diag((-0.6) ** np.arange(5)), atol=1e-15)
    np.testing.assert_allclose(case.left, case.right, atol=1e-12)
    printed = lab.lemma_40(2.0, 2.0, 0.5, 2, power=2).left
    # h_2 = (z^2 - 4)/(2 sqrt 2): mean (2 - 4)/(2 sqrt 2)
    assert printed[2, 0] == pytest.approx(-1 / math.sqrt(2))
    assert not lab.lemma_40(1.0, 1.0, 0.5).left[0, 1:].round(12).any()


def test_expansion_of_the_sine():
    """E sin(X) sin(Y) = e^{-(p+q)/2} sinh(cov), over the second moment (1 - e^{-2})/2."""
    p, q, rho = 0.7, 2.0, -0.6
    exact = np.exp(-(p + q) / 2) * np.sinh(rho * np.sqrt(p * q)) / ((1 - np.exp(-2)) / 2)
    case = lab.expansion("sine", p, q, rho)
    np.testing.assert_allclose([case.left, case.right], exact, rtol=1e-11)
    shifted = lab.expansion("sine", p, q, rho, shift=1)
    assert shifted.left == pytest.approx(rho * exact)


@pytest.mark.parametrize("gamma", [0.5, 3.0])
def test_coefficient(gamma):
    """erf: a_1 = sqrt(g) 2 / sqrt(pi (1 + 2g))."""
    first = gamma * 4 / np.pi / (1 + 2 * gamma)
    second = 2 / np.pi * np.arcsin(2 * gamma / (1 + 2 * gamma))
    found = lab.coefficient(lab.ODD["erf"], gamma)
    assert found == pytest.approx(1 - first / second, rel=1e-10)


def test_one_layer():
    case = lab.one_layer("erf", (0.3, 10.0), points=5)
    rho = np.linspace(-0.95, 0.95, 5)
    exact = np.abs(erf_correlation(0.3, 10.0, rho))
    assert (case.left >= exact - 1e-12).all()  # rounded up
    np.testing.assert_allclose(case.left, exact, atol=1e-5)
    mus = [lab.coefficient(lab.ODD["erf"], g) for g in (0.3, 10.0)]
    np.testing.assert_allclose(case.right, theory.cond_lemma_41(rho, *mus), atol=1e-14)


def test_one_layer_refuses_what_is_not_odd(monkeypatch):
    monkeypatch.setitem(lab.ANY_ODD, "relu", sp.activations.relu.normalized())
    assert not lab.one_layer("relu", (1.0, 1.0), points=3).hypotheses["odd"]


@pytest.mark.parametrize("share", [-1.0, 1.0])
def test_near_one_and_first_coefficient(share):
    mu = lab.coefficient(lab.ODD["erf"], 1.0)
    gamma = 1 + share * mu / 4
    case = lab.near_one("erf", share, least=0.6)
    assert case.left == pytest.approx(0.6 * mu)
    assert case.right == pytest.approx(lab.coefficient(lab.ODD["erf"], gamma))
    first = np.sqrt(gamma) * 2 / np.sqrt(np.pi * (1 + 2 * gamma))
    first *= lab.ODD["erf"].scale
    assert lab.first_coefficient("erf", share, squared=False).left == pytest.approx(first)
    squared = lab.first_coefficient("erf", share, squared=True)
    assert squared.left == pytest.approx(first**2)
    assert squared.right == pytest.approx(1 - 0.75 * mu)


@pytest.mark.parametrize("name", ["x/3 + erf", "erf"])
def test_closed_form_and_series_agree(name):
    """The recursion in closed form against one layer of the library's quadrature, twice."""
    rho, norms = lab.paths(name, (0.6, 3.0), [0.8, -0.4], 2)
    lengths = sp.LengthMap(lab.ODD[name])
    p, q = 0.6, 3.0
    before = np.array([0.8, -0.4])
    for layer in (1, 2):
        before = np.asarray(lengths.correlation(p, q, before))
        p, q = float(lengths(p)), float(lengths(q))
        np.testing.assert_allclose(rho[:, layer], before, rtol=1e-10)
        np.testing.assert_allclose(norms[:, layer], [p, q], rtol=1e-10)


def test_paths_by_series():
    rho, _ = lab.paths("softsign", (0.6, 3.0), [0.8, -0.4], 1)
    exact = sp.LengthMap(lab.ODD["softsign"]).correlation(0.6, 3.0, np.array([0.8, -0.4]))
    assert (np.abs(rho[:, 1]) >= np.abs(exact) - 1e-9).all()
    np.testing.assert_allclose(rho[:, 1], exact, atol=1e-8)


def test_huge_norms_stay_finite():
    rho, norms = lab.paths("3x + erf", (1e200, 0.5), [0.5], 3)
    assert np.isfinite(rho).all()
    assert norms[0, 1] / norms[0, 0] == pytest.approx(9 * lab.ODD["3x + erf"].scale ** 2)


def test_waiting():
    angle = math.asin(2 / 3)
    alpha = 2 * math.asin(0.5) / angle - 1
    mu = 1 - 4 / (3 * math.pi) / (2 / math.pi * angle)
    exact = math.log(4 * 4.0 / mu) / alpha
    assert lab.waiting("erf", (0.5, 5.0)) == pytest.approx(exact)
    assert lab.waiting("erf", (0.5, 5.0), inverse=False) == pytest.approx(exact * alpha**2)
    assert lab.waiting("erf", (1.0, 1.0)) == 0


def test_theorem_42():
    mu, wait = lab.coefficient(lab.ODD["erf"], 1.0), lab.waiting("erf", (0.5, 2.0))
    case = lab.theorem_42("erf", (0.5, 2.0), 0.1, extra=30)
    layers = math.ceil(wait) + np.arange(31)
    np.testing.assert_allclose(case.right, theory.cond_b(layers - wait, 0.1, mu / 2))
    rho = lab.paths("erf", (0.5, 2.0), [0.9], int(layers[-1]))[0][0]
    np.testing.assert_array_equal(case.left, rho[layers[0] :])
    sharper = lab.theorem_42("erf", (0.5, 2.0), 0.1, extra=30, sharper=0.5)
    np.testing.assert_allclose(sharper.right, theory.cond_theorem_42_sharper(30, 0.1, mu, 0.5))
    half = lab.theorem_42("erf", (0.5, 2.0), 0.1, extra=3, share=0.5, nu=1.0)
    first = math.ceil(wait / 2)
    np.testing.assert_allclose(half.right, theory.cond_b(first + np.arange(4) - wait / 2, 0.1, mu))
    assert not lab.theorem_42("erf", (0.4, 2.0), 0.1, extra=1).hypotheses[
        "squared norms at least ½"
    ]
    late = lab.theorem_42("erf", (0.5, 2.0), 0.1, start=0.95, extra=1)
    assert not late.hypotheses["correlation at most 1 − δ"]


def test_by_depth():
    rows = lab.by_depth("erf", (0.5, 2.0), 0.1, 40)
    case = lab.theorem_42("erf", (0.5, 2.0), 0.1, extra=31)
    np.testing.assert_allclose(rows["bound"][9:], case.right)
    np.testing.assert_allclose(rows["correlation"][9:], case.left)
    assert rows["bound"][:9].isna().all()


def test_depths():
    rows = lab.depths((0.5, 2.0), 0.1, level=0.3).set_index("activation")
    row = rows.loc["erf"]
    rho = lab.paths("erf", (0.5, 2.0), [0.9], 200)[0][0]
    layer = int(row["layers to 0.3"])
    assert rho[layer] <= 0.3 < rho[layer - 1]
    bound = theory.cond_theorem_42(np.arange(300.0), 0.1, row["μ"], row["L̂"])
    proven = int(row["layers to 0.3, bound"])
    assert bound[proven] <= 0.3 < bound[proven - 1]
