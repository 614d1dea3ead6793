"""The bounds and limits of ORTH: how batch normalization orthogonalizes a random linear chain.

The chain is ORTH Eq. 1. A *spectrum* is the vector of squared singular values of a representation,
``(..., n)``, non-negative with sum 1; the flat one, ``1/n`` each, is that of orthogonal samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma, gammaln

__all__ = [
    "contraction_at_orthogonality",
    "expected_spectrum",
    "gap_of_spectrum",
    "infinite_width_path",
    "largest_gap",
    "log_distance_from_rank_one",
    "lyapunov_exponents",
    "orth_theorem_1",
    "orth_theorem_1_repaired",
    "stationary_cosine",
    "stationary_gap",
    "vanilla_collapse_rate",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]

STEP = 0.25  # of the trapezoidal rule in log theta; its error is about exp(-pi^2 / STEP) = 1e-17


def largest_gap(n: int) -> float:
    """Return ``sqrt((n - 1) / n)``, the orthogonality gap of n parallel samples: none is larger.

    >>> round(largest_gap(2) ** 2, 12)
    0.5
    """
    return float(np.sqrt((n - 1) / n))


def orth_theorem_1(alpha: Any, depth: Any, n: int, d: Any) -> Any:
    """Return the bound of ORTH Thm. 1 (Eq. 3) on the mean gap at layer ``depth + 1``, as printed.

    ``2 (1 - 2/3 alpha)^depth + 3 n / (alpha sqrt d)``, where alpha bounds the smallest *singular
    value* from below (Assumption A1).

    >>> round(float(orth_theorem_1(alpha=0.5, depth=0, n=4, d=10**6)), 3)
    2.024
    """
    alpha = _alpha(alpha, n)
    return 2 * (1 - 2 / 3 * alpha) ** depth + 3 * n / (alpha * np.sqrt(d))


def orth_theorem_1_repaired(alpha: Any, depth: Any, n: int, d: Any) -> Any:
    """Return the bound that the proof of ORTH Thm. 1 supports: ``alpha**2`` in place of ``alpha``.

    Why it is right: the one-step contraction (Thm. 5) has the rate ``1 - 2/3 (1/n - Vhat)``, and
    ``1/n - Vhat`` is the smallest *squared* singular value, at least ``alpha**2`` under A1. The
    rest is the printed proof: a geometric series, ``E Vhat <= 1/n`` and ``V <= 2 n Vhat``.

    >>> bool(orth_theorem_1_repaired(0.5, 9, 4, 10**6) > orth_theorem_1(0.5, 9, 4, 10**6))
    True
    """
    return orth_theorem_1(_alpha(alpha, n) ** 2, depth, n, d)


def expected_spectrum(spectrum: Any) -> Floats:
    """Return ``p_i = E[s_i w_i^2 / sum_k s_k w_k^2]``, w standard Gaussian: ORTH Eq. 13.

    It is the diagonal of the mean of ``H^T H`` one layer on, in the singular basis. Shape
    ``(..., n)`` in and out.

    Why it is right: ``p_i = s_i int_0^inf (1 + 2 t s_i)^{-1} prod_k (1 + 2 t s_k)^{-1/2} dt`` (ORTH
    Eq. 15). In ``log t`` the integrand is analytic and decays exponentially both ways in a strip
    of half-width pi, and does not grow there with n up to pi/2, so that the trapezoidal rule is
    exact to rounding.

    >>> expected_spectrum([0.5, 0.5])
    array([0.5, 0.5])
    >>> expected_spectrum([0.9, 0.1])  # sqrt(s_i) / (sqrt(s_1) + sqrt(s_2)) for n = 2
    array([0.75, 0.25])
    """
    s = np.asarray(spectrum, dtype=float)
    if s.ndim == 0 or not np.all(s >= 0) or not np.all(s.sum(axis=-1) > 0):
        raise ValueError("spectrum must be non-negative with a positive sum along its last axis")
    s = s / s.sum(axis=-1, keepdims=True)
    if s.shape[-1] == 1:
        return np.ones_like(s)
    smallest = np.min(s, where=s > 0, initial=1.0)
    t = np.exp(np.arange(-40, 80 - np.log(smallest), STEP))
    factors = 1 + 2 * t * s[..., None]  # (..., n, points)
    shared = t * np.exp(-0.5 * np.log(factors).sum(axis=-2, keepdims=True))
    shares: Floats = s * (shared / factors).sum(axis=-1) * STEP
    return shares


def infinite_width_path(spectrum: Any, depth: int) -> Floats:
    """Return the spectra of layers ``0..depth`` at infinite width, ``(depth + 1, ..., n)``.

    At infinite width ``H^T H`` equals its conditional mean, since its variance is at most 1/d (ORTH
    Lemma 6): a layer applies :func:`expected_spectrum`.

    >>> infinite_width_path([0.9, 0.1], 2)[:, 1].round(4)
    array([0.1  , 0.25 , 0.366])
    """
    path = [np.asarray(spectrum, dtype=float) / np.sum(spectrum, axis=-1, keepdims=True)]
    for _ in range(depth):
        path.append(expected_spectrum(path[-1]))
    return np.stack(path)


def gap_of_spectrum(spectrum: Any) -> Any:
    """Return the orthogonality gap of a representation with this spectrum of sum 1, ``(...)``.

    >>> round(float(gap_of_spectrum([1.0, 0.0])), 4)
    0.7071
    """
    s = np.asarray(spectrum, dtype=float)
    return np.sqrt(((s - 1 / s.shape[-1]) ** 2).sum(axis=-1))


def contraction_at_orthogonality(n: int) -> float:
    """Return ``n / (n + 2)``, the factor by which a layer shrinks a small gap at infinite width.

    Why it is right: for ``s = 1/n + e``, ``sum e = 0``, the mean ``(1 + 2 [i = k]) / (n (n + 2))``
    of ``w_i^2 w_k^2 / |w|^4`` gives ``p_i = 1/n + e_i n / (n + 2) + O(e^2)``.

    >>> contraction_at_orthogonality(2)
    0.5
    """
    return n / (n + 2)


def stationary_gap(n: int, d: Any, moment: str = "mean") -> Any:
    """Return a moment of the gap deep in the chain, to leading order in 1/d.

    It is the ``"mean"``, the ``"mean square"`` or the ``"mean log"``.

    Not in the paper, which gives its order ``1/sqrt d`` only. Why it is right: near orthogonality
    the gap matrix ``H^T H - I/n`` obeys ``X' = n/(n+2) X + noise``, with noise of mean square
    ``(1 - 1/n)/d`` (d independent rank-one terms of unit norm). Its stationary mean square is
    therefore ``(1 - 1/n)/d / (1 - (n/(n+2))^2)``, spread evenly and in the limit Gaussian over the
    ``(n-1)(n+2)/2`` dimensions of traceless symmetric matrices: the gap is a chi variable.

    >>> round(float(stationary_gap(4, 512)), 4), round(float(stationary_gap(4, 512, "mean log")), 2)
    (0.0499, -3.03)
    """
    freedom = (n - 1) * (n + 2) / 2
    mean_square = (1 - 1 / n) / (1 - contraction_at_orthogonality(n) ** 2) / np.asarray(d)
    scale = np.sqrt(mean_square / freedom)
    if moment == "mean square":
        return mean_square
    if moment == "mean":
        return scale * np.sqrt(2) * np.exp(gammaln((freedom + 1) / 2) - gammaln(freedom / 2))
    if moment == "mean log":
        return np.log(scale) + (digamma(freedom / 2) + np.log(2)) / 2
    raise ValueError(f"moment must be 'mean', 'mean square' or 'mean log', got {moment!r}")


def stationary_cosine(n: int, d: Any) -> Any:
    """Return the mean of ``|cos|`` between two samples deep in the chain, to leading order in 1/d.

    Not in the paper. Why it is right: near orthogonality a cosine is n times an off-diagonal entry
    of the gap matrix, Gaussian in the limit. The mean square of :func:`stationary_gap` is spread
    evenly over ``(n-1)(n+2)/2`` dimensions, of which the entry is one, divided by sqrt 2; so the
    cosine has mean square ``n (n+2) / (4 (n+1) d)``.

    >>> round(float(stationary_cosine(2, 32)), 4)
    0.1152
    """
    mean_square = n * (n + 2) / (4 * (n + 1)) / np.asarray(d)
    return np.sqrt(2 / np.pi * mean_square)


def log_distance_from_rank_one(log_e1: Any, log_e2: Any, n: int) -> Any:
    """Return ``log(sqrt((n-1)/n) - V)`` from the logs of ``e_1 = sum s_i``, ``e_2 = sum s_i s_j``.

    ``s`` are the n squared singular values; the pairs are ``i < j``.

    Why it is right: ``V^2 = sum_i (s_i/e_1)^2 - 1/n = (n-1)/n - 2 e_2/e_1^2``. The difference of
    the roots is that of the squares over the sum of the roots, and cancels nowhere.

    >>> s = np.array([0.9, 0.1])
    >>> value = log_distance_from_rank_one(np.log(s.sum()), np.log(s.prod()), 2)
    >>> bool(np.isclose(np.exp(value), largest_gap(2) - gap_of_spectrum(s)))
    True
    """
    log_share = np.log(2) + np.asarray(log_e2) - 2 * np.asarray(log_e1)
    largest = largest_gap(n)
    gap = np.sqrt(np.maximum(largest**2 - np.exp(log_share), 0))  # rounding at orthogonality
    return log_share - np.log(largest + gap)


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


def _alpha(alpha: Any, n: int) -> Any:
    """Check alpha: a unit-norm matrix of n columns has smallest singular value <= 1/sqrt n."""
    alpha = np.asarray(alpha, dtype=float)
    if not np.all((alpha > 0) & (alpha <= 1 / np.sqrt(n) * (1 + 1e-12))):
        raise ValueError(
            f"alpha must lie in (0, 1/sqrt n] = (0, {1 / np.sqrt(n):.4g}], got {alpha}"
        )
    return alpha
