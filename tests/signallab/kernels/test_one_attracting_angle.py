"""Attracting points against algebra, and the statements against functions that violate them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import signalprop as sp
from signallab.kernels import one_attracting_angle as lab

A = sp.activations


@given(st.floats(-0.9, 0.95), st.floats(0.05, 0.95))
def test_attractor_of_a_parabola(root, bend):
    """rho + a (rho - 1)(rho - root) has the fixed points root and 1; root attracts."""
    a = bend / 2
    found = lab.attractors(lambda r: r + a * (r - 1) * (r - root))
    assert found.count == 1
    assert found.value == pytest.approx(root, abs=1e-9)


def test_attractors_are_counted():
    """A function that climbs through the diagonal at 0 has two, one on each side."""
    found = lab.attractors(lambda r: r + 0.5 * (r + 0.7) * r * (0.7 - r))
    assert found.count == 2
    assert found.value == pytest.approx(-0.7)


def test_nothing_is_found_where_all_is_fixed():
    assert lab.attractors(lambda r: r, lambda d: d).count == 0


def test_nearer_by_hand():
    """Towards 1, (1 + rho)/2 halves every distance; towards 0 it moves away."""
    kernel = sp.KernelMap.from_series([0.5, 0.5])
    assert lab.nearer("half", kernel, towards=1.0).left == pytest.approx(0.5)
    assert lab.nearer("half", kernel, towards=0.0).left > 1


def test_the_negative_half_counts():
    """0.9 rho^2 + 0.1 rho goes to 0 from the left as well, at -0.998 by less than on the right."""
    kernel = sp.KernelMap.from_series([0, 0.1, 0.9])
    rho = lab.INSIDE[lab.INSIDE < 0]
    assert lab.nearer("", kernel).left >= np.abs(0.1 + 0.9 * rho).max()


def test_linear_violates_the_hypothesis():
    assert not all(lab.nearer("x", sp.KernelMap(A.identity)).hypotheses.values())
    assert lab.nearer("x", sp.KernelMap(A.identity)).left == pytest.approx(1)


def test_never_negative_sees_a_negative_point():
    case = lab.never_negative("no kernel map", lambda r: r**2 / 2 + 2 * r / 3 - 1 / 6)
    np.testing.assert_allclose(case.left, [1, 4 / 3], atol=1e-12)


def test_fixed_by():
    cube = lab.fixed_by("cube", A.cube, [-1, 0.5, 1])
    np.testing.assert_allclose(cube.left, [-1, (9 * 0.5 + 6 * 0.125) / 15, 1], rtol=1e-14)
    np.testing.assert_array_equal(cube.right, [-1, 0.5, 1])


def test_with_mean_by_the_quadratic():
    """sin plus c: kappa = (c^2 + sinh(rho)/sinh(1)) / (1 + c^2), its root by bisection."""
    rows = lab.with_mean(A.sin, np.array([0.3, 0.9]))
    root = rows["cosine"][0]
    assert root == pytest.approx((0.09 + np.sinh(root) / np.sinh(1)) / 1.09, abs=1e-12)
    slope = np.cosh(root) / np.sinh(1) / 1.09
    assert rows["slope there"][0] == pytest.approx(slope, abs=1e-12)
    assert slope < 1
    assert rows["cosine"][1] == 1  # 0.9^2 exceeds coth(1) - 1
    assert rows["slope at 1"][1] == pytest.approx(1 / np.tanh(1) / 1.81, abs=1e-12)


def test_fixed_points_are_left_by_no_start():
    rows = lab.fixed_points({"gelu": sp.KernelMap(A.gelu.normalized())}, np.array([-0.9, 0.9]), 200)
    assert rows["distance left"][0] < 1e-4
    assert len(rows["attracting"][0]) == 1
