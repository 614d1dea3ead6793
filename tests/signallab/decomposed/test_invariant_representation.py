"""Quadrature, fractions and draws of the lab against closed forms, networks and one another."""

import numpy as np
import pytest

from signallab.decomposed import invariant_representation as lab
from signallab.decomposed.near_invariant import from_mean, images, invariant, moment
from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(7).child("invariant representation")


def test_definition_and_its_rivals():
    np.testing.assert_allclose(lab.definition(5).left, lab.definition(5).right, atol=1e-14)
    assert lab.definition(5).left[4] == pytest.approx(np.sqrt(17) / 4)
    line = lab.definition(5, line=True).left
    assert line[2] == pytest.approx(1)  # numbers on a line are not orthogonal


def test_relu_moments_in_closed_form():
    assert lab.relu_moment(3.0, 1) == pytest.approx(3 / np.sqrt(2 * np.pi))
    assert lab.relu_moment(3.0, 2) == pytest.approx(4.5)
    assert lab.relu_moment(2.0, 4) == pytest.approx(24)


def test_squared_norms_against_the_moments_of_chi():
    points = [
        {"x": [1.0, 2.0, 2.0], "width": 3, "sigma": 0.5},
        {"x": [4.0], "width": 1, "sigma": 2},
    ]
    found = lab.squared_norms(points, 40_000, STREAM)
    for column, point in zip(found.T, points, strict=True):
        case = lab.squared_norm(**point)
        assert case.left == pytest.approx(case.right)
        error = case.right * np.sqrt((moment(point["width"], 4.0) - 1) / 40_000)
        assert abs(column.mean() - case.right) < 6 * error
    assert lab.squared_norm([1.0], 1, 3.0, factor=1, power=1).right == 3


@pytest.mark.parametrize("n", [2, 3, 17])
def test_centred_geometry_against_doubles(n):
    case = lab.centred_geometry(n)
    centred = from_mean(invariant(n))
    odd, centre = centred[0], centred[n]
    cosine = odd @ centre / np.linalg.norm(odd) / np.linalg.norm(centre)
    expected = [*odd, *centre, odd @ odd, centre @ centre, cosine]
    np.testing.assert_allclose(case.left, expected, atol=1e-14)
    np.testing.assert_allclose(case.right, expected, atol=1e-14)
    assert lab.centred_geometry(n, square=lambda n: 7).right[4] == 7 / n**2


def test_gains():
    np.testing.assert_allclose(lab.gains(6).left, lab.gains(6).right)
    np.testing.assert_allclose(lab.gains(6, alpha=lambda n: 2.0).left, [52 / 36, 52 / 900])
    case = lab.same_gain(6)
    assert case.left == pytest.approx(case.right) == pytest.approx(36 / 26)
    assert lab.same_gain(6, radius=lambda n: 2.0).left == pytest.approx(36 / 100)


@pytest.mark.parametrize(("n", "width"), [(2, 1), (5, 3), (9, 64)])
def test_theorem_13_in_closed_form(n, width):
    matrix = lab.theorem_13(n, width).left
    np.testing.assert_allclose(matrix, [1 / np.pi] * 3 + [0], atol=1e-14)
    squares = lab.theorem_13(n, width, of="the squares").left
    np.testing.assert_allclose(squares, [1, 1, 0, 0], atol=1e-14)


def test_theorem_13_against_drawn_layers():
    """The mean of the matrix over draws, and the relations of each draw."""
    runs, n, width = 60_000, 4, 3
    alpha = theory.dec_theorem_13_alpha(n)
    y = images(from_mean(invariant(n)), alpha, width, runs, STREAM.numpy("matrix"))
    mean = y.mean(axis=0)
    odd = np.sqrt(2 * alpha / width / (2 * np.pi)) * np.sqrt(10 / 16)  # sigma |x~_1| / sqrt(2 pi)
    np.testing.assert_allclose(mean[0], odd, rtol=6 * np.sqrt(np.pi / runs))
    np.testing.assert_allclose(mean[1:], odd / 3, rtol=6 * np.sqrt(np.pi / runs))
    found = lab.drawn(n, width, runs, STREAM)
    error = np.sqrt((moment(width, 4.0) - 1) / runs)
    np.testing.assert_allclose(found[:, :2].mean(axis=0), 1, atol=6 * error)
    np.testing.assert_allclose(found[:, 2:], 0, atol=1e-12)


def test_depth_against_networks_layer_by_layer():
    n, width, runs = 4, 6, 4000
    alpha = theory.dec_theorem_13_alpha(n)
    logs = []
    for run in range(runs):
        rng, x = STREAM.numpy("deep", run), invariant(n)
        for _ in range(3):
            x = images(from_mean(x), alpha, width, 1, rng)[0, :n]
        logs.append(x[0] @ x[0])
    frame = lab.over_depth(n, width, 3, 200_000, STREAM)
    last = frame[frame["layer"] == 3].set_index("over networks")["squared norm"]
    below = np.mean(np.array(logs) < last["median"])
    assert abs(below - 0.5) < 6 * 0.5 / np.sqrt(runs)
    assert last["mean"] == pytest.approx(1, abs=6 * np.sqrt(((1 + 5 / 6) ** 3 - 1) / 200_000))
    assert frame[frame["layer"] == 0]["squared norm"].tolist() == [1, 1]


def test_expected_relations_of_any_batch_against_drawn_layers():
    x, alpha, width, runs = STREAM.numpy("any").normal(size=(5, 3)) + 1, 0.7, 4, 40_000
    y = images(from_mean(x)[[0, 5]], alpha, width, runs, STREAM.numpy("any layer"))
    squares = (y**2).sum(axis=2) * [1, 16]
    expected = lab.expected_relations(x, alpha, width)
    error = expected[:2] * np.sqrt((moment(width, 4.0) - 1) / runs)
    assert (np.abs(squares.mean(axis=0) - expected[:2]) < 6 * error).all()
    assert (y[:, 0] * y[:, 1]).sum(axis=1).max() < 1e-12
    assert expected[2] == pytest.approx(0, abs=1e-12)


def test_a_neuron_is_on_for_the_odd_point_or_for_the_cluster():
    """Two neurons never miss both, so that the odd point vanishes in a quarter of the networks."""
    frame = lab.over_depth(3, 2, 4, 2001, STREAM).query("layer == 4").set_index("over networks")
    assert frame.loc["median", "squared norm"] > 0
