"""Batches that chains start from: each is a function of (width, runs, stream) to ``(runs, n, d)``.

``inputs.gaussian_samples(n=4)`` is such a function; a chain calls it with its own width, so one
input serves many widths. Anything with the same signature will do, and so will an array ``(n, d)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

from signalprop import weights
from signalprop.random import Stream

__all__ = [
    "Input",
    "collinear_features",
    "diagonal",
    "gaussian_samples",
    "nearly_parallel",
    "orthogonal_samples",
    "with_correlation",
]


def __dir__() -> list[str]:
    """Complete with the names that are meant to be used, not with what is imported here."""
    return __all__


Input = Callable[[int, int, Stream], torch.Tensor]


def diagonal(entries: Sequence[float]) -> Input:
    """Return the ``n x d`` matrix with ``entries`` on its diagonal and zeros elsewhere.

    ORTH Fig. 2a starts from ``diagonal([1, 1e-6, 1e-6, 1e-6])``.

    >>> diagonal([1.0, 2.0])(3, 1, Stream(0))
    tensor([[[1., 0., 0.],
             [0., 2., 0.]]], dtype=torch.float64)
    """
    values = torch.tensor([float(entry) for entry in entries], dtype=torch.float64)
    if len(values) == 0 or not bool(torch.isfinite(values).all()):
        raise ValueError(f"entries must be finite numbers, at least one, got {list(entries)}")

    def draw(width: int, runs: int, stream: Stream) -> torch.Tensor:
        _require_width(width, len(values))
        return (
            torch.eye(len(values), width, dtype=torch.float64)
            .mul(values[:, None])[None]
            .repeat(runs, 1, 1)
        )

    return draw


def orthogonal_samples(n: int) -> Input:
    """Return the first n unit vectors (ORTH Fig. 1, the chain without normalization).

    >>> orthogonal_samples(2)(2, 1, Stream(0))
    tensor([[[1., 0.],
             [0., 1.]]], dtype=torch.float64)
    """
    return diagonal([1.0] * _count(n))


def nearly_parallel(n: int, eps: float = 1e-3) -> Input:
    """Return ``e_1`` and ``(1 - eps) e_1 + eps e_i`` for ``i = 2..n``: ORTH Fig. 1 for ``n = 2``.

    >>> nearly_parallel(2, eps=0.25)(2, 1, Stream(0))
    tensor([[[1.0000, 0.0000],
             [0.7500, 0.2500]]], dtype=torch.float64)
    """
    _count(n)
    if not math.isfinite(eps):
        raise ValueError(f"eps must be finite, got {eps!r}")

    def draw(width: int, runs: int, stream: Stream) -> torch.Tensor:
        _require_width(width, n)
        x = eps * torch.eye(n, width, dtype=torch.float64)
        x[:, 0] += 1 - eps
        return x.repeat(runs, 1, 1)

    return draw


def gaussian_samples(n: int) -> Input:
    """Return independent standard Gaussian entries.

    >>> gaussian_samples(2)(3, 5, Stream(0)).shape
    torch.Size([5, 2, 3])
    """
    _count(n)

    def draw(width: int, runs: int, stream: Stream) -> torch.Tensor:
        draws = [generator.standard_normal((n, width)) for generator in stream.runs(runs)]
        return torch.from_numpy(np.stack(draws))

    return draw


def collinear_features(n: int, eps: float = 1e-5) -> Input:
    """Return a constant matrix plus ``eps`` times Gaussian noise: RANK Fig. 3.

    All features (the rows of the documents' ``d x N`` matrix) are nearly the same vector, and so
    are all samples.

    >>> collinear_features(2)(3, 1, Stream(0)).mean()
    tensor(1.0000, dtype=torch.float64)
    """
    noise = gaussian_samples(n)
    return lambda width, runs, stream: 1 + eps * noise(width, runs, stream)


def with_correlation(rho: float, n: int = 2) -> Input:
    """Return n samples in random directions with mean square 1 and pairwise cosine exactly ``rho``.

    Needs ``-1/(n-1) <= rho <= 1`` and a width of at least n.

    Why it is right: a Haar frame of n orthonormal rows, multiplied by the symmetric square root of
    the Gram matrix ``(1 - rho) I + rho 11^T``.

    >>> x = with_correlation(0.5)(8, 1, Stream(0))[0]
    >>> (x @ x.T / 8).round(decimals=12)
    tensor([[1.0000, 0.5000],
            [0.5000, 1.0000]], dtype=torch.float64)
    """
    _count(n)
    lowest = -1 / (n - 1) if n > 1 else -math.inf
    if not lowest <= rho <= 1:
        raise ValueError(f"rho must lie in [-1/(n-1), 1] = [{lowest:.4g}, 1], got {rho!r}")
    along = (math.sqrt(max(0.0, 1 + (n - 1) * rho)) - math.sqrt(1 - rho)) / n
    root = math.sqrt(1 - rho) * torch.eye(n, dtype=torch.float64) + along

    def draw(width: int, runs: int, stream: Stream) -> torch.Tensor:
        _require_width(width, n)
        frame = weights.orthogonal().sample(n, width, stream.runs(runs))
        return math.sqrt(width) * root @ frame

    return draw


def _count(n: int) -> int:
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    return n


def _require_width(width: int, n: int) -> None:
    if width < n:
        raise ValueError(f"width must be at least {n}, the number of samples, got {width}")
