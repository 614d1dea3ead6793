"""What enters the activations of a network, as matrices."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["preactivations"]


def preactivations(module: nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    """Return what enters each ReLU of ``module`` on ``x``, in order, with a row a sample.

    Images ``(n, c, height, width)`` become ``(n * height * width, c)``: every pixel is a sample of
    its channels, as batch normalization takes it. The module is in the mode that it is in, and
    needs to have its ReLUs as modules.

    >>> net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 5))
    >>> net = net.append(nn.ReLU())
    >>> [tuple(h.shape) for h in preactivations(net, torch.ones(2, 3, 4, 4))]
    [(8, 4), (2, 5)]
    """
    seen: list[torch.Tensor] = []

    def keep(_: nn.Module, arguments: tuple[torch.Tensor]) -> None:
        h = arguments[0]
        seen.append(h.movedim(1, -1).flatten(0, -2))

    units = [part for part in module.modules() if isinstance(part, nn.ReLU)]
    if not units:
        raise ValueError(f"module must have nn.ReLU modules, got {type(module).__name__}")
    hooks = [unit.register_forward_pre_hook(keep) for unit in units]
    try:
        module(x)
    finally:
        for hook in hooks:
            hook.remove()
    return seen
