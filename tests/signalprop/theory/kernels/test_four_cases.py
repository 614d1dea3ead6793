"""Bounds of KER beside the iteration of the maps they speak of, and where they fail as printed."""

import numpy as np
import pytest

from signalprop import activations as A
from signalprop import theory
from signalprop.limits.maps import KernelMap
from signalprop.limits.power_series import pair_series, random_series, with_constant
from signalprop.random import Stream
from tests.signalprop.theory.kernels.paths import DEPTHS, RHO0, paths, random_weights, worst


def numbers_of_case_4(k):
    point = k.fixed_point()
    return float(k(0.0)), float(point.value), float(point.multiplier)


BASES = [
    random_series(200, 40, Stream(3)),
    pair_series([1, 2, 3, 10, 30, 100], [0.001, 0.1, 0.9, 0.999]),
]


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
        ends = attracting if attracting[0] in (0.0, 1.0) else ["inside"]
        critical = ends == [1.0] and KernelMap.rate(k).kind == "power"
        assert case == {0.0: 1, 1.0: 3 if critical else 2, "inside": 4}[ends[0]]


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


def test_the_case_has_a_tolerance_at_both_of_its_numbers():
    case = theory.ker_theorem_5_11_case
    assert [case(1e-10, 2.0), case(1e-8, 2.0)] == [1, 4]
    assert [case(0.5, 1 + delta) for delta in (-1e-8, -1e-10, 1e-10, 1e-8)] == [2, 3, 3, 4]
    assert [case(0.01, 1.0, 0.1), case(0.5, 0.95, 0.1), case(0.5, 0.95)] == [1, 3, 2]


def test_displays_at_a_point():
    """Exact small cases, in which each factor of each display shows."""
    rho0, depth = np.array([-0.75, 0.2]), np.array([2, 1])
    np.testing.assert_allclose(theory.ker_theorem_5_11_1(rho0, depth, 4.0), [3 / 16, 1 / 16])
    np.testing.assert_allclose(theory.ker_theorem_5_11_1(rho0, depth, np.inf), [0, 0])
    np.testing.assert_allclose(theory.ker_theorem_5_11_2(rho0, depth, 0.5), [1.75 / 4, 0.4])
    # alpha = 1 - 1/4 - 1/8 = 5/8
    found = theory.ker_theorem_5_11_3(rho0, depth, at_zero=0.25, slope_at_zero=0.125)
    np.testing.assert_allclose(found, [1.75 / (2 * 0.625 * 1.75 + 1), 0.8 / (0.625 * 0.8 + 1)])
    found = theory.ker_theorem_5_11_3_sharper([0.75, 0.2], depth, at_zero=0.25)
    np.testing.assert_allclose(found, [0.25 / (2 * 0.25 * 0.25 + 1), 0.8 / (0.25 * 0.8 + 1)])


def test_5_11_4_takes_the_largest_of_its_three_rates():
    rho0, depth = np.array([-0.75, 0.2]), np.array([2, 1])
    numbers = {"below": (0.1, 0.5, 0.6), "inside": (0.25, 0.5, 0.9), "above": (0.7, 0.2, 0.4)}
    rates = {"below": 0.9, "inside": 0.9, "above": 0.5}
    for name, (at_zero, point, slope) in numbers.items():
        three = theory.ker_theorem_5_11_4_alphas(at_zero, point, slope)
        np.testing.assert_allclose(three, [1 - at_zero, slope, (1 - point) / (2 - slope)])
        rate = rates[name]
        assert max(three) == pytest.approx(rate)
        expected = [(0.75 + point) / 0.25 * rate**2, abs(0.2 - point) / 0.8 * rate]
        found = theory.ker_theorem_5_11_4(rho0, depth, at_zero, point, slope)
        np.testing.assert_allclose(found, expected)


def test_repaired_bound_at_a_point():
    # rho* = 1/2, kappa' = 1/2: alpha = 2/3; stretched by 2 at 3/4, not at all at 1/5
    found = theory.ker_theorem_5_11_4_repaired([0.75, 0.2, -0.9], [2, 1, 0], 0.5, 0.5)
    np.testing.assert_allclose(found, [0.25 * 2 * 4 / 9, 0.3 * 2 / 3, 1.4 * 5])


@pytest.mark.parametrize(
    "call",
    [
        lambda rho0: theory.ker_theorem_5_11_2(rho0, 3, 0.5),
        lambda rho0: theory.ker_theorem_5_11_3(rho0, 3, 0.5, 0.1),
        lambda rho0: theory.ker_theorem_5_11_3_sharper(rho0, 3, 0.5),
        lambda rho0: theory.ker_theorem_5_11_4(rho0, 3, 0.5, 0.2, 0.5),
        lambda rho0: theory.ker_theorem_5_11_4_repaired(rho0, 3, 0.2, 0.5),
    ],
)
def test_a_start_that_is_no_correlation_is_refused(call):
    with pytest.raises(ValueError, match=r"rho0 must lie in \[-1, 1\], got 1.5"):
        call([0.0, 1.5])
