"""How low a rank is, by three counts of one decomposition (DEC, Figure 2)."""

from __future__ import annotations

import torch

__all__ = ["COUNTS", "ranks"]

#: What `ranks` returns, in its order.
COUNTS = ("default threshold", "1 % of the largest", "ratio r")


def ranks(x: torch.Tensor, coarse: float = 0.01) -> torch.Tensor:
    """Return the three counts ``(..., 3)`` of a batch ``(..., n, d)``.

    They are the singular values above ``max(n, d) eps`` times the largest, as the libraries count
    them; those above ``coarse`` times the largest; and RANK's ratio ``Tr(M)^2 / |M|_F^2``, which is
    ``(sum s^2)^2 / sum s^4``. All follow from the singular values, which cost the time and are
    taken once.

    >>> ranks(torch.diag(torch.tensor([1.0, 1.0, 0.001, 0.0])))
    tensor([3.0000, 2.0000, 2.0000])
    """
    values = torch.linalg.svdvals(x)
    values = values / values[..., :1]
    fine = max(x.shape[-2:]) * torch.finfo(x.dtype).eps
    squares = values.square()
    ratio = squares.sum(-1).square() / squares.square().sum(-1)
    counted = [(values > least).sum(-1).to(x.dtype) for least in (fine, coarse)]
    return torch.stack([*counted, ratio], dim=-1)
