"""How many neurons give ReLU features of full rank (DEC Thm. 3), each as it is printed.

``batch`` is n, ``gamma`` the smallest volume of a sign class (:func:`signalprop.metrics.gamma`).
Numpy arrays broadcast.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop._arrays import Numbers
from signalprop.theory._formula import formula

__all__ = [
    "dec_corollary_4",
    "dec_equation_7a",
    "dec_equation_7b",
    "dec_theorem_3",
]


@formula()
def dec_theorem_3(batch: Numbers, gamma: Numbers) -> Any:
    """DEC Theorem 3, item 1: ``n / gamma``, the bound of the neurons expected for full rank.

    >>> dec_theorem_3(batch=3, gamma=0.25)
    12.0
    """
    _check_gamma(gamma)
    return batch / gamma


@formula()
def dec_corollary_4(batch: Numbers, gamma: Numbers) -> Any:
    """DEC Corollary 4: as Theorem 3, with gamma that of the centred batch.

    >>> dec_corollary_4(batch=3, gamma=0.25)
    12.0
    """
    return dec_theorem_3(batch, gamma)


@formula()
def dec_equation_7a(alpha: Numbers, batch: Numbers, gamma: Numbers) -> Any:
    """DEC Eq. 7a: lower bound of P(full rank) for ``alpha n / gamma`` neurons.

    It is one minus the Chernoff bound for n independent geometric waiting times.

    >>> round(float(dec_equation_7a(alpha=3.0, batch=5, gamma=0.25)), 6)
    0.996088
    """
    _check_gamma(gamma)
    _check_above_one(alpha)
    ratio = np.divide(alpha, gamma)
    exponent = (ratio - 1) * np.log(np.subtract(alpha, gamma) / np.subtract(1, gamma))
    return -np.expm1(-batch * (exponent - ratio * np.log(alpha)))


@formula()
def dec_equation_7b(alpha: Numbers, batch: Numbers) -> Any:
    """DEC Eq. 7b: the weaker bound ``1 - exp(-n (alpha - 1 - log alpha))``, free of gamma.

    >>> round(float(dec_equation_7b(alpha=3.0, batch=5)), 6)
    0.988968
    """
    _check_above_one(alpha)
    return -np.expm1(-batch * (np.subtract(alpha, 1) - np.log(alpha)))


def _check_gamma(gamma: Numbers) -> None:
    if not np.all((np.asarray(gamma) > 0) & (np.asarray(gamma) < 1)):
        raise ValueError(f"gamma must lie in (0, 1), got {gamma}")


def _check_above_one(alpha: Numbers) -> None:
    if not np.all(np.asarray(alpha) > 1):
        raise ValueError(f"alpha must exceed 1 for Chernoff's bound, got {alpha}")
