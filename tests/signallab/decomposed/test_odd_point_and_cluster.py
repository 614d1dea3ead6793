"""Shapes by hand, the wide limit against wide networks, and closed forms of the end states."""

import numpy as np
import pytest
import torch

import signalprop as sp
from signallab.decomposed import odd_point_and_cluster as lab
from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(5).child("odd point")


def kappa(rho):
    return (np.sqrt(1 - rho**2) + (np.pi - np.arccos(rho)) * rho) / np.pi


def test_shape_by_hand():
    x = np.array([[1.0, 0], [0, 5], [1, 1], [2, 0]])  # the second point is the longest
    found = lab.shape((x @ x.T)[None])
    assert found["odd"].tolist() == [1]
    np.testing.assert_allclose(found["with odd"], [90])
    np.testing.assert_allclose(found["least with odd"], [45])
    np.testing.assert_allclose(found["among others"], [45])  # 45, 0, 45
    np.testing.assert_allclose(found["widest among others"], [45])
    np.testing.assert_allclose(found["norm ratio"], [5 / np.sqrt(2)])


def test_batches_are_drawn_by_kind():
    x = lab.batches("Gaussian", 4, 3, STREAM, features=6)
    assert x.shape == (3, 4, 6)
    assert not np.array_equal(x[0], x[1])
    with pytest.raises(ValueError, match="kind must be Gaussian or CIFAR-10, got 'MNIST'"):
        lab.batches("MNIST", 4, 3, STREAM)


def test_a_layer_of_infinite_width_by_sampling():
    x = STREAM.numpy("x").standard_normal((5, 4))
    gram, path = lab.wide((x @ x.T)[None], 1, 1)
    w = STREAM.numpy("w").standard_normal((4, 400_000))
    z = np.maximum((x - x.mean(axis=0)) @ w, 0)
    sampled = z @ z.T / np.diag(z @ z.T).max()
    np.testing.assert_allclose(gram[0], sampled, atol=0.01)
    assert path["layer"].tolist() == [0, 1]
    assert path["norm ratio"][0] == pytest.approx(lab.shape(x @ x.T)["norm ratio"])
    assert path["of n - 1"][1] == pytest.approx(lab.shape(gram)["norm ratio"][0] / 4)


def test_networks_near_their_limit():
    x = lab.batches("Gaussian", 6, 20, STREAM, features=3)
    limit = lab.wide(x @ x.swapaxes(1, 2), 3, 3)[1]
    found = lab.networks(x, 1500, 3, STREAM, 3)
    assert found["layer"].unique().tolist() == limit["layer"].unique().tolist() == [0, 3]
    for name in ("among others", "with odd"):
        values = [f[f["layer"] == 3][name].to_numpy() for f in (found, limit)]
        assert np.abs(values[0] - values[1]).mean() < 4


def test_last_layers_are_neighbours_of_one_network():
    x = lab.batches("Gaussian", 4, 2, STREAM)
    found = lab.last_layers(x, 12, 3, STREAM)
    states = sp.Chain(12, sp.he(), lab.LAYERS).run(x, 3, 2, STREAM).states([2, 3])
    np.testing.assert_array_equal(found["points"], states[:, 1])
    np.testing.assert_allclose(found["before"], torch.rad2deg(sp.angles(states[:, 0])))
    np.testing.assert_allclose(found["after"], torch.rad2deg(sp.angles(states[:, 1])))
    assert found["odd"][1] == np.linalg.norm(found["points"][1], axis=-1).argmax()


@pytest.mark.parametrize("n", [3, 5, 12, 30])
def test_the_symmetric_state_in_closed_form(n):
    found = lab.shape(lab.end_state(n, odd=False))
    expected = np.degrees(np.arccos(kappa(-1 / (n - 1))))
    np.testing.assert_allclose(found["among others"], expected, rtol=1e-9)
    assert found["norm ratio"] == pytest.approx(1)


@pytest.mark.parametrize("n", [7, 15, 40])
def test_the_odd_state_is_kept_and_stable(n):
    gram = lab.end_state(n, odd=True)
    np.testing.assert_allclose(theory.dec_infinite_width_map(gram), gram, atol=1e-6)
    found = lab.shape(gram)
    assert found["norm ratio"] > 0.6 * (n - 1)
    assert 0 < found["among others"] < 540 / n
    assert 0 < 90 - found["with odd"] < np.degrees(31.41 / n**3)


def test_no_odd_state_below_seven_points():
    for n in (3, 4, 5, 6):
        assert lab.shape(lab.end_state(n, odd=True))["norm ratio"] < 1.01


def test_cases_of_end_states():
    odd, alike = lab.end_state(8, True)[None], lab.end_state(8, False)[None]
    for gram in (odd, alike):
        assert lab.ends(gram).left[0] == 0
        np.testing.assert_array_equal(lab.ends(gram).right, [0.1])
    gap = lab.shape(alike)["among others"] - lab.shape(odd)["among others"]
    assert lab.ends(alike, states=(True,)).left[0] == pytest.approx(gap[0])
    assert lab.ends(odd, states=(False,)).left[0] == pytest.approx(gap[0])
    case = lab.escaped(np.diag([49.0, 1, 1, 1])[None])
    assert case.left[0] == pytest.approx(1 / 7)
    assert case.right[0] == pytest.approx(1 / 1.8)


def test_collapse_and_its_rivals():
    case = lab.collapse(30)
    assert case.left == pytest.approx(float(lab.shape(lab.end_state(30, True))["among others"]))
    assert case.right == pytest.approx(np.degrees(3 * np.pi / 30))
    assert lab.collapse(30, power=2).right == pytest.approx(np.degrees(3 * np.pi / 900))


@pytest.mark.parametrize("n", [4, 10])
def test_the_multiplier_against_a_derivative(n):
    """The largest eigenvalue of the derivative of the map, on an excess that keeps the symmetry."""

    def step(values):  # norm of point 0, its cosine with others, cosine among others
        long, one, other = values
        gram = np.full((n, n), other)
        gram[0] = gram[:, 0] = one * long
        np.fill_diagonal(gram, 1.0)
        gram[0, 0] = long**2
        next_gram = theory.dec_infinite_width_map(gram)
        scale = np.sqrt(next_gram[1, 1])
        length = np.sqrt(next_gram[0, 0])
        return np.array(
            [length / scale, next_gram[0, 1] / (length * scale), next_gram[1, 2] / scale**2]
        )

    cosine = kappa(-1 / (n - 1))
    point, h = np.array([1.0, cosine, cosine]), 1e-5
    jacobian = np.stack(
        [(step(point + h * e) - step(point - h * e)) / (2 * h) for e in np.eye(3)], axis=1
    )
    largest = np.abs(np.linalg.eigvals(jacobian)).max()
    assert lab.multiplier(n, 20) == pytest.approx(largest, abs=2e-4)


def test_threshold_between_what_stays_and_what_escapes():
    lengths = np.array([1.0, 1.1, 3.0, 5.0])
    assert lab.threshold(12, lengths, 400) == 3.0
    start = np.eye(12)
    for step in range(11, 21):  # the length itself, and not its square, stands in ``lengths``
        start[0, 0] = (step / 10) ** 2
        if lab.shape(lab.wide(start[None], 400)[0])["norm ratio"][0] > 5.5:
            break
    assert lab.threshold(12, np.arange(10, 21) / 10, 400) == step / 10 < 2
    assert np.isnan(lab.threshold(4, lengths, 200))
