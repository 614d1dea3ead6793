"""Distances after a layer against the Gram map, quadrature and drawn networks."""

import numpy as np
import pytest
import torch

from signallab.decomposed import cluster_distances as lab
from signallab.decomposed.near_invariant import spread_out
from signalprop import theory
from signalprop.limits.gram_maps import recentred_gram_map
from signalprop.random import Stream

STREAM = Stream(7).child("cluster distances")


def of_gram(gram):
    diagonal = np.diagonal(gram)
    return diagonal[:, None] + diagonal[None] - 2 * gram


def test_squared_distances_by_hand():
    x = np.array([[1.0, 2.0], [4.0, 6.0], [1.0, 2.0]])
    np.testing.assert_allclose(lab.squared_distances(x), [[0, 25, 0], [25, 0, 25], [0, 25, 0]])


@pytest.mark.parametrize("spread", [0.002, 0.3])
def test_image_distances_against_the_gram_map(spread):
    x = spread_out(6, spread, STREAM.numpy("gram"), 5)
    after = recentred_gram_map(torch.tensor(x @ x.T), theory.dec_kernel).numpy()
    centred = x - x.mean(axis=0)
    found = lab.image_distances(lab.squared_distances(x), np.linalg.norm(centred, axis=1))
    np.testing.assert_allclose(found, of_gram(after), atol=1e-13)
    one = lab.one_layer(lab.squared_distances(x))
    expected = of_gram(after) / lab.spread_and_radius(of_gram(after))[1]
    np.testing.assert_allclose(one, expected, atol=1e-12)


def test_image_distances_of_small_angles():
    """Both branches of the angle's series meet, and lose 2 theta / (3 pi) of a squared distance."""
    for theta in (1e-6, 1e-3, 0.0499, 0.0501):
        squared = 4 * np.sin(theta / 2) ** 2
        found = lab.image_distances([[0, squared], [squared, 0]], [1.0, 1.0])[0, 1]
        exact = squared - 2 * (np.sin(theta) - theta * np.cos(theta)) / np.pi
        np.testing.assert_allclose(found, exact, rtol=1e-9 if theta < 0.01 else 1e-12)
        np.testing.assert_allclose(1 - found / squared, 2 * theta / (3 * np.pi), rtol=2e-3)
    zero = lab.image_distances([[0.0, 4.0], [4.0, 0.0]], [0.0, 2.0])
    np.testing.assert_allclose(zero, [[0, 4], [4, 0]])


def test_spread_and_radius_against_points():
    x = STREAM.numpy("points").normal(size=(7, 3))
    centre = x[1:].mean(axis=0)
    spread, square = lab.spread_and_radius(lab.squared_distances(x))
    assert spread == pytest.approx(((x[1:] - centre) ** 2).sum(axis=1).mean())
    assert square == pytest.approx(((x[0] - centre) ** 2).sum())


def test_followed_is_one_layer_again_and_again():
    x = spread_out(8, 0.01, STREAM.numpy("followed"), 4)
    squared = lab.squared_distances(3 * x)
    spread, square = lab.spread_and_radius(squared)
    path = lab.followed(x, 2)
    assert path[0] == pytest.approx(np.sqrt(spread / square))
    for step in (1, 2):
        squared = lab.one_layer(squared)
        assert path[step] == pytest.approx(np.sqrt(lab.spread_and_radius(squared)[0]))


@pytest.mark.parametrize(("n", "q"), [(4, 0.3), (9, 1e-3), (9, 1.0)])
def test_symmetric_step_against_the_matrix(n, q):
    squared = np.full((n, n), q)
    squared[0], squared[:, 0] = 1, 1
    np.fill_diagonal(squared, 0)
    after = lab.one_layer(squared)
    assert lab.symmetric_step(n, q) == pytest.approx(after[1, 2] / after[0, 1])
    spread, square = lab.spread_and_radius(squared)
    size = np.sqrt(spread / square)
    factor = np.sqrt(lab.spread_and_radius(after)[0]) / size
    assert lab.spread_growth(n, np.array([size * n**2]))[0] == pytest.approx(factor)


def test_growth_of_narrow_clusters_is_the_gain_of_theorem_13():
    for n in (5, 50):
        factor = lab.spread_growth(n, np.array([1e-4]))[0]
        assert factor**2 == pytest.approx(theory.dec_theorem_13_alpha(n), rel=1e-4)


@pytest.mark.parametrize("n", [7, 12])
def test_rest_is_where_random_clusters_end(n):
    x = spread_out(n, 0.2 / n**2, STREAM.numpy("rest", n), n + 2)
    assert lab.followed(x, 60 * n)[-1] == pytest.approx(lab.rest(n), rel=1e-6)
    assert lab.spread_growth(n, n**2 * np.array([lab.rest(n)]))[0] == pytest.approx(1, abs=1e-9)


def test_few_points_have_no_rest_and_many_the_limit():
    assert np.isnan([lab.rest(n) for n in (3, 4, 5, 6)]).all()
    frame = lab.rest_of_many([1000, 4000])
    gap = np.abs(frame["times n^2"] / frame["limit"] - 1)
    assert gap[1] < 0.3 * gap[0] < 0.3 * 2e-3
    np.testing.assert_allclose(frame["times n^2"], frame["n"] ** 2 * frame["spread over R"])


def test_networks_against_explicit_weights_and_infinite_width():
    x, width, runs = spread_out(5, 0.05, STREAM.numpy("finite"), 3), 30, 2000
    rng, logs = STREAM.numpy("explicit"), []
    for _ in range(runs):
        y = x.T
        for _ in range(2):
            y = np.maximum(rng.normal(size=(width, len(y))) @ (y - y.mean(axis=1)[:, None]), 0)
        spread, square = lab.spread_and_radius(lab.squared_distances(y.T))
        logs.append(np.log(spread / square) / 2)
    frame = lab.networks(x, width, 2, runs, STREAM)
    found = np.log(frame[frame["layer"] == 2]["spread"])
    error = np.hypot(np.std(logs), found.std()) / np.sqrt(runs)
    assert abs(found.mean() - np.mean(logs)) < 6 * error
    wide = lab.networks(x, 4000, 3, 40, STREAM)
    means = wide.groupby("layer")["spread"].mean()
    np.testing.assert_allclose(means, lab.followed(x, 3), rtol=0.02)
