"""A linear chain without normalization: how its samples become parallel (ORTH, thesis)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma

from signalprop._arrays import Floats
from signalprop.theory._formula import formula
from signalprop.theory.orthogonality.main_theorem import largest_gap

__all__ = [
    "log_distance_from_rank_one",
    "lyapunov_exponents",
    "vanilla_collapse_rate",
]


@formula()
def log_distance_from_rank_one(log_e1: Any, log_e2: Any, n: int) -> Any:
    """Return ``log(sqrt((n-1)/n) - V)`` from the logs of ``e_1 = sum s_i``, ``e_2 = sum s_i s_j``.

    ``s`` are the n squared singular values; the pairs are ``i < j``.

    Why it is right: ``V^2 = sum_i (s_i/e_1)^2 - 1/n = (n-1)/n - 2 e_2/e_1^2``. The difference of
    the roots is that of the squares over the sum of the roots, and cancels nowhere.

    >>> from signalprop.theory import gap_of_spectrum
    >>> s = np.array([0.9, 0.1])
    >>> value = log_distance_from_rank_one(np.log(s.sum()), np.log(s.prod()), 2)
    >>> bool(np.isclose(np.exp(value), largest_gap(2) - gap_of_spectrum(s)))
    True
    """
    log_share = np.log(2) + np.asarray(log_e2) - 2 * np.asarray(log_e1)
    largest = largest_gap(n)
    gap = np.sqrt(np.maximum(largest**2 - np.exp(log_share), 0))  # rounding at orthogonality
    return log_share - np.log(largest + gap)


@formula()
def lyapunov_exponents(d: int, variance: float | None = None) -> Floats:
    """Return the growth rates ``(d,)`` of the log singular values of products of Gaussian matrices.

    ``lim (1/l) log sigma_i = (log(2 variance) + digamma((d - i + 1) / 2)) / 2`` for products of l
    square matrices with entries ``N(0, variance)``, by default 1/d (ORTH Eq. 1). ORTH Eq. A.13
    (thesis) prints the value for ``sigma_i`` at variance 1 as that of ``sigma_i^2``.

    Why it is right (Newman 1986): a Gaussian matrix maps any orthonormal frame to a Gaussian one;
    the part of its i-th vector that is orthogonal to those before it has square ``variance``
    times a chi-square with d - i + 1 degrees of freedom.

    >>> lyapunov_exponents(2, variance=1.0).round(4)
    array([ 0.058 , -0.6352])
    """
    freedom = np.arange(d, 0, -1)
    log_mean = np.log(2 * (1 / d if variance is None else variance))
    exponents: Floats = (log_mean + digamma(freedom / 2)) / 2
    return exponents


@formula()
def vanilla_collapse_rate(d: Any) -> Any:
    """Return ``digamma(d/2) - digamma((d-1)/2)``: how fast a linear chain without BN loses rank.

    It is the rate of ``sigma_2^2 / sigma_1^2`` (ORTH Eq. A.14, thesis), twice the difference of the
    first two :func:`lyapunov_exponents`, and near 1/d for large d. Between two samples it is exact
    at each layer: ``E log sin^2`` falls by it, as the squared area that two samples span is
    multiplied by independent chi-squares of d and d - 1 degrees of freedom, and each squared length
    by one of d.

    >>> round(float(vanilla_collapse_rate(2) / np.log(2)), 12)
    2.0
    """
    d = np.asarray(d, dtype=float)
    if not np.all(d >= 2):
        raise ValueError(f"d must be at least 2, got {d}")
    return digamma(d / 2) - digamma((d - 1) / 2)
