"""The smallest eigenvalue of the kernel matrix of one layer (COND Appendix H).

The activation enters by its weights ``a_k^2``, the squared Hermite coefficients, which are the
coefficients of its kernel map; ``n`` inputs have ``|x_i . x_j| <= 1 - delta``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from signalprop._arrays import Floats
from signalprop.theory._formula import formula

__all__ = ["cond_note_56", "cond_relu_weights", "cond_theorem_56", "cond_theorem_58_floor"]


@formula()
def cond_relu_weights(order: int) -> Floats:
    """Return the squared Hermite coefficients of ``max(x, 0)`` up to ``order``, ``(order + 1,)``.

    Odd ones vanish beyond the first, since ``max(x, 0) = (x + |x|) / 2``. Even ones are
    ``C(k, k/2) 2^-k / (2 pi (k - 1)^2)``, about ``0.127 k^(-5/2)``.

    >>> (2 * np.pi * cond_relu_weights(4)).round(4)
    array([1.    , 1.5708, 0.5   , 0.    , 0.0417])
    """
    if order < 1:
        raise ValueError(f"order must be at least 1, got {order}")
    even = np.arange(2, order + 1, 2)
    central = np.cumprod((even - 1) / even)
    weights = np.zeros(order + 1)
    weights[0], weights[1] = 1 / (2 * math.pi), 0.25
    weights[2::2] = central / (2 * math.pi * (even - 1.0) ** 2)
    return weights


@formula()
def cond_theorem_56(n: int, delta: float) -> float:
    """COND Theorem 56: ``delta^(3/2) / (2000^2 n^3)``, with the constant of its proof.

    >>> cond_theorem_56(1, 1.0)
    2.5e-07
    """
    _check(delta)
    return float(delta**1.5 / (2000**2 * n**3))


@formula()
def cond_note_56(n: int, delta: float) -> float:
    """Return ``(delta / log 2n)^(3/2) / 250``, a lower bound for ReLU.

    It has the form of COND's note after Theorem 56. Right by :func:`cond_theorem_58_floor`: from
    ``k >= K = log(2n) / delta`` on its factors are 1/2 at least, the even weights are at least
    ``k^(-5/2) / (2 pi sqrt 2)`` and sum to ``sqrt 2 / (12 pi) (K + 2)^(-3/2)`` at least, and
    ``K + 2 <= (1 + 2 / log 4) K``.

    >>> round(cond_note_56(2, math.log(4)), 12)
    0.004
    """
    _check(delta)
    return float((delta / math.log(2 * n)) ** 1.5 / 250)


@formula(weights=1)
def cond_theorem_58_floor(n: int, delta: float, weights: Any) -> float:
    """Return ``sum_k a_k^2 max(0, 1 - (n - 1)(1 - delta)^k)``, at most the smallest eigenvalue.

    Not in COND. Right because the kernel matrix is the sum of ``a_k^2 (x_i . x_j)^k``, positive
    semi-definite matrices with ones on the diagonal and at most ``(1 - delta)^k`` beside it, to
    each of which Gershgorin's discs apply. It is positive if infinitely many weights are.

    >>> cond_theorem_58_floor(2, 0.5, [1.0, 1.0, 1.0])
    1.25
    """
    weights = np.asarray(weights, dtype=float)
    discs = 1 - (n - 1) * (1 - delta) ** np.arange(len(weights))
    return float(weights @ np.maximum(discs, 0))


def _check(delta: float) -> None:
    if not 0 < delta <= 2:
        raise ValueError(f"delta must lie in (0, 2], got {delta}")
