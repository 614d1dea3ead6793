"""The numbers that decide the cases, by quadrature, closed forms and coefficients."""

import numpy as np
import pytest

import signalprop as sp
from signallab.kernels import common_activations as lab
from signalprop.random import Stream

A = sp.activations
PANELS = {"tanh": A.tanh, "ReLU": A.relu, "exp": A.exp, "GELU": A.gelu}


def test_moments_of_relu_and_exp_by_hand():
    """E relu = 1/sqrt(2 pi), E relu^2 = E relu'^2 = 1/2; E e^X = e^(1/2), E e^2X = e^2."""
    assert lab.moments(A.relu) == pytest.approx((1 / np.pi, 1.0), abs=1e-12)
    assert lab.moments(A.exp) == pytest.approx((np.exp(-1), 1.0), abs=1e-12)


@pytest.mark.parametrize("phi", [A.tanh, A.gelu, A.silu, A.elu, A.selu, A.leaky_relu(0.2), A.sin])
def test_moments_are_the_kernel_at_its_ends(phi):
    kernel = sp.KernelMap(phi.normalized())
    expected = float(kernel(0.0)), float(kernel.derivative(1.0))
    assert lab.moments(phi) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("name", PANELS)
def test_the_labels(name):
    printed = lab.labelled(lab.PRINTED, PANELS)(name)
    repaired = lab.labelled(lab.REPAIRED, PANELS)(name)
    assert repaired.left == repaired.right
    assert (printed.left == printed.right) == (name != "ReLU")


def test_few_coefficients_of_a_kink_fall_short_like_an_inverse_square_root():
    short = [1 - lab.from_coefficients(A.relu, count)[1] for count in (25, 100, 400)]
    assert all(gap > 0 for gap in short)
    slopes = np.diff(np.log(short)) / np.log(4)
    np.testing.assert_allclose(slopes, -0.5, atol=0.06)


def test_the_summary_of_relu():
    row = lab.summary("ReLU", A.relu)
    assert (row["case"], row["angle in the end, °"]) == (3, 0)
    assert row["proven rate"] == pytest.approx(1, abs=1e-12)
    assert row["κ(0)"] == pytest.approx(1 / np.pi)
    assert row["speed"] == "as depth to the power −2"


@pytest.mark.parametrize("phi", [A.tanh, A.relu, A.exp, A.gelu, A.sigmoid])
def test_bounds_that_hold(phi):
    case = lab.distance_against_bound("repaired", 40)(phi, -0.6)
    assert (case.left <= case.right * (1 + 1e-9)).all()


def test_the_printed_bounds():
    """That of case 1 is overtaken by tanh, that of case 4 holds for GELU from a moderate start."""
    tanh = lab.distance_against_bound("printed", 40)(A.tanh, -0.8)
    assert (tanh.left > tanh.right).any()
    gelu = lab.distance_against_bound("printed", 40)(A.gelu, -0.8)
    assert (gelu.left <= gelu.right).all()


def test_networks_follow_the_map():
    phi = A.tanh.normalized()
    found = lab.correlations({"tanh": phi}, 4000, 5, 20, Stream(0), [0, 1, 5])
    expected = sp.KernelMap(phi).iterate(0.5, 5)[[0, 1, 5]]
    assert found["layer"].tolist() == [0, 1, 5]
    np.testing.assert_allclose(found["tanh"], expected, atol=0.02)
