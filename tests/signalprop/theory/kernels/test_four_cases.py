"""Bounds of KER beside the iteration of the maps they speak of, and where they fail as printed."""

import math

import numpy as np
import pytest
import torch

from signalprop import activations as A
from signalprop import theory
from signalprop.limits.maps import KernelMap
from signalprop.limits.power_series import pair_series, random_series, with_constant
from signalprop.random import Stream

DEPTHS = np.arange(41)
RHO0 = np.concatenate([[-1 + 1e-8, -0.9999], np.linspace(-0.98, 0.98, 21), [0.9999, 1 - 1e-8]])


def paths(k):
    """Return ``rho_l`` and ``1 - rho_l``, each in the variable that has its digits."""
    gaps = k.iterate_complement(1 - RHO0, DEPTHS[-1])
    return np.where(gaps < 0.5, 1 - gaps, k.iterate(RHO0, DEPTHS[-1])), gaps


def potential(rho, gaps):
    return np.abs(rho) / np.where(rho > 0, gaps, 1 + rho)


def worst(measured, bound):
    """Return the largest ratio among values that rounding did not make."""
    measured, bound = np.broadcast_arrays(measured, bound)
    large = measured > 1e-13
    return (measured[large] / bound[large]).max()


def random_weights(count, zero=None):
    rng = Stream(7).numpy()
    for _ in range(count):
        w = rng.dirichlet(np.full(rng.integers(3, 40), rng.choice([0.1, 0.3, 1.0])))
        if zero is not None:
            w[0] = zero
        yield w / w.sum()


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


def test_printed_rate_of_5_11_1_and_of_5_15_is_too_fast():
    """kappa = .99 r + .01 r^100 loses .01 a layer at 0, and the printed rate is 1 / 1.99."""
    w = np.zeros(101)
    w[1], w[100] = 0.99, 0.01
    k = KernelMap.from_series(w)
    rho = k.iterate(0.5, 10)[-1]
    measured = rho / (1 - rho)
    slope = float(k.derivative(1.0))
    assert measured > 100 * theory.ker_theorem_5_11_1(0.5, 10, slope)
    assert measured > 100 * theory.ker_theorem_5_15(0.5, 10, 0.0, 1.0, slope)
    assert measured <= theory.ker_theorem_5_8(0.5, 10, 0.99)


def test_theorem_5_11_2():
    tested = 0
    for w in random_weights(60):
        w = 0.7 * w / max(1, np.arange(w.size) @ w)
        w[0] += 1 - w.sum()
        k = KernelMap.from_series(w)
        bound = theory.ker_theorem_5_11_2(RHO0[:, None], DEPTHS, float(k.derivative(1.0)))
        tested += 1
        assert worst(paths(k)[1], bound) <= 1 + 1e-9
    assert tested == 60
    for phi in (A.sigmoid, A.softplus):
        k = KernelMap(phi.normalized())
        bound = theory.ker_theorem_5_11_2(RHO0[:, None], DEPTHS, float(k.derivative(1.0)))
        assert worst(paths(k)[1], bound) <= 1 + 1e-9


def test_theorem_5_11_3():
    exp, relu = (KernelMap(phi.normalized()) for phi in (A.exp, A.relu))
    quadratic = KernelMap.from_series([0.25, 0.5, 0.25])
    for k in (exp, relu, quadratic):
        numbers = float(k(0.0)), float(k.derivative(0.0))
        bound = theory.ker_theorem_5_11_3(RHO0[:, None], DEPTHS, *numbers)
        assert worst(paths(k)[1], bound) <= 1 + 1e-9
    # alpha = 1/4 is the constant of the law 1 / (alpha l), attained by the quadratic map only
    depth = 3000
    gap = quadratic.iterate_complement(0.5, depth)[-1]
    assert gap == pytest.approx(float(theory.ker_theorem_5_11_3(0.5, depth, 0.25, 0.5)), rel=0.01)


def test_cases_of_theorem_5_11_end_where_the_theorem_says():
    """The case is decided by two numbers; the fixed point is found without them."""
    for phi in (A.tanh, A.sigmoid, A.softplus, A.relu, A.exp, A.gelu, A.elu, A.step):
        k = KernelMap(phi.normalized())
        case = theory.ker_theorem_5_11_case(float(k(0.0)), float(k.derivative(1.0)))
        attracting = [p.value for p in k.fixed_points() if p.attracting]
        expected = {1: [0.0], 2: [1.0], 3: [1.0]}
        assert attracting == expected.get(case, attracting)
        assert case != 4 or 0 < attracting[0] < 1


def numbers_of_case_4(k):
    point = k.fixed_point()
    return float(k(0.0)), float(point.value), float(point.multiplier)


@pytest.mark.parametrize("phi", [A.gelu, A.elu, A.silu], ids=lambda phi: phi.name)
def test_theorem_5_11_4_holds_for_the_usual_activations(phi):
    k = KernelMap(phi.normalized())
    numbers = numbers_of_case_4(k)
    assert max(theory.ker_theorem_5_11_4_alphas(*numbers)) == numbers[2]
    bound = theory.ker_theorem_5_11_4(RHO0[:, None], DEPTHS, *numbers)
    assert worst(np.abs(paths(k)[0] - numbers[1]), bound) <= 1 + 1e-9


def test_theorem_5_11_4_fails_as_printed():
    """kappa = .6 + .4 r^4 leaves 1 at the rate 1 / kappa'(1) = .625; the three printed are less."""
    k = KernelMap.from_series([0.6, 0, 0, 0, 0.4])
    numbers = numbers_of_case_4(k)
    assert 0 < numbers[1] < 1 < k.derivative(1.0)
    assert max(theory.ker_theorem_5_11_4_alphas(*numbers)) < 0.53 < 1 / k.derivative(1.0)
    bound = theory.ker_theorem_5_11_4(RHO0[:, None], DEPTHS, *numbers)
    ratio = worst(np.abs(paths(k)[0] - numbers[1]), bound)
    assert 100 < ratio < 200


BASES = [
    random_series(200, 40, Stream(3)),
    pair_series([1, 2, 3, 10, 30, 100], [0.001, 0.1, 0.9, 0.999]),
]


@pytest.mark.parametrize("base", BASES, ids=["random", "pairs"])
def test_theorem_5_11_4_repaired_for_batches_of_spectra(base):
    """The repair holds from both ends, for near-critical and near-linear maps alike."""
    excess = (base @ np.arange(base.shape[1]) - 1) * Stream(4).numpy().uniform(0.01, 1, len(base))
    weights = with_constant(base, 1 + excess)
    k = KernelMap.from_series(weights)
    point = k.fixed_point()
    numbers = point.value[:, None], point.multiplier[:, None]
    start = RHO0[:, None, None]
    errors = k.approach(RHO0[:, None], DEPTHS[-1]) - 1e-14
    assert (errors / theory.ker_theorem_5_11_4_repaired(start, DEPTHS, *numbers)).max() <= 1 + 1e-9
    printed = theory.ker_theorem_5_11_4(start, DEPTHS, weights[:, :1], *numbers)
    assert (errors / printed).max() > 10


def test_theorem_5_11_4_repaired_is_attained():
    """kappa = (1 + 2 r^2)/3, rho* = 1/2: near 1 the bounded expression shrinks by 3/4 a layer."""
    k = KernelMap.from_series([1 / 3, 0, 2 / 3])
    rate = 1 / (2 - float(k.fixed_point().multiplier))
    gaps = 0.5 / k.iterate_complement(1e-9, 1)
    assert gaps[1] / gaps[0] == pytest.approx(rate, rel=1e-6)


@pytest.mark.parametrize("base", BASES, ids=["random", "pairs"])
def test_theorem_5_11_3_sharper_for_batches_of_critical_spectra(base):
    weights = with_constant(base, 1.0)
    start = np.linspace(0, 1 - 1e-6, 20)[:, None]
    errors = KernelMap.from_series(weights).approach(start, DEPTHS[-1])
    sharper = theory.ker_theorem_5_11_3_sharper(start[..., None], DEPTHS, weights[:, :1])
    printed = theory.ker_theorem_5_11_3(start[..., None], DEPTHS, weights[:, :1], weights[:, 1:2])
    assert (errors <= sharper * (1 + 1e-12)).all()
    assert (sharper <= printed * (1 + 1e-12)).all()
    with pytest.raises(ValueError, match="rho0 must not be negative"):
        theory.ker_theorem_5_11_3_sharper(-0.1, 1, 0.5)


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
