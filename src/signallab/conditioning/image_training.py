"""Deep networks that learn CIFAR-10 with or without normalization: COND, Section 7 and Appendix I.

What the fully connected and the residual networks share: images, the search for a rate, training,
and the scores. A *plan* is the name of a method and a depth. Frames hold one row a record, columns
named in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

import signalprop as sp
from signalprop._arrays import Floats
from signalprop.random import Stream
from signalprop.training.history import History
from signalprop.training.scores import Score, cross_entropy, measure

__all__ = ["INPUTS", "Data", "Plan", "Setting", "best", "dots", "load", "searched", "trained"]

Plan = tuple[str, int]
#: What the document leaves unsaid: channels of mean 0 and variance 1, or pixels in [0, 1] with
#: every image scaled to one length, which are the inputs that its theorems speak of.
INPUTS = ("standardized", "unit length")
#: Names of what is recorded: one score on training images, three on test images from one pass.
TRAIN, OF_TESTS = "train accuracy", ("test accuracy", "dot product", "absolute dot product")
SEARCH = "accuracy and loss"


@dataclass(frozen=True)
class Data:
    """Images ``(N, 3, pixels, pixels)`` to train on and to test on, with labels ``(N,)``."""

    x: torch.Tensor = field(repr=False)
    labels: torch.Tensor = field(repr=False)
    test_x: torch.Tensor = field(repr=False)
    test_labels: torch.Tensor = field(repr=False)


@dataclass(frozen=True)
class Setting:
    """How networks learn ``data``: plain stochastic gradient descent, rates cut to a tenth in turn.

    ``build(method, depth, seeds)`` makes networks side by side, and ``at_head(model, x)`` returns
    what their heads see, ``(models, n, d)``, and the logits that these make of it, ``(models, n,
    classes)``. Rates are cut after every ``drop_after`` epochs. The last ``validation`` training
    images are kept back where a rate is searched for. Scores take ``probe`` training and test
    images; with ``train_at_end`` those of training are taken after the last epoch alone (before it
    they are NaN), which spares as many passes. Settings that share a ``long_run``, which goes to
    :func:`signalprop.training.train`, have a ``name`` of their own.
    """

    data: Data
    build: Callable[[str, int, Sequence[int]], nn.Module] = field(repr=False)
    at_head: Callable[[Any, torch.Tensor], tuple[torch.Tensor, torch.Tensor]] = field(repr=False)
    stream: Stream
    batch: int = 128
    epochs: int = 3
    drop_after: int = 1
    runs: int = 2
    validation: int = 500
    probe: int = 1000
    train_at_end: bool = False
    name: str = ""
    long_run: Mapping[str, Any] = field(default_factory=dict, repr=False)


def load(count: int, tests: int, pixels: int = 32, inputs: str = "standardized") -> Data:
    """Return training and test images of CIFAR-10, averaged down to ``pixels``, as ``inputs`` says.

    With "unit length" the mean of the squares over every image is 1, so that its length is the
    square root of the number of its pixels, as that of a Gaussian vector.
    """
    if inputs not in INPUTS:
        raise ValueError(f"inputs must be one of {', '.join(INPUTS)}, got {inputs!r}")
    x, labels = sp.data.load("cifar10", "train", count)
    test_x, test_labels = sp.data.load("cifar10", "test", tests)
    x, test_x = (nn.functional.adaptive_avg_pool2d(part, pixels) for part in (x, test_x))
    if inputs == "standardized":
        x, test_x = (sp.data.standardize(part, x) for part in (x, test_x))
    else:
        x, test_x = (p / p.square().mean((1, 2, 3), keepdim=True).sqrt() for p in (x, test_x))
    return Data(x, labels, test_x, test_labels)


def dots(h: torch.Tensor, absolute: bool = False) -> torch.Tensor:
    """Return the mean of ``cos(h_i, h_j)``, or of its modulus, over pairs ``i != j`` of samples.

    ``h`` is ``(..., n, d)``; a zero sample counts as orthogonal to all others.

    >>> dots(torch.tensor([[1.0, 0.0], [-3.0, 4.0]])), dots(-torch.eye(2), absolute=True)
    (tensor(-0.6000), tensor(0.))
    """
    u = nn.functional.normalize(h, dim=-1)
    cosines = u @ u.mT
    n = cosines.shape[-1]
    cosines = (cosines.abs() if absolute else cosines) * (1 - torch.eye(n, device=h.device))
    return cosines.sum((-2, -1)) / (n * (n - 1))


def searched(setting: Setting, plans: Sequence[Plan], rates: Sequence[float]) -> pd.DataFrame:
    """Train a network of each plan at each rate; return method, depth, rate, accuracy and loss.

    All are taken on the images that were kept back, and are NaN for a network that diverged. The
    networks have a seed of their own: none of them is among those that :func:`trained` trains.
    """
    data, kept = setting.data, setting.validation
    groups = [_group(setting, plan, [setting.runs] * len(rates), rates, "search") for plan in plans]
    histories = sp.training.train(
        groups,
        data.x[:-kept],
        data.labels[:-kept],
        _recipe(setting, len(data.x) - kept),
        probe=(data.x[-kept:], data.labels[-kept:]),
        metrics={SEARCH: _accuracy_and_loss},
        seed=setting.stream.child("training"),
        **setting.long_run,
    )
    frames = [
        pd.DataFrame(histories[group.name].final(SEARCH), columns=["accuracy", "loss"]).assign(
            method=method, depth=depth, rate=rates
        )
        for group, (method, depth) in zip(groups, plans, strict=True)
    ]
    return pd.concat(frames, ignore_index=True)


def best(found: pd.DataFrame) -> dict[Plan, float]:
    """Return the rate of the highest accuracy for each plan of :func:`searched`.

    >>> columns = {"method": "a", "depth": 2, "rate": [0.1, 0.01], "accuracy": [np.nan, 0.2]}
    >>> best(pd.DataFrame(columns))
    {('a', 2): 0.01}
    """
    rows = {
        (str(method), int(depth)): part.loc[part["accuracy"].fillna(-1).idxmax()]
        for (method, depth), part in found.groupby(["method", "depth"], sort=False)
    }
    return {plan: float(row["rate"]) for plan, row in rows.items()}


def trained(setting: Setting, rates: Mapping[Plan, float]) -> pd.DataFrame:
    """Train the networks of each plan at its rate; return a row for each run and epoch.

    Columns: method, depth, rate, run, epoch, and the scores "train accuracy", "test accuracy" and
    "dot product" and "absolute dot product" of the last hidden layer on test images, in batches.
    """
    data = setting.data
    seeds = list(range(setting.runs))
    groups = [
        _group(setting, plan, seeds, [rate] * len(seeds), "runs") for plan, rate in rates.items()
    ]
    histories = sp.training.train(
        groups,
        data.x,
        data.labels,
        _recipe(setting, len(data.x)),
        probe=(data.test_x[: setting.probe], data.test_labels[: setting.probe]),
        metrics=_scores(setting),
        seed=setting.stream.child("training"),
        **setting.long_run,
    )
    return pd.concat(
        [
            _frame(setting, histories[group.name], plan, _on_training(setting, group, histories))
            for group, plan in zip(groups, rates, strict=True)
        ],
        ignore_index=True,
    )


def _recipe(setting: Setting, images: int) -> sp.training.Recipe:
    epoch = images // setting.batch
    return sp.training.Recipe(
        setting.epochs * epoch,
        setting.batch,
        record_every=epoch,
        drop_every=setting.drop_after * epoch,
    )


def _group(
    setting: Setting, plan: Plan, seeds: Sequence[int], rates: Sequence[float], part: str
) -> sp.training.Group:
    model = setting.build(*plan, seeds).to(setting.data.x.device)
    return sp.training.Group(
        "{}, {}, {}, depth {}".format(setting.name, part, *plan), model, list(seeds), list(rates)
    )


def _accuracy_and_loss(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Both of one pass ``(models, 2)``: the pass is what takes the time."""
    logits = model(x)
    return torch.stack([sp.training.accuracy(logits, y), cross_entropy(logits, y)], -1)


def _scores(setting: Setting) -> dict[str, Score]:
    def of_tests(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        h, logits = setting.at_head(model, x)
        return torch.stack([sp.training.accuracy(logits, y), dots(h), dots(h, absolute=True)], -1)

    both: dict[str, Score] = {TRAIN: _OfTraining(setting), " and ".join(OF_TESTS): of_tests}
    return {name: both[name] for name in both if name != TRAIN or not setting.train_at_end}


def _on_training(
    setting: Setting, group: sp.training.Group, histories: Mapping[str, History]
) -> Floats:
    """Return the accuracies on training images ``(records, runs)``, of trained networks."""
    values = histories[group.name].values
    if TRAIN in values:
        return values[TRAIN]
    of_tests = values[" and ".join(OF_TESTS)][..., 0]
    x, labels = (part[: setting.probe] for part in (setting.data.x, setting.data.labels))
    score = {TRAIN: lambda model, x, y: sp.training.accuracy(model(x), y)}
    found = measure(group.model, x, labels, len(group.seeds), setting.batch, score)[TRAIN]
    at_end = np.full(of_tests.shape, np.nan)
    at_end[-1] = np.where(np.isnan(of_tests[-1]), np.nan, found.numpy())  # NaN: it diverged
    return at_end


class _OfTraining:
    """The accuracy on training images, taken beside the batches of test images: one for one.

    `measure` calls a score once for each batch of its probe, in order, so the mean over a record is
    that over as many batches of training images.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting, self.calls = setting, 0

    def __call__(self, model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        data, batch = self.setting.data, x.shape[1]
        first = self.calls % (self.setting.probe // batch) * batch
        self.calls += 1
        part = slice(first, first + batch)
        images = data.x[part].expand(len(x), *data.x[part].shape)
        return sp.training.accuracy(model(images), data.labels[part].expand(len(x), -1))


def _frame(setting: Setting, history: History, plan: Plan, seen: Floats) -> pd.DataFrame:
    record, run = np.indices(seen.shape).reshape(2, -1)
    of_tests = history.values[" and ".join(OF_TESTS)][record, run]
    epoch = len(setting.data.x) // setting.batch
    return pd.DataFrame(
        {
            "method": plan[0],
            "depth": plan[1],
            "rate": history.rates[run],
            "run": history.seeds[run],
            "epoch": history.steps[record] / epoch,
            TRAIN: seen[record, run],
            **dict(zip(OF_TESTS, of_tests.T, strict=True)),
        }
    )
