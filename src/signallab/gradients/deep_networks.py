"""Gradients of deep networks with batch normalization before training: GRAD, chapter 6 and App. C.

A network is a list of weights and what follows each product, ``phi(gain(l) BN(.))`` in layer l,
counted from 0. The first L layers of a deep network and its head are a network of depth L, so one
draw of weights serves all depths. Double precision: exploding gradients leave the range of single.

Memory grows with the root of the depth. Networks are walked through in parts of about that many
layers. Weights are drawn again from their stream whenever a part is entered, forward or backward;
of the representations only those are kept that enter a part.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

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


class Redrawn:
    """Square matrices ``(count, d, d)`` of one generator, drawn anew whenever they are read.

    The state of the generator is kept wherever a reading has ended, so that a part read before
    costs no more than its own matrices.

    >>> matrices = Redrawn(sp.orthogonal(), 3, 5, Stream(0).numpy())
    >>> bool((matrices[2:4] == matrices[0:5][2:4]).all()), len(matrices)
    (True, 5)
    """

    def __init__(self, law: sp.Law, width: int, count: int, generator: np.random.Generator) -> None:
        self._law, self._width, self._count = law, width, count
        self._generator = generator
        self._states = {0: generator.bit_generator.state}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, part: slice) -> torch.Tensor:
        start, stop, _ = part.indices(self._count)
        known = max(index for index in self._states if index <= start)
        drawn = np.empty((max(stop - known, 0), self._width, self._width))
        if len(drawn):
            self._generator.bit_generator.state = self._states[known]
            self._law.fill(drawn, self._generator)
            self._states[stop] = self._generator.bit_generator.state
        return torch.from_numpy(drawn[start - known :])


@dataclass(frozen=True)
class Weights:
    """First ``(d, inputs)``, square ones ``(depth - 1, d, d)``, and head ``(classes, d)``.

    The square ones may be :class:`Redrawn`.
    """

    first: torch.Tensor
    square: torch.Tensor | Redrawn
    head: torch.Tensor

    @property
    def depth(self) -> int:
        """The number of hidden layers."""
        return 1 + len(self.square)

    @property
    def hidden(self) -> list[torch.Tensor]:
        """The matrices of all hidden layers, in order."""
        return self.of(range(self.depth))

    def of(self, part: range) -> list[torch.Tensor]:
        """Return the matrices of the hidden layers ``part``, which follow each other."""
        square = self.square[max(part.start - 1, 0) : part.stop - 1]
        return [self.first, *square] if part.start == 0 else list(square)


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
    >>> [tuple(matrix.shape) for matrix in (*w.hidden, w.head)]
    [(4, 6), (4, 4), (4, 4), (10, 4)]
    """
    law = sp.orthogonal() if law is None else law
    outer, square = stream.numpy("outer", run), stream.numpy("square", run)
    first = law.sample(width, inputs, [outer])[0]
    head = law.sample(CLASSES, width, [outer])[0]
    return Weights(first, Redrawn(law, width, depth - 1, square), head)


def parts(depths: Sequence[int]) -> list[range]:
    """Return the layers of a network in parts, of which one ends at each of ``depths``.

    No part is longer than the root of the depth.

    >>> parts([4, 9])
    [range(0, 3), range(3, 4), range(4, 6), range(6, 9)]
    """
    deepest = max(depths)
    ends = sorted({0, *range(0, deepest, math.isqrt(deepest)), *depths})
    return [range(*pair) for pair in itertools.pairwise(ends)]


def states(
    network: Network, weights: Weights, x: torch.Tensor, depths: Sequence[int]
) -> list[torch.Tensor]:
    """Return the representations ``(n, d)`` of ``x`` after ``depths`` of the hidden layers.

    >>> x = torch.eye(2, dtype=torch.float64)
    >>> weights = Weights(3 * x, x[None], x)
    >>> [float(h[0, 0]) for h in states(Network(norm="simplified"), weights, x, [1, 2])]
    [1.0, 1.0]
    """
    steps = _forward([network], weights, x, parts(depths))
    found = {step.part.stop: step.leaving[0] for step in steps if step.part.stop in depths}
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
    return _log_gradients([network], weights, x, labels, depths, layers)[0]


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
        every = list(networks.values())
        found = _log_gradients(every, weights, setting.x, setting.labels, depths, layers)
        for key, of_network in zip(networks, found, strict=True):
            logs[key].append(of_network)
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
        at = {}
        for step in _forward(list(networks.values()), weights, setting.x, parts(depths)):
            if step.part.stop in depths:
                at[step.part.stop] = [float(sp.isometry_gap(end)) for end in step.leaving]
        for k, key in enumerate(networks):
            found[key].append([at[depth][k] for depth in depths])
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


class _Step(NamedTuple):
    """A part of the layers, their matrices, and what enters and leaves it in each network."""

    part: range
    matrices: list[torch.Tensor]
    entering: list[torch.Tensor]
    leaving: list[torch.Tensor]


def _forward(
    networks: Sequence[Network], weights: Weights, x: torch.Tensor, walk: Sequence[range]
) -> Iterator[_Step]:
    """Walk all networks through their layers side by side, part by part."""
    entering = [x] * len(networks)
    for part in walk:
        matrices = [w.to(x.dtype) for w in weights.of(part)]
        leaving = [
            _through(network, part, matrices, h)
            for network, h in zip(networks, entering, strict=True)
        ]
        yield _Step(part, matrices, entering, leaving)
        entering = leaving


def _through(
    network: Network, part: range, matrices: Sequence[torch.Tensor], x: torch.Tensor
) -> torch.Tensor:
    phi, norm = ACTIVATIONS[network.activation], NORMS[network.norm]
    for layer, matrix in zip(part, matrices, strict=True):
        x = phi(network.gain(layer) * norm(x @ matrix.mT))
    return x


def _log_gradients(
    networks: Sequence[Network],
    weights: Weights,
    x: torch.Tensor,
    labels: torch.Tensor,
    depths: Sequence[int],
    layers: Sequence[int],
) -> list[Floats]:
    """:func:`log_gradients` of all networks, for which the weights are drawn together."""
    walk, kept = parts(depths), {}
    flows: list[dict[int, _Flow]] = [{} for _ in networks]
    for step in _forward(networks, weights, x, walk):
        kept[step.part] = step.entering
        if step.part.stop in depths:
            for flow, end in zip(flows, step.leaving, strict=True):
                flow[step.part.stop] = _flow_of_loss(end, weights.head.to(x.dtype), labels)
    logs = [np.full((len(depths), len(layers)), np.nan) for _ in networks]
    for part in reversed([part for part in walk if part.stop > min(layers)]):
        matrices = [w.to(x.dtype) for w in weights.of(part)]
        for network, flow, entering, table in zip(
            networks, flows, kept.pop(part), logs, strict=True
        ):
            pull = _Pull(network, part, matrices, entering, layers)
            for row, depth in enumerate(depths):
                if depth >= part.stop:
                    flow[depth], norms = pull(flow[depth])
                    for layer, norm in norms.items():
                        table[row, layers.index(layer)] = norm
    return logs


class _Flow(NamedTuple):
    """The gradient of a loss in a representation, over e to the power ``log_scale``."""

    gradient: torch.Tensor
    log_scale: float

    def scaled(self) -> _Flow:
        """Return the same over a power of two, if it nears the end of the range of floats."""
        largest = self.gradient.abs().max()
        far = torch.finfo(largest.dtype).max ** 0.25
        if 1 / far < largest < far:
            return self
        exponent = int(torch.frexp(largest).exponent)
        return _Flow(self.gradient * 2.0**-exponent, self.log_scale + exponent * math.log(2))


def _flow_of_loss(end: torch.Tensor, head: torch.Tensor, labels: torch.Tensor) -> _Flow:
    with torch.enable_grad():
        end = end.detach().requires_grad_()
        loss = torch.nn.functional.cross_entropy(end @ head.mT, labels)
    return _Flow(torch.autograd.grad(loss, end)[0], 0.0)


class _Pull:
    """A part of a network, computed again with its graph, through which gradients are pulled."""

    def __init__(
        self,
        network: Network,
        part: range,
        matrices: Sequence[torch.Tensor],
        entering: torch.Tensor,
        layers: Sequence[int],
    ) -> None:
        inside = [
            w.clone().requires_grad_() if layer in layers else w
            for layer, w in zip(part, matrices, strict=True)
        ]
        self.wanted = {layer: w for layer, w in zip(part, inside, strict=True) if w.requires_grad}
        self.goes_on = part.start > min(layers)
        self.entering = entering.detach().requires_grad_(self.goes_on)
        with torch.enable_grad():
            self.leaving = _through(network, part, inside, self.entering)

    def __call__(self, flow: _Flow) -> tuple[_Flow, dict[int, float]]:
        """Return the flow where the part begins, and the log norms of gradients by layer."""
        inputs = [*self.wanted.values(), *([self.entering] if self.goes_on else [])]
        found = torch.autograd.grad(self.leaving, inputs, flow.gradient, retain_graph=True)
        norms = {
            layer: float(gradient.norm().log()) + flow.log_scale
            for layer, gradient in zip(self.wanted, found, strict=False)
        }
        if self.goes_on:
            flow = _Flow(found[-1], flow.log_scale).scaled()
        return flow, norms
