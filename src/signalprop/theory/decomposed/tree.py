"""The tree model of DEC: growth, norms and angles of clusters, each as printed unless it says so.

Numpy arrays broadcast; ``batch`` is n. :mod:`signalprop.clusters` follows the same model exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop._arrays import Numbers
from signalprop.theory._formula import formula

__all__ = [
    "dec_contribution",
    "dec_equation_62",
    "dec_growth",
    "dec_theorem_11_angle",
    "dec_theorem_11_norms",
    "dec_tree_angles",
    "dec_tree_norms",
]


@formula()
def dec_growth(batch: Numbers, split: Numbers) -> Any:
    """Return ``(m/n)^2 + ((n - m)/n)^2``, the factor of DEC Eq. 40 per layer for a split after m.

    It is also the eigenvalue of the exact step of the energies of both sides: each layer sends
    (R, L) to ``(m^2 (R + L), (n - m)^2 (R + L)) / n^2``.

    >>> float(dec_growth(batch=4, split=1))
    0.625
    """
    share = np.divide(split, batch)
    return (share**2 + (1 - share) ** 2)[()]


@formula()
def dec_contribution(batch: Numbers, size: Numbers, layers: Numbers, height: Numbers = 1.0) -> Any:
    """DEC Eq. 40: squared height carried, after T layers, by a cluster of ``size`` points.

    ``height`` is that of the positive cluster at the start; T = ``layers`` must be at least 1.

    >>> float(dec_contribution(batch=4, size=3, layers=1))
    0.0625
    """
    away = 1 - np.divide(size, batch)
    return (np.square(height) * away**2 * dec_growth(batch, size) ** np.subtract(layers, 1))[()]


@formula()
def dec_equation_62(batch: Numbers, layers: Numbers, height: Numbers = 1.0) -> Any:
    """DEC Eq. 62: bound of what splits (2, n - 2) and (n - 2, 2) add to squared norms.

    As printed; it needs n >= 4, where ``2 n - 7`` is positive.

    >>> round(float(dec_equation_62(batch=10, layers=5)), 6)
    1.716571
    """
    n = np.asarray(batch, dtype=np.float64)
    if np.any(n < 4):
        raise ValueError(f"batch must be at least 4 for the bound to be positive, got {batch}")
    ratio = ((n - 1) / n) ** (2 * np.subtract(layers, 1))
    return (np.square(height) * ((n - 2) / n) ** 2 * (n - 1) ** 2 / (2 * n - 7) * ratio)[()]


@formula()
def dec_theorem_11_norms(batch: Numbers) -> Any:
    """DEC Theorem 11, item 3: bound ``3/(n - 2)`` of the limit of ``|x_i| / |x_1|`` (or x_n).

    The proof ends with ``sqrt(8)/(n - 2)``, and ``sqrt(2)/(n - 1)`` for i = 2, n - 1.

    >>> float(dec_theorem_11_norms(batch=5))
    1.0
    """
    return np.divide(3, _above_two(batch))[()]


@formula()
def dec_theorem_11_angle(batch: Numbers, constant: float = float(np.sqrt(2 * np.pi))) -> Any:
    """DEC Theorem 11, item 4: ``pi/2 - constant/(n - 2)``, below the angle of x_i and x_1 (or x_n).

    Eq. 12 and 87 print ``sqrt(2 pi)``, the default, where Eq. 88 has ``sqrt(2) pi``.

    >>> round(float(dec_theorem_11_angle(batch=10)), 4)
    1.2575
    """
    return (np.pi / 2 - constant / _above_two(batch))[()]


@formula()
def dec_tree_norms(batch: int, upper: float, lower: float) -> tuple[float, float, float]:
    """DEC Eq. 45-47 one layer on: squared norms of x_1, of x_i (1 < i < n) and of x_n.

    ``upper`` and ``lower`` are the summed squared heights of the neurons split (1, n - 1) and
    (n - 1, 1), the document's S_1 and S_2, here read off at the same layer: x_1 and x_n get what
    the single points carry to the next, up to the growth factor.

    >>> dec_tree_norms(batch=3, upper=9.0, lower=9.0)
    (5.0, 2.0, 5.0)
    """
    far, near = ((batch - 1) / batch) ** 2, 1 / batch**2
    return far * upper + near * lower, near * (upper + lower), near * upper + far * lower


@formula()
def dec_tree_angles(batch: int, upper: float, lower: float) -> tuple[float, float]:
    """DEC Eq. 56, 58 (both roots in the denominator): limit angles of x_i to x_1 and to x_n.

    >>> [round(float(angle), 6) for angle in dec_tree_angles(batch=3, upper=1.0, lower=1.0)]
    [1.249046, 1.249046]
    """
    first, middle, last = dec_tree_norms(batch, upper, lower)
    scale = batch**2 * np.sqrt(middle)
    return (
        float(np.arccos(lower / (scale * np.sqrt(first)))),
        float(np.arccos(upper / (scale * np.sqrt(last)))),
    )


def _above_two(batch: Numbers) -> Any:
    if np.any(np.asarray(batch) <= 2):
        raise ValueError(f"batch must exceed 2, got {batch}")
    return np.subtract(batch, 2.0)
