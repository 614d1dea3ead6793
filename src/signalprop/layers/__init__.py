"""Normalization layers on batches ``(..., n, d)``: functions, and the modules that call them.

`batch_norm`, `layer_norm`, `rms_norm`, `recenter`, `rescale`, `frobenius_normalize` are functions
of numpy or torch arrays; `BatchNorm` and its kin are ``torch.nn`` modules with the same options.
"""

from signalprop.layers.functional import (
    batch_norm,
    frobenius_normalize,
    layer_norm,
    recenter,
    rescale,
    rms_norm,
)
from signalprop.layers.modules import (
    BatchNorm,
    BatchNorm2d,
    FrobeniusNorm,
    LayerNorm,
    NormReLU,
    Recenter,
    Residual,
    RMSNorm,
)

__all__ = [
    "BatchNorm",
    "BatchNorm2d",
    "FrobeniusNorm",
    "LayerNorm",
    "NormReLU",
    "RMSNorm",
    "Recenter",
    "Residual",
    "batch_norm",
    "frobenius_normalize",
    "layer_norm",
    "recenter",
    "rescale",
    "rms_norm",
]
