import numpy as np
import pytest
import torch

from signalprop import activations
from signalprop.limits import (
    KernelMap,
    LengthMap,
    gram_fixed_point,
    gram_map,
    gram_path,
    recentred_gram_map,
)
from signalprop.random import Stream

STREAM = Stream(0).child("test_sampling")


def correlated(n, rho):
    return (1 - rho) * np.eye(n) + rho + np.diag(np.linspace(0, 1, n))


def test_two_points_are_known_exactly():
    # u = (1, -1) or (-1, 1), whatever the Gram matrix.
    mean, error = gram_map(correlated(2, 0.9), activations.relu, 10_000, STREAM.child("two"))
    assert mean[0, 1] == error[0, 1] == 0
    np.testing.assert_allclose(np.diag(mean), 0.5, atol=6 * error[0, 0])
    assert error[0, 0] == pytest.approx(0.5 / 100, rel=0.01)


def test_it_is_what_a_wide_layer_does():
    n, width = 4, 40_000
    gram, generator = correlated(n, 0.5), STREAM.numpy("layer")
    h = generator.normal(size=(width, n)) @ np.linalg.cholesky(gram).T
    normalized = (h - h.mean(axis=1, keepdims=True)) / h.std(axis=1, keepdims=True)
    y = np.maximum(normalized, 0)
    mean, error = gram_map(gram, activations.relu, width, STREAM.child("map"))
    assert (np.abs(y.T @ y / width - mean) <= 5.5 * np.sqrt(2) * error + 1e-12).all()


def test_standard_errors_are_the_spread_over_seeds():
    gram = correlated(3, 0.2)
    means, errors = zip(
        *(gram_map(gram, activations.tanh, 500, STREAM.child(i)) for i in range(400)), strict=True
    )
    np.testing.assert_allclose(np.std(means, axis=0), np.mean(errors, axis=0), rtol=0.25)


def test_scale_shift_and_permutation_of_points():
    gram, kwargs = correlated(4, 0.3), {"samples": 20_000, "seed": STREAM.child("symmetry")}
    v = np.array([0.3, 0.0, -0.1, 0.2])
    plain, error = gram_map(gram, activations.relu, **kwargs)
    for other in (7 * gram, gram + 1, gram + v[:, None] + v):
        moved, _ = gram_map(other, activations.relu, **kwargs)
        assert (np.abs(moved - plain) <= 8 * error).all()
    order = [2, 0, 3, 1]
    permuted, _ = gram_map(gram[np.ix_(order, order)], activations.relu, **kwargs)
    assert (np.abs(permuted - plain[np.ix_(order, order)]) <= 8 * error).all()


def test_leading_dimensions_share_their_draws():
    grams = np.stack([correlated(3, 0.1), correlated(3, 0.8)])
    both, _ = gram_map(grams, activations.relu, 1000, STREAM)
    for gram, mean in zip(grams, both, strict=True):
        np.testing.assert_allclose(gram_map(gram, activations.relu, 1000, STREAM)[0], mean)


@pytest.mark.parametrize("phi", [activations.relu, activations.tanh])
def test_paths_reach_the_fixed_point_at_its_rate(phi):
    point = gram_fixed_point(phi, 4)
    starts = np.stack([correlated(4, 0.7), point.matrix()])
    path = gram_path(starts, phi, depth=18, samples=100_000, seed=STREAM.child("path"))
    assert path.shape == (19, 2, 4, 4)
    np.testing.assert_allclose(path[-1], np.stack([point.matrix()] * 2), atol=0.02)
    # Both paths share their draws, so that their distance falls far below the sampling error.
    distance = np.linalg.norm(path[:, 0] - path[:, 1], axis=(1, 2))
    rate = (distance[18] / distance[8]) ** (1 / 10)
    assert rate == pytest.approx(point.contraction, abs=0.05)


def test_singular_and_float32_input():
    gram = torch.ones(3, 3) + torch.outer(torch.arange(3.0), torch.arange(3.0))
    mean, error = gram_map(gram, torch.tanh, 1000)
    assert mean.dtype == error.dtype == torch.float64  # theory is
    assert torch.isfinite(mean).all()


@pytest.mark.parametrize(
    ("gram", "words"),
    [
        (np.ones((3, 3)), "points that differ"),
        (np.zeros((3, 3)), "points that differ"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "positive semi-definite"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), "symmetric"),
        (1e-9 * np.array([[1.0, 0.5], [0.0, 1.0]]), "symmetric"),
        (np.eye(1), "n >= 2"),
        (np.ones((2, 3)), "n >= 2"),
        (np.full((2, 2), np.nan), "gram must be finite"),
    ],
)
def test_bad_gram_matrices_are_named(gram, words):
    with pytest.raises(ValueError, match=words):
        gram_map(gram, activations.relu, 100)


def test_bad_sizes_are_named():
    with pytest.raises(ValueError, match="samples"):
        gram_map(np.eye(2), activations.relu, 1)
    with pytest.raises(ValueError, match="depth"):
        gram_path(np.eye(2), activations.relu, -1)
    assert gram_path(np.eye(2), activations.relu, 0).shape == (1, 2, 2)


@pytest.mark.parametrize("phi", [activations.relu, activations.leaky_relu(-0.4)])
def test_recentred_map_is_what_a_wide_layer_does_entry_by_entry(phi):
    """By two-dimensional quadrature at unequal lengths, which knows nothing of homogeneity."""
    x = STREAM.numpy("points").normal(size=(4, 6))
    x[3] = x[:3].mean(axis=0)  # at the mean: its entries are zero
    centred = x[:3] - x.mean(axis=0)
    squares = (centred**2).sum(axis=1)
    cosines = centred @ centred.T / np.sqrt(np.outer(squares, squares))
    expected = LengthMap(phi).covariance(squares[:, None], squares, cosines.clip(-1, 1))
    found = recentred_gram_map(x @ x.T, KernelMap(phi))
    np.testing.assert_allclose(found[:3, :3], expected, atol=1e-12)
    np.testing.assert_allclose(found[3], 0, atol=1e-6)  # the root of what rounding leaves


def test_recentred_map_of_equal_points_is_refused():
    grams = np.stack([np.eye(2), np.ones((2, 2))])
    with pytest.raises(ValueError, match="gram must have points that differ"):
        recentred_gram_map(grams, lambda rho: rho)
    centred = recentred_gram_map(np.diag([1.0, 2.0, 3.0]), lambda rho: rho)
    projection = np.eye(3) - 1 / 3
    np.testing.assert_allclose(centred, projection @ np.diag([1.0, 2.0, 3.0]) @ projection)


@pytest.mark.parametrize("draws", [2, 7])
def test_mean_and_standard_error_are_those_of_the_products(draws):
    """From the normalized batches themselves, which the activation sees."""
    seen = []

    def phi(u):
        seen.append(u)
        return torch.relu(u)

    mean, error = gram_map(correlated(3, 0.4), phi, draws, STREAM.child("few"))
    batches = seen[0].numpy()
    assert batches.shape == (draws, 3)
    np.testing.assert_allclose(batches.mean(axis=1), 0, atol=1e-14)
    np.testing.assert_allclose(batches.std(axis=1), 1, rtol=1e-13)
    y = np.maximum(batches, 0)
    products = y[:, :, None] * y[:, None]
    np.testing.assert_allclose(mean, products.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(
        error, products.std(axis=0, ddof=1) / np.sqrt(draws), rtol=1e-7, atol=1e-8
    )


def test_200_000_draws_of_seed_zero_if_nothing_is_said():
    said = {"samples": 200_000, "seed": 0}
    for found, expected in zip(
        gram_map(np.eye(2), torch.relu), gram_map(np.eye(2), torch.relu, **said), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    path = gram_path(np.eye(2), torch.relu, 1)
    np.testing.assert_array_equal(path, gram_path(np.eye(2), torch.relu, 1, **said))


@pytest.mark.parametrize(("share", "good"), [(0.97, True), (1.03, False)])
def test_what_rounding_to_float32_may_do_is_forgiven(share, good):
    """A millionth of the largest entry: beside the diagonal, and below zero."""
    skew, negative = 4 * np.eye(3), np.diag([4.0, 1.0, -4e-6 * share])
    skew[0, 1] = 4e-6 * share
    for gram, words in ((skew, "symmetric"), (negative, "positive semi-definite")):
        for batch in (gram, np.stack([np.eye(3), gram])):
            if good:
                assert np.isfinite(gram_map(batch, torch.tanh, 10)[0]).all()
            else:
                with pytest.raises(ValueError, match=words):
                    gram_map(batch, torch.tanh, 10)


@pytest.mark.parametrize(("share", "good"), [(0.5, False), (2.0, True)])
def test_points_that_differ_by_rounding_alone_do_not_differ(share, good):
    gram = 4 * np.ones((2, 2)) + np.diag([0.0, 8e-12 * share])  # its variance is a quarter of that
    gram = gram + np.diag([8e-12 * share, 0.0])
    if good:
        gram_map(gram, torch.tanh, 10)
    else:
        with pytest.raises(ValueError, match="points that differ"):
            gram_map(gram, torch.tanh, 10)


def test_cosines_that_rounding_takes_beyond_1_are_1():
    """The points 1, 1, -2 of a line, with 1e-7 too much between two of them."""
    gram = np.outer([1.0, 1.0, -2.0], [1.0, 1.0, -2.0])
    gram += 1e-7 * np.array([[0, 1, -1], [1, 0, -1], [-1, -1, 2]])
    seen = []
    recentred_gram_map(gram, lambda rho: seen.append(rho) or rho)
    assert (float(seen[0].max()), float(seen[0].min())) == (1, -1)
