"""How far a batch is from orthogonal: the two gaps of ORTH."""

from __future__ import annotations

import torch

from signalprop._arrays import on_tensors, unit_scale
from signalprop.metrics._checks import (
    require_batch,
    require_positive,
    require_representable,
)

__all__ = ["gram", "lyapunov_gap", "orthogonality_gap"]


@on_tensors("x")
def gram(x: torch.Tensor) -> torch.Tensor:
    """Return the Gram matrix ``(..., n, n)`` of the samples of ``x`` ``(..., n, d)``.

    The documents write it ``H^T H`` (ORTH, GRAD) or ``X^T X`` (ISO Eq. 4.1) with samples as
    columns. A Gram matrix beyond the range of the type is a ``ValueError``.

    >>> gram([[1.0, 0.0], [1.0, 2.0]])
    array([[1., 1.],
           [1., 5.]])
    """
    require_batch(x)
    result = x @ x.mT
    require_representable(result, "the Gram matrix")
    return result


@on_tensors("x")
def orthogonality_gap(x: torch.Tensor) -> torch.Tensor:
    """Return the orthogonality gap ``(...)`` of ``x`` ``(..., n, d)``, ORTH Eq. 2.

    ``V = || G / tr(G) - I / n ||_F`` with ``G`` the Gram matrix of the samples; 0 for orthogonal
    samples of equal norms, ``sqrt(1 - 1/n)`` for rank one, and nothing outside that range.

    Why it is right: ``tr(G) = ||x||_F^2``, so this is the printed formula; dividing by the trace
    makes it invariant under scaling and under rotations of the features.

    A zero matrix has no gap: ``ValueError``.

    >>> float(orthogonality_gap([[3.0, 0.0], [0.0, 3.0]]))
    0.0
    >>> round(float(orthogonality_gap([[1.0, 2.0], [2.0, 4.0]])) ** 2, 12)
    0.5
    """
    require_batch(x)
    x, _ = unit_scale(x)
    g = x @ x.mT
    trace = g.diagonal(dim1=-2, dim2=-1).sum(-1)
    require_positive(trace, "the batches of x")
    n = g.shape[-1]
    difference = g / trace[..., None, None] - torch.eye(n, dtype=g.dtype, device=g.device) / n
    return difference.square().sum((-2, -1)).sqrt()


@on_tensors("x")
def lyapunov_gap(x: torch.Tensor) -> torch.Tensor:
    """Return ``Vhat = 1/n - sigma_n(x)^2 / ||x||_F^2``, ``(...)`` for ``(..., n, d)``, ORTH Eq. 11.

    ``sigma_n`` is the n-th singular value (0 if ``d < n``). ORTH defines it for unit Frobenius
    norm; dividing by the norm extends it to every non-zero batch. Range ``[0, 1/n]``, and 0 exactly
    when :func:`orthogonality_gap` is. A zero matrix: ``ValueError``.

    >>> float(lyapunov_gap([[1.0, 0.0], [0.0, 0.0]]))
    0.5
    """
    require_batch(x)
    squares = torch.linalg.svdvals(unit_scale(x)[0]).square()
    total = squares.sum(-1)
    require_positive(total, "the batches of x")
    n, d = x.shape[-2:]
    smallest = squares[..., -1] / total if d >= n else torch.zeros_like(total)
    return 1 / n - smallest
