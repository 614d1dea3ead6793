"""The checks that several metrics share."""

from __future__ import annotations

import torch

from signalprop._arrays import unit_scale

__all__ = [
    "require_batch",
    "require_positive",
    "require_representable",
    "require_symmetric",
]


def require_batch(x: torch.Tensor) -> None:
    """Raise unless ``x`` is ``(..., n, d)`` with at least one sample and one feature."""
    if x.ndim < 2 or 0 in x.shape[-2:]:
        raise ValueError(f"x must be (..., n, d) with n, d >= 1, got shape {tuple(x.shape)}")


def require_symmetric(m: torch.Tensor) -> None:
    """Raise unless ``m`` is ``(..., n, n)`` and symmetric up to rounding."""
    if m.ndim < 2 or m.shape[-1] != m.shape[-2] or 0 in m.shape[-2:]:
        raise ValueError(f"m must be (..., n, n) with n >= 1, got shape {tuple(m.shape)}")
    m, _ = unit_scale(m)
    if not torch.allclose(m, m.mT, rtol=1e-4 if m.dtype == torch.float32 else 1e-8):
        raise ValueError("m must be symmetric, got a matrix that differs from its transpose")


def require_positive(norms: torch.Tensor, what: str) -> None:
    """Raise if any of ``norms`` is zero; ``what`` says whose norms they are."""
    zeros = int((norms == 0).sum())
    if zeros:
        raise ValueError(f"{what} must not be zero, got {zeros} of {norms.numel()} that are")


def require_representable(result: torch.Tensor, what: str) -> None:
    """Raise if ``result`` has overflowed; ``what`` says what it is."""
    if not bool(torch.isfinite(result).all()):
        raise ValueError(f"{what} is beyond the largest {result.dtype}: scale x down first")
