"""How far the Gram matrices of networks are from G*: depth, width and batch size (MF 3.4.3).

The networks are those of MF Eq. 3.1. Errors are Frobenius distances to the G* of accurate
integration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signallab.meanfield.gram_recursion import activation, gram_of
from signallab.meanfield.plateau import plateau
from signalprop.limits import gram_fixed_point
from signalprop.random import Stream

__all__ = [
    "Networks",
    "below",
    "by_batch",
    "by_layer",
    "larger_later",
    "level",
    "neighbours",
    "plateau_exponents",
    "scaled_bound",
    "slopes_in_width",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Layers = int | tuple[int, int]
Bound = Callable[[int, int, int, float, float, float], float]


TOGETHER = 10  # runs that are simulated side by side
#: What is added to the eigenvalues of a Gram matrix, that of the linear network being singular:
#: noise of a millionth of a sample's size, which moves an error by far less than a run.
RIDGE = 1e-12


@dataclass(frozen=True)
class Networks:
    """Independent networks: how many, how deep, and the correlation of neighbouring samples.

    >>> Networks(2, 3, Stream(0), correlation=0.0).errors("relu", 4, 20).shape
    (2, 4)
    """

    runs: int
    depth: int
    stream: Stream
    correlation: float = 0.9

    def errors(self, name: str, n: int, width: int) -> Floats:
        """Return ``|G_l - G*|_F`` of every run and layer, ``(runs, depth + 1)``."""
        return _errors(self, name, n, width)


def neighbours(n: int, rho: float) -> sp.inputs.Input:
    """Return Gaussian samples in a row; two of them k places apart have correlation ``rho^k``.

    >>> neighbours(2, 0.9)(5, 3, Stream(0)).shape
    torch.Size([3, 2, 5])
    """
    places = np.arange(n)
    covariance = float(rho) ** np.abs(places[:, None] - places)
    root = torch.from_numpy(np.linalg.cholesky(covariance))
    plain = sp.inputs.gaussian_samples(n)
    return lambda width, runs, stream: root @ plain(width, runs, stream)


def by_layer(networks: Networks, names: Sequence[str], n: int, width: int) -> pd.DataFrame:
    """Return ``activation, run, layer, error``.

    >>> len(by_layer(Networks(2, 3, Stream(0)), ["relu"], 4, 20))
    8
    """
    frames = []
    for name in names:
        errors = networks.errors(name, n, width)
        run, layer = np.indices(errors.shape).reshape(2, -1)
        columns = {"activation": name, "run": run, "layer": layer, "error": errors.ravel()}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def by_batch(
    networks: Networks,
    names: Sequence[str],
    batches: Sequence[int],
    width: int,
    layers: Sequence[int],
) -> pd.DataFrame:
    """Return ``activation, samples, layer, run, error``.

    >>> len(by_batch(Networks(2, 3, Stream(0)), ["relu"], [3, 4], 20, [1, 3]))
    8
    """
    rows = [
        {"activation": name, "samples": n, "layer": layer, "run": run, "error": error}
        for name in names
        for n in batches
        for layer in layers
        for run, error in enumerate(networks.errors(name, n, width)[:, layer])
    ]
    return pd.DataFrame(rows)


def slopes_in_width(
    networks: Networks, name: str, n: int, widths: Sequence[int], layer: int
) -> Floats:
    """Return the slope of log error against log width at a layer, one a run.

    >>> slopes_in_width(Networks(3, 2, Stream(0)), "relu", 4, [20, 80], 2).shape
    (3,)
    """
    errors = np.stack([networks.errors(name, n, width)[:, layer] for width in widths])
    x = np.log(widths)
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    slopes: Floats = weights @ np.log(errors)
    return slopes


def scaled_bound(
    *,
    kappa: float = 1.0,
    logarithm: float = 1.0,
    rate: float = 1.0,
    samples: float = 1.0,
    width: float = 0.5,
) -> Bound:
    """Return the bound of MF Theorem 3.2 with the powers of its factors; 1 is as printed.

    The powers are those of the condition number, the logarithm, the decay with depth, the batch,
    and ``1/d`` (printed one half). As constants the first term has the distance at the start, the
    second 1.

    >>> round(scaled_bound()(100, 5, 2, 0.5, 2.0, 3.0), 4)
    5.4477
    """

    def bound(d: int, n: int, depth: int, alpha: float, condition: float, start: float) -> float:
        decay = start * (1 - alpha) ** (rate * depth / 2)
        noise = n**samples / d**width * math.sqrt(math.log(d / n) ** logarithm / alpha)
        return float(condition**kappa * (decay + noise))

    return bound


def below(networks: Networks, bound: Bound) -> Callable[..., Case]:
    """Return MF Theorem 3.2 as a statement: the error at a layer, one a run, against a bound.

    Points have ``name, n, width, layer``. The mixing rate is that of the linearized map,
    ``(1 - alpha)^(1/2) = eigenvalue``; the fixed point has to attract and not to be degenerate.

    >>> statement = below(Networks(5, 2, Stream(0)), scaled_bound())
    >>> bool(statement("relu", 4, 50, 2).left.mean() < statement("relu", 4, 50, 2).right)
    True
    """

    def statement(name: str, n: int, width: int, layer: int) -> Case:
        point = gram_fixed_point(activation(name), n)
        attracts = point.contraction < 1
        alpha = max(1 - point.contraction**2, 0.0) or math.nan
        errors, condition = networks.errors(name, n, width), point.condition_number
        return Case(
            errors[:, layer],
            bound(width, n, layer, alpha, condition, float(errors[:, 0].mean())),
            {"G* attracts": attracts, "G* is not degenerate": math.isfinite(condition)},
            words=f"{name}, {n} samples, width {width}, layer {layer}",
        )

    return statement


def larger_later(
    networks: Networks, name: str, first: tuple[int, int, Layers], second: tuple[int, int, Layers]
) -> Case:
    """The error at ``first = (n, width, layer)`` is larger than at ``second``: difference below 0.

    A layer may be a pair, both ends included, over which each run's error is averaged.

    >>> networks = Networks(20, 8, Stream(0))
    >>> bool(larger_later(networks, "relu", (4, 200, 0), (4, 200, 8)).left.mean() < 0)
    True
    """
    before, after = (
        _averaged(networks.errors(name, n, width), at) for n, width, at in (first, second)
    )
    words = f"{name}, from (samples, width, layer) = {first} to {second}"
    return Case(after - before, 0.0, words=words)


def _averaged(errors: Floats, layers: Layers) -> Floats:
    """One number a run, from ``(runs, layers)``."""
    first, last = layers if isinstance(layers, tuple) else (layers, layers)
    mean: Floats = errors[:, first : last + 1].mean(axis=1)
    return mean


def level(
    networks: Networks, names: Sequence[str], batches: Sequence[int], width: int, samples: int
) -> Floats:
    """Return ``d |G_l - G*|^2`` at the last layer over its prediction: ``(runs, cases)``.

    >>> level(Networks(4, 5, Stream(0)), ["relu"], [4, 5], 50, 100).shape
    (4, 2)
    """
    columns = []
    for name in names:
        for n in batches:
            predicted = plateau(name, n, math.inf, samples, networks.stream) ** 2
            columns.append(width * networks.errors(name, n, width)[:, -1] ** 2 / predicted)
    return np.stack(columns, axis=1)


def plateau_exponents(
    names: Sequence[str], batches: Sequence[int], samples: int, repeats: int, stream: Stream
) -> Floats:
    """Return the slopes of the logarithm of the plateau against that of the batch.

    Shape ``(repeats, activations)``; every repeat has a sample of its own for the noise.

    >>> plateau_exponents(["tanh"], [5, 10], 100, 2, Stream(0)).shape
    (2, 1)
    """
    x = np.log(batches)
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    values = [
        [
            [plateau(name, n, math.inf, samples, stream.child("exponent", k)) for n in batches]
            for name in names
        ]
        for k in range(repeats)
    ]
    slopes: Floats = np.log(values) @ weights
    return slopes


@cache
def _errors(networks: Networks, name: str, n: int, width: int) -> Floats:
    """All errors from one pass, a few runs at a time, which then fit into the cache."""
    goal = gram_fixed_point(activation(name), n).matrix()
    draw = networks.stream.child("errors", name, n, width)
    x = neighbours(n, networks.correlation)(width, networks.runs, draw.child("inputs"))
    generators = draw.child("weights").runs(networks.runs)
    parts = [slice(k, k + TOGETHER) for k in range(0, networks.runs, TOGETHER)]
    errors = [_distances(name, goal, x[p], generators[p], networks.depth) for p in parts]
    return np.concatenate(errors)


def _distances(
    name: str,
    goal: Floats,
    h: torch.Tensor,
    generators: Sequence[np.random.Generator],
    depth: int,
) -> Floats:
    """``|G_l - goal|_F`` of the chain ``h -> W phi(BN(h))`` from ``h``: ``(runs, depth + 1)``.

    Given G the columns of the next h are independent ``N(0, G)``, since ``W`` has variance ``1/d``.
    So the matrix by which a layer is measured is also all that the next one needs: activations are
    taken once a layer, and no matrix of the width is decomposed.
    """
    gram, target, errors = gram_of(name), torch.from_numpy(goal), []
    ridge = RIDGE * torch.eye(h.shape[-2], dtype=h.dtype)
    noise = np.empty(h.shape)
    for layer in range(depth + 1):
        g = gram(h)
        errors.append(torch.linalg.matrix_norm(g - target).numpy())
        if layer < depth:
            for run, generator in zip(noise, generators, strict=True):
                generator.standard_normal(out=run)
            h = torch.linalg.cholesky(g + ridge) @ torch.from_numpy(noise)
    return np.stack(errors, axis=1)
