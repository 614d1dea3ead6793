import numpy as np
import pytest

import signalprop as sp
from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(0).child("test_orthogonality")


@pytest.mark.parametrize("n", [1, 2, 5])
def test_gap_of_spectrum_is_the_metric(n):
    s = sp.spectra.varied(n, 20, STREAM)
    h = np.sqrt(s)[..., None] * np.eye(n, n + 1)
    np.testing.assert_allclose(theory.gap_of_spectrum(s), sp.orthogonality_gap(h), atol=1e-14)
    rank_one = np.eye(1, n)
    assert theory.gap_of_spectrum(rank_one)[0] == pytest.approx(theory.largest_gap(n), abs=1e-14)


def test_theorem_1_and_its_repair_are_as_printed():
    alpha, depth, n, d = 0.3, 7, 4, 10**6
    printed = 2 * (1 - 0.2) ** 7 + 12 / (0.3 * 1000)
    assert theory.orth_theorem_1(alpha, depth, n, d) == pytest.approx(printed)
    repaired = 2 * (1 - 0.06) ** 7 + 12 / (0.09 * 1000)
    assert theory.orth_theorem_1_repaired(alpha, depth, n, d) == pytest.approx(repaired)
    for bad in (0.0, 0.6):
        with pytest.raises(ValueError, match="alpha must lie in"):
            theory.orth_theorem_1(bad, depth, n, d)


def test_theorem_1_is_the_geometric_series_of_its_proof():
    """``v <- (1 - 2/3 alpha) v + 1/sqrt d`` from 1/n, times 2 n: below the bound, and its limit."""
    alpha, n, d = 0.3, 4, 10**6
    v, bounds, values = 1 / n, [], []
    for depth in range(60):
        values.append(2 * n * v)
        bounds.append(theory.orth_theorem_1(alpha, depth, n, d))
        v = (1 - 2 / 3 * alpha) * v + 1 / np.sqrt(d)
    assert np.all(np.array(values) <= bounds)
    assert values[-1] / bounds[-1] == pytest.approx(1, abs=1e-4)


def test_alpha_may_be_as_large_as_orthogonality_allows():
    largest = 1 / np.sqrt(3)
    assert theory.orth_theorem_1(largest, 0, 3, np.inf) == 2
    assert theory.orth_theorem_1([0.1, largest], 0, 3, np.inf).tolist() == [2, 2]
    for n in (2, 3, 5, 7):  # one rounding above is as large as it
        largest_of_n = np.nextafter(1 / np.sqrt(n), 1)
        assert theory.orth_theorem_1(largest_of_n, 0, n, np.inf) == 2
    for bad in ([0.1, largest + 1e-6], [0.1, -0.1]):
        with pytest.raises(ValueError, match=r"alpha must lie in \(0, 1/sqrt n\] = \(0, 0.5774\]"):
            theory.orth_theorem_1(bad, 0, 3, 100)


def test_the_gap_is_a_distance_to_the_flat_spectrum():
    s = np.array([[0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_allclose(theory.gap_of_spectrum(s), [np.sqrt(1 / 24), 0], atol=1e-15)
    assert [theory.largest_gap(n) for n in (1, 4)] == [0.0, pytest.approx(np.sqrt(0.75))]
