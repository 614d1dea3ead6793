"""Any function as an activation: of torch or numpy, or a module; its kinks are found."""

from __future__ import annotations

import copy
import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from signalprop import activations
from signalprop._arrays import as_row, as_tensor
from signalprop.activations import Activation

__all__ = ["as_activation", "find_kinks"]


def __dir__() -> list[str]:
    """Complete with the names that are meant to be used, not with what is imported here."""
    return __all__


FARTHEST = 32.0  # kinks are looked for up to here
NARROW = 2e-3  # what a polynomial does not fit on such a panel is a kink
SMOOTH = 1e-11  # relative error of interpolation on a panel where a function is smooth
MANY = 32  # so many kinks are noise
OVERLAP = 0.01  # of the first panels, for a kink between two
SAME = 1e-6  # kinks that are closer are one that two panels show
STEP = 0.005  # between the nine points of a numerical derivative

KNOWN = tuple(
    value
    for name in activations.__all__
    if isinstance(value := getattr(activations, name), Activation)
)


def as_activation(
    function: Activation | nn.Module | Callable[..., Any],
    kinks: tuple[float, ...] | None = None,
    name: str | None = None,
) -> Activation:
    """Return a function, applied entry by entry, as an :class:`~signalprop.activations.Activation`.

    ``function`` takes tensors or numpy arrays of any shape; a module is copied as it is now, in
    evaluation mode and float64. What has the values of an activation of the library is that one,
    with its closed forms. ``kinks`` are found if they are not given, and so says ``.kinks``; a
    function that is not smooth between kinks in double precision is a ``ValueError``. Derivatives
    of numpy functions are differences of nine values, to about 1e-11.

    >>> import torch.nn.functional as F
    >>> as_activation(F.hardtanh).kinks
    (-1.0, 1.0)
    >>> as_activation(nn.ReLU()) is activations.relu, as_activation(np.sin) is activations.sin
    (True, True)
    """
    if isinstance(function, Activation):
        return function
    if isinstance(function, type):
        raise ValueError(
            f"an activation must be a function, got the class {function.__name__}: make one of it, "
            f"{function.__name__}()"
        )
    if not callable(function):
        raise ValueError(f"an activation must be a function, got {type(function).__name__}")
    label = str(name or getattr(function, "__name__", type(function).__name__))
    if isinstance(function, nn.Module):
        function = copy.deepcopy(function).to(torch.float64).eval().requires_grad_(False)
    on_tensors = _takes_tensors(function, label)
    values = function if on_tensors else _of_arrays(function)
    if kinks is None:
        if (known := _known(values)) is not None:
            return known
        kinks = find_kinks(values, label)
    kinks = tuple(sorted(as_row(kinks, "kinks").tolist()))
    if on_tensors:
        return Activation(label, values, kinks)
    slope = _slope(values, kinks)
    return _OfArrays(label, functools.partial(_with_slope, values, slope), kinks, slope=slope)


@dataclass(frozen=True)
class _OfArrays(Activation):
    """An activation whose function is not torch's, with the derivative of that function."""

    exact_slope: ClassVar[bool] = False

    slope: Callable[[Tensor], Tensor] = field(default=torch.zeros_like, compare=False, repr=False)

    def derivative(self, x: Any) -> Any:
        """Return the derivative, from values on one side of a kink."""
        factor = self.scale * self.gain
        if isinstance(x, Tensor) and x.is_floating_point():
            return factor * self.slope(self.gain * x)
        return (factor * self.slope(self.gain * as_tensor(x, "x"))).numpy()[()]


def find_kinks(
    function: Callable[[Tensor], Tensor], name: str = "the function"
) -> tuple[float, ...]:
    """Return the points in [-32, 32] where a function of float64 tensors is not smooth.

    Panels are halved where polynomials do not fit; what is left is narrow, and the number with the
    fewest decimals in it is the kink.

    >>> find_kinks(lambda x: abs(x - 0.3) + torch.tanh(5 * x))
    (0.3,)
    """
    edges = np.linspace(-FARTHEST - 0.1234567, FARTHEST + 0.2345678, 66)
    overlapping = [(low - OVERLAP, high + OVERLAP) for low, high in itertools.pairwise(edges)]
    panels = [panel for panel in overlapping if not _is_smooth(function, *panel)]
    kinks: list[float] = []
    count = len(overlapping)
    while panels:
        low, high = panels.pop()
        count += 2
        if high - low <= NARROW:
            kinks.append(_locate(function, low, high))
        else:
            panels += _parts(function, low, high)
        if len(kinks) > MANY or count > 5000:
            raise ValueError(f"{name} must be smooth between a few kinks: it is not near {low:.6g}")
    found = sorted(kinks)
    apart = (b for a, b in itertools.pairwise(found) if b - a > SAME)
    return (*found[:1], *apart)


def _parts(
    function: Callable[[Tensor], Tensor], low: float, high: float
) -> list[tuple[float, float]]:
    """Cut a panel in two, and return those parts that are not smooth.

    A kink next to an end lies beyond all points: if the cut has met one, another will not.
    """
    for share in (0.5, 0.4):
        cut = low + share * (high - low)
        parts = [part for part in ((low, cut), (cut, high)) if not _is_smooth(function, *part)]
        if parts:
            return parts
    return []


def _locate(function: Callable[[Tensor], Tensor], low: float, high: float) -> float:
    """Cut a panel with a kink as long as a part shows it."""
    while high - low > 4e-15 * max(1.0, abs(low)) and (parts := _parts(function, low, high)):
        low, high = parts[0]
    return _simplest(low, high)


def _is_smooth(function: Callable[[Tensor], Tensor], low: float, high: float) -> bool:
    centre, half = (low + high) / 2, (high - low) / 2
    values = function(torch.from_numpy(centre + half * _FITTED))
    between = function(torch.from_numpy(centre + half * _BETWEEN))
    error = float((_INTERPOLATE @ values - between).abs().max())
    return error <= SMOOTH * max(float(values.abs().max()), 1e-3)


def _simplest(low: float, high: float) -> float:
    middle = (low + high) / 2
    short = (round(middle, digits) for digits in range(16))
    return float(next((s + 0.0 for s in short if low <= s <= high), middle))


def _interpolation() -> tuple[Any, Any, Tensor]:
    """Return Chebyshev points, points between them, and the matrix from values to values."""
    fitted = np.cos((np.arange(16) + 0.5) * math.pi / 16)
    between = np.cos(np.arange(1, 16) * math.pi / 16 + 0.01)
    basis = np.polynomial.chebyshev.chebvander
    matrix = basis(between, 15) @ np.linalg.inv(basis(fitted, 15))
    return fitted, between, torch.from_numpy(matrix)


_FITTED, _BETWEEN, _INTERPOLATE = _interpolation()


def _takes_tensors(function: Callable[..., Any], name: str) -> bool:
    """Tell whether tensors go through, and gradients with them."""
    x = torch.tensor([[-0.5, 0.25]], dtype=torch.float64)
    try:
        y = torch.func.jvp(function, (x,), (torch.ones_like(x),))[0]
        if isinstance(y, Tensor) and y.shape == x.shape:
            return True
    except (TypeError, RuntimeError, ValueError, AttributeError, NotImplementedError):
        pass
    try:
        y = np.asarray(function(x.numpy()))
    except Exception as error:
        raise ValueError(f"{name} must take arrays of torch or numpy: {error}") from error
    if y.shape != (1, 2):
        raise ValueError(f"{name} must keep the shape of its argument, got {y.shape} of (1, 2)")
    return False


def _of_arrays(function: Callable[..., Any]) -> Callable[[Tensor], Tensor]:
    def values(x: Tensor) -> Tensor:
        y = np.array(function(x.detach().cpu().numpy()), dtype=np.float64)
        return torch.from_numpy(y).to(x)

    return values


def _known(values: Callable[[Tensor], Tensor]) -> Activation | None:
    x = torch.linspace(-6.03, 6.01, 300, dtype=torch.float64)
    ours = values(x)
    close = (a for a in KNOWN if bool(((a(x) - ours).abs() <= 1e-15 + 4e-15 * ours.abs()).all()))
    return next(close, None)


def _slope(
    values: Callable[[Tensor], Tensor], kinks: tuple[float, ...]
) -> Callable[[Tensor], Tensor]:
    """Return the derivative of the polynomial through nine values beside x.

    The nine are centred, or on the side of x where no kink is between them.
    """
    places = {shift: shift + np.arange(-4, 5) for shift in (0, -4, 4)}
    unit = np.eye(9)[1]
    weights = {s: np.linalg.solve(np.vander(p, increasing=True).T, unit) for s, p in places.items()}

    def slope(x: Tensor) -> Tensor:
        shift = torch.zeros_like(x)
        for kink in kinks:
            close = (x - kink).abs() < 4 * STEP
            shift = torch.where(close, torch.where(x < kink, -4.0, 4.0).to(x), shift)
        total = torch.zeros_like(x)
        for s, w in weights.items():
            here = shift == s
            if bool(here.any()):
                at = x[here]
                beside = (
                    c * values(at + STEP * p) for c, p in zip(w, places[s].tolist(), strict=True)
                )
                total[here] = sum(beside) / STEP
        return total

    return slope


def _with_slope(
    values: Callable[[Tensor], Tensor], slope: Callable[[Tensor], Tensor], x: Tensor
) -> Tensor:
    result: Tensor = _WithSlope.apply(x, values, slope)  # type: ignore[no-untyped-call]
    return result


class _WithSlope(torch.autograd.Function):
    """A function with its derivative, for backward passes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, values: Any, slope: Any) -> Tensor:
        ctx.slope = slope
        ctx.save_for_backward(x)
        result: Tensor = values(x)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (x,) = ctx.saved_tensors
        return ctx.slope(x) * gradients[0], None, None
