"""The chain in many digits against doubles, and rank by elimination against singular values."""

import mpmath
import numpy as np
import pytest

from signallab.rank import many_digits as lab
from signallab.rank.rank_two import layer


@pytest.mark.parametrize("activation", ["identity", "tanh", "sin"])
def test_path_agrees_with_doubles(activation):
    rng = np.random.default_rng(0)
    h, weights = rng.normal(size=(4, 3)), rng.uniform(-1.7, 1.7, (3, 4, 4))
    expected = h
    for w, found in zip(
        weights,
        lab.batch_norm_path(lab.exactly(h), weights, 0.3, activation, 40),
        strict=True,
    ):
        expected = layer(expected, w, 0.3, activation)
        np.testing.assert_allclose(found.astype(float), expected, rtol=1e-9)


def test_without_a_skip_connection():
    rng = np.random.default_rng(1)
    h, w = rng.normal(size=(3, 5)), rng.normal(size=(3, 3))
    (found,) = lab.batch_norm_path(lab.exactly(h), [w], None, "tanh", 40)
    z = w @ np.tanh(h)
    expected = z / np.sqrt((z**2).mean(axis=1, keepdims=True))
    np.testing.assert_allclose(found.astype(float), expected, rtol=1e-12)


@pytest.mark.parametrize(("d", "n", "rank"), [(4, 6, 2), (5, 3, 3), (6, 6, 5), (3, 3, 1)])
def test_rank_by_elimination(d, n, rank):
    rng = np.random.default_rng(2)
    with mpmath.workdps(60):
        h = lab.exactly(rng.normal(size=(d, rank))) @ lab.exactly(rng.normal(size=(rank, n)))
    assert lab.elimination_rank(h, 60) == rank
    assert lab.elimination_rank(lab.exactly(np.diag([1.0, 1e-20, 1e-40])), 60) == 2
    assert lab.elimination_rank(lab.exactly(np.zeros((2, 3))), 60) == 0


def test_exactly_keeps_every_digit():
    with mpmath.workdps(60):
        assert lab.exactly([0.1])[0] - mpmath.mpf(1) / 10 != 0
    assert float(lab.exactly([0.1])[0]) == 0.1
