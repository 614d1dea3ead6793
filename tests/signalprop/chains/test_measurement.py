import sys
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

import signalprop as sp
from signalprop.chains import Measurement
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


def test_a_measurement_says_what_it_is_and_equals_its_like():
    values = np.arange(12.0).reshape(2, 3, 2)
    m = Measurement(values, np.array([0, 2, 4]), "gap")
    assert repr(m) == "Measurement(gap: 2 runs, 3 layers, 0 to 4, each (2,))"
    one = Measurement(values[:1, :1, 0], np.array([3]), "gap")
    assert repr(one) == "Measurement(gap: 1 run, 1 layer, 3 to 3)"
    assert repr(Measurement(values[:, :0, 0], np.array([]), "gap")).endswith("2 runs, 0 layers)")
    assert m == Measurement(values.copy(), np.array([0, 2, 4]), "gap")
    assert m != Measurement(values + 1, m.layers, "gap")
    assert m != Measurement(values, m.layers + 1, "gap")
    assert m != Measurement(values, m.layers, "rank")
    assert m != "gap"


def test_a_frame_has_a_row_for_each_number():
    values = np.arange(12.0).reshape(2, 3, 2)
    frame = Measurement(values, np.array([0, 2, 4]), "gap").to_frame()
    assert list(frame.columns) == ["run", "layer", "component", "gap"]
    one = frame[(frame["run"] == 1) & (frame["layer"] == 4) & (frame["component"] == 0)]
    assert one["gap"].tolist() == [values[1, 2, 0]]
    means = Measurement(values[..., 0], np.array([0, 2, 4]), "gap").to_frame()
    np.testing.assert_allclose(means.groupby("layer")["gap"].mean(), values[..., 0].mean(0))
    deep = Measurement(values.reshape(2, 3, 1, 2), np.array([0, 2, 4]), "gap").to_frame()
    assert list(deep.columns) == ["run", "layer", "component 1", "component 2", "gap"]


def test_arrays_with_names_where_xarray_is_installed(monkeypatch):
    """A stand-in keeps what it is given: the environment of the book has no xarray."""

    def keep(values, coords, dims, name):
        sizes = {dim: len(coords[dim]) for dim in dims if dim in coords}
        assert sizes == {d: n for d, n in zip(dims, values.shape, strict=True) if d in coords}
        return dims, coords, name

    monkeypatch.setitem(sys.modules, "xarray", SimpleNamespace(DataArray=keep))
    dims, coords, name = GAP.to_xarray()
    assert (dims, name, coords["layer"].tolist()) == (["run", "layer"], "gap", [0, 2, 4, 6, 8])
    deep = Measurement(VALUES.reshape(2, 3, 1, 5), np.arange(3), "gap").to_xarray()
    assert deep[0] == ["run", "layer", "component 1", "component 2"]
    swept = sp.Sweep(VALUES, np.arange(5), "gap").to_xarray()
    assert swept[0] == ["run", "at"]
