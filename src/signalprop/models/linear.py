"""The linear layer and the affine layer, for one network or for many of one shape side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from signalprop._arrays import as_dtype
from signalprop.weights import Law

__all__ = ["Affine", "Linear"]

BIASES = ("drawn", "zero", "none")


class Linear(nn.Module):
    """The layer ``x W^T + b``: ``(..., n, in) -> (..., n, out)``.

    There is one network for each of the ``generators``, which it draws its weights from: the
    weight is ``(models, out, in)`` and the bias ``(models, out)``. With ``generators`` a single
    one, not a sequence, it is an ordinary layer without that leading dimension, equal to
    ``torch.nn.Linear``.

    ``bias`` is ``"drawn"`` (from the law and with the variance of the weights, which is torch's
    default where the law is `pytorch_default`), ``"zero"`` or ``"none"``.

    >>> from signalprop import Stream
    >>> from signalprop.weights import gaussian
    >>> layer = Linear(3, 2, gaussian(), Stream(0).runs(5))
    >>> layer(torch.ones(4, 3)).shape
    torch.Size([5, 4, 2])
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        law: Law,
        generators: Sequence[np.random.Generator] | np.random.Generator,
        bias: str = "zero",
        dtype: torch.dtype | str = torch.float32,
    ) -> None:
        super().__init__()
        if bias not in BIASES:
            raise ValueError(f"bias must be one of {', '.join(BIASES)}, got {bias!r}")
        dtype = as_dtype(dtype)
        one = isinstance(generators, np.random.Generator)
        each = [generators] if isinstance(generators, np.random.Generator) else generators
        weight = law.sample(outputs, inputs, each, dtype)
        # Transposed in memory: so lies the gradient that the backward pass makes of x W^T, and a
        # step of gradient descent need not reorder it.
        weight = weight.mT.contiguous().mT
        self.weight = nn.Parameter(weight[0] if one else weight)
        self.bias: nn.Parameter | None = None
        if bias != "none":
            column = replace(law, spread=law.variance(inputs, outputs))
            drawn = column.sample(outputs, 1, each, dtype)[..., 0]
            value = drawn if bias == "drawn" else torch.zeros_like(drawn)
            self.bias = nn.Parameter(value[0] if one else value)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return ``x W^T + b``."""
        _require_dtype(x, self.weight)
        *models, _, inputs = self.weight.shape
        fits = x.ndim < 3 or x.shape[-3] == 1 or models in ([], [1], [x.shape[-3]])
        if x.ndim < 2 or x.shape[-1] != inputs or not fits:
            allowed = ", ".join(map(str, [*models, "n", inputs]))
            raise ValueError(f"x must be (n, {inputs}) or (..., {allowed}), got {tuple(x.shape)}")
        product = x @ self.weight.mT
        return product if self.bias is None else product + self.bias.unsqueeze(-2)

    def extra_repr(self) -> str:
        """Return the shape of the weight."""
        return f"weight={tuple(self.weight.shape)}, bias={self.bias is not None}"


def _require_dtype(x: object, weight: torch.Tensor) -> None:
    if not isinstance(x, torch.Tensor):
        raise ValueError(
            f"x must be a tensor, got {type(x).__name__}: write torch.as_tensor(x, "
            f"dtype={weight.dtype})"
        )
    if x.dtype != weight.dtype and not torch.is_autocast_enabled(x.device.type):
        remedy = f", or make the network with dtype={x.dtype}" if x.is_floating_point() else ""
        raise ValueError(
            f"x must be {weight.dtype}, as the weights are, got {x.dtype}: write "
            f"x.to({weight.dtype}){remedy}"
        )


class Affine(nn.Module):
    """Trainable scale and shift of each feature, ``scale * x + shift``, as torch's norms have.

    ``leading`` is ``(models,)`` for networks side by side. It starts as the identity.

    >>> Affine(3, (5,))(torch.ones(5, 4, 3)).shape
    torch.Size([5, 4, 3])
    """

    def __init__(
        self, width: int, leading: tuple[int, ...] = (), dtype: torch.dtype | str = torch.float32
    ) -> None:
        super().__init__()
        if width < 1:
            raise ValueError(f"width must be at least 1, got {width}")
        dtype = as_dtype(dtype)
        self.scale = nn.Parameter(torch.ones(*leading, width, dtype=dtype))
        self.shift = nn.Parameter(torch.zeros(*leading, width, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return ``scale * x + shift``."""
        width = self.scale.shape[-1]
        if x.ndim < 2 or x.shape[-1] != width:
            raise ValueError(f"x must be (..., n, {width}), got shape {tuple(x.shape)}")
        return torch.addcmul(self.shift.unsqueeze(-2), x, self.scale.unsqueeze(-2))
