"""Numpy or torch in, the same kind out: the one place where the two meet."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

import numpy as np
import torch

__all__ = [
    "Array",
    "Floats",
    "Numbers",
    "Plain",
    "as_dtype",
    "as_row",
    "as_tensor",
    "on_tensors",
    "unit_scale",
]

Array = np.ndarray[Any, Any] | torch.Tensor
Floats = np.ndarray[Any, np.dtype[np.float64]]
Numbers = float | np.ndarray[Any, Any]
Plain = Numbers | Sequence[Any]  # what is no tensor, and so gives numpy arrays
F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")


class OfArray(Protocol[P]):
    """A function of one array and options, for type checkers: torch to torch, the rest to numpy."""

    @overload
    def __call__(self, x: torch.Tensor, /, *args: P.args, **kwargs: P.kwargs) -> torch.Tensor: ...
    @overload
    def __call__(self, x: object, /, *args: P.args, **kwargs: P.kwargs) -> Any: ...


class OnTensors(Protocol):
    """What `on_tensors` makes of a function, for type checkers."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[torch.Tensor, P], torch.Tensor]
    ) -> OfArray[P]: ...
    @overload
    def __call__(self, function: F) -> F: ...


def as_tensor(value: object, name: str) -> torch.Tensor:
    """Return ``value`` as a real floating tensor; the ``ValueError`` names the argument.

    float32 and float64 keep their type, integers and booleans become float64, and half precision
    float32, as most of linear algebra does not exist below. Entries must be finite: what would come
    out of them is a NaN whose origin nobody finds again. A masked array is refused, as torch would
    drop its mask and count the masked entries.

    >>> as_tensor([[1, 2]], "x")
    tensor([[1., 2.]], dtype=torch.float64)
    """
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name} must not be a masked array: select the entries that count first")
    try:
        tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(np.asarray(value))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a numeric array, got {type(value).__name__}") from error
    if tensor.is_complex():
        raise ValueError(f"{name} must be real, got {tensor.dtype}")
    if not tensor.is_floating_point():
        tensor = tensor.to(torch.float64)
    if tensor.dtype in (torch.float16, torch.bfloat16):
        tensor = tensor.to(torch.float32)
    # The sum is finite unless an entry is not (or it overflows): one cheap pass in the usual case.
    if not bool(torch.isfinite(tensor.sum())) and not bool(torch.isfinite(tensor).all()):
        bad = int((~torch.isfinite(tensor)).sum())
        raise ValueError(f"{name} must be finite, got {bad} NaN or infinite entries")
    return tensor


def as_row(values: object, name: str) -> torch.Tensor:
    """Return ``values`` as a row of finite float64 numbers; the ``ValueError`` names the argument.

    >>> as_row((1, 2), "kinks")
    tensor([1., 2.], dtype=torch.float64)
    """
    row = as_tensor(values, name).to(torch.float64)
    if row.ndim != 1:
        raise ValueError(f"{name} must be one row of numbers, got shape {tuple(row.shape)}")
    return row


def unit_scale(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the matrices ``(..., n, d)`` divided by a power of two, and it, ``(..., 1, 1)``.

    The largest entry of each is then in [1, 2), so that squares neither overflow nor vanish. No
    digit changes, as the division is exact. A zero matrix is divided by 1.

    >>> unit_scale(torch.tensor([[12.0, -1.0]]))
    (tensor([[ 1.5000, -0.1250]]), tensor([[8.]]))
    """
    largest = x.detach().abs().amax((-2, -1), keepdim=True)
    mantissa = torch.frexp(largest).mantissa
    scale = torch.where(largest > 0, largest / (2 * mantissa), torch.ones_like(largest))
    return x / scale, scale


def as_dtype(dtype: torch.dtype | str) -> torch.dtype:
    """Return a floating type of torch, which may be given by its name.

    >>> as_dtype("float32")
    torch.float32
    """
    found = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
    if not isinstance(found, torch.dtype) or not found.is_floating_point:
        raise ValueError(f"dtype must be a floating type such as torch.float32, got {dtype!r}")
    return found


def on_tensors(*names: str) -> OnTensors:
    """Let a function of tensors take numpy arrays too, and answer in kind.

    The leading positional arguments called ``names`` are validated and converted with
    :func:`as_tensor`; if none of them came as a tensor, tensors in the result go back as numpy
    arrays (0-dimensional ones as numpy scalars).

    >>> @on_tensors("x")
    ... def double(x):
    ...     return 2 * x
    >>> double(np.array([1.0, 2.0]))
    array([2., 4.])
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            given = dict(zip(names, args, strict=False)) | {
                n: kwargs[n] for n in names if n in kwargs
            }
            tensors = {n: as_tensor(value, n) for n, value in given.items()}
            devices = sorted({str(t.device) for t in tensors.values()})
            if len(devices) > 1:
                raise ValueError(f"{', '.join(given)} must be on one device, got {devices}")
            positional = [tensors.pop(n) for n in names[: len(args)]]
            result = function(*positional, *args[len(names) :], **(kwargs | tensors))
            if any(isinstance(value, torch.Tensor) for value in given.values()):
                return result
            return _to_numpy(result)

        return wrapper

    return decorate  # type: ignore[return-value]


def _to_numpy(result: Any) -> Any:
    if isinstance(result, torch.Tensor):
        return result.numpy()[()]
    if isinstance(result, tuple):
        return tuple(_to_numpy(part) for part in result)
    return result
