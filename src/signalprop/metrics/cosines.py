"""Cosines and angles between the samples of a batch."""

from __future__ import annotations

import torch

from signalprop._arrays import on_tensors
from signalprop.metrics._checks import require_batch, require_positive

__all__ = ["angles", "cosine_similarity", "mean_absolute_cosine"]


@on_tensors("x")
def cosine_similarity(x: torch.Tensor) -> torch.Tensor:
    """Return the cosines ``(..., n, n)`` between the samples of ``x`` ``(..., n, d)``.

    Clipped to ``[-1, 1]``. A zero sample has no direction: ``ValueError``. Near 1 a cosine cannot
    tell angles below 1e-8 apart; :func:`angles` can.

    >>> cosine_similarity([[1.0, 0.0], [3.0, 4.0]])
    array([[1. , 0.6],
           [0.6, 1. ]])
    """
    u = _directions(x)
    return (u @ u.mT).clamp(-1, 1)


@on_tensors("x")
def mean_absolute_cosine(x: torch.Tensor) -> torch.Tensor:
    """Return the mean of ``|cos|`` over the pairs of different samples, ``(...)``; ORTH Fig. 1.

    Needs at least two samples, none of them zero.

    >>> round(float(mean_absolute_cosine([[1.0, 0.0], [-3.0, 4.0]])), 12)
    0.6
    """
    n = x.shape[-2] if x.ndim >= 2 else 0
    if n < 2:
        raise ValueError(f"x must hold at least two samples, got shape {tuple(x.shape)}")
    cosines = cosine_similarity(x).abs().triu(diagonal=1)
    return cosines.sum((-2, -1)) / (n * (n - 1) / 2)


@on_tensors("x")
def angles(x: torch.Tensor) -> torch.Tensor:
    """Return the angles ``(..., n, n)`` in radians between the samples of ``x`` ``(..., n, d)``.

    ``2 atan2(|u - v|, |u + v|)`` for the unit vectors u, v: accurate to about 1e-15 everywhere,
    where the arccosine loses half of the digits near 0 and pi (Kahan). Zero sample:
    ``ValueError``. Memory is ``O(n^2)``, time ``O(n^2 d)``.

    >>> float(angles([[1.0, 0.0], [1.0, 1e-12]])[0, 1])
    1e-12
    """
    u = _directions(x)
    exact = "donot_use_mm_for_euclid_dist"
    apart = torch.cdist(u, u, compute_mode=exact)
    together = torch.cdist(u, -u, compute_mode=exact)
    return 2 * torch.atan2(apart, together)


def _directions(x: torch.Tensor) -> torch.Tensor:
    require_batch(x)
    largest = x.abs().amax(-1, keepdim=True)
    require_positive(largest, "the samples of x")
    x = x / largest  # lengths of 1e-200 or 1e200 would not survive squaring
    return x / x.square().sum(-1, keepdim=True).sqrt()
