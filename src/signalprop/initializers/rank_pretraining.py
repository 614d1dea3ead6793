"""Raising the rank of the representations before training (RANK 5.2, Fig. 6)."""

from __future__ import annotations

import torch
from torch import nn

from signalprop._arrays import as_tensor
from signalprop.metrics import rank_ratio
from signalprop.models import MLP
from signalprop.random import Stream, as_stream

__all__ = ["rank_pretraining_"]

OBJECTIVES = ("activations", "preactivations")


def rank_pretraining_(
    net: MLP,
    inputs: torch.Tensor,
    steps: int,
    *,
    rate: float = 0.1,
    batch: int = 128,
    objective: str = "activations",
    seed: Stream | int = 0,
) -> None:
    """Raise ``r(M)`` of each hidden layer in turn by gradient ascent on its parameters, in place.

    From the first hidden layer to the last, ``steps`` steps of size ``rate`` go up `rank_ratio`
    (RANK Eq. 3) of the layer's output, each on a fresh batch drawn from ``inputs`` ``(N,
    inputs)``; the layers before stay as they are. RANK Fig. 6 takes 25 and 75 steps and tells
    neither step size (0.1 in the code published later) nor batch nor whether r is that of the
    ``"activations"`` or of the ``"preactivations"``. The draws depend on ``seed``, layer and step
    only, so each network side by side fares as it does alone.

    >>> x = torch.randn(200, 8, generator=Stream(0).torch())
    >>> net = MLP(8, 8, 5, 3)
    >>> before = rank_ratio(net.features(x))
    >>> rank_pretraining_(net, x, steps=25)
    >>> bool(rank_ratio(net.features(x)) > before)
    True
    """
    if objective not in OBJECTIVES:
        raise ValueError(f"objective must be one of {', '.join(OBJECTIVES)}, got {objective!r}")
    if steps < 0 or not 1 <= batch <= len(inputs):
        raise ValueError(
            f"steps must be at least 0 and batch in 1..{len(inputs)}, got {steps} and {batch}"
        )
    largest = torch.finfo(torch.float32).max
    if not 0 <= rate <= largest:
        raise ValueError(f"rate must be at least 0 and at most {largest:.3g}, got {rate!r}")
    inputs = as_tensor(inputs, "inputs")
    stream, h = as_stream(seed).child("pretraining"), inputs
    for depth, block in enumerate(net.hidden):
        layer: nn.Module = block if objective == "activations" else block[0]  # type: ignore[index]
        for step in range(steps):
            rows = stream.numpy(depth, step).choice(len(inputs), batch, replace=False)
            _ascend(layer, h[..., torch.from_numpy(rows).to(h.device), :], rate)
        with torch.no_grad():
            h = block(h)


def _ascend(layer: nn.Module, x: torch.Tensor, rate: float) -> None:
    """Take one step up r; networks side by side have independent terms in the sum."""
    parameters = list(layer.parameters())
    outputs = layer(x)
    _require_finite(outputs, rate)
    gradients = torch.autograd.grad(rank_ratio(outputs).sum(), parameters)
    with torch.no_grad():
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.add_(gradient, alpha=rate)
            _require_finite(parameter, rate)


def _require_finite(values: torch.Tensor, rate: float) -> None:
    if not bool(torch.isfinite(values).all()):
        raise ValueError(f"rate must be so small that all layers stay finite, got {rate!r}")
