"""Normalised probabilists' Hermite polynomials (KER Definition 5.4) and expansions in them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from signalprop._arrays import Array, as_row, on_tensors
from signalprop._threads import threads_for
from signalprop.limits.quadrature import density, panel_rule, resolve

if TYPE_CHECKING:
    from signalprop.activations import Activation

__all__ = ["hermite_coefficients", "hermite_functions", "hermite_polynomials", "hermite_series"]


def _recurrence(x: Tensor, start: Tensor) -> Iterator[Tensor]:
    """Yield ``start * he_k(x)`` for k = 0, 1, 2, ..."""
    before, now = torch.zeros_like(x), start
    k = 0
    while True:
        yield now
        before, now = now, (x * now - math.sqrt(k) * before) / math.sqrt(k + 1)
        k += 1


def hermite_functions(x: Tensor) -> Iterator[Tensor]:
    """Yield ``he_k(x) sqrt(p(x))`` for k = 0, 1, 2, ..., p the Gaussian density: none overflows.

    >>> rows = hermite_functions(torch.zeros(1, dtype=torch.float64))
    >>> next(rows)
    tensor([0.6316], dtype=torch.float64)
    """
    return _recurrence(x, torch.sqrt(density(x)))


@on_tensors("x")
def hermite_polynomials(x: Array, order: int) -> Array:
    """Return ``he_0(x), ..., he_order(x)`` along a new last dimension: ``(..., order + 1)``.

    ``he_k = He_k / sqrt(k!)`` are orthonormal under the Gaussian (KER Eq. 5.5). Right and stable
    because ``he_{k+1} = (x he_k - sqrt(k) he_{k-1}) / sqrt(k+1)`` only ever adds solutions of like
    size; no factorial is formed, so no order overflows for ``|x|`` below about 30. Where a
    polynomial is beyond the floats, as ``x^2`` is for ``x = 1e200``, there is a ``ValueError``.

    >>> hermite_polynomials([2.0], 3).round(4)
    array([[1.    , 2.    , 2.1213, 0.8165]])
    """
    if order < 0:
        raise ValueError(f"order must be at least 0, got {order}")
    rows = _recurrence(x, torch.ones_like(x))  # type: ignore[arg-type]
    polynomials = torch.stack([next(rows) for _ in range(order + 1)], dim=-1)
    _require_within(polynomials, x, order)  # type: ignore[arg-type]
    return polynomials


@on_tensors("x")
def hermite_series(x: Array, coefficients: Sequence[float]) -> Array:
    """Return ``sum_k coefficients[k] he_k(x)`` (KER Definition 5.5), of the shape of ``x``.

    Where that is beyond the floats there is a ``ValueError``, as in `hermite_polynomials`.

    >>> float(hermite_series(2.0, [1.0, 0.0, math.sqrt(2)]))
    4.0
    """
    row = as_row(coefficients, "coefficients").tolist()
    result = series(x, row)  # type: ignore[arg-type]
    _require_within(result, x, len(row) - 1)  # type: ignore[arg-type]
    return result


def _require_within(values: Tensor, x: Tensor, order: int) -> None:
    if not bool(torch.isfinite(values).all()):
        raise ValueError(
            f"x must be so small that polynomials up to order {order} are within {x.dtype},"
            f" got {float(x.abs().max()):.3g} in size"
        )


def series(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Return the `hermite_series` of a floating tensor, for networks: nothing is looked at."""
    rows = _recurrence(x, torch.ones_like(x))
    return sum((c * he for c, he in zip(coefficients, rows, strict=False)), torch.zeros_like(x))


@threads_for(0)
def hermite_coefficients(
    phi: Activation, order: int
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return ``c_k = E phi(X) he_k(X)`` for k = 0..order (KER Definition 5.5).

    Right to about 1e-15 of ``sqrt(E phi^2)`` at any order: the integrand is split into two bounded
    factors, ``phi sqrt(p)`` and the Hermite function ``he_k sqrt(p)``, which the recurrence
    gives without overflow, on panels that resolve the kinks of the one and the waves of the other.

    >>> from signalprop.activations import exp
    >>> c = hermite_coefficients(exp, 4)       # exactly sqrt(e / k!)
    >>> bool(np.allclose(c**2, math.e / np.array([1, 1, 2, 6, 24]), rtol=1e-13))
    True
    """
    if order < 0:
        raise ValueError(f"order must be at least 0, got {order}")
    _, grid = resolve(lambda x: (phi(x) - phi.mean) ** 2, phi.kinks)
    _, wider = resolve(lambda x: phi(x) / torch.sqrt(density(x)), phi.kinks)
    # he_k has about sqrt(k) radians a unit, and a panel carries six of them to rounding
    x, weights = panel_rule(grid.knots, wider.reach, min(2.0, 6 / math.sqrt(order + 1)))
    root = torch.sqrt(density(x))
    rows = _recurrence(x, root)
    values = weights / root * phi(x)
    return np.array([float((values * next(rows)).sum()) for _ in range(order + 1)])
