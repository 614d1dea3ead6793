"""Mixing of finite Markov chains: what a convergence theorem promises, where all can be computed.

A chain is a stochastic matrix ``(m, m)``: row x holds the probabilities of the next state from x.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop._arrays import Floats
from signalprop.theory._formula import formula

__all__ = ["dobrushin_coefficient", "stationary_law"]


@formula(transition=2)
def stationary_law(transition: Any) -> Floats:
    """Return the law ``(m,)`` with ``law @ transition = law``; a second one is a ``ValueError``.

    Why it is right: the linear system of balance and total mass has full column rank exactly if
    there is one recurrent class, that is, one stationary law.

    >>> stationary_law([[0.5, 0.5], [0.25, 0.75]]).round(4)
    array([0.3333, 0.6667])
    """
    p = _stochastic(transition)
    balance = np.vstack([p.T - np.eye(len(p)), np.ones(len(p))])
    law, _, rank, _ = np.linalg.lstsq(balance, np.eye(len(p) + 1)[-1], rcond=1e-12)
    if rank < len(p):
        raise ValueError("transition must have one stationary law, it has several")
    result: Floats = law
    return result


@formula(transition=2)
def dobrushin_coefficient(transition: Any) -> float:
    """Return the largest total variation distance between two rows, in [0, 1].

    One step shrinks the oscillation ``max f - min f`` of every function f by this factor at least,
    so ``|E f(X_l) - E_pi f| <= coefficient**l (max f - min f)`` from any start. The oscillation
    cannot be replaced by the distance ``|E f(X_0) - E_pi f|`` of the one function at the start,
    which ORTH (thesis, Sec. 2.2.2) has there: it may vanish by chance.

    Why it is right: two rows can be coupled so that they differ with probability equal to their
    distance, and f differs by at most its oscillation then.

    >>> dobrushin_coefficient([[0.5, 0.5], [0.25, 0.75]])
    0.25
    """
    p = _stochastic(transition)
    return float(np.abs(p[:, None] - p[None]).sum(axis=-1).max() / 2)


def _stochastic(transition: Any) -> Floats:
    p = np.asarray(transition, dtype=float)
    square = p.ndim == 2 and p.shape[0] == p.shape[1] > 0
    if not square or not np.all(p >= 0) or not np.allclose(p.sum(axis=-1), 1, rtol=0, atol=1e-12):
        raise ValueError(
            "transition must be a square matrix of probabilities with rows of sum 1, "
            f"got shape {p.shape}"
        )
    return p
