"""The plateau against simulated networks, and against the linear network by hand."""

import math

import numpy as np
import pytest

import signalprop as sp
from signallab.meanfield.gram_recursion import error_by_layer
from signallab.meanfield.plateau import plateau
from signalprop.random import Stream

STREAM = Stream(9)


@pytest.mark.parametrize(("name", "n"), [("relu", 5), ("tanh", 8), ("gelu", 12)])
@pytest.mark.parametrize("depth", [0, 2, 12])
def test_simulated_networks(name, n, depth):
    width, runs = 1000, 150
    x = sp.inputs.gaussian_samples(n)
    frame = error_by_layer(name, x, n, [width], depth, runs, STREAM)
    squares = width * frame[frame["layer"] == depth]["error"] ** 2
    error = squares.std() / np.sqrt(runs)
    expected = plateau(name, n, depth, 50_000, STREAM) ** 2
    # 3 %: the sample behind the prediction, and terms of order 1/width
    assert abs(squares.mean() - expected) < 6 * error + 0.03 * expected


def test_linear_network_by_hand():
    """Noise n^2 (n - 2)/(n - 1) on traceless matrices, all multiplied by (n - 1)/(n + 1)."""
    n, rate = 6, 5 / 7
    noise = n**2 * (n - 2) / (n - 1)
    assert plateau("identity", n, 0, 1000, STREAM) ** 2 == pytest.approx(noise, rel=1e-9)
    found = plateau("identity", n, math.inf, 1000, STREAM) ** 2
    assert found == pytest.approx(noise / (1 - rate**2), rel=1e-6)
    two_layers = plateau("identity", n, 1, 1000, STREAM) ** 2
    assert two_layers == pytest.approx(noise * (1 + rate**2), rel=1e-6)


def test_repelling_fixed_points_have_no_plateau():
    assert plateau("gelu", 45, math.inf, 1000, STREAM) == math.inf
    assert plateau("gelu", 45, 20, 1000, STREAM) < math.inf
