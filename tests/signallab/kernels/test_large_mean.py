"""Rates towards 1 against recursions by hand and constants known in closed form."""

import numpy as np
import pytest

import signalprop as sp
from signallab.kernels import families
from signallab.kernels import large_mean as lab

A = sp.activations
EXP = sp.KernelMap(A.exp.normalized())  # exp(rho - 1)
RELU = sp.KernelMap(A.relu.normalized())


def test_geometric_by_hand():
    k = sp.KernelMap.from_series([0.5, 0.25, 0.25])  # slope 0.75 at 1
    layers = np.array([0, 2])
    np.testing.assert_allclose(lab.geometric()(-0.5, layers, k), 1.5 * 0.75**layers)
    np.testing.assert_allclose(lab.geometric(0.9, 1)(0.5, layers, k), 0.5 * 0.675 ** (layers + 1))


def test_constants_of_exp_and_relu():
    """exp: kappa(0) = kappa'(0) = 1/e, kappa''(1)/2 = 1/2. ReLU: 1/pi and 1/2."""
    assert lab.printed_3(EXP, 0.0) == pytest.approx(1 - 2 / np.e, abs=1e-12)
    assert lab.printed_3(RELU, 0.0) == pytest.approx(0.5 - 1 / np.pi, abs=1e-12)
    assert lab.sharper_3(EXP, 0.0) == pytest.approx(1 / np.e, abs=1e-12)
    assert lab.sharper_3(EXP, -0.5) == pytest.approx(1 - 2 / np.e, abs=1e-12)
    assert lab.sharper_3(RELU, -0.5) == pytest.approx(0.5 - 1 / np.pi, abs=1e-12)
    cubic = sp.KernelMap.from_series([0.08, 0.9, 0, 0, 0, 0.02])
    assert lab.sharper_3(cubic, -0.5) == pytest.approx(0.04)  # half of kappa(0), twice alpha
    assert lab.late(EXP) == pytest.approx(0.5, abs=2e-4)


@pytest.mark.parametrize("k", [EXP, RELU])
def test_growth_in_g(k):
    """One layer adds g/(1 - g x) to the inverse distance x, with g = (kappa - rho)/(1 - rho)^2."""
    rho = np.linspace(-0.9, 0.9, 19)
    g = (k(rho) - rho) / (1 - rho) ** 2
    trial = families.Trial("", k, rho, 1, case=3)
    case = lab.grows_by(trial, lambda _, start: g / (1 - g * (1 - start)))
    assert case.left / case.right == pytest.approx(1, abs=1e-10)


def test_grows_by_is_the_printed_bound():
    """The quadratic from 0 after two layers: distances 1, 1/2, 3/8."""
    trial = families.Trial("", sp.KernelMap.from_series([0.5, 0, 0.5]), np.array([0.0]), 2, case=3)
    case = lab.grows_by(trial, lambda k, start: np.array([1.0]))
    assert (case.left, case.right) == (2, pytest.approx(8 / 3 - 1))
    assert case.words.endswith("in layer 2")


def test_slopes_towards_one():
    rows = lab.slopes_towards_one({"sigmoid": sp.KernelMap(A.sigmoid.normalized())}, 0.0, 20)
    assert rows["factor of the last layer"][0] == pytest.approx(rows["κ′(1)"][0], rel=1e-9)


def test_around_critical():
    """sin plus c: kappa = (c^2 + sinh(rho)/sinh(1))/(1 + c^2), iterated here."""
    rows = lab.around_critical(A.sin, [0.5, 2.0], 3)
    for share, part in rows.groupby("share of the critical mean"):
        c2, rho, expected = share**2 * (1 / np.tanh(1) - 1), 0.0, []
        for _ in range(4):
            expected.append(1 / (1 - rho))
            rho = (c2 + np.sinh(rho) / np.sinh(1)) / (1 + c2)
        np.testing.assert_allclose(part["inverse distance to 1"], expected, rtol=1e-11)
