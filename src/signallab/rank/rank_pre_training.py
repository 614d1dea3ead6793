"""Raising the rank before training, and breaking it: the setting of RANK, Figure 6.

Deep ReLU perceptrons learn Fashion-MNIST from several starts. Frames hold one row a record, columns
named in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch.nn import functional as F

import signalprop as sp
from signallab.rank.depth_trainability import NETWORKS, OUTPUTS, images
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "Setting",
    "Start",
    "at_best_rate",
    "best_accuracy",
    "gradient_lengths",
    "images",
    "networks",
    "ratios",
    "trained",
    "unit_size_",
]


@dataclass(frozen=True)
class Start:
    """How networks begin: one of ``NETWORKS``, a law of weights, and what is done before training.

    ``steps`` of gradient ascent on r, of size ``climb``, raise each layer first. With ``unit_size``
    each layer is then scaled such that its outputs have mean square 1.
    """

    network: str = "no normalization"
    weights: str = "pytorch_default"
    steps: int = 0
    climb: float = 0.1
    unit_size: bool = False


@dataclass(frozen=True)
class Setting:
    """Images ``(N, features)`` with labels ``(N,)``, sizes, and where randomness comes from.

    The ascent on r takes ``climb_batch`` images at each step. ``probe`` of the images measure the
    scores, ``records`` times in the course of training. ``long_run`` is what
    :func:`signalprop.training.train` takes as folder and progress.
    """

    images: torch.Tensor = field(repr=False)
    labels: torch.Tensor = field(repr=False)
    width: int
    depth: int
    stream: Stream
    batch: int = 32
    iterations: int = 15000
    rates: tuple[float, ...] = (0.01,)
    seeds: int = 5
    climb_batch: int = 128
    probe: int = 1024
    records: int = 10
    long_run: Mapping[str, Any] = field(default_factory=dict, repr=False)


def networks(setting: Setting, start: Start, seeds: Sequence[int]) -> sp.MLP:
    """Return networks side by side, one a seed, as they begin.

    Networks of one seed and law have the same weights before anything is done to them.
    """
    if start.network not in NETWORKS:
        raise ValueError(f"network must be one of {', '.join(NETWORKS)}, got {start.network!r}")
    x = setting.images
    options = {**NETWORKS[start.network], "weights": start.weights}
    net = sp.MLP(
        x.shape[1],
        setting.width,
        setting.depth,
        OUTPUTS,
        seeds=seeds,
        stream=setting.stream.child("weights"),
        **options,
    ).to(x.device)
    sp.initializers.rank_pretraining_(
        net,
        x,
        start.steps,
        rate=start.climb,
        batch=setting.climb_batch,
        seed=setting.stream,
    )
    if start.unit_size:
        unit_size_(net, x[: setting.climb_batch])
    return net


def ratios(setting: Setting, start: Start, runs: int) -> Floats:
    """Return r of the last hidden layer before training, ``(runs,)``, on one batch of images.

    On the last of them, as many as a step of the ascent takes.
    """
    net = networks(setting, start, range(runs))
    x = setting.images[-setting.climb_batch :]
    with torch.no_grad():
        values: Floats = _ratio(net, x, x).cpu().numpy()
    return values


def gradient_lengths(setting: Setting, starts: Mapping[str, Start], runs: int) -> pd.DataFrame:
    """Return start, run, layer, weights and outputs before training: lengths of gradients.

    Frobenius norms of the gradient of the mean loss on one batch, the images of :func:`ratios`, by
    the weights of a layer and by what leaves it. Layers are counted from 1; the last is the head.
    In doubles: where all units are one the gradient by the weights is a sum that cancels, and
    single precision leaves 1e-9 of it.
    """
    x, y = setting.images[-setting.climb_batch :], setting.labels[-setting.climb_batch :]
    frames = []
    for name, start in starts.items():
        net = networks(setting, start, range(runs)).double()
        states = net.states(x.double())
        states.append(net.head(states[-1]))
        loss = torch.stack([F.cross_entropy(outputs, y) for outputs in states[-1]])
        by_weights = np.array(list(sp.metrics.gradient_norms(net, loss).values()))
        gradients = torch.autograd.grad(loss.sum(), states)
        by_outputs = torch.stack([g.flatten(1).norm(dim=1) for g in gradients]).cpu().numpy()
        layer, run = np.indices(by_weights.shape).reshape(2, -1)
        lengths = {"weights": by_weights.ravel(), "outputs": by_outputs.ravel()}
        frames.append(pd.DataFrame({"start": name, "run": run, "layer": layer + 1, **lengths}))
    return pd.concat(frames, ignore_index=True)


@torch.no_grad()
def unit_size_(net: sp.MLP, x: torch.Tensor) -> None:
    """Scale each hidden layer in turn, weights and bias, until its outputs have mean square 1.

    For the batch ``x``, from the first layer to the last (Mishkin and Matas 2016). Each layer is
    given the outputs of the scaled layers before, so its bias weighs less beside its input than it
    did where these were small. Nothing here looks at r.
    """
    h = x
    for block in net.hidden:
        size = block(h).square().mean((-2, -1)).sqrt()
        for parameter in block.parameters():
            parameter.div_(size.reshape(-1, *[1] * (parameter.ndim - 1)))
        h = block(h)


def trained(setting: Setting, starts: Mapping[str, Start]) -> pd.DataFrame:
    """Train networks from each start; return start, rate, run, iteration, accuracy, loss and r.

    r is that of the last hidden layer; all three are means over batches of the first images. A
    network for every rate and run; one that diverged has NaN from then on.
    """
    every = max(1, setting.iterations // setting.records)
    histories = sp.training.train(
        [_group(setting, name, start) for name, start in starts.items()],
        setting.images,
        setting.labels,
        sp.training.Recipe(setting.iterations, setting.batch, record_every=every),
        probe=(setting.images[: setting.probe], setting.labels[: setting.probe]),
        metrics={**sp.training.METRICS, "r": _ratio},
        seed=setting.stream.child("training"),
        **setting.long_run,
    )
    return pd.concat([_frame(history) for history in histories.values()], ignore_index=True)


def at_best_rate(records: pd.DataFrame) -> pd.DataFrame:
    """Return all records at the rate with the best mean accuracy at the end, start by start.

    A rate at which any run diverged is not chosen, and ties go to the smaller rate.
    """
    chosen = []
    for name, part in records.groupby("start", sort=False):
        last = part[part["iteration"] == part["iteration"].max()]
        means = last.groupby("rate")["accuracy"].apply(lambda a: a.mean(skipna=False))
        if means.isna().all():
            raise sp.training.Diverged(f"{name}: every rate diverged")
        chosen.append(part[part["rate"] == means.idxmax()])
    return pd.concat(chosen, ignore_index=True)


def best_accuracy(records: pd.DataFrame) -> pd.Series:
    """Return the best accuracy at the end over all rates, by start and run.

    A network that diverged at all rates counts as a guess.

    >>> rows = [("toy", 0.1, 0, 5, np.nan), ("toy", 0.01, 0, 5, 0.3), ("lost", 0.1, 0, 5, np.nan)]
    >>> frame = pd.DataFrame(rows, columns=["start", "rate", "run", "iteration", "accuracy"])
    >>> best_accuracy(frame).to_dict()
    {('toy', 0): 0.3, ('lost', 0): 0.1}
    """
    # A start that has diverged at all rates stops early; its last record stands for the end.
    last = records.groupby(["start", "rate", "run"], sort=False).tail(1)
    best: pd.Series = last.groupby(["start", "run"], sort=False)["accuracy"].max()
    return best.fillna(1 / OUTPUTS)


def _group(setting: Setting, name: str, start: Start) -> sp.training.Group:
    def build(seeds: list[int]) -> sp.MLP:
        return networks(setting, start, seeds)

    return sp.training.grid(name, build, range(setting.seeds), setting.rates)


def _ratio(net: Any, x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    """r of the last hidden layer ``(models,)``, NaN where it is zero or not finite."""
    h = net.features(x).double()
    size = h.abs().amax((-2, -1))
    there = (size > 0) & torch.isfinite(size)
    result = torch.full_like(size, torch.nan)
    if bool(there.any()):
        result[there] = sp.rank_ratio(h[there])
    return result


def _frame(history: sp.training.History) -> pd.DataFrame:
    record, model = np.indices(history.values["loss"].shape).reshape(2, -1)
    scores = {name: values[record, model] for name, values in history.values.items()}
    columns = {
        "start": history.name,
        "rate": history.rates[model],
        "run": history.seeds[model],
        "iteration": history.steps[record],
    }
    return pd.DataFrame({**columns, **scores})
