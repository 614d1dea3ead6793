"""Gram matrices by hand and by other routes; statements at points that can be done on paper."""

import math

import numpy as np
import pytest
import torch

import signalprop as sp
from signallab.meanfield import gram_recursion as lab
from signalprop.limits import gram_fixed_point, gram_map
from signalprop.random import Stream

STREAM = Stream(5)


def test_gram_by_hand():
    """Two neurons over three samples: (0, 1, -1) and (2, -1, -1), each brought to norm sqrt 3."""
    h = torch.tensor([[10.0, 2.0], [14.0, -1.0], [6.0, -1.0]], dtype=torch.float64)
    u = np.array([[0, 2**0.5], [1.5**0.5, -(0.5**0.5)], [-(1.5**0.5), -(0.5**0.5)]])
    np.testing.assert_allclose(lab.gram_of("identity")(h), u @ u.T / 2)
    positive = np.maximum(u, 0)
    np.testing.assert_allclose(lab.gram_of("relu")(h), positive @ positive.T / 2)
    goal = np.ones((3, 3))
    off = lab.deviation("relu", goal)(h)
    assert off == pytest.approx(np.sqrt(((positive @ positive.T / 2 - goal) ** 2).sum()))


def test_gram_is_that_of_the_next_layer():
    """h_1 = W y has the covariance y^T y / d, so the Gram matrix of 3.2 with 1/d."""
    x = STREAM.numpy("x").normal(size=(4, 30))
    h = lab.chain("tanh", 30).run(x, 1, 4000, STREAM).final().numpy()
    covariance = np.einsum("rnd,rmd->nm", h, h) / h.shape[0] / 30
    gram = lab.gram_of("tanh")(torch.from_numpy(x)).numpy()
    scale = np.sqrt(2 / (4000 * 30)) * gram.diagonal().max()
    assert np.abs(covariance - gram).max() < 6 * scale


def test_normalized_rivals():
    case = lab.normalized(4, 6, STREAM)
    np.testing.assert_allclose(case.left, case.right, atol=1e-13)
    raw = lab.normalized(4, 6, STREAM, norm=lambda h: h)
    assert np.abs(raw.left - raw.right).max() > 1


def test_whitened_rows_have_unit_variance_only_with_the_right_gram():
    right = lab.whitened_rows("relu", 4, 50, 40, STREAM)
    wrong = lab.whitened_rows("relu", 4, 50, 40, STREAM, center=False)
    assert right.size == wrong.size == 40 * 50 * 4
    assert np.mean(right**2) == pytest.approx(1, abs=6 * np.sqrt(2 / right.size))
    assert abs(np.mean(wrong**2) - 1) > 0.1


@pytest.mark.parametrize("name", ["relu", "tanh"])
def test_three_points_against_simulation(name):
    gram = np.array([[1.0, 0.4, -0.1], [0.4, 2.0, 0.3], [-0.1, 0.3, 0.5]])
    exact = lab.three_points(gram, lab.activation(name))
    mean, error = gram_map(gram, lab.activation(name), 100_000, STREAM)
    assert (np.abs(mean - exact) <= 5.5 * error + 1e-12).all()
    scaled = lab.three_points(5 * gram + 2, lab.activation(name))  # scale and mean are forgotten
    np.testing.assert_allclose(scaled, exact, atol=1e-8)


def test_next_gram_is_the_mean_over_weights():
    grams, expected, before = lab.next_gram("relu", 100, 2000, STREAM)
    error = grams.std(axis=0) / np.sqrt(len(grams))
    assert (np.abs(grams.mean(axis=0) - expected) < 6 * error).all()
    assert (np.abs(before - expected) > 6 * error).any()


def test_recursion_falls_to_the_fixed_point():
    frame = lab.recursion("gelu", {"a": np.diag([1.0, 2.0, 5.0]), "b": np.eye(3)}, 12)
    by = frame.pivot(index="layer", columns="start", values="distance")
    assert by["b"][1] < 1e-12
    point = gram_fixed_point(lab.activation("gelu"), 3)
    start = np.linalg.norm(np.diag([1.0, 2.0, 5.0]) - point.matrix())
    assert by["a"][0] == pytest.approx(start)
    assert by["a"][12] / by["a"][11] == pytest.approx(point.multiplier_points, rel=1e-3)


@pytest.mark.parametrize("n", [2, 3, 7, 50])
def test_closed_form_of_relu(n):
    point = gram_fixed_point(lab.activation("relu"), n)
    assert lab.relu_entries(n) == pytest.approx((point.diagonal, point.off_diagonal), abs=1e-12)
    assert lab.relu_entries(n, lambda _: 0.0)[1] == pytest.approx(1 / (2 * math.pi))


@pytest.mark.parametrize(("name", "n"), [("identity", 5), ("relu", 3), ("tanh", 3), ("silu", 8)])
def test_fixed_point_twice(name, n):
    case = lab.fixed_point_twice(name, n)
    np.testing.assert_allclose(case.left, case.right, atol=1e-9)
    other = lab.fixed_point_twice(name, n, second=torch.sin)
    assert np.abs(other.left - other.right).max() > 1e-3


def test_error_by_layer_measures_to_the_target():
    x = sp.inputs.gaussian_samples(4)
    shared = {"widths": [30, 60], "depth": 3, "runs": 5, "stream": STREAM}
    frame = lab.error_by_layer("relu", x, 4, **shared)
    assert len(frame) == 2 * 5 * 4
    draw = STREAM.child("relu", 4, 60)
    grams = lab.chain("relu", 60).run(x, 3, 5, draw).measure(lab.gram_of("relu")).values
    goal = gram_fixed_point(lab.activation("relu"), 4).matrix()
    one = frame.query("width == 60 and run == 2 and layer == 3")["error"].item()
    assert one == pytest.approx(np.linalg.norm(grams[2, 3] - goal))
    moved = lab.error_by_layer("relu", x, 4, **shared, target=grams[2, 3])
    assert moved.query("width == 60 and run == 2 and layer == 3")["error"].item() < 1e-12


def test_snapshots_are_near_the_fixed_point_and_means_nearer():
    found = lab.snapshots("relu", 4, [200], 20, 100, STREAM)
    goal = gram_fixed_point(lab.activation("relu"), 4).matrix()
    last, mean = (np.linalg.norm(part - goal) for part in found[200])
    assert mean < last < 1
    x, draw = sp.inputs.gaussian_samples(4), STREAM.child("snapshot", "relu", 4, 200)
    grams = lab.chain("relu", 200).run(x, 120, seed=draw).measure(lab.gram_of("relu")).values[0]
    np.testing.assert_array_equal(found[200][0], grams[20])
    np.testing.assert_allclose(found[200][1], sum(grams[21:]) / 100)


def test_linear_statements():
    assert lab.linear_fixed_point(3, lambda n: n / (n - 1) * (np.eye(n) - 1 / n)).left == (
        pytest.approx(np.array([[1, -0.5, -0.5], [-0.5, 1, -0.5], [-0.5, -0.5, 1]]))
    )
    assert lab.linear_limit((1.0, 0.0), 50).left == pytest.approx(0.5)
    assert lab.linear_limit((0.9, 0.1), 1).left == pytest.approx(0.25)  # roots 3 : 1
    assert lab.linear_limit((0.7, 0.2, 0.1), 100).left < 1e-9
    assert lab.linear_limit((0.7, 0.2, 0.1), 0).left == pytest.approx(0.7 - 1 / 3)


@pytest.mark.parametrize(
    ("name", "largest"),
    [("relu", 1), ("tanh", 1), ("selu", 1.7580993408), ("sigmoid", 5e5), ("exp", np.inf)],
)
def test_growth(name, largest):
    assert lab.growth(name, 2.0).left == pytest.approx(largest, rel=1e-6)
    assert lab.growth(name, 2.0).right == 2.0
