"""Sides of the certified counterexamples, each beside an evaluation in doubles."""

import math

import numpy as np
import pytest
from flint import arb
from scipy import special

from signallab.gradients import certificates as certified
from signallab.gradients import (
    expected_isometry,
    exponential_orthogonalization,
    jacobian_of_batch_norm,
)
from signalprop import theory


def sides(found):
    return float(found.left), float(found.right)


def test_gaps_and_eigenvalues():
    assert sides(certified.a_negative_gap(3)) == pytest.approx((0, -np.log(3)))
    rows = np.array([[1, 0], [0.6, 0.8]])
    assert float(certified.a_large_eigenvalue().left) == pytest.approx(
        np.linalg.eigvalsh(rows @ rows.T).max()
    )
    found = certified.a_wider_interval()
    assert sides(found) == (0.02, 0.01)


def test_a_large_batch_without_layers():
    assert sides(certified.a_large_batch()) == pytest.approx((15 * np.log(10), 32))
    with pytest.raises(ValueError, match="refute"):
        certified.a_large_batch(c=10**13)


def test_rotations_that_gain_nothing():
    """The same inputs in doubles, with the best of all rotations of the plane."""
    turns = [
        np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
        for t in np.linspace(0, np.pi, 50)
    ]
    flat = np.array([[9.0, 12], [12, 16]])
    assert max(abs(np.linalg.det(w @ flat)) for w in turns) < 1e-12
    assert sides(certified.a_row_of_zeros()) == (0, 1)
    assert expected_isometry.perfect_rotation(flat).left[-1] == 0
    found = certified.a_multiple_of_the_identity()
    assert sides(found) == (1, 1)
    assert found.relation == "below"
    x = np.array([[1.0, 2], [3, 5]])
    squared = certified._isometry_squared([[1, 2], [3, 5]])
    assert float(squared) == pytest.approx(np.exp(-2 * expected_isometry.gap(x)))


def test_displays_of_proofs():
    case = exponential_orthogonalization.roots(1)
    assert float(certified.root_of_the_quadratic().left) == pytest.approx(
        48 * case.right**2 - 4 * case.right - 6
    )
    case = exponential_orthogonalization.first_term(2, 0.001)
    assert sides(certified.first_term_of_the_sum()) == pytest.approx((case.left, case.right))
    case = exponential_orthogonalization.last_step(1, 0)
    assert np.array(sides(certified.a_reversed_step())) / 32 == pytest.approx(
        [case.left, case.right]
    )


def test_jacobians_of_small_inputs():
    assert sides(certified.small_inputs()) == pytest.approx((np.log(10), 1))
    assert sides(certified.small_inputs_without_a_gap()) == pytest.approx((np.log(10), 0))


def test_numerical_inequalities():
    inequalities = exponential_orthogonalization.INEQUALITIES
    assert len(certified.numerical_inequalities()) == len(inequalities) + 2  # two by a slope
    at_the_end = np.array([-0.5])
    left, right = inequalities["(C.52)"]
    assert left(at_the_end) < right(at_the_end)
    y = np.linspace(0, 1, 11)[:-1]
    left, right = inequalities["(C.105) to (C.108)"]
    s = np.sqrt(1 - y)
    np.testing.assert_allclose(right(y) - left(y), (1 - s) ** 3 * (1 + s) / 2, atol=1e-12)
    left, right = inequalities["(C.99)"]
    np.testing.assert_allclose(right(y) - left(y), y**2 / (1 - y), atol=1e-12)


def test_the_least_eigenvalue_keeps_to_both_bounds():
    """The proofs, beside spectra with one entry that differs, where the bounds are tightest."""
    assert len(certified.least_eigenvalue()) == 2
    small, end = certified.least_eigenvalue_at_small_gaps()
    u = np.linspace(0.01, 0.5, 50)
    room = 4 * (np.expm1(-u) + u) / u**2 - 1
    assert 0 < small.margin <= room.min()
    assert 0 < end.margin <= np.exp(-0.5) - 0.5 - 1 / 16
    for d in (2, 5, 30):
        for last in np.linspace(0.05, 0.99, 30):
            others = (d - last) / (d - 1)
            gap = -((d - 1) * np.log(others) + np.log(last))  # d psi
            assert -np.log(last) <= gap + 1
            assert gap > 1 / 16 or -np.log(last) <= 2 * np.sqrt(gap)


@pytest.mark.parametrize("x", [0.05, 0.2, 0.35, 0.5])
def test_rooms_are_those_of_closed_forms(x):
    """What is proved positive is the room itself, or less than it by what the series leaves out."""
    at, v = arb(x), x**2 / (4 * (1 + x))
    integral = float(2 / np.pi * special.ellipk(x**2))
    exact = {
        "_room_of_small_gaps": 4 * (np.expm1(-x) + x) / x**2 - 1,
        "_room_of_larger_gaps": np.expm1(-x) + x - 1 / 16,
        "_slope_of_the_logarithm": np.sqrt(2) + np.log1p(-x) / x,
        "_cube_of_the_logarithm": (-np.log1p(-x) - x - x**2 / 2) / x**3,
        "_room_of_the_printed_growth": (integral - 1 / (1 - x**2 / 16)) / x**2,
        "_room_of_the_sharper_growth": (integral - np.exp(v)) / x**3,
    }
    # a remainder whose midpoint is left out, first terms of a series, and the end of a remainder
    least = {
        "_room_of_the_sharper_growth": (np.exp(v) / 2 - (np.expm1(v) - v) / v**2) * v**2 / x**3
    }
    most = {
        "_room_of_small_gaps": 4 * x**8 / math.factorial(10),
        "_cube_of_the_logarithm": x**4 / 3,
        "_room_of_the_printed_growth": x**10 / 3,
        "_room_of_the_sharper_growth": x**9 / 3,
    }
    for name, value in exact.items():
        options = {"terms": 30} if name == "_slope_of_the_logarithm" else {}
        options |= {"terms": 6} if name.endswith("growth") else {}
        off = value - float(getattr(certified, name)(at, **options)) - least.get(name, 0)
        assert -1e-9 <= off <= 1e-9 + most.get(name, 0), name


@pytest.mark.parametrize("x", ["0.1", "0.5"])
def test_remainders_are_large_enough(x):
    at = arb(x)
    exact = 4 * ((-at).exp() - 1 + at) / at**2 - 1
    found = certified._room_of_small_gaps(at)
    assert found.overlaps(exact)
    assert found.rad() < 5 * at**8 / math.factorial(10) + arb("1e-12")
    for terms in (1, 2, 5):
        found = certified._slope_of_the_logarithm(at, terms)
        assert found.overlaps(arb(2).sqrt() + (1 - at).log() / at)


def test_logarithms_of_the_gap_are_those_of_the_displays():
    cube, slope = certified.logarithms_of_the_gap()
    for display, (left, right, low, high) in jacobian_of_batch_norm.INEQUALITIES.items():
        x = np.linspace(low + 0.01, high - 0.01, 50)
        room = right(x) - left(x)
        scale, margin = {
            "(C.127)": ((1 - x) ** 3, cube.margin),
            "(C.130)": (x, slope.margin),
        }[display]
        assert 0 < margin <= (room / scale).min() + 1e-9


def test_growth_in_the_plane_is_the_elliptic_integral():
    proofs = certified.growth_in_the_plane()
    factors = (theory.grad_theorem_6_3, expected_isometry.sharper_factor)
    for proof, factor, power in zip(proofs, factors, (2, 3), strict=True):
        rooms = []
        for e in np.linspace(0.05, 0.95, 19):
            case = expected_isometry.in_the_plane(e, factor)
            rooms.append(float(case.right - case.left) / e**power)
        assert 0 < proof.margin <= min(rooms)
