"""DEC Definition 12 and Theorem 13: what one layer keeps of an odd point and a cluster.

Expectations over Gaussian weights come from quadrature, which knows no closed form, or from drawn
weights; the document's numbers stand on the other side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import torch

from signallab.case import Case
from signallab.decomposed.near_invariant import from_mean, images, invariant, relations
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.limits import gaussian_expectation
from signalprop.random import Stream

__all__ = [
    "centred_geometry",
    "definition",
    "drawn",
    "expected_relations",
    "gains",
    "over_depth",
    "relu_moment",
    "same_gain",
    "squared_norm",
    "squared_norms",
    "theorem_13",
]


def definition(n: int, radius: Any = theory.dec_invariant_radius, line: bool = False) -> Case:
    """DEC Definition 12: the four relations of the batch constructed, and R beside ``radius``.

    ``line`` folds the plane of the batch to a line: one dimension is too few.

    >>> definition(2).left.round(6)
    array([1.      , 1.      , 0.      , 0.      , 1.414214])
    """
    x = invariant(n)
    if line:
        x = x.sum(axis=1, keepdims=True)
    apart = np.linalg.norm(x[0] - x[1:].mean(axis=0))
    return Case(
        np.array([*relations(x), apart]), np.array([1, 1, 0, 0, radius(n)]), words=f"n = {n}"
    )


def relu_moment(scale: float, power: int) -> float:
    """``E ReLU(scale Z)^power`` for standard normal Z, by quadrature.

    >>> round(relu_moment(3.0, 2), 12)
    4.5
    """
    return gaussian_expectation(lambda z: torch.relu(scale * z) ** power, [0.0])


def squared_norm(
    x: Sequence[float], width: int, sigma: float, factor: float = 0.5, power: int = 2
) -> Case:
    """DEC Eq. 98: ``E |ReLU(W x)|^2`` by quadrature beside ``factor d sigma^power |x|^power``.

    >>> case = squared_norm([3.0, 4.0], 2, 1.0)
    >>> round(case.left, 12), case.right
    (25.0, 25.0)
    """
    size = float(np.linalg.norm(x))
    left = width * relu_moment(sigma * size, 2)
    return Case(left, factor * width * (sigma * size) ** power, words=f"d = {width}")


def squared_norms(points: Sequence[dict[str, Any]], runs: int, stream: Stream) -> Floats:
    """Return ``|ReLU(W x)|^2`` ``(runs, points)`` for drawn W: points as in :func:`squared_norm`.

    >>> squared_norms([{"x": [1.0, 0.0], "width": 2, "sigma": 1.0}], 5, Stream(0)).shape
    (5, 1)
    """
    columns = []
    for i, point in enumerate(points):
        alpha = point["sigma"] ** 2 * point["width"] / 2
        rng = stream.numpy("squared norms", i)
        y = images(np.array([point["x"]]), alpha, point["width"], runs, rng)
        columns.append((y[:, 0] ** 2).sum(axis=1))
    return np.stack(columns, axis=1)


def centred_geometry(n: int, square: Callable[[int], Any] = lambda n: n**2 - 2 * n + 2) -> Case:
    """DEC (99) to (104) in fractions: both vectors from the mean, squared norms and their cosine.

    ``square`` over n^2 is the squared norm printed for the odd point. The cosine of two vectors is
    -1 exactly if their product is minus the product of lengths: squares are compared, with a sign.

    >>> case = centred_geometry(3)
    >>> case.left[:4]
    array([ 0.66666667, -0.33333333, -0.33333333,  0.16666667])
    """
    one, zero, small = Fraction(1), Fraction(0), Fraction(1, n - 1)
    x = np.array([[one, zero]] + [[zero, small]] * (n - 1), dtype=object)
    mean = x.sum(axis=0) / n
    odd, centre = x[0] - mean, x[1] - mean
    a, b, ab = odd @ odd, centre @ centre, odd @ centre
    left = [*odd, *centre, a, b, ab * abs(ab) / (a * b)]
    right = [Fraction(n - 1, n), Fraction(-1, n), Fraction(-1, n), Fraction(1, n * (n - 1))]
    right += [Fraction(square(n), n**2), Fraction(square(n), n**2 * (n - 1) ** 2), Fraction(-1)]
    return Case(np.array(left, dtype=float), np.array(right, dtype=float), words=f"n = {n}")


def gains(n: int, alpha: Callable[[int], Any] = theory.dec_theorem_13_alpha) -> Case:
    """DEC (107) and (110): ``alpha |x~|^2`` for the odd point and the centre: 1, ``1/(n-1)^2``.

    >>> gains(4).left.round(12)
    array([1.        , 0.11111111])
    """
    squares = (from_mean(invariant(n))[[0, n]] ** 2).sum(axis=1)
    return Case(alpha(n) * squares, np.array([1, 1 / (n - 1) ** 2]), words=f"n = {n}")


def same_gain(n: int, radius: Any = theory.dec_invariant_radius) -> Case:
    """The gain of Theorem 14 at the R of an invariant representation is that of Theorem 13.

    >>> case = same_gain(5)
    >>> round(case.left, 12) == round(case.right, 12)
    True
    """
    left = theory.dec_theorem_14_alpha(n, radius(n))
    return Case(float(left), float(theory.dec_theorem_13_alpha(n)), words=f"n = {n}")


def theorem_13(
    n: int,
    width: int,
    of: str = "the matrix",
    alpha: Callable[[int], Any] = theory.dec_theorem_13_alpha,
) -> Case:
    """DEC Theorem 13: the relations of Definition 12 after a layer, beside 1, 1, 0, 0.

    ``of`` is "the matrix" (they are asked of the mean ``E[X^(t+1)]``, as printed) or "the squares"
    (of the means of squared norms and products). Each row of W adds the same, by quadrature.

    >>> theorem_13(3, 1).left.round(4), theorem_13(3, 1, of="the squares").left.round(12)
    (array([0.3183, 0.3183, 0.3183, 0.    ]), array([1., 1., 0., 0.]))
    """
    x, gain = invariant(n), float(alpha(n))
    if of == "the matrix":
        sizes = np.sqrt(2 * gain / width) * np.linalg.norm(x - x.mean(axis=0), axis=1)
        means = np.array([[relu_moment(float(size), 1)] for size in sizes])
        left = relations(np.repeat(means, width, axis=1))
    else:
        left = np.array([*expected_relations(x, gain, width), 0])
    return Case(left, np.array([1, 1, 0, 0]), words=f"n = {n}, {width} neurons")


def expected_relations(x: Floats, alpha: float, width: int) -> Floats:
    """Return the means, after a layer, of the first three relations of Definition 12, ``(3,)``.

    For any batch ``(n, k)`` and its centre nu_c; each row of W adds the same, by quadrature. The
    mean of the batch lies between x_1 and nu_c: one Gaussian, with two signs, is behind both.

    >>> expected_relations(invariant(5), 1.0, 3).round(12)
    array([0.68, 0.68, 0.  ])
    """
    m, centred = len(x) - 1, from_mean(x)[[0, -1]]
    odd, centre = np.sqrt(2 * alpha / width) * np.linalg.norm(centred, axis=1)
    sign = float(np.sign(centred[0] @ centred[1]))
    product = gaussian_expectation(
        lambda z: torch.relu(odd * z) * torch.relu(sign * centre * z), [0.0]
    )
    squares = [relu_moment(float(odd), 2), m**2 * relu_moment(float(centre), 2)]
    return width * np.array([*squares, m * product])


def drawn(n: int, width: int, runs: int, stream: Stream) -> Floats:
    """Return the relations of Definition 12 after a layer with drawn W, ``(runs, 4)``.

    The points of the cluster coincide before the layer: one stands for all.

    >>> drawn(4, 8, 3, Stream(0))[:, 2:]
    array([[0., 0.],
           [0., 0.],
           [0., 0.]])
    """
    rng = stream.numpy("layer", n, width)
    alpha = float(theory.dec_theorem_13_alpha(n))
    y = images(from_mean(invariant(n))[[0, 1, n]], alpha, width, runs, rng)
    odd, cluster, centre = y[:, 0], y[:, 1], y[:, 2]
    away = np.linalg.norm(cluster - centre, axis=-1)
    squares = [(odd**2).sum(axis=1), (n - 1) ** 2 * (centre**2).sum(axis=1)]
    product = (n - 1) * (odd * centre).sum(axis=1)
    return np.stack([*squares, product, (n - 1) * away], axis=1)


def over_depth(n: int, width: int, depth: int, runs: int, stream: Stream) -> pd.DataFrame:
    """Mean and median of ``|x_1|^2`` over ``runs`` networks from an invariant representation.

    Each layer has the gain of Theorem 13. With A and B the sums of ``2/d`` times the squares of
    the positive and of the negative entries of a standard normal vector, a layer makes
    ``alpha ((n-1) R/n)^2 A`` of ``|x_1|^2`` and ``alpha (R/n)^2 B`` of ``|nu_c|^2``: all that it
    sees of the two points is R, and no weights need to be drawn.

    >>> over_depth(3, 20, 4, 10, Stream(0)).columns.tolist()
    ['layer', 'over networks', 'width', 'squared norm']
    """
    rng, alpha = stream.numpy("depth", n, width), float(theory.dec_theorem_13_alpha(n))
    odd, centre = np.ones(runs), np.full(runs, (n - 1.0) ** -2)
    rows = []
    for layer in range(depth + 1):
        found = {"mean": odd.mean(), "median": np.median(odd)}
        rows += [(layer, name, width, value) for name, value in found.items()]
        seen = rng.binomial(width, 0.5, size=runs)
        a, b = (2 * rng.gamma(count / 2) * 2 / width for count in (seen, width - seen))
        square = alpha * (odd + centre) / n**2  # R^2 is their sum: they stay orthogonal
        odd, centre = (n - 1) ** 2 * square * a, square * b
    return pd.DataFrame(rows, columns=["layer", "over networks", "width", "squared norm"])
