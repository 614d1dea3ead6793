"""The square-root theorem and the lemmas that it is made of: RANK Lemmas 2 and 18, Theorem 3."""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop.theory._formula import formula

__all__ = ["rank_lemma_2", "rank_lemma_18", "rank_theorem_3"]


@formula()
def rank_lemma_2(ratio: Any, tau: Any) -> Any:
    """RANK Lemma 2: ``(1 - tau)^2 r``, a lower bound of the soft rank for rows of norm ``sqrt N``.

    >>> rank_lemma_2(8.0, 0.5)
    2.0
    """
    return (1 - tau) ** 2 * ratio


@formula()
def rank_lemma_18(alpha: Any, d: Any, constant: float = 1.0) -> Any:
    """RANK Eq. 55: ``d^(3/2) / sqrt(1 - alpha)``, an upper bound of the mean of ``||M||_F^2``.

    Its proof gives the ``constant`` 1/2, as gamma tends to 0.

    >>> float(rank_lemma_18(0.75, 4))
    16.0
    """
    return constant * np.asarray(d, dtype=float) ** 1.5 / np.sqrt(1 - np.asarray(alpha))


@formula()
def rank_theorem_3(alpha: Any, d: Any, tau: float = 0.0) -> Any:
    """RANK Eq. 63: ``(1 - tau)^2 sqrt((1 - alpha) d)``, a lower bound of the mean soft rank.

    >>> float(rank_theorem_3(0.75, 16, tau=0.5))
    0.5
    """
    return rank_lemma_2(np.sqrt((1 - np.asarray(alpha)) * d), tau)
