"""Growth of isometry against closed forms for the plane, integrals, and simulation."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special

import signalprop as sp
from signallab.gradients import expected_isometry as lab
from signalprop import layers, theory
from signalprop.random import Stream

SPECTRUM = np.array([0.2, 0.5, 0.9, 2.4])  # sums to 4


def test_unit_rows_is_the_batch_norm_of_the_library_up_to_a_factor():
    x = np.random.default_rng(0).normal(size=(3, 7))
    expected = layers.batch_norm(x.T, center=False).T / np.sqrt(7)
    np.testing.assert_allclose(lab.unit_rows(x), expected)
    case = lab.by_definition(x)
    np.testing.assert_allclose(case.left, expected)
    np.testing.assert_allclose(case.right, case.left)
    for wrong in (lab.by_definition(x, axis=0), lab.by_definition(x, printed=True)):
        assert not np.allclose(wrong.left, wrong.right)
    square = lab.by_definition(x[:, :3], printed=True)
    np.testing.assert_allclose(square.left, square.right)


def test_gap_is_the_library_s():
    x = np.random.default_rng(1).normal(size=(6, 5, 5))
    np.testing.assert_allclose(lab.gap(x), sp.isometry_gap(x))
    assert lab.gap_as_printed(x[0]) == pytest.approx(float(sp.isometry_gap(x[0])))


def test_gap_as_printed_of_two_samples_in_space():
    """X^T X = diag(1, 4), its determinant to the power 1/3 over a third of its trace."""
    x = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    assert lab.gap_as_printed(x) == pytest.approx(-np.log(4 ** (1 / 3) / (5 / 3)))
    mended = lab.as_defined(x, mended=True)
    assert mended.right == pytest.approx(np.log(5 / 4))
    assert lab.as_defined(np.eye(3, 2)).right < 0


def test_haar_moments_and_orthogonality():
    w = lab.haar(3, 20_000, Stream(2))
    np.testing.assert_allclose(
        w @ w.transpose(0, 2, 1), np.broadcast_to(np.eye(3), w.shape), atol=1e-12
    )
    assert np.mean(w[:, 0, 0] ** 2 * w[:, 1, 1] ** 2) == pytest.approx(2 / 15, rel=0.08)
    assert np.mean(w[:, 0, 0] ** 2 * w[:, 1, 0] ** 2) == pytest.approx(1 / 15, rel=0.08)


@given(st.integers(2, 9), st.floats(0.001, 0.98))
def test_correlated_rows(d, rho):
    x = lab.correlated(d, rho)
    np.testing.assert_allclose(x @ x.T, (1 - rho) * np.eye(d) + rho, atol=1e-12)


def test_correlated_refuses_what_is_no_correlation():
    with pytest.raises(ValueError, match="rho"):
        lab.correlated(3, 1.0)
    with pytest.raises(ValueError, match="rho"):
        lab.correlated(3, -0.6)


def test_inputs_have_rows_of_length_one():
    for x in lab.inputs(5, Stream(3)).values():
        np.testing.assert_allclose(np.linalg.norm(x, axis=-1), 1)
        assert np.linalg.matrix_rank(x) == 5


def test_fixed_rotations_are_orthogonal_and_the_last_one_is_perfect():
    x = np.random.default_rng(4).normal(size=(4, 4))
    found = lab.fixed_rotations(x)
    for w in found.values():
        np.testing.assert_allclose(w @ w.T, np.eye(4), atol=1e-12)
    after = lab.unit_rows(found["its left singular vectors"] @ x)
    assert float(sp.isometry(after)) == pytest.approx(1)


def test_rotation_by_hand():
    """A turn by 45 degrees gives both rows of diag(1, 3) the length sqrt 5: nothing is gained."""
    x, w = np.diag([1.0, 3.0]), np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    case = lab.rotation(x, w)
    assert (float(case.left), float(case.right)) == (pytest.approx(0.6), pytest.approx(0.6))
    exact = lab.rotation(x, np.eye(2), factor=theory.iso_normalization_gain)
    assert float(exact.left) == pytest.approx(1)
    same = lab.rotation(x, w, layer=lambda m: m)
    assert float(same.right) == pytest.approx(0.6)


def test_invariants_by_hand():
    case = lab.invariants(np.diag([1.0, 3.0]), 2 * np.eye(2))
    np.testing.assert_allclose(case.right, [np.log(9), 10])
    np.testing.assert_allclose(case.left, [np.log(9 * 16), 40])


def test_perfect_rotation_and_its_rivals():
    x = np.random.default_rng(5).normal(size=(4, 4))
    case = lab.perfect_rotation(x)
    np.testing.assert_allclose(case.left, case.right, atol=1e-10)
    for side in ("U", "V^T"):
        assert lab.perfect_rotation(x, side=side).left[-1] < 0.999


def test_perfect_rotation_of_rank_two_in_space():
    """U has the columns (0, 0, 1), (1, 2, 0) and (2, -1, 0) over their lengths, as V has."""
    case = lab.perfect_rotation(np.array([[1.0, 2, 0], [2, 4, 0], [0, 0, 3]]))
    rows = np.abs(case.left[:9].reshape(3, 3))
    np.testing.assert_allclose(rows[0], np.array([1, 2, 0]) / np.sqrt(5), atol=1e-12)
    np.testing.assert_allclose(rows[1:], [[0, 0, 1], [0, 0, 0]], atol=1e-12)
    assert case.left[-1] == 0
    assert case.right[-1] == 1


def test_some_rotation_gains_unless_nothing_is_to_gain():
    x = np.array([[1.0, 0.0], [0.6, 0.8]])
    case = lab.some_rotation(x)
    assert case.left == pytest.approx(0.8, abs=2e-6)
    assert case.right == pytest.approx(1)
    alone = lab.some_rotation(x, rotated=False)
    assert alone.right == pytest.approx(0.8)
    assert alone.left > alone.right
    for nothing in (2 * np.eye(3)[::-1], np.array([[1.0, 1], [1, 1]])):
        case = lab.some_rotation(nothing)
        assert case.left > case.right


def test_squares_differ_in_the_lengths_of_their_rows_alone():
    x = lab.squares(3, 400, Stream(30))
    np.testing.assert_allclose(lab.unit_rows(x["all lengths"]), x["length 1"])
    logs = np.log(np.linalg.norm(x["all lengths"], axis=-1))
    # the log of a chi with 3 degrees of freedom has the variance trigamma(3/2) / 4
    assert logs.var() == pytest.approx(1 + special.polygamma(1, 1.5) / 4, rel=0.2)


def test_multiples_and_degenerate_inputs():
    for point in lab.multiples(Stream(31)):
        x = point["x"]
        np.testing.assert_allclose(x @ x.T, 4 * np.eye(len(x)), atol=1e-12)
    assert [round(float(np.linalg.det(point["x"])), 9) for point in lab.degenerate()] == [0, 0]


def test_factors_by_hand():
    """S = 0.64 + 0.25 + 0.01 + 1.96 = 2.86, d = 4, largest 2.4."""
    assert lab.spread(SPECTRUM) == pytest.approx(2.86)
    assert theory.grad_theorem_6_3(SPECTRUM) == pytest.approx(1 / (1 - 2.86 / 192))
    assert lab.sharper_factor(SPECTRUM) == pytest.approx(np.exp(2.86 / 24 / 2.4))


@pytest.mark.parametrize("d", [2, 3])
def test_quadrature_is_over_rotations_and_exact(d):
    """E (W_11 W_22 - W_12 W_21)^2 = 2 / (d (d - 1)): squares of all minors sum to 1."""
    w, weights = lab.quadrature(d, 10)
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(
        w @ w.transpose(0, 2, 1), np.broadcast_to(np.eye(d), w.shape), atol=1e-12
    )
    minor = w[:, 0, 0] * w[:, 1, 1] - w[:, 0, 1] * w[:, 1, 0]
    assert weights @ minor**2 == pytest.approx(2 / (d * (d - 1)))
    sixth = weights @ w[:, d - 1, 0] ** 6
    assert sixth == pytest.approx(15 / (d * (d + 2) * (d + 4)))


def test_quadrature_knows_two_groups():
    with pytest.raises(ValueError, match="d must be 2 or 3"):
        lab.quadrature(4)


def test_growth_in_the_plane_is_the_elliptic_integral():
    x = lab.correlated(2, 0.7)
    w, weights = lab.quadrature(2, 128)
    before = np.exp(-float(lab.gap(x)))
    grown = (1 - lab.growth(x, w, weights=weights).left) / before
    assert grown == pytest.approx(lab.in_the_plane(0.7).right)
    direct = integrate.quad(lambda t: (1 - 0.49 * np.cos(2 * t) ** 2) ** -0.5, 0, np.pi)[0] / np.pi
    assert grown == pytest.approx(direct)
    assert lab.in_the_plane(0.7).left == pytest.approx(1 / (1 - 0.98 / 32))


def test_growth_in_space_integrated_and_drawn():
    x = lab.correlated(3, 0.6)
    w, weights = lab.quadrature(3)
    exact = lab.growth(x, w, weights=weights).left
    drawn = lab.growth(x, lab.haar(3, 4000, Stream(6)))
    assert drawn.left.mean() == pytest.approx(exact, abs=6 * drawn.left.std() / np.sqrt(4000))
    assert drawn.right == pytest.approx(1 - (1 - 6 * 0.36 / 90) ** -1 * (0.4**2 * 2.2) ** (1 / 3))


def test_displays_in_the_plane():
    """E a_1 a_2 is an elliptic integral of the second kind; the squared sum is 2 + 2 a_1 a_2."""
    case = lab.displays(lab.correlated(2, 0.5))
    product = 2 / np.pi * special.ellipe(0.25)
    np.testing.assert_allclose(case.left, [4 / (2 + 2 * product), product, 2 + 2 * product])
    np.testing.assert_allclose(case.right[1:], [1 - 0.5 / 16, 4 - 0.5 / 8])
    assert case.left[0] < case.right[0] < 1.1


@given(st.floats(0, 0.999))
def test_expected_log_length_in_the_plane(epsilon):
    exact = np.log((1 + np.sqrt(1 - epsilon**2)) / 2)
    assert lab.expected_log_length([1 - epsilon, 1 + epsilon]) == pytest.approx(exact, abs=1e-10)


def test_expected_log_length_of_rank_one_and_near_isometry():
    """w_1^2 is a Beta variable; near isometry the fall is S / (d (d + 2))."""
    one = lab.expected_log_length([5.0, 0.0, 0.0, 0.0, 0.0])
    assert one == pytest.approx(np.log(5) + special.digamma(0.5) - special.digamma(2.5))
    near = 1 + 1e-3 * np.array([1.0, -1.0, 2.0, -2.0])
    assert lab.expected_log_length(near) == pytest.approx(-1e-5 / 24, rel=1e-2)


def test_expected_log_length_drawn():
    w = lab.haar(4, 5000, Stream(7))
    logs = np.log(w[:, 0] ** 2 @ SPECTRUM)
    exact = lab.expected_log_length(SPECTRUM)
    assert logs.mean() == pytest.approx(exact, abs=6 * logs.std() / np.sqrt(5000))


def test_corollary_of_a_rotation_alone_and_with_the_layer():
    x, w = lab.correlated(4, 0.5), lab.haar(4, 5000, Stream(8))
    alone = lab.corollary(x, w)
    np.testing.assert_allclose(alone.left, float(lab.gap(x)))
    fall = np.log(1 - 12 * 0.25 / 192)
    assert alone.right == pytest.approx(float(lab.gap(x)) + fall)
    layer = lab.corollary(x, w, layer=lab.unit_rows, times=3)
    assert layer.right == pytest.approx(float(lab.gap(x)) + 3 * fall)
    expected = float(lab.gap(x)) + lab.expected_log_length([0.5, 0.5, 0.5, 2.5])
    error = layer.left.std() / np.sqrt(5000)
    assert layer.left.mean() == pytest.approx(expected, abs=6 * error)


def test_corollary_exactly():
    case = lab.corollary_exactly(SPECTRUM, layer=True, times=2)
    assert case.left == lab.expected_log_length(SPECTRUM)
    assert case.right == pytest.approx(2 * np.log(1 - 2.86 / 192))
    assert lab.corollary_exactly(SPECTRUM).left == 0
    assert not all(lab.corollary_exactly([1.0, 2.0]).hypotheses.values())


@given(st.integers(2, 12), st.integers(0, 50))
def test_the_sharper_bound_lies_between_print_and_truth(d, k):
    values = d * sp.spectra.varied(d, 60, Stream(9))[k]
    if values[-1] > 0:
        fall = -lab.expected_log_length(values)
        sharper = np.log(lab.sharper_factor(values))
        assert np.log(theory.grad_theorem_6_3(values)) <= sharper + 1e-15
        assert sharper <= fall * (1 + 1e-6) + 1e-12


def test_table_of_falls():
    row = lab.table_of_falls([4], [0.5]).iloc[0]
    assert row["exact"] == pytest.approx(-lab.expected_log_length([0.5, 0.5, 0.5, 2.5]))
    assert row["printed"] == pytest.approx(-np.log(1 - 3 / 192))
    assert row["sharper"] == pytest.approx(3 / 24 / 2.5)


def test_table_of_growth():
    w, weights = lab.quadrature(2)
    point = {"x": lab.correlated(2, 0.5), "w": w, "weights": weights, "words": "plane"}
    row = lab.table_of_growth([point]).iloc[0]
    assert row["isometry before"] == pytest.approx(np.sqrt(0.75))
    assert row["growth"] == pytest.approx(2 / np.pi * special.ellipk(0.25))
    assert row["standard error"] == 0
    drawn = lab.table_of_growth([{**point, "w": lab.haar(2, 400, Stream(10)), "weights": None}])
    assert 0 < drawn["standard error"][0] < 0.02


def test_moments_of_higher_order():
    """One row is uniform on the sphere; a sixth moment of it is 15 / (d (d + 2) (d + 4))."""
    assert lab.moment((0,) * 6, (0,) * 6, 4) == Fraction(15, 4 * 6 * 8)
    assert lab.moment((0, 0, 1, 1), (0, 1, 0, 1), 3) == Fraction(-1, 30)
    assert lab.moment((0, 1), (0, 0), 3) == 0
    with pytest.raises(ValueError, match="rows"):
        lab.moment((0, 0, 0), (0, 0, 0), 3)


@pytest.mark.parametrize("d", [2, 3])
def test_moments_by_pairings_and_by_integrals(d):
    def none(_):
        return 0, 0

    np.testing.assert_allclose(lab.weingarten(d, none).left, lab.moments(d, none).left)
    wrong = lab.weingarten(d, none, printed=True).left
    assert not np.allclose(wrong, lab.moments(d, none).left)


def test_bounds_on_eigenvalues():
    expected = {"largest": 2.4, "squares": 6.86, "fraction": 2.86 / 192}
    for quantity, value in expected.items():
        case = lab.bounds_on_eigenvalues(SPECTRUM, quantity=quantity, bound=len)
        assert (case.left, case.right) == (pytest.approx(value), 4)
    x = np.random.default_rng(11).normal(size=(3, 3))
    assert lab.sum_of_eigenvalues(x).left == pytest.approx(3)
