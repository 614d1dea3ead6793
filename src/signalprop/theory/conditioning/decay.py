"""How correlations decay with depth: COND's functions L_0 and B, and the sharpest bound.

``mu`` (or ``nu``) is the coefficient of non-linearity, ``delta`` the separation: inputs have
``|x_i . x_j| <= 1 - delta``. All arguments are arrays that broadcast.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from signalprop._arrays import on_tensors
from signalprop.theory._formula import formula

__all__ = ["Rounding", "cond_b", "cond_l_0", "cond_l_1", "cond_l_2", "cond_sharpest"]

#: How the square brackets of L_0, L_1 and L_2 round; only ``"up"`` makes COND Lemma 22 true.
Rounding = Literal["up", "down", "none"]


@formula()
@on_tensors("delta", "nu")
def cond_l_0(delta: Any, nu: Any, rounding: Rounding = "up") -> Any:
    """Return ``L_0 = max([log(1 / 2 delta) / log(1 + nu/2)], 0)`` (COND Section 3.1).

    The number of layers that bring a separation ``delta`` to 1/2, if each multiplies it by
    ``1 + nu/2``. Whole numbers as floats.

    >>> cond_l_0(0.1, 1.0), cond_l_0(0.1, 1.0, rounding="down")
    (np.float64(4.0), np.float64(3.0))
    """
    _check(delta, nu)
    return _rounded(-torch.log(2 * delta) / torch.log1p(nu / 2), rounding).clamp(min=0)


@formula()
@on_tensors("layers", "delta", "nu")
def cond_b(layers: Any, delta: Any, nu: Any, rounding: Rounding = "up") -> Any:
    """Return ``B_nu(L, delta)``, COND's bound of a correlation after ``L = layers``.

    ``1 - delta (1 + nu/2)^L`` up to ``L_0`` and ``(1/2) (1 - nu/2)^(L - L_0)`` beyond. Half layers,
    which COND Theorem 5 needs, are put into the same formula; ``L_0`` stays whole.

    >>> cond_b([0, 1, 2], 0.4, 1.0)
    array([0.6 , 0.4 , 0.25])
    """
    start = cond_l_0(delta, nu, rounding)
    near = 1 - delta * (1 + nu / 2) ** layers
    far = (1 - nu / 2) ** (layers - start) / 2
    return torch.where(layers <= start, near, far)


@formula()
@on_tensors("delta", "mu")
def cond_sharpest(delta: Any, mu: Any, depth: int) -> Any:
    """Return the iterates of ``(1 - mu) rho + mu rho^2`` from ``1 - delta``: ``(..., depth + 1)``.

    Not in COND, but in the proof of its Lemma 21: no dual activation of this ``mu`` lies above the
    quadratic, and ``sqrt(1 - mu) x + sqrt(mu) he_2(x)`` has it. So of all bounds by ``mu`` and
    ``delta`` this is the smallest.

    >>> cond_sharpest(0.5, 1.0, 2)
    array([0.5   , 0.25  , 0.0625])
    """
    _check(delta, mu)
    path = [1 - delta + torch.zeros_like(mu)]
    for _ in range(depth):
        path.append(path[-1] * (1 - mu + mu * path[-1]))
    return torch.stack(path, dim=-1)


@formula()
@on_tensors("n", "delta", "mu")
def cond_l_1(n: Any, delta: Any, mu: Any, rounding: Rounding = "up") -> Any:
    """Return ``L_1 = [log(n) / -log(1 - mu/2)] + L_0`` (COND Corollary 4).

    The layers after which ``n B(L, delta)`` is at most 1/2, so that discs do not reach 0.

    >>> cond_l_1(8, 0.1, 1.0)
    np.float64(7.0)
    """
    extra = _rounded(torch.log(n) / -torch.log1p(-mu / 2), rounding)
    return extra + cond_l_0(delta, mu, rounding)


@formula()
@on_tensors("n", "delta", "mu")
def cond_l_2(n: Any, delta: Any, mu: Any, rounding: Rounding = "up") -> Any:
    """Return ``L_2 = [2 log(2 n) / -log(1 - mu/2)] + 2 L_0`` (COND Corollary 6).

    The layers after which ``4 n B(L/2, delta)`` is at most 1: discs of the tangent kernel, bounded
    at half the depth, do not reach 0.

    >>> cond_l_2(8, 0.1, 1.0)
    np.float64(16.0)
    """
    extra = _rounded(2 * torch.log(2 * n) / -torch.log1p(-mu / 2), rounding)
    return extra + 2 * cond_l_0(delta, mu, rounding)


def _rounded(layers: Tensor, rounding: Rounding) -> Tensor:
    # For nu = 1 one layer takes 1/3 to 1/2, and the logarithms say 1 + 2e-16.
    whole = layers.round()
    layers = torch.where((layers - whole).abs() <= 1e-12 * whole.abs(), whole, layers)
    if rounding == "up":
        return torch.ceil(layers)
    if rounding == "down":
        return torch.floor(layers)
    if rounding == "none":
        return layers
    raise ValueError(f"rounding must be 'up', 'down' or 'none', got {rounding!r}")


def _check(delta: Tensor, nu: Tensor) -> None:
    for name, value in {"delta": delta, "nu": nu}.items():
        if not bool(((value > 0) & (value <= 1)).all()):
            raise ValueError(f"{name} must lie in (0, 1], got {value.tolist()}")
