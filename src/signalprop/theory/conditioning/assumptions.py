"""How well separated inputs are, in the two senses of COND: its Assumptions A and B.

Inputs come as their Gram matrices ``(..., n, n)`` with unit diagonal.
"""

from __future__ import annotations

from typing import Any

import torch

from signalprop._arrays import on_tensors
from signalprop.theory._formula import formula

__all__ = ["cond_assumption_a", "cond_assumption_b"]


@formula(gram=2)
@on_tensors("gram")
def cond_assumption_a(gram: Any) -> Any:
    """Return the largest delta of Assumption A: ``1 - max_{i != j} |x_i . x_j|``, ``(...)``.

    >>> cond_assumption_a([[1.0, -0.75], [-0.75, 1.0]])
    np.float64(0.25)
    """
    _check(gram)
    off = gram.abs() - torch.diag_embed(gram.diagonal(dim1=-2, dim2=-1))
    return 1 - off.amax((-2, -1))


@formula(gram=2)
@on_tensors("gram")
def cond_assumption_b(gram: Any) -> Any:
    """Return the largest delta of Assumption B: the smallest eigenvalue, ``(...)``.

    >>> cond_assumption_b([[1.0, -0.75], [-0.75, 1.0]]).round(12)
    np.float64(0.25)
    """
    _check(gram)
    return torch.linalg.eigvalsh(gram)[..., 0]


def _check(gram: Any) -> None:
    if gram.ndim < 2 or gram.shape[-1] != gram.shape[-2] or gram.shape[-1] < 2:
        raise ValueError(f"gram must be (..., n, n) with n >= 2, got {tuple(gram.shape)}")
    if bool(((gram.diagonal(dim1=-2, dim2=-1) - 1).abs() > 1e-12).any()):
        raise ValueError("gram must have ones on its diagonal: COND's inputs have unit length")
