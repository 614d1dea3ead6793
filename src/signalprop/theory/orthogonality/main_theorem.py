"""The orthogonality gap of ORTH Thm. 1: its range, its bound as printed and as proved.

The chain is ORTH Eq. 1. A *spectrum* is the vector of squared singular values of a representation,
``(..., n)``, non-negative with sum 1; the flat one, ``1/n`` each, is that of orthogonal samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop.theory._formula import formula

__all__ = [
    "gap_of_spectrum",
    "largest_gap",
    "orth_theorem_1",
    "orth_theorem_1_repaired",
]


@formula()
def largest_gap(n: int) -> float:
    """Return ``sqrt((n - 1) / n)``, the orthogonality gap of n parallel samples: none is larger.

    >>> round(largest_gap(2) ** 2, 12)
    0.5
    """
    return float(np.sqrt((n - 1) / n))


@formula(spectrum=1)
def gap_of_spectrum(spectrum: Any) -> Any:
    """Return the orthogonality gap of a representation with this spectrum of sum 1, ``(...)``.

    >>> round(float(gap_of_spectrum([1.0, 0.0])), 4)
    0.7071
    """
    s = np.asarray(spectrum, dtype=float)
    return np.sqrt(((s - 1 / s.shape[-1]) ** 2).sum(axis=-1))


@formula()
def orth_theorem_1(alpha: Any, depth: Any, n: int, d: Any) -> Any:
    """Return the bound of ORTH Thm. 1 (Eq. 3) on the mean gap at layer ``depth + 1``, as printed.

    ``2 (1 - 2/3 alpha)^depth + 3 n / (alpha sqrt d)``, where alpha bounds the smallest *singular
    value* from below (Assumption A1).

    >>> round(float(orth_theorem_1(alpha=0.5, depth=0, n=4, d=10**6)), 3)
    2.024
    """
    alpha = _alpha(alpha, n)
    return 2 * (1 - 2 / 3 * alpha) ** depth + 3 * n / (alpha * np.sqrt(d))


@formula()
def orth_theorem_1_repaired(alpha: Any, depth: Any, n: int, d: Any) -> Any:
    """Return the bound that the proof of ORTH Thm. 1 supports: ``alpha**2`` in place of ``alpha``.

    Why it is right: the one-step contraction (Thm. 5) has the rate ``1 - 2/3 (1/n - Vhat)``, and
    ``1/n - Vhat`` is the smallest *squared* singular value, at least ``alpha**2`` under A1. The
    rest is the printed proof: a geometric series, ``E Vhat <= 1/n`` and ``V <= 2 n Vhat``.

    >>> bool(orth_theorem_1_repaired(0.5, 9, 4, 10**6) > orth_theorem_1(0.5, 9, 4, 10**6))
    True
    """
    return orth_theorem_1(_alpha(alpha, n) ** 2, depth, n, d)


def _alpha(alpha: Any, n: int) -> Any:
    """Check alpha: a unit-norm matrix of n columns has smallest singular value <= 1/sqrt n."""
    alpha, most = np.asarray(alpha, dtype=float), float(n) ** -0.5
    if not np.all((alpha > 0) & (alpha <= most * (1 + 1e-12))):
        raise ValueError(f"alpha must lie in (0, 1/sqrt n] = (0, {most:.4g}], got {alpha}")
    return alpha
