"""Shaped networks of one depth that learn the same batches side by side: GRAD, Figures 6.4, C.5-8.

Each network has its own activation; networks of one seed begin with the same weights and see the
same batches. Side by side they take half the time that they take one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import stats

import signalprop as sp
from signallab.case import Case
from signallab.gradients.deep_networks import ACTIVATIONS, shaped
from signallab.gradients.shaped_training import EPS, Setting
from signalprop._arrays import Floats
from signalprop.training.scores import cross_entropy

__all__ = ["AcrossDepths", "Learned", "learn", "right", "steady", "watch"]


@dataclass(frozen=True)
class Learned:
    """Trained networks, ``runs`` of each activation, and what was recorded while they learned."""

    activations: tuple[str, ...]
    runs: int
    net: sp.MLP = field(repr=False)
    history: sp.training.History = field(repr=False)

    def of(self, metric: str) -> dict[str, Floats]:
        """Return the records ``(records, runs, ...)`` of a metric, by activation."""
        return self._split(self.history.values[metric], axis=1)

    def _split(self, values: Any, axis: int) -> dict[str, Any]:
        parts = np.split(np.asarray(values), len(self.activations), axis=axis)
        return dict(zip(self.activations, parts, strict=True))


def learn(
    setting: Setting,
    activations: Sequence[str],
    depth: int,
    scores: Mapping[str, Callable[..., torch.Tensor]] = sp.training.METRICS,
) -> Learned:
    """Train ``setting.runs`` networks of each activation and return them with their records.

    Scores are taken before training and after each epoch, on the first training images.
    """
    gain, data = shaped(setting.exponent), setting.data
    phis = [ACTIVATIONS[name] for name in activations for _ in range(setting.runs)]
    seeds = [seed for _ in activations for seed in range(setting.runs)]
    net = sp.MLP(
        data.x.shape[1],
        setting.width,
        depth,
        data.classes,
        lambda layer: [sp.BatchNorm(eps=EPS), _Each([phi.gained(gain(layer)) for phi in phis])],
        weights=sp.orthogonal(),
        bias="none",
        seeds=seeds,
        stream=setting.stream.child("weights"),
    ).to(data.x.device)
    group = sp.training.Group(f"depth {depth}", net, seeds, [setting.rate] * len(seeds))
    recipe = sp.training.Recipe(
        setting.epochs * setting.epoch, setting.batch, record_every=setting.epoch
    )
    history = sp.training.train(
        [group],
        data.x,
        data.labels,
        recipe,
        probe=(data.x[: setting.probe], data.labels[: setting.probe]),
        metrics=scores,
        seed=setting.stream.child("training"),
        **setting.long_run,
    )[group.name]
    return Learned(tuple(activations), setting.runs, net, history)


def right(
    setting: Setting, learned: Learned, x: torch.Tensor, labels: torch.Tensor
) -> dict[str, Floats]:
    """Return the share of images that each network classifies correctly ``(runs,)``.

    Images are taken in batches as in training, without those left over.
    """
    models = len(learned.activations) * learned.runs
    found = sp.training.measure(learned.net, x, labels, models, setting.batch)
    return learned._split(found["accuracy"].numpy(), axis=0)


def watch(net: sp.MLP, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return loss, accuracy and the gradient's norm in each hidden weight ``(models, 2 + depth)``.

    All of one pass: in a deep network a pass is what takes the time.
    """
    weights = [next(iter(block.parameters())) for block in net.hidden]
    with torch.enable_grad():
        logits = net(x)
        losses = cross_entropy(logits, y)
        gradients = torch.autograd.grad(losses.sum(), weights)
    norms = [torch.linalg.matrix_norm(gradient) for gradient in gradients]
    scores = [losses.detach(), sp.training.accuracy(logits, y), *norms]
    return torch.stack([score.double() for score in scores], dim=1)


@dataclass(frozen=True)
class AcrossDepths:
    """Accuracies ``(runs,)`` by activation and depth, and how far depths may lie apart by name.

    The shallowest networks are what the others are compared with.

    >>> runs = {("tanh", 2): np.array([0.49, 0.5, 0.51]), ("tanh", 9): np.array([0.5])}
    >>> depths = AcrossDepths(runs, {"tanh": 0.1})
    >>> depths.level("tanh", 9).left.round(3), depths.shallow, depths.deep
    (np.float64(0.05), 2, 9)
    """

    accuracies: Mapping[tuple[str, int], Floats]
    allowed: Mapping[str, float] = field(default_factory=dict)

    @property
    def shallow(self) -> int:
        """The smallest depth."""
        return min(depth for _, depth in self.accuracies)

    @property
    def deep(self) -> int:
        """The greatest depth."""
        return max(depth for _, depth in self.accuracies)

    @property
    def points(self) -> list[dict[str, Any]]:
        """Activation and depth of all that are compared."""
        return [{"activation": a, "depth": d} for a, d in self.accuracies if d > self.shallow]

    def level(self, activation: str, depth: int, less: float = 0.0) -> Case:
        """Whether networks ``less`` accurate than these are as accurate as shallow ones.

        Left is the far end of the 95 % interval of the difference (:func:`_reach`).
        """
        off, reach = self._apart(activation, depth, less)
        words = f"{activation}, depth {depth}"
        return Case(np.float64(off + reach), self.allowed[activation], words=words)

    def told(self, activation: str, depth: int) -> Case:
        """Whether the intervals decide: one lies beyond what is allowed, or none has it inside."""
        if any(off - reach > allowed for off, reach, allowed in map(self._place, self.points)):
            return Case(0.0, 1.0)
        off, reach, allowed = self._place({"activation": activation, "depth": depth})
        return Case(np.float64(reach), np.float64(abs(allowed - off)))

    def numbers(self, activation: str) -> dict[str, Any]:
        """Return what a sentence says of an activation, and the farthest end of all intervals."""
        means = {d: float(of.mean()) for (a, d), of in self.accuracies.items() if a == activation}
        return {
            "first": self.shallow,
            "last": self.deep,
            "shallow": means[self.shallow],
            "deep": means[self.deep],
            "far": max(float(self.level(**point).left) for point in self.points),
        }

    def differences(self) -> pd.DataFrame:
        """Return what is compared: activation, depth, mean accuracy, difference and half interval.

        >>> runs = {("tanh", 2): np.array([0.49, 0.5, 0.51]), ("tanh", 9): np.array([0.6])}
        >>> AcrossDepths(runs, {"tanh": 0.1}).differences().round(2).iloc[0, 2:].tolist()
        [0.6, 0.1, 0.05]
        """
        rows = []
        for point in self.points:
            deep = self.accuracies[point["activation"], point["depth"]]
            shallow = self.accuracies[point["activation"], self.shallow]
            mean = float(np.mean(deep))
            means = {"accuracy": mean, "more than shallow": mean - float(np.mean(shallow))}
            rows.append({**point, **means, "half interval": _reach(deep, shallow)})
        return pd.DataFrame(rows)

    def _place(self, point: Mapping[str, Any]) -> tuple[float, float, float]:
        return (*self._apart(**point), self.allowed[point["activation"]])

    def _apart(self, activation: str, depth: int, less: float = 0.0) -> tuple[float, float]:
        deep = self.accuracies[activation, depth] - less
        shallow = self.accuracies[activation, self.shallow]
        return abs(float(np.mean(deep) - np.mean(shallow))), _reach(deep, shallow)


def _reach(deep: Floats, shallow: Floats) -> float:
    """Half the 95 % interval of the difference of two means: Student's, of one spread for both.

    A single deep network so counts as one that scatters as the shallow ones do.
    """
    freedom = len(deep) + len(shallow) - 2
    squares = sum(float(np.sum((part - np.mean(part)) ** 2)) for part in (deep, shallow))
    error = (squares / freedom * (1 / len(deep) + 1 / len(shallow))) ** 0.5
    return float(stats.t.isf(0.025, freedom) * error)


def steady(norms: Floats, factor: float, words: str = "") -> Case:
    """Whether gradient norms ``(records, layers)`` stay within a factor of those at first.

    >>> steady(np.array([[1.0, 2.0], [3.0, 1.0]]), 2.5).left
    np.float64(3.0)
    """
    ratios = norms[1:] / norms[0]
    return Case(np.maximum(ratios, 1 / ratios).max(), factor, words=words)


class _Each:
    """A function for each network side by side."""

    def __init__(self, functions: Sequence[Callable[[torch.Tensor], torch.Tensor]]) -> None:
        self._functions = functions

    def __call__(self, h: torch.Tensor) -> torch.Tensor:
        return torch.stack([f(part) for f, part in zip(self._functions, h, strict=True)])

    def __repr__(self) -> str:
        return f"each of {[str(f) for f in self._functions]}"
