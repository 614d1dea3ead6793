"""Odd point and cluster: the batches constructed, layers drawn by hand, exact moments."""

import numpy as np
import pytest
import torch

import signalprop as sp
from signallab.decomposed import near_invariant as lab
from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(7).child("odd point")


@pytest.mark.parametrize("n", [2, 3, 40])
def test_invariant_satisfies_its_definition(n):
    x = lab.invariant(n)
    np.testing.assert_allclose(lab.relations(x), [1, 1, 0, 0], atol=1e-14)
    assert np.linalg.norm(x[0] - x[1]) == pytest.approx(theory.dec_invariant_radius(n))
    with pytest.raises(ValueError, match="n must be at least 2"):
        lab.invariant(1)


def test_relations_by_hand():
    x = np.array([[3.0, 4.0], [1.0, 0.0], [1.0, 2.0]])
    np.testing.assert_allclose(lab.relations(x), [25, 4 * 2, 2 * 7, 2])


@pytest.mark.parametrize("dimensions", [1, 2, 6])
def test_spread_out_has_the_radius_and_the_spread(dimensions):
    x = lab.spread_out(6, 0.03, STREAM.numpy(dimensions), dimensions, radius=3.0)
    centre = x[1:].mean(axis=0)
    assert x.shape == (6, dimensions)
    assert np.linalg.norm(x[0] - centre) == pytest.approx(3)
    away = np.linalg.norm(x[1:] - centre, axis=1)
    assert away.max() == pytest.approx(0.03)
    assert away.min() < 0.029
    if dimensions > 1:
        np.testing.assert_allclose(centre[:2], [0, 0.2], atol=1e-15)
        angle = lab.spread_out(6, 0.0, STREAM.numpy(0), dimensions)
        np.testing.assert_allclose(angle[:, :2], lab.invariant(6), atol=1e-15)


def test_from_mean_appends_the_centre_of_the_cluster():
    x = STREAM.numpy("x").normal(size=(5, 3))
    found = lab.from_mean(x)
    np.testing.assert_allclose(found[:5].sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found[5], found[1:5].mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found[5], -found[0] / 4, atol=1e-12)  # it lies opposite the odd one


def test_images_are_a_layer_that_recentres_after_the_product():
    x = STREAM.numpy("batch").normal(size=(4, 3)) + 2
    w = STREAM.numpy("w").normal(scale=np.sqrt(2 * 1.5 / 6), size=(1, 3, 6))
    layer = torch.relu(sp.Recenter()(torch.tensor(x @ w[0])))
    centred = x - x.mean(axis=0)
    np.testing.assert_allclose(lab.images(centred, 1.5, 6, 1, STREAM.numpy("w"))[0], layer)


@pytest.mark.parametrize("width", [1, 3, 20])
def test_moments_against_drawn_layers(width):
    u = np.array([[0.6, 0.0, 0.8]])
    y = lab.images(u, 1.0, width, 40_000, STREAM.numpy("moments", width))[:, 0]
    size = np.linalg.norm(y, axis=1)
    for power in (1.0, 2.0, 4.0):
        sample = size**power
        error = sample.std() / 200
        assert abs(sample.mean() - lab.moment(width, power)) < 6 * error


def test_moments_in_closed_form():
    assert lab.moment(1, 1.0) == pytest.approx(np.pi**-0.5)
    assert lab.moment(7, 4.0) == pytest.approx(1 + 5 / 7)  # the squared norm has variance 5/d
    assert lab.moment(1000, 1.0) == pytest.approx(1 - 5 / 8000, abs=2e-6)
