"""Hermite expansions: Mehler's formula, and how fast coefficients decay at a break."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from signalprop._arrays import on_tensors
from signalprop.theory._formula import formula

__all__ = ["hermite_tail", "mehler_kernel"]


@formula()
@on_tensors("x", "y", "rho")
def mehler_kernel(x: Any, y: Any, rho: Any) -> Any:
    """Return ``p(x, y) / (p(x) p(y))`` for standard Gaussians of correlation ``-1 < rho < 1``.

    Mehler's formula (KER, proof of Lemma 5.6) says that it equals ``sum_m rho^m he_m(x) he_m(y)``.
    The three arguments broadcast.

    >>> mehler_kernel(0.0, 0.0, 0.6)
    np.float64(1.25)
    """
    size = float(rho.abs().max())
    if size >= 1:
        raise ValueError(f"rho must lie in (-1, 1), got {size} in size")
    rest = (1 - rho) * (1 + rho)
    return torch.exp((2 * rho * x * y - rho**2 * (x**2 + y**2)) / (2 * rest)) / torch.sqrt(rest)


@formula(jumps=1)
def hermite_tail(order: int, jumps: Sequence[float], at: float = 0.0) -> float:
    """Return ``sum_{k > order} c_k^2`` to leading order, for a function that breaks at one point.

    ``jumps`` are those of the function, its derivative, its second derivative, ... at the point
    ``at``; it is smooth elsewhere. The first that is not 0 rules. Right because that of the i-th
    derivative contributes ``jump p(at) he_{k-i-1}(at) / sqrt(k (k-1) ... (k-i))`` to ``c_k``
    (integrate by parts), and ``p(at) he_k(at)^2`` is ``1 / (2 pi sqrt(k))`` on average over k.

    >>> from signalprop.activations import relu
    >>> from signalprop.limits.expansions import hermite_coefficients
    >>> tail = relu.second_moment - (hermite_coefficients(relu, 200) ** 2).sum()
    >>> round(float(tail / hermite_tail(200, jumps=[0.0, 1.0])), 2)
    1.0
    """
    if order < 1:
        raise ValueError(f"order must be at least 1, got {order}")
    density = math.exp(-(at**2) / 2) / math.sqrt(2 * math.pi)
    powers = (jump**2 / ((2 * i + 1) * float(order) ** i) for i, jump in enumerate(jumps))
    return density / math.pi * sum(powers) / math.sqrt(order)
