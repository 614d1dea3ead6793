"""Kernels on the sphere beside closed forms and simulation."""

import math

import numpy as np
import pytest

import signalprop as sp
from signallab.conditioning.reference import ACTIVATIONS, off_diagonal
from signallab.conditioning.zonal import harmonics, zonal


@pytest.mark.parametrize("dimension", [3, 10])
def test_harmonics_are_the_eigenspaces(dimension):
    """Degrees up to j span the polynomials of degree j on the sphere: two consecutive binomials."""
    total = sum(harmonics(dimension, j) for j in range(7))
    assert total == math.comb(dimension + 5, 6) + math.comb(dimension + 4, 5)


def test_eigenvalues_of_a_square():
    """In ten dimensions E t^2 = 1/10 and E t^4 = 3 / (10 12); the trace is k(1) = 1."""
    kernel = zonal(sp.activations.hermite(2), 1, 10)
    assert kernel.eigenvalues[0] == pytest.approx(0.1)
    assert kernel.square == pytest.approx(3 / 120)
    assert kernel.eigenvalues[2] * harmonics(10, 2) == pytest.approx(0.9)
    assert kernel.rest < 1e-28


def test_the_sum_of_all_squares_is_the_mean_square():
    kernel = zonal(ACTIVATIONS["ReLU"], 12, 3)
    kept = sum(v**2 * harmonics(3, j) for j, v in enumerate(kernel.eigenvalues))
    assert kept + kernel.rest == pytest.approx(kernel.square)


@pytest.mark.parametrize(("dimension", "layers"), [(3, 3), (3, 12), (10, 5)])
def test_second_moment_beside_fresh_points(dimension, layers):
    rng = np.random.default_rng(0)
    phi = ACTIVATIONS["ReLU"]
    points = rng.standard_normal((4, dimension))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    fresh = rng.standard_normal((100_000, dimension))
    fresh /= np.linalg.norm(fresh, axis=1, keepdims=True)
    values = np.asarray(sp.KernelMap(phi).iterate(fresh @ points.T, layers, [layers]))[..., 0]
    products = values[:, :, None] * values[:, None, :]
    deviation = products.std(0) / math.sqrt(len(fresh))
    found, error = zonal(phi, layers, dimension).second(points @ points.T)
    assert (np.abs(found - products.mean(0)) <= error + 5 * deviation).all()
    assert (error <= 0.2 * found.max()).all()


def test_error_of_the_second_moment_is_that_at_half_the_angle():
    kernel = zonal(ACTIVATIONS["ReLU"], 25, 3)
    rho = 0.9
    _, error = kernel.second(np.array([[1.0, rho], [rho, 1.0]]))
    within = kernel.peak[kernel.angle <= math.acos(rho) / 2]
    assert error[0, 1] == pytest.approx(min(kernel.rest, 2 * kernel.mean * within[-1]), rel=1e-12)
    assert error[0, 1] < kernel.rest


def test_deep_needle():
    """Deep in the network the needle is seen: k = 1/2 at 1 - t of about slope^-layers."""
    phi = ACTIVATIONS["ReLU"]
    slope = float(sp.KernelMap(phi).derivative(1.0))
    one, two = (zonal(phi, layers, 3).needle for layers in (80, 100))
    assert one / two == pytest.approx(slope**20, rel=0.1)


def test_values_agree_with_plain_iteration():
    phi, rho = ACTIVATIONS["ReLU"], 0.3
    gram = np.array([[1.0, rho], [rho, 1.0]])
    plain = off_diagonal(gram, phi, [6])[0, 0, 1]
    kernel = zonal(phi, 6, 3)
    found = sum(
        v * harmonics(3, j) * np.polynomial.legendre.Legendre.basis(j)(rho)
        for j, v in enumerate(kernel.eigenvalues)
    )
    assert found == pytest.approx(plain, abs=np.abs(kernel.peak[0]))
    assert abs(found - plain) < 0.02
