"""Bounds of KER beside the iteration of the maps they speak of, and where they fail as printed."""

import math

import numpy as np
import pytest
import torch

from signalprop import activations as A
from signalprop import theory
from signalprop.limits.maps import KernelMap
from tests.signalprop.theory.kernels.paths import DEPTHS, RHO0, paths, random_weights, worst


def potential(rho, gaps):
    return np.abs(rho) / np.where(rho > 0, gaps, 1 + rho)


CENTRED = [A.tanh, A.sin, A.selu, A.sign, A.cube, A.relu, A.gelu, A.exp, A.softplus]


@pytest.mark.parametrize("phi", CENTRED, ids=lambda phi: phi.name)
def test_theorem_5_8_for_activations(phi):
    k = KernelMap(phi.standardized())
    bound = theory.ker_theorem_5_8(RHO0[:, None], DEPTHS, float(k.derivative(0.0)))
    rho, gaps = paths(k)
    assert worst(potential(rho, gaps), bound) <= 1 + 1e-9


def test_theorem_5_8_for_random_maps_and_corollary_5_10():
    for w in random_weights(60, zero=0.0):
        rho, gaps = paths(KernelMap.from_series(w))
        bound = theory.ker_theorem_5_8(RHO0[:, None], DEPTHS, w[1])
        assert worst(potential(rho, gaps), bound) <= 1 + 1e-9
        corollary = theory.ker_corollary_5_10(RHO0[:, None], DEPTHS, w[1])
        right = RHO0 > 0
        assert worst(np.abs(rho[right]), corollary[right]) <= 1 + 1e-9
        # as printed the bound is negative for negative rho0, and so no bound
        assert (corollary[RHO0 < 0] < 0).all()


def test_theorem_5_8_is_attained_in_one_step():
    """kappa = r^2 near r = 1: the potential is divided by 1 + r, hence by 2 = 1 / alpha."""
    k, r = KernelMap.from_series([0.0, 0.0, 1.0]), 1 - 1e-6
    gap = k.complement(1e-6)
    bound = theory.ker_theorem_5_8(r, 1, slope_at_zero=0.0)
    assert (1 - gap) / gap == pytest.approx(bound, rel=1e-5)


def test_corollary_5_10_repaired_bounds_both_signs():
    k = KernelMap.from_series([0.0, 0.9, 0.0, 0.1])
    bound = theory.ker_corollary_5_10_repaired(RHO0[:, None], DEPTHS, 0.9)
    assert (k.approach(RHO0, DEPTHS[-1]) <= bound).all()


def test_kinds_and_bad_input():
    rho0 = torch.tensor([0.5], dtype=torch.float64)
    assert isinstance(theory.ker_theorem_5_8(rho0, 3, 0.5), torch.Tensor)
    assert theory.ker_theorem_5_8(1.0, 3, 0.5) == math.inf
    assert theory.ker_theorem_5_8(np.zeros((2, 1)), np.arange(3), 0.5).shape == (2, 3)
    with pytest.raises(ValueError, match=r"rho must lie in \[-1, 1\]"):
        theory.ker_theorem_5_8(1.5, 3, 0.5)
    with pytest.raises(ValueError, match=r"rho0 must lie in \[-1, 1\]"):
        theory.ker_theorem_5_11_2(-1.5, 3, 0.5)


def test_displays_at_a_point():
    """Potentials of 3 and 1/4, alpha = 2/3: each factor of each display shows."""
    rho0, depth, slope = np.array([-0.75, 0.2]), np.array([2, 0]), 0.5
    assert theory.ker_theorem_5_8_alpha(slope) == pytest.approx(2 / 3)
    np.testing.assert_allclose(theory.ker_potential(rho0), [3, 0.25])
    np.testing.assert_allclose(theory.ker_theorem_5_8(rho0, depth, slope), [4 / 3, 0.25])
    np.testing.assert_allclose(theory.ker_corollary_5_10(rho0, depth, slope), [-4 / 3, 0.25])
    repaired = theory.ker_corollary_5_10_repaired(rho0, depth, slope)
    np.testing.assert_allclose(repaired, [4 / 3, 0.25])
    with pytest.raises(ValueError, match=r"rho must lie in \[-1, 1\], got 1.5"):
        theory.ker_potential([0.0, -1.5])
