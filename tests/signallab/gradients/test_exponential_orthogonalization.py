"""Rates of the gap by hand, against sums, and against the chain itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import signalprop as sp
from signallab.gradients import exponential_orthogonalization as lab
from signallab.gradients.expected_isometry import expected_log_length
from signallab.gradients.rotated_chain import Descent, descent, gap_of, threshold, with_spectrum
from signalprop import theory
from signalprop.random import Stream


def path_of(gaps, d):
    gaps = np.asarray(gaps)
    return Descent(gaps, np.zeros((len(gaps), gaps.shape[1] - 1, d)))


def test_eigenvalues_within_in_the_plane():
    """Eigenvalues 1 ± e have the gap -log(1 - e^2) / 2."""
    case = lab.eigenvalues_within(2, 0.04, True)
    assert case.left == pytest.approx(np.sqrt(1 - np.exp(-0.04 / 16)))
    assert case.right == 0.04
    lower = lab.eigenvalues_within(2, 0.04, False, limit=lambda d, c: c**2 / d, scale=3.0)
    assert lower.left == pytest.approx(8 - 9 * np.sqrt(1 - np.exp(-2 * 0.04**2 / 2)))


@pytest.mark.parametrize("small", [True, False])
def test_spectra_are_of_their_regime(small):
    found = lab.spectra(6, 10, Stream(0), small)
    assert len(found) == 18
    for values in found:
        assert values.sum() == pytest.approx(6)
        assert (gap_of(values) <= threshold(6) * (1 + 1e-9)) == small


def test_falls_by_hand():
    assert lab.sharper_small(4, 0.9) == pytest.approx(0.1)
    assert lab.sharper_large(4, 0.9) == pytest.approx(1 / 480)


def test_one_step_in_the_plane():
    """The exact fall is -log((1 + sqrt(1 - e^2)) / 2)."""
    case = lab.one_step([1.6, 0.4], theory.grad_lemma_c_9)
    assert case.right == pytest.approx(-np.log(0.9))
    assert case.left == pytest.approx(1 / 256)
    assert lab.one_step([1.6, 0.4], lambda d, psi: psi / d).left == pytest.approx(-np.log(0.64) / 4)


def test_one_step_is_what_the_chain_does():
    values = np.array([2.2, 0.9, 0.6, 0.3])
    path = descent(with_spectrum(values, Stream(1)), 1, 4000, Stream(2))
    falls = path.gaps[:, 0] - path.gaps[:, 1]
    exact = lab.one_step(values, theory.grad_lemma_c_9).right
    assert falls.mean() == pytest.approx(exact, abs=6 * falls.std() / np.sqrt(4000))


def test_displays_in_the_plane():
    """sigma = e^2."""
    case = lab.displays([1.3, 0.7], times=2.0)
    fall = -np.log((1 + np.sqrt(0.91)) / 2)
    np.testing.assert_allclose(
        case.left, [2 * 0.09 / 8 / fall, 2 * -np.log(0.91) / 2 / 0.09], rtol=1e-9
    )
    assert len(lab.displays([1.6, 0.4]).left) == 1


def test_inequalities_by_hand():
    expected = {
        "(C.52)": (0.25 - 0.0625, np.log(1.25)),
        "(C.54)": (np.log(1.25), 0.25 * 6.25 / 7),
        "(C.99)": (0.5 / 0.75, 0.75),
        "(C.105) to (C.108)": (0.75 + np.sqrt(0.75) * 0.25, 1 - 0.03125),
    }
    for display, sides in expected.items():
        case = lab.inequality(display, [0.25])
        np.testing.assert_allclose([case.left[0] - 10, case.right[0] - 10], sides)


def test_roots_solve_the_quadratic():
    for sign in (1, -1):
        root = lab.roots(sign).left
        assert 3 * root**2 == pytest.approx((6 + 4 * root) / 16)
        assert lab.roots(sign, radicand=73).right == pytest.approx(root)


def test_rates_by_hand():
    assert lab.sharper_rate(3, 0.5) == pytest.approx(150)
    assert lab.sharper_rate(3, 1e-9) == 7.5


@given(st.integers(2, 300), st.floats(1e-9, 100))
def test_what_is_sharper_is_sharper(d, psi):
    assert (
        lab.sharper_rate(d, psi)
        <= theory.grad_equation_c_73(d, psi)
        <= theory.grad_theorem_6_1(d, psi)
    )
    assert lab.sharper_time(d, psi) <= theory.grad_lemma_c_14(d, psi)
    assert lab.sharper_small(d, psi) >= theory.grad_lemma_c_9(d, psi)
    assert lab.sharper_large(d, psi) >= theory.grad_lemma_c_9(d, psi)


def test_smallest_constants_by_hand():
    """From 0.8 to 0.2 on average at l = 1: 0.8 / 0.2 = e^(1 / (4 C 2.6))."""
    path = path_of([[0.8, 0.5, 0.22], [0.8, 0.3, 0.18]], 2)
    row = lab.smallest_constants([path], Stream(8)).iloc[0]
    assert row["C by the runs"] == pytest.approx(1 / np.log(4) / (4 * 2.6))
    lowest, highest = (1 / np.log(0.8 / end) / (4 * 2.6) for end in (0.18, 0.22))
    assert row["low"] == pytest.approx(lowest)
    assert row["high"] == pytest.approx(highest)
    assert row["C of one layer"] == pytest.approx(lab.needed([2], [0.8])["constant"][0])


def test_smallest_constants_take_the_slowest_layer_that_is_known():
    """The second of three layers counts; the next is rounding, the last is made by one run."""
    gaps = [1e-3, 9e-4, 6e-4, 4e-4, 1e-17, 0.0]
    path = path_of([gaps, [*gaps[:5], 1e-3]], 3)
    row = lab.smallest_constants([path], Stream(8)).iloc[0]
    assert row["C by the runs"] == pytest.approx(2 / np.log(10 / 4) / (9 * (1 + 3e-3)))
    assert lab.smallest_constants([path, path], Stream(8)).shape == (2, 6)


def test_theorem_by_hand():
    path = path_of([[2.0, 1.0, 0.5], [2.0, 1.5, 1.0]], 3)
    case = lab.theorem(path, 1, lambda d, psi: d * psi)
    assert case.left.tolist() == [0.25, 0.5]
    assert case.right == pytest.approx(np.exp(-1 / 6))


def test_needed_is_the_slower_extreme():
    row = lab.needed([2], [float(-np.log(0.8) / 2)]).iloc[0]
    psi = row["gap"]
    e = np.sqrt(1 - np.exp(-2 * psi))
    fall = -np.log((1 + np.sqrt(1 - e**2)) / 2)
    assert row["needed"] == pytest.approx(-1 / np.log(1 - fall / psi), rel=1e-6)
    assert row["constant"] == pytest.approx(row["needed"] / (4 * (1 + 2 * psi)))
    near = lab.needed([6], [1e-8]).iloc[0]
    assert near["needed"] == pytest.approx(1 / np.log(8 / 6), rel=1e-3)
    assert near["constant"] == pytest.approx(near["needed"] / 36, rel=1e-6)


def test_no_spectrum_falls_more_slowly_than_the_slower_extreme():
    """What `needed` rests on: spectra of the same gap, a few or many of whose values are small."""
    for d in (3, 6):
        for values in d * sp.spectra.varied(d, 40, Stream(9)):
            if values[-1] > 1e-9 and (psi := gap_of(values)) > 1e-6:
                k = lab.needed([d], [psi])["needed"][0]
                slowest = -psi * np.expm1(-1 / k)
                assert -expected_log_length(values) >= slowest * (1 - 1e-6)


@pytest.mark.parametrize("d", [2, 5, 8])
def test_nearly_isometric(d):
    x = lab.nearly_isometric(d, 3, Stream(3), epsilon=0.1)
    values = np.linalg.eigvalsh(x @ x.transpose(0, 2, 1))
    np.testing.assert_allclose(values.sum(axis=-1), d)
    np.testing.assert_allclose(np.abs(values - 1).max(axis=-1), 0.1)
    assert not np.allclose(x[0], x[1])


def test_figure_input():
    x = lab.figure_input(4, Stream(4), share=0.5)
    assert np.linalg.matrix_rank(x - np.eye(4) / 2) == 1
    assert (x >= 0).all()
    u, v = Stream(4).numpy("figure", 4).random((2, 4))
    np.testing.assert_allclose(
        lab.figure_input(4, Stream(4)), 0.995 * np.eye(4) + 0.005 * np.outer(u, v)
    )


def test_times_by_hand():
    assert lab.sharper_time(2, 0.5) == 80
    assert lab.sharper_time(2, threshold(2)) == 0
    path = path_of([[0.5, 0.3, 0.01], [0.5, 0.02, 0.01]], 2)
    case = lab.hitting_time(path, lab.sharper_time)
    assert case.left.tolist() == [2, 1]
    assert case.right == 80


def test_tables():
    times = lab.table_of_times([4, 6], 20, Stream(5))
    assert (times["mean time"] < times["bound here"]).all()
    assert (times["bound here"] < times["printed"]).all()
    assert times["bound here"][0] == pytest.approx(480 * times["gap"][0])
    deviations = lab.table_of_deviations([2, 3], [0.5, 0.02])
    assert deviations["width 2"][1] == pytest.approx(np.sqrt(1 - np.exp(-0.02 / 16)) / 0.02)
    assert deviations["width 3"][0] == lab.eigenvalues_within(3, 0.5, True).left / 0.5


def test_first_term():
    """At the threshold k = 2 d^2 and 16 d psi = 1."""
    assert lab.first_term(2, 0.0).right == pytest.approx(np.exp(-1 / 8))
    assert lab.first_term(2, 1.0).right == pytest.approx(2 * np.exp(-1 / 16))
    assert lab.first_term(2, 1.0, shift=1).right == pytest.approx(2)


def test_last_step_is_a_geometric_sum():
    y = 1 / 32
    r = 1 - y
    printed = y * sum(r**k for k in range(0, 5))
    mended = y * sum(r**k for k in range(1, 5))
    assert lab.last_step(1, 4).left == pytest.approx(printed)
    assert lab.last_step(1, 4, mended=True).left == pytest.approx(mended)
    assert lab.last_step(1, 4).right == pytest.approx(1 - np.exp(-4 / 32))
    assert lab.last_step(1, 4, power=2.0).right == pytest.approx(1 - np.exp(-8 / 32))


def test_second_phase_by_hand():
    r = np.sqrt(1 - 2 / 27)
    expected = 0.2 * sum(r**j for j in range(1, 6))
    assert lab.sharper_second_phase(7, 0.04 / 7, 5) == pytest.approx(expected)
    assert lab.sharper_second_phase(7, 9.0, 5) == pytest.approx(expected * 1.25)
    path = path_of([[0.5, 0.03, 0.02, 0.005], [0.02, 0.005, 0.005, 0.005]], 2)
    case = lab.second_phase(path, 2)
    np.testing.assert_allclose(case.left, [np.sqrt(0.04), 2 * np.sqrt(0.01)])


@given(st.integers(2, 50), st.floats(1e-6, 20), st.integers(1, 10**6))
def test_the_sharper_sum_is_sharper(d, psi, depth):
    sharper = lab.sharper_second_phase(d, psi, depth)
    assert sharper <= theory.grad_lemma_c_15(d, psi, depth) * (1 + 1e-9)
    assert sharper <= 0.75 * (d + 2)


def test_the_fall_near_isometry():
    values = 1 + 1e-3 * np.array([1, -1, 1, -1.0])
    ratio = 1 + expected_log_length(values) / gap_of(values)
    assert ratio == pytest.approx(4 / 6, rel=1e-4)
