"""Activity after many recentred layers, and networks that start with one neuron per data point.

DEC's Discussion. Batches hold points as rows ``(..., n, k)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch.nn import functional

import signalprop as sp
from signallab.case import Case
from signalprop._arrays import Floats
from signalprop.initializers import isolable, one_neuron_per_point
from signalprop.random import Stream

__all__ = [
    "STARTS",
    "activity",
    "around",
    "diagonal",
    "isolated",
    "network",
    "numbers",
    "samples",
    "silent",
    "trained",
]


def activity(
    x: Floats, width: int, depth: int, stream: Stream, *, rescale: bool = False, every: int = 10
) -> pd.DataFrame:
    """Return layer, run and :func:`numbers` of networks with recentring and ReLU, a row a record.

    ``x`` is ``(runs, n, k)``. With ``rescale`` each neuron is divided by its standard deviation.
    Scale plays no part otherwise: each layer is divided by its norm. Exact in law: the products
    of a layer are Gaussian with the Gram matrix of its inputs, which a QR factor has too.

    >>> x = np.random.default_rng(0).normal(size=(2, 5, 3))
    >>> activity(x, 8, 20, Stream(0))[["layer", "run"]].values.tolist()
    [[10, 0], [10, 1], [20, 0], [20, 1]]
    """
    rng = stream.numpy("layers", width, int(rescale))
    y, rows = x.swapaxes(1, 2), []
    for layer in range(1, depth + 1):
        factor = np.linalg.qr(y - y.mean(axis=2, keepdims=True)).R
        z = rng.normal(size=(len(x), width, factor.shape[1])) @ factor
        if rescale:
            z /= z.std(axis=2, keepdims=True)
        y = np.maximum(z, 0)
        y /= np.linalg.norm(y, axis=(1, 2), keepdims=True)
        if layer % every == 0:
            rows += [{"layer": layer, "run": run} | numbers(y[run]) for run in range(len(x))]
    return pd.DataFrame(rows)


def numbers(y: Floats) -> dict[str, float]:
    """Say how the responses ``(d, n)`` of a layer are distributed; the odd point is the longest.

    - "others": the largest response to another point over the largest to the odd one;
    - "longest but one": the same with the second longest point in the place of the odd one;
    - "strong": share of neurons whose response to the odd point exceeds ten medians of all
      positive responses;
    - "on for most": share of neurons that are positive at nine tenths of the points;
    - "on": share of positive responses.

    >>> found = numbers(np.array([[4.0, 0.0, 0.0], [0.0, 0.2, 0.2]]))
    >>> found["others"], found["strong"], found["on"]
    (0.05, 0.5, 0.5)
    """
    order = np.argsort(np.linalg.norm(y, axis=0))
    odd, second = y[:, order[-1]], y[:, order[-2]]
    rest = np.delete(y, order[-1], axis=1).max()
    without = np.delete(y, order[-2], axis=1).max()
    return {
        "others": float(rest / odd.max()),
        "longest but one": float(without / second.max()),
        "strong": float((odd > 10 * np.median(y[y > 0])).mean()),
        "on for most": float(((y > 0).mean(axis=1) >= 0.9).mean()),
        "on": float((y > 0).mean()),
    }


def diagonal(x: Floats, threshold: str = "half-way to the next") -> Case:
    """Which neurons are on for which points ``(n, n)``, one neuron a point; and the identity.

    Points ``(n, k)`` are centred and brought to norm one. A rival ``threshold`` is "half of the own
    product", which forgets the other points.

    >>> diagonal(np.random.default_rng(0).normal(size=(2, 3))).left
    array([[ True, False],
           [False,  True]])
    """
    unit = x - x.mean(axis=0)
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    w, b = one_neuron_per_point(unit) if threshold.startswith("half-way") else (2 * unit, -1.0)
    words = f"{len(x)} points in R^{x.shape[1]}"
    return Case(unit @ w.T + b > 0, np.eye(len(x), dtype=bool), words=words)


def around(n: int, rng: np.random.Generator) -> Floats:
    """Return n points around the circle ``(n, 2)``, none closer to the next than half the mean.

    >>> around(4, np.random.default_rng(0)).shape
    (4, 2)
    """
    angle = 2 * np.pi * (np.arange(n) + rng.uniform(0, 0.5, size=n)) / n
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def isolated(n: int, dimensions: Sequence[int], stream: Stream) -> pd.DataFrame:
    """Of n Gaussian points, how many a half-space can cut off alone: as they are, and on a sphere.

    >>> isolated(20, [2], Stream(0))["on a sphere"].tolist()
    [20]
    """
    rows = []
    for k in dimensions:
        x: Any = stream.numpy("isolated", k).normal(size=(n, k))
        unit = x / np.linalg.norm(x, axis=1, keepdims=True)
        counts = [int(isolable(points).sum()) for points in (x, unit)]
        rows.append({"dimension": k, "points": n, "as drawn": counts[0], "on a sphere": counts[1]})
    return pd.DataFrame(rows)


def samples(name: str, pixels: int, n: int, tests: int, rng: np.random.Generator) -> Any:
    """Return training and test points ``(n, k)``, ``(tests, k)`` with labels, as four tensors.

    Images are averaged to ``pixels x pixels``; the mean training image is taken off, and all points
    get the norm ``sqrt(k)``.
    """
    images, labels = sp.data.load(name, count=12_000)
    chosen = torch.from_numpy(rng.permutation(len(images))[: n + tests])
    x = functional.adaptive_avg_pool2d(images[chosen], pixels).flatten(1).double()
    x = x - x[:n].mean(dim=0)
    x = x * x.shape[1] ** 0.5 / x.norm(dim=1, keepdim=True)
    y = labels[chosen]
    return x[:n], y[:n], x[n:], y[n:]


#: The response of a neuron to its own point, as a power of n. None stands for He's weights.
STARTS = {"He": None, "own response 1": 0.0, "own response as long as He's": 0.5}


def network(x: torch.Tensor, start: str, seeds: Sequence[int], stream: Stream) -> sp.MLP:
    """Return networks with one hidden layer of n neurons for points ``(n, k)``, head at zero.

    "He" draws the hidden weights; other :data:`STARTS` have a neuron for each point, whose response
    is 1 or the root of n (the length that n neurons of He's give).

    >>> x = torch.eye(3, dtype=torch.float64) * 3**0.5
    >>> net = network(x, "own response 1", [0], Stream(0))
    >>> net.features(x.float()).detach().round(decimals=4)
    tensor([[[1., 0., 0.],
             [0., 1., 0.],
             [0., 0., 1.]]])
    """
    net = sp.MLP(
        x.shape[1], len(x), 1, 10, weights=sp.he(), bias="zero", seeds=seeds, stream=stream
    )
    power = STARTS[start]
    hidden: Any = net.hidden[0]
    with torch.no_grad():
        net.head.weight.zero_()
        if power is not None:
            w, b = one_neuron_per_point(x)
            hidden[0].weight.copy_(w * len(x) ** power)
            hidden[0].bias.copy_(b * len(x) ** power)
    return net


def silent(x: torch.Tensor, x_test: torch.Tensor, stream: Stream) -> dict[str, float]:
    """Return, by start, the share of test points at which no hidden neuron is on before training.

    >>> x = torch.eye(3, dtype=torch.float64) * 3**0.5
    >>> silent(x, -x, Stream(0))["own response 1"]
    1.0
    """
    found = {}
    for start in STARTS:
        features = network(x, start, [0], stream).features(x_test.float())
        found[start] = float((features.amax(dim=-1) <= 0).float().mean())
    return found


def trained(
    name: str,
    pixels: int,
    n: int,
    tests: int,
    rates: Sequence[float],
    steps: int,
    runs: int,
    stream: Stream,
) -> pd.DataFrame:
    """Train every start on n points; a row a run, start and rate.

    "steps" counts those to full training accuracy, recorded every epoch of n/20 steps (NaN if it is
    not reached), "test accuracy" is that at the end.
    """
    rows = []
    for run in range(runs):
        x, y, x_test, y_test = samples(name, pixels, n, tests, stream.numpy(name, run))
        groups = [sp.training.grid(s, partial(_seeded, x, s, stream), [run], rates) for s in STARTS]
        recipe = sp.training.Recipe(steps, 20, record_every=n // 20)
        histories = sp.training.train(groups, x.float(), y, recipe, seed=stream)
        for group in groups:
            history = histories[group.name]
            labels = y_test.expand(len(rates), -1)
            with torch.no_grad():
                score = sp.training.METRICS["accuracy"](
                    group.model, x_test.float().expand(len(rates), -1, -1), labels
                )
            full = history.values["accuracy"] >= 1
            first = np.where(full.any(axis=0), history.steps[full.argmax(axis=0)], np.nan)
            for rate, step, test in zip(rates, first, score.tolist(), strict=True):
                rows.append((name, group.name, rate, run, float(step), test))
    columns = ["data", "start", "rate", "run", "steps", "test accuracy"]
    return pd.DataFrame(rows, columns=columns)


def _seeded(x: torch.Tensor, start: str, stream: Stream, seeds: list[int]) -> sp.MLP:
    return network(x, start, seeds, stream)
