"""The neural tangent kernel of normalized networks (COND Sections 3.2, 3.3 and Appendix C.2).

``path`` holds the iterates ``rho, s(rho), ..`` of the dual activation, ``slopes`` its derivative
there, both with one entry a layer on the last axis; ``top`` is its derivative at 1.
"""

from __future__ import annotations

from typing import Any

import torch

from signalprop._arrays import on_tensors
from signalprop.theory._formula import formula
from signalprop.theory.conditioning.decay import Rounding, cond_b, cond_l_0, cond_l_2, cond_sharpest

__all__ = [
    "cond_corollary_10",
    "cond_corollary_6",
    "cond_corollary_6_proven",
    "cond_equation_7",
    "cond_lemma_26",
    "cond_lemma_26_sharper",
    "cond_tangent",
    "cond_tangent_sharpest",
    "cond_theorem_5",
    "cond_theorem_5_diagonal",
]


@formula(path=1, slopes=1)
@on_tensors("path", "slopes")
def cond_equation_7(path: Any, slopes: Any, shift: int = 1) -> Any:
    """COND Eq. 7: the tangent kernel of ``L`` layers, from arrays ``(..., L + 1)``: ``(...)``.

    The h-th term belongs to the weights of layer h: the inner product of what enters them, times
    the slopes of the layers ``h' = h, .., L`` above, each at the inner product that enters *it*,
    ``s^(h' - shift)(rho)`` with ``shift = 1``. With ``shift = 0`` the formula is as printed.

    >>> cond_equation_7([0.5, 0.25], [1.0, 0.5]), cond_equation_7([0.5, 0.25], [1.0, 0.5], shift=0)
    (np.float64(0.75), np.float64(0.5))
    """
    if shift not in (0, 1):
        raise ValueError(f"shift must be 0 or 1, got {shift}")
    layers = path.shape[-1] - 1
    terms = [
        path[..., h - 1] * slopes[..., h - shift : layers + 1 - shift].prod(-1)
        for h in range(1, layers + 2)
    ]
    return torch.stack(terms).sum(0)


@formula()
def cond_lemma_26(rho: Any, mu: Any) -> Any:
    """COND Lemma 26: ``1 - mu (1 - |rho|)`` bounds the slope at rho relative to that at 1.

    >>> cond_lemma_26(-0.5, 0.5)
    0.75
    """
    return 1 - mu * (1 - abs(rho))


@formula()
def cond_lemma_26_sharper(rho: Any, mu: Any) -> Any:
    """Return ``1 - 2 mu/(1 + mu) (1 - |rho|)``, which bounds it too and is attained.

    Right because the step before the last in the proof of Lemma 26 has ``M / (1 - mu + M)`` in the
    place of mu, with ``M = sum_{i>=2} i a_i^2 >= 2 mu``. Quadratics have ``M = 2 mu``.

    >>> cond_lemma_26_sharper(-0.5, 1.0)
    0.5
    """
    return 1 - 2 * mu / (1 + mu) * (1 - abs(rho))


@formula()
def cond_theorem_5(layers: Any, delta: Any, mu: Any) -> Any:
    """COND Theorem 5: ``2 B(L/2, delta)`` bounds the tangent kernel relative to its diagonal.

    >>> float(cond_theorem_5(4.0, 0.5, 1.0))
    0.25
    """
    return 2 * cond_b(layers / 2, delta, mu)


@formula()
def cond_theorem_5_diagonal(top: Any, layers: Any) -> Any:
    """COND, proof of Theorem 5: the diagonal ``(top^(L+1) - 1) / (top - 1)``.

    Normalized activations that are not linear have ``top >= 1 + mu > 1``.

    >>> cond_theorem_5_diagonal(2.0, 2)
    7.0
    """
    return (top ** (layers + 1) - 1) / (top - 1)


@formula()
def cond_corollary_6(layers: Any, n: Any, delta: Any, mu: Any, rounding: Rounding = "up") -> Any:
    """COND Corollary 6: ``4 n (1 - mu/2)^(L/2 - L_2)`` bounds ``kappa - 1`` from ``L_2`` layers on.

    >>> float(cond_corollary_6(32, 8, 0.1, 1.0))    # L_2 = 16
    32.0
    """
    return 4 * n * (1 - mu / 2) ** (layers / 2 - cond_l_2(n, delta, mu, rounding))


@formula()
def cond_corollary_6_proven(layers: Any, n: Any, delta: Any, mu: Any) -> Any:
    """Return ``4 (n - 1) (1 - mu/2)^(L/2 - L_0)``, with which the proof of Corollary 6 ends.

    >>> float(cond_corollary_6_proven(16, 8, 0.1, 1.0))    # L_0 = 4
    1.75
    """
    return 4 * (n - 1) * (1 - mu / 2) ** (layers / 2 - cond_l_0(delta, mu))


@formula()
def cond_corollary_10(layers: Any, n: Any, delta: Any, mu: Any) -> Any:
    """COND Corollary 10: ``(2 n / delta) (1 + mu/2)^(-L/2)`` bounds ``kappa - 1``.

    Under Assumption B. Printed for ``L >= 4 L_0``, true at every depth, as
    :func:`cond_corollary_8_sharper` bounds the tangent kernel too.

    >>> cond_corollary_10(2.0, 6, 0.5, 1.0)
    16.0
    """
    return 2 * n / delta * (1 + mu / 2) ** (-layers / 2)


@formula(path=1, slopes=1)
@on_tensors("path", "slopes")
def cond_tangent(path: Any, slopes: Any, top: Any) -> Any:
    """Return the tangent kernel over its diagonal for 0, 1, .., L layers: ``(..., L + 1)``.

    Eq. 7 over its value at 1, as a recursion that no depth makes overflow: with ``D`` the diagonal,
    ``T_{l+1} / D_{l+1}`` is a mean of ``s^(l+1)`` and ``T_l / D_l * s'(s^(l)) / s'(1)`` with the
    weights ``1 / D_{l+1}`` and the rest.

    >>> cond_tangent([0.5, 0.25], [1.0, 0.5], 2.0).round(6)    # 0.75 of 3
    array([0.5 , 0.25])
    """
    top = torch.as_tensor(top, dtype=path.dtype)
    share, found = torch.ones_like(top), [path[..., 0]]
    for layer in range(1, path.shape[-1]):
        share = share / (share + top)
        passed = found[-1] * slopes[..., layer - 1] / top
        found.append(share * path[..., layer] + (1 - share) * passed)
    return torch.stack(found, dim=-1)


@formula()
@on_tensors("delta", "mu")
def cond_tangent_sharpest(delta: Any, mu: Any, depth: int) -> Any:
    """Return the relative tangent kernel of ``(1 - mu) rho + mu rho^2`` from ``1 - delta`` on.

    ``(..., depth + 1)``. Of all bounds by ``mu`` and ``delta`` it is the smallest: each term of
    Eq. 7 over its value at 1 is largest for the quadratic, later terms are larger than earlier
    ones, and the least slope at 1, ``1 + mu``, gives the later terms most weight. It is at most
    :func:`cond_sharpest`, as each term is.

    >>> cond_tangent_sharpest(0.5, 1.0, 1).round(6)    # (0.25 + 0.5 * 1) of 1 + 2
    array([0.5 , 0.25])
    """
    path = cond_sharpest(delta, mu, depth)
    slope = mu[..., None]
    return cond_tangent(path, 1 - slope + 2 * slope * path, 1 + mu)
