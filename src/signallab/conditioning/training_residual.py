"""Residual networks of COND, Figures 1 (below), 4, 5 and 8: how they are built, and how they start.

Training itself is in :mod:`signallab.conditioning.image_training`. The methods ending in
"augmented" see images that are flipped and shifted at random.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

import signalprop as sp
from signallab.conditioning.image_training import Data, Setting, dots
from signalprop.models import CifarResNet
from signalprop.random import Stream
from signalprop.training.scores import cross_entropy

__all__ = [
    "METHODS",
    "at_head",
    "augmented",
    "builder",
    "first_steps",
    "lengths",
    "network",
    "setting",
    "sizes",
]

#: Torch's batch norm with the statistics of the batch at hand; layer norm takes an image at once.
BATCH_NORM = partial(nn.BatchNorm2d, track_running_stats=False)
LAYER_NORM = partial(nn.GroupNorm, 1)
AUGMENTED = ", augmented"

#: What a residual network of each method has in place of batch normalization and ReLU.
METHODS: Mapping[str, Mapping[str, Any]] = {
    "batch norm": {"norm": BATCH_NORM},
    "layer norm": {"norm": LAYER_NORM},
    "NormReLU": {"norm": None, "activation": sp.NormReLU},
    "SELU": {"norm": None, "activation": nn.SELU},
    "Fixup": {"norm": None, "fixup": True, "scalar_rate": 0.1},
}


@torch.no_grad()
def network(method: str, depth: int, width: int, stream: Stream) -> CifarResNet:
    """Return a network of one of :data:`METHODS` as it begins.

    NormReLU and SELU have the kernels of COND, Figure 5: Gaussian of variance one over the kernel's
    pixels times the number of *output* channels. With a normalization, kernels have He's Gaussian
    weights, and Fixup has its own. The head is Gaussian of variance one over its inputs, save with
    Fixup, where it is zero. Methods with kernels of one shape draw the same numbers.
    """
    net = CifarResNet(depth, width=width, **METHODS[method])
    if method == "Fixup":
        return sp.models.fixup_(net, stream.torch("fixup"))
    sp.initializers.initialize_(net, "he", stream)
    if METHODS[method]["norm"] is None:
        for part in net.modules():
            if isinstance(part, nn.Conv2d):
                part.weight.mul_((part.in_channels / part.out_channels / 2) ** 0.5)
    net.head.weight.mul_(0.5**0.5)
    return net


def builder(width: int, stream: Stream) -> Callable[[str, int, Sequence[int]], sp.models.Stacked]:
    """Return what makes networks of a method and a depth, one for each of the seeds."""

    def build(method: str, depth: int, seeds: Sequence[int]) -> sp.models.Stacked:
        plain = method.removesuffix(AUGMENTED)
        nets = [network(plain, depth, width, stream.child("weights", seed)) for seed in seeds]
        shown = [_Augmented(net) for net in nets] if plain != method else nets
        return sp.models.Stacked(shown)

    return build


def setting(data: Data, width: int, stream: Stream, **how: Any) -> Setting:
    """Return how networks of ``width`` learn ``data``; ``how`` are other fields of a `Setting`."""
    return Setting(data, builder(width, stream), at_head, stream, **how)


def at_head(model: sp.models.Stacked, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return of images what the heads see, ``(models, n, 4 width)``, and the logits."""
    nets: list[Any] = [getattr(net, "net", net) for net in model.each()]  # without augmentation
    seen = [net.features(images) for net, images in zip(nets, x, strict=True)]
    logits = [net.head(h) for net, h in zip(nets, seen, strict=True)]
    return torch.stack(seen), torch.stack(logits)


def augmented(x: torch.Tensor, most: int) -> torch.Tensor:
    """Return images ``(n, c, h, w)`` mirrored with probability 1/2 and shifted by up to ``most``.

    Pixels that come in from outside are zero (He et al. 2016). The draws are torch's own.

    >>> x = torch.ones(1, 1, 4, 4)
    >>> float(augmented(x, 0).sum()), bool(augmented(x, 1).sum() >= 9)
    (16.0, True)
    """
    n, _, height, width = x.shape
    mirrored = torch.where(torch.rand(n, 1, 1, 1, device=x.device) < 0.5, x.flip(-1), x)
    padded = F.pad(mirrored, (most,) * 4)
    offsets = torch.randint(2 * most + 1, (n, 2)).tolist()
    parts = [
        image[:, i : i + height, j : j + width]
        for image, (i, j) in zip(padded, offsets, strict=True)
    ]
    return torch.stack(parts)


class _Augmented(nn.Module):
    """A network that sees its training images mirrored and shifted by up to an eighth."""

    def __init__(self, net: CifarResNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen = augmented(x, x.shape[-1] // 8) if self.training else x
        result: torch.Tensor = self.net(seen)
        return result


def sizes(depths: Sequence[int]) -> pd.DataFrame:
    """Return method, depth and the number of parameters at full width."""
    nets = {(m, d): CifarResNet(d, **options) for m, options in METHODS.items() for d in depths}
    counts = {plan: sum(p.numel() for p in net.parameters()) for plan, net in nets.items()}
    rows = [(*plan, count) for plan, count in counts.items()]
    return pd.DataFrame(rows, columns=["method", "depth", "parameters"])


@torch.no_grad()
def lengths(
    images: torch.Tensor, depth: int, width: int, methods: Sequence[str], stream: Stream
) -> pd.DataFrame:
    """Return what networks make of images before training, a row for each method and block.

    "mean square" is that of all numbers after a block (block 0: before the first), "dot product"
    the average over pairs of images of the cosine between all of these numbers.
    """
    rows = []
    for method in methods:
        net = network(method, depth, width, stream)
        h = net.stem(images)
        states = [h, *(h := block(h) for block in net.blocks)]
        for block, state in enumerate(states):
            square = float(state.double().square().mean())
            rows.append((method, block, square, float(dots(state.flatten(1).double()))))
    return pd.DataFrame(rows, columns=["method", "block", "mean square", "dot product"])


def first_steps(
    data: Data, method: str, depth: int, width: int, rates: Sequence[float], stream: Stream
) -> pd.DataFrame:
    """Take ten steps of gradient descent on all images of ``data``, one network for each rate.

    Returns method, depth, rate and the loss before and after; it is NaN where it became infinite.
    """
    nets = [network(method, depth, width, stream) for _ in rates]
    batch, labels = data.x.expand(len(nets), *data.x.shape), data.labels.expand(len(nets), -1)
    model, losses = sp.models.Stacked(nets), []
    with sp.training.descending(model, torch.tensor(rates)):
        for _ in range(11):
            loss = cross_entropy(model(batch), labels)
            losses.append(loss.detach().double().nan_to_num(float("inf"), posinf=float("inf")))
            loss.sum().backward()  # type: ignore[no-untyped-call]
    before, after = losses[0], losses[10]
    after[~torch.isfinite(after)] = float("nan")
    columns = {"method": method, "depth": depth, "rate": list(rates)}
    return pd.DataFrame({**columns, "before": before.numpy(), "after": after.numpy()})
