"""Correlations of inputs of unequal norms under odd activations (COND Lemma 41, Theorem 42).

``mu_x, mu_y`` are the coefficients of non-linearity ``mu^{gamma} = 1 - a_1^2 / sum_j a_j^2`` at the
squared norms of the two inputs, with Hermite coefficients ``a_j`` of ``s(sqrt(gamma) X)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from signalprop._arrays import Floats, on_tensors
from signalprop.theory._formula import formula
from signalprop.theory.conditioning.decay import cond_b

__all__ = [
    "cond_lemma_41",
    "cond_lemma_41_sharper",
    "cond_theorem_42",
    "cond_theorem_42_depth",
    "cond_theorem_42_sharper",
]


@formula()
@on_tensors("rho", "mu_x", "mu_y")
def cond_lemma_41(rho: Any, mu_x: Any, mu_y: Any) -> Any:
    """COND Lemma 41: bound of the correlation in size after one layer, from ``rho`` before.

    >>> cond_lemma_41([0.5, 0.25], 1.0, 1.0)
    array([0.25 , 0.125])
    """
    delta = 1 - rho.abs()
    near = ((1 - (1 + mu_x / 2) * delta) * (1 - (1 + mu_y / 2) * delta)).clamp(min=0).sqrt()
    far = ((1 - mu_x / 2) * (1 - mu_y / 2)).sqrt() * (1 - delta)
    return torch.where(delta <= 0.5, near, far)


@formula()
@on_tensors("rho", "mu_x", "mu_y")
def cond_lemma_41_sharper(rho: Any, mu_x: Any, mu_y: Any) -> Any:
    """Return ``|rho| sqrt(1 - mu_x (1 - rho^2)) sqrt(1 - mu_y (1 - rho^2))``, a bound too.

    Not in COND: an odd activation has no second coefficient, so the first power of the correlation
    is followed by the third. Attained if the activation is cubic and the norms are equal.

    >>> cond_lemma_41_sharper(0.5, 1.0, 1.0)
    np.float64(0.125)
    """
    rest = 1 - rho**2
    return rho.abs() * ((1 - mu_x * rest) * (1 - mu_y * rest)).sqrt()


@formula()
@on_tensors("distance", "alpha", "mu")
def cond_theorem_42_depth(distance: Any, alpha: Any, mu: Any) -> Any:
    """COND Theorem 42: the depth ``L^ = log(4 max(distance, mu/4) / mu) / alpha``.

    After it squared norms that began within ``distance`` of 1 are within ``mu/4``.

    >>> cond_theorem_42_depth([0.25, 0.75], 0.5, 0.4).round(3)
    array([1.833, 4.03 ])
    """
    return torch.log(4 * torch.maximum(distance, mu / 4) / mu) / alpha


@formula()
def cond_theorem_42(layers: Any, delta: Any, mu: Any, depth: Any) -> Any:
    """COND Theorem 42: ``B_{mu/2}(L - L^, delta)``, with ``depth`` for ``L^``.

    >>> cond_theorem_42(3.0, 0.5, 1.0, 1.0)
    np.float64(0.28125)
    """
    return cond_b(layers - depth, delta, mu / 2)


@formula()
def cond_theorem_42_sharper(steps: int, delta: float, mu: float, factor: float = 0.75) -> Floats:
    """Return bounds after 0, ..., ``steps`` layers with norms within ``mu/4`` of 1.

    Not in COND: the coefficients at such norms are at least ``3 mu/4`` (``factor``), and Lemma 41
    in its sharper form is iterated from ``1 - delta``. Right for activations of Theorem 42: if the
    squared norm is ``gamma >= 1``, then ``a_1^2 <= gamma (1 - mu)`` by concavity and the second
    moment is at least 1; if it is less, ``a_1^2 <= 1 - mu`` and the moment is at least ``gamma``.

    >>> cond_theorem_42_sharper(2, 0.5, 1.0).round(4)
    array([0.5   , 0.2188, 0.0625])
    """
    rho = [1.0 - delta]
    for _ in range(steps):
        rho.append(rho[-1] * (1 - factor * mu * (1 - rho[-1] ** 2)))
    return np.array(rho)
