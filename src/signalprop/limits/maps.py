"""The kernel map ``kappa(rho) = E phi(X) phi(Y)`` (KER Definition 5.3), also called the dual."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor

from signalprop._arrays import Array, Plain, as_tensor
from signalprop._threads import threads_for
from signalprop.activations import Activation
from signalprop.callables import as_activation
from signalprop.limits import dynamics
from signalprop.limits.closed import Kernel, Ramp, Series, Step
from signalprop.limits.expansions import hermite_coefficients
from signalprop.limits.interpolated import interpolate

__all__ = ["KernelMap"]

LONG = 20_000  # layers up to which each is computed from the one before
STABLE = 1e-12  # |kappa(1) - 1| up to which the sum of rounded weights counts as 1


class KernelMap:
    """``kappa(rho) = E phi(X) phi(Y)`` for standard Gaussians of correlation ``rho``.

    Of an activation, or of any function or module (see :func:`signalprop.as_activation`).
    Closed forms where there are (:mod:`signalprop.limits.closed`), else an interpolant that is
    computed with the first map of the activation and shared by all its scaled and shifted versions.
    Values are float64, in the shape of the input, with an error of at most 1e-12 of
    ``kappa(|rho|)`` (of ``kappa(rho)`` itself for ReLU and step, which vanish at -1). Arguments
    outside ``[-1, 1]`` are a ``ValueError`` (up to rounding of their type). Everything about depth
    needs ``kappa(1) = 1``: take ``phi.normalized()``.

    >>> from signalprop.activations import relu
    >>> k = KernelMap(relu.normalized())
    >>> k([0.0, 1.0]).round(6)
    array([0.31831, 1.     ])
    >>> float(k.fixed_point().value)
    1.0
    """

    def __init__(self, source: Activation | Callable[..., Any] | Series):
        if callable(source):
            source = as_activation(source)
        self.activation = source if isinstance(source, Activation) else None
        if isinstance(source, Activation):
            self.name = source.name
            self._form, self._factor = _form_of(source.base), source.scale**2
            self._constant = torch.tensor(source.mean**2, dtype=torch.float64)
        elif isinstance(source, Series):
            self.name = "series"
            self._form, self._factor = source, 1.0
            self._constant = source.weights[..., 0]
        else:
            raise ValueError(f"a kernel map needs an Activation, got {type(source).__name__}")

    @classmethod
    def from_series(cls, weights: Array | Plain) -> KernelMap:
        """Return ``sum_k weights[..., k] rho^k``; leading dimensions are a batch of maps.

        Every such series with non-negative weights is the kernel map of an activation, the one
        with Hermite coefficients ``sqrt(weights)`` (KER Corollary 5.7).

        >>> k = KernelMap.from_series([[0.5, 0.5], [0.0, 1.0]])
        >>> k(0.5)
        array([0.75, 0.5 ])
        """
        w = as_tensor(weights, "weights").to(torch.float64)
        if w.ndim == 0 or w.shape[-1] == 0:
            raise ValueError(f"weights must have a last dimension, got shape {tuple(w.shape)}")
        if bool((w < 0).any()):
            raise ValueError(f"weights must not be negative, got {float(w.min())}")
        return cls(Series(w.detach().cpu()))

    @classmethod
    def from_hermite(cls, coefficients: Array | Plain) -> KernelMap:
        """Return the map of an activation with these Hermite coefficients ``(..., K)``.

        >>> KernelMap.from_hermite([0.6, 0.8])(1.0)
        np.float64(1.0)
        """
        return cls.from_series(as_tensor(coefficients, "coefficients").to(torch.float64) ** 2)

    def __repr__(self) -> str:
        return f"KernelMap({self.name})"

    @overload
    def __call__(self, rho: Tensor) -> Tensor: ...
    @overload
    def __call__(self, rho: Plain) -> np.ndarray[Any, Any]: ...
    def __call__(self, rho: Array | Plain) -> Array:
        """Return ``kappa(rho)``."""
        return _answer(self._value, rho, "rho", -1.0)

    @overload
    def derivative(self, rho: Tensor) -> Tensor: ...
    @overload
    def derivative(self, rho: Plain) -> np.ndarray[Any, Any]: ...
    def derivative(self, rho: Array | Plain) -> Array:
        """Return ``kappa'(rho) = E phi'(X) phi'(Y)``; infinite at 1 for an activation with jumps.

        >>> from signalprop.activations import sign
        >>> KernelMap(sign).derivative([0.0, 1.0]).round(4)
        array([0.6366,    inf])
        """
        return _answer(self._slope, rho, "rho", -1.0)

    @overload
    def complement(self, delta: Tensor) -> Tensor: ...
    @overload
    def complement(self, delta: Plain) -> np.ndarray[Any, Any]: ...
    def complement(self, delta: Array | Plain) -> Array:
        """Return ``1 - kappa(1 - delta)`` for ``delta`` in [0, 2], without cancellation.

        >>> from signalprop.activations import exp
        >>> round(float(KernelMap(exp.normalized()).complement(1e-20)) * 1e20, 12)
        1.0
        """
        return _answer(self._complement, delta, "delta", 0.0)

    @overload
    def iterate(self, rho: Tensor, depth: int, layers: Sequence[int] | None = None) -> Tensor: ...
    @overload
    def iterate(
        self, rho: Plain, depth: int, layers: Sequence[int] | None = None
    ) -> np.ndarray[Any, Any]: ...
    def iterate(self, rho: Array | Plain, depth: int, layers: Sequence[int] | None = None) -> Array:
        """Return ``rho, kappa(rho), ...`` through ``depth`` layers: ``(..., depth + 1)``.

        With ``layers`` (increasing, from 0 to ``depth``) only those are kept, in memory that does
        not grow with the depth: ``(..., len(layers))``. ``depth`` counts applications of the map,
        one for each hidden layer. Up to 20,000 layers are computed one by one. Beyond that, where
        the way goes to 0 or 1, blocks of layers are computed together, by the doubling of
        :func:`dynamics.leap` and as accurate: a million layers take a fraction of a second.

        >>> KernelMap.from_series([0.0, 0.0, 1.0]).iterate(0.5, 2)
        array([0.5   , 0.25  , 0.0625])
        """
        return _answer(lambda r: self._path(r, depth, layers, gaps=False), rho, "rho", -1.0)

    @overload
    def iterate_complement(
        self, delta: Tensor, depth: int, layers: Sequence[int] | None = None
    ) -> Tensor: ...
    @overload
    def iterate_complement(
        self, delta: Plain, depth: int, layers: Sequence[int] | None = None
    ) -> np.ndarray[Any, Any]: ...
    def iterate_complement(
        self, delta: Array | Plain, depth: int, layers: Sequence[int] | None = None
    ) -> Array:
        """Return the same in the variable ``delta = 1 - rho``, exact where ``rho`` rounds to 1.

        >>> KernelMap.from_series([0.5, 0.5]).iterate_complement(1e-20, 2)
        array([1.0e-20, 5.0e-21, 2.5e-21])
        """
        return _answer(lambda d: self._path(d, depth, layers, gaps=True), delta, "delta", 0.0)

    def leap(self, rho: Array | Plain, depth: int) -> np.ndarray[Any, Any]:
        """Return the distance to the attracting fixed point after ``depth`` layers.

        In the shape of ``rho`` and in a time that grows with ``log(depth)``, see
        :func:`dynamics.leap`.

        >>> from signalprop.activations import relu
        >>> gap = KernelMap(relu.normalized()).leap(0.0, 10**6)
        >>> bool(abs(gap * 10**12 / (9 * np.pi**2 / 2) - 1) < 1e-4)      # the power law of `rate`
        True
        """
        self._check_depth(single=True)
        distances: np.ndarray[Any, Any] = dynamics.leap(self, rho, depth)
        return distances

    def hermite_coefficients(self, order: int = 200) -> np.ndarray[Any, Any]:
        """Return the Hermite coefficients ``c_0..c_order``, so that ``kappa = sum c_k^2 rho^k``.

        Of a map from a series: the non-negative ones, padded with zeros: ``(..., order + 1)``.
        """
        if self.activation is not None:
            return hermite_coefficients(self.activation, order)
        assert isinstance(self._form, Series)
        roots = self._form.weights[..., : order + 1].sqrt().cpu().numpy()
        missing = order + 1 - roots.shape[-1]
        return np.pad(roots, [(0, 0)] * (roots.ndim - 1) + [(0, missing)])

    @property
    def nonlinearity(self) -> np.ndarray[Any, Any]:
        """``kappa(1) - kappa(0) - kappa'(0) = sum_{k>=2} c_k^2``: 0 for affine activations only.

        For ``kappa(1) = 1`` the coefficient of non-affinity of COND Definition 29.
        """
        zero = torch.zeros(self._constant.shape, dtype=torch.float64)
        result = self._factor * self._form.complement(zero + 1) - self._slope(zero)
        values: np.ndarray[Any, Any] = result.clamp(min=0.0).numpy()[()]
        return values

    def fixed_points(self) -> list[dynamics.FixedPoint]:
        """Return all fixed points in [-1, 1], ascending: see :func:`dynamics.fixed_points`."""
        self._check_depth(single=True)
        return dynamics.fixed_points(self)

    def fixed_point(self) -> dynamics.FixedPoint:
        """Return the attracting one (of each map): see :func:`dynamics.attractor`."""
        self._check_depth()
        return dynamics.attractor(self)

    def approach(
        self, rho: Array | Plain, depth: int, layers: Sequence[int] | None = None
    ) -> np.ndarray[Any, Any]:
        """Return the distance to the attracting fixed point, layer by layer, of each map.

        See :func:`dynamics.approach`.
        """
        self._check_depth()
        distances: np.ndarray[Any, Any] = dynamics.approach(self, rho, depth, layers)
        return distances

    def rate(self) -> dynamics.ConvergenceRate:
        """Return how fast the attracting fixed point is approached: see :func:`dynamics.rate`."""
        self._check_depth(single=True)
        return dynamics.rate(self)

    def basin(self) -> dynamics.Basin:
        """Return the starting points that reach the attracting fixed point."""
        self._check_depth(single=True)
        return dynamics.basin(self)

    @functools.cached_property
    def _at_one(self) -> Tensor:
        return self._constant + self._factor * self._form.complement(
            torch.ones_like(self._constant)
        )

    def _value(self, rho: Tensor) -> Tensor:
        if isinstance(self._form, Ramp | Step) and self.activation and not self.activation.shift:
            return self._factor * self._form.whole(rho)
        return self._constant.to(rho.device) + self._factor * self._form.centered(rho)

    def _slope(self, rho: Tensor) -> Tensor:
        return self._factor * self._form.derivative(rho)

    def _complement(self, delta: Tensor) -> Tensor:
        offset = (1 - self._at_one).to(delta.device)
        offset = torch.where(offset.abs() <= STABLE, torch.zeros_like(offset), offset)
        return offset + self._factor * self._form.complement(delta)

    def _path(self, start: Tensor, depth: int, layers: Sequence[int] | None, gaps: bool) -> Tensor:
        """Return the wanted layers of the iteration in ``rho``, or with ``gaps`` in ``1 - rho``."""
        if depth < 0:
            raise ValueError(f"depth must be at least 0, got {depth}")
        wanted = range(depth + 1) if layers is None else list(layers)
        if (
            not len(wanted)
            or any(not 0 <= one <= depth for one in (wanted[0], wanted[-1]))
            or (layers is not None and any(a >= b for a, b in itertools.pairwise(wanted)))
        ):
            raise ValueError(f"layers must be increasing and lie in 0..{depth}, got {layers}")
        self._check_depth(affine=True)
        if wanted[-1] > LONG and not self._constant.ndim and not self._is_linear:
            path = dynamics.long_path(self, start.cpu(), np.asarray(wanted), gaps)
            if path is not None:
                return path.to(start.device)
        map_, low = (self._complement, 0.0) if gaps else (self._value, -1.0)
        state = start + torch.zeros_like(self._constant, device=start.device)
        return _walk(lambda x: map_(x).clamp(low, low + 2), state, wanted)

    @property
    def _is_linear(self) -> bool:
        """Whether one of the maps is ``rho -> rho``."""
        nonlinearity = torch.as_tensor(self.nonlinearity)
        return bool(((nonlinearity <= STABLE) & (self._constant <= STABLE)).any())

    def _check_depth(self, single: bool = False, affine: bool = False) -> None:
        """Refuse a map that cannot be iterated, or whose fixed points are not isolated."""
        if bool(((self._at_one - 1).abs() > STABLE).any()):
            raise ValueError(
                f"{self.name} must have kappa(1) = E phi(X)^2 = 1 to be iterated, got "
                f"{self._at_one.tolist()}: take .normalized()"
            )
        if isinstance(self._form, Series) and bool((self._form.weights < 0).any()):
            self._check_range()
        if single and self._constant.ndim:
            raise ValueError(
                f"one map at a time, got a batch of shape {tuple(self._constant.shape)}"
            )
        if not affine and self._is_linear:
            raise ValueError(f"{self.name} is linear: every rho is a fixed point")

    def _check_range(self) -> None:
        """Refuse a series that is no kernel map, for its negative weights, and leaves [-1, 1]."""
        grid = torch.linspace(-1, 1, 2001, dtype=torch.float64)
        grid = grid.reshape(-1, *[1] * self._constant.ndim)
        if bool((self._value(grid).abs() > 1 + STABLE).any()):
            raise ValueError("weights must not be negative where the map leaves [-1, 1]")


def _walk(step: Callable[[Tensor], Tensor], state: Tensor, wanted: Sequence[int]) -> Tensor:
    """Return the states at the wanted layers, ``(..., len(wanted))``.

    What comes back, alone or every other layer, does so for ever and is not computed again.
    """
    path: list[Tensor] = []
    layer, before, older = 0, None, None
    for place, one in enumerate(wanted):
        while layer < one:
            older, before, state = before, state, step(state)
            layer += 1
            if torch.equal(state, before) or (older is not None and torch.equal(state, older)):
                turn = (torch.from_numpy(np.asarray(wanted[place:])) - layer) % 2
                rest = torch.stack([state, before], dim=-1)[..., turn.to(state.device)]
                return torch.cat([*(p[..., None] for p in path), rest], dim=-1)
        path.append(state)
    return torch.stack(path, dim=-1)


@functools.lru_cache(maxsize=256)
def _form_of(base: Activation) -> Kernel:
    """Return the kernel of an activation of unit scale and no shift, up to its constant."""
    with threads_for(0):
        return interpolate(base) if base.kernel is None else base.kernel(base.gain)


def _answer(
    function: Callable[[Tensor], Tensor], value: Array | Plain, name: str, low: float
) -> Array:
    """Apply ``function`` on ``[low, low + 2]`` or its right half, in kind, in float64."""
    given = as_tensor(value, name)
    x = given.to(torch.float64)
    high = low + 2
    kind = value.dtype if isinstance(value, Tensor) and value.is_floating_point() else given.dtype
    slack = 8 * torch.finfo(kind).eps
    if bool(((x < low - slack) | (x > high + slack)).any()):
        worst = float(x.flatten()[(x - (low + high) / 2).abs().argmax()])
        raise ValueError(f"{name} must lie in [{low:g}, {high:g}], got {worst:.17g}")
    with threads_for(x.numel()):
        result = function(x.clamp(low, high))
    return result if isinstance(value, Tensor) else result.numpy()[()]
