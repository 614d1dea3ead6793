"""Series made to order: their sums, their slopes, their law."""

import numpy as np
import pytest
from scipy import stats

from signalprop.limits.maps import KernelMap
from signalprop.limits.power_series import pair_series, random_series, with_constant
from signalprop.random import Stream


def test_random_series_are_centred_distributions():
    w = random_series(500, 12, Stream(1))
    assert w.shape == (500, 13)
    assert (w >= 0).all()
    assert (w[:, 0] == 0).all()
    assert w.sum(1) == pytest.approx(1, abs=1e-14)
    highest = 12 - (w[:, ::-1] > 0).argmax(1)
    assert highest.min() == 3
    assert highest.max() == 12
    assert np.array_equal(w, random_series(500, 12, Stream(1)))


def test_the_last_order_of_random_series_is_uniform():
    highest = 5 - (random_series(3000, 5, Stream(4))[:, ::-1] > 0).argmax(1)
    counts = np.bincount(highest, minlength=6)[3:]
    assert stats.chisquare(counts).pvalue > 1e-6


def test_random_series_have_the_dirichlet_law():
    """With K = 3 and concentration a, the first weight is Beta(a, 2a): a mixture of three."""
    first = random_series(4000, 3, Stream(2))[:, 1]

    def law(x):
        return np.mean([stats.beta.cdf(x, a, 2 * a) for a in (0.3, 0.5, 1.0)], axis=0)

    assert stats.kstest(first, law).pvalue > 1e-6


def test_with_constant_sets_the_slope_at_one():
    base = np.concatenate([random_series(50, 40, Stream(3))])
    for slope in (0.0, 0.3, 1.0):
        w = with_constant(base, slope)
        assert w.sum(1) == pytest.approx(1, abs=1e-14)
        assert KernelMap.from_series(w).derivative(1.0) == pytest.approx(slope, abs=1e-13)
    mean_order = base @ np.arange(41)
    assert with_constant(base, mean_order) == pytest.approx(base, abs=1e-15)


def test_pair_series_list_every_pair_and_share():
    w = pair_series([1, 2, 5], [0.25, 0.5])
    assert w.shape == (6, 6)
    assert {tuple(np.flatnonzero(row)) for row in w} == {(1, 2), (1, 5), (2, 5)}
    assert set(w[:, 1]) == {0.0, 0.25, 0.5}


def test_bad_input():
    with pytest.raises(ValueError, match="largest must be at least 3"):
        random_series(1, 2, 0)
    with pytest.raises(ValueError, match="shares must lie strictly between 0 and 1"):
        pair_series([1, 2], [1.0])
    with pytest.raises(ValueError, match="slope must lie between 0 and the mean order"):
        with_constant(pair_series([1, 2], [0.5]), 1.6)
    with pytest.raises(ValueError, match="count must be at least 0, got -1"):
        random_series(-1, 3, 0)
    with pytest.raises(ValueError, match="orders must be at least one, none below 0, got "):
        pair_series([], [0.5])
    with pytest.raises(ValueError, match=r"none below 0, got \[-2, 1\]"):
        pair_series([-2, 1], [0.5])
    with pytest.raises(ValueError, match="weights must have none at order 0"):
        with_constant(pair_series([0, 2], [0.5]), 0.5)
