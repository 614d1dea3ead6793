"""Isometry: the volume that samples span, relative to their size (ISO Def. 4.1, GRAD Eq. 6.5)."""

from __future__ import annotations

import warnings

import torch

from signalprop._arrays import on_tensors, unit_scale
from signalprop.metrics._checks import (
    require_batch,
    require_positive,
    require_symmetric,
)

__all__ = [
    "condition_number",
    "gram_condition_number",
    "gram_isometry_gap",
    "isometry",
    "isometry_gap",
]


@on_tensors("x")
def isometry_gap(x: torch.Tensor) -> torch.Tensor:
    """Return ``-log I(G)`` of the Gram matrix ``G`` of the samples, ``(...)`` for ``(..., n, d)``.

    ``I(G) = det(G)^(1/n) / (tr(G) / n)`` (ISO Def. 4.1); GRAD Eq. 6.5 is the case ``n = d``. The
    gap lies in ``[0, inf]``: 0 when all singular values agree, infinite when samples are linearly
    dependent (in particular if ``n > d``). Singular values below ``max(n, d) * eps`` times the
    largest count as zero. A zero matrix has no isometry: ``ValueError``.

    Why it is right: with ``l_i`` the squared singular values over their mean, the gap is
    ``mean(l - 1 - log l)``. Every term is non-negative, nothing is squared, multiplied or
    cancelled, so neither large n nor a gap of 1e-20 is out of reach.

    >>> round(float(isometry_gap([[1.0, 0.0], [0.0, 2.0]])), 12)  # log(5/4)
    0.223143551314
    >>> float(isometry_gap([[1.0, 1.0], [1.0, 1.0]]))
    inf
    """
    return _gap(_gram_eigenvalues(x))


@on_tensors("x")
def isometry(x: torch.Tensor) -> torch.Tensor:
    """Return the isometry ``I(G) = exp(-isometry_gap)`` in ``[0, 1]``; see :func:`isometry_gap`.

    >>> round(float(isometry([[1.0, 0.0], [0.0, 2.0]])), 12)
    0.8
    """
    return torch.exp(-_gap(_gram_eigenvalues(x)))


@on_tensors("m")
def gram_isometry_gap(m: torch.Tensor) -> torch.Tensor:
    """Return ``-log I(m)`` of positive semi-definite ``m`` ``(..., n, n)``, ISO Def. 4.1.

    Prefer :func:`isometry_gap` where the samples are at hand: forming the Gram matrix squares
    their condition number. Eigenvalues below ``n * eps`` times the largest count as zero.

    >>> float(gram_isometry_gap([[1.0, 0.0], [0.0, 0.0]]))
    inf
    """
    return _gap(_psd_eigenvalues(m))


@on_tensors("x")
def condition_number(x: torch.Tensor) -> torch.Tensor:
    """Return the condition number of the Gram matrix of the samples, ``(...)`` for ``(..., n, d)``.

    It is the square of the ratio of the extreme singular values of ``x``, and is computed so. If
    the Gram matrix is what you have, take :func:`gram_condition_number`: as a batch, it would give
    the square, and a square symmetric ``x``, which looks like one, gives a warning.
    Infinite for linearly dependent samples; zero matrix: ``ValueError``.

    >>> float(condition_number([[0.0, 1.0], [-2.0, 0.0]]))
    4.0
    """
    if x.ndim >= 2 and 1 < x.shape[-1] == x.shape[-2] and bool((x == x.mT).all()):
        warnings.warn(
            "x is symmetric: if it is a Gram matrix, take gram_condition_number, of which this is "
            "the square",
            stacklevel=3,
        )
    values = _gram_eigenvalues(x)
    return values.amax(-1) / values.amin(-1)


@on_tensors("m")
def gram_condition_number(m: torch.Tensor) -> torch.Tensor:
    """Return largest over smallest eigenvalue of positive semi-definite ``m`` (MF, COND Cor. 4).

    For the samples themselves there is :func:`condition_number`.

    >>> float(gram_condition_number([[1.0, 0.0], [0.0, 4.0]]))
    4.0
    """
    values = _psd_eigenvalues(m)
    return values.amax(-1) / values.amin(-1)


def _gram_eigenvalues(x: torch.Tensor) -> torch.Tensor:
    require_batch(x)
    n, d = x.shape[-2:]
    values = torch.linalg.svdvals(unit_scale(x)[0])
    if n > d:
        values = torch.nn.functional.pad(values, (0, n - d))
    return _without_rounding(values, max(n, d)).square()


def _psd_eigenvalues(m: torch.Tensor) -> torch.Tensor:
    require_symmetric(m)
    m, scale = unit_scale(m)
    values = torch.linalg.eigvalsh(m)
    largest = values.abs().amax(-1)
    # Rounding alone makes the zero eigenvalues of a Gram matrix slightly negative.
    if bool((values.amin(-1) < -1e3 * torch.finfo(m.dtype).eps * largest).any()):
        raise ValueError(
            f"m must be positive semi-definite, got eigenvalue "
            f"{float((values * scale[..., 0]).min()):.3g}"
        )
    return _without_rounding(values, m.shape[-1])


def _without_rounding(values: torch.Tensor, size: int) -> torch.Tensor:
    largest = values.amax(-1, keepdim=True)
    require_positive(largest, "the matrices")
    floor = size * torch.finfo(values.dtype).eps * largest
    return torch.where(values > floor, values, torch.zeros_like(values))


def _gap(eigenvalues: torch.Tensor) -> torch.Tensor:
    mean = eigenvalues.mean(-1, keepdim=True)
    excess = (eigenvalues - mean) / mean
    # log1p is exact near isometry, log far below the mean, where 1 + excess has lost its digits.
    low = excess < -0.5
    near = torch.log1p(torch.where(low, torch.zeros_like(excess), excess))
    far = torch.log(torch.where(low, eigenvalues / mean, torch.ones_like(excess)))
    return (excess - (near + far)).mean(-1).clamp_min(0)
