"""Weights of one sign in normalized convolutional networks: RANK, Figure 7.

Frames hold one row a measurement, columns named in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd
import torch
from torch import nn

import signalprop as sp
from signallab.rank.image_training import BATCH_NORM, Plan, Setting, drawn, images, trained
from signalprop.initializers.laws import weighted_layers
from signalprop.random import Stream

__all__ = ["BATCH_NORM", "SIGNS", "Setting", "at_the_end", "before_training", "images", "learned"]

Make = Callable[[], nn.Module]

#: What has a sign of its own, by the name of the start, where moduli are those of one-sided
#: weights: a shape for the signs of a weight (out, in, ...). PyTorch's weights are symmetric.
SIGNS: Mapping[str, Callable[[Sequence[int]], Sequence[int]]] = {
    "one sign": lambda shape: [1] * len(shape),
    "a sign for each output": lambda shape: [shape[0], *[1] * (len(shape) - 1)],
    "a sign for each input": lambda shape: [1, shape[1], *[1] * (len(shape) - 2)],
    "a sign for each weight": lambda shape: list(shape),
}
SYMMETRIC = "PyTorch's"


def network(setting: Setting, make: Make, start: str, run: int) -> nn.Module:
    """Return the network of ``make`` as it begins: PyTorch's weights or one of :data:`SIGNS`.

    Moduli are uniform on ``[0, 2/sqrt d]``; only the sign of a weight depends on which of
    :data:`SIGNS` it is. Biases are drawn like weights.
    """
    if start == SYMMETRIC:
        return drawn(setting, make, "pytorch_default", run)
    if start not in SIGNS:
        raise ValueError(f"start must be one of {SYMMETRIC}, {', '.join(SIGNS)}, got {start!r}")
    net = drawn(setting, make, "one_sided_uniform", run)
    if start != "one sign":
        _sign_(net, start, setting.stream.child("signs", run))
    return net


def before_training(
    setting: Setting, makes: Mapping[str, Make], starts: Sequence[str], batch: int, runs: int
) -> pd.DataFrame:
    """Return network, start, run, layer and r of what enters each ReLU, on the last images."""
    x = setting.images[-batch:]
    rows = []
    for name, make in makes.items():
        for start in starts:
            for run in range(runs):
                with torch.no_grad():
                    states = sp.models.preactivations(network(setting, make, start, run), x)
                for layer, h in enumerate(states, 1):
                    rows.append((name, start, run, layer, float(sp.rank_ratio(h.double()))))
    return pd.DataFrame(rows, columns=["network", "start", "run", "layer", "r"])


def learned(
    setting: Setting, makes: Mapping[str, Make], starts: Sequence[str], rates: Sequence[float]
) -> pd.DataFrame:
    """Train all networks; return network, start, rate, run, iteration, accuracy and loss.

    Of each network and start only the records at the rate with the least mean loss at the end. A
    rate at which a run diverged is chosen only if there is no other.
    """
    keys = {
        f"{name}, {start}, {rate:g}": (name, start, rate)
        for name in makes
        for start in starts
        for rate in rates
    }
    plans = [
        Plan(key, partial(network, setting, makes[name], start), rate)
        for key, (name, start, rate) in keys.items()
    ]
    records = trained(setting, plans)
    columns = ["network", "start", "rate"]
    records[columns] = [keys[key] for key in records["network"]]
    return pd.concat(
        [_at_best_rate(part) for _, part in records.groupby(columns[:2], sort=False)],
        ignore_index=True,
    )


def at_the_end(records: pd.DataFrame) -> pd.DataFrame:
    """Return the last record of each network, start and run, indexed by these."""
    last: pd.DataFrame = records.groupby(["network", "start", "run"], sort=False).tail(1)
    return last.set_index(["network", "start", "run"])


def _at_best_rate(part: pd.DataFrame) -> pd.DataFrame:
    last = part.groupby(["rate", "run"], sort=False).tail(1)
    means = last.groupby("rate")["loss"].apply(lambda loss: loss.mean(skipna=False))
    chosen = part["rate"] == (means.idxmin() if means.notna().any() else min(means.index))
    return part[chosen]


@torch.no_grad()
def _sign_(net: nn.Module, start: str, stream: Stream) -> None:
    for name, layer in weighted_layers(net):
        weight = layer.weight
        assert isinstance(weight, torch.Tensor)
        signs = stream.numpy(name).choice([-1.0, 1.0], SIGNS[start](weight.shape))
        weight.mul_(torch.from_numpy(signs).to(weight))
