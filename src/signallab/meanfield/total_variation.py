"""Total variation between Gaussian laws and mixtures of them, where it can be computed."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from signalprop._arrays import Floats

__all__ = ["between_mixtures", "between_scales", "between_two_scales", "of_lengths", "signs"]

LEFT_OUT = 1e-10  # probability beyond the grid, on each side


def between_scales(ratio: float, rows: int = 1) -> float:
    """Between ``rows`` independent N(0, 1) and as many N(0, ratio), exactly.

    Why: the likelihood ratio increases in the sum of squares or falls in it, so that the best
    event is that the sum exceeds the value where the ratio is one.

    >>> round(between_scales(2.0), 6), between_scales(1.0, 50)
    (0.166064, 0.0)
    """
    if not ratio > 0:
        raise ValueError(f"ratio must be positive, got {ratio}")
    if ratio == 1:
        return 0.0
    at = rows * np.log(ratio) * ratio / (ratio - 1)
    return float(abs(stats.chi2.sf(at / ratio, rows) - stats.chi2.sf(at, rows)))


def between_two_scales(
    first: float, second: float, rows: tuple[int, int], nodes: int = 400
) -> float:
    """Between standard normals and normals with variances ``first`` and ``second``, ``rows`` each.

    Why: with A and B the two sums of squares, the logarithm of the likelihood ratio is linear in
    them. Given A the best event is about B alone; A is integrated. Good to four
    digits, and to more but for a single row of each.

    >>> round(between_two_scales(1.5, 0.5, (1, 1)), 5)
    0.18461
    """
    if not (first > 0 and second > 0 and first != 1 and second != 1):
        raise ValueError(f"variances must be positive and not 1, got {first} and {second}")
    levels = np.log(first) * rows[0] + np.log(second) * rows[1]
    x, weights = np.polynomial.legendre.leggauss(nodes)
    chance = []
    for scale_a, scale_b in ((first, second), (1.0, 1.0)):
        # (1 - 1/first) A + (1 - 1/second) B > levels, with A, B of the law at hand
        top = np.sqrt(stats.chi2.isf(1e-17, rows[0]))
        root = (x + 1) / 2 * top  # A = root^2: its density is smooth there
        density = stats.chi2.pdf(root**2, rows[0]) * 2 * root * weights / 2 * top
        limit = (levels - (1 - 1 / first) * scale_a * root**2) / (1 - 1 / second) / scale_b
        law = stats.chi2.sf if second > 1 else stats.chi2.cdf
        chance.append(float(density @ law(limit, rows[1])))
    return abs(chance[0] - chance[1])


def of_lengths(first: float, second: float, rows: int, nodes: int = 240) -> float:
    """Between two laws that are the same in all directions: of Q D g and of g, Q turned at random.

    g is standard normal of ``2 rows`` entries, and D^2 has ``first`` and ``second`` on its
    diagonal, ``rows`` times each. Only the squared lengths differ: ``first A + second B`` against
    A + B, with A, B chi-squared. The density of the first is a convolution, on a grid, which gives
    the distance to about 1 %.

    >>> of_lengths(1.0, 1.0, 4) < 1e-9
    True
    """
    if rows < 2:  # the density of a square has a pole
        raise ValueError(f"rows must be at least 2, got {rows}")
    x, weights = np.polynomial.legendre.leggauss(nodes)
    top = float(stats.chi2.isf(1e-12, 2 * rows)) * max(first, second, 1.0)
    length, steps = top * (x + 1) / 2, weights * top / 2
    part = length[:, None] * (x + 1) / 2  # of a squared length, what comes from A
    density = stats.chi2.pdf(part / first, rows) / first
    density = density * stats.chi2.pdf((length[:, None] - part) / second, rows) / second
    found = (density * weights).sum(axis=1) * length / 2
    return float(np.abs(found - stats.chi2.pdf(length, 2 * rows)) @ steps / 2)


def signs(width: int) -> tuple[Floats, Floats]:
    """Return the values of a mean of ``width`` random signs and their chances, not below 1e-30.

    >>> signs(2)
    (array([-1.,  0.,  1.]), array([0.25, 0.5 , 0.25]))
    """
    k = np.arange(width + 1)
    chances = np.asarray(stats.binom.pmf(k, width, 0.5))
    kept = chances > 1e-30
    return (2 * k / width - 1)[kept], chances[kept]


def between_mixtures(width: int, first: Any, second: Any, nodes: int = 801) -> float:
    """Between two mixtures of ``N(0, [[1, m], [m, 1]])``, of ``width`` rows each.

    A mixture is a pair of arrays, values of m in [-1, 1] and their chances. Exact but for a
    quadrature, good to about 1e-6 where the two are of one width.

    Why: turned by 45 degrees, the two columns are independent with variances 1 + m and 1 - m, and
    their sums of squares are sufficient. Their logarithms are integrated on a grid. At m = 1 and
    -1 one sum is 0, which no other m gives: these masses are compared by themselves.

    >>> sure, even = ([0.0], [1.0]), ([-1.0, 0.0, 1.0], [0.25, 0.5, 0.25])
    >>> round(between_mixtures(2, sure, even), 6)
    0.5
    """
    mixtures = [(np.asarray(m, float), np.asarray(p, float)) for m, p in (first, second)]
    likely = np.concatenate([m[(p > LEFT_OUT) & (np.abs(m) < 1)] for m, p in mixtures])
    largest = float(np.abs(likely).max(initial=0.0))  # both columns then have variances in 1 -+ it
    low = np.log(stats.chi2.ppf(LEFT_OUT, width) * (1 - largest))
    high = np.log(stats.chi2.isf(LEFT_OUT, width) * (1 + largest))
    x, weights = np.polynomial.legendre.leggauss(nodes)
    log_sum, weights = low + (high - low) * (x + 1) / 2, weights * (high - low) / 2
    density = []
    for m, chances in mixtures:
        inside = np.abs(m) < 1
        columns = [
            _log_density(log_sum, 1 + sign * m[inside], width) * weights[:, None]
            for sign in (1, -1)
        ]
        density.append((columns[0] * chances[inside]) @ columns[1].T)
    lost = np.maximum(density[0] - density[1], 0).sum()
    for end in (-1.0, 1.0):
        mass = [float(chances[m == end].sum()) for m, chances in mixtures]
        lost += max(mass[0] - mass[1], 0)
    return float(lost)


def _log_density(log_sum: Floats, variance: Floats, width: int) -> Floats:
    """Density of the logarithm of a sum of squares of ``width`` normals, ``(nodes, variances)``."""
    total = np.exp(log_sum)[:, None]
    return np.asarray(stats.chi2.pdf(total / variance, width) / variance * total)
