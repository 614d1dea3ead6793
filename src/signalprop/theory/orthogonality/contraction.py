"""One layer of the chain of ORTH: the lemmas behind its one-step contraction (App. B and C).

``vhat`` is the Lyapunov function ``1/n - smallest``, where ``smallest`` is the smallest squared
singular value of a representation of unit Frobenius norm; a *spectrum* is the vector of all of
them, ``(..., n)``, with sum 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from signalprop.limits.spectrum_maps import expected_spectrum
from signalprop.theory._formula import formula

__all__ = [
    "constant_of_lemma_7",
    "constant_of_lemma_8",
    "one_step_variance",
    "orth_a1_violation",
    "orth_lemma_10",
    "orth_lemma_4",
    "orth_lemma_4_sharp",
    "orth_lemma_8",
    "orth_lemma_9",
    "orth_stability",
    "orth_stability_repaired",
    "orth_theorem_5",
]

PRINTED = 2 / 3  # the constant in ORTH Thm. 5 and Lemma 8


@formula()
def orth_lemma_4(vhat: Any, n: int) -> Any:
    """Return the bound ``2 n vhat`` of ORTH Lemma 4 on the orthogonality gap, as printed.

    >>> float(orth_lemma_4(0.25, 4))
    2.0
    """
    return 2 * n * np.asarray(vhat, dtype=float)[()]


@formula()
def orth_lemma_4_sharp(vhat: Any, n: int) -> Any:
    """Return ``sqrt(n (n - 1)) vhat``, the largest gap of n samples with this ``vhat``.

    Why it is right: at a fixed smallest entry ``1/n - vhat`` the convex sum of squares is largest
    where all entries but one are the smallest: the one exceeds 1/n by ``(n - 1) vhat``.

    >>> round(float(orth_lemma_4_sharp(0.5, 2)), 4)  # two parallel samples
    0.7071
    """
    return np.sqrt(n * (n - 1)) * np.asarray(vhat, dtype=float)[()]


@formula()
def constant_of_lemma_7(n: Any) -> Any:
    """Return ``1 - 1/n``, which may stand for the 1 in the noise ``1/sqrt d`` of ORTH Thm. 5.

    Its square may stand for the 1 in ``1/d``, the bound of ORTH Lemma 7: then two orthogonal
    samples attain it.

    Why it is right: ``X = C - E C`` is symmetric and has trace 0, as C has trace 1. Its smallest
    eigenvalue is therefore at least ``-sqrt((n - 1) / n) ||X||_F`` (the others make up for it, and
    n - 1 equal ones do so with the smallest norm), that of C at least ``p_n`` less as much. The
    mean square of ``||X||_F`` is at most ``(1 - 1/n) / d``, see :func:`one_step_variance`.

    >>> constant_of_lemma_7(2), constant_of_lemma_7(4)
    (0.5, 0.75)
    """
    return 1 - 1 / n


@formula()
def constant_of_lemma_8(n: Any) -> Any:
    """Return ``2 n / (n + 2)``, the largest constant that ORTH Lemma 8 may have in place of 2/3.

    Why it is right: the proof ends with it, and for spectra close to the flat one it is attained
    (`signalprop.theory.contraction_at_orthogonality` is ``1 - constant / n``).

    >>> constant_of_lemma_8(2), round(constant_of_lemma_8(1), 4)
    (1.0, 0.6667)
    """
    return 2 * n / (n + 2)


@formula()
def orth_lemma_8(vhat: Any, n: int, constant: float = PRINTED) -> Any:
    """Return the bound of ORTH Lemma 8 on ``1/n - p_n``: ``(1 - constant (1/n - vhat)) vhat``.

    Here ``p_n`` is the last entry of :func:`~signalprop.limits.spectrum_maps.expected_spectrum`.

    >>> round(float(orth_lemma_8(0.25, 2)), 4)
    0.2083
    """
    vhat = np.asarray(vhat, dtype=float)
    return (1 - constant * (1 / n - vhat)) * vhat


@formula()
def orth_theorem_5(vhat: Any, n: int, d: Any, constant: float = PRINTED, noise: float = 1.0) -> Any:
    """Return the bound of ORTH Thm. 5 on the mean of vhat one layer on: contraction plus noise.

    ``(1 - constant (1/n - vhat)) vhat + noise / sqrt d``, printed with the constants 2/3 and 1. It
    holds with :func:`constant_of_lemma_8` and :func:`constant_of_lemma_7` as well.

    >>> round(float(orth_theorem_5(0.25, 2, 100)), 4)
    0.3083
    """
    return orth_lemma_8(vhat, n, constant) + noise / np.sqrt(d)


@formula()
def orth_stability(vhat: Any, depth: Any, d: Any) -> Any:
    """Return the right side of ORTH App. B.1: ``3 vhat / (2 depth) + 3 / (2 sqrt d)``.

    It bounds the mean of ``vhat(H_k) (1/n - vhat(H_k))`` over the layers ``k = 1..depth``. The
    document puts ``vhat(H_0)``; the sum of Thm. 5 over these layers gives ``vhat(H_1)``.

    >>> float(orth_stability(0.5, 1, 9))
    1.25
    """
    return 3 * np.asarray(vhat, dtype=float) / (2 * np.asarray(depth)) + 3 / (2 * np.sqrt(d))


@formula()
def orth_stability_repaired(vhat: Any, depth: Any, n: int, d: Any) -> Any:
    """Return what ORTH Thm. 5, summed over the layers ``0..depth``, gives for ORTH App. B.1.

    ``(n + 2) / (2 n) (vhat / depth + (1 + 1 / depth) (1 - 1/n) / sqrt d)``, below
    :func:`orth_stability` for every n > 1. Here ``vhat`` is ``1/n - sigma_n^2 / ||H_0||_F^2``.

    Why it is right: one layer gives ``E vhat(H_{k+1}) - vhat(H_k) <= -c a_k + noise / sqrt d`` with
    the summand ``a_k`` and the constants of Lemmas 8 and 7. Add this up over ``k = 0..depth``, drop
    ``a_0 >= 0`` and ``vhat(H_{depth+1}) >= 0``, divide by ``c depth``.

    >>> float(orth_stability_repaired(0.5, 1, 2, 16))
    0.75
    """
    vhat, depth = np.asarray(vhat, dtype=float), np.asarray(depth, dtype=float)
    noise = constant_of_lemma_7(n) / np.sqrt(d)
    return (vhat / depth + (1 + 1 / depth) * noise) / constant_of_lemma_8(n)


@formula(spectrum=1)
def one_step_variance(spectrum: Any, d: Any) -> Any:
    """Return ``E || C - E C ||_F^2 = (1 - sum p_i^2) / d`` for the next ``C = H^T H``, ``(...)``.

    ORTH Lemma 6 bounds it by 1/d. Why it is right: C is the mean of d independent ``u u^T`` with
    unit vectors u, so its variance is ``(E |u u^T|^2 - |E u u^T|^2) / d``, and ``|u u^T| = 1``.

    >>> round(float(one_step_variance([0.5, 0.5], 2)), 12)
    0.25
    """
    return (1 - (expected_spectrum(spectrum) ** 2).sum(axis=-1)) / np.asarray(d)


@formula()
def orth_a1_violation(alpha: Any, d: int) -> Any:
    """Return a lower bound on ``P(sigma_n(H') <= alpha | H)`` for one layer of width d, n >= 2.

    ``((2 / pi) arctan alpha)^d``. It is positive: no alpha > 0 bounds all layers from below (ORTH
    Assumption A1 with infinite depth), whatever H.

    Why it is right: in the singular basis a row of H' is parallel to ``w o sigma``. Its share along
    the last direction is at most ``alpha^2`` if ``|w_n| <= alpha |w_1|``, where ``w_n / w_1`` is a
    Cauchy variable; ``sigma_n(H')^2`` is at most the mean of these shares over the d rows.

    >>> float(orth_a1_violation(1.0, 2))
    0.25
    """
    return (2 / np.pi * np.arctan(np.asarray(alpha, dtype=float))) ** d


@formula()
def orth_lemma_10(delta: torch.Tensor, theta: torch.Tensor, n: int) -> torch.Tensor:
    """Return the integrand g of ORTH Eq. 16, convex in ``delta`` on ``[0, 1/n]`` by its Lemma 10.

    It is the integrand of :func:`orth_lemma_9` for ``p_n / smallest`` where the smallest entry is
    ``1/n - delta`` and the other ``n - 1 >= 1`` are equal; differentiable.

    >>> float(orth_lemma_10(torch.tensor(0.0), torch.tensor(0.0), 3))
    1.0
    """
    if n < 2:
        raise ValueError(f"n must be at least 2, since n - 1 entries share the rest, got {n}")
    smallest, others = 1 / n - delta, 1 / n + delta / (n - 1)
    return (1 + 2 * theta * smallest) ** -1.5 * (1 + 2 * theta * others) ** (-(n - 1) / 2)


@formula()
def orth_lemma_9(
    mgf: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], step: float = 0.05
) -> float:
    """Return the integral of ORTH Lemma 9 (Sawa 1972), ``int_{-inf}^0 d mgf(t1, t2)/d t2 dt1``.

    The derivative is taken at ``t2 = 0``; ``mgf`` is the joint moment generating function of X1 and
    X2, differentiable in torch. The integral is ``E[X2 / X1]`` if ``|X2| / X1`` has a mean.

    Why it is right: ``1 / x = int_{-inf}^0 exp(t x) dt`` for ``x > 0``. In ``log(-t1)`` the
    trapezoidal rule converges exponentially for the smooth, decaying integrands at hand.

    >>> fixed = lambda t1, t2: torch.exp(2 * t1 + 3 * t2)  # X1 = 2, X2 = 3
    >>> round(orth_lemma_9(fixed), 10)
    1.5
    """
    t = torch.exp(torch.arange(-40, 80, step, dtype=torch.float64))
    t2 = torch.zeros_like(t, requires_grad=True)
    (derivative,) = torch.autograd.grad(mgf(-t, t2).sum(), t2)
    return float((derivative * t).sum() * step)
