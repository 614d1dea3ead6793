"""Both curves of the figure against the chains behind them, and the exact mean square."""

import numpy as np
import pytest

import signalprop as sp
from signallab.meanfield import error_amplification as lab
from signallab.meanfield.error_depth_width_batch import neighbours
from signalprop import activations
from signalprop.limits import gram_fixed_point
from signalprop.random import Stream

STREAM = Stream(13)
BATCH = lab.Batch(3, 25, 6, 4, STREAM)


def test_linear_errors_are_distances_to_the_input():
    path = sp.Chain(25).run(neighbours(3, 0.9), 6, 4, STREAM.child("plain"))
    h = path.states([0, 6]).numpy()
    gram = h @ h.transpose(0, 1, 3, 2) / 25
    expected = np.linalg.norm(gram[:, 1] - gram[:, 0], axis=(1, 2))
    np.testing.assert_allclose(lab.linear_errors(BATCH)[:, 6], expected)


def test_normalized_errors_are_distances_to_the_fixed_point():
    path = sp.Chain(25, before=[sp.BatchNorm(), activations.tanh]).run(
        neighbours(3, 0.9), 6, 4, STREAM.child("normalized", "tanh")
    )
    h = path.states([6])[:, 0]
    y = np.tanh(sp.BatchNorm()(h).numpy())
    goal = gram_fixed_point(activations.tanh, 3).matrix()
    expected = np.linalg.norm(y @ y.transpose(0, 2, 1) / 25 - goal, axis=(1, 2))
    np.testing.assert_allclose(lab.normalized_errors(BATCH, "tanh")[:, 6], expected)


def test_comparison_holds_both():
    frame = lab.comparison(BATCH, ["tanh"])
    assert len(frame) == 2 * 4 * 7
    one = frame.query("network == 'batch norm, tanh' and run == 1 and layer == 5")["error"].item()
    assert one == lab.normalized_errors(BATCH, "tanh")[1, 5]


def test_first_layer_of_the_mean_square_by_hand():
    """One Wishart step: E |G_1 - G_0|^2 = (tr G^2 + (tr G)^2)/d."""
    quotients, average = lab.mean_square(BATCH, 1)
    x = neighbours(3, 0.9)(25, 4, STREAM.child("plain").child("inputs")).numpy()
    gram = x @ x.transpose(0, 2, 1) / 25
    squares = (gram**2).sum(axis=(1, 2))
    traces = np.trace(gram, axis1=1, axis2=2)
    expected = (squares + traces**2) / 25
    assert average == pytest.approx(expected.mean())
    np.testing.assert_allclose(quotients, lab.linear_errors(BATCH)[:, 1] ** 2 / expected)


def test_mean_square_is_one_on_average():
    quotients, _ = lab.mean_square(lab.Batch(3, 60, 10, 6000, STREAM), 10)
    assert abs(quotients.mean() - 1) < 6 * quotients.std() / np.sqrt(6000)


def test_differences_by_hand():
    linear, normal = lab.linear_errors(BATCH), lab.normalized_errors(BATCH, "relu")
    np.testing.assert_array_equal(lab.grows(BATCH, 1, 5, 2.0).left, 2 * linear[:, 1] - linear[:, 5])
    stays = lab.stays(BATCH, "relu", (1, 2), (6, 6), 1.5)
    np.testing.assert_allclose(stays.left, normal[:, 6] - 0.75 * (normal[:, 1] + normal[:, 2]))
    assert stays.right == lab.grows(BATCH, 1, 5).right == 0
