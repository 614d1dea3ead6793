"""Activation functions as values: callable, differentiable, with their kinks and their moments."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, overload

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from signalprop._arrays import Array, as_row, as_tensor
from signalprop.limits.closed import Arcsine, Exponential, Hinge, Kernel, Ramp, Series, Sinh, Step
from signalprop.limits.expansions import hermite_coefficients, series
from signalprop.limits.quadrature import gaussian_expectation

__all__ = [
    "Activation",
    "cube",
    "elu",
    "erf",
    "exp",
    "exp_square",
    "gelu",
    "gelu_tanh",
    "hermite",
    "identity",
    "leaky_relu",
    "norm_relu",
    "relu",
    "selu",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "softplus",
    "step",
    "tanh",
]


def __dir__() -> list[str]:
    """Complete with the names that are meant to be used, not with what is imported here."""
    return __all__


@dataclass(frozen=True)
class Activation:
    """The function ``x -> scale * function(gain * x) + shift``, applied entry by entry.

    ``function`` maps tensors to tensors of the same shape and type; ``kinks`` are the points x
    where the activation, gain included, or its derivative is not smooth (jumps and kinks).
    ``kernel`` gives the closed form of the kernel of ``function(gain * x)`` for a gain, if there is
    one. The operations below give new values; all versions of one function share what is computed
    once for it (moments, kernel).

    >>> relu(np.array([-1.0, 2.0]))
    array([0., 2.])
    >>> relu.normalized().name, round(float(relu.normalized()(1.0)), 6)
    ('relu.normalized()', 1.414214)
    """

    name: str = field(compare=False)
    function: Callable[[Tensor], Tensor]
    kinks: tuple[float, ...] = ()
    gain: float = 1.0
    scale: float = 1.0
    shift: float = 0.0
    kernel: Callable[[float], Kernel] | None = field(default=None, compare=False, repr=False)

    exact_slope: ClassVar[bool] = True  # whether the derivative is as accurate as the values

    def __post_init__(self) -> None:
        for name in ("gain", "scale", "shift"):
            if not math.isfinite(getattr(self, name)):
                raise ValueError(f"{name} must be finite, got {getattr(self, name)}")
        if self.gain == 0:
            raise ValueError("gain must not be 0: the activation would be constant")
        kinks = as_row(self.kinks, "kinks").tolist()
        object.__setattr__(self, "kinks", tuple(sorted(kinks)))

    @overload
    def __call__(self, x: Tensor) -> Tensor: ...
    @overload
    def __call__(self, x: np.ndarray[Any, Any] | float) -> np.ndarray[Any, Any]: ...
    def __call__(self, x: Array | float) -> Array:
        """Apply to an array of any shape: numpy in, numpy out; torch in, torch out.

        Floating tensors go through as they are (networks call this at each layer); anything else
        is checked and converted by ``as_tensor``.
        """
        return _in_kind(self._affine, x)

    @overload
    def derivative(self, x: Tensor) -> Tensor: ...
    @overload
    def derivative(self, x: np.ndarray[Any, Any] | float) -> np.ndarray[Any, Any]: ...
    def derivative(self, x: Array | float) -> Array:
        """Return the derivative almost everywhere: torch's own choice at a kink, 0 at a jump.

        >>> tanh.derivative(0.0)
        np.float64(1.0)
        """
        return _in_kind(self._slope, x)

    def _slope(self, x: Tensor) -> Tensor:
        # Gain and scale by hand: to differentiate a product, torch loads its compiler, for seconds.
        inner = x if self.gain == 1 else self.gain * x
        slope: Tensor = torch.func.jvp(self.function, (inner,), (torch.full_like(x, self.gain),))[1]
        return slope if self.scale == 1 else self.scale * slope

    def _affine(self, x: Tensor) -> Tensor:
        y = self.function(x if self.gain == 1 else self.gain * x)
        y = y if self.scale == 1 else self.scale * y
        return y if self.shift == 0 else y + self.shift

    @property
    def base(self) -> Activation:
        """The same function with its gain, before scale and shift."""
        return replace(self, scale=1.0, shift=0.0)

    @property
    def mean(self) -> float:
        """``E phi(X)`` for ``X ~ N(0, 1)``.

        >>> abs(relu.mean - 1 / math.sqrt(2 * math.pi)) < 1e-15
        True
        """
        return self.scale * _moments(self.base)[0] + self.shift

    @property
    def variance(self) -> float:
        """``E (phi(X) - E phi(X))^2`` for ``X ~ N(0, 1)``."""
        return self._within_floats(lambda: self.scale**2 * _moments(self.base)[1])

    @property
    def second_moment(self) -> float:
        """``E phi(X)^2`` for ``X ~ N(0, 1)``."""
        return self._within_floats(lambda: self.mean**2 + self.variance)

    def _within_floats(self, moment: Callable[[], float]) -> float:
        try:
            value = moment()
        except OverflowError:
            value = math.inf
        if math.isinf(value) or 0 < value < sys.float_info.min:  # below it digits are lost
            way = "down" if math.isinf(value) else "up"
            raise ValueError(f"{self.name} must have moments within float64: scale it {way} first")
        return value

    def gained(self, gain: float) -> Activation:
        """Return ``x -> phi(gain * x)``.

        >>> relu.gained(2.0)(3.0)
        np.float64(6.0)
        >>> norm_relu(-1.0).gained(2.0).kinks
        (-0.5,)
        """
        name, kinks = f"{self.name}.gained({gain:g})", self.kinks
        if gain not in (0, 1):
            kinks = tuple(kink / gain + 0.0 for kink in kinks)
        return replace(self, name=name, gain=self.gain * gain, kinks=kinks)

    def scaled(self, factor: float) -> Activation:
        """Return ``x -> factor * phi(x)``."""
        name = f"{self.name}.scaled({factor:g})"
        return replace(self, name=name, scale=self.scale * factor, shift=self.shift * factor)

    def centered(self) -> Activation:
        """Return ``phi - E phi(X)``, which is *centred* in the sense of KER Table 5.2."""
        return replace(self, name=f"{self.name}.centered()", shift=self.shift - self.mean)

    def normalized(self) -> Activation:
        """Return ``phi / sqrt(E phi(X)^2)``, which is *stable* in the sense of KER Table 5.2."""
        if self.second_moment == 0:
            raise ValueError(f"{self.name} is zero: it cannot be normalized")
        scaled = self.scaled(1 / math.sqrt(self.second_moment))
        return replace(scaled, name=f"{self.name}.normalized()")

    def standardized(self) -> Activation:
        """Return ``(phi - E phi(X)) / sd``: the *normalized version* of COND Eq. 2.

        >>> phi = sigmoid.standardized()
        >>> abs(phi.mean) < 1e-15, abs(phi.second_moment - 1) < 1e-14
        (True, True)
        """
        if self.variance == 0:
            raise ValueError(f"{self.name} is constant: it cannot be standardized")
        centered = self.centered()
        return replace(
            centered.scaled(1 / math.sqrt(self.variance)), name=f"{self.name}.standardized()"
        )

    @staticmethod
    def from_hermite(coefficients: Sequence[float], name: str = "polynomial") -> Activation:
        """Return ``sum_k coefficients[k] he_k`` (normalised Hermite polynomials, KER D5.5).

        >>> float(Activation.from_hermite([0.0, 0.0, 1.0])(2.0)) == 3 / math.sqrt(2)
        True
        """
        row = tuple(as_row(coefficients, "coefficients").tolist())
        if not row:
            raise ValueError("coefficients must be at least one number, got none")
        function = functools.partial(series, coefficients=row)
        kernel = functools.partial(_polynomial_kernel, coefficients=row)
        return Activation(name, function, kernel=kernel)


def _in_kind(function: Callable[[Tensor], Tensor], x: Array | float) -> Array:
    if isinstance(x, torch.fx.Proxy):  # while torch.fx traces a network
        return function(x)
    if isinstance(x, Tensor):
        return function(x if x.is_floating_point() else as_tensor(x, "x"))
    result: np.ndarray = function(as_tensor(x, "x")).numpy()[()]
    return result


@functools.lru_cache(maxsize=1024)
def _moments(phi: Activation) -> tuple[float, float]:
    """Return mean and variance under the standard Gaussian."""
    try:
        mean = gaussian_expectation(phi._affine, phi.kinks)
        return mean, gaussian_expectation(lambda x: (phi._affine(x) - mean) ** 2, phi.kinks)
    except ValueError as error:
        raise ValueError(f"{phi.name} needs a finite second moment E phi(X)^2: {error}") from error


def _identity(x: Tensor) -> Tensor:
    return x.clone()


def _cube(x: Tensor) -> Tensor:
    return x**3


def _step(x: Tensor) -> Tensor:
    return (x >= 0).to(x.dtype)


def _gelu_tanh(x: Tensor) -> Tensor:
    # Beyond 100 it is x or 0 to the last digit, but torch's derivative becomes 0 times infinity.
    near = F.gelu(x.clamp(-100, 100), approximate="tanh")
    return torch.where(x.abs() > 100, F.relu(x), near)


def _softplus(x: Tensor) -> Tensor:
    # torch's own becomes linear beyond 20, an error of 2e-9. This has the digits of
    # logaddexp(x, 0), for whose derivative torch loads its compiler.
    return -F.logsigmoid(-x)


def _exp_square(x: Tensor) -> Tensor:
    return torch.exp(x**2)


def _shifted_relu(x: Tensor, threshold: float) -> Tensor:
    return torch.relu(x - threshold)


def _polynomial_kernel(gain: float, coefficients: tuple[float, ...]) -> Kernel:
    c = torch.tensor(coefficients, dtype=torch.float64)
    if gain != 1:
        function = functools.partial(series, coefficients=coefficients)
        gained = Activation("polynomial", function, gain=gain)
        c = torch.from_numpy(hermite_coefficients(gained, len(c) - 1))
    return Series(c**2)


def _hinge_kernel(gain: float, threshold: float, left: float) -> Kernel:
    # the kernel does not see the sign of the gain, as -X is distributed as X
    a = abs(gain)
    return Hinge(threshold / a, left * a, (1 - left) * a)


def _relu_kernel(gain: float) -> Kernel:
    return Ramp(kink=abs(gain))


def _exp_kernel(gain: float) -> Kernel:
    return Exponential(gain**2)


def _sin_kernel(gain: float) -> Kernel:
    return Sinh(gain**2)


def _erf_kernel(gain: float) -> Kernel:
    return Arcsine(2 * gain**2 / (1 + 2 * gain**2), gap=1 / (1 + 2 * gain**2))


def _sign_kernel(gain: float) -> Kernel:
    return Arcsine(1.0)


def _step_kernel(gain: float) -> Kernel:
    return Step()


_identity_kernel = functools.partial(_polynomial_kernel, coefficients=(0.0, 1.0))
_cube_kernel = functools.partial(_polynomial_kernel, coefficients=(0.0, 3.0, 0.0, math.sqrt(6)))

identity = Activation("identity", _identity, kernel=_identity_kernel)
relu = Activation("relu", torch.relu, (0.0,), kernel=_relu_kernel)
tanh = Activation("tanh", torch.tanh)
sin = Activation("sin", torch.sin, kernel=_sin_kernel)
erf = Activation("erf", torch.erf, kernel=_erf_kernel)
exp = Activation("exp", torch.exp, kernel=_exp_kernel)
step = Activation("step", _step, (0.0,), kernel=_step_kernel)
sign = Activation("sign", torch.sign, (0.0,), kernel=_sign_kernel)
gelu = Activation("gelu", F.gelu)
gelu_tanh = Activation("gelu_tanh", _gelu_tanh)
silu = Activation("silu", F.silu)
elu = Activation("elu", F.elu, (0.0,))
selu = Activation("selu", F.selu, (0.0,))
sigmoid = Activation("sigmoid", torch.sigmoid)
softplus = Activation("softplus", _softplus)
cube = Activation("cube", _cube, kernel=_cube_kernel)
exp_square = Activation("exp_square", _exp_square)


def leaky_relu(slope: float = 0.01) -> Activation:
    """Return ``max(x, 0) + slope * min(x, 0)``; for slope 0 that is `relu`.

    >>> leaky_relu(0.1)(-2.0)
    np.float64(-0.2)
    """
    if not abs(slope) <= torch.finfo(torch.float32).max:
        raise ValueError(f"slope must be finite, and within float32, got {slope!r}")
    if slope == 0:
        return relu
    function = functools.partial(F.leaky_relu, negative_slope=slope)
    kernel = functools.partial(_hinge_kernel, threshold=0.0, left=slope)
    return Activation(f"leaky_relu({slope:g})", function, (0.0,), kernel=kernel)


def hermite(order: int) -> Activation:
    """Return the normalised probabilists' Hermite polynomial ``he_order`` (KER D5.4).

    >>> hermite(3)(2.0).round(4)
    np.float64(0.8165)
    """
    if order < 0:
        raise ValueError(f"order must be at least 0, got {order}")
    return Activation.from_hermite([0.0] * order + [1.0], f"hermite({order})")


def norm_relu(threshold: float = -1.5975) -> Activation:
    """Return NormReLU_c, ``lambda(c) (max(x - c, 0) + b(c))`` with c = ``threshold`` (COND Eq. 4).

    ``lambda`` and ``b`` are what gives mean 0 and second moment 1; they are computed here as the
    moments of the shifted ReLU, so that the closed forms of COND can be compared with them.

    >>> phi = norm_relu()
    >>> round(phi.scale, 2), round(phi.shift / phi.scale, 4)
    (1.05, -1.6209)
    """
    if not math.isfinite(threshold):
        raise ValueError(f"threshold must be finite, got {threshold!r}")
    function = functools.partial(_shifted_relu, threshold=threshold)
    kernel = functools.partial(_hinge_kernel, threshold=threshold, left=0.0)
    shifted = Activation(f"shifted_relu({threshold:g})", function, (threshold,), kernel=kernel)
    return replace(shifted.standardized(), name=f"norm_relu({threshold:g})")
