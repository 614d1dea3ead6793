import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from signalprop.random import Stream
from signalprop.stats import Estimate, batch_means, mean_interval, per_test_error

STREAM = Stream(0).child("test_intervals")
finite = st.floats(-1e3, 1e3)


def assert_share(hits, level, floor=1e-6):
    """The number of hits is what a binomial of this level could give."""
    assert stats.binomtest(int(np.sum(hits)), np.size(hits), level).pvalue > floor


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_t_interval_is_scipys(level):
    values = STREAM.numpy("scipy").normal(size=(7, 3))
    estimate = mean_interval(values, level=level)
    expected = stats.ttest_1samp(values, 0).confidence_interval(level)
    np.testing.assert_allclose(estimate.low, expected.low, rtol=1e-12)
    np.testing.assert_allclose(estimate.high, expected.high, rtol=1e-12)
    np.testing.assert_allclose(estimate.half_width, (expected.high - expected.low) / 2)


def test_t_interval_covers_at_its_level():
    values = STREAM.numpy("cover").normal(3.0, 2.0, size=(4, 5000))
    assert_share(mean_interval(values, level=0.9).contains(3.0), 0.9)


def test_bootstrap_covers_the_mean_of_a_skewed_law():
    values = STREAM.numpy("skew").exponential(size=(60, 400))
    hits = mean_interval(values, method="bootstrap", level=0.9).contains(1.0).mean()
    # BCa undercovers by a few percent at 60 runs; 5 standard errors of 400 trials are 0.075.
    assert 0.8 < hits < 0.96


@given(st.lists(finite, min_size=2, max_size=8), st.floats(0.1, 10), finite)
def test_interval_follows_units(values, scale, shift):
    plain = mean_interval(values)
    moved = mean_interval(scale * np.array(values) + shift)
    np.testing.assert_allclose(
        [moved.low, moved.high],
        [scale * plain.low + shift, scale * plain.high + shift],
        atol=1e-8,
        rtol=1e-8,
    )


@pytest.mark.parametrize("method", ["t", "bootstrap"])
def test_constant_entries_get_points_and_others_intervals(method):
    values = np.stack([np.full(10, 0.1), np.arange(10.0)], axis=1)
    estimate = mean_interval(values, method=method)
    np.testing.assert_allclose(estimate.half_width[0], 0, atol=1e-15)
    assert estimate.half_width[1] > 1


def test_axis_and_kind_of_input():
    values = STREAM.numpy("axis").normal(size=(3, 5))
    np.testing.assert_array_equal(mean_interval(values, axis=1).low, mean_interval(values.T).low)
    tensor = torch.tensor(values, dtype=torch.float32, requires_grad=True)
    assert mean_interval(tensor).low.dtype == np.float64
    assert mean_interval([0, 1, 1, 0]).value == 0.5


def test_bootstrap_is_keyed_by_its_seed():
    values = STREAM.numpy("seed").normal(size=20)
    first, again, other = (mean_interval(values, method="bootstrap", seed=s) for s in (0, 0, 1))
    assert first == again
    assert first != other


def test_batch_means_cover_where_plain_errors_do_not():
    generator, rho, steps = STREAM.numpy("series"), 0.9, 3000
    series = np.empty((500, steps))
    series[:, 0] = generator.normal(size=500) / np.sqrt(1 - rho**2)
    for t in range(1, steps):
        series[:, t] = rho * series[:, t - 1] + generator.normal(size=500)
    honest = batch_means(series).contains(0.0).mean()
    naive = mean_interval(series, axis=1).contains(0.0).mean()
    assert naive < 0.6
    # Blocks of 150 steps at correlation time 10: slightly narrow, and 5 standard errors are 0.05.
    assert 0.87 < honest <= 1


def test_batch_means_leave_out_the_start():
    assert batch_means([1e9, *range(10)], batches=5).value == 4.5


def test_per_test_error_adds_up():
    assert per_test_error(340) * 340 == pytest.approx(1e-3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mean_interval([1.0]), "values.*2 runs"),
        (lambda: mean_interval([1.0, np.nan]), "values must be finite"),
        (lambda: mean_interval([]), "values must not be empty"),
        (lambda: mean_interval(np.ma.masked_array([1.0, 2.0], [True, False])), "values.*masked"),
        (lambda: mean_interval([1.0, 2.0], axis=1), "axis 1"),
        (lambda: mean_interval([1.0, 2.0], level=95), "level"),
        (lambda: mean_interval([1.0, 2.0], method="normal"), "method"),
        (lambda: mean_interval(["a", "b"]), "values must be a numeric array"),
        (lambda: batch_means([1.0, 2.0, 3.0], batches=4), "batches"),
        (lambda: batch_means([1.0, 2.0, 3.0], batches=1), "batches"),
        (lambda: per_test_error(0), "tests"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_repr_shows_the_numbers():
    assert repr(Estimate(1.0, 0.5, 1.5, 0.9)) == "Estimate(1 in [0.5, 1.5] at 90%)"


@pytest.mark.parametrize("method", ["t", "bootstrap"])
@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-600, 2.0**600, 2.0**1020])
def test_intervals_do_not_see_the_units(method, unit):
    values = np.array([[1.0, 3.0], [2.0, 5.0], [4.0, 4.0], [3.0, 7.5]])
    expected = mean_interval(values, method=method)
    ours = mean_interval(values * [unit, 1.0], method=method)
    for part in ("value", "low", "high"):
        mixed = getattr(ours, part) / [unit, 1.0]
        np.testing.assert_allclose(mixed, getattr(expected, part), rtol=1e-9)


def test_an_error_too_small_to_divide_is_refused():
    with pytest.raises(ValueError, match="large enough to divide"):
        per_test_error(10, 5e-324)


def test_an_interval_beyond_the_floats_is_refused_and_no_sum_on_the_way_overflows():
    runs = np.array([1.0, 2.0, 4.0])
    found = mean_interval(4e306 * runs)
    np.testing.assert_allclose(found.high, 4e306 * mean_interval(runs).high)
    with pytest.raises(ValueError, match="within float64, got values up to 9e"):
        mean_interval(1e308 * np.array([1.0, -1.0]))
    series = np.array([1.7e308, 1.6e308] * 2)
    np.testing.assert_allclose(batch_means(series, batches=2).value, 1.65e308)
