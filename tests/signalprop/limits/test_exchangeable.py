import math

import numpy as np
import pytest
import torch

from signalprop import activations
from signalprop.limits import gram_fixed_point, gram_map
from signalprop.limits.exchangeable import GramFixedPoint
from signalprop.random import Stream

STREAM = Stream(0).child("test_fixed_point")
SHIFTED = (lambda u: torch.relu(u - 0.4), (0.4,))
PHIS = {
    "identity": (activations.identity, None),
    "relu": (activations.relu, None),
    "tanh": (activations.tanh, None),
    "gelu": (activations.gelu, None),
    "step": (activations.step, None),
    "shifted relu": SHIFTED,
}


@pytest.mark.parametrize("n", [2, 3, 5, 10, 50])
def test_linear_networks_do_not_reach_the_identity(n):
    # MF 3.3.4 says that G* is the identity. Recentring leaves n - 1 dimensions.
    point = gram_fixed_point(activations.identity, n)
    np.testing.assert_allclose(point.matrix(), (n * np.eye(n) - 1) / (n - 1), atol=1e-12)
    assert point.eigenvalues == (0.0, pytest.approx(n / (n - 1)))
    assert point.condition_number == math.inf
    assert point.contraction == pytest.approx((n - 1) / (n + 1) if n > 2 else 0, abs=1e-11)


@pytest.mark.parametrize("name", PHIS)
@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_integration_and_simulation_agree(name, n):
    phi, kinks = PHIS[name]
    point = gram_fixed_point(phi, n, kinks)
    start = np.stack([point.matrix(), 0.3 * np.eye(n) + 2.0])  # any exchangeable matrix goes there
    mean, error = gram_map(start, phi, samples=100_000, seed=STREAM.child(name, n))
    # 5.5 standard errors: 1e-6 for a whole matrix; the linear diagonal has no error at all.
    assert (np.abs(mean - point.matrix()) <= 5.5 * error + 1e-12).all()


@pytest.mark.parametrize("name", ["relu", "tanh", "shifted relu"])
@pytest.mark.parametrize("n", [3, 6])
def test_eigenvalues_are_those_of_the_matrix(name, n):
    point = gram_fixed_point(PHIS[name][0], n, PHIS[name][1])
    values = np.linalg.eigvalsh(point.matrix())
    ones, contrasts = point.eigenvalues
    np.testing.assert_allclose(values, sorted([ones] + [contrasts] * (n - 1)), atol=1e-12)
    assert point.condition_number == pytest.approx(values[-1] / values[0], rel=1e-9)
    assert sum(count for _, count in point.multipliers) == n * (n + 1) // 2


def exact_map(gram, phi, nodes=400):
    """The Gram map of 3 or 4 points by integrating over the angular central Gaussian density."""
    n = len(gram)
    basis = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]
    angle = 2 * np.pi * np.arange(nodes) / nodes
    if n == 3:
        theta, weight = np.stack([np.cos(angle), np.sin(angle)], axis=-1), 1 / nodes
    else:
        z, weight = np.polynomial.legendre.leggauss(nodes // 4)
        root = np.sqrt(1 - z**2)[:, None]
        parts = [root * np.cos(angle), root * np.sin(angle), z[:, None] + 0 * angle]
        theta = np.stack(parts, axis=-1).reshape(-1, 3)
        weight = np.repeat(weight / 2 / nodes, nodes)
    sigma = basis.T @ gram @ basis
    quadratic = ((theta @ np.linalg.inv(sigma)) * theta).sum(axis=-1)
    density = weight * quadratic ** (-(n - 1) / 2) / np.sqrt(np.linalg.det(sigma))
    y = phi(np.sqrt(n) * theta @ basis.T)
    return (y * density[:, None]).T @ y


@pytest.mark.parametrize("phi", [activations.tanh, activations.gelu, activations.identity])
@pytest.mark.parametrize("n", [3, 4])
def test_multipliers_are_derivatives_of_the_exact_map(phi, n):
    point = gram_fixed_point(phi, n)
    gram = point.matrix()
    if phi is activations.identity:
        gram = gram + 1.0  # its singular direction plays no part
    np.testing.assert_allclose(exact_map(gram, phi), point.matrix(), atol=1e-9)
    recentre = np.eye(n) - 1 / n
    points = recentre @ np.diag([1.0, -1.0] + [0.0] * (n - 2)) @ recentre
    cases = [(points, point.multiplier_points)]
    if n == 4:
        pairs = np.zeros((4, 4))
        pairs[0, 2] = pairs[1, 3] = 1
        pairs[0, 3] = pairs[1, 2] = -1
        cases.append((pairs + pairs.T, point.multiplier_pairs))
    for direction, multiplier in cases:
        step = 1e-4 * direction
        change = (exact_map(gram + step, phi) - exact_map(gram - step, phi)) / 2e-4
        np.testing.assert_allclose(recentre @ change @ recentre, multiplier * direction, atol=1e-6)


def test_small_batches_have_no_pairs_to_move_and_two_points_forget_all():
    two, three = (gram_fixed_point(activations.tanh, n) for n in (2, 3))
    assert (two.multiplier_points, two.multiplier_pairs, two.contraction) == (0, 0, 0)
    assert three.multiplier_pairs == 0 < three.multiplier_points


def test_other_directions_are_forgotten_at_once():
    gram = gram_fixed_point(activations.tanh, 4).matrix()
    v = np.array([0.1, -0.02, 0.05, 0.0])
    moved = 1.3 * gram + v[:, None] + v
    np.testing.assert_allclose(exact_map(moved, activations.tanh), gram, atol=1e-9)


def sampled_multiplier(phi, n, samples, seed):
    """Growth of the deviation of one point in a layer, from common random numbers."""
    point = gram_fixed_point(phi, n)
    recentre = np.eye(n) - 1 / n
    direction = recentre @ np.diag([1.0, -1.0] + [0.0] * (n - 2)) @ recentre
    pair = [point.matrix() + sign * 0.05 * direction for sign in (1, -1)]
    mean, _ = gram_map(np.stack(pair), phi, samples, seed)
    change = recentre @ (mean[0] - mean[1]) @ recentre / 0.1
    return (change * direction).sum() / (direction**2).sum(), point.multiplier_points


@pytest.mark.parametrize(("name", "n"), [("relu", 5), ("gelu", 12), ("step", 6)])
def test_multipliers_with_kinks_and_jumps_agree_with_simulation(name, n):
    phi = PHIS[name][0]
    found, expected = sampled_multiplier(phi, n, 300_000, STREAM.child("slope", name))
    assert found == pytest.approx(expected, abs=0.03)


def test_smooth_non_monotone_activations_lose_their_fixed_point_in_large_batches():
    # Not in MF: the symmetric G* repels single points for GELU from n = 39 on, for SiLU from 26.
    contraction = {
        name: [gram_fixed_point(getattr(activations, name), n).contraction for n in batches]
        for name, batches in {"gelu": (38, 39), "silu": (25, 26), "relu": (39, 1000)}.items()
    }
    for name in ("gelu", "silu"):
        assert contraction[name][0] < 1 < contraction[name][1]
    assert max(contraction["relu"]) < 1


def test_condition_grows_with_the_batch_for_relu_only():
    # MF Eq. 3.9 supposes kappa(G*) = O(1).
    relu = [gram_fixed_point(activations.relu, n).condition_number for n in (50, 100, 200)]
    tanh = [gram_fixed_point(activations.tanh, n).condition_number for n in (50, 100, 200)]
    assert relu[2] / relu[1] == pytest.approx(2, abs=0.02)
    assert tanh[2] / tanh[1] == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    ("phi", "n", "words"),
    [
        (activations.relu, 1, "batch must be at least 2"),
        (lambda u: torch.ones_like(u), 4, "phi is constant"),
        (lambda u: u**2, 2, "phi is constant on normalized batches of 2"),
        (lambda u: u / 0, 4, "finite moments"),
        (lambda u: 1e200 * u, 4, "phi must have squares within float64, got values up to"),
        (lambda u: 1e-200 * u, 4, "phi must have squares within float64, got values up to"),
    ],
)
def test_bad_input_is_named(phi, n, words):
    with pytest.raises(ValueError, match=words):
        gram_fixed_point(phi, n)


def test_small_activations_contract_as_large_ones():
    plain, small = (gram_fixed_point(lambda u, s=s: s * u**3, 3) for s in (1.0, 1e-140))
    assert small.contraction == pytest.approx(plain.contraction, rel=1e-12)
    assert small.diagonal == pytest.approx(1e-280 * plain.diagonal, rel=1e-12)


def test_kinks_are_numbers():
    with pytest.raises(ValueError, match="kinks must be finite"):
        gram_fixed_point(torch.relu, 4, [math.nan])


def test_eigenvalues_and_multiplicities_of_given_numbers():
    point = GramFixedPoint(4, 3.0, 0.5, multiplier_points=0.2, multiplier_pairs=-0.7)
    assert point.matrix().tolist() == (2.5 * np.eye(4) + 0.5).tolist()
    assert (point.eigenvalues, point.condition_number) == ((4.5, 2.5), 1.8)
    assert point.multipliers == [(0.2, 3), (-0.7, 2), (0.0, 5)]
    assert point.contraction == 0.7
    three = GramFixedPoint(3, 3.0, -1.0, multiplier_points=0.2, multiplier_pairs=0.0)
    assert (three.eigenvalues, three.condition_number) == ((1.0, 4.0), 4.0)
    assert three.multipliers == [(0.2, 2), (0.0, 4)]
    for off_diagonal, zero in ((-1 + 1e-13, 0), (1 - 1e-13, 1)):  # up to rounding
        for size in (1e-6, 1.0, 1e6):
            singular = GramFixedPoint(2, size, size * off_diagonal, 0.0, 0.0)
            assert singular.eigenvalues[zero] == 0 < singular.eigenvalues[1 - zero]
            assert singular.condition_number == math.inf
            assert singular.multipliers == [(0.0, 3)]
