"""Numpy or torch in, the same kind out."""

import numpy as np
import pytest
import torch

from signalprop._arrays import as_dtype, as_row, as_tensor, on_tensors, unit_scale


@on_tensors("x", "y")
def both(x, y, factor=1.0):
    return factor * (x + y), (x * y).sum()


@pytest.mark.parametrize(
    ("kind", "becomes"),
    [
        (torch.float64, torch.float64),
        (torch.float32, torch.float32),
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.int32, torch.float64),
        (torch.bool, torch.float64),
    ],
)
def test_types(kind, becomes):
    tensor = as_tensor(torch.ones(2, dtype=kind), "x")
    assert tensor.dtype == becomes
    assert tensor.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1.0, np.nan], "x must be finite, got 1 NaN or infinite entries"),
        ([np.inf, -np.inf], "x must be finite, got 2 NaN"),
        (np.ones(2, complex), "x must be real, got torch.complex128"),
        (["a"], "x must be a numeric array, got list"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "x must not be a masked array"),
    ],
)
def test_what_is_refused_is_named(value, message):
    with pytest.raises(ValueError, match=message):
        as_tensor(value, "x")


def test_a_row_is_one_of_floats():
    assert as_row((1, True), "x").tolist() == [1.0, 1.0]
    assert as_row([], "x").dtype == as_row(torch.ones(2), "x").dtype == torch.float64
    with pytest.raises(ValueError, match=r"x must be one row of numbers, got shape \(1, 1\)"):
        as_row([[1.0]], "x")


def test_finite_entries_whose_sum_overflows_are_taken():
    assert as_tensor([1e308, 1e308], "x").tolist() == [1e308, 1e308]


def test_arrays_go_back_as_arrays_and_tensors_as_tensors():
    total, dot = both(np.array([1.0, 2.0]), [3.0, 4.0])
    np.testing.assert_array_equal(total, [4, 6])
    assert isinstance(total, np.ndarray)
    assert isinstance(dot, np.float64)
    assert dot == 11
    total, dot = both(torch.ones(2), np.ones(2, np.float32))
    assert isinstance(total, torch.Tensor)
    assert isinstance(dot, torch.Tensor)


def test_names_and_places_are_the_same():
    one = both(x=[1.0], y=[2.0], factor=3.0)
    other = both([1.0], [2.0], 3.0)
    assert one[0].tolist() == other[0].tolist() == [9.0]
    with pytest.raises(ValueError, match="y must be finite"):
        both([1.0], y=[np.nan])


def test_devices_must_agree():
    with pytest.raises(ValueError, match=r"x, y must be on one device, got \['cpu', 'meta'\]"):
        on_tensors("x", "y")(lambda x, y: x)(Meta(), torch.ones(1))


class Meta(torch.Tensor):
    """A tensor that says that it lies elsewhere."""

    @staticmethod
    def __new__(cls):
        return torch.ones(1).as_subclass(cls)

    @property
    def device(self):
        return torch.device("meta")


def test_types_by_their_names():
    assert as_dtype("float64") is as_dtype(torch.float64) is torch.float64
    for bad in ("int32", "flaot", torch.int64, 32):
        with pytest.raises(ValueError, match="dtype must be a floating type such as"):
            as_dtype(bad)


@pytest.mark.parametrize("largest", [5e-324, 1e-200, 0.75, 1.0, 2.0, 3.0, 1.7e308])
def test_the_largest_entry_of_each_matrix_comes_to_between_1_and_2(largest):
    x = torch.tensor([[[largest, -largest / 2]], [[0.0, 0.0]]], dtype=torch.float64)
    unit, scale = unit_scale(x)
    assert 1 <= float(unit[0].abs().max()) < 2
    assert np.frexp(scale[0].item())[0] == 0.5  # a power of two
    assert torch.equal(unit * scale, x)
    assert scale[1].item() == 1
