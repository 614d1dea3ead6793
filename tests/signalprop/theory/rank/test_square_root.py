"""The bounds of the square-root theorem follow from one another as its proof has it."""

import numpy as np
import pytest

from signalprop import theory


def test_by_hand():
    assert theory.rank_lemma_2(9.0, 1 / 3) == pytest.approx(4)
    assert theory.rank_lemma_18(0.84, 9) == pytest.approx(27 / 0.4)
    assert theory.rank_lemma_18(0.84, 9, constant=0.5) == pytest.approx(27 / 0.8)
    assert theory.rank_theorem_3(0.84, 4, tau=0.5) == pytest.approx(0.2)


def test_lemma_18_gives_theorem_3():
    """Eq. 64 and 65: d^2 over the bound of the squared norm."""
    alpha, d = np.array([0.1, 0.9]), np.array([7, 64])
    expected = d**2 / theory.rank_lemma_18(alpha, d)
    np.testing.assert_allclose(theory.rank_theorem_3(alpha, d), expected, rtol=1e-12)
