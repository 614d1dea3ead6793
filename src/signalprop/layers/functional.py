"""The normalization layers as functions: numpy or torch in, the same kind out."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Concatenate, ParamSpec

import torch

from signalprop._arrays import OfArray, on_tensors
from signalprop.layers import _tensors

__all__ = [
    "batch_norm",
    "frobenius_normalize",
    "layer_norm",
    "recenter",
    "rescale",
    "rms_norm",
]

P = ParamSpec("P")


def _squaring(layer: Callable[Concatenate[torch.Tensor, P], torch.Tensor]) -> OfArray[P]:
    """Refuse what overflows when it is squared: with ``eps > 0`` it would become 0 in silence."""

    @on_tensors("x")
    @functools.wraps(layer)
    def checked(x: torch.Tensor, *args: P.args, **options: P.kwargs) -> torch.Tensor:
        limit = math.sqrt(torch.finfo(x.dtype).max / max(1, x.numel()))
        if x.numel() and float(x.detach().abs().max()) > limit:
            raise ValueError(f"x must stay below {limit:.2g}: its squares are not finite; rescale")
        return layer(x, *args, **options)

    return checked  # type: ignore[return-value]


batch_norm = _squaring(_tensors.batch_norm)
frobenius_normalize = _squaring(_tensors.frobenius_normalize)
layer_norm = _squaring(_tensors.layer_norm)
recenter = on_tensors("x")(_tensors.recenter)
rescale = _squaring(_tensors.rescale)
rms_norm = _squaring(_tensors.rms_norm)
