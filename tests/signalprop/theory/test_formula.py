"""What the formulas refuse, and what they are given."""

from typing import Any

import numpy as np
import pytest
import torch

from signalprop.theory._formula import formula


@formula()
def power(x: "Any", depth: "int", scale: "float" = 1.0) -> "Any":
    assert isinstance(depth, int)
    return scale * np.sqrt(x) ** depth


@formula(m=2)
def trace(m: "Any") -> "float":
    return float(np.trace(m))


@formula()
def share(n: "Any", d: "Any", kind: "str" = "mean") -> "Any":
    return n / d if kind == "mean" else (n - 1) / d


@pytest.mark.parametrize(
    ("x", "depth", "message"),
    [
        (np.nan, 1, "x must be numbers, got NaN"),
        ([1.0, np.nan], 1, "x must be numbers, got NaN"),
        (torch.tensor([1.0, np.nan]), 1, "x must be numbers, got NaN"),
        ("two", 1, "x must be a real numeric array"),
        (1j, 1, "x must be a real numeric array, got complex128"),
        (torch.tensor([1j]), 1, "x must be a real numeric array, got complex64"),
        ([], 1, r"x must be an array that is not empty, got shape \(0,\)"),
        (np.ma.masked_array([1.0], [True]), 1, "x must not be a masked array"),
        ([[1.0], [1.0, 2.0]], 1, "x must be a numeric array, got list"),
        (1.0, 1.5, "depth must be a whole number from 0, got 1.5"),
        (1.0, -1, "depth must be a whole number from 0, got -1"),
        (1.0, np.inf, "depth must be a whole number from 0, got inf"),
        (1.0, [1, 2], r"depth must be a single number, got shape \(2,\)"),
        (-1.0, 1, "power has no value at x = -1.0, depth = 1"),
        ([1.0, -1.0], 1, "power has no value at x = "),
    ],
)
def test_what_is_refused(x, depth, message):
    with pytest.raises(ValueError, match=message):
        power(x, depth)


def test_what_is_given():
    assert power(4.0, 3) == 8
    assert power(4.0, depth=3.0, scale=np.float64(2)) == 16
    assert power(0.0, 2) == 0
    assert power(np.inf, 2) == np.inf
    np.testing.assert_array_equal(power([1.0, 4.0], np.int64(1)), [1, 2])


def test_a_value_beyond_the_floats_is_infinite():
    assert power(1e300, 3) == np.inf


def test_numbers_of_samples_are_positive():
    assert share(1, 2) == 0.5
    for n, d in ((0, 1), (-1, 1), (1, [1.0, 0.0])):
        with pytest.raises(ValueError, match="must be positive"):
            share(n, d)


def test_arguments_broadcast():
    assert share([[1.0], [2.0]], [1.0, 2.0, 4.0]).shape == (2, 3)
    with pytest.raises(ValueError, match=r"n, d must broadcast, got shapes \(2,\), \(3,\)"):
        share([1.0, 2.0], [1.0, 2.0, 3.0])


def test_matrices():
    assert trace(np.eye(2)) == 2
    for m in (1.0, [1.0, 2.0], np.zeros((0, 2))):
        with pytest.raises(ValueError, match="m must be a matrix that is not empty"):
            trace(m)
    with pytest.raises(ValueError, match=r"m must be of 2 dimensions, got shape \(1, 2, 2\)"):
        trace(np.eye(2)[None])


def test_errors_of_arithmetic_are_told():
    @formula()
    def quotient(x: "Any") -> "Any":
        return 1 / (x - 1)

    with pytest.raises(ValueError, match="quotient has no value at x = 1") as caught:
        quotient(1)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(TypeError):
        quotient(1, 2)
