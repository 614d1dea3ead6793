"""Convolutional networks from weights that orthogonalize their patches: ORTH, App. G.

The networks of Table 3 learn CIFAR-10 from Xavier's weights or from those of Eq. 6, applied to the
patches of Eq. 21. The formula leaves things open; :data:`STARTS` names the ways to read it. Frames
hold one row a measurement, columns named in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

import signalprop as sp
from signalprop.random import Stream

__all__ = [
    "EXPLODED",
    "STARTS",
    "Setting",
    "at_the_end",
    "before_training",
    "images",
    "network",
    "norms",
    "trained",
]

RELU_XAVIER = sp.uniform("4/(d+d')")
EXPLODED = 10.0  # a loss that a network of ten classes does not come back from

#: How Eq. 6 is read, by name; None keeps Xavier's weights.
STARTS: Mapping[str, Mapping[str, Any] | None] = {
    "Xavier": None,
    "slice, printed norm": {"factor": "slice", "scale": "printed"},
    "polar, printed norm": {"factor": "polar", "scale": "printed"},
    "slice, measured norm": {"factor": "slice", "scale": "measured"},
    "polar, measured norm": {"factor": "polar", "scale": "measured"},
    "slice, measured norm, power −1": {"factor": "slice", "scale": "measured", "power": 1.0},
}


@dataclass(frozen=True)
class Setting:
    """Images ``(N, 3, pixels, pixels)`` with labels ``(N,)``, sizes, the source of randomness.

    ``init_batch`` images set the weights of Eq. 6, ``probe`` images measure the loss, ``records``
    times in the course of training. ``long_run`` is what :func:`signalprop.training.train` takes as
    folder and progress.
    """

    images: torch.Tensor = field(repr=False)
    labels: torch.Tensor = field(repr=False)
    widths: tuple[int, int, int]
    hidden: tuple[int, ...]
    stream: Stream
    batch: int = 30
    init_batch: int = 256
    rate: float = 0.001
    epochs: int = 20
    runs: int = 4
    probe: int = 300
    records: int = 10
    long_run: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def epoch(self) -> int:
        """Steps in an epoch."""
        return len(self.images) // self.batch


def images(count: int, pixels: int = 32, device: str = "cpu") -> tuple[torch.Tensor, torch.Tensor]:
    """Return ``(count, 3, pixels, pixels)`` images of CIFAR-10 in [0, 1] and their labels."""
    x, labels = sp.data.load("cifar10", count=count)
    return nn.functional.adaptive_avg_pool2d(x, pixels).to(device), labels.to(device)


def network(setting: Setting, depth: int, start: str, run: int) -> nn.Sequential:
    """Return the network of Table 3 with ``depth`` convolutions, from one of :data:`STARTS`.

    Networks of one depth and run have the same Xavier weights before that. Eq. 6 is for
    convolutions with as many channels out as in; the other layers keep what they have.
    """
    if start not in STARTS:
        raise ValueError(f"start must be one of {'; '.join(STARTS)}, got {start!r}")
    x = setting.images
    net = sp.models.orth_table_3(
        depth, widths=setting.widths, hidden=setting.hidden, size=x.shape[-1]
    ).to(x.device)
    sp.initializers.initialize_(net, RELU_XAVIER, setting.stream.child("weights", depth, run))
    options = STARTS[start]
    if options is not None:
        sp.initializers.iterative_orthogonalization_(
            _convolutions(net), x[: setting.init_batch], **options
        )
    return net


def before_training(setting: Setting, depths: Sequence[int], starts: Sequence[str]) -> pd.DataFrame:
    """Return start, convolutions, run, gap and largest gradient / weight before the first step.

    Both on the last images of the set, in one batch, without dropout: ``gap`` is that of the
    features which leave the convolutions, and the ratio is of the Frobenius norms of gradient and
    weight, the largest over all weight tensors. A step of size s changes that weight by s times the
    ratio of its own norm.
    """
    x, y = setting.images[-setting.batch :], setting.labels[-setting.batch :]
    rows = []
    for depth in depths:
        for start in starts:
            for run in range(setting.runs):
                net = network(setting, depth, start, run).eval()
                with torch.no_grad():
                    features = _convolutions(net)(x).flatten(1)
                lengths = sp.metrics.gradient_norms(net, nn.functional.cross_entropy(net(x), y))
                ratios = [
                    lengths[name] / float(p.detach().norm())
                    for name, p in net.named_parameters()
                    if name in lengths
                ]
                gap = float(sp.orthogonality_gap(features))
                rows.append((depth, start, run, gap, max(ratios)))
    columns = ["convolutions", "start", "run", "gap", "largest gradient / weight"]
    return pd.DataFrame(rows, columns=columns)


def norms(setting: Setting, factor: str, channels: int) -> tuple[float, float]:
    """Return the norm that Eq. 6 divides by, and the one that ``V' S^(1/2) V^T`` has.

    For the patches of a batch of images that random filters have brought to ``channels`` channels.
    V' has a row a channel, and a patch has nine entries a channel; the norms would agree if V' were
    orthogonal with a row an entry.
    """
    x = setting.images[: setting.batch]
    filters = sp.gaussian().sample(channels, x.shape[1] * 9, [setting.stream.numpy("filters")])[0]
    h = nn.functional.conv2d(x, filters.reshape(channels, x.shape[1], 3, 3).to(x), padding=1)
    rows = sp.models.unfold_rows(torch.relu(h), 3, 1).double()
    weight = sp.initializers.orthogonalizing_weight(rows, channels, factor=factor)
    printed = float(torch.linalg.svdvals(rows).sum().sqrt())
    return printed, printed * float(torch.linalg.matrix_norm(rows @ weight.mT))


def trained(setting: Setting, depths: Sequence[int], starts: Sequence[str]) -> pd.DataFrame:
    """Train all networks; return start, convolutions, run, epoch and loss, a row a record.

    The loss is infinite from where a run exploded on: no longer finite, or above 10.
    """
    groups = {(depth, start): _group(setting, depth, start) for depth in depths for start in starts}
    steps = setting.epochs * setting.epoch
    histories = sp.training.train(
        list(groups.values()),
        setting.images,
        setting.labels,
        sp.training.Recipe(steps, setting.batch, record_every=max(1, steps // setting.records)),
        probe=(setting.images[: setting.probe], setting.labels[: setting.probe]),
        seed=setting.stream,
        **setting.long_run,
    )
    frames = []
    for (depth, start), group in groups.items():
        history = histories[group.name]
        loss = np.nan_to_num(history.curves("loss"), nan=np.inf)
        gone = np.maximum.accumulate(loss > EXPLODED)
        record, run = np.indices(loss.shape).reshape(2, -1)
        frames.append(
            pd.DataFrame(
                {
                    "convolutions": depth,
                    "start": start,
                    "run": run,
                    "epoch": history.steps[record] / setting.epoch,
                    "loss": np.where(gone, np.inf, loss)[record, run],
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def at_the_end(records: pd.DataFrame) -> pd.DataFrame:
    """Return the last record of each run: a group that has exploded as a whole stops early."""
    last: pd.DataFrame = records.groupby(["convolutions", "start", "run"], sort=False).tail(1)
    return last


def _convolutions(net: nn.Sequential) -> nn.Sequential:
    """All layers before the images are flattened."""
    flatten = next(i for i, layer in enumerate(net) if isinstance(layer, nn.Flatten))
    return nn.Sequential(*list(net)[:flatten])


def _group(setting: Setting, depth: int, start: str) -> sp.training.Group:
    nets = [network(setting, depth, start, run) for run in range(setting.runs)]
    return sp.training.Group(
        f"{start}, {depth} convolutions",
        sp.models.Stacked(nets),
        range(setting.runs),
        [setting.rate] * setting.runs,
    )
