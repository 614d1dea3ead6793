"""The invariant representations of DEC: the gains that keep their norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop._arrays import Numbers
from signalprop.theory._formula import formula

__all__ = [
    "dec_invariant_radius",
    "dec_theorem_13_alpha",
    "dec_theorem_14_alpha",
]


@formula()
def dec_theorem_13_alpha(batch: Numbers) -> Any:
    """DEC Theorem 13: ``alpha = n^2/(n^2 - 2n + 2)``; weights of variance 2 alpha / d keep norms.

    >>> float(dec_theorem_13_alpha(batch=2))
    2.0
    """
    n = np.asarray(batch, dtype=np.float64)
    return (n**2 / (n**2 - 2 * n + 2))[()]


@formula()
def dec_invariant_radius(batch: Numbers) -> Any:
    """``R = |x_1 - nu_c|`` at an invariant representation (DEC Definition 12), in closed form.

    The two are orthogonal with norms 1 and ``1/(n - 1)``: always below the ``n/(n - 1)`` that
    Theorem 14 asks of the same representation to exceed.

    >>> round(float(dec_invariant_radius(batch=2)), 6)
    1.414214
    """
    return np.sqrt(1 + 1 / np.square(np.subtract(batch, 1.0)))


@formula()
def dec_theorem_14_alpha(batch: Numbers, radius: Numbers) -> Any:
    """DEC Theorem 14: ``alpha = n^2 / ((n - 1)^2 R^2)``; that of Theorem 13 at the invariant R.

    >>> round(float(dec_theorem_14_alpha(batch=2, radius=dec_invariant_radius(2))), 12)
    2.0
    """
    return (np.divide(batch, np.multiply(np.subtract(batch, 1), radius)) ** 2)[()]
