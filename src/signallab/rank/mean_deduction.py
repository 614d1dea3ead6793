"""Batch normalization with and without its mean deduction: RANK, Section 7.7 and Figure 11.

Linear chains at any depth, VGG networks before and in training. Frames hold one row a measurement,
columns named in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
import torch
from torch import nn

import signalprop as sp
from signallab.rank.image_training import Plan, Setting, drawn, images, ratio_at, trained
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = ["NORMS", "Setting", "before_training", "chains", "images", "in_training", "rotated"]

#: Batch norm as RANK Eq. 1 has it, and as its theorems do: by whether the mean is taken off.
NORMS: Mapping[str, bool] = {"with mean deduction": True, "without": False}


def chains(
    width: int,
    samples: int,
    depth: int,
    runs: int,
    *,
    center: bool,
    stream: Stream,
    relu: bool = False,
) -> Floats:
    """Return r of each layer of random chains with batch norm, ``(runs, depth + 1)``.

    ``H_{l+1} = BN(W_l F(H_l))`` with the weights of RANK Def. 1 from Gaussian samples, where F is
    the identity, or ReLU with ``relu``. Run k has the same weights and samples whatever ``center``.
    """
    before = [torch.relu] if relu else []
    chain = sp.Chain(width, sp.uniform(), [sp.BatchNorm(center=center)], before)
    x = np.stack([g.standard_normal((samples, width)) for g in stream.child("x").runs(runs)])
    path = chain.run(x, depth, runs, stream.child("weights"), engine="direct")
    values: Floats = path.measure(sp.rank_ratio).values
    return values


def rotated(width: int, samples: int, depth: int, stream: Stream) -> tuple[Floats, Floats]:
    """Return r by layer ``(depth,)`` of two linear chains that should agree, computed apart.

    One takes the mean off ``samples`` samples at every layer. The other takes no mean, and starts
    from the ``samples - 1`` combinations of them that are orthogonal to their sum.
    """
    x = stream.numpy("x").standard_normal((samples, width))
    # The rows below the first of an orthogonal matrix whose first row is constant.
    basis = np.linalg.qr(np.column_stack([np.ones(samples), np.eye(samples)[:, 1:]]))[0]
    ratios = []
    for start, center in ((x, True), (basis[:, 1:].T @ x, False)):
        chain = sp.Chain(width, sp.uniform(), [sp.BatchNorm(center=center)])
        path = chain.run(start[None], depth, 1, stream.child("weights"), engine="direct")
        ratios.append(path.measure(sp.rank_ratio).values[0, 1:])
    return ratios[0], ratios[1]


def before_training(
    setting: Setting, widths: Sequence[int], hidden: Sequence[int], batch: int, runs: int
) -> pd.DataFrame:
    """Return normalization, run, layer and r of each hidden layer of random VGG networks.

    On the last ``batch`` images. Run k has the same weights under both normalizations.
    """
    x = setting.images[-batch:]
    rows = []
    for name in NORMS:
        for run in range(runs):
            with torch.no_grad():
                states = sp.models.preactivations(_network(setting, name, widths, hidden, run), x)
            for layer, h in enumerate(states, 1):
                rows.append((name, run, layer, float(sp.rank_ratio(h.double()))))
    return pd.DataFrame(rows, columns=["normalization", "run", "layer", "r"])


def in_training(setting: Setting, widths: Sequence[int], hidden: Sequence[int]) -> pd.DataFrame:
    """Train VGG networks; return network, run, iteration, accuracy, loss and r of two layers.

    ``last hidden`` is r of the last hidden layer, one of the linear layers ``hidden``, and ``last
    normalized`` that of the last convolution. Run k has the same weights and sees the same
    batches under both normalizations.
    """
    plans = [
        Plan(name, partial(_network, setting, name, tuple(widths), tuple(hidden))) for name in NORMS
    ]
    scores = {"last hidden": ratio_at(-1), "last normalized": ratio_at(-1 - len(hidden))}
    return trained(setting, plans, scores)


def _network(
    setting: Setting, name: str, widths: Sequence[int], hidden: Sequence[int], run: int
) -> nn.Module:
    if name not in NORMS:
        raise ValueError(f"name must be one of {', '.join(NORMS)}, got {name!r}")

    def norm(_: int) -> nn.Module:
        return sp.BatchNorm2d(center=NORMS[name], eps=1e-5)

    make = partial(sp.models.vgg, widths, size=setting.images.shape[-1], hidden=hidden, norm=norm)
    return drawn(setting, make, "pytorch_default", "vgg", run)
