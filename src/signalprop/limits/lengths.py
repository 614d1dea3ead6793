"""Inputs of any length: the length map, and correlations at unequal lengths."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor

from signalprop._arrays import Array, Plain, as_tensor, on_tensors
from signalprop._threads import threads_for
from signalprop.activations import Activation
from signalprop.callables import as_activation
from signalprop.limits.interpolated import jumps
from signalprop.limits.quadrature import (
    FARTHEST,
    Grid,
    conditional_mean,
    density,
    product_on_circle,
    resolve,
)

__all__ = ["LengthMap"]

SMALL = 0.1  # standard deviation below which the length map is differentiated by parts


class LengthMap:
    """``q -> weight_variance E phi(sqrt(q) X)^2 + bias_variance``: one layer's effect on lengths.

    ``q`` is the variance of the pre-activations, ``weight_variance`` the variance of a weight
    times the fan-in. With the defaults it is ``sh_l`` of COND Theorem 37. Exact to about 1e-14, for
    each ``q >= 0`` of an array of any shape, in float64.

    >>> from signalprop.activations import relu, tanh
    >>> LengthMap(relu, weight_variance=2.0)([1.0, 4.0]).round(12)
    array([1., 4.])
    >>> round(LengthMap(tanh, weight_variance=2.0).fixed_point(), 6)
    0.617965
    """

    def __init__(
        self,
        phi: Activation | Callable[..., Any],
        weight_variance: float = 1.0,
        bias_variance: float = 0.0,
    ):
        for name, value in (("weight", weight_variance), ("bias", bias_variance)):
            if not 0 <= value < math.inf:
                raise ValueError(f"{name}_variance must be finite and not negative, got {value}")
        self.phi = as_activation(phi)
        self.weight_variance, self.bias_variance = weight_variance, bias_variance

    def __repr__(self) -> str:
        return (
            f"LengthMap({self.phi.name}, weight_variance={self.weight_variance:g}, "
            f"bias_variance={self.bias_variance:g})"
        )

    @overload
    def __call__(self, q: Tensor) -> Tensor: ...
    @overload
    def __call__(self, q: Plain) -> np.ndarray[Any, Any]: ...
    def __call__(self, q: Array | Plain) -> Array:
        """Return the variance of the next layer's pre-activations."""
        return self._answer(self._value, q)

    @overload
    def mean(self, q: Tensor) -> Tensor: ...
    @overload
    def mean(self, q: Plain) -> np.ndarray[Any, Any]: ...
    def mean(self, q: Array | Plain) -> Array:
        """Return ``E phi(sqrt(q) X)``: the coefficient ``a_0`` at length q of COND Appendix D."""
        return self._answer(lambda v: self._expect(self.phi, v), q)

    @overload
    def derivative(self, q: Tensor) -> Tensor: ...
    @overload
    def derivative(self, q: Plain) -> np.ndarray[Any, Any]: ...
    def derivative(self, q: Array | Plain) -> Array:
        """Return the derivative of the length map, for ``q > 0``.

        With ``s = sqrt(q)`` it is ``weight_variance E phi(sX) phi'(sX) X / s`` plus, for a jump of
        ``phi^2`` by ``h`` at t, ``h t p(t/s) / (2 s^3)``. For small s, where most of that cancels
        as X has mean 0, it is ``E (phi'^2 + phi phi'')(sX)``, which is the same integrated by
        parts. Where kinks rule that out and less than nine digits are left: ``ValueError``.
        """
        if bool((as_tensor(q, "q") <= 0).any()):
            raise ValueError("q must be positive for a derivative")
        return self._answer(self._slope, q)

    @overload
    def iterate(self, q: Tensor, depth: int) -> Tensor: ...
    @overload
    def iterate(self, q: Plain, depth: int) -> np.ndarray[Any, Any]: ...
    def iterate(self, q: Array | Plain, depth: int) -> Array:
        """Return the lengths through ``depth`` layers: ``(..., depth + 1)``.

        ``depth`` counts applications of the map, one for each hidden layer.
        """
        if depth < 0:
            raise ValueError(f"depth must be at least 0, got {depth}")
        return self._answer(lambda v: self._path(v, depth), q)

    def fixed_point(self, start: float = 1.0) -> float:
        """Return the first fixed point on the way on which ``start`` moves, by Brent's method.

        For a monotone map (all the usual activations) that is the limit of the iteration. Lengths
        that grow beyond ``2^40`` are a ``ValueError``; those that shrink below ``2^-40`` go to 0.
        """
        from scipy.optimize import brentq  # slow to load, and few need it

        if not 0 < start < math.inf:
            raise ValueError(f"start must be positive and finite, got {start}")

        def excess(q: float) -> float:
            return float(self(q)) - q

        if abs(excess(start)) <= 1e-15 * start:
            return start
        factor = 2.0 if excess(start) > 0 else 0.5
        before = start
        for _ in range(40):
            after = before * factor
            if excess(before) * excess(after) <= 0:
                return float(brentq(excess, before, after, xtol=1e-300))
            before = after
        if factor < 1:
            return 0.0
        raise ValueError(f"lengths of {self.phi.name} grow without a fixed point below 2^40")

    @overload
    def covariance(self, q1: Tensor, q2: Array | Plain, rho: Array | Plain) -> Tensor: ...
    @overload
    def covariance(self, q1: Plain, q2: Tensor, rho: Array | Plain) -> Tensor: ...
    @overload
    def covariance(self, q1: Plain, q2: Plain, rho: Tensor) -> Tensor: ...
    @overload
    def covariance(self, q1: Plain, q2: Plain, rho: Plain) -> np.ndarray[Any, Any]: ...
    def covariance(self, q1: Array | Plain, q2: Array | Plain, rho: Array | Plain) -> Array:
        """Return ``weight_variance E phi(sqrt(q1) X) phi(sqrt(q2) Y) + bias_variance``.

        ``X, Y`` are standard with correlation ``rho``; the three arguments broadcast. One
        two-dimensional quadrature an entry, a few milliseconds each.

        >>> from signalprop.activations import identity
        >>> LengthMap(identity).covariance(4.0, 9.0, 0.5).round(12)
        np.float64(3.0)
        """
        return _pairs(q1, q2, rho, self)

    @overload
    def correlation(self, q1: Tensor, q2: Array | Plain, rho: Array | Plain) -> Tensor: ...
    @overload
    def correlation(self, q1: Plain, q2: Tensor, rho: Array | Plain) -> Tensor: ...
    @overload
    def correlation(self, q1: Plain, q2: Plain, rho: Tensor) -> Tensor: ...
    @overload
    def correlation(self, q1: Plain, q2: Plain, rho: Plain) -> np.ndarray[Any, Any]: ...
    def correlation(self, q1: Array | Plain, q2: Array | Plain, rho: Array | Plain) -> Array:
        """Return the correlation after the layer of inputs of lengths q1, q2 and correlation rho.

        >>> from signalprop.activations import identity
        >>> LengthMap(identity).correlation(4.0, 9.0, 0.5).round(12)
        np.float64(0.5)
        """
        product = self(q1) * self(q2)
        if bool((torch.as_tensor(product) == 0).any()):
            raise ValueError("a correlation needs lengths that the layer does not map to 0")
        result: Array = _pairs(q1, q2, rho, self) / product**0.5
        return result

    def _answer(self, function: Callable[[Tensor], Tensor], q: Array | Plain) -> Array:
        v = as_tensor(q, "q").to(torch.float64)
        if bool((v < 0).any()):
            raise ValueError(f"q must not be negative, got {float(v.min())}")
        if not v.numel():
            raise ValueError(f"q must not be empty, got shape {tuple(v.shape)}")
        with threads_for(200 * v.numel()):
            result = function(v.cpu())  # the quadrature is small: it lives on the CPU
        if not bool(torch.isfinite(result).all()):
            raise ValueError(f"lengths of {self.phi.name} are beyond double precision")
        return result.to(v.device) if isinstance(q, Tensor) else result.numpy()[()]

    def _value(self, q: Tensor) -> Tensor:
        moment = self._expect(lambda x: self.phi(x) ** 2, q)
        return self.weight_variance * moment + self.bias_variance

    def _slope(self, q: Tensor) -> Tensor:
        std = q.sqrt()
        nearest = min((abs(t) for t in self.phi.kinks), default=math.inf)
        small = (std < SMALL) & (std * FARTHEST < nearest)
        result = torch.empty_like(std)
        for mask, slope in ((small, self._slope_of_small), (~small, self._slope_by_parts)):
            if bool(mask.any()):
                result[mask] = slope(std[mask])
        return self.weight_variance * result

    def _slope_of_small(self, std: Tensor) -> Tensor:
        phi = self.phi

        def half_second(x: Tensor) -> Tensor:  # half of the second derivative of phi^2
            first, second = torch.func.jvp(phi.derivative, (x,), (torch.ones_like(x),))[:2]
            half: Tensor = first**2 + phi(x) * second
            return half

        return self._expect(half_second, std**2)

    def _slope_by_parts(self, std: Tensor) -> Tensor:
        phi = self.phi
        slope = self._expect(lambda x: phi(x) * phi.derivative(x) * x, std**2) / std**2
        size = self._expect(lambda x: (phi(x) * phi.derivative(x) * x).abs(), std**2) / std**2
        if bool((4e-16 * size > 1e-9 * slope.abs()).any()):
            worst = float(std[(size / slope.abs()).argmax()]) ** 2
            raise ValueError(
                f"the derivative of the length map of {phi.name} has less than nine digits in "
                f"double precision at q = {worst:.3g}"
            )
        for t, (left, right) in jumps(phi).items():
            slope = slope + (right**2 - left**2) * t * density(t / std) / (2 * std**3)
        return slope

    def _path(self, q: Tensor, depth: int) -> Tensor:
        path = [q]
        for _ in range(depth):
            path.append(self._value(path[-1]))
        return torch.stack(path, dim=-1)

    def _expect(self, f: Callable[[Tensor], Tensor], q: Tensor) -> Tensor:
        std = q.sqrt()
        grid = grid_at_length(self.phi, float(q.max()))
        return conditional_mean(f, torch.zeros_like(std), std, grid)


def grid_at_length(phi: Activation, q: float) -> Grid:
    """Return a grid, in the argument of ``phi``, that serves all lengths up to ``q``."""
    largest = max(1.0, math.sqrt(q))
    wide = phi.gained(largest)
    steepness = largest * max(1.0, abs(phi.gain))
    return resolve(lambda x: wide(x) ** 2, wide.kinks, steepness)[1].scaled(largest)


@on_tensors("q1", "q2", "rho")
def _pairs(q1: Array | Plain, q2: Array | Plain, rho: Array | Plain, layer: LengthMap) -> Array:
    arrays = [torch.as_tensor(a, dtype=torch.float64) for a in (q1, q2, rho)]
    if bool((arrays[2].abs() > 1).any()):
        raise ValueError(f"rho must lie in [-1, 1], got {float(arrays[2].abs().max())} in size")
    if bool((arrays[0] < 0).any()) or bool((arrays[1] < 0).any()):
        raise ValueError("q1 and q2 must not be negative")
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    q = torch.stack([a.expand(shape) for a in arrays], dim=-1)
    moments = pair_moments(layer.phi, layer.phi, q[..., 0].sqrt(), q[..., 1].sqrt(), q[..., 2])
    return layer.weight_variance * moments + layer.bias_variance


def pair_moments(
    phi: Activation, f: Callable[[Tensor], Tensor], a: Tensor, b: Tensor, rho: Tensor
) -> Tensor:
    """Return ``E f(a X) f(b Y)`` entry by entry, where ``f`` is ``phi`` or its derivative."""
    grid = grid_at_length(phi, float(torch.maximum(a, b).max()) ** 2)
    triples = torch.stack([a, b, rho], dim=-1).reshape(-1, 3).tolist()
    with threads_for(0):
        values = [_pair_moment(f, s, t, r, grid) for s, t, r in triples]
    return torch.tensor(values, dtype=torch.float64, device=rho.device).reshape(rho.shape)


def _pair_moment(
    f: Callable[[Tensor], Tensor], a: float, b: float, rho: float, grid: Grid
) -> float:
    both = grid.scaled(1 / max(a, 1e-150)).joined(grid.scaled(1 / max(b, 1e-150))).within(2)
    sine = math.sqrt((1 - rho) * (1 + rho))
    return product_on_circle(lambda x: f(a * x), lambda y: f(b * y), rho, sine, both)
