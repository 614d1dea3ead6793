"""Multilayer perceptrons, many of one shape side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from signalprop._arrays import as_dtype
from signalprop.layers._checks import require_layers
from signalprop.models.linear import Linear
from signalprop.random import Stream, as_stream
from signalprop.weights import Law, as_law

__all__ = ["MLP"]

Layer = Callable[[torch.Tensor], torch.Tensor]


class MLP(nn.Module):
    """Networks ``inputs -> width -> ... -> width -> outputs`` with ``depth`` hidden layers.

    ``depth`` counts hidden layers, so there are ``depth + 1`` weight matrices.

    After each product but the last come ``layers``, in order: say ``[BatchNorm(eps=1e-5),
    torch.relu]``, or ``[torch.relu, LayerNorm(eps=1e-5)]``. Where they depend on the hidden layer
    (gains) or have parameters of their own (`Affine`), give a function of its index, 0 to ``depth
    - 1``, that returns them.

    There is one network for each of ``seeds``. It takes ``(models, n, inputs)``, or ``(n,
    inputs)`` that all share, and returns ``(models, n, outputs)``; every parameter is ``(models,
    ...)``. Without ``seeds`` it is a single network without that dimension, the one of seed 0.
    Network s draws its weights from ``stream.numpy("init", s)`` alone, so it does not matter which
    others are there. ``bias`` as in `Linear`. The defaults are torch's. For training give norms an
    ``eps > 0``: a network that diverges would otherwise stop the others with an error.

    >>> net = MLP(784, 128, 3, 10, [torch.relu], seeds=range(5))
    >>> net(torch.ones(32, 784)).shape
    torch.Size([5, 32, 10])
    """

    def __init__(
        self,
        inputs: int,
        width: int,
        depth: int,
        outputs: int,
        layers: Sequence[Layer] | Callable[[int], Sequence[Layer]] = (torch.relu,),
        *,
        weights: Law | str = "pytorch_default",
        bias: str = "drawn",
        seeds: Sequence[int] | None = None,
        stream: Stream | int = 0,
        dtype: torch.dtype | str = torch.float32,
    ) -> None:
        super().__init__()
        if min(inputs, width, outputs) < 1 or depth < 0:
            sizes = f"inputs={inputs}, width={width}, depth={depth}, outputs={outputs}"
            raise ValueError(f"sizes must be at least 1 and depth at least 0, got {sizes}")
        if seeds is not None and not len(seeds):
            raise ValueError("seeds must name at least one network, got none")
        dtype = as_dtype(dtype)
        self.models = None if seeds is None else len(seeds)
        source = as_stream(stream).child("init")
        generators = source.numpy(0) if seeds is None else [source.numpy(s) for s in seeds]
        widths = [inputs, *[width] * depth]
        self.hidden = nn.ModuleList(
            nn.Sequential(
                Linear(size, width, as_law(weights), generators, bias, dtype),
                *map(_as_module, _layers_of(layers, i)),
            )
            for i, size in enumerate(widths[:-1])
        )
        self.head = Linear(widths[-1], outputs, as_law(weights), generators, bias, dtype)

    def states(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Return the representations after each hidden layer, ``depth`` of ``(..., n, width)``."""
        states = []
        for block in self.hidden:
            x = block(x)
            states.append(x)
        return states

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """Return the last hidden representation ``(..., n, width)``: what the head sees."""
        for block in self.hidden:
            x = block(x)
        return x

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs ``(..., n, outputs)``."""
        result: torch.Tensor = self.head(self.features(x))
        return result


class _Apply(nn.Module):
    """A function as a module."""

    def __init__(self, function: Layer) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)

    def _get_name(self) -> str:  # stands in representations, and as its kind where it is probed
        return str(getattr(self.function, "__name__", self.function))


def _as_module(layer: Layer) -> nn.Module:
    return layer if isinstance(layer, nn.Module) else _Apply(layer)


def _layers_of(
    layers: Sequence[Layer] | Callable[[int], Sequence[Layer]], index: int
) -> Sequence[Layer]:
    if callable(layers) and not isinstance(layers, nn.Module):
        own = layers(index)
        require_layers(own, "layers")
        return own
    return _stateless(layers)


def _stateless(layers: Any) -> Sequence[Layer]:
    require_layers(layers, "layers")
    each: list[Layer] = list(layers)
    shared = [x for x in each if isinstance(x, nn.Module) and list(x.parameters())]
    if shared:
        raise ValueError(
            f"layers must be a function of the index where they have parameters, "
            f"or all hidden layers would share them, got {type(shared[0]).__name__}"
        )
    return each
