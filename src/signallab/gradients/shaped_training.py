"""Deep networks with batch normalization and gains that learn images: GRAD, Sections 6.3 and C.6-7.

Plain stochastic gradient descent, as the modules of PyTorch have it. Frames hold one row a
measurement, columns named in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

import signalprop as sp
from signallab.gradients.deep_networks import ACTIVATIONS, shaped
from signalprop._arrays import Floats
from signalprop.random import Stream
from signalprop.training.scores import cross_entropy

__all__ = [
    "Data",
    "Setting",
    "across",
    "blind",
    "load",
    "moved",
    "over_layers",
    "predicted_across",
    "trained",
]

#: As in the modules of PyTorch: below it, batch normalization takes a variance for zero.
EPS = 1e-5


@dataclass(frozen=True)
class Data:
    """Images to train on ``(N, features)`` and to test on, with labels."""

    x: torch.Tensor = field(repr=False)
    labels: torch.Tensor = field(repr=False)
    test_x: torch.Tensor = field(repr=False)
    test_labels: torch.Tensor = field(repr=False)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return int(self.labels.max()) + 1


@dataclass(frozen=True)
class Setting:
    """How networks learn ``data``; ``probe`` training images measure the accuracy each epoch.

    ``long_run`` is what :func:`signalprop.training.train` takes as folder and progress.
    """

    data: Data
    width: int
    stream: Stream
    batch: int = 100
    epochs: int = 1
    rate: float = 0.001
    runs: int = 1
    exponent: float = 0.4
    probe: int = 1000
    long_run: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def epoch(self) -> int:
        """Steps in an epoch."""
        return len(self.data.x) // self.batch


def load(name: str, count: int, tests: int, pixels: int, device: str = "cpu") -> Data:
    """Return ``count`` training and ``tests`` test images of a data set, ``pixels`` wide.

    Wider images are averaged down. Every channel of the training images has mean 0 and variance 1.
    """
    parts = {}
    for split, size in (("train", count), ("test", tests)):
        x, labels = sp.data.load(name, split, size)
        if x.shape[-1] > pixels:
            x = nn.functional.adaptive_avg_pool2d(x, pixels)
        parts[split] = x, labels.to(device)
    (x, labels), (test_x, test_labels) = parts["train"], parts["test"]
    images, tested = (sp.data.standardize(part, x).flatten(1).to(device) for part in (x, test_x))
    return Data(images, labels, tested, test_labels)


def trained(
    setting: Setting,
    activations: Sequence[str],
    depths: Sequence[int],
    scores: Mapping[str, Callable[..., torch.Tensor]] = sp.training.METRICS,
) -> dict[tuple[str, int], tuple[sp.MLP, sp.training.History]]:
    """Train networks of each activation and depth; return them and their history, by both.

    Scores are taken before training and after each epoch, on the first training images.
    """
    plans = [(name, depth) for name in activations for depth in depths]
    seeds = list(range(setting.runs))
    groups = {
        plan: sp.training.Group(
            "{}, depth {}".format(*plan),
            _networks(setting, *plan),
            seeds,
            [setting.rate] * len(seeds),
        )
        for plan in plans
    }
    data, batch = setting.data, setting.batch
    histories = sp.training.train(
        list(groups.values()),
        data.x,
        data.labels,
        sp.training.Recipe(setting.epochs * setting.epoch, batch, record_every=setting.epoch),
        probe=(data.x[: setting.probe], data.labels[: setting.probe]),
        metrics=scores,
        seed=setting.stream.child("training"),
        **setting.long_run,
    )
    return {plan: (_model(group), histories[group.name]) for plan, group in groups.items()}


def over_layers(batch: int) -> dict[str, Callable[..., torch.Tensor]]:
    """Return scores ``(models, layers)`` of the hidden weights, on the first ``batch`` images.

    "gap" is the isometry gap of each weight matrix, infinite for the first if it has more columns
    than the width; "gradient" the Frobenius norm of the gradient of the loss in it.
    """
    return {"gap": _gaps, "gradient": partial(_gradients, batch=batch)}


def moved(setting: Setting, activation: str, depth: int, net: sp.MLP) -> torch.Tensor:
    """Return ``|W - W_0|_F^2 / rows`` ``(models, layers)``: how far training has moved ``net``.

    Why beside the gap: if a square orthogonal matrix moves in a direction that has nothing to do
    with it, its gap becomes this number, to first order. The eigenvalues of ``W W^T`` deviate from
    1 by those of ``D W_0^T + W_0 D^T``, whose squared norm has the mean ``2 |D|^2``; the gap is
    half the mean of the squared deviations.
    """
    before = _hidden(_networks(setting, activation, depth))
    steps = [(b - a).detach().double() for a, b in zip(before, _hidden(net), strict=True)]
    return torch.stack([d.square().sum((-2, -1)) / d.shape[-2] for d in steps], dim=1)


def across(setting: Setting, activation: str, depth: int) -> torch.Tensor:
    """Return ``2 |S|_F^2 / |G|_F^2`` ``(models, depth - 1)``, S the symmetric part of ``G W^T``.

    G is the gradient of the loss on the first batch in a square matrix W before training. A step
    along G stays among the orthogonal matrices, to first order, if S is zero. If G has nothing to
    do with W this is 1, on average and nearly. Why it is so scaled: it is what the gap over the
    squared movement (:func:`moved`) tends to for small steps along G.
    """
    data, count = setting.data, setting.batch
    net = _networks(setting, activation, depth)
    weights = _hidden(net)[1:]
    x, labels = (
        part[:count].expand(setting.runs, *part[:count].shape) for part in (data.x, data.labels)
    )
    gradients = torch.autograd.grad(cross_entropy(net(x), labels).sum(), weights)
    shares = []
    for w, g in zip(weights, gradients, strict=True):
        turned = (g @ w.detach().mT).double()
        symmetric = (turned + turned.mT) / 2
        shares.append(2 * symmetric.square().sum((-2, -1)) / turned.square().sum((-2, -1)))
    return torch.stack(shares, dim=1)


def blind(width: int, runs: int, stream: Stream) -> Floats:
    """Return gap over squared movement ``(runs,)`` of orthogonal matrices after a Gaussian step.

    Its mean is ``(d - 1) (d + 2) / d^2`` for short steps: of the ``d^2`` directions of a step those
    count that turn into symmetric matrices of trace zero, twice.

    >>> blind(50, 2, Stream(0)).round(1)
    array([1., 1.])
    """
    w = sp.orthogonal().sample(width, width, stream.runs(runs))
    steps = torch.from_numpy(stream.numpy("steps").normal(size=w.shape, scale=1e-4))
    moved = steps.square().sum((-2, -1)) / width
    return np.asarray(sp.isometry_gap(w + steps) / moved)


def predicted_across(width: int, below: Any) -> Any:
    """Return what :func:`across` tends to, ``below`` layers under the last: ``2 q / (1 + q)``.

    With ``q = (1 - 2 / (d + 2))^below``. Why it is right for linear layers between orthogonal rows:
    from a layer to the one below, ``G W^T`` is turned by a rotation, and normalization sets its
    diagonal to zero. The diagonal of a turned symmetric matrix of trace zero has ``2 / (d + 2)`` of
    its squared length, on average; the rest of ``G W^T`` has none. Both parts are equal at first.

    >>> float(predicted_across(100, 0)), round(float(predicted_across(100, 100)), 2)
    (1.0, 0.24)
    """
    q = (1 - 2 / (width + 2)) ** np.asarray(below, dtype=float)
    return 2 * q / (1 + q)


def _gaps(net: sp.MLP, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    # Rows of a weight matrix are as good as its columns: the gap of a square one is that of both.
    gaps = [sp.isometry_gap(weight.detach().double()) for weight in _hidden(net)]
    return torch.stack(gaps, dim=1)


def _gradients(net: sp.MLP, x: torch.Tensor, y: torch.Tensor, batch: int) -> torch.Tensor:
    with torch.enable_grad():
        loss = cross_entropy(net(x[:, :batch]), y[:, :batch]).sum()
        gradients = torch.autograd.grad(loss, _hidden(net))
    norms = [torch.linalg.matrix_norm(gradient).double() for gradient in gradients]
    return torch.stack(norms, dim=1)


def _hidden(net: sp.MLP) -> list[torch.Tensor]:
    return [next(iter(block.parameters())) for block in net.hidden]


def _networks(setting: Setting, activation: str, depth: int) -> sp.MLP:
    gain, phi = shaped(setting.exponent), ACTIVATIONS[activation]

    def layers(index: int) -> list[Any]:
        return [sp.BatchNorm(eps=EPS), phi.gained(gain(index))]

    x = setting.data.x
    net = sp.MLP(
        x.shape[1],
        setting.width,
        depth,
        setting.data.classes,
        layers,
        weights=sp.orthogonal(),
        bias="none",
        seeds=range(setting.runs),
        stream=setting.stream.child("weights"),
    )
    return net.to(x.device)


def _model(group: sp.training.Group) -> sp.MLP:
    net = group.model
    assert isinstance(net, sp.MLP)
    return net
