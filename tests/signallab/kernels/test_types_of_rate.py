"""Fits of sequences whose law is known, and the reports on them."""

import numpy as np
import pytest

import signalprop as sp
from signallab.kernels import types_of_rate as lab

A = sp.activations
LAYERS = np.arange(1, 400.0)


@pytest.mark.parametrize("factor", [0.2, 0.9, 0.99])
def test_fit_of_a_geometric_sequence(factor):
    found = lab.fit(3 * factor**LAYERS)
    assert found.factor == pytest.approx(factor, rel=1e-9)
    assert found.errors["geometric"] < 1e-10 < 1e-3 < found.errors["power"]


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_fit_of_a_power(power):
    found = lab.fit(np.concatenate([[9.0], 5 / LAYERS**power]))
    assert found.power == pytest.approx(power, rel=1e-9)
    assert found.errors["power"] < 1e-10 < 1e-3 < found.errors["geometric"]


def test_the_first_half_does_not_enter():
    path = 0.5 ** np.arange(20.0)
    disturbed = path.copy()
    disturbed[:10] = 7
    assert lab.fit(disturbed) == lab.fit(path)


@pytest.mark.slow
def test_distances_end_above_rounding():
    path = lab.distances(sp.KernelMap(A.gelu.normalized()), 2000)
    assert lab.FLOOR <= path.min() < 1.1 * lab.FLOOR
    assert path[0] == pytest.approx(abs(0.5 - 0.760402), abs=1e-6)


def test_fits_takes_sides():
    path = 1 / LAYERS
    right, wrong = lab.fits("", "power", path), lab.fits("", "geometric", path)
    assert right.left < right.right
    assert (wrong.left, wrong.right) == (right.right, right.left)


def test_order():
    case = lab.order("", np.array([1.0, 0.5, 0.3, 0.1]), 2, 1.0)
    assert case.left == pytest.approx(max(0.5, 4 * 0.3, 9 * 0.1))
    assert case.words.endswith("largest in layer 2 of 3")


def test_proven():
    assert lab.proven(sp.KernelMap(A.cube.normalized())) == pytest.approx(1 / 1.4)
    assert lab.proven(sp.KernelMap(A.relu.normalized())) == pytest.approx(1)
    sigmoid = sp.KernelMap(A.sigmoid.normalized())
    assert lab.proven(sigmoid) == pytest.approx(float(sigmoid.derivative(1.0)))


def test_relu_falls_like_the_inverse_square():
    """1 - rho ~ (9 pi^2 / 2) / l^2, from the expansion of the arc-cosine kernel at 1."""
    k = sp.KernelMap(A.relu.normalized())
    path = lab.distances(k, 2000)
    case = lab.order("ReLU", path, 2, 9 * np.pi**2 / 2)
    assert 0.9 < case.left / case.right < 1
    assert lab.fit(path).power == pytest.approx(2, abs=0.05)


def test_rates():
    maps = {name: sp.KernelMap(lab.IN_USE[name].normalized()) for name in ("x³", "exponential")}
    rows = lab.rates(maps, {name: lab.distances(k, 2000) for name, k in maps.items()})
    assert rows["case"].tolist() == [1, 3]
    assert rows["law that fits"].tolist() == ["geometric", "power"]
    np.testing.assert_allclose(rows["factor or power, fitted"], [0.6, 1], rtol=0.01)
    np.testing.assert_allclose(rows["proven rate"], [1 / 1.4, 1], rtol=1e-9)
