"""What statistics ask of their input."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special

from signalprop.stats._sample import check_level, floats, positive_floats, t_quantile, to_unit


def density(t, freedom):
    """Student's density from its definition."""
    log = special.gammaln((freedom + 1) / 2) - special.gammaln(freedom / 2)
    return np.exp(log - (freedom + 1) / 2 * np.log1p(t * t / freedom)) / np.sqrt(freedom * np.pi)


@pytest.mark.parametrize("freedom", [1, 4, 30])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_quantile_holds_the_level(level, freedom):
    end = t_quantile(level, freedom)
    inside = integrate.quad(density, -end, end, args=(freedom,), limit=500)[0]
    assert inside == pytest.approx(level, abs=1e-7)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 1.1, float("nan")])
def test_levels_lie_strictly_between_0_and_1(level):
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1, got"):
        check_level(level)


def test_any_kind_becomes_float64():
    for value in ([1, 2], np.array([1, 2], np.float32), torch.tensor([1, 2])):
        array = floats(value, "x")
        assert array.dtype == np.float64
        assert array.tolist() == [1, 2]
    assert floats(torch.ones(2, requires_grad=True), "x").tolist() == [1, 1]


def test_wrong_shapes_are_named():
    assert floats([[1.0]], "x", (1, 2)).shape == (1, 1)
    with pytest.raises(ValueError, match=r"x must have 1 or 2 dimensions, got shape \(1, 1, 1\)"):
        floats([[[1.0]]], "x", (1, 2))
    with pytest.raises(ValueError, match=r"x must not be empty, got shape \(0,\)"):
        floats([], "x")


def test_what_has_no_logarithm_is_named():
    assert positive_floats([1e-300, 2], "x").tolist() == [1e-300, 2]
    for bad in (0.0, -1.0):
        with pytest.raises(ValueError, match="x must be positive to have a logarithm, got"):
            positive_floats([1.0, bad], "x")


@given(st.lists(st.floats(-1e300, 1e300), min_size=1).filter(lambda values: any(values)))
def test_units_are_powers_of_two_and_round_nothing(values):
    array = np.array(values)
    unit, scale = to_unit(array)
    assert np.frexp(scale)[0] == 0.5
    assert 1 <= np.abs(unit).max() < 2
    large = np.abs(unit) > 1e-290  # what is not denormal now
    np.testing.assert_array_equal((unit * scale)[large], array[large])


def test_units_along_an_axis():
    unit, scale = to_unit(np.array([[3.0, 100.0], [-5.0, 1.0]]), axis=0)
    assert scale.tolist() == [4, 64]
    assert unit.tolist() == [[0.75, 1.5625], [-1.25, 0.015625]]
