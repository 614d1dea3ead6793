"""Norms by hand, angles and shares entry by entry, and limits beside sampled neurons."""

import numpy as np
import pytest

from signallab.decomposed import sixty_and_seventy_five_degrees as lab
from signalprop.random import Stream

STREAM = Stream(3).child("angles")
X = STREAM.numpy("x").standard_normal((3, 6, 5)) + 0.3
MEAN, RMS, SPREAD, ALONE = lab.NORMS


@pytest.mark.parametrize("norm", lab.NORMS)
@pytest.mark.parametrize("relu", [True, False])
def test_states_after_one_layer(norm, relu):
    (h,) = lab.states(norm, X, 40, [1], STREAM, relu=relu)
    assert h.shape == (3, 6, 40)
    if relu:
        assert h.min() == 0
        return
    means, squares = h.mean(axis=1), (h**2).mean(axis=1)
    if norm in (MEAN, ALONE):
        np.testing.assert_allclose(means, 0, atol=1e-12)
    else:
        assert np.abs(means).max() > 0.1
    if norm in (MEAN, RMS):
        np.testing.assert_allclose(squares, 1)
    elif norm == SPREAD:
        np.testing.assert_allclose(squares - means**2, 1)
    else:
        assert np.ptp(squares) > 0.1


def test_states_are_in_the_order_of_layers():
    both = lab.states(RMS, X, 9, [2, 3], STREAM)
    np.testing.assert_array_equal(both[1], lab.states(RMS, X, 9, [3], STREAM)[0])
    found = lab.by_depth(RMS, X, 9, 4, STREAM, every=2)
    assert found["layer"].tolist() == [2, 2, 2, 4, 4, 4]
    np.testing.assert_allclose(found["median angle"][:3], lab.medians(both[0]))
    assert found["run"].tolist() == [0, 1, 2] * 2


def test_angles_and_mean_cosine_by_loops():
    h = X[0]
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    cosines = [h[i] @ h[j] / np.linalg.norm(h[i]) / np.linalg.norm(h[j]) for i, j in pairs]
    np.testing.assert_allclose(lab.angles(h), np.degrees(np.arccos(cosines)))
    assert lab.medians(X)[0] == pytest.approx(np.median(np.degrees(np.arccos(cosines))))
    assert lab.mean_cosine(X)[0] == pytest.approx(np.mean(cosines))
    with_zero = np.concatenate([h, np.zeros((1, 5))])
    assert lab.mean_cosine(with_zero) == pytest.approx(np.mean(cosines))


def test_activity():
    h = np.array([[[1.0, 0.0], [0.15, 0.0], [0.05, 0.0], [0.0, 0.0], [0.3, 0.0]]])
    active, quiet = lab.activity(h)
    np.testing.assert_allclose(active, [[0.8, 0.0]])
    np.testing.assert_allclose(quiet, [[0.4, 1.0]])
    np.testing.assert_allclose(lab.activity(h, 0.2)[1], [[0.6, 1.0]])


def test_kept_gap_by_hand():
    """Two networks with one busy neuron each way: its deletion takes the whole gap."""
    rng = STREAM.numpy("gap")
    calm = np.eye(8)[None] * rng.uniform(1, 2, size=(1, 1, 8))
    busy = np.concatenate([calm, np.ones((1, 8, 1))], axis=2)
    quiet = np.concatenate([calm, np.zeros((1, 8, 1))], axis=2)
    np.testing.assert_allclose(lab.kept_gap(busy, quiet), 0, atol=1e-12)
    np.testing.assert_allclose(lab.kept_gap(busy, quiet, share=1.1), 1)
    other = lab.kept_gap(busy, quiet, random=Stream(0))  # deletes one neuron, seldom the last
    assert other[0] > 0.5


@pytest.mark.parametrize("n", [4, 9, 30])
def test_the_limit_with_recentring_by_sampling(n):
    z = STREAM.numpy("with", n).standard_normal((400_000, n))
    z = z - z.mean(axis=1, keepdims=True)
    h = np.maximum(z / z.std(axis=1, keepdims=True), 0)
    cosine = (h[:, 0] * h[:, 1]).mean() / (h[:, 0] ** 2).mean()
    assert lab.limit_with(n) == pytest.approx(np.degrees(np.arccos(cosine)), abs=0.6)


def test_the_limit_without_is_kept_by_a_layer():
    rng, c, n = STREAM.numpy("without"), np.cos(np.radians(lab.limit_without())), 400
    u, e = rng.standard_normal((20_000, 1)), rng.standard_normal((20_000, n))
    z = np.sqrt(c) * u + np.sqrt(1 - c) * e
    h = np.maximum(z / np.sqrt((z**2).mean(axis=1, keepdims=True)), 0)
    squares = (h**2).sum(axis=1)
    cross = (h.sum(axis=1) ** 2 - squares).mean() / (n * (n - 1))
    assert cross / (squares.mean() / n) == pytest.approx(c, abs=0.015)


def test_networks_near_their_limits():
    x = STREAM.numpy("wide").standard_normal((2, 60, 20))
    for norm, limit in ((MEAN, lab.limit_with(60)), (RMS, lab.limit_without())):
        (h,) = lab.states(norm, x, 800, [25], STREAM)
        assert np.abs(lab.medians(h) - limit).max() < 4


def test_a_neuron_that_is_active_for_just_the_share_is_deleted():
    h = 0.1 + STREAM.numpy("limit").random(size=(2, 1, 10, 3))
    h[0, 0, 0, 0] = 0  # active for 0.9 of the inputs
    h[:, 0, :5, 1] = h[:, 0, 5:, 2] = h[1, 0, ::2, 0] = 0
    without, recentred = h
    rest = without * [0, 1, 1]
    parts = [lab.mean_cosine(x) for x in (rest, recentred, without)]
    expected = (parts[0] - parts[1]) / (parts[2] - parts[1])
    np.testing.assert_allclose(lab.kept_gap(without, recentred, share=0.9), expected)
