"""What is asked of a list of layers, wherever one is given."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

__all__ = ["apply_in_turn", "require_dtype", "require_layers", "require_pure"]


def require_layers(layers: object, name: str) -> None:
    """Raise unless ``layers`` is a list of functions of tensors; the error has the remedy.

    >>> require_layers([torch.relu], "layers")
    >>> require_layers(torch.relu, "layers")
    Traceback (most recent call last):
    ValueError: layers must be a list, got builtin_function_or_method: write layers=[...]
    """
    if not isinstance(layers, Sequence | nn.Sequential | nn.ModuleList):
        raise ValueError(f"{name} must be a list, got {type(layers).__name__}: write {name}=[...]")
    for layer in layers:
        if isinstance(layer, type):
            raise ValueError(
                f"{name} must hold layers, got the class {layer.__name__}: "
                f"make one of it, {layer.__name__}()"
            )
        if not callable(layer):
            raise ValueError(f"{name} must hold functions of tensors only, got {layer!r}")


def require_pure(layers: Sequence[object], name: str) -> None:
    """Raise if one of ``layers`` says that it draws random numbers, works in place, or mixes runs.

    Functions do not say so: `apply_in_turn` sees those that work in place.

    >>> require_pure([nn.Dropout().eval()], "layers")
    """
    for part in (p for layer in layers if isinstance(layer, nn.Module) for p in layer.modules()):
        kind = type(part).__name__
        if isinstance(part, nn.modules.dropout._DropoutNd) and part.training and part.p > 0:
            raise ValueError(
                f"{name} must not be random, got {kind}: a path draws its layers again for each "
                "question; leave it out, or call .eval()"
            )
        if getattr(part, "inplace", False):
            raise ValueError(
                f"{name} must not change their input, got {kind} in place: make it with "
                "inplace=False"
            )
        if isinstance(part, nn.modules.batchnorm._NormBase):  # it would average over the runs
            raise ValueError(
                f"{name} must act on each run of (runs, n, d) alone and keep no averages, got "
                f"{kind}: take signalprop.BatchNorm(eps=1e-5)"
            )


def require_dtype(layers: Sequence[object], name: str, dtype: torch.dtype) -> None:
    """Raise if one of ``layers`` holds parameters of another floating type.

    >>> require_dtype([nn.LayerNorm(4)], "layers", torch.float64)
    Traceback (most recent call last):
    ValueError: layers must have parameters of torch.float64, got LayerNorm with torch.float32: ...
    """
    for layer in layers:
        held = layer.parameters() if isinstance(layer, nn.Module) else ()
        for other in {p.dtype for p in held if p.is_floating_point()} - {dtype}:
            called = type(layer).__name__
            raise ValueError(
                f"{name} must have parameters of {dtype}, got {called} with {other}: write "
                f"{called}(...).to({dtype}), or run the chain with dtype={other}"
            )


def apply_in_turn(layers: Sequence[object], h: torch.Tensor) -> torch.Tensor:
    """Return ``h`` after all layers; one that writes into its argument is an error.

    >>> apply_in_turn([torch.abs, torch.neg], -torch.ones(2))
    tensor([-1., -1.])
    """
    for layer in layers:
        version = h._version
        result = layer(h)  # type: ignore[operator]
        if h._version != version:
            called = getattr(layer, "__name__", type(layer).__name__)
            raise ValueError(f"{called} changes its input in place: give a layer that does not")
        h = result
    return h
