"""Shared inputs and kernel matrices: against closed forms and plain eigenvalues."""

import numpy as np
import pytest

import signalprop as sp
from signallab.conditioning import reference


def test_activations_are_normalized_and_nonlinear():
    for phi in reference.ACTIVATIONS.values():
        assert abs(phi.mean) < 1e-12
        assert phi.second_moment == pytest.approx(1, abs=1e-12)
        assert sp.KernelMap(phi).nonlinearity > 0.01


def test_inputs():
    x = reference.directions()
    assert x.shape == (20, 10)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1, rtol=1e-12)
    assert not np.allclose(x, reference.directions(seed=1))
    np.testing.assert_allclose(reference.equicorrelated(3, -0.5).sum(), 0, atol=1e-12)
    assert reference.equicorrelated(2, 0.5)[1, 0] == 0.5
    angle = np.arccos((reference.fan(5)[:-1] * reference.fan(5)[1:]).sum(1))
    np.testing.assert_allclose(angle, np.pi / 5, rtol=1e-12)
    first, second, third = reference.GRAMS.values()
    np.testing.assert_allclose(first, x @ x.T, atol=1e-12)
    assert second[0, 1] == 0.9
    assert third[0, -1] == pytest.approx(-np.cos(np.pi / 12), rel=1e-12)
    assert all((np.diagonal(gram) == 1).all() for gram in reference.GRAMS.values())


@pytest.mark.parametrize(("n", "rho"), [(1, 0.0), (3, -0.6), (3, 1.1)])
def test_equicorrelated_refuses(n, rho):
    with pytest.raises(ValueError, match="rho must lie"):
        reference.equicorrelated(n, rho)


def test_off_diagonal_beside_the_kernel_of_the_library():
    phi = reference.ACTIVATIONS["ReLU"]
    for gram in reference.GRAMS.values():
        for depth, off in zip([1, 5], reference.off_diagonal(gram, phi, [1, 5]), strict=True):
            np.testing.assert_allclose(
                np.eye(len(gram)) + off, sp.nngp(gram, phi, depth), atol=1e-11
            )


def test_excess():
    rng = np.random.default_rng(0)
    off = rng.uniform(-0.1, 0.1, (5, 4, 4))
    off = (off + off.swapaxes(-1, -2)) / 2 * (1 - np.eye(4))
    expected = sp.gram_condition_number(np.eye(4) + off) - 1
    np.testing.assert_allclose(reference.excess(off), expected, rtol=1e-10)
    gram = reference.equicorrelated(10, 0.9)
    assert reference.excess(gram - np.eye(10)) == pytest.approx(9 / 0.1, rel=1e-10)
    assert np.isinf(reference.excess(reference.GRAMS["20 random directions"] - np.eye(20)))
