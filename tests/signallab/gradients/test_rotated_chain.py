"""The chain against two layers by hand, extreme spectra against a search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import signalprop as sp
from signallab.gradients import rotated_chain as lab
from signallab.gradients.expected_isometry import haar, unit_rows
from signalprop.random import Stream


def test_descent_is_the_chain():
    x = np.random.default_rng(0).normal(size=(4, 4))
    path = lab.descent(x, 2, 3, Stream(1))
    w0, w1 = (haar(4, 3, Stream(1).child("layer", k)) for k in range(2))
    middle = unit_rows(w0 @ x)
    end = unit_rows(w1 @ middle)
    np.testing.assert_allclose(path.gaps[:, 0], sp.isometry_gap(x))
    np.testing.assert_allclose(path.gaps[:, 1], sp.isometry_gap(middle))
    np.testing.assert_allclose(path.gaps[:, 2], sp.isometry_gap(end))
    lengths = np.sqrt(((w1 @ middle) ** 2).sum(axis=-1))
    np.testing.assert_allclose(path.log_lengths[:, 1], np.log(lengths))
    np.testing.assert_allclose(path.log_norms[:, 1], -np.log(lengths.min(axis=-1)))


def test_gaps_fall_by_the_mean_log_square_of_the_lengths():
    path = lab.descent(unit_rows(np.random.default_rng(2).normal(size=(5, 5))), 6, 2, Stream(3))
    falls = -2 * path.log_lengths.mean(axis=-1)
    np.testing.assert_allclose(-np.diff(path.gaps, axis=1), falls, atol=1e-12)


def test_hitting_times():
    path = lab.Descent(np.array([[3.0, 2, 1], [3, 1, 1], [1, 1, 1]]), np.zeros((3, 2, 4)))
    assert path.hitting_times(1.0).tolist() == [2, 1, 0]
    with pytest.raises(ValueError, match="depth"):
        path.hitting_times(0.5)


def test_one_descent_for_each_start():
    x = np.random.default_rng(4).normal(size=(3, 4, 4))
    path = lab.descent(x, 1, 3, Stream(5))
    np.testing.assert_allclose(path.gaps[:, 0], sp.isometry_gap(x))


@given(st.integers(2, 40), st.floats(1e-6, 15), st.booleans())
def test_extreme_spectra_have_their_gap(d, psi, up):
    values = lab.extreme(d, psi, up)
    assert values.sum() == pytest.approx(d)
    assert lab.gap_of(values) == pytest.approx(psi, rel=1e-6, abs=1e-10)
    assert values[-1] < 1 < values[0]


def test_extreme_spectra_are_extreme():
    """No random spectrum of the same gap reaches beyond."""
    for values in 6 * sp.spectra.varied(6, 40, Stream(6)):
        if values[-1] > 1e-12 and (psi := lab.gap_of(values)) > 1e-9:
            assert values[-1] >= lab.extreme(6, psi)[-1] * (1 - 1e-6)
            assert values[0] <= lab.extreme(6, psi, up=True)[0] * (1 + 1e-6)


def test_bad_input():
    with pytest.raises(ValueError, match="psi"):
        lab.extreme(3, 0.0)
    with pytest.raises(ValueError, match="eigenvalues"):
        lab.with_spectrum([2.0, 1e-21], Stream(0))


def test_with_spectrum():
    x = lab.with_spectrum([2.0, 0.7, 0.3], Stream(7))
    np.testing.assert_allclose(np.linalg.eigvalsh(x @ x.T), [0.3, 0.7, 2.0])
    assert lab.gap_of([2.0, 0.7, 0.3]) == pytest.approx(float(sp.isometry_gap(x)))
    assert lab.threshold(5) == 1 / 80
