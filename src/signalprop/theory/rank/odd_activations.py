"""Odd activations with batch normalization: Theorem 5 and Lemma 20 of RANK.

``bound`` is the B of ``|F(x)| <= B |x|``, and the entries of the weights lie in
``[-sqrt 3, sqrt 3]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop.theory._formula import formula

__all__ = ["rank_lemma_20", "rank_theorem_5_step"]


@formula()
def rank_theorem_5_step(d: Any, bound: Any = 1.0) -> Any:
    """Return the largest ``gamma`` of RANK Theorem 5, ``1 / (8 B d)``.

    >>> float(rank_theorem_5_step(4))
    0.03125
    """
    _require_width(d)
    if not np.all(np.asarray(bound) > 0):
        raise ValueError(f"bound must be positive, got {bound}")
    return 1 / (8 * np.asarray(bound) * d)


@formula()
def rank_lemma_20(d: Any, gamma: Any, bound: Any = 1.0) -> Any:
    """Return ``2 sqrt(3) d B gamma + 3 d^2 B^2 gamma^2``: no entry of M changes by more in a layer.

    It is for ``M(H + gamma W F(H)) - M(H)`` before the rows are scaled back (RANK Eq. 98).

    Why it is right: a row of ``gamma W F(H)`` has at most the length ``s = sqrt(3) d B gamma``
    times that of the rows of H, and an inner product of two rows changes by ``2 s + s^2`` at most.

    >>> round(float(rank_lemma_20(4, rank_theorem_5_step(4))), 4)
    0.4799
    """
    _require_width(d)
    step = np.sqrt(3) * np.asarray(d) * bound * np.asarray(gamma)
    return 2 * step + step**2


def _require_width(d: Any) -> None:
    if not np.all(np.asarray(d) >= 1):
        raise ValueError(f"d must be at least 1, got {d}")
