"""The plateau against simulated networks, and against the linear network by hand."""

import math

import numpy as np
import pytest

import signalprop as sp
from signallab.meanfield.gram_recursion import error_by_layer, three_points
from signallab.meanfield.plateau import plateau
from signalprop.limits import gram_fixed_point
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


@pytest.mark.parametrize("name", ["tanh", "gelu"])
@pytest.mark.parametrize("depth", [1, 5])
def test_three_samples_by_the_whole_derivative(name, depth):
    """The map of all nine entries, differentiated numerically, and the noise by an angle."""
    phi = getattr(sp.activations, name)
    goal, step = gram_fixed_point(phi, 3).matrix(), 1e-5
    gram = goal + 1.0  # moves only what recentring forgets: keeps the map regular
    columns = []
    for i, j in np.ndindex(3, 3):
        change = np.zeros((3, 3))
        change[i, j] += step / 2
        change[j, i] += step / 2
        up, down = (three_points(gram + sign * change, phi) for sign in (1, -1))
        columns.append(((up - down) / (2 * step)).ravel())
    derivative = np.stack(columns, axis=1)
    angle = 2 * np.pi * np.arange(2000) / 2000
    basis = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    y = phi(np.sqrt(3) * np.stack([np.cos(angle), np.sin(angle)], axis=1) @ basis)
    noise = (y[:, :, None] * y[:, None] - goal).reshape(-1, 9)
    term = noise.T @ noise / 2000
    total = np.trace(term)
    for _ in range(depth):
        term = derivative @ term @ derivative.T
        total += np.trace(term)
    found = plateau(name, 3, depth, 200_000, STREAM) ** 2
    assert found == pytest.approx(total, rel=0.02)  # the sample of 200 000


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
