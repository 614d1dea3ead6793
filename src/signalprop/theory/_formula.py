"""What every formula of the documents asks of its arguments and says of its value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch

__all__ = ["formula"]

F = TypeVar("F", bound=Callable[..., Any])

ARRAYS = {"Any", "Numbers", "Floats", "Tensor", "torch.Tensor", "Sequence[float]"}
NUMBERS = {"float", "int", "float | None"}
SIZES = {"n", "d", "batch", "width"}
COUNTS = {"depth"}  # half layers, and layers before the first, are put into formulas


def formula(**dimensions: int) -> Callable[[F], F]:
    """Let a function refuse, in words, what has no value: never a NaN, never a raw error.

    Arguments that are annotated as arrays must be real, without a NaN, and broadcast, but for those
    that are vectors or matrices: their ``dimensions`` are given by name. An ``int`` is a whole
    number from 0, a ``float`` a single number. Numbers of samples and widths are positive, depths
    not negative; they are known by their names. A value that is not a number, such as the root of a
    negative one, is a ``ValueError`` that tells the arguments. One beyond the floats is infinite.
    The function is given what came, but for lists, which become arrays, and whole numbers, which
    become ``int``.

    >>> @formula()
    ... def excess(n: Any, delta: Any) -> Any:
    ...     return (n - 1) * np.sqrt(delta)
    >>> excess(3, 4.0)
    np.float64(4.0)
    >>> excess(3, -4.0)
    Traceback (most recent call last):
    ValueError: excess has no value at n = 3, delta = -4.0
    """

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        kinds = {name: str(of.annotation) for name, of in signature.parameters.items()}
        one = str(signature.return_annotation) == "float"

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            given = bound.arguments
            shapes = [
                _shape(name, value, kinds[name], dimensions.get(name, 0))
                for name, value in given.items()
                if kinds[name] in ARRAYS | NUMBERS and value is not None
            ]
            if not dimensions:
                _broadcast(given, shapes)
            elif one:
                _single(given, dimensions)
            given |= {name: _as_used(value, kinds[name]) for name, value in given.items()}
            with np.errstate(all="ignore"):
                try:
                    value = function(*bound.args, **bound.kwargs)
                except (ArithmeticError, RuntimeError) as error:  # the second is torch's
                    raise _no_value(function, given) from error
            if not _is_number(value):
                raise _no_value(function, given)
            return value

        return checked  # type: ignore[return-value]

    return decorate


def _as_used(value: Any, kind: str) -> Any:
    """The value as formulas calculate with it."""
    if kind == "int":
        return int(value)
    return np.asarray(value) if kind in ARRAYS and isinstance(value, list | tuple) else value


def _shape(name: str, value: Any, kind: str, dimensions: int) -> tuple[int, ...]:
    """The shape of an argument that is what its annotation says."""
    if type(value) in (int, float) and kind in ARRAYS and not dimensions and 0 < value < np.inf:
        return ()  # as most are: the checks below find nothing
    array = _real(name, value)
    if kind in NUMBERS and array.ndim:
        raise ValueError(f"{name} must be a single number, got shape {array.shape}")
    if kind == "int" and not (array >= 0 and np.isfinite(array) and array == np.floor(array)):
        raise ValueError(f"{name} must be a whole number from 0, got {value}")
    if name in SIZES and (array <= 0).any():
        raise ValueError(f"{name} must be positive, got {value}")
    if name in COUNTS and (array < 0).any():
        raise ValueError(f"{name} must be at least 0, got {value}")
    if array.ndim < dimensions or not array.size:
        what = ("an array", "a vector", "a matrix")[dimensions]
        raise ValueError(f"{name} must be {what} that is not empty, got shape {array.shape}")
    return tuple(array.shape)


def _real(name: str, value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name} must not be a masked array: select the entries that count first")
    if isinstance(value, torch.Tensor) and not value.is_complex():
        value = value.detach().to("cpu", torch.float64)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a numeric array, got {type(value).__name__}") from error
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be a real numeric array, got {array.dtype}")
    if np.isnan(array).any():
        raise ValueError(f"{name} must be numbers, got NaN")
    return array


def _broadcast(given: dict[str, Any], shapes: list[tuple[int, ...]]) -> None:
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        told = ", ".join(f"{tuple(np.shape(value))}" for value in given.values())
        raise ValueError(f"{', '.join(given)} must broadcast, got shapes {told}") from None


def _single(given: dict[str, Any], dimensions: dict[str, int]) -> None:
    """Where the value is one number, there is one vector or matrix of each kind."""
    for name, dimension in dimensions.items():
        if name in given and np.ndim(given[name]) > dimension:
            what = f"of {dimension} dimensions, got shape {np.shape(given[name])}"
            raise ValueError(f"{name} must be {what}")


def _is_number(value: Any) -> bool:
    """Whether nothing in a value is a NaN or complex; what is no array counts as a number."""
    if isinstance(value, tuple):
        return all(_is_number(part) for part in value)
    if isinstance(value, torch.Tensor):
        return not bool(torch.isnan(value).any())
    array = np.asarray(value)
    return array.dtype.kind not in "fc" or not (
        array.dtype.kind == "c" or bool(np.isnan(array).any())
    )


def _no_value(function: Callable[..., Any], given: dict[str, Any]) -> ValueError:
    told = ", ".join(f"{name} = {value}" for name, value in given.items())
    return ValueError(f"{function.__name__} has no value at {told}")
