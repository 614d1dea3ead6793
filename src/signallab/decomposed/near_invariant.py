"""Invariant representations, batches near them, and one layer on these (DEC Definition 12).

Batches hold points as rows ``(n, k)``, the columns of DEC's X; the odd point is row 0. A layer has
d neurons with weights of variance ``2 alpha / d``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln

from signalprop._arrays import Floats
from signalprop.theory import dec_invariant_radius

__all__ = ["from_mean", "images", "invariant", "moment", "relations", "spread_out"]


def invariant(n: int) -> Floats:
    """Return the invariant representation of DEC Definition 12 in the plane, ``(n, 2)``.

    >>> invariant(3)
    array([[1. , 0. ],
           [0. , 0.5],
           [0. , 0.5]])
    """
    if n < 2:
        raise ValueError(f"n must be at least 2 for a cluster beside the odd point, got {n}")
    x = np.zeros((n, 2))
    x[0, 0], x[1:, 1] = 1, 1 / (n - 1)
    return x


def spread_out(
    n: int,
    spread: float,
    rng: np.random.Generator,
    dimensions: int,
    radius: float | None = None,
) -> Floats:
    """Return ``(n, dimensions)``: :func:`invariant` with a cluster of Gaussian shape.

    The farthest point of the cluster is ``spread`` away from the centre of the cluster, which stays
    where it was. The odd point lies in its old direction from that centre, at the distance
    ``radius``, by default the old one. In one dimension the centre is the origin.

    >>> x = spread_out(5, 0.01, np.random.default_rng(0), 3, radius=2.0)
    >>> centre = x[1:].mean(axis=0)
    >>> float(np.linalg.norm(x[1:] - centre, axis=1).max().round(12))
    0.01
    """
    away = rng.normal(size=(n - 1, dimensions))
    away -= away.mean(axis=0)
    odd, centre = invariant(n)[:2] if dimensions > 1 else np.array([[1.0], [0.0]])
    line = (odd - centre) / np.linalg.norm(odd - centre)
    x = np.zeros((n, dimensions))
    x[:, : len(centre)] = centre
    x[0, : len(centre)] += line * (dec_invariant_radius(n) if radius is None else radius)
    if n > 2:  # one point alone has no spread
        x[1:] += spread * away / np.linalg.norm(away, axis=1).max()
    return x


def from_mean(x: Any) -> Any:
    """Return DEC's ``(n + 1, k)`` vectors from the batch mean: of all points, then of nu_c.

    >>> from_mean(invariant(2))
    array([[ 0.5, -0.5],
           [-0.5,  0.5],
           [-0.5,  0.5]])
    """
    return np.concatenate([x, x[1:].mean(axis=0, keepdims=True)]) - x.mean(axis=0)


def images(
    centred: Floats, alpha: float, width: int, runs: int, rng: np.random.Generator
) -> Floats:
    """Return ``ReLU(W x~)`` ``(runs, m, width)`` of vectors ``(m, k)`` from the mean, for drawn W.

    Recentring after the product is the product with what is recentred before.

    >>> images(np.eye(2), 1.0, 4, 3, np.random.default_rng(0)).shape
    (3, 2, 4)
    """
    w = rng.normal(scale=np.sqrt(2 * alpha / width), size=(runs, centred.shape[1], width))
    return np.maximum(centred @ w, 0)


def relations(x: Floats) -> Floats:
    """The four relations of DEC Definition 12 as numbers, ``(4,)``; they should be 1, 1, 0, 0.

    Squared norm of x_1, ``(n-1)^2`` times that of nu_c, ``n-1`` times their product and ``n-1``
    times the largest distance of a point of the cluster from nu_c.

    >>> relations(invariant(7)).round(12)
    array([1., 1., 0., 0.])
    """
    centre, m = x[1:].mean(axis=0), len(x) - 1
    away = np.linalg.norm(x[1:] - centre, axis=1).max()
    return np.array([x[0] @ x[0], m**2 * centre @ centre, m * x[0] @ centre, m * away])


def moment(width: int, power: float) -> float:
    """``E |ReLU(W u)|^p`` over ``(E |ReLU(W u)|^2)^(p/2)``, exactly, for ``width`` Gaussian rows.

    Right because each entry is positive with probability one half, and k positive ones have a norm
    with the law chi_k: the moments of chi_k are mixed with binomial weights.

    >>> round(moment(1, 1.0), 6), round(moment(5, 2.0), 12)  # the first is 1/sqrt(pi)
    (0.56419, 1.0)
    """
    k = np.arange(1, width + 1)
    chance = gammaln(width + 1) - gammaln(k + 1) - gammaln(width - k + 1) - width * np.log(2)
    chi = power / 2 * np.log(2) + gammaln((k + power) / 2) - gammaln(k / 2)
    return float(np.exp(chance + chi + power / 2 * np.log(2 / width)).sum())
