"""Closed forms of ``E phi(u) phi(v)`` for Gaussians of any two lengths.

``u`` and ``v`` have standard deviations ``a`` and ``b`` and correlation ``rho``; a form returns
``E phi(u) phi(v)`` and ``E phi'(u) phi'(v)``. These are the activations whose kernel is elementary:
what is homogeneous (ReLU, leaky ReLU, step, sign), erf, sin, cos, exp, GELU, and polynomials.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from signalprop import activations
from signalprop.activations import Activation
from signalprop.limits.closed import Hinge, Series
from signalprop.limits.expansions import hermite_polynomials

__all__ = ["Form", "closed_form", "power_sum"]


class Form(Protocol):
    """``E phi(u) phi(v)`` and ``E phi'(u) phi'(v)`` for tensors of deviations and correlations.

    ``a``, ``b`` and ``rho`` are float64 tensors that broadcast, ``|rho| <= 1``; both results have
    the shape of all three together.

    >>> form = closed_form(activations.relu)
    >>> one = torch.ones(1, dtype=torch.float64)
    >>> form(2 * one, 3 * one, one)
    (tensor([3.], dtype=torch.float64), tensor([0.5000], dtype=torch.float64))
    """

    def __call__(self, a: Tensor, b: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
        """Return the moments of ``phi`` and of its derivative."""
        ...


def closed_form(phi: Activation) -> Form | None:
    """Return the form of an activation with all its gains, scales and shifts, or None.

    Where the derivative is a delta function (step, sign) its moments are infinite at ``rho = 1``.

    >>> closed_form(activations.tanh) is None
    True
    >>> one = torch.ones(1, dtype=torch.float64)
    >>> closed_form(activations.exp)(one, one, 0 * one)[0]              # the square of exp(1/2)
    tensor([2.7183], dtype=torch.float64)
    """
    unit = _of_unit_gain(phi)
    return None if unit is None else _affine(phi, *unit)


Mean = Callable[[Tensor], Tensor]


def _of_unit_gain(phi: Activation) -> tuple[Form, Mean] | None:
    """Return the form of ``phi.function`` and its mean for a standard deviation."""
    by_function: dict[Callable[[Tensor], Tensor], tuple[Form, Mean]] = {
        torch.erf: (_erf, torch.zeros_like),
        torch.sin: (_sin, torch.zeros_like),
        torch.cos: (_cos, lambda a: torch.exp(-a * a / 2)),
        torch.exp: (_exp, lambda a: torch.exp(a * a / 2)),
        F.gelu: (_gelu, lambda a: a * a / torch.sqrt(2 * math.pi * (1 + a * a))),
        activations.step.function: (_step, lambda a: torch.full_like(a, 0.5)),
        activations.sign.function: (_sign, torch.zeros_like),
    }
    if phi.function in by_function:
        return by_function[phi.function]
    kernel = None if phi.kernel is None else phi.kernel(1.0)
    if isinstance(kernel, Hinge) and kernel.threshold == 0:
        return _hinge(kernel.left, kernel.kink)
    if isinstance(kernel, Series):
        return _polynomial(Activation("unit", phi.function), kernel.weights.shape[-1])
    return None


def _affine(phi: Activation, form: Form, mean: Mean) -> Form:
    """Return the form of ``scale f(gain x) + shift`` from that of f.

    A negative gain is a positive one: ``-X`` is distributed as X.
    """
    gain, scale, shift = abs(phi.gain), phi.scale, phi.shift
    if (gain, scale, shift) == (1.0, 1.0, 0.0):
        return form

    def affine(a: Tensor, b: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
        moments, slopes = form(gain * a, gain * b, rho)
        moments = scale**2 * moments
        if shift:
            moments = moments + scale * shift * (mean(gain * a) + mean(gain * b)) + shift**2
        return moments, (scale * gain) ** 2 * slopes

    return affine


def _sine(rho: Tensor) -> Tensor:
    return torch.sqrt((1 - rho) * (1 + rho))


def _hinge(left: float, kink: float) -> tuple[Form, Mean]:
    """``left x + kink max(x, 0)``: the arc-cosine kernel of order 1 (Cho and Saul 2009)."""
    linear, arc = left**2 + left * kink, kink**2 / (2 * math.pi)

    def form(a: Tensor, b: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
        slopes = torch.acos(-rho).mul_(arc)
        if linear:
            slopes += linear
        moments = _sine(rho).mul_(arc).addcmul_(slopes, rho).mul_(a).mul_(b)
        return moments, slopes

    return form, lambda a: kink * a / math.sqrt(2 * math.pi)


def _erf(a: Tensor, b: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    """The arcsine kernel (Williams 1997), as an arctangent, which keeps its digits at the ends."""
    p, q, c = a * a, b * b, a * b * rho
    # (1 + 2p)(1 + 2q) - 4c^2, with the sine of the angle in place of a difference
    root = torch.sqrt(1 + 2 * (p + q) + 4 * p * q * (1 - rho) * (1 + rho))
    return 2 / math.pi * torch.atan2(2 * c, root), 4 / math.pi / root


def _sin(a: Tensor, b: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    together, opposite = _waves(a, b, rho)
    return (together - opposite) / 2, (together + opposite) / 2


def _cos(a: Tensor, b: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    together, opposite = _waves(a, b, rho)
    return (together + opposite) / 2, (together - opposite) / 2


def _waves(a: Tensor, b: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    """Return ``E cos(u - v)`` and ``E cos(u + v)``, without a difference of large numbers."""
    half, product = -((a - b) ** 2) / 2, a * b
    return (
        torch.exp(half - product * (1 - rho)),
        torch.exp(half - product * (1 + rho)),
    )


def _exp(a: Tensor, b: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    moments = torch.exp((a * a + b * b) / 2 + a * b * rho)
    return moments, moments


def _step(a: Tensor, b: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    return torch.acos(-rho) / (2 * math.pi), 1 / (2 * math.pi * a * b * _sine(rho))


def _sign(a: Tensor, b: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    return 2 / math.pi * torch.asin(rho), 4 * _step(a, b, rho)[1]


def _gelu(a: Tensor, b: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    """``x P(Z < x)`` by Gaussian integration by parts (Tsuchida, Pearce et al. 2021).

    A factor u becomes derivatives, and a density ``p(u)`` is a change of the covariance: all that
    is left is the probability ``E P(Z < u) P(Z' < v)``, an arctangent.
    """
    p, q, c = a * a, b * b, a * b * rho
    left = q * (1 + p * (1 - rho) * (1 + rho))
    determinant = 1 + p + left  # of the covariance plus 1
    density = 1 / (2 * math.pi * torch.sqrt(determinant))
    both = 0.25 + torch.atan2(c, torch.sqrt(determinant)) / (2 * math.pi)
    parts = p / (1 + p) * left + c * c / (1 + q)
    moments = c * both + parts * density
    slopes = both + c * density * (1 / (1 + p) + 1 / (1 + q) + 1 / determinant)
    return moments, slopes


def _polynomial(phi: Activation, terms: int) -> tuple[Form, Mean]:
    """``sum_k c_k(a) c_k(b) rho^k``: Gauss quadrature gives a finite series exactly."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(terms)
    x = torch.from_numpy(nodes)
    density = torch.from_numpy(weights / math.sqrt(2 * math.pi))
    he = density[:, None] * torch.as_tensor(hermite_polynomials(x, terms - 1))

    def coefficients(f: Callable[[Tensor], Tensor], a: Tensor) -> Tensor:
        values: Tensor = f(a[..., None] * x) @ he
        return values

    def form(a: Tensor, b: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
        moments, slopes = (
            power_sum(coefficients(f, a), coefficients(f, b), rho) for f in (phi, phi.derivative)
        )
        return moments, slopes

    return form, lambda a: coefficients(phi, a)[..., 0]


def power_sum(left: Tensor, right: Tensor, rho: Tensor) -> Tensor:
    """Return ``sum_k left[..., k] right[..., k] rho^k`` by Horner's rule.

    >>> one = torch.ones(2)
    >>> power_sum(one, one, torch.tensor(0.5))
    tensor(1.5000)
    """
    total = torch.zeros_like(rho)
    for one, other in zip(left.flip(-1).unbind(-1), right.flip(-1).unbind(-1), strict=True):
        total = (total * rho).addcmul_(one, other)
    return total
