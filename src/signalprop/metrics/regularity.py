"""The second moments of the features, and the two terms of RANK's regularity constant."""

from __future__ import annotations

import torch

from signalprop._arrays import on_tensors
from signalprop.metrics._checks import require_batch, require_representable

__all__ = ["regularity_terms", "second_moment"]


@on_tensors("x")
def second_moment(x: torch.Tensor) -> torch.Tensor:
    """Return ``M = x^T x / n``, the uncentred second moments ``(..., d, d)`` (RANK).

    >>> second_moment([[1.0, 0.0], [1.0, 2.0]])
    array([[1., 1.],
           [1., 2.]])
    """
    require_batch(x)
    result = x.mT @ x / x.shape[-2]
    require_representable(result, "the matrix of second moments")
    return result


@on_tensors("x")
def regularity_terms(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ``Tr(diag(M^2)^2)`` and ``Tr(M^3)``, each ``(...)`` for ``(..., n, d)``: RANK Def. 7.

    The regularity constant is the ratio of their two expectations over the invariant law, which
    is not the expectation of their ratio: average first, then divide.

    Why it is right: ``(M^2)_ii = sum_j M_ij^2`` since M is symmetric, and for the same reason
    ``Tr(M^3) = sum_ij (M^2)_ij M_ij``.

    >>> [float(term) for term in regularity_terms([[2.0, 0.0], [0.0, 2.0]])]
    [32.0, 16.0]
    """
    m = second_moment(x)
    square = m @ m
    diagonal = square.diagonal(dim1=-2, dim2=-1)
    terms = diagonal.square().sum(-1), (square * m).sum((-2, -1))
    for term in terms:
        require_representable(term, "a regularity term")
        if bool(((term == 0) & x.any(-1).any(-1)).any()):
            raise ValueError(f"a regularity term is below the least {term.dtype}: scale x up first")
    return terms
