"""The reduced map against integrals over an angle, derivatives and plain simulation."""

import numpy as np
import pytest
import torch

from signallab.meanfield import gram_recursion, one_apart
from signalprop import activations
from signalprop.limits import gram_fixed_point, gram_map
from signalprop.random import Stream


def gram_with(ratio, n):
    """A matrix whose recentred part has eigenvalue ``ratio`` on point 1 against the others."""
    e = np.full(n, -1 / np.sqrt(n * (n - 1)))
    e[0] = np.sqrt((n - 1) / n)
    return np.eye(n) + (ratio - 1) * np.outer(e, e)


@pytest.mark.parametrize("ratio", [0.2, 1.0, 7.0])
def test_three_points_by_an_angle(ratio):
    exact = gram_recursion.three_points(gram_with(ratio, 3), activations.tanh)
    np.testing.assert_allclose(one_apart.matrix(activations.tanh, 3, ratio), exact, atol=1e-10)


@pytest.mark.parametrize(("name", "n", "ratio"), [("gelu", 6, 4.0), ("silu", 12, 0.3)])
def test_simulation(name, n, ratio):
    phi = getattr(activations, name)
    mean, error = gram_map(gram_with(ratio, n), phi, 40_000, Stream(1))
    off = np.abs(mean - one_apart.matrix(phi, n, ratio))
    assert (off <= 5.5 * error).all()
    moved = np.abs(mean - one_apart.matrix(phi, n, 1.5 * ratio))
    assert (moved > 5.5 * error).any()


@pytest.mark.parametrize(("name", "n"), [("gelu", 5), ("gelu", 39), ("silu", 26), ("tanh", 10)])
def test_slope_at_one_is_the_multiplier_of_points(name, n):
    phi = getattr(activations, name)
    step = 1e-3
    up, down = (one_apart.next_ratio(phi, n, 1 + sign * step) for sign in (1, -1))
    expected = gram_fixed_point(phi, n).multiplier_points
    assert (up - down) / (2 * step) == pytest.approx(expected, abs=1e-5)
    assert one_apart.next_ratio(phi, n, 1.0) == pytest.approx(1, abs=1e-8)


def test_ratio_is_that_of_the_recentred_matrix():
    gram = one_apart.matrix(activations.gelu, 7, 3.0)
    m = np.eye(7) - 1 / 7
    values = np.linalg.eigvalsh(m @ gram @ m)
    assert one_apart.next_ratio(activations.gelu, 7, 3.0) == pytest.approx(values[-1] / values[1])


def test_branches_are_fixed_and_attract_as_said():
    phi = activations.gelu
    found = one_apart.branches(phi, 36, 1.02, 50.0, points=16)
    assert [attracts for _, attracts in found] == [False, True]
    for ratio, attracts in found:
        assert one_apart.next_ratio(phi, 36, ratio) == pytest.approx(ratio, rel=1e-6)
        nearer = abs(one_apart.next_ratio(phi, 36, 1.01 * ratio) / ratio - 1) < 0.01
        assert nearer == attracts
    assert one_apart.branches(phi, 20, 1.02, 50.0, points=8) == []


@pytest.mark.parametrize(("n", "ratio"), [(2, 1.0), (5, 0.0), (5, float("nan"))])
def test_bad_input_is_named(n, ratio):
    with pytest.raises(ValueError, match="n must be at least 3 and ratio positive"):
        one_apart.entries(torch.tanh, n, ratio)
