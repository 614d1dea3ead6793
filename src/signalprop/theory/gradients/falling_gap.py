"""How the isometry gap falls with depth: GRAD Theorem 6.1, Lemmas C.9, C.14 and C.15, as printed.

``d`` is the width and the number of samples, ``psi`` an isometry gap, that of the layer or of the
input. All are arrays that broadcast.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop.theory._formula import formula

__all__ = [
    "grad_equation_c_73",
    "grad_lemma_c_14",
    "grad_lemma_c_15",
    "grad_lemma_c_9",
    "grad_theorem_6_1",
]


@formula()
def grad_lemma_c_9(d: Any, psi: Any) -> Any:
    """GRAD (C.49), (C.50): what the gap falls by in one layer on average, at least.

    ``psi / (2 d^2)`` for gaps up to ``1 / (16 d)``, else ``1 / (32 d^3)``; the two meet there.

    >>> float(grad_lemma_c_9(2, 0.016)), float(grad_lemma_c_9(2, 1.0)) == 1 / 256
    (0.002, True)
    """
    return np.minimum(psi, 1 / (16 * d)) / (2 * d**2)


@formula()
def grad_equation_c_73(d: Any, psi: Any) -> Any:
    """GRAD (C.73): ``k = max(2 d^2, 32 d^3 psi)``, the layers in which the gap falls by e.

    >>> float(grad_equation_c_73(2, 0.01)), float(grad_equation_c_73(2, 1.0))
    (8.0, 256.0)
    """
    return np.maximum(2.0 * d**2, 32 * d**3 * psi)


@formula()
def grad_theorem_6_1(d: Any, psi: Any, constant: float = 32.0) -> Any:
    """GRAD Theorem 6.1: ``k = C d^2 (1 + d psi)`` of ``E psi(X_{l+1}) <= psi(X_0) e^(-l/k)``.

    The proof gives C = 32: it has (C.73), which is at most that.

    >>> float(grad_theorem_6_1(2, 1.0))
    384.0
    """
    return constant * d**2 * (1 + d * psi)


@formula()
def grad_lemma_c_14(d: Any, psi: Any) -> Any:
    """GRAD Lemma C.14: ``E S <= 512 d^4 psi^2``, and 0 for a start of at most ``1 / (16 d)``.

    S is the first layer with a gap of at most ``1 / (16 d)``.

    >>> float(grad_lemma_c_14(2, 1.0)), float(grad_lemma_c_14(2, 0.01))
    (8192.0, 0.0)
    """
    return np.where(psi > 1 / (16 * d), 512 * d**4 * np.square(psi), 0.0)[()]


@formula()
def grad_lemma_c_15(d: Any, psi: Any, depth: Any) -> Any:
    """GRAD Lemma C.15: ``32 d^4.5 psi^0.5 (1 - exp(-L / (32 d^4)))`` with L layers.

    It bounds the mean of the sum of ``sqrt(d psi(X_l))`` over the layers after S.

    >>> round(float(grad_lemma_c_15(2, 0.5, 10**9)))
    512
    """
    return -32 * d**4.5 * np.sqrt(psi) * np.expm1(-depth / (32 * d**4))
