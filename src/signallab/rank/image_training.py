"""Convolutional networks that learn CIFAR-10: the setting of RANK, Figures 7, 8 and 11.

VGG-19 and ResNet-50, or smaller ones of their families, by plain stochastic gradient descent.
Frames hold one row a record, columns named in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

import signalprop as sp
from signalprop.random import Stream
from signalprop.weights import Law

__all__ = ["BATCH_NORM", "Plan", "Setting", "drawn", "images", "ratio_at", "trained"]

#: Torch's own batch norm, with trainable scale and shift and the statistics of the batch at hand.
BATCH_NORM = partial(nn.BatchNorm2d, track_running_stats=False)

Score = Callable[[nn.Module, torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Setting:
    """Images ``(N, 3, pixels, pixels)`` with labels ``(N,)``, and how networks learn them.

    ``probe`` of the images measure the scores, ``records`` times in the course of training.
    ``long_run`` is what :func:`signalprop.training.train` takes as folder and progress.
    """

    images: torch.Tensor = field(repr=False)
    labels: torch.Tensor = field(repr=False)
    stream: Stream
    batch: int = 128
    iterations: int = 1000
    rate: float = 0.1
    runs: int = 5
    probe: int = 1024
    records: int = 10
    long_run: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Plan:
    """Networks that are trained side by side: ``build(run)`` for each run, at ``rate`` if given."""

    name: str
    build: Callable[[int], nn.Module]
    rate: float | None = None


def images(count: int, pixels: int = 32, device: str = "cpu") -> tuple[torch.Tensor, torch.Tensor]:
    """Return ``(count, 3, pixels, pixels)`` images of CIFAR-10 and their labels.

    The numbers of all of them together have mean 0 and variance 1.
    """
    x, labels = sp.data.load("cifar10", count=count)
    x = sp.data.standardize(nn.functional.adaptive_avg_pool2d(x, pixels))
    return x.to(device), labels.to(device)


def drawn(
    setting: Setting, make: Callable[[], nn.Module], law: Law | str, *names: str | int
) -> nn.Module:
    """Return the network of ``make`` with weights and biases from ``law``, on the images' device.

    Networks of the same structure and ``names`` draw the same numbers where their laws are of one
    kind; scale and shift of a normalization start from 1 and 0.

    >>> toy = Setting(torch.ones(1), torch.ones(1), Stream(0))
    >>> net = drawn(toy, lambda: nn.Linear(3, 2), "one_sided_uniform", "toy", 0)
    >>> bool((net.weight >= 0).all())
    True
    """
    net = make()
    sp.initializers.initialize_(net, law, setting.stream.child("weights", *names), bias=True)
    return net.to(setting.images.device)


def trained(
    setting: Setting, plans: Sequence[Plan], scores: Mapping[str, Score] | None = None
) -> pd.DataFrame:
    """Train the networks of all plans; return network, run, iteration and the scores.

    Scores are loss and accuracy and those of ``scores``, on the first images in batches of the
    setting's size. A network that diverged has NaN from then on. Run r of every plan sees the same
    batches.
    """
    every = max(1, setting.iterations // setting.records)
    metrics = {**sp.training.METRICS, **(scores or {})}
    groups = [_group(setting, plan) for plan in plans]
    histories = sp.training.train(
        groups,
        setting.images,
        setting.labels,
        sp.training.Recipe(setting.iterations, setting.batch, record_every=every),
        probe=(setting.images[: setting.probe], setting.labels[: setting.probe]),
        metrics=metrics,
        seed=setting.stream.child("training"),
        **setting.long_run,
    )
    return pd.concat([_frame(histories[group.name]) for group in groups], ignore_index=True)


def ratio_at(layer: int) -> Score:
    """Return r of the pre-activations of hidden layer ``layer`` (-1: the last), as a score."""

    def score(net: Any, x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
        each = zip(net.each(), x, strict=True)
        states = [sp.models.preactivations(one, xk)[layer] for one, xk in each]
        return torch.stack([sp.rank_ratio(h.double()) for h in states])

    return score


def _group(setting: Setting, plan: Plan) -> sp.training.Group:
    rate = setting.rate if plan.rate is None else plan.rate
    nets = [plan.build(run) for run in range(setting.runs)]
    model = sp.models.Stacked(nets)
    return sp.training.Group(plan.name, model, range(setting.runs), [rate] * setting.runs)


def _frame(history: sp.training.History) -> pd.DataFrame:
    # A group that has diverged as a whole stops early; its last record stands for the end.
    record, run = np.indices(history.values["loss"].shape).reshape(2, -1)
    scores = {name: values[record, run] for name, values in history.values.items()}
    frame = {"network": history.name, "run": history.seeds[run], "iteration": history.steps[record]}
    return pd.DataFrame({**frame, **scores})
