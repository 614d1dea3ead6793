"""Closed forms of ``E phi(u) phi(v)`` for what is linear between kinks anywhere.

Hard tanh, ReLU6, shifted ReLU (NormReLU), shrinkages: ``phi`` is a line plus a step and a ramp at
each kink, and products of ramps under a bivariate Gaussian are elementary but for one probability,
that both variables exceed a threshold (Rosenbaum 1961), for which Owen's function serves (1956).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from signalprop.activations import Activation
from signalprop.limits.quadrature import density

__all__ = ["PiecewiseLinear", "piecewise_linear"]

STRAIGHT = 1e-13  # what rounding leaves of the distance from a line
FAR = 64.0  # up to here it must be a line beyond the last kink
SHORTEST = 1e-20  # in units of the kinks: what is shorter is a constant


@dataclass(frozen=True)
class PiecewiseLinear:
    """``level + slope x + sum_k (jumps_k 1[x > t_k] + bends_k max(x - t_k, 0))`` with kinks t.

    As a function of deviations and correlations it is a `unequal.Form`.

    >>> ramp = PiecewiseLinear(kinks=(0.0,), level=0.0, slope=0.0, jumps=(0.0,), bends=(1.0,))
    >>> one = torch.ones(1, dtype=torch.float64)
    >>> ramp(2 * one, 3 * one, one)                            # of ReLU
    (tensor([3.], dtype=torch.float64), tensor([0.5000], dtype=torch.float64))
    """

    kinks: tuple[float, ...]
    level: float
    slope: float
    jumps: tuple[float, ...]
    bends: tuple[float, ...]

    def __call__(self, a: Tensor, b: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
        """Return the moments of ``phi`` and of its derivative, without jumps of ``phi``."""
        shortest = SHORTEST * max(map(abs, self.kinks), default=1.0)
        a, b = a.clamp(min=shortest), b.clamp(min=shortest)
        moments = self.level**2 + self.slope**2 * a * b * rho
        slopes = torch.full_like(moments, self.slope**2)
        for own, other in ((a, b), (b, a)):
            for kink, jump, bend in self._pieces():
                s = kink / own
                above, at = _above(s), density(s)
                mean = jump * above + bend * own * (at - s * above)
                with_line = jump * at + bend * own * above
                moments = moments + self.level * mean + self.slope * other * rho * with_line
                slopes = slopes + self.slope * bend * above
        sine = torch.sqrt((1 - rho) * (1 + rho))
        for (low, jump, bend), (high, jump2, bend2) in itertools.product(self._pieces(), repeat=2):
            first = (jump, bend * a)
            second = (jump2, bend2 * b)
            both, product = _pair(low / a, high / b, rho, sine, first, second)
            moments = moments + product
            slopes = slopes + bend * bend2 * both
        return moments, slopes

    def _pieces(self) -> list[tuple[float, float, float]]:
        return list(zip(self.kinks, self.jumps, self.bends, strict=True))


Weights = tuple[float, Tensor]


def _pair(
    s: Tensor, t: Tensor, rho: Tensor, sine: Tensor, first: Weights, second: Weights
) -> tuple[Tensor, Tensor]:
    """Return ``P(X > s, Y > t)`` and the product of a step and a ramp at s with those at t.

    ``first`` and ``second`` are the weights of step and ramp.
    """
    from_s, from_t = _deviations(t, s, rho, sine), _deviations(s, t, rho, sine)
    p, q = _above(from_s), _above(from_t)  # P(Y > t | X = s), and the other way round
    both = _both_above(s, t, rho, sine)
    at_s, at_t = density(s) * p, density(t) * q
    x, y = at_s + rho * at_t, at_t + rho * at_s  # E X and E Y where both exceed
    joint = sine / (2 * math.pi) * torch.exp(-(s * s + from_s * from_s) / 2)
    xy = rho * both + rho * (s * at_s + t * at_t) + joint
    (jump, bend), (jump2, bend2) = first, second
    ramps = xy - t * x - s * y + s * t * both
    product = bend * bend2 * ramps + jump * jump2 * both
    return both, product + jump * bend2 * (y - t * both) + jump2 * bend * (x - s * both)


def _above(s: Tensor) -> Tensor:
    tail: Tensor = torch.special.erfc(s / math.sqrt(2)) / 2
    return tail


def _deviations(t: Tensor, s: Tensor, rho: Tensor, sine: Tensor) -> Tensor:
    """Return ``(t - rho s) / sine``: how far t is from where Y is expected given X = s.

    Without cancellation at both ends of rho; 0 where both are 0, as in the limit.
    """
    away = torch.where(rho >= 0, (t - s) + (1 - rho) * s, (t + s) - (1 + rho) * s)
    return torch.where(away == 0, 0.0, away / sine)


def _both_above(s: Tensor, t: Tensor, rho: Tensor, sine: Tensor) -> Tensor:
    """Return ``P(X > s, Y > t)`` (Owen 1956), where X and Y may be parallel or opposite."""
    from scipy.special import owens_t

    like = torch.zeros_like(s + t + rho)
    h, k = (torch.where(x == 0, 0.0, -x) + like for x in (s, t))
    right, left = _deviations(k, h, rho, sine) / h, _deviations(h, k, rho, sine) / k
    first, second = (
        torch.from_numpy(np.asarray(owens_t(x.numpy(), y.nan_to_num(nan=0.0).numpy())))
        for x, y in ((h, right), (k, left))
    )
    opposite = (h * k < 0) | ((h * k == 0) & (h + k < 0))
    whole = (_above(s) + _above(t)) / 2 - first - second - 0.5 * opposite
    whole = torch.where((s == 0) & (t == 0), torch.acos(-rho) / (2 * math.pi), whole)
    return whole.clamp(min=0.0)


def piecewise_linear(phi: Activation) -> PiecewiseLinear | None:
    """Return ``phi`` in pieces, or None if it is not linear between its kinks.

    >>> from signalprop.activations import norm_relu, tanh
    >>> piecewise_linear(norm_relu(-1.0)).kinks, piecewise_linear(tanh)
    ((-1.0,), None)
    """
    kinks = sorted(phi.kinks)
    far = FAR + max(map(abs, kinks), default=0.0)
    lines = []
    for low, high in itertools.pairwise([-far, *kinks, far]):
        x = torch.from_numpy(low + (high - low) * np.linspace(0.02, 0.98, 49))
        y = phi(x)
        slope = float((y[-1] - y[0]) / (x[-1] - x[0]))
        level = float(y[24] - slope * x[24])
        distance = (y - level - slope * x).abs().max()
        if not float(distance) <= STRAIGHT * (float(y.abs().max()) + abs(level)):
            return None
        lines.append((level, slope))
    jumps, bends = [], []
    for t, ((level, slope), (next_level, next_slope)) in zip(
        kinks, itertools.pairwise(lines), strict=True
    ):
        jump = (next_level - level) + (next_slope - slope) * t
        size = abs(level) + abs(next_level) + abs(slope * t) + abs(next_slope * t)
        jumps.append(0.0 if abs(jump) <= STRAIGHT * size else jump)
        bends.append(next_slope - slope)
    return PiecewiseLinear(tuple(kinks), *lines[0], tuple(jumps), tuple(bends))
