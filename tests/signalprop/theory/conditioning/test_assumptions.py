"""Assumptions A and B on Gram matrices whose separation is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalprop import theory


@given(st.integers(2, 8), st.floats(-1, 0.999))
def test_equicorrelated(n, rho):
    rho = max(rho, -1 / (n - 1))
    gram = (1 - rho) * np.eye(n) + rho
    assert theory.cond_assumption_a(gram) == pytest.approx(1 - abs(rho), abs=1e-12)
    assert theory.cond_assumption_b(gram) == pytest.approx(
        min(1 - rho, 1 + (n - 1) * rho), abs=1e-12
    )


def test_batches():
    grams = np.stack([np.eye(3), np.full((3, 3), -0.5) + 1.5 * np.eye(3)])
    np.testing.assert_allclose(theory.cond_assumption_a(grams), [1, 0.5])
    np.testing.assert_allclose(theory.cond_assumption_b(grams), [1, 0], atol=1e-12)


@pytest.mark.parametrize("gram", [np.eye(1), np.ones((2, 3)), 2 * np.eye(2)])
def test_bad_gram(gram):
    for assumption in (theory.cond_assumption_a, theory.cond_assumption_b):
        with pytest.raises(ValueError, match="gram must"):
            assumption(gram)
