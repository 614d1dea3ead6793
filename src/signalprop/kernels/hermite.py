"""Normalised probabilists' Hermite polynomials (KER Definition 5.4) and expansions in them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from signalprop._arrays import Array, on_tensors

__all__ = ["hermite_polynomials", "hermite_series"]


def _recurrence(x: Tensor, start: Tensor) -> Iterator[Tensor]:
    """Yield ``start * he_k(x)`` for k = 0, 1, 2, ..."""
    before, now = torch.zeros_like(x), start
    k = 0
    while True:
        yield now
        before, now = now, (x * now - math.sqrt(k) * before) / math.sqrt(k + 1)
        k += 1


@on_tensors("x")
def hermite_polynomials(x: Array, order: int) -> Array:
    """Return ``he_0(x), ..., he_order(x)`` along a new last dimension: ``(..., order + 1)``.

    ``he_k = He_k / sqrt(k!)`` are orthonormal under the Gaussian (KER Eq. 5.5). Right and stable
    because ``he_{k+1} = (x he_k - sqrt(k) he_{k-1}) / sqrt(k+1)`` only ever adds solutions of like
    size; no factorial is formed, so no order overflows for ``|x|`` below about 30.

    >>> hermite_polynomials([2.0], 3).round(4)
    array([[1.    , 2.    , 2.1213, 0.8165]])
    """
    if order < 0:
        raise ValueError(f"order must be at least 0, got {order}")
    rows = _recurrence(x, torch.ones_like(x))  # type: ignore[arg-type]
    return torch.stack([next(rows) for _ in range(order + 1)], dim=-1)


def hermite_series(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    """Return ``sum_k coefficients[k] he_k(x)`` (KER Definition 5.5), of the shape of ``x``.

    >>> float(hermite_series(torch.tensor(2.0), (1.0, 0.0, math.sqrt(2))))
    4.0
    """
    rows = _recurrence(x, torch.ones_like(x))
    return sum((c * he for c, he in zip(coefficients, rows, strict=False)), torch.zeros_like(x))
