"""The alignment of rank-one features, counted pair by pair."""

import numpy as np
import pytest

import signalprop as sp
from signalprop import theory


@pytest.mark.parametrize("side", range(6))
def test_alignment_by_counting(side):
    n, u = 5, np.array([1.0, -2.0, 0.5, -0.1])
    v = np.where(np.arange(n) < side, 1.0, -1.0) * np.arange(1, n + 1)
    features = np.maximum(np.outer(v, u), 0)
    measured = sp.metrics.mean_absolute_cosine(features)
    assert theory.rank_one_alignment(side, n) == pytest.approx(float(measured), abs=1e-12)


def test_two_samples_are_on_one_side_or_on_two():
    assert [theory.rank_one_alignment(side, 2) for side in range(3)] == [1, 0, 1]


def test_bad_input():
    for side, n in ((0, 1), (4, 3), (-1, 3)):
        with pytest.raises(ValueError, match="n >= 2 and 0 <= side <= n"):
            theory.rank_one_alignment(side, n)
