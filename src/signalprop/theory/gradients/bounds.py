"""Bounds on gradients: GRAD Theorem 6.5, Lemmas C.12 and C.13, as printed, with constants named.

``d`` is the width and the number of samples, ``psi`` the isometry gap of the input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop.theory._formula import formula

__all__ = ["grad_lemma_c_12", "grad_lemma_c_13", "grad_theorem_6_5"]


@formula()
def grad_theorem_6_5(d: Any, psi: Any, constant: float = 1.0) -> Any:
    """GRAD Theorem 6.5: ``C d^5 (psi^3 + 1)``, which bounds the mean log norm of a gradient.

    >>> float(grad_theorem_6_5(2, 1.0))
    64.0
    """
    return constant * d**5 * (np.power(psi, 3) + 1)


@formula()
def grad_lemma_c_12(d: Any, psi: Any, depth: Any, constant: float = 8704.0) -> Any:
    """GRAD Lemma C.12: ``C d^5 (psi^3 + 1 - exp(-L / (32 d^4)))``, with the C of the proof.

    It bounds the mean of ``sum_{k=1}^L log |J_BN(H_k)|``. (C.94) has ``512 d^4 psi^2 (1 + d psi)``
    for ``d psi > 1/16``, where the bracket is at most ``17 d psi``: so 8704 does.

    >>> float(grad_lemma_c_12(2, 1.0, 0))
    278528.0
    """
    return constant * d**5 * (np.power(psi, 3) - np.expm1(-depth / (32 * d**4)))


@formula()
def grad_lemma_c_13(d: Any, psi: Any) -> Any:
    """GRAD Lemma C.13: ``2 sqrt(d psi)`` for gaps up to ``1 / (16 d)``, else ``d psi + 1``.

    It bounds ``log |J_BN(X)|`` if ``tr X X^T = d``, and by Lemma C.17 ``-log lambda_d`` too, twice
    as large.

    >>> float(grad_lemma_c_13(4, 0.01)), float(grad_lemma_c_13(4, 0.5))
    (0.4, 3.0)
    """
    a = np.asarray(d * psi, dtype=float)
    return np.where(a <= 1 / 16, 2 * np.sqrt(a), a + 1)[()]
