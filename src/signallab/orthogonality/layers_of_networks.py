"""Images through random ReLU networks, layer by layer: ORTH, Figure 5.

A layer is activation, product with fresh weights, normalization, in this order; layer 1 is the
input. The gap does not depend on the overall scale, so Gaussian weights of any variance do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signalprop.random import Stream

__all__ = [
    "CONVOLUTIONS",
    "PERCEPTRONS",
    "batches_of",
    "convolution_gaps",
    "perceptron_gaps",
    "table_of_gaps",
]

Perceptron = Literal["with BN", "with BN, mean not reduced", "without BN"]
Convolution = Literal["with BN", "without BN", "with BN, images of one norm"]
Floats = np.ndarray[Any, np.dtype[np.float64]]

MEAN, DEVIATION = 0.1307, 0.3081  # of pixels, as the authors' notebook has them


def images_of_one_norm(x: torch.Tensor) -> torch.Tensor:
    """Scale every image ``(n, c, height, width)`` to mean square one.

    >>> round(float(images_of_one_norm(torch.full((1, 2, 3, 3), 5.0)).mean()), 6)
    1.0
    """
    return x * x.square().mean((1, 2, 3), keepdim=True).rsqrt()


PERCEPTRONS: dict[Perceptron, list[Any]] = {
    "with BN": [sp.BatchNorm()],
    "with BN, mean not reduced": [sp.BatchNorm(center=False)],
    "without BN": [],
}
CONVOLUTIONS: dict[Convolution, list[Any]] = {
    "with BN": [sp.BatchNorm2d()],
    "without BN": [],
    "with BN, images of one norm": [sp.BatchNorm2d(), images_of_one_norm],
}


def batches_of(images: torch.Tensor, batch: int, count: int, stream: Stream) -> torch.Tensor:
    """Return ``count`` random batches of different images, ``(count, batch, ...)``.

    Pixels are shifted and scaled as in the authors' notebook.

    >>> batches_of(torch.rand(9, 3, 4, 4), batch=2, count=5, stream=Stream(0)).shape
    torch.Size([5, 2, 3, 4, 4])
    """
    draws = [stream.numpy(k).choice(len(images), batch, replace=False) for k in range(count)]
    return (images[torch.from_numpy(np.stack(draws))] - MEAN) / DEVIATION


@torch.no_grad()
def perceptron_gaps(
    network: Perceptron,
    images: torch.Tensor,
    width: int,
    layers: int,
    batch: int,
    batches: int,
    draws: int,
    stream: Stream,
    *,
    device: str = "cpu",
) -> Floats:
    """Return the gap at each layer of random ReLU perceptrons, ``(draws, batches, layers)``.

    As in the authors' figure, all batches of a draw go through one network; each draw has weights
    and batches of its own. ``images`` is ``(N, c, height, width)``.

    >>> noise = torch.rand(20, 3, 4, 4)
    >>> gaps = perceptron_gaps("with BN", noise, 16, 5, 4, 3, draws=2, stream=Stream(0))
    >>> gaps.shape, bool((gaps[..., 1:] >= 1 / np.sqrt(4 * 3) - 1e-6).all())
    ((2, 3, 5), True)
    """
    normalize = _named(PERCEPTRONS, network)
    found = np.empty((draws, batches, layers))
    for draw in range(draws):
        own = stream.child("perceptron", draw)
        x = batches_of(images, batch, batches, own.child("images"))
        h = x.flatten(2).double().to(device)
        found[draw, :, 0] = sp.orthogonality_gap(h).cpu()
        for layer in range(1, layers):
            shape = (h.shape[-1], width)
            weights = own.numpy(network, layer).standard_normal(shape) / np.sqrt(shape[0])
            h = torch.relu(h) @ torch.from_numpy(weights).to(device)
            for function in normalize:
                h = function(h)
            found[draw, :, layer] = sp.orthogonality_gap(h).cpu()
    return found


@torch.no_grad()
def convolution_gaps(
    network: Convolution,
    images: torch.Tensor,
    channels: int,
    layers: int,
    batch: int,
    draws: int,
    stream: Stream,
    *,
    padding: Literal["zeros", "reflect"] = "zeros",
    device: str = "cpu",
) -> Floats:
    """Return two gaps at each layer of random ReLU convolutional networks, ``(draws, layers, 2)``.

    The first is the gap of the batch, the second that of the same batch with all images scaled to
    one norm. Each draw has weights and a batch of its own; kernels are 3 x 3.

    >>> noise = torch.rand(20, 3, 4, 4)
    >>> convolution_gaps("without BN", noise, 8, 3, 4, draws=2, stream=Stream(0)).shape
    (2, 3, 2)
    """
    normalize = _named(CONVOLUTIONS, network)
    found = np.empty((draws, layers, 2))
    for draw in range(draws):
        own = stream.child("convolution", padding, draw)
        x = batches_of(images, batch, 1, own.child("images"))[0].to(device)
        # Channels last: a convolution of these sizes then takes half of the time.
        x = x.contiguous(memory_format=torch.channels_last)
        net = sp.models.ConvStack(
            x.shape[1],
            channels,
            layers - 1,
            before=[torch.relu],
            layers=normalize,
            padding=padding,
            stream=own.child("weights"),
        ).to(device)
        for layer, h in enumerate([x, *net.states(x)]):
            found[draw, layer] = _two_gaps(sp.gram(h.flatten(1).double())).cpu()
    return found


def _two_gaps(gram: torch.Tensor) -> torch.Tensor:
    """The gap of a batch, and that of its directions, from its Gram matrix ``(n, n)``."""
    flat = torch.eye(len(gram), dtype=gram.dtype, device=gram.device) / len(gram)
    lengths = gram.diagonal().sqrt()
    directions = gram / torch.outer(lengths, lengths) / len(gram)
    return torch.stack([(g - flat).norm() for g in (gram / gram.trace(), directions)])


def table_of_gaps(gaps: Mapping[str, Floats]) -> pd.DataFrame:
    """Return ``network, run, layer, orthogonality gap`` of arrays ``(runs, layers)``.

    >>> table_of_gaps({"with BN": np.array([[0.7, 0.3]])}).values.tolist()
    [['with BN', 0, 1, 0.7], ['with BN', 0, 2, 0.3]]
    """
    parts = []
    for name, values in gaps.items():
        run, layer = np.indices(values.shape)
        columns = {"network": name, "run": run.ravel(), "layer": layer.ravel() + 1}
        parts.append(pd.DataFrame(columns | {"orthogonality gap": values.ravel()}))
    return pd.concat(parts, ignore_index=True)


def _named(networks: Mapping[Any, list[Any]], network: str) -> list[Any]:
    if network not in networks:
        raise ValueError(f"network must be one of {', '.join(networks)}, got {network!r}")
    return networks[network]
