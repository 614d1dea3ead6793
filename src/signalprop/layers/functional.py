"""The normalization layers as functions: numpy or torch in, the same kind out."""

from __future__ import annotations

from signalprop._arrays import on_tensors
from signalprop.layers import _tensors

__all__ = [
    "batch_norm",
    "frobenius_normalize",
    "layer_norm",
    "recenter",
    "rescale",
    "rms_norm",
]

batch_norm = on_tensors("x")(_tensors.batch_norm)
frobenius_normalize = on_tensors("x")(_tensors.frobenius_normalize)
layer_norm = on_tensors("x")(_tensors.layer_norm)
recenter = on_tensors("x")(_tensors.recenter)
rescale = on_tensors("x")(_tensors.rescale)
rms_norm = on_tensors("x")(_tensors.rms_norm)
