"""Benign overfitting at the top layer: COND Section 6 and Appendix G."""

from __future__ import annotations

import math

from signalprop.theory._formula import formula
from signalprop.theory.conditioning.decay import cond_l_0

__all__ = [
    "cond_lemma_54",
    "cond_lemma_54_sharper",
    "cond_theorem_16",
    "cond_theorem_16_depth",
    "cond_theorem_16_given",
]


@formula()
def cond_theorem_16_depth(size: int, delta: float, mu: float) -> int:
    """Return ``ceil(log N / -log(1 - mu/2)) + L_0(delta)``: COND Lemma 54, Theorem 16 at N = n^2.

    >>> cond_theorem_16_depth(8, 0.1, 1.0)
    7
    """
    return math.ceil(math.log(size) / -math.log1p(-mu / 2) - 1e-9) + int(cond_l_0(delta, mu))


@formula()
def cond_lemma_54(size: int) -> float:
    """COND Lemma 54: ``8 ln(N) / N`` bounds the norm of the covariance of features, for N > 1.

    >>> round(cond_lemma_54(8), 6)
    2.079442
    """
    return 8 * math.log(size) / size


@formula()
def cond_lemma_54_sharper(size: int) -> float:
    """Return ``7 / (2 N)``, which bounds it for every N.

    Not in COND. For a unit vector v, ``sum_i (v . Phi(x_i))^2`` over N inputs is at most 3/2 with
    probability above 1/2, by discs. It is a sum of independent terms in [0, 1] of mean
    ``u = N v . Sigma v``, so that probability is at most ``exp(-(u - 3/2 - (3/2) ln(2u/3)))``
    for ``u >= 3/2`` (Chernoff), which at ``u = 7/2`` is less than 1/2.

    >>> cond_lemma_54_sharper(7)
    0.5
    """
    return 7 / (2 * size)


@formula()
def cond_theorem_16(n: int, norm: float) -> float:
    """Return ``14/n + 7 |v*|^2 / n^2``: COND Theorem 16 mended, for the excess risk.

    Right by :func:`cond_theorem_16_given` with ``|Sigma| <= 7 / 2n^2``, as
    ``(a + b)^2 <= 2 a^2 + 2 b^2``.

    >>> cond_theorem_16(7, 7.0)
    9.0
    """
    return 14 / n + 7 * (norm / n) ** 2


@formula()
def cond_theorem_16_given(n: int, norm: float, covariance: float) -> float:
    """Return ``|Sigma| (sqrt(2n) + |v*|)^2``, which bounds the excess risk of the interpolant.

    Not in COND. The excess risk is ``E ((v_S - v*) . Phi)^2 <= |Sigma| |v_S - v*|^2``, and the
    interpolant has ``|v_S|^2 = y . Kbar^{-1} y <= 2n``, if the smallest eigenvalue of Kbar is at
    least 1/2 and labels lie in [-1, 1]. ``covariance`` is ``|Sigma|``.

    >>> cond_theorem_16_given(8, 1.0, 0.01)
    0.25
    """
    return covariance * (math.sqrt(2 * n) + norm) ** 2
