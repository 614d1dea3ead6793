"""Hermite expansions: Mehler's formula, and how fast the coefficients of a kink decay."""

from __future__ import annotations

import math
from typing import Any

import torch

from .._arrays import on_tensors

__all__ = ["hermite_tail", "mehler_kernel"]


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


def hermite_tail(order: int, jump: float = 0.0, bend: float = 0.0, at: float = 0.0) -> float:
    """Return ``sum_{k > order} c_k^2`` to leading order, for a function with one break.

    ``jump`` is that of the function at the point ``at``, ``bend`` that of its derivative there; it
    is smooth elsewhere. Right because the break contributes ``jump p(at) he_{k-1}(at) / sqrt(k)``
    and ``bend p(at) he_{k-2}(at) / sqrt(k (k - 1))`` to ``c_k`` (integrate by parts), and
    ``p(at) he_k(at)^2`` is ``1 / (2 pi sqrt(k))`` on average over k. The product of the two
    contributions averages out, for ``he_{k-1}`` and ``he_{k-2}`` oscillate out of phase.

    >>> from signalprop.activations import relu
    >>> from signalprop.kernels.hermite import hermite_coefficients
    >>> tail = relu.second_moment - (hermite_coefficients(relu, 200) ** 2).sum()
    >>> round(float(tail / hermite_tail(200, bend=1.0)), 2)
    1.0
    """
    if order < 1:
        raise ValueError(f"order must be at least 1, got {order}")
    density = math.exp(-(at**2) / 2) / math.sqrt(2 * math.pi)
    root = math.sqrt(order)
    return density / math.pi * (jump**2 / root + bend**2 / (3 * root * order))
