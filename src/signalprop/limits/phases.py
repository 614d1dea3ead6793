"""Phase diagrams of wide networks: order and chaos over weight and bias variance.

A layer multiplies with weights of variance ``weight_variance / width`` and adds biases of variance
``bias_variance``. With depth the lengths of inputs come to q*, their correlations to c*, and how
fast is a depth scale (Poole et al. 2016; Schoenholz et al. 2017).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import numpy as np
import torch
from torch import Tensor

from signalprop._arrays import Array, Plain, as_tensor
from signalprop._threads import threads_for
from signalprop.activations import Activation
from signalprop.callables import as_activation
from signalprop.limits.interpolated import jumps
from signalprop.limits.lengths import LengthMap, grid_at_length
from signalprop.limits.maps import KernelMap
from signalprop.limits.polar import chebyshev, clenshaw, points, rule_for, tail
from signalprop.limits.quadrature import conditional_mean
from signalprop.limits.unequal import closed_form

__all__ = ["MeanField"]

Kind = TypeVar("Kind", np.ndarray[Any, Any], Tensor)

FARTHEST = 40  # octaves: lengths above 2^40 count as infinite, those below 2^-40 as 0
HALVINGS = 60  # of a bracket: to rounding
CRITICAL = 1e-12  # |chi - 1| up to which a point is on the edge of chaos
ANGLES = 64  # Chebyshev points in the angle
LENGTHS = 20  # Chebyshev points in an octave of lengths
RESOLVED = 1e-10  # of the last Chebyshev coefficients, relative to the largest


class MeanField(Generic[Kind]):
    """What a deep network does to lengths and correlations in the limit of width, and how fast.

    ``weight_variance`` and ``bias_variance`` are numbers or arrays that broadcast; each property
    has their common shape, in float64: ten thousand points take seconds. Where lengths grow without
    bound, ``length`` is infinite and everything else NaN.

    >>> import numpy as np
    >>> from signalprop.activations import tanh
    >>> field = MeanField(tanh, weight_variance=np.array([0.5, 1.5, 3.0]), bias_variance=0.05)
    >>> field.chi.round(4)
    array([0.432 , 0.9386, 1.2089])
    >>> (field.correlation < 1).tolist(), field.depth_scale.shape
    ([False, False, True], (3,))
    """

    @overload
    def __init__(
        self: MeanField[Tensor],
        phi: Activation | Callable[..., Any],
        weight_variance: Tensor,
        bias_variance: Array | Plain = 0.0,
    ) -> None: ...
    @overload
    def __init__(
        self: MeanField[Tensor],
        phi: Activation | Callable[..., Any],
        weight_variance: Array | Plain = 1.0,
        *,
        bias_variance: Tensor,
    ) -> None: ...
    @overload
    def __init__(
        self: MeanField[np.ndarray[Any, Any]],
        phi: Activation | Callable[..., Any],
        weight_variance: Plain = 1.0,
        bias_variance: Plain = 0.0,
    ) -> None: ...
    def __init__(
        self,
        phi: Activation | Callable[..., Any],
        weight_variance: Array | Plain = 1.0,
        bias_variance: Array | Plain = 0.0,
    ):
        given = (weight_variance, bias_variance)
        self._torch = any(isinstance(value, Tensor) for value in given)
        names = ("weight_variance", "bias_variance")
        both = [
            as_tensor(v, name).detach().to("cpu", torch.float64)
            for v, name in zip(given, names, strict=True)
        ]
        for name, value in zip(names, both, strict=True):
            if bool((value < 0).any()):
                raise ValueError(f"{name} must not be negative, got {float(value.min())}")
        phi = as_activation(phi)
        if jumps(phi):
            raise ValueError(f"{phi.name} has jumps: correlations of 1 are left at infinite speed")
        self._shape = np.broadcast_shapes(*(value.shape for value in both))
        if 0 in self._shape:
            raise ValueError(f"weight_variance must hold a number at least, got {self._shape}")
        w, b = (value.expand(self._shape) for value in both)
        self.phi, self._w, self._b = phi, w.flatten(), b.flatten()

    @property
    def length(self) -> Kind:
        """q*: the variance of the pre-activations far down, on the way that length 1 takes.

        As :meth:`signalprop.LengthMap.fixed_point` finds it, one bracket of a factor 2 for each
        point, and bisection.
        """
        return self._answer(lambda: self._q)

    @property
    def chi(self) -> Kind:
        """``weight_variance E phi'(sqrt(q*) X)^2``: the slope of the map of correlations at 1.

        Above 1 (chaos) inputs that are almost alike move apart, below (order) they come together;
        at 1 gradients neither vanish nor explode.
        """
        return self._answer(lambda: self._chi)

    @property
    def correlation(self) -> Kind:
        """c*: the correlation that inputs come to. 1 for ``chi <= 1``, else below.

        Where ``c* < 1`` it solves ``weight_variance m(c) = 1`` with m the mean of
        ``E phi'(u) phi'(v)`` between the correlations c and 1, from
        ``1 - c* = (K(1) - K(c*)) / q*`` without its root at 1. The map is convex on [0, 1], so that
        there is one.
        """
        return self._answer(lambda: torch.cos(self._angle))

    @property
    def depth_scale(self) -> Kind:
        """``-1 / log`` of the slope of the map of correlations at c*: infinite at the edge.

        A distance to c* shrinks by e over so many layers.
        """
        return self._answer(lambda: _scale(self._slope))

    @property
    def length_depth_scale(self) -> Kind:
        """``-1 / log`` of the slope of the map of lengths at q*."""

        def scales() -> Tensor:
            q = self._q
            slope = self._w * self._means(q, derivative=True)[0]
            return _scale(torch.where(torch.isfinite(q), slope, math.nan))

        return self._answer(scales)

    def __repr__(self) -> str:
        return f"MeanField({self.phi.name}, {tuple(self._shape)} points)"

    def _answer(self, values: Callable[[], Tensor]) -> Kind:
        with threads_for(LENGTHS * self._w.numel()):
            result = values().reshape(self._shape)
        answer: Kind = result if self._torch else result.numpy()[()]  # type: ignore[assignment]
        return answer

    @functools.cached_property
    def _moments(self) -> _Octaves:
        """``E phi^2`` and ``E phi'^2`` as functions of the length."""
        length_map = LengthMap(self.phi)

        def values(q: Tensor) -> Tensor:
            grid = grid_at_length(self.phi, float(q.max()))
            slopes = conditional_mean(
                lambda x: self.phi.derivative(x) ** 2, torch.zeros_like(q), q.sqrt(), grid
            )
            return torch.stack([torch.as_tensor(length_map(q)), slopes], dim=-1)

        return _Octaves(values)

    def _means(self, q: Tensor, derivative: bool = False) -> Tensor:
        """Return ``E phi^2`` and ``E phi'^2`` at lengths, or their derivatives: ``(2, points)``."""
        means: Tensor = self._moments(q.clamp(2.0**-FARTHEST, 2.0**FARTHEST), derivative).mT
        return means

    @functools.cached_property
    def _q(self) -> Tensor:
        def excess(q: Tensor) -> Tensor:
            return self._w * self._means(q)[0] + self._b - q

        one = torch.ones_like(self._w)
        at_one = excess(one)
        grows = at_one > 0
        low, high = one.clone(), one.clone()
        searching = at_one.abs() > 1e-15
        for k in range(1, FARTHEST + 1):
            if not bool(searching.any()):
                break
            q = torch.where(searching, torch.where(grows, one * 2.0**k, one * 2.0**-k), one)
            found = searching & ((excess(q) > 0) != grows)
            low = torch.where(searching, torch.where(grows, q / 2, q), low)
            high = torch.where(searching, torch.where(grows, q, 2 * q), high)
            searching = searching & ~found
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            above = excess(middle) > 0
            low, high = torch.where(above, middle, low), torch.where(above, high, middle)
        q = (low + high) / 2
        endless = torch.where(grows, math.inf * one, 0 * one)
        return torch.where(searching, endless, torch.where(at_one.abs() <= 1e-15, one, q))

    @functools.cached_property
    def _chi(self) -> Tensor:
        q = self._q
        return torch.where(torch.isfinite(q), self._w * self._means(q)[1], math.nan)

    @functools.cached_property
    def _chaotic(self) -> Tensor:
        return self._chi > 1 + CRITICAL

    @functools.cached_property
    def _curves(self) -> tuple[Tensor, Tensor]:
        """Chebyshev series in twice the angle, the last first: ``E phi'(u) phi'(v)``, its mean."""
        series = _Octaves(functools.partial(_slopes_by_angle, self.phi))(self._q[self._chaotic])
        return series[:, :ANGLES].mT.flip(0), series[:, ANGLES:].mT.flip(0)

    @functools.cached_property
    def _angle(self) -> Tensor:
        """The angle of c*."""
        angle = 0 * self._chi
        if bool(self._chaotic.any()):
            means, w = self._curves[1], self._w[self._chaotic]
            low, high = torch.zeros_like(w), torch.full_like(w, math.pi / 2)
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                above = w * clenshaw(means, 2 * middle) > 1
                low, high = torch.where(above, middle, low), torch.where(above, high, middle)
            angle[self._chaotic] = high
        return angle

    @functools.cached_property
    def _slope(self) -> Tensor:
        """The slope of the map of correlations at c*."""
        slope = self._chi.clone()
        if bool(self._chaotic.any()):
            at = clenshaw(self._curves[0], 2 * self._angle[self._chaotic])
            slope[self._chaotic] = self._w[self._chaotic] * at
        return slope


def _scale(slope: Tensor) -> Tensor:
    """Return ``-1 / log(slope)``; infinite for a slope of 1, negative above."""
    edge = (slope - 1).abs() <= CRITICAL
    return torch.where(edge, math.inf, -1 / torch.log(torch.where(edge, 0.5, slope.abs())))


class _Octaves:
    """Functions of a length, by Chebyshev series in its logarithm on each octave that is asked for.

    ``values`` maps lengths ``(P,)`` to ``(P, F)``. They are analytic in a strip around the real
    logarithms, so that a series on an octave converges geometrically.
    """

    def __init__(self, values: Callable[[Tensor], Tensor]):
        self._values = values
        self._series: dict[int, Tensor] = {}

    def __call__(self, q: Tensor, derivative: bool = False) -> Tensor:
        """Return the values at lengths ``(N,)``, or their derivatives by the length: ``(N, F)``."""
        octave = torch.log2(q).floor().int()
        pieces = {k: self._piece(k, q[octave == k], derivative) for k in set(octave.tolist())}
        result = q.new_empty(len(q), next(iter(pieces.values())).shape[1])
        for k, piece in pieces.items():
            result[octave == k] = piece
        return result

    def _piece(self, k: int, q: Tensor, derivative: bool) -> Tensor:
        if k not in self._series:
            nodes = 2.0 ** (k + (points(LENGTHS) + 1) / 2)
            with threads_for(0):
                series = chebyshev(self._values(nodes))
            if not tail(series) <= RESOLVED * float(series.abs().max()):
                raise ValueError(f"{LENGTHS} lengths do not resolve it around {2.0**k:.3g}")
            self._series[k] = series
        position = 2 * (torch.log2(q) - k) - 1
        turn = torch.acos(position.clamp(-1, 1))[:, None]
        orders = torch.arange(LENGTHS, dtype=torch.float64)
        if not derivative:
            return torch.cos(orders * turn) @ self._series[k]
        # T_k' = k sin(k t) / sin(t), whose limit at the ends is k^2 up to its sign
        sine = torch.sin(turn).clamp(min=1e-9)
        slopes = orders * torch.sin(orders * turn.clamp(1e-9, math.pi - 1e-9)) / sine
        return slopes @ self._series[k] * (2 / math.log(2)) / q[:, None]


def _slopes_by_angle(phi: Activation, q: Tensor) -> Tensor:
    """Return Chebyshev series in the angle of ``E phi'(u) phi'(v)`` and of its mean up to 1.

    On ``[0, pi/2]``, where c* lies, as no K(0) is negative. At lengths ``(P,)``: ``(P, 2
    ANGLES)``. The mean is over correlations, between that of the angle and 1: ``int_0^angle
    s(u) sin(u) du / (1 - cos(angle))``.
    """
    angles = (points(ANGLES) + 1) * (math.pi / 4)
    std = q.sqrt()
    form = closed_form(phi)
    if form is not None:
        slopes = form(std, std, torch.cos(angles)[:, None])[1]
    elif all(kink == 0 for kink in phi.kinks):
        reach = grid_at_length(phi, float(q.max())).reach
        try:
            rule = rule_for(phi.derivative, std, reach)
        except ValueError as error:
            steep = f"{phi.name} is too steep at a length of {float(q.max()):.3g}"
            raise ValueError(f"{steep}: {error}; weight_variance must be smaller") from error
        slopes = torch.stack(
            [rule.products(phi.derivative, std, float(w)).diagonal() for w in angles]
        )
    else:
        maps = [KernelMap(phi.gained(float(a))).derivative(torch.cos(angles)) for a in std]
        slopes = torch.stack(maps, dim=-1) / q
    series = chebyshev(slopes)
    if not tail(series) <= RESOLVED * float(series.abs().max()):
        raise ValueError(f"{phi.name} is too steep: {ANGLES} angles do not resolve it")
    x, weight = (torch.from_numpy(v) for v in np.polynomial.legendre.leggauss(ANGLES))
    u = angles[:, None] * (x + 1) / 2
    parts = torch.sin(u) * (angles[:, None] * weight / 2)
    orders = torch.arange(ANGLES, dtype=torch.float64)
    waves = torch.cos(orders * torch.acos((u * (4 / math.pi) - 1).clamp(-1, 1))[..., None])
    averages = torch.einsum("wu,wuk->wk", parts, waves) / (1 - torch.cos(angles))[:, None]
    return torch.cat([series, chebyshev(averages @ series)]).mT
