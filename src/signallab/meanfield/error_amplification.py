"""The distance to the limit of infinite width, with batch normalization and without (MF-F3.1).

Without normalization and for linear activation every Gram matrix is fixed by the recursion at
infinite width, so that G* is the input's, ``G_0``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.meanfield.error_depth_width_batch import neighbours
from signallab.meanfield.gram_recursion import activation, chain, deviation
from signalprop import theory
from signalprop.limits import gram_fixed_point
from signalprop.random import Stream

__all__ = [
    "Batch",
    "comparison",
    "grows",
    "linear_errors",
    "mean_square",
    "normalized_errors",
    "stays",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Batch:
    """Samples in a row and networks of a width: the setting of Fig. 3.1.

    >>> Batch(3, 20, 5, 2, Stream(0)).correlation
    0.9
    """

    n: int
    width: int
    depth: int
    runs: int
    stream: Stream
    correlation: float = 0.9


def linear_errors(batch: Batch) -> Floats:
    """Return ``|G_l - G_0|_F`` without normalization, ``(runs, depth + 1)``, ``G = h^T h / d``.

    >>> linear_errors(Batch(3, 20, 5, 2, Stream(0)))[:, 0]
    array([0., 0.])
    """
    return _linear(batch)[0]


def normalized_errors(batch: Batch, name: str) -> Floats:
    """Return ``|G_l - G*|_F`` with batch normalization, ``(runs, depth + 1)``.

    >>> normalized_errors(Batch(3, 20, 5, 2, Stream(0)), "relu").shape
    (2, 6)
    """
    return _normalized(batch, name)


def comparison(batch: Batch, names: list[str]) -> pd.DataFrame:
    """Return ``network, run, layer, error`` with and without normalization.

    >>> len(comparison(Batch(3, 20, 5, 2, Stream(0)), ["relu"]))
    24
    """
    curves = {"no normalization, linear": linear_errors(batch)}
    curves |= {f"batch norm, {name}": normalized_errors(batch, name) for name in names}
    frames = []
    for network, errors in curves.items():
        run, layer = np.indices(errors.shape).reshape(2, -1)
        columns = {"network": network, "run": run, "layer": layer, "error": errors.ravel()}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def grows(batch: Batch, first: int, second: int, factor: float = 1.0) -> Case:
    """Without normalization ``factor`` times the error at one layer is below that at a later one.

    >>> grows(Batch(3, 50, 9, 30, Stream(0)), 1, 9).left.shape
    (30,)
    """
    errors = linear_errors(batch)
    words = f"width {batch.width}, layers {first} and {second}"
    return Case(factor * errors[:, first] - errors[:, second], 0.0, words=words)


def stays(
    batch: Batch, name: str, first: tuple[int, int], second: tuple[int, int], factor: float = 1.1
) -> Case:
    """With batch normalization the error is below ``factor`` times what it was at earlier layers.

    ``first`` and ``second`` are ranges of layers, both ends included, over which each run's error
    is averaged.

    >>> stays(Batch(3, 50, 9, 30, Stream(0)), "relu", (3, 5), (6, 9)).right
    0.0
    """
    errors = normalized_errors(batch, name)
    before, after = (errors[:, a : b + 1].mean(axis=1) for a, b in (first, second))
    words = f"{name}, width {batch.width}, layers {first} and {second}"
    return Case(after - factor * before, 0.0, words=words)


def mean_square(batch: Batch, layer: int) -> tuple[Floats, float]:
    """Return ``|G_l - G_0|^2`` of every run over its exact mean given G_0, and that mean's average.

    The mean follows from the moments of Wishart products, from each run's own input.

    >>> mean_square(Batch(3, 50, 9, 4, Stream(0)), 9)[0].shape
    (4,)
    """
    errors, starts = _linear(batch)
    expected = []
    for gram in starts:
        square, trace = float(np.sum(gram**2)), float(np.trace(gram))
        moments = theory.mf_linear_moments(square, trace**2, batch.width, layer)
        expected.append(moments[layer, 0] - moments[0, 0])
    quotients: Floats = errors[:, layer] ** 2 / np.array(expected)
    return quotients, float(np.mean(expected))


def _plain(batch: Batch) -> sp.Path:
    x = neighbours(batch.n, batch.correlation)
    return sp.Chain(batch.width).run(x, batch.depth, batch.runs, batch.stream.child("plain"))


@cache
def _linear(batch: Batch) -> tuple[Floats, Floats]:
    grams = _plain(batch).measure(lambda h: h @ h.mT / h.shape[-1]).values
    errors: Floats = np.linalg.norm(grams - grams[:, :1], axis=(2, 3))
    return errors, grams[:, 0]


@cache
def _normalized(batch: Batch, name: str) -> Floats:
    goal = gram_fixed_point(activation(name), batch.n).matrix()
    x = neighbours(batch.n, batch.correlation)
    draw = batch.stream.child("normalized", name)
    path = chain(name, batch.width).run(x, batch.depth, batch.runs, draw)
    errors: Floats = path.measure(deviation(name, goal)).values
    return errors
