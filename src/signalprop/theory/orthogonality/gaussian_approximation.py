"""How near a batch after a random layer is to a Gaussian matrix: ORTH Sec. 4.

Given ``H`` with squared singular values s of sum 1 (a *spectrum*, ``(..., n)``), the d rows of
``W H`` are independent ``N(0, H^T H / d)``; ``G / sqrt n`` is the same for orthogonal samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop._arrays import Floats
from signalprop.theory._formula import formula
from signalprop.theory.orthogonality.main_theorem import orth_theorem_1
from signalprop.theory.orthogonality.stationary import stationary_gap

__all__ = [
    "gaussian_wasserstein",
    "orth_corollary_3",
    "orth_corollary_3_repaired",
    "orth_lemma_2",
    "stationary_wasserstein",
    "wasserstein_to_gaussian",
]


@formula(a=2, b=2)
def gaussian_wasserstein(a: Any, b: Any) -> Floats:
    """Return the squared Wasserstein-2 distance of ``N(0, a)`` and ``N(0, b)``, ``(...)``.

    ``a`` and ``b`` are covariances ``(..., n, n)``: ``tr a + tr b - 2 |a^{1/2} b^{1/2}|_*``, the
    last term being a sum of singular values (Bures).

    >>> float(gaussian_wasserstein([[4.0]], [[1.0]]))
    1.0
    """
    roots = _root(a), _root(b)
    nuclear = np.linalg.svd(roots[0] @ roots[1], compute_uv=False).sum(axis=-1)
    traces = [(root**2).sum(axis=(-2, -1)) for root in roots]
    result: Floats = np.maximum(traces[0] + traces[1] - 2 * nuclear, 0.0)
    return result


@formula(spectrum=1)
def wasserstein_to_gaussian(spectrum: Any) -> Any:
    """Return the squared Wasserstein-2 distance of ``W H`` given H from ``G / sqrt n``, ``(...)``.

    It is ``sum (sigma_i - 1/sqrt n)^2``. Why it is right: both have d independent rows, so it is d
    times that of ``N(0, H^T H / d)`` and ``N(0, I / (n d))``, whose covariances commute: the proof
    of ORTH Lemma 2 has the best coupling. If H is random, its mean is an upper bound.

    >>> float(wasserstein_to_gaussian([0.5, 0.5]))
    0.0
    """
    s = np.asarray(spectrum, dtype=float)
    flat = 1 / s.shape[-1]
    # (sqrt s - sqrt flat)^2 without cancellation
    return ((s - flat) ** 2 / (np.sqrt(s) + np.sqrt(flat)) ** 2).sum(axis=-1)


@formula()
def orth_lemma_2(gap: Any, n: int) -> Any:
    """Return the bound ``2 n E V`` of ORTH Lemma 2 (Eq. 4) on the squared distance.

    >>> float(orth_lemma_2(0.25, 2))
    1.0
    """
    return 2 * n * np.asarray(gap, dtype=float)


@formula()
def orth_corollary_3(alpha: Any, depth: Any, n: int, d: Any) -> Any:
    """Return the bound of ORTH Cor. 3 (Eq. 5) for ``W_l H_l``, ``l = depth``, as printed.

    ``4 n (1 - 2/3 alpha)^depth + 6 n^2 / (alpha sqrt d)``: Lemma 2 with the right side of Thm. 1,
    which however is for ``H_{l+1}``.

    >>> round(float(orth_corollary_3(0.5, 0, 4, 36**2)), 4)
    21.3333
    """
    return orth_lemma_2(orth_theorem_1(alpha, depth, n, d), n)


@formula()
def orth_corollary_3_repaired(alpha: Any, depth: Any, n: int, d: Any) -> Any:
    """Return the bound of ORTH Cor. 3 with ``alpha^2`` for alpha, the exponent as printed.

    Why it is right: Lemma 2 with the repaired Thm. 1 for ``H_l`` has the exponent ``l - 1``. But
    the squared distance falls twice as fast as the gap: the sharper form that the chapter derives
    has the first term ``(n - 1) (1 - 2n/(n+2) alpha^2)^(2l - 2)`` at most. As ``alpha^2 <= 1/n``,
    that is below ``4 n (1 - 2/3 alpha^2)^l`` for every l from 1 on.

    >>> bool(orth_corollary_3_repaired(0.5, 9, 4, 100) > orth_corollary_3(0.5, 9, 4, 100))
    True
    """
    return orth_corollary_3(np.asarray(alpha) ** 2, depth, n, d)


@formula()
def stationary_wasserstein(n: int, d: Any) -> Any:
    """Return the mean of :func:`wasserstein_to_gaussian` deep in the chain, to order 1/d.

    ``(n - 1) (n + 2)^2 / (16 (n + 1) d)``. Why it is right: near orthogonality each term is
    ``n (s_i - 1/n)^2 / 4``, so the sum is n/4 times the mean squared gap of ``stationary_gap``.

    >>> round(float(stationary_wasserstein(2, 1)), 12)
    0.333333333333
    """
    return n / 4 * stationary_gap(n, d, "mean square")


def _root(covariance: Any) -> Floats:
    """The symmetric square root of positive semidefinite matrices."""
    values, vectors = np.linalg.eigh(np.asarray(covariance, dtype=float))
    if np.any(values < -1e-9 * np.abs(values).max(axis=-1, keepdims=True)):
        raise ValueError("covariances must be positive semidefinite, got a negative eigenvalue")
    root: Floats = (vectors * np.sqrt(np.maximum(values, 0))[..., None, :]) @ vectors.mT
    return root
