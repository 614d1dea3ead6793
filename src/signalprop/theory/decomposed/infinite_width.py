"""Recentring and ReLU at infinite width (DEC Eq. 8, 111)."""

from __future__ import annotations

import torch

from signalprop._arrays import on_tensors
from signalprop.limits.gram_maps import recentred_gram_map
from signalprop.theory._formula import formula

__all__ = [
    "dec_infinite_width_map",
    "dec_kernel",
]


@formula()
@on_tensors("rho")
def dec_kernel(rho: torch.Tensor) -> torch.Tensor:
    """DEC Eq. 111: ``(sqrt(1 - rho^2) + (pi - arccos rho) rho)/pi``, at sigma^2 = 2/d.

    The expected inner product of ReLU features of unit vectors at cosine ``rho`` in [-1, 1].

    >>> float(dec_kernel(1.0)), float(dec_kernel(-1.0))
    (1.0, 0.0)
    """
    if bool((rho.abs() > 1).any()):
        raise ValueError(f"rho must lie in [-1, 1], got {float(rho.abs().max())}")
    return ((1 - rho**2).sqrt() + (torch.pi - rho.arccos()) * rho) / torch.pi


@formula(gram=2)
@on_tensors("gram")
def dec_infinite_width_map(gram: torch.Tensor) -> torch.Tensor:
    """One layer of recentring and ReLU at infinite width on Gram matrices (..., n, n).

    Eq. 8 of DEC in closed form, the mean included:
    :func:`~signalprop.limits.gram_maps.recentred_gram_map` with :func:`dec_kernel`, divided by its
    largest diagonal entry, which changes no angle and keeps great depths in range.

    >>> dec_infinite_width_map([[1.0, 0.0], [0.0, 1.0]]).round(12) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    result = recentred_gram_map(gram, dec_kernel)
    return result / result.diagonal(dim1=-2, dim2=-1).amax(dim=-1)[..., None, None]
