"""Closed forms of ``E phi(X) phi(Y)``, each written so that no digit cancels where it matters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

__all__ = [
    "Arcsine",
    "Exponential",
    "Hinge",
    "Kernel",
    "Ramp",
    "Series",
    "Sinh",
    "Step",
    "angle_of",
    "horner",
]


#: Numbers that are worked on at once: for few, the calls of torch take longer than the work.
AT_ONCE = 2**14


class Kernel(Protocol):
    """A kernel map up to its constant, in the three forms that keep relative accuracy.

    With ``kappa(rho) = E phi(X) phi(Y)``: near 0 the centred kernel is what is small, near 1 it
    is the complement. All three take and give float64 tensors.

    >>> isinstance(Sinh(1.0).centered(torch.zeros(1)), Tensor)
    True
    """

    def centered(self, rho: Tensor) -> Tensor:
        """Return ``kappa(rho) - kappa(0)``."""
        ...

    def derivative(self, rho: Tensor) -> Tensor:
        """Return ``kappa'(rho)``, which may be infinite at the ends."""
        ...

    def complement(self, delta: Tensor) -> Tensor:
        """Return ``kappa(1) - kappa(1 - delta)``."""
        ...


def angle_of(delta: Tensor) -> Tensor:
    """Return the angle whose cosine is ``1 - delta``, accurate for small ``delta``.

    >>> round(float(angle_of(torch.tensor(2.0, dtype=torch.float64))), 6)
    3.141593
    """
    return 2 * torch.asin(torch.sqrt(delta / 2))


def horner(coefficients: Tensor, x: Tensor) -> Tensor:
    """Return ``sum_k coefficients[..., k] x^k``; leading dimensions broadcast with ``x``.

    >>> horner(torch.tensor([1.0, 2.0, 3.0]), torch.tensor(2.0))
    tensor(17.)
    """
    total = torch.zeros_like(x)
    for coefficient in reversed(coefficients.to(x.device).unbind(-1)):
        total = total * x + coefficient
    return total


@dataclass(frozen=True, eq=False)
class Series:
    """``sum_k weights[..., k] rho^k``: polynomials, or any given non-negative spectrum.

    The complement is ``delta * sum_i tail_i (1 - delta)^i`` with ``tail_i = sum_{k>i} weights_k``,
    because ``1 - r^k = (1 - r)(1 + r + ... + r^{k-1})``.

    >>> Series(torch.tensor([0.5, 0.25, 0.25])).centered(torch.ones(1, dtype=torch.float64))
    tensor([0.5000], dtype=torch.float64)
    """

    weights: Tensor

    def centered(self, rho: Tensor) -> Tensor:
        """Return the series without its constant."""
        return rho * horner(self.weights[..., 1:], rho)

    def derivative(self, rho: Tensor) -> Tensor:
        """Return ``sum_k k weights_k rho^{k-1}``."""
        orders = torch.arange(self.weights.shape[-1], device=self.weights.device)
        return horner((orders * self.weights)[..., 1:], rho)

    def complement(self, delta: Tensor) -> Tensor:
        """Return the complement through the tails of the weights."""
        tails = self.weights.flip(-1).cumsum(-1).flip(-1)[..., 1:]
        return delta * horner(tails, 1 - delta)


@dataclass(frozen=True)
class Exponential:
    """``exp(rate (1 + rho))``: the kernel of ``exp(a x)`` with ``rate = a^2``.

    >>> Exponential(1.0).derivative(-torch.ones(1, dtype=torch.float64))
    tensor([1.], dtype=torch.float64)
    """

    rate: float

    def centered(self, rho: Tensor) -> Tensor:
        """Return ``e^rate (e^{rate rho} - 1)``."""
        return math.exp(self.rate) * torch.expm1(self.rate * rho)

    def derivative(self, rho: Tensor) -> Tensor:
        """Return ``rate e^{rate (1 + rho)}``."""
        return self.rate * torch.exp(self.rate * (1 + rho))

    def complement(self, delta: Tensor) -> Tensor:
        """Return ``e^{2 rate} (1 - e^{-rate delta})``."""
        return -math.exp(2 * self.rate) * torch.expm1(-self.rate * delta)


@dataclass(frozen=True)
class Sinh:
    """``e^{-rate} sinh(rate rho)``: the kernel of ``sin(a x)`` with ``rate = a^2``.

    >>> Sinh(1.0).centered(torch.ones(1, dtype=torch.float64))
    tensor([0.4323], dtype=torch.float64)
    """

    rate: float

    def centered(self, rho: Tensor) -> Tensor:
        """Return the kernel itself, which is odd."""
        x = self.rate * rho.abs()
        return -torch.sign(rho) * torch.expm1(-2 * x) * torch.exp(x - self.rate) / 2

    def derivative(self, rho: Tensor) -> Tensor:
        """Return ``rate e^{-rate} cosh(rate rho)``."""
        q = self.rate
        return q * (torch.exp(q * (rho - 1)) + torch.exp(-q * (rho + 1))) / 2

    def complement(self, delta: Tensor) -> Tensor:
        """Return ``2 e^{-rate} cosh(rate (1 - delta/2)) sinh(rate delta/2)``."""
        q = self.rate
        return -(1 + torch.exp(-q * (2 - delta))) * torch.expm1(-q * delta) / 2


@dataclass(frozen=True)
class Arcsine:
    """``(2/pi) factor asin(slope rho)``: of ``erf(a x)`` with ``slope = 2a^2 / (1 + 2a^2)``.

    The limit ``slope = 1`` is the sign function, and with ``factor = 1/4`` the step, whose
    constant 1/4 is not part of this form. ``gap`` is ``1 - slope`` with the digits that ``slope``
    has lost for a steep ``erf``: near the ends all comes from ``1 - slope |rho|`` through it.

    >>> Arcsine(slope=1.0).centered(torch.ones(1, dtype=torch.float64))          # the sign function
    tensor([1.], dtype=torch.float64)
    """

    slope: float
    factor: float = 1.0
    gap: float = 0.0

    def _away(self, rho: Tensor) -> Tensor:
        """Return ``1 - slope |rho|``."""
        return self.gap + self.slope * (1 - rho.abs())

    def centered(self, rho: Tensor) -> Tensor:
        """Return the kernel without its constant, which is odd."""
        x, away = self.slope * rho, self._away(rho)
        steep = torch.sign(rho) * (math.pi / 2 - angle_of(away.clamp(max=0.5)))
        return 2 / math.pi * self.factor * torch.where(away < 0.5, steep, torch.asin(x))

    def derivative(self, rho: Tensor) -> Tensor:
        """Return the derivative; infinite at both ends for ``slope = 1``."""
        away = self._away(rho)
        return 2 / math.pi * self.factor * self.slope / torch.sqrt(away * (2 - away))

    def complement(self, delta: Tensor) -> Tensor:
        """Return the difference of two arcsines through ``sin(a - b)`` and ``cos(a - b)``."""
        u, v = self.slope, self.slope * (1 - delta).clamp(min=0)
        cos_u = math.sqrt(self.gap * (1 + u))
        cos_v = torch.sqrt((self.gap + u * delta) * (1 + v))
        sum_of_sines = (u * cos_v + v * cos_u).clamp(min=1e-300)  # 0 for jumps at delta = 0
        sine = u * u * delta * (2 - delta) / sum_of_sines
        near = torch.atan2(sine, cos_u * cos_v + u * v)
        whole = 2 / math.pi * self.factor * math.atan2(u, cos_u)
        far = whole - self.centered(1 - delta)
        return torch.where(delta < 1, 2 / math.pi * self.factor * near, far)


@dataclass(frozen=True)
class Step(Arcsine):
    """The kernel of the Heaviside step, which vanishes at -1 with its constant 1/4 added.

    >>> Step().whole(torch.ones(1, dtype=torch.float64))
    tensor([0.5000], dtype=torch.float64)
    """

    slope: float = 1.0
    factor: float = 0.25

    def whole(self, rho: Tensor) -> Tensor:
        """Return the kernel with its constant, to relative accuracy near -1 too."""
        return angle_of(1 + rho) / (2 * math.pi)


@dataclass(frozen=True)
class Hinge:
    """The kernel of ``left x + kink max(x - threshold, 0)``: all ReLUs, with any threshold t.

    ``kappa'(rho) = (left + kink P)^2 + kink^2 int_0^rho g`` with ``P = P(X > t)`` and the density
    ``g(r) = exp(-t^2 / (1 + r)) / (2 pi sqrt(1 - r^2))`` of both at the kink (Plackett). With
    ``r = cos(u)`` what is left are integrals over the angle of ``exp(-t^2 / (2 cos^2(u/2)))``:
    elementary for ``t = 0`` (the arc-cosine kernel), numerical else.

    >>> Hinge(threshold=0.0, left=0.0, kink=1.0).derivative(torch.ones(1, dtype=torch.float64))
    tensor([0.5000], dtype=torch.float64)
    """

    threshold: float
    left: float
    kink: float

    @property
    def _above(self) -> float:
        return math.erfc(self.threshold / math.sqrt(2)) / 2

    @property
    def _slope_at_zero(self) -> float:
        return (self.left + self.kink * self._above) ** 2

    def _integrate(self, factor: Callable[[Tensor], Tensor], start: Tensor, stop: Tensor) -> Tensor:
        """Integrate ``factor(u) exp(-t^2 / (2 cos^2(u/2))) du / 2 pi``.

        With ``cos(u/2) = 1 / cosh(w)`` the singularity at ``u = pi`` goes to infinity, where the
        integrand decays doubly exponentially: below 1e-17 for ``|t| cosh(w) > 9``.
        """
        farthest = math.acosh(1.5 + 9 / abs(self.threshold))
        low, high = (torch.asinh(torch.tan(u / 2)).clamp(max=farthest) for u in (start, stop))
        total = torch.zeros_like(stop)
        size = max(1, AT_ONCE // max(1, stop.numel()))
        for some in (slice(first, first + size) for first in range(0, len(_NODES), size)):
            node, weight = (
                stop.new_tensor(values[some]).reshape(-1, *[1] * stop.ndim)
                for values in (_NODES, _WEIGHTS)
            )
            w = (low + high) / 2 + node * (high - low) / 2
            u, cosh = 2 * torch.atan(torch.sinh(w)), torch.cosh(w)
            damping = torch.exp(-((self.threshold * cosh) ** 2) / 2)
            for part in weight * factor(u) * damping / cosh:  # one by one, however many at once
                total = total + part
        return total * (high - low) / (2 * math.pi)

    def centered(self, rho: Tensor) -> Tensor:
        """Return the slope at 0 times ``rho``, plus ``kink^2 int_0^rho (rho - r) g(r) dr``."""
        sine = torch.sqrt((1 - rho) * (1 + rho))
        if self.threshold == 0:
            pair = (rho * torch.asin(rho) - rho**2 / (1 + sine)) / (2 * math.pi)
        else:
            angle, right = torch.atan2(sine, rho), torch.full_like(rho, math.pi / 2)
            # cos(angle) - cos(u) as a product, for small rho
            pair = -self._integrate(
                lambda u: 2 * torch.sin((u + angle) / 2) * torch.sin((u - angle) / 2), right, angle
            )
        return self._slope_at_zero * rho + self.kink**2 * pair

    def derivative(self, rho: Tensor) -> Tensor:
        """Return the slope at 0 plus ``kink^2 int_0^rho g(r) dr``."""
        if self.threshold == 0:
            pair = torch.asin(rho) / (2 * math.pi)
        else:
            angle = torch.atan2(torch.sqrt((1 - rho) * (1 + rho)), rho)
            pair = -self._integrate(torch.ones_like, torch.full_like(rho, math.pi / 2), angle)
        return self._slope_at_zero + self.kink**2 * pair

    def complement(self, delta: Tensor) -> Tensor:
        """Return ``kappa'(1) delta - kink^2 int_{1-delta}^1 (r - 1 + delta) g(r) dr``."""
        slope_at_one = self.left**2 + (2 * self.left + self.kink) * self.kink * self._above
        angle = angle_of(delta)
        if self.threshold == 0:
            # sin(angle) - angle cos(angle), through two differences of one sign each
            pair = (angle * delta - angle_minus_sine(angle)) / (2 * math.pi)
        else:
            pair = self._integrate(
                lambda u: 2 * torch.sin((angle + u) / 2) * torch.sin((angle - u) / 2),
                torch.zeros_like(angle),
                angle,
            )
        return slope_at_one * delta - self.kink**2 * pair


@dataclass(frozen=True)
class Ramp(Hinge):
    """The kernel of ``kink max(x, 0)``, which vanishes at -1 with its constant added.

    >>> Ramp().whole(torch.ones(1, dtype=torch.float64))
    tensor([0.5000], dtype=torch.float64)
    """

    threshold: float = 0.0
    left: float = 0.0
    kink: float = 1.0

    def whole(self, rho: Tensor) -> Tensor:
        """Return the kernel with its constant, to relative accuracy near -1 too.

        It is ``sin(v) - v cos(v)`` of the angle v between x and -y, in the terms of `complement`.
        """
        angle = angle_of(1 + rho)
        return self.kink**2 * (angle * (1 + rho) - angle_minus_sine(angle)) / (2 * math.pi)

    def derivative(self, rho: Tensor) -> Tensor:
        """Return the angle between x and -y over 2 pi, to relative accuracy near -1 too."""
        near = self.kink**2 * angle_of((1 + rho).clamp(max=1)) / (2 * math.pi)
        return torch.where(rho < 0, near, super().derivative(rho))


_NODES, _WEIGHTS = (a.tolist() for a in np.polynomial.legendre.leggauss(56))


def angle_minus_sine(x: Tensor) -> Tensor:
    """Return ``x - sin(x)`` for ``0 <= x <= pi`` without cancellation for small ``x``."""
    terms = torch.tensor([(-1) ** k / math.factorial(2 * k + 3) for k in range(8)], dtype=x.dtype)
    small = x.clamp(max=1.0)
    return torch.where(x < 1, small**3 * horner(terms, small * small), x - torch.sin(x))
