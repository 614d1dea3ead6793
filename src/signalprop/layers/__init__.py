"""Normalization layers on batches ``(..., n, d)``: functions, and the modules that call them.

`batch_norm`, `layer_norm`, `rms_norm`, `recenter`, `rescale`, `frobenius_normalize` are functions
of numpy or torch arrays; `BatchNorm` and its kin are ``torch.nn`` modules with the same options.
"""

from signalprop._lazy import reexports

__getattr__, __dir__, __all__ = reexports(__name__, __file__)
