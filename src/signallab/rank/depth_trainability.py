"""Depth, the rank before training and what networks learn: the setting of RANK, Figure 5.

Perceptrons with ReLU learn Fashion-MNIST by stochastic gradient descent, with batch normalization
after every product and without. Frames hold one row a measurement, columns named in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signalprop.random import Stream

__all__ = [
    "NETWORKS",
    "Setting",
    "at_best_rate",
    "awake_after",
    "before_training",
    "images",
    "trained",
]

#: What follows each product, and the law of the weights, by the name of the network.
NETWORKS: Mapping[str, Mapping[str, Any]] = {
    "no normalization": {"layers": [torch.relu]},
    "batch norm": {"layers": [sp.BatchNorm(eps=1e-5), torch.relu]},
    "He weights": {"layers": [torch.relu], "weights": "he", "bias": "zero"},
}
OUTPUTS = 10


@dataclass(frozen=True)
class Setting:
    """Images ``(N, features)`` with labels ``(N,)``, sizes, and where randomness comes from.

    ``probe`` images measure the accuracy, ``records`` times in the course of training. ``long_run``
    is what :func:`signalprop.training.train` takes as folder and progress.
    """

    images: torch.Tensor = field(repr=False)
    labels: torch.Tensor = field(repr=False)
    width: int
    stream: Stream
    batch: int = 32
    iterations: int = 15000
    rates: tuple[float, ...] = (0.1,)
    seeds: int = 5
    probe: int = 1024
    records: int = 12
    long_run: Mapping[str, Any] = field(default_factory=dict, repr=False)


def images(device: str = "cpu") -> tuple[torch.Tensor, torch.Tensor]:
    """Return the ``(60000, 784)`` training images of Fashion-MNIST and their labels.

    The pixels of all images together have mean 0 and variance 1.
    """
    x, labels = sp.data.load("fashion_mnist")
    return sp.data.standardize(x).flatten(1).to(device), labels.to(device)


@torch.no_grad()
def before_training(
    setting: Setting,
    network: str,
    depth: int,
    batch: int,
    runs: int,
    measure: Callable[[torch.Tensor], torch.Tensor] = sp.rank,
    dtype: torch.dtype = torch.float32,
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return ``measure`` of each hidden layer of random networks on the first images.

    Shape ``(runs, depth)``. The first l layers of a deep network are a random network of l layers,
    so column l - 1 has the law of the last hidden layer at depth l. Layers of one run are dependent
    and runs are not. The same run draws the same weights whatever its measure and its ``dtype``.
    """
    net = _networks(setting, network, depth, range(runs), "rank", dtype)
    states = net.states(setting.images[:batch].to(dtype))
    return torch.stack([measure(h) for h in states], dim=1).cpu().double().numpy()


def trained(setting: Setting, plans: Sequence[tuple[str, int]]) -> pd.DataFrame:
    """Train networks of each plan, a name of :data:`NETWORKS` and a depth; return their accuracy.

    Columns network, depth, rate, run, iteration, accuracy and loss, both on the first images. A
    network for every rate and run; one that diverged has NaN from then on.
    """
    groups = {plan: _group(setting, *plan) for plan in plans}
    every = max(1, setting.iterations // setting.records)
    histories = sp.training.train(
        list(groups.values()),
        setting.images,
        setting.labels,
        sp.training.Recipe(setting.iterations, setting.batch, record_every=every),
        probe=(setting.images[: setting.probe], setting.labels[: setting.probe]),
        seed=setting.stream.child("training"),
        **setting.long_run,
    )
    frames = [_frame(histories[group.name], *plan) for plan, group in groups.items()]
    return pd.concat(frames, ignore_index=True)


def at_best_rate(records: pd.DataFrame) -> pd.DataFrame:
    """Return the last accuracies at the rate with the best mean: a row a network, depth and run.

    A rate at which any run diverged is not chosen, and ties go to the smaller rate.
    """
    last = records[records["iteration"] == records["iteration"].max()]
    chosen = []
    for _, part in last.groupby(["network", "depth"], sort=False):
        means = part.groupby("rate")["accuracy"].apply(lambda a: a.mean(skipna=False))
        if means.isna().all():
            raise sp.training.Diverged(f"{part['network'].iloc[0]}: every rate diverged")
        chosen.append(part[part["rate"] == means.idxmax()])
    columns = ["network", "depth", "run", "rate", "accuracy"]
    return pd.concat(chosen, ignore_index=True)[columns]


def awake_after(records: pd.DataFrame, level: float = 0.5) -> pd.DataFrame:
    """Return the iteration of the first record with an accuracy above ``level``.

    A row a network and depth, the mean over runs at the rate with the best last accuracy; NaN if
    any of these runs stays below.

    >>> toy = {"network": "a", "depth": 2, "rate": 0.1, "run": 0}
    >>> records = [{**toy, "iteration": i, "accuracy": a} for i, a in [(0, 0.1), (9, 0.6)]]
    >>> float(awake_after(pd.DataFrame(records))["iteration"].iloc[0])
    9.0
    """
    best = at_best_rate(records)[["network", "depth", "run", "rate"]]
    chosen = records.merge(best, on=["network", "depth", "run", "rate"])
    above = chosen[chosen["accuracy"] > level]
    first = above.groupby(["network", "depth", "run"])["iteration"].min()
    first = first.reindex(best.set_index(["network", "depth", "run"]).index)
    means = first.groupby(["network", "depth"], sort=False).apply(lambda i: i.mean(skipna=False))
    return means.rename("iteration").reset_index()


def _group(setting: Setting, network: str, depth: int) -> sp.training.Group:
    def build(seeds: list[int]) -> sp.MLP:
        return _networks(setting, network, depth, seeds, "training")

    name = f"{network}, depth {depth}"
    return sp.training.grid(name, build, range(setting.seeds), setting.rates)


def _networks(
    setting: Setting,
    network: str,
    depth: int,
    seeds: Sequence[int],
    purpose: str,
    dtype: torch.dtype = torch.float32,
) -> sp.MLP:
    if network not in NETWORKS:
        raise ValueError(f"network must be one of {', '.join(NETWORKS)}, got {network!r}")
    x = setting.images
    return sp.MLP(
        x.shape[1],
        setting.width,
        depth,
        OUTPUTS,
        seeds=seeds,
        stream=setting.stream.child(purpose),
        dtype=dtype,
        **NETWORKS[network],
    ).to(x.device)


def _frame(history: sp.training.History, network: str, depth: int) -> pd.DataFrame:
    records, models = history.values["accuracy"].shape
    record, model = np.indices((records, models)).reshape(2, -1)
    return pd.DataFrame(
        {
            "network": network,
            "depth": depth,
            "rate": history.rates[model],
            "run": history.seeds[model],
            "iteration": history.steps[record],
            "accuracy": history.values["accuracy"][record, model],
            "loss": history.values["loss"][record, model],
        }
    )
