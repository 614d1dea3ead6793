"""Gradients of the last layer when its input has rank one: RANK Proposition 8.

``H`` ``(d, n)`` holds the pre-activations of the last hidden layer, a column for each sample; of
rank one it is ``u v^T``. The features are ``F(H)``, and the outputs ``W F(H)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop.random import Stream

__all__ = [
    "ACTIVATIONS",
    "FAMILIES",
    "alignment_by_side",
    "alignment_is_one",
    "features_are_multiples",
    "gradients_are_multiples",
    "mean_alignment",
    "misalignment_of_network",
    "networks",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]

ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "identity": lambda h: h,
    "relu": torch.relu,
}

#: Matrices ``(d, n, generator) -> (d, n)``, of rank one but for the last.
FAMILIES: dict[str, Callable[[int, int, np.random.Generator], Floats]] = {
    "samples of one sign": lambda d, n, rng: np.outer(rng.normal(size=d), _positive(n, rng)),
    "units of one sign": lambda d, n, rng: np.outer(_positive(d, rng), _both_signs(n, rng)),
    "no sign restricted": lambda d, n, rng: np.outer(rng.normal(size=d), _both_signs(n, rng)),
    "one sample zero": lambda d, n, rng: np.outer(
        rng.normal(size=d), np.append(_positive(n - 1, rng), 0.0)
    ),
    "rank two": lambda d, n, rng: (
        np.outer(rng.normal(size=d), _positive(n, rng))
        + np.outer(rng.normal(size=d), _positive(n, rng))
    ),
}


def features_are_multiples(
    activation: str, family: str, d: int, n: int, draws: int, stream: Stream
) -> Case:
    """ "For any i, j there is alpha with F(H_i) = alpha F(H_j)": the worst rest, and rounding.

    The rest is ``F(H_i)`` minus its projection on ``F(H_j)``, relative to ``F(H_i)``: zero if they
    are multiples, one if ``F(H_j)`` is zero and ``F(H_i)`` is not.
    """
    worst = 0.0
    for f in _features(activation, family, d, n, draws, stream):
        squares = np.sum(f * f, axis=0)
        alpha = np.divide(f.T @ f, squares, out=np.zeros((n, n)), where=squares > 0)
        rest = f[:, :, None] - f[:, None, :] * alpha  # of sample i (axis 1) beside j (axis 2)
        sizes = np.where(squares > 0, np.sqrt(squares), 1)
        worst = max(worst, float((np.linalg.norm(rest, axis=0) / sizes[:, None]).max()))
    return Case(worst, 1e-9, words=f"F = {activation}, {family}")


def gradients_are_multiples(
    activation: str,
    family: str,
    d: int,
    n: int,
    outputs: int,
    draws: int,
    stream: Stream,
    *,
    with_losses: bool = True,
) -> Case:
    """Eq. 13: gradients of single samples by autograd, and the multiples of that of sample 0.

    Cross-entropy with random labels; ``alpha_i0`` is the ratio of the inner products of both
    features with those of sample 0. ``with_losses=False`` leaves out the loss derivatives.
    """
    pairs = []
    for f in _features(activation, family, d, n, draws, stream):
        draw = stream.numpy("labels", activation, family)
        labels = torch.from_numpy(draw.integers(outputs, size=n))
        weights = torch.from_numpy(draw.normal(size=(outputs, d))).requires_grad_()
        columns = torch.from_numpy(f).T
        gradients, derivatives = [], []
        for x, y in zip(columns, labels, strict=True):
            z = weights @ x
            loss = torch.nn.functional.cross_entropy(z[None], y[None])
            gradient, derivative = torch.autograd.grad(loss, (weights, z))
            gradients.append(gradient.numpy())
            derivatives.append(derivative.numpy())
        alpha = (f.T @ f[:, 0]) / (f[:, 0] @ f[:, 0])
        slope = np.array(derivatives)
        factor = alpha[:, None] * (slope / slope[0] if with_losses else 1)
        pairs.append((np.array(gradients), factor[..., None] * gradients[0]))
    left, right = np.array(pairs).swapaxes(0, 1)
    return Case(left, right, words=f"F = {activation}, {family}")


def mean_alignment(side: int, n: int, d: int, draws: int, stream: Stream) -> Floats:
    """Return the mean ``|cos|`` of the ReLU features of random ``u v^T``, ``(draws,)``.

    ``side`` of the n entries of v are positive, the others negative.
    """
    draw = stream.numpy("side", side, n)
    signs = np.where(np.arange(n) < side, 1.0, -1.0)
    v = signs * np.abs(draw.normal(size=(draws, n)))
    h = draw.normal(size=(draws, d, 1)) * v[:, None]
    features = torch.from_numpy(np.maximum(h, 0).swapaxes(-1, -2))
    values: Floats = sp.metrics.gradient_alignment(features).numpy()
    return values


def alignment_is_one(
    side: int,
    n: int,
    d: int,
    draws: int,
    stream: Stream,
    *,
    law: Callable[[int, int], float] = lambda side, n: 1.0,
) -> Case:
    """The mean alignment of each draw, and ``law(side, n)``; Proposition 8 has 1."""
    values = mean_alignment(side, n, d, draws, stream)
    words = f"{side} of {n} samples on one side"
    return Case(values, np.full(draws, law(side, n)), words=words)


def alignment_by_side(n: int, d: int, draws: int, stream: Stream) -> pd.DataFrame:
    """Return ``share on one side, measured, closed form, Proposition 8``."""
    sides = np.arange(n // 2, n + 1)
    return pd.DataFrame(
        {
            "share on one side": sides / n,
            "measured": [mean_alignment(int(k), n, d, draws, stream).mean() for k in sides],
            "closed form": theory.rank_one_alignment(sides, n),
            "Proposition 8": 1.0,
        }
    )


def networks(
    width: int,
    n: int,
    layers: Iterable[int],
    runs: int,
    stream: Stream,
    *,
    weights: Callable[[], sp.Law] = sp.he,
) -> pd.DataFrame:
    """Return ``layer, run, alignment, pairs on one side`` of plain ReLU networks.

    The layer has pre-activations ``H = W relu(...)``. Alignment is the mean ``|cos|`` of its ReLU
    features; a pair is on one side if the inner product of its columns of H is positive.
    """
    recorded = list(layers)
    net = sp.Chain(width, weights(), before=[torch.relu], layers=[sp.FrobeniusNorm()])
    path = net.run(sp.inputs.gaussian_samples(n), max(recorded), runs, stream.child("networks"))
    states = path.states(recorded)
    alignment = sp.metrics.mean_absolute_cosine(torch.relu(states)).numpy()
    cosines = sp.metrics.cosine_similarity(states).numpy()
    above = np.triu_indices(n, 1)
    same = (cosines[..., above[0], above[1]] > 0).mean(axis=-1)
    run, at = (index.ravel() for index in np.indices(alignment.shape))
    return pd.DataFrame(
        {
            "layer": np.array(recorded)[at],
            "run": run,
            "alignment": alignment.ravel(),
            "pairs on one side": same.ravel(),
        }
    )


def misalignment_of_network(found: pd.DataFrame, layer: int, *, level: float = 0.01) -> Case:
    """One minus the alignment of each run at a layer, and ``level``."""
    values = found.loc[found["layer"] == layer, "alignment"].to_numpy()
    return Case(1 - values, level, words=f"layer {layer}")


def _features(
    activation: str, family: str, d: int, n: int, draws: int, stream: Stream
) -> Iterable[Floats]:
    draw = stream.numpy("features", family, d, n)
    for _ in range(draws):
        h = torch.from_numpy(FAMILIES[family](d, n, draw))
        yield ACTIVATIONS[activation](h).numpy()


def _positive(n: int, rng: np.random.Generator) -> Floats:
    return np.abs(rng.normal(size=n))


def _both_signs(n: int, rng: np.random.Generator) -> Floats:
    """Normal entries, the first positive and the second negative."""
    v: Floats = rng.normal(size=n)
    v[0], v[1] = abs(v[0]), -abs(v[1])
    return v
