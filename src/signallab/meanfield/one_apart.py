"""Batches in which one point stands apart and the others are alike: the Gram map in one number.

After recentring, a Gram matrix that does not change when points 2 to n are permuted has two
eigenvalues on the vectors of sum zero: one on the direction ``e`` of point 1 against the mean of
the others, one (n - 2 times) on the rest. Batch normalization forgets their scale. So the map of
MF Eq. 3.3 acts on one number, the *ratio* of the first to the second; ratio 1 is the symmetric
matrix G*.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import optimize, special

from signalprop.limits import PairRule, pair_rule

__all__ = ["Apart", "branches", "entries", "matrix", "next_ratio"]

Activation = Callable[[torch.Tensor], torch.Tensor]

ORDER = 24  # of the rule for two of the points that are alike, a panel
NODES = 60  # of the rule for the share of the direction e


class Apart(NamedTuple):
    """The four entries of a Gram matrix with point 1 apart: squares and products of points.

    >>> Apart(1.0, 0.5, 2.0, 0.25).first_square
    1.0
    """

    first_square: float
    first_other: float
    other_square: float
    others: float


def entries(phi: Activation, n: int, ratio: float) -> Apart:
    """Return the entries of the next Gram matrix, from one with this ratio, for n >= 3 points.

    Why it is right: up to its scale, the recentred Gaussian vector is ``sqrt(ratio) x e + y`` with
    a standard normal number x and a standard normal y in the n - 2 other dimensions. The direction
    of y is uniform and independent of ``x / |(x, y)|``, whose density on (-1, 1) is proportional to
    ``(1 - x^2)^((n - 4)/2)``. The first is the pair rule of a batch of n - 1, the second a
    Gauss-Gegenbauer rule.

    >>> linear = entries(lambda u: u, 4, 1.0)
    >>> round(linear.first_square, 12), round(linear.others, 12)
    (1.0, -0.333333333333)
    """
    if n < 3 or not ratio > 0:
        raise ValueError(f"n must be at least 3 and ratio positive, got {n} and {ratio}")
    nodes, rule, weight = _rules(n)
    lengths = np.sqrt(1 - nodes**2 + ratio * nodes**2)
    along = torch.from_numpy(math.sqrt(ratio) * nodes / lengths)[:, None]
    across = torch.from_numpy(np.sqrt(1 - nodes**2) / lengths)[:, None]
    spread = math.sqrt(n / (n - 1))
    first = phi(math.sqrt(n - 1) * along)
    second, third = (
        phi(spread * across * t - along / math.sqrt(n - 1)) for t in (rule.first, rule.second)
    )
    products = (first**2, first * second, second**2, second * third)
    return Apart(*(float((weight * product).sum()) for product in products))


@cache
def _rules(n: int) -> tuple[np.ndarray[Any, np.dtype[np.float64]], PairRule, torch.Tensor]:
    """The nodes of the first rule, the second rule, and the weights of both together."""
    nodes, weights = special.roots_gegenbauer(NODES, (n - 3) / 2)
    rule = pair_rule(n - 1, order=ORDER)
    return nodes, rule, torch.from_numpy(weights / weights.sum())[:, None] * rule.weights


def next_ratio(phi: Activation, n: int, ratio: float) -> float:
    """Return the ratio after a layer.

    >>> round(next_ratio(lambda u: u, 5, 1.0), 12)
    1.0
    """
    g = entries(phi, n, ratio)
    apart = (n - 1) * (g.first_square - 2 * g.first_other) + g.other_square + (n - 2) * g.others
    return apart / n / (g.other_square - g.others)


def matrix(phi: Activation, n: int, ratio: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the next Gram matrix ``(n, n)``, point 1 first.

    >>> matrix(lambda u: u, 3, 1.0).round(12)
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    g = entries(phi, n, ratio)
    gram = np.full((n, n), g.others)
    np.fill_diagonal(gram, g.other_square)
    gram[0] = gram[:, 0] = g.first_other
    gram[0, 0] = g.first_square
    return gram


def branches(
    phi: Activation, n: int, low: float, high: float, points: int = 40
) -> list[tuple[float, bool]]:
    """Return the ratios between ``low`` and ``high`` that a layer keeps, and whether it attracts.

    Ratio 1 itself, which every layer keeps, may lie outside: give an interval on one side of it.

    >>> branches(lambda u: u, 5, 0.5, 2.0)
    [(1.0, True)]
    """
    grid = np.geomspace(low, high, points)

    def growth(ratio: float) -> float:
        return math.log(next_ratio(phi, n, ratio) / ratio)

    values = [growth(ratio) for ratio in grid]
    found = []
    for k in range(points - 1):
        if values[k] * values[k + 1] < 0:
            at = float(optimize.brentq(growth, grid[k], grid[k + 1], xtol=1e-10))
            found.append((round(at, 9), values[k] > 0))
    return found
