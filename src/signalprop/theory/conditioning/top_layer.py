"""Eigenvalues of the top-layer kernel matrix (COND Sections 3.1 and 3.3), as functions of depth.

Bounds of the condition number are given as bounds of its excess over 1, which keeps its digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop.theory._formula import formula
from signalprop.theory.conditioning.decay import Rounding, cond_l_0, cond_l_1

__all__ = [
    "cond_corollary_4",
    "cond_corollary_4_sharper",
    "cond_corollary_8",
    "cond_corollary_8_sharper",
    "cond_lemma_43",
]


@formula()
def cond_corollary_4(layers: Any, n: Any, delta: Any, mu: Any, rounding: Rounding = "up") -> Any:
    """COND Corollary 4: ``2 n (1 - mu/2)^(L - L_1)`` bounds ``kappa - 1`` from ``L_1`` layers on.

    >>> float(cond_corollary_4(8, 8, 0.1, 1.0))    # L_1 = 7
    8.0
    """
    return 2 * n * (1 - mu / 2) ** (layers - cond_l_1(n, delta, mu, rounding))


@formula()
def cond_corollary_4_sharper(layers: Any, n: Any, delta: Any, mu: Any) -> Any:
    """Return ``2 (n - 1) (1 - mu/2)^(L - L_0)``, with which the proof of Corollary 4 ends.

    >>> float(cond_corollary_4_sharper(8, 8, 0.1, 1.0))    # L_0 = 4
    0.875
    """
    return 2 * (n - 1) * (1 - mu / 2) ** (layers - cond_l_0(delta, mu))


@formula()
def cond_corollary_8(layers: Any, n: Any, delta: Any, mu: Any) -> Any:
    """COND Corollary 8: ``(n / delta) (1 + mu/2)^-L`` bounds ``kappa - 1`` under Assumption B.

    >>> cond_corollary_8(1.0, 6, 0.5, 1.0)
    8.0
    """
    return n / delta * (1 + mu / 2) ** (-layers)


@formula()
def cond_corollary_8_sharper(layers: Any, n: Any, delta: Any, mu: Any) -> Any:
    """Return ``n (1/delta - 1) (1 + mu)^-L``, which bounds it too, and never lies above.

    Right because ``kappa <= (1 + (n-1) b) / (1 - b)`` if all correlations are at most ``b`` and the
    smallest eigenvalue at least ``1 - b``; so ``kappa - 1 <= n b / (1 - b)``, and each layer
    divides ``b / (1 - b)`` by ``2 - kappa'(0) = 1 + mu`` at least (KER Theorem 5.8).

    >>> cond_corollary_8_sharper(1.0, 6, 0.5, 1.0)
    3.0
    """
    return n * (1 / delta - 1) * (1 + mu) ** (-layers)


@formula()
def cond_lemma_43(width: Any, layers: Any, n: Any, size: Any) -> Any:
    """COND Lemma 43 with the constant 1: ``sqrt((4 C)^(L+1) log(n) / m)``, the accuracy gamma.

    The lemma asks for a width of the order of ``(4 C)^(L+1) log(n) / gamma^2``; ``size`` is C.

    >>> round(float(cond_lemma_43(100, 1, 10, 1.0)), 3)
    0.607
    """
    return ((4 * size) ** (layers + 1) * np.log(n) / width) ** 0.5
