"""Fixed points, rates and basins against the iteration itself."""

import math
import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from signalprop import activations as A
from signalprop.limits.closed import Series
from signalprop.limits.dynamics import _doubled, fixed_points
from signalprop.limits.maps import KernelMap, _walk
from signalprop.random import Stream

NAMED = [
    *(A.tanh, A.sin, A.relu, A.leaky_relu(0.1), A.exp, A.gelu, A.selu, A.elu, A.silu),
    *(A.sigmoid, A.softplus, A.sign, A.step, A.cube, A.norm_relu()),
]
named = pytest.mark.parametrize("phi", NAMED, ids=lambda phi: phi.name)


@named
@pytest.mark.slow
def test_attractor_is_where_the_iteration_goes(phi):
    k = KernelMap(phi.normalized())
    point, rate = k.fixed_point(), k.rate()
    assert float(k(point.value)) == pytest.approx(float(point.value), abs=1e-14)
    assert 0 <= point.value <= 1
    assert point.gap == pytest.approx(1 - point.value, abs=1e-15)
    depth = 300
    end = k.iterate(np.linspace(-0.98, 0.98, 9), depth)[:, -1]
    if rate.kind == "geometric":
        slack = 1e-12 + 100 * rate.value**depth  # starts near 1 need a while to leave
    else:
        slack = 1.1 * rate.constant / depth**rate.value
    np.testing.assert_allclose(end, point.value, rtol=0, atol=slack)


@named
def test_search_and_bisection_agree(phi):
    """The search knows nothing of KER Theorem 5.11, the bisection relies on it."""
    k = KernelMap(phi.normalized())
    points = k.fixed_points()
    attracting = [p for p in points if p.attracting]
    assert len(attracting) == 1
    assert attracting[0].value == pytest.approx(float(k.fixed_point().value), abs=1e-12)
    assert points[-1].value == 1
    assert [p.gap for p in points] == pytest.approx([1 - p.value for p in points], abs=1e-15)
    assert [p.multiplier for p in points] == pytest.approx(
        [float(k.derivative(p.value)) for p in points], rel=1e-12
    )
    assert all(p.value in (-1.0, 1.0) for p in points if not p.attracting)


@given(st.integers(0, 10**6), st.integers(3, 40), st.floats(0.05, 2))
@settings(max_examples=25, deadline=None)
def test_random_series_have_one_attractor(seed, terms, concentration):
    weights = Stream(seed).numpy().dirichlet(np.full(terms, concentration))
    k = KernelMap.from_series(weights)
    if k.nonlinearity < 1e-6:
        return
    attracting = [p.value for p in k.fixed_points() if p.attracting]
    assert len(attracting) == 1
    assert attracting[0] == pytest.approx(float(k.fixed_point().value), abs=1e-9)


def test_batches_agree_with_single_maps():
    weights = Stream(5).numpy().dirichlet(np.ones(6), size=20)
    batch = KernelMap.from_series(weights).fixed_point()
    for w, value, gap, multiplier in zip(
        weights, batch.value, batch.gap, batch.multiplier, strict=True
    ):
        single = KernelMap.from_series(w).fixed_point()
        assert (single.value, single.gap) == pytest.approx((value, gap), rel=1e-12)
        assert single.multiplier == pytest.approx(multiplier, rel=1e-12)


def test_fixed_points_of_polynomials_are_roots():
    # kappa = (1 + r + 6 r^3) / 8: r = kappa has roots 1 and (-3 +- sqrt(9 + 6)) / 6
    points = KernelMap.from_series([1 / 8, 1 / 8, 0, 6 / 8]).fixed_points()
    values = [p.value for p in points]
    assert values == pytest.approx([(-3 + math.sqrt(15)) / 6, 1.0], abs=1e-14)
    assert [p.attracting for p in points] == [True, False]


def test_fixed_points_close_to_one_and_to_zero():
    for tiny in (1e-3, 1e-6):
        # kappa(1 - d) = 1 - (1 + e) d + e d^2 has the fixed point d = 1 ... e d (1 - d) = 0
        w = np.array([0.25 + tiny / 2, 0.5 - 2 * tiny, 0.25 + 1.5 * tiny])
        point = KernelMap.from_series(w).fixed_point()
        exact = 2 * tiny / 2 / w[2]  # the other root of w0 + (w1 - 1) r + w2 r^2: r = w0 / w2
        assert point.gap == pytest.approx(exact, rel=1e-6)
        centred = KernelMap.from_series([tiny, 0.5, 0.5 - tiny]).fixed_point()
        assert centred.value == pytest.approx(tiny / (0.5 - tiny), rel=1e-9)


@named
@pytest.mark.slow
def test_rate_is_the_one_of_the_iteration(phi):
    k = KernelMap(phi.normalized())
    rate, point = k.rate(), k.fixed_point()
    if rate.kind == "power":
        # gap ~ constant depth^-value: gap^(-1/value) grows by constant^(-1/value) a layer
        inverse = k.iterate_complement(1e-9, 200)[[0, -1]] ** (-1 / rate.value)
        growth = (inverse[1] - inverse[0]) / 200
        assert growth == pytest.approx(rate.constant ** (-1 / rate.value), rel=1e-4)
    else:
        assert rate.value == pytest.approx(float(point.multiplier), rel=1e-12)
        if point.value == 1:
            path = k.iterate_complement(0.5, 12)
        else:
            path = np.abs(k.iterate(0.3 + 0.5 * point.value, 100) - point.value)
        path = path[path > 1e-8 if point.value not in (0, 1) else path > 1e-200]
        assert path[-1] / path[-2] == pytest.approx(rate.value, rel=2e-3)


def test_critical_maps():
    relu = KernelMap(A.relu.normalized()).rate()
    assert (relu.kind, relu.value) == ("power", 2.0)
    assert relu.constant == pytest.approx(9 * math.pi**2 / 2, rel=1e-8)
    exp = KernelMap(A.exp.normalized()).rate()
    assert (exp.value, exp.constant) == (1.0, pytest.approx(2.0, rel=1e-8))
    series = KernelMap.from_series([0.25, 0.5, 0.25])  # kappa(1 - d) = 1 - d + d^2 / 4
    assert series.rate().constant == pytest.approx(4.0, rel=1e-8)
    assert series.fixed_points()[0].attracting


def test_superlinear_maps():
    rate = KernelMap(A.hermite(3)).rate()
    assert (rate.kind, rate.value) == ("superlinear", 3.0)


def test_basins():
    def interval(phi):
        b = KernelMap(phi.normalized()).basin()
        return b.low, b.high, b.closed_low, b.closed_high

    assert interval(A.tanh) == (-1, 1, False, False)
    assert interval(A.relu) == (-1, 1, True, True)
    assert interval(A.gelu) == (-1, 1, True, False)
    assert interval(A.hermite(2)) == (-1, 1, False, False)  # -1 goes to 1, which stays


def test_affine_and_linear_activations():
    # an affine map has its fixed point 1 and contracts, the linear one has no isolated points
    affine = KernelMap(A.Activation.from_hermite([0.6, 0.8]))
    assert [(p.value, p.attracting) for p in affine.fixed_points()] == [(1.0, True)]
    assert affine.rate().value == pytest.approx(0.64)
    k = KernelMap(A.identity)
    np.testing.assert_array_equal(k.iterate(0.3, 5), [0.3] * 6)
    for use in (k.fixed_point, k.fixed_points, k.rate, k.basin):
        with pytest.raises(ValueError, match="identity is linear"):
            use()


def test_maps_that_cannot_be_iterated_are_refused():
    with pytest.raises(ValueError, match=r"gelu must have kappa\(1\)"):
        KernelMap(A.gelu).fixed_point()
    with pytest.raises(ValueError, match=r"a batch of shape \(2,\)"):
        KernelMap.from_series([[0.0, 0, 1], [0.5, 0, 0.5]]).rate()


def test_approach_keeps_the_digits_of_the_distance():
    """To 0 and to 1 the distance falls at the exact rate far below the rounding of rho itself."""
    to_one = KernelMap.from_series([0.5, 0.5]).approach([0.0, -1.0], 100)
    assert to_one == pytest.approx(np.array([[1.0], [2.0]]) * 0.5 ** np.arange(101), rel=1e-12)
    to_zero = KernelMap.from_series([0.0, 0.5, 0.0, 0.5]).approach(-1e-30, 20)
    assert to_zero == pytest.approx(1e-30 * 0.5 ** np.arange(21), rel=1e-12)
    batch = KernelMap.from_series([[1 / 3, 0, 2 / 3], [0.0, 0.5, 0.5]])
    assert batch.approach(np.array([[0.5], [1 - 1e-9]]), 0)[..., 0] == pytest.approx(
        np.array([[0, 0.5], [0.5 - 1e-9, 1 - 1e-9]]), abs=1e-15
    )


def test_approach_to_a_point_between():
    """Above one half the distance is that of ``1 - rho``, and the same."""
    kernel = KernelMap.from_series([0.5, 0, 0, 0, 0.5])
    fixed = brentq(lambda c: 0.5 + c**4 / 2 - c, 0.5, 0.6, xtol=1e-15)
    expected = [0.0]
    for _ in range(5):
        expected.append(0.5 + expected[-1] ** 4 / 2)
    distances = np.abs(np.array(expected) - fixed)
    assert kernel.approach(0.0, 5) == pytest.approx(distances, abs=1e-14)


@named
def test_fixed_points_of_standardized_activations_are_exactly_zero_and_the_ends(phi):
    """What rounding leaves of kappa(0) must not hide the root at 0, nor make another."""
    points = KernelMap(phi.standardized()).fixed_points()
    assert [p.value for p in points if abs(p.value) < 1] == [0.0]


def test_a_point_that_is_sent_to_the_fixed_point_is_in_its_basin():
    """kappa = (1 + r^2) / 2 sends -1 to 1, which attracts."""
    basin = KernelMap.from_series([0.5, 0.0, 0.5]).basin()
    assert (basin.low, basin.high, basin.closed_low, basin.closed_high) == (-1, 1, True, True)


@pytest.mark.parametrize(
    "k",
    [
        KernelMap(A.relu.normalized()),
        KernelMap(A.exp.normalized()),
        KernelMap(A.tanh.normalized()),
        KernelMap(A.gelu.normalized()),
        KernelMap.from_series([0.001, 0.998, 0.001]),
        KernelMap.from_series([0.0, 0.999, 0.001]),
        KernelMap.from_series([0.0, 0.0, 0.5, 0.5]),
    ],
    ids=["relu", "exp", "tanh", "gelu", "critical", "slow", "superlinear"],
)
@pytest.mark.parametrize("depth", [1, 3, 65, 5000])
@pytest.mark.slow
def test_leaps_end_where_the_layers_do(k, depth):
    starts = np.array([[-0.9, 0.0, 0.5], [0.99, 1.0, -1e-3]])
    exact = k.approach(starts, depth, layers=[depth])[..., 0]
    leaped = k.leap(starts, depth)
    assert leaped.shape == starts.shape
    np.testing.assert_allclose(
        leaped, exact, rtol=1e-10, atol=4e-16 if k.fixed_point().value % 1 else 1e-30
    )
    assert float(k.leap(0.5, depth)) == pytest.approx(leaped[0, 2], rel=1e-10)


def test_a_million_layers_take_less_than_a_second_and_no_memory():
    k, depth = KernelMap(A.relu.normalized()), 10**6
    began = time.process_time()
    gap = k.leap(0.0, depth)
    assert time.process_time() - began < 1
    rate = k.rate()
    # the next order of the law is relative log(depth) / depth
    assert gap * depth**rate.value == pytest.approx(rate.constant, rel=100 / depth)
    with pytest.raises(ValueError, match=r"layers must be increasing and lie in 0..9"):
        k.iterate(0.0, 9, layers=[3, 10])


def test_a_million_layers_one_by_one_take_less_than_a_second():
    k, depth = KernelMap(A.relu.normalized()), 10**6
    began = time.process_time()
    path = k.iterate(0.3, depth)
    assert time.process_time() - began < 1
    gaps = k.iterate_complement(0.7, depth, layers=[10**4, depth])
    assert path.shape == (depth + 1,)
    np.testing.assert_allclose(1 - path[[10**4, depth]], gaps, atol=2e-16)
    assert gaps[-1] == pytest.approx(k.leap(0.3, depth), rel=1e-9)


@pytest.mark.parametrize(
    "k",
    [
        KernelMap(A.relu.normalized()),  # to 1, by a power law
        KernelMap.from_series([0.0, 0.999, 0.0, 0.001]),  # to 0, slowly
        KernelMap.from_series([0.25, 0.0, 0.75]),  # to a point between: until it comes back
    ],
    ids=["to one", "to zero", "between"],
)
def test_long_paths_are_those_of_the_plain_loop(k, monkeypatch):
    starts, depth = np.array([[-1.0, -0.3, 0.0], [0.4, 0.99, 1.0]]), 700
    rho, gap = [torch.from_numpy(starts)], [torch.from_numpy(1 - starts)]
    for _ in range(depth):
        rho.append(k._value(rho[-1]).clamp(-1, 1))
        gap.append(k._complement(gap[-1]).clamp(0, 2))
    monkeypatch.setattr("signalprop.limits.maps.LONG", 100)
    np.testing.assert_allclose(k.iterate(starts, depth), torch.stack(rho, -1), atol=3e-13)
    gaps = torch.stack(gap, -1)
    np.testing.assert_allclose(k.iterate_complement(1 - starts, depth), gaps, rtol=1e-11)
    some = [0, 5, 64, 65, 500, 699]
    np.testing.assert_allclose(
        k.iterate_complement(1 - starts, depth, some), gaps[..., some], 1e-11
    )


@pytest.mark.parametrize("repeats", [1, 2])
def test_states_that_come_back_are_not_computed_again(repeats):
    calls = []

    def step(x):
        calls.append(1)
        return x / 2 if x > 1 else (x if repeats == 1 else -x)

    wanted = [0, 1, 3, 4, 1001]
    found = _walk(step, torch.tensor(8.0), wanted).tolist()
    assert len(calls) < 8
    sign = -1 if repeats == 2 else 1
    assert found == [8.0, 4.0, 1.0, float(sign), 1.0]


def test_only_what_is_asked_for_is_kept():
    k, start = KernelMap(A.gelu.normalized()), np.array([-0.5, 0.3])
    layers = [0, 1, 7, 50]
    path = k.iterate(start, 50)
    np.testing.assert_array_equal(k.iterate(start, 50, layers=layers), path[:, layers])
    gaps = k.iterate_complement(1 - start, 50, layers=layers)
    np.testing.assert_array_equal(gaps, k.iterate_complement(1 - start, 50)[:, layers])


def test_an_attractor_below_zero_is_seen():
    """No activation has such a map: a search that assumed the theorem would not see the root."""
    # r -> (-1 + r + 6 r^2 + 2 r^3) / 8 has kappa(0) < 0 and goes to its root in (-1, 0)
    weights = torch.tensor([-1.0, 1.0, 6.0, 2.0], dtype=torch.float64) / 8
    k = KernelMap(Series(weights))
    end = k.iterate(0.0, 200)[-1]
    point = k.fixed_point()
    assert end < -0.1
    assert point.value == pytest.approx(end, abs=1e-14)
    assert point.gap == pytest.approx(1 - end, abs=1e-14)
    assert point.attracting
    both = KernelMap(Series(torch.stack([weights, torch.tensor([0.25, 0.0, 0.75, 0.0]).double()])))
    np.testing.assert_allclose(both.fixed_point().value, [end, 1 / 3], atol=1e-14)
    assert min(both.fixed_point().value) < 0


def test_maps_that_leave_the_interval_or_attract_twice_are_refused():
    outside = KernelMap(Series(torch.tensor([-1.0, 0.0, 3.0, -1.0], dtype=torch.float64)))
    with pytest.raises(ValueError, match=r"leaves \[-1, 1\]"):
        outside.iterate(0.5, 3)
    # r + (1 - r^2) (r (1/4 - r^2) / 2 + 1/100) climbs from 0 and descends at -0.3
    twice = [0.01, 1 + 1 / 8, -0.01, -5 / 8, 0.0, 1 / 2]
    k = KernelMap(Series(torch.tensor(twice, dtype=torch.float64)))
    assert k(-0.3) < -0.3
    with pytest.raises(ValueError, match="attracting fixed points on both sides of 0"):
        k.fixed_point()


def test_leaps_go_on_at_the_rate_where_distances_are_tiny():
    k = KernelMap.from_series([0.0, 0.5, 0.0, 0.5])
    starts = np.array([-1e-60, 0.3, 1e-45])
    exact = k.approach(starts, 200, layers=[200])[..., 0]
    assert exact[0] == pytest.approx(1e-60 * 0.5**200, rel=1e-10)
    np.testing.assert_allclose(k.leap(starts, 200), exact, rtol=1e-10)


@pytest.mark.parametrize(
    ("weights", "points"),
    [
        ([0, 0.9, 0.2, -0.1], [(0, True), (1, False)]),  # r - r (1 - r)^2 / 10
        ([0, 0.9, -0.1, 0.1, 0.1], [(-1, False), (0, True), (1, False)]),
        ([0, 1.1, 0.1, -0.1, -0.1], [(-1, True), (0, False), (1, True)]),
        ([0, 0.9, 0, 0.1], [(-1, False), (0, True), (1, False)]),
        ([0, 1.0, 0, -0.1, 0, 0.1], [(-1, False), (0, True), (1, False)]),  # critical at 0
        ([0, 1.0, 0, 0.1, 0, -0.1], [(-1, True), (0, False), (1, True)]),
    ],
)
def test_critical_points_attract_if_both_of_their_sides_do(weights, points):
    """Maps r + c r (1 + r)^2 (1 - r) and the like: the slope is 1 at an end, or at 0."""
    k = KernelMap(Series(torch.tensor(weights, dtype=torch.float64)))
    found = fixed_points(k)
    assert [p.attracting for p in found] == [attracts for _, attracts in points]
    assert [p.value for p in found] == pytest.approx([at for at, _ in points], abs=1e-6)
    assert [p.gap for p in found] == pytest.approx([1 - at for at, _ in points], abs=1e-6)


def test_a_fixed_point_at_one_half_is_found_once():
    """Where the search in rho ends and that in 1 - rho begins: (1 + 2 r^2) / 3, and neighbours."""
    for at in (0.48, 0.4999, 0.5, 0.5001, 0.52):
        # w + (1 - w) r^2 has the fixed point w / (1 - w)
        w = at / (1 + at)
        points = KernelMap.from_series([w, 0.0, 1 - w]).fixed_points()
        assert [p.value for p in points] == pytest.approx([at, 1.0], rel=1e-12)


def test_a_map_with_steps_of_its_own_is_no_leap():
    def step(x):
        return x * (0.5 + 0.1 * torch.sin(40 * torch.log(x)))

    with pytest.raises(ValueError, match="not smooth enough for a leap"):
        _doubled(step, np.array([0.5]), 1000, math.log(2))


@pytest.mark.parametrize("on_the_way", [0.45, 0.52, 0.7])
def test_leaps_begin_half_way_from_what_repels(on_the_way):
    """After the first 64 layers of ``0.9 r + 0.1 r^2`` from a start near 1, which repels."""
    k = KernelMap.from_series([0.0, 0.9, 0.1])
    gap = brentq(lambda d: 1 - k.iterate_complement(d, 64)[-1] - on_the_way, 1e-6, 0.5)
    rho = 1 - gap
    exact = [rho]
    for _ in range(300):
        exact.append(0.9 * exact[-1] + 0.1 * exact[-1] ** 2)
    for depth in (65, 300):
        assert float(k.leap(rho, depth)) == pytest.approx(exact[depth], rel=1e-10, abs=0)
