"""Plain ReLU networks on CIFAR-10, trained side by side: the setting of ORTH, Section 5.

Figures 3 and 4 of the paper and Figure A.1 of the thesis share it: perceptrons of equal layers
without normalization and biases, Xavier's weights with the gain of ReLU, stochastic gradient
descent with one step size. Frames hold one row a record, columns named in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signalprop.random import Stream
from signalprop.weights import Law

__all__ = [
    "GAPS",
    "PLAIN_XAVIER",
    "RELU_XAVIER",
    "Plan",
    "Setting",
    "at_the_end",
    "clipped_at_the_start",
    "gaps_before",
    "hidden_gap",
    "images",
    "initial_gaps",
    "networks",
    "output_gap",
    "started",
    "trained",
]

RELU_XAVIER = sp.uniform("4/(d+d')")  # twice Xavier's variance, as the authors' notebook has it
PLAIN_XAVIER = sp.uniform("2/(d+d')")


@dataclass(frozen=True)
class Setting:
    """Images ``(N, features)`` with labels ``(N,)``, sizes, and where randomness comes from.

    ``init_batch`` images set the weights of Eq. 6; ``probe`` images measure the loss. ``long_run``
    is what :func:`signalprop.training.train` takes as folder and progress.
    """

    images: torch.Tensor = field(repr=False)
    labels: torch.Tensor = field(repr=False)
    width: int
    batch: int
    rate: float
    epochs: int
    runs: int
    stream: Stream
    probe: int = 1000
    init_batch: int = 1000
    long_run: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def epoch(self) -> int:
        """Steps in an epoch."""
        return len(self.images) // self.batch


@dataclass(frozen=True)
class Plan:
    """Networks that are trained side by side: one for each run and rate (the setting's, if
    none)."""

    name: str
    depth: int
    start: str = "Xavier"
    law: Law = RELU_XAVIER
    rates: tuple[float, ...] = ()


def images(count: int, pixels: int = 32, device: str = "cpu") -> tuple[torch.Tensor, torch.Tensor]:
    """Return ``(count, 3 pixels^2)`` images of CIFAR-10 with pixels in [-1, 1], and their
    labels."""
    x, labels = sp.data.load("cifar10", count=count)
    x = torch.nn.functional.adaptive_avg_pool2d(2 * x - 1, pixels)
    return x.flatten(1).to(device), labels.to(device)


def networks(
    setting: Setting,
    depth: int,
    start: str = "Xavier",
    law: Law = RELU_XAVIER,
    seeds: Sequence[int] | None = None,
) -> sp.MLP:
    """Return plain ReLU networks side by side, one a seed (the setting's runs, if none are given).

    ``start`` is one of :data:`STARTS`. Networks of one seed have the same weights before that,
    whatever stands beside them.
    """
    if start not in STARTS:
        raise ValueError(f"start must be one of {', '.join(STARTS)}, got {start!r}")
    x = setting.images
    net = sp.MLP(
        x.shape[1],
        setting.width,
        depth,
        10,
        weights=law,
        bias="none",
        seeds=range(setting.runs) if seeds is None else seeds,
        stream=setting.stream,
    ).to(x.device)
    STARTS[start](net, x[: setting.init_batch], setting.stream)
    return net


def started(setting: Setting, plans: Sequence[Plan]) -> dict[Plan, sp.training.Group]:
    """Return the networks of all plans before their first step; `trained` takes them from there.

    Where they are also measured, nothing has to be made twice: Eq. 6 decomposes a batch a layer.
    """
    return {plan: _group(setting, plan) for plan in plans}


def trained(
    setting: Setting,
    plans: Sequence[Plan] | Mapping[Plan, sp.training.Group],
    *,
    clip: float | None = None,
    scores: Mapping[str, Any] = sp.training.METRICS,
    records: int = 4,
) -> pd.DataFrame:
    """Train all plans, or what was `started`; return name, depth, rate, run, epoch and the scores.

    A row a record; a run that diverged has NaN from then on. With ``clip``, gradients are clipped
    at that ratio (thesis, Eq. A.21) and ``clipped`` is the share of weight matrices on which it
    acts.
    """
    groups = plans if isinstance(plans, Mapping) else started(setting, plans)
    steps = setting.epochs * setting.epoch
    if clip is not None:
        scores = {**scores, "clipped": partial(sp.training.clipped_share, ratio=clip)}
    recipe = sp.training.Recipe(
        steps, setting.batch, record_every=max(1, steps // records), clip=clip
    )
    histories = sp.training.train(
        list(groups.values()),
        setting.images,
        setting.labels,
        recipe,
        probe=(setting.images[: setting.probe], setting.labels[: setting.probe]),
        metrics=scores,
        seed=setting.stream,
        **setting.long_run,
    )
    frames = [
        _frame(histories[group.name], plan, setting.epoch, list(scores))
        for plan, group in groups.items()
    ]
    return pd.concat(frames, ignore_index=True)


def at_the_end(records: pd.DataFrame, score: str = "loss") -> pd.DataFrame:
    """Return the last record of ``score``: a row a name, rate and run, a column a depth."""
    last = records[records["epoch"] == records["epoch"].max()]
    return last.pivot(index=["name", "rate", "run"], columns="depth", values=score)


def hidden_gap(net: sp.MLP, x: torch.Tensor, _: Any = None) -> torch.Tensor:
    """V of the last hidden layer ``(models,)`` (ORTH, Eq. 2)."""
    gap: torch.Tensor = sp.orthogonality_gap(net.features(x))
    return gap


def output_gap(net: sp.MLP, x: torch.Tensor, _: Any = None) -> torch.Tensor:
    """How unequal the singular values of the outputs are ``(models,)``: the notebook's own measure.

    With s the k singular values of the outputs, it is ``|s / |s| - 1/sqrt k|``, 0 where they are
    equal.
    """
    s = sp.second_moment_eigenvalues(net(x)).sqrt()
    s = s / s.norm(dim=-1, keepdim=True)
    gap: torch.Tensor = (s - s.shape[-1] ** -0.5).norm(dim=-1)
    return gap


GAPS = {"last hidden layer": hidden_gap, "outputs": output_gap}


def initial_gaps(
    setting: Setting,
    depths: Sequence[int],
    starts: Sequence[str] = ("Xavier",),
    law: Law = RELU_XAVIER,
) -> pd.DataFrame:
    """Return start, depth, of (what), run and gap before training, on a batch of unseen images.

    Unseen by the start: Eq. 6 sets its weights from the images before.
    """
    frames = [
        _gaps(setting, networks(setting, depth, start, law)).assign(start=start, depth=depth)
        for start in starts
        for depth in depths
    ]
    return pd.concat(frames, ignore_index=True)


def gaps_before(setting: Setting, groups: Mapping[Plan, sp.training.Group]) -> pd.DataFrame:
    """Return the gaps of networks that were `started`, as `initial_gaps` does."""
    frames = [
        _gaps(setting, group.model).assign(start=plan.start, depth=plan.depth)
        for plan, group in groups.items()
    ]
    return pd.concat(frames, ignore_index=True)


@torch.no_grad()
def _gaps(setting: Setting, net: Any) -> pd.DataFrame:
    fresh = setting.images[setting.init_batch :][: setting.batch]
    frames = []
    for name, measure in GAPS.items():
        values = measure(net, fresh).double().cpu().numpy()
        frames.append(pd.DataFrame({"run": range(len(values)), "gap": values, "of": name}))
    return pd.concat(frames)


def clipped_at_the_start(
    setting: Setting, depth: int, ratios: Sequence[float]
) -> dict[float, float]:
    """Return, by ratio, the share of gradients that clipping shortens before the first step."""
    net = networks(setting, depth)
    x, y = setting.images[: setting.batch], setting.labels[: setting.batch]
    outputs = net(x.expand(setting.runs, *x.shape))
    loss = torch.nn.functional.cross_entropy(outputs.flatten(0, 1), y.repeat(setting.runs))
    weights = list(net.parameters())
    # The mean over networks as well: each one's gradient is a runs-th part of its own.
    gradients = [g * setting.runs for g in torch.autograd.grad(loss, weights)]
    shares = {}
    for ratio in ratios:
        pairs = zip(gradients, weights, strict=True)
        shorter = [(sp.training.adaptive_clip(g, w, ratio) != g).any((-2, -1)) for g, w in pairs]
        shares[ratio] = float(torch.stack(shorter).float().mean())
    return shares


def _title(plan: Plan) -> str:
    return f"{plan.name}, depth {plan.depth}"


def _group(setting: Setting, plan: Plan) -> sp.training.Group:
    def build(seeds: list[int]) -> sp.MLP:
        return networks(setting, plan.depth, plan.start, plan.law, seeds)

    rates = plan.rates or (setting.rate,)
    return sp.training.grid(_title(plan), build, range(setting.runs), rates)


def _frame(history: Any, plan: Plan, epoch: int, scores: Sequence[str]) -> pd.DataFrame:
    records, networks_in_all = history.values[scores[0]].shape
    record, network = np.indices((records, networks_in_all)).reshape(2, -1)
    columns = {name: history.values[name][record, network] for name in scores}
    return pd.DataFrame(
        {
            "name": plan.name,
            "depth": plan.depth,
            "rate": history.rates[network],
            "run": history.seeds[network],
            "epoch": history.steps[record] / epoch,
            **columns,
        }
    )


def _as_drawn(net: sp.MLP, x: torch.Tensor, stream: Stream) -> None:
    """Xavier's weights are what the networks are made with."""


def _from_batch(factor: str) -> Callable[[sp.MLP, torch.Tensor, Stream], None]:
    def assign(net: sp.MLP, x: torch.Tensor, stream: Stream) -> None:
        sp.initializers.iterative_orthogonalization_(net, x, factor=factor)

    return assign


def _orthogonal(net: sp.MLP, x: torch.Tensor, stream: Stream) -> None:
    sp.initializers.orthogonal_(net)


@torch.no_grad()
def _blind(net: sp.MLP, x: torch.Tensor, stream: Stream) -> None:
    """Haar matrices of the norms that Eq. 6 has, drawn without looking at the batch."""
    sp.initializers.iterative_orthogonalization_(net, x, factor="polar")
    square = [p for p in net.parameters() if p.shape[-1] == p.shape[-2]]
    for i, weight in enumerate(square):
        size = torch.linalg.matrix_norm(weight, keepdim=True) / weight.shape[-1] ** 0.5
        draws = stream.child("blind", i).runs(len(weight))
        drawn = sp.orthogonal().sample(weight.shape[-2], weight.shape[-1], draws)
        weight.copy_(size * drawn.to(weight))


#: What is done to Xavier's weights before training, by name.
STARTS: Mapping[str, Callable[[sp.MLP, torch.Tensor, Stream], None]] = {
    "Xavier": _as_drawn,
    "Eq. 6": _from_batch("polar"),
    "Eq. 6, literal slice": _from_batch("slice"),
    "orthogonal": _orthogonal,
    "Eq. 6, blind": _blind,
}
