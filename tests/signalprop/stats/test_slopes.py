import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalprop.random import Stream
from signalprop.stats import exponent, slope

from .test_intervals import assert_share

STREAM = Stream(0).child("test_slopes")


@given(st.integers(3, 20), st.floats(-5, 5), st.floats(-5, 5), st.integers(0, 99))
def test_slope_is_that_of_polyfit(points, true, intercept, seed):
    generator = Stream(seed).numpy()
    x = np.arange(points) + generator.uniform(size=points) / 2
    y = intercept + true * x + generator.normal(size=points)
    fit = slope(x, y)
    np.testing.assert_allclose([fit.value, fit.intercept], np.polyfit(x, y, 1), atol=1e-9)
    assert fit.r_squared == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, abs=1e-9)


@pytest.mark.slow
def test_regression_interval_covers():
    x = np.array([0.0, 0.2, 1.0])  # one degree of freedom: a wrong count shows
    y = 2 * x + STREAM.numpy("regression").normal(size=(3000, 3))
    assert_share([slope(x, curve, level=0.8).contains(2.0) for curve in y], 0.8)


@pytest.mark.slow
def test_interval_over_runs_covers_though_points_are_correlated():
    x = np.arange(12)
    walks = STREAM.numpy("walks").normal(size=(1500, 5, 12)).cumsum(axis=-1)
    over_runs = [slope(x, runs, level=0.9).contains(0.0) for runs in walks]
    as_if_independent = [slope(x, runs.mean(axis=0), level=0.9).contains(0.0) for runs in walks]
    assert_share(over_runs, 0.9)
    assert np.mean(as_if_independent) < 0.7


def test_one_run_is_a_curve():
    y = [1.0, 2.0, 2.0, 5.0]
    assert slope(range(4), [y]) == slope(range(4), y)


def test_exact_and_constant_curves():
    assert slope([0, 1, 2], [1.0, 3.0, 5.0]).half_width == pytest.approx(0, abs=1e-7)
    flat = slope([0, 1, 2], [4.0, 4.0, 4.0])
    assert (flat.value, flat.r_squared) == (0.0, 1.0)


def test_exponent_of_a_noisy_power_law():
    x = np.array([50, 100, 200, 500, 1000])
    noise = np.exp(0.1 * STREAM.numpy("power").normal(size=(10, 5)))
    fit = exponent(x, 3 * x**-0.5 * noise, level=1 - 1e-6)
    assert fit.contains(-0.5)
    assert fit.half_width < 0.5


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([0, 1, 2], [1.0, 2.0], "y must have 3 points"),
        ([1, 1, 1], [1.0, 2.0, 3.0], "x must hold"),
        ([0, 1], [1.0, 2.0], "y must have at least 3 points"),
        ([0, 1, 2], [1.0, np.inf, 2.0], "y must be finite"),
        ([[0, 1, 2]], [1.0, 2.0, 3.0], "x must have 1 dimensions"),
        ([0, 1, 2], 1.0, "y must have 1 or 2 dimensions"),
    ],
)
def test_bad_input_is_named(x, y, words):
    with pytest.raises(ValueError, match=words):
        slope(x, y)


def test_exponent_wants_positive_values():
    with pytest.raises(ValueError, match="y must be positive"):
        exponent([1, 2, 3], [1.0, 0.0, 2.0])


def test_a_constant_curve_has_slope_zero_for_sure():
    for value in (1.0, 0.1, 1e-200, 1e200):
        line = slope(range(5), [value] * 5)
        assert (line.value, line.low, line.high) == (0, 0, 0)
        assert line.intercept == pytest.approx(value)


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e300])
def test_slopes_do_not_see_the_units(unit):
    x, y = np.arange(5.0), np.array([[1.0, 2.1, 2.9, 4.2, 5.0], [1.2, 2.0, 3.3, 4.1, 4.9]])
    for curves in (y, y[0]):
        expected = slope(x, curves)
        line = slope(x, unit * curves)
        for part in ("value", "low", "high", "intercept"):
            assert getattr(line, part) / unit == pytest.approx(getattr(expected, part), rel=1e-9)
        assert line.r_squared == pytest.approx(expected.r_squared)
        assert slope(unit * x, curves).value * unit == pytest.approx(expected.value)
