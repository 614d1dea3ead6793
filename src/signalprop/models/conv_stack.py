"""A stack of like convolutions, to look at from layer to layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import nn

from signalprop._arrays import as_dtype
from signalprop.models.mlp import Layer
from signalprop.random import Stream, as_stream
from signalprop.weights import Law, as_law

__all__ = ["ConvStack"]

Padding = Literal["zeros", "reflect", "replicate", "circular"]


class ConvStack(nn.Module):
    """``depth`` convolutions to ``channels`` channels, without bias: the chain of ORTH Fig. 5.

    One layer maps images ``h`` ``(n, c, height, width)`` to ``layers(conv(before(h)))`` of the same
    height and width, as a `Chain` does with its products. ``before`` and ``layers`` are functions
    applied in order. ``padding`` is torch's padding mode (``"zeros"``, ``"reflect"``,
    ``"circular"``, ``"replicate"``); the kernel is 3 x 3. Layer l draws its weights from
    ``stream.child(l)`` alone.

    >>> from signalprop import BatchNorm2d
    >>> net = ConvStack(3, 8, depth=5, before=[torch.relu], layers=[BatchNorm2d()])
    >>> [tuple(h.shape) for h in net.states(torch.rand(2, 3, 6, 6))][:2]
    [(2, 8, 6, 6), (2, 8, 6, 6)]
    """

    def __init__(
        self,
        inputs: int,
        channels: int,
        depth: int,
        *,
        before: Sequence[Layer] = (),
        layers: Sequence[Layer] = (),
        padding: Padding = "zeros",
        weights: Law | str = "xavier",
        stream: Stream | int = 0,
        dtype: torch.dtype | str = torch.float32,
    ) -> None:
        super().__init__()
        if min(inputs, channels) < 1 or depth < 0:
            sizes = f"inputs={inputs}, channels={channels}, depth={depth}"
            raise ValueError(f"sizes must be at least 1 and depth at least 0, got {sizes}")
        self.inputs, self.before, self.layers = inputs, before, layers
        convolutions = [
            nn.Conv2d(
                channels if i else inputs,
                channels,
                kernel_size=3,
                padding=1,
                padding_mode=padding,
                bias=False,
                dtype=as_dtype(dtype),
            )
            for i in range(depth)
        ]
        for i, convolution in enumerate(convolutions):
            as_law(weights).fill_(convolution.weight, as_stream(stream).child(i))
        self.convolutions = nn.ModuleList(convolutions)

    def states(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Return the images after each layer, ``depth`` of ``(n, channels, height, width)``."""
        if x.ndim != 4 or x.shape[1] != self.inputs or 0 in x.shape[1:]:
            raise ValueError(
                f"x must be (n, {self.inputs}, height, width), got shape {tuple(x.shape)}"
            )
        states = []
        for convolution in self.convolutions:
            for function in self.before:
                x = function(x)
            x = convolution(x)
            for function in self.layers:
                x = function(x)
            states.append(x)
        return states

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the images after the last layer."""
        return self.states(x)[-1] if self.convolutions else x
