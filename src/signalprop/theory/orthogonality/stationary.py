"""Deep in the chain of ORTH: the gap, the cosines and how a small gap shrinks, to order 1/d."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma, gammaln

from signalprop.theory._formula import formula

__all__ = [
    "contraction_at_orthogonality",
    "stationary_cosine",
    "stationary_gap",
]


@formula()
def contraction_at_orthogonality(n: int) -> float:
    """Return ``n / (n + 2)``, the factor by which a layer shrinks a small gap at infinite width.

    Why it is right: for ``s = 1/n + e``, ``sum e = 0``, the mean ``(1 + 2 [i = k]) / (n (n + 2))``
    of ``w_i^2 w_k^2 / |w|^4`` gives ``p_i = 1/n + e_i n / (n + 2) + O(e^2)``.

    >>> contraction_at_orthogonality(2)
    0.5
    """
    return n / (n + 2)


@formula()
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


@formula()
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
