import matplotlib
import numpy as np
import pytest

import signalprop as sp
from signalprop.stats import batch_means, mean_interval, slope

matplotlib.use("Agg")

VALUES = np.random.default_rng(0).lognormal(size=(6, 5))
GAP = sp.Measurement(VALUES, np.arange(0, 10, 2), "gap")


def test_intervals_and_slopes_are_over_runs():
    expected = mean_interval(VALUES, axis=0, level=0.9)
    np.testing.assert_array_equal(GAP.mean_ci(level=0.9).low, expected.low)
    np.testing.assert_array_equal(GAP.mean(), expected.value)
    assert GAP.log().slope() == slope([0, 2, 4, 6, 8], np.log(VALUES))
    bootstrap = GAP.mean_ci(method="bootstrap")
    assert (bootstrap.low < GAP.mean()).all()


def test_windows():
    window = GAP.between(2, 6)
    assert window.layers.tolist() == [2, 4, 6]
    np.testing.assert_array_equal(window.values, VALUES[:, 1:4])
    with pytest.raises(ValueError, match="between 9 and 10"):
        GAP.between(9, 10)


def test_logarithms_need_positive_values():
    with pytest.raises(ValueError, match="gap must be positive"):
        sp.Measurement(np.zeros((1, 2)), np.arange(2), "gap").log()


@pytest.mark.parametrize("runs", [1, 6])
def test_plot(runs):
    ax = sp.Measurement(VALUES[:runs], GAP.layers, "gap").plot(label="BN")
    np.testing.assert_array_equal(ax.lines[-1].get_ydata(), VALUES[:runs].mean(axis=0))
    assert ax.get_ylabel() == "gap"
    assert len(ax.collections) == (runs > 1)
    ax.clear()


def test_time_average_is_batch_means():
    series = np.random.default_rng(0).standard_normal((3, 200)).cumsum(axis=1)
    average = sp.TimeAverage(series.reshape(3, 20, 10).mean(axis=2), "walk")
    expected = batch_means(series, batches=20)
    np.testing.assert_allclose(average.value, expected.value)
    np.testing.assert_allclose(average.interval().low, expected.low)
    reference = series.reshape(3, 20, 10).mean(axis=2).std(axis=1, ddof=1) / np.sqrt(20)
    np.testing.assert_allclose(average.standard_error, reference)
