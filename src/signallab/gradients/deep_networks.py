"""Gradients of deep networks with batch normalization before training: GRAD, chapter 6 and App. C.

A network is a list of weights and what follows each product, ``phi(gain(l) BN(.))`` in layer l,
counted from 0. The first L layers of a deep network and its head are a network of depth L, so one
draw of weights serves all depths. Double precision: exploding gradients leave the range of single.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import torch

import signalprop as sp
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "ACTIVATIONS",
    "CLASSES",
    "NORMS",
    "Network",
    "Setting",
    "Weights",
    "draw",
    "gaps",
    "images",
    "log_gradients",
    "over_runs",
    "shaped",
    "slopes",
    "states",
]

CLASSES = 10
Key = TypeVar("Key")

#: The activations of the document, by name.
ACTIVATIONS: Mapping[str, sp.Activation] = {
    "identity": sp.activations.identity,
    "tanh": sp.activations.tanh,
    "sin": sp.activations.sin,
}

#: Batch normalization as a module of PyTorch has it, and as GRAD Eq. 6.4 has it.
NORMS: Mapping[str, sp.BatchNorm] = {
    "standard": sp.BatchNorm(),
    "simplified": sp.BatchNorm(center=False, divide="norm"),
}


@dataclass(frozen=True)
class Network:
    """What follows each product (GRAD Eq. 6.11): names of activation and norm, gains by layer."""

    activation: str = "identity"
    gain: Callable[[int], float] = lambda layer: 1.0
    norm: str = "standard"


@dataclass(frozen=True)
class Setting:
    """A batch ``(n, features)`` with labels ``(n,)``, and random networks of one width for it."""

    x: torch.Tensor = field(repr=False)
    labels: torch.Tensor = field(repr=False)
    width: int
    runs: int
    stream: Stream


@dataclass(frozen=True)
class Weights:
    """First ``(d, inputs)``, square ones ``(depth - 1, d, d)``, and head ``(classes, d)``."""

    first: torch.Tensor
    square: torch.Tensor
    head: torch.Tensor

    @property
    def hidden(self) -> list[torch.Tensor]:
        """The matrices of all hidden layers, in order."""
        return [self.first, *self.square]


def images(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the first ``(count, 3072)`` training images of CIFAR-10 and their labels.

    Every channel of all training images has mean 0 and standard deviation 1.
    """
    x, labels = sp.data.load("cifar10")
    chosen: torch.Tensor = sp.data.standardize(x[:count], x).flatten(1).double()
    return chosen, labels[:count]


def draw(
    stream: Stream, run: int, depth: int, width: int, inputs: int, law: sp.Law | None = None
) -> Weights:
    """Return the weights of one network, orthogonal unless a ``law`` is given.

    The first layers do not depend on ``depth``.

    >>> w = draw(Stream(0), 0, depth=3, width=4, inputs=6)
    >>> w.first.shape, w.square.shape, w.head.shape
    (torch.Size([4, 6]), torch.Size([2, 4, 4]), torch.Size([10, 4]))
    """
    law = sp.orthogonal() if law is None else law
    outer, square = stream.numpy("outer", run), stream.numpy("square", run)
    first = law.sample(width, inputs, [outer])[0]
    head = law.sample(CLASSES, width, [outer])[0]
    if depth == 1:
        return Weights(first, torch.empty(0, width, width, dtype=first.dtype), head)
    return Weights(first, law.sample(width, width, [square] * (depth - 1)), head)


def states(
    network: Network, hidden: Sequence[torch.Tensor], x: torch.Tensor, depths: Sequence[int]
) -> list[torch.Tensor]:
    """Return the representations ``(n, d)`` of ``x`` after ``depths`` of the hidden layers.

    >>> x = torch.eye(2, dtype=torch.float64)
    >>> simplified = Network(norm="simplified")
    >>> [float(h[0, 0]) for h in states(simplified, [3 * x, x], x, [1, 2])]
    [1.0, 1.0]
    """
    phi, norm = ACTIVATIONS[network.activation], NORMS[network.norm]
    found = {}
    for layer, weight in enumerate(hidden[: max(depths)]):
        x = phi(network.gain(layer) * norm(x @ weight.mT))
        if layer + 1 in depths:
            found[layer + 1] = x
    return [found[depth] for depth in depths]


def log_gradients(
    network: Network,
    weights: Weights,
    x: torch.Tensor,
    labels: torch.Tensor,
    depths: Sequence[int],
    layers: Sequence[int],
) -> Floats:
    """Return the log Frobenius norms of gradients ``(depths, layers)`` of the loss in the weights.

    The loss is the mean cross entropy of the network that ends after each of ``depths`` layers. A
    network has no gradient in a layer that it does not reach: NaN.
    """
    hidden = [w.clone().requires_grad_(layer in layers) for layer, w in enumerate(weights.hidden)]
    ends = states(network, hidden, x, depths)
    logs = np.full((len(depths), len(layers)), np.nan)
    for row, (depth, end) in enumerate(zip(depths, ends, strict=True)):
        reached = [k for k, layer in enumerate(layers) if layer < depth]
        loss = torch.nn.functional.cross_entropy(end @ weights.head.mT, labels)
        wanted = [hidden[layers[k]] for k in reached]
        found = torch.autograd.grad(loss, wanted, retain_graph=row + 1 < len(depths))
        logs[row, reached] = [float(gradient.norm().log()) for gradient in found]
    return logs


def over_runs(
    setting: Setting,
    networks: Mapping[Key, Network],
    depths: Sequence[int],
    layers: Sequence[int],
) -> dict[Key, Floats]:
    """Return :func:`log_gradients` of each network, ``(runs, depths, layers)``, by its key.

    All networks of a run have the same weights.
    """
    logs: dict[Key, list[Floats]] = {key: [] for key in networks}
    for run in range(setting.runs):
        inputs = setting.x.shape[1]
        weights = draw(setting.stream, run, max(depths), setting.width, inputs)
        for key, network in networks.items():
            found = log_gradients(network, weights, setting.x, setting.labels, depths, layers)
            logs[key].append(found)
    return {key: np.array(each) for key, each in logs.items()}


def gaps(
    setting: Setting, networks: Mapping[Key, Network], depths: Sequence[int]
) -> dict[Key, Floats]:
    """Return the isometry gap of the samples after each depth, ``(runs, depths)``, by key.

    Infinite where samples are linearly dependent. Weights as in :func:`over_runs`.
    """
    found: dict[Key, list[list[float]]] = {key: [] for key in networks}
    for run in range(setting.runs):
        inputs = setting.x.shape[1]
        weights = draw(setting.stream, run, max(depths), setting.width, inputs)
        for key, network in networks.items():
            ends = states(network, weights.hidden, setting.x, depths)
            found[key].append([float(sp.isometry_gap(end)) for end in ends])
    return {key: np.array(each) for key, each in found.items()}


def shaped(exponent: float) -> Callable[[int], float]:
    """Return the gains ``(l + 1)^-exponent`` of layers l = 0, 1, ... (GRAD, Section C.5).

    >>> shaped(0.5)(3)
    0.5
    """
    return lambda layer: float((layer + 1) ** -exponent)


def slopes(depths: Sequence[int], logs: Floats) -> Floats:
    """Return the growth per layer ``(runs,)`` of ``logs`` ``(runs, depths)``, by least squares.

    >>> slopes([1, 2, 4], np.array([[1.0, 3.0, 7.0]])).round(12)
    array([2.])
    """
    lines: Floats = np.polyfit(depths, logs.T, 1)[0]
    return lines
