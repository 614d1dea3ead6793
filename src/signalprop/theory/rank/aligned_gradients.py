"""Gradients of the last layer when its input has rank one: Proposition 8 of RANK."""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop.theory._formula import formula

__all__ = ["rank_one_alignment"]


@formula()
def rank_one_alignment(side: Any, n: int) -> Any:
    """Return the mean ``|cos|`` of the features ``relu(u v_j)`` of n samples.

    ``side`` of the n numbers v_j are positive and the others negative; u has both signs. RANK
    Proposition 8 has 1, whatever v.

    Why it is right: ``relu(u v_j)`` is ``|v_j|`` times ``relu(u)`` or ``relu(-u)``, by the sign
    of v_j, and these two are orthogonal, as no entry of u is positive and negative. So ``|cos|``
    is 1 for two samples on one side and 0 for the others.

    >>> float(rank_one_alignment(4, 4)), float(rank_one_alignment(2, 4))
    (1.0, 0.3333333333333333)
    """
    side = np.asarray(side)
    if n < 2 or not np.all((side >= 0) & (side <= n)):
        raise ValueError(f"n >= 2 and 0 <= side <= n are needed, got n = {n} and side = {side}")
    return (side * (side - 1) + (n - side) * (n - side - 1)) / (n * (n - 1))
