"""What is asked of a list of layers, wherever one is given."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

__all__ = ["apply_in_turn", "require_layers", "require_pure"]


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
    """Raise if one of ``layers`` says that it draws random numbers or works in place.

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
