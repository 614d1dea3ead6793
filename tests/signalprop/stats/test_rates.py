import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalprop.random import Stream
from signalprop.stats import exponential_rate, power_rate

from .test_intervals import assert_share

STREAM = Stream(0).child("test_rates")
LAYERS = np.arange(60)


def noisy(curve, runs, name, size=0.1):
    return curve * np.exp(size * STREAM.numpy(name).normal(size=(runs, len(curve))))


@given(st.floats(0.1, 1.0), st.floats(-12, -5), st.floats(0.01, 100))
def test_exact_curves_are_recovered(rate, log_floor, amplitude):
    floor = np.exp(log_floor)
    layers = np.arange(int(-log_floor / rate) + 10)
    fit = exponential_rate(amplitude * np.maximum(np.exp(-rate * layers), floor))
    assert fit.value == pytest.approx(rate, rel=1e-6)
    assert fit.floor == pytest.approx(amplitude * floor, rel=1e-6)
    assert fit.floor_start == pytest.approx(-log_floor / rate, rel=1e-6)
    assert fit.amplitude == pytest.approx(amplitude, rel=1e-6)


def test_rate_covers_its_truth_over_many_curves():
    curve = np.maximum(np.exp(-0.2 * LAYERS), 1e-3)
    fits = [
        exponential_rate(runs, level=0.9) for runs in noisy(curve, 4 * 400, "c").reshape(400, 4, 60)
    ]
    assert_share([fit.contains(0.2) for fit in fits], 0.9)
    starts = [fit.floor_start for fit in fits]
    assert abs(np.mean(starts) - 3 * np.log(10) / 0.2) < 1


def test_the_floor_would_have_spoilt_a_plain_fit():
    curve = noisy(np.maximum(np.exp(-0.4 * LAYERS), 1e-3), 1, "spoil")[0]
    assert abs(np.polyfit(LAYERS, np.log(curve), 1)[0]) < 0.2
    assert exponential_rate(curve).value == pytest.approx(0.4, abs=0.03)


@pytest.mark.parametrize("margin", [3.0, 10.0, 30.0])
def test_a_margin_bounds_the_bias_of_an_added_floor(margin):
    fit = exponential_rate(np.exp(-0.3 * LAYERS) + 1e-5, margin=margin)
    assert 0 < 0.3 - fit.value < np.log1p(1 / margin) * 6 / fit.points
    assert fit.floor == pytest.approx(1e-5, rel=0.2)  # the bend counts as floor


def test_no_floor_is_not_invented():
    for curve in noisy(np.exp(-0.2 * LAYERS), 50, "straight"):
        fit = exponential_rate(curve)
        assert (fit.floor is None) == (fit.floor_start is None)
        assert fit.value == pytest.approx(0.2, abs=0.02)
    assert exponential_rate(np.exp(-0.2 * LAYERS)).floor is None
    shallow = noisy(np.exp(-0.03 * LAYERS), 500, "shallow", size=0.3)  # a floor gains a little here
    floors = [exponential_rate(curve, margin=1).floor is not None for curve in shallow]
    assert np.mean(floors) < 0.1


def test_growth_has_a_negative_rate():
    fit = exponential_rate(noisy(np.exp(0.1 * LAYERS), 1, "growth")[0])
    assert fit.value == pytest.approx(-0.1, abs=0.02)
    assert fit.floor is None


def test_power_law_with_a_floor():
    x = np.geomspace(1, 1e4, 40)
    fit = power_rate(noisy(np.maximum(5 * x**-1.5, 1e-4), 8, "power", 0.05), x, level=1 - 1e-6)
    assert fit.contains(1.5)
    assert fit.floor_start == pytest.approx((5 / 1e-4) ** (1 / 1.5), rel=0.2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: exponential_rate([1.0, 0.1, 0.0, 0.0]), "values must be positive"),
        (lambda: exponential_rate([1.0, 0.5]), "at least 3 points"),
        (lambda: exponential_rate([1.0, 1e-3, *[1e-8] * 20]), "at least 3 points"),
        (lambda: exponential_rate([1.0, 0.5, np.nan]), "values must be finite"),
        (lambda: exponential_rate([1.0, 0.5, 0.2], x=[0, 2, 1]), "x must be increasing"),
        (lambda: exponential_rate([1.0, 0.5, 0.2], x=[0, 1]), "x must be increasing with 3"),
        (lambda: exponential_rate([1.0, 0.5, 0.2], margin=0.5), "margin"),
        (lambda: power_rate([1.0, 0.5, 0.2], x=[0, 1, 2]), "x must be positive"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("value", [1.0, 0.3, 1e-300, 1e300])
def test_a_constant_has_rate_zero_for_sure(value):
    for rate in (exponential_rate([value] * 6), power_rate([value] * 6, range(1, 7))):
        assert (rate.value, rate.low, rate.high, rate.floor) == (0, 0, 0, None)
        assert rate.amplitude == pytest.approx(value)
