"""Angles and activity behind 30 layers with and without recentring: DEC, Figures 5 and 6.

States of networks are ``(runs, n, width)``, angles are in degrees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import scipy.optimize
import scipy.stats
import torch

import signalprop as sp
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "NORMS",
    "activity",
    "angles",
    "by_depth",
    "kept_gap",
    "limit_with",
    "limit_without",
    "mean_cosine",
    "medians",
    "states",
]


def _by_spread(h: torch.Tensor) -> torch.Tensor:
    """Divide each feature by its spread about its mean, the sigma of DEC Eq. 2, and no more."""
    return h / h.std(dim=-2, keepdim=True, correction=0)


#: What stands between product and ReLU, by name: Eq. 3, and two readings of it without the mean.
NORMS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "with recentring": sp.BatchNorm(),
    "root mean square": sp.BatchNorm(center=False),
    "spread about the mean": _by_spread,
    "recentring alone": sp.Recenter(),
}


def states(
    norm: str, x: Floats, width: int, layers: list[int], stream: Stream, *, relu: bool = True
) -> Floats:
    """Return the states of batches ``(runs, n, k)`` behind layers, ``(layers, runs, n, width)``.

    ``layers`` increase. With ``relu=False`` the networks are linear.
    """
    chain = sp.Chain(width, sp.he(), [NORMS[norm], *([torch.relu] if relu else [])])
    path = chain.run(x, max(layers), len(x), stream)
    found: Floats = path.states(layers).transpose(0, 1).numpy()
    return found


def angles(h: Floats) -> Floats:
    """Return the angles between all pairs of points, ``(..., pairs)`` for ``(..., n, width)``.

    >>> angles(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])).round(9)
    array([45., 90., 45.])
    """
    u = h / np.linalg.norm(h, axis=-1, keepdims=True)
    i, j = np.triu_indices(h.shape[-2], 1)
    cosines: Floats = (u @ u.swapaxes(-1, -2))[..., i, j]
    return np.degrees(np.arccos(np.clip(cosines, -1, 1)))


def medians(h: Floats) -> Floats:
    """Return the median angle of each run, ``(runs,)``."""
    middle: Floats = np.median(angles(h), axis=-1)
    return middle


def mean_cosine(h: Floats) -> Floats:
    """Return the mean cosine over all pairs, ``(...)`` for ``(..., n, width)``.

    Points that are zero, as deletion of neurons may leave them, are left out.

    >>> float(mean_cosine(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])).round(12))
    0.333333333333
    """
    lengths = np.linalg.norm(h, axis=-1, keepdims=True)
    u = np.divide(h, lengths, out=np.zeros_like(h), where=lengths > 0)
    there = (lengths > 0).sum(axis=(-2, -1))
    total = (u.sum(axis=-2) ** 2).sum(axis=-1)
    cosine: Floats = (total - there) / (there * (there - 1))
    return cosine


def by_depth(
    norm: str, x: Floats, width: int, depth: int, stream: Stream, every: int = 1
) -> pd.DataFrame:
    """Return norm, run, layer and median angle of networks."""
    layers = list(range(every, depth + 1, every))
    found = medians(states(norm, x, width, layers, stream))
    layer, run = np.indices(found.shape).reshape(2, -1)
    return pd.DataFrame(
        {
            "norm": norm,
            "run": run,
            "layer": np.array(layers)[layer],
            "median angle": found.ravel(),
        }
    )


def activity(h: Floats, quiet: float = 0.1) -> tuple[Floats, Floats]:
    """Return active and quiet share of each neuron, ``(runs, width)`` each.

    The share of inputs to which it responds at all, and of those with a response below ``quiet``
    times its largest. A neuron that never responds is quiet for all.

    >>> activity(np.array([[[0.0], [1.0], [20.0], [9.0]]]))
    (array([[0.75]]), array([[0.5]]))
    """
    active: Floats = (h > 0).mean(axis=-2)
    low = (h < quiet * h.max(axis=-2, keepdims=True)) | (h == 0)
    share: Floats = low.mean(axis=-2)
    return active, share


def kept_gap(
    without: Floats, recentred: Floats, share: float = 0.9, random: Stream | None = None
) -> Floats:
    """What is left of the gap in mean cosine, ``(runs,)``, once active neurons are deleted.

    Neurons that respond to ``share`` of the batch or more are set to zero in both networks, and the
    gap between them is divided by what it was. With ``random`` as many others are deleted instead,
    drawn from all.
    """
    after = []
    for name, h in (("without", without), ("recentred", recentred)):
        deleted = activity(h)[0] >= share
        if random is not None:
            rng = random.numpy(name)
            deleted = np.stack([rng.permutation(run) for run in deleted])
        after.append(mean_cosine(np.where(deleted[:, None, :], 0, h)))
    left: Floats = (after[0] - after[1]) / (mean_cosine(without) - mean_cosine(recentred))
    return left


def limit_with(n: int) -> float:
    """The common angle with recentring at infinite width and depth, for n points that are alike.

    >>> round(limit_with(10), 2)
    74.65
    """
    point = sp.limits.gram_fixed_point(sp.activations.relu, n)
    return float(np.degrees(np.arccos(point.off_diagonal / point.diagonal)))


def limit_without() -> float:
    """The same without recentring, divided by the root mean square, for very many points.

    The preactivations of a neuron are ``sqrt(c) u + sqrt(1 - c) e_i`` with normal u and e_i; over
    many points their mean square is ``c u^2 + 1 - c``. The cosine behind ReLU is an integral over
    u, and its fixed point c is found by bisection.

    >>> round(limit_without(), 2)
    58.75
    """
    u = np.linspace(-12, 12, 4001)
    weights = np.exp(-(u**2) / 2)

    def excess(c: float) -> float:
        mean, spread = np.sqrt(c) * u, np.sqrt(1 - c)
        above, at = scipy.stats.norm.cdf(mean / spread), scipy.stats.norm.pdf(mean / spread)
        first = mean * above + spread * at
        second = (mean**2 + spread**2) * above + mean * spread * at
        squares = weights / (mean**2 + spread**2)
        return float((squares * first**2).sum() / (squares * second).sum() - c)

    return float(np.degrees(np.arccos(scipy.optimize.brentq(excess, 0.01, 0.99))))
