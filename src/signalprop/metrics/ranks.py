"""Ranks, exact, soft and as a ratio (RANK Sec. 2)."""

from __future__ import annotations

import torch

from signalprop._arrays import on_tensors, unit_scale
from signalprop.metrics._checks import (
    require_batch,
    require_positive,
    require_representable,
)

__all__ = ["rank", "rank_ratio", "second_moment_eigenvalues", "soft_rank"]


@on_tensors("x")
def second_moment_eigenvalues(x: torch.Tensor) -> torch.Tensor:
    """Return the eigenvalues ``sigma_i^2 / n`` of ``M = x^T x / n``, largest first.

    ``(..., min(n, d))`` for ``(..., n, d)``; the remaining ``d - n`` eigenvalues of M are zero.
    Taken from the singular values, so small ones are not lost to forming M. They are squared *and*
    divided by n: the singular values of ``x`` are ``sqrt(n * second_moment_eigenvalues(x))``.

    >>> second_moment_eigenvalues([[2.0, 0.0], [0.0, 4.0]])
    array([8., 2.])
    """
    require_batch(x)
    result: torch.Tensor = torch.linalg.svdvals(x).square() / x.shape[-2]
    require_representable(result, "the spectrum")
    return result


@on_tensors("x")
def rank(x: torch.Tensor, rtol: float | None = None) -> torch.Tensor:
    """Return the numerical rank, integers ``(...)`` for ``(..., n, d)``.

    It counts the singular values above ``rtol`` times the largest; by default ``max(n, d) * eps``
    of the type, the size of the rounding in them. RANK Fig. 1 uses 1e-9. A zero matrix has rank 0.

    >>> int(rank([[1.0, 2.0], [2.0, 4.0]]))
    1
    """
    require_batch(x)
    result: torch.Tensor = torch.linalg.matrix_rank(unit_scale(x)[0], rtol=rtol)
    return result


@on_tensors("x")
def soft_rank(x: torch.Tensor, tau: float = 0.5) -> torch.Tensor:
    """Return how many singular values have ``sigma_i^2 / n >= tau`` (RANK Eq. 4), integers.

    A tie counts, and a value below tau by no more than the rounding of the largest one
    (``8 max(n, d) eps sigma_1^2 / n``) is a tie. With ``tau = 0`` all ``min(n, d)`` count.

    >>> int(soft_rank([[2.0, 0.0], [0.0, 1.0]], tau=1.0))
    1
    """
    if not tau >= 0:
        raise ValueError(f"tau must be a non-negative number, got {tau!r}")
    require_batch(x)
    unit, scale = unit_scale(x)
    values = second_moment_eigenvalues(unit)
    slack = 8 * max(x.shape[-2:]) * torch.finfo(x.dtype).eps * values[..., :1]
    return (values >= tau / scale[..., 0] / scale[..., 0] - slack).sum(-1)


@on_tensors("x")
def rank_ratio(x: torch.Tensor) -> torch.Tensor:
    """Return ``r(H) = Tr(M)^2 / ||M||_F^2``, the participation ratio of RANK Sec. 2.1.

    ``M = x^T x / n``; ``(...)`` for ``(..., n, d)``. It lies between 1 and the rank (RANK Lemma 1),
    which it equals when all non-zero eigenvalues agree. Zero matrix: ``ValueError``.

    Why it is right: ``x^T x`` and ``x x^T`` have the same non-zero eigenvalues, so the smaller of
    the two serves, and neither trace nor norm needs the eigenvalues themselves.

    >>> float(rank_ratio([[1.0, 0.0], [0.0, 1.0]]))
    2.0
    """
    require_batch(x)
    x, _ = unit_scale(x)
    m = x @ x.mT if x.shape[-2] <= x.shape[-1] else x.mT @ x
    trace = m.diagonal(dim1=-2, dim2=-1).sum(-1)
    require_positive(trace, "the batches of x")
    return 1 / (m / trace[..., None, None]).square().sum((-2, -1))
