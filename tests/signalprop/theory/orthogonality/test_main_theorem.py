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
