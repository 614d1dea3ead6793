"""Bounds, rates and closed forms of DEC, each as it is printed unless the docstring says so.

Numpy arrays broadcast; ``batch`` is n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from signalprop._arrays import on_tensors

__all__ = [
    "dec_contribution",
    "dec_corollary_4",
    "dec_equation_7a",
    "dec_equation_7b",
    "dec_equation_62",
    "dec_growth",
    "dec_infinite_width_map",
    "dec_invariant_radius",
    "dec_kernel",
    "dec_theorem_3",
    "dec_theorem_11_angle",
    "dec_theorem_11_norms",
    "dec_theorem_13_alpha",
    "dec_theorem_14_alpha",
    "dec_tree_angles",
    "dec_tree_norms",
]

Numbers = float | np.ndarray[Any, Any]


def dec_theorem_3(batch: Numbers, gamma: Numbers) -> Any:
    """DEC Theorem 3, item 1: ``n / gamma``, the bound of the neurons expected for full rank.

    >>> dec_theorem_3(batch=3, gamma=0.25)
    12.0
    """
    _check_gamma(gamma)
    return batch / gamma


def dec_corollary_4(batch: Numbers, gamma: Numbers) -> Any:
    """DEC Corollary 4: as Theorem 3, with gamma that of the centred batch.

    >>> dec_corollary_4(batch=3, gamma=0.25)
    12.0
    """
    return dec_theorem_3(batch, gamma)


def dec_equation_7a(alpha: Numbers, batch: Numbers, gamma: Numbers) -> Any:
    """DEC Eq. 7a: lower bound of P(full rank) for ``alpha n / gamma`` neurons.

    It is one minus the Chernoff bound for n independent geometric waiting times.

    >>> round(float(dec_equation_7a(alpha=3.0, batch=5, gamma=0.25)), 6)
    0.996088
    """
    _check_gamma(gamma)
    _check_above_one(alpha)
    ratio = np.divide(alpha, gamma)
    exponent = (ratio - 1) * np.log(np.subtract(alpha, gamma) / np.subtract(1, gamma))
    return -np.expm1(-batch * (exponent - ratio * np.log(alpha)))


def dec_equation_7b(alpha: Numbers, batch: Numbers) -> Any:
    """DEC Eq. 7b: the weaker bound ``1 - exp(-n (alpha - 1 - log alpha))``, free of gamma.

    >>> round(float(dec_equation_7b(alpha=3.0, batch=5)), 6)
    0.988968
    """
    _check_above_one(alpha)
    return -np.expm1(-batch * (np.subtract(alpha, 1) - np.log(alpha)))


def dec_growth(batch: Numbers, split: Numbers) -> Any:
    """Return ``(m/n)^2 + ((n - m)/n)^2``, the factor of DEC Eq. 40 per layer for a split after m.

    It is also the eigenvalue of the exact step of the energies of both sides: each layer sends
    (R, L) to ``(m^2 (R + L), (n - m)^2 (R + L)) / n^2``.

    >>> float(dec_growth(batch=4, split=1))
    0.625
    """
    share = np.divide(split, batch)
    return (share**2 + (1 - share) ** 2)[()]


def dec_contribution(batch: Numbers, size: Numbers, layers: Numbers, height: Numbers = 1.0) -> Any:
    """DEC Eq. 40: squared height carried, after T layers, by a cluster of ``size`` points.

    ``height`` is that of the positive cluster at the start; T = ``layers`` must be at least 1.

    >>> float(dec_contribution(batch=4, size=3, layers=1))
    0.0625
    """
    away = 1 - np.divide(size, batch)
    return (np.square(height) * away**2 * dec_growth(batch, size) ** np.subtract(layers, 1))[()]


def dec_equation_62(batch: Numbers, layers: Numbers, height: Numbers = 1.0) -> Any:
    """DEC Eq. 62: bound of what splits (2, n - 2) and (n - 2, 2) add to squared norms.

    As printed; it needs n >= 4, where ``2 n - 7`` is positive.

    >>> round(float(dec_equation_62(batch=10, layers=5)), 6)
    1.716571
    """
    n = np.asarray(batch, dtype=np.float64)
    if np.any(n < 4):
        raise ValueError(f"batch must be at least 4 for the bound to be positive, got {batch}")
    ratio = ((n - 1) / n) ** (2 * np.subtract(layers, 1))
    return (np.square(height) * ((n - 2) / n) ** 2 * (n - 1) ** 2 / (2 * n - 7) * ratio)[()]


def dec_theorem_11_norms(batch: Numbers) -> Any:
    """DEC Theorem 11, item 3: bound ``3/(n - 2)`` of the limit of ``|x_i| / |x_1|`` (or x_n).

    The proof ends with ``sqrt(8)/(n - 2)``, and ``sqrt(2)/(n - 1)`` for i = 2, n - 1.

    >>> float(dec_theorem_11_norms(batch=5))
    1.0
    """
    return np.divide(3, _above_two(batch))[()]


def dec_theorem_11_angle(batch: Numbers, constant: float = float(np.sqrt(2 * np.pi))) -> Any:
    """DEC Theorem 11, item 4: ``pi/2 - constant/(n - 2)``, below the angle of x_i and x_1 (or x_n).

    Eq. 12 and 87 print ``sqrt(2 pi)``, the default, where Eq. 88 has ``sqrt(2) pi``.

    >>> round(float(dec_theorem_11_angle(batch=10)), 4)
    1.2575
    """
    return (np.pi / 2 - constant / _above_two(batch))[()]


def dec_tree_norms(batch: int, upper: float, lower: float) -> tuple[float, float, float]:
    """DEC Eq. 45-47 one layer on: squared norms of x_1, of x_i (1 < i < n) and of x_n.

    ``upper`` and ``lower`` are the summed squared heights of the neurons split (1, n - 1) and
    (n - 1, 1), the document's S_1 and S_2, here read off at the same layer: x_1 and x_n get what
    the single points carry to the next, up to the growth factor.

    >>> dec_tree_norms(batch=3, upper=9.0, lower=9.0)
    (5.0, 2.0, 5.0)
    """
    far, near = ((batch - 1) / batch) ** 2, 1 / batch**2
    return far * upper + near * lower, near * (upper + lower), near * upper + far * lower


def dec_tree_angles(batch: int, upper: float, lower: float) -> tuple[float, float]:
    """DEC Eq. 56, 58 (both roots in the denominator): limit angles of x_i to x_1 and to x_n.

    >>> [round(float(angle), 6) for angle in dec_tree_angles(batch=3, upper=1.0, lower=1.0)]
    [1.249046, 1.249046]
    """
    first, middle, last = dec_tree_norms(batch, upper, lower)
    scale = batch**2 * np.sqrt(middle)
    return (
        float(np.arccos(lower / (scale * np.sqrt(first)))),
        float(np.arccos(upper / (scale * np.sqrt(last)))),
    )


def dec_theorem_13_alpha(batch: Numbers) -> Any:
    """DEC Theorem 13: ``alpha = n^2/(n^2 - 2n + 2)``; weights of variance 2 alpha / d keep norms.

    >>> float(dec_theorem_13_alpha(batch=2))
    2.0
    """
    n = np.asarray(batch, dtype=np.float64)
    return (n**2 / (n**2 - 2 * n + 2))[()]


def dec_invariant_radius(batch: Numbers) -> Any:
    """``R = |x_1 - nu_c|`` at an invariant representation (DEC Definition 12), in closed form.

    The two are orthogonal with norms 1 and ``1/(n - 1)``: always below the ``n/(n - 1)`` that
    Theorem 14 asks of the same representation to exceed.

    >>> round(float(dec_invariant_radius(batch=2)), 6)
    1.414214
    """
    return np.sqrt(1 + 1 / np.square(np.subtract(batch, 1.0)))


def dec_theorem_14_alpha(batch: Numbers, radius: Numbers) -> Any:
    """DEC Theorem 14: ``alpha = n^2 / ((n - 1)^2 R^2)``; that of Theorem 13 at the invariant R.

    >>> round(float(dec_theorem_14_alpha(batch=2, radius=dec_invariant_radius(2))), 12)
    2.0
    """
    return (np.divide(batch, np.multiply(np.subtract(batch, 1), radius)) ** 2)[()]


@on_tensors("rho")
def dec_kernel(rho: torch.Tensor) -> torch.Tensor:
    """DEC Eq. 111: ``(sqrt(1 - rho^2) + (pi - arccos rho) rho)/pi``, at sigma^2 = 2/d.

    The expected inner product of ReLU features of unit vectors at cosine ``rho`` in [-1, 1].

    >>> float(dec_kernel(1.0)), float(dec_kernel(-1.0))
    (1.0, 0.0)
    """
    if bool((rho.abs() > 1).any()):
        raise ValueError(f"rho must lie in [-1, 1], got {float(rho.abs().max())}")
    return ((1 - rho**2).sqrt() + (torch.pi - rho.arccos()) * rho) / torch.pi


@on_tensors("gram")
def dec_infinite_width_map(gram: torch.Tensor) -> torch.Tensor:
    """One layer of recentring and ReLU at infinite width on Gram matrices (..., n, n).

    ``C = H G H`` with ``H = I - 11^T/n``, then :func:`dec_kernel` of its cosines times the norms:
    Eq. 8 of DEC in closed form, the mean included. Divided by its largest diagonal entry, which
    changes no angle and keeps great depths in range. A point at the mean is sent to zero.

    >>> dec_infinite_width_map(np.eye(2)).round(12) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    centred = gram - gram.mean(dim=-1, keepdim=True)
    centred = centred - centred.mean(dim=-2, keepdim=True)
    lengths = centred.diagonal(dim1=-2, dim2=-1).clamp(min=0).sqrt()
    if bool((lengths.amax(dim=-1) == 0).any()):
        raise ValueError("gram must have points that differ: recentring sends all of them to zero")
    norms = lengths.unsqueeze(-1) * lengths.unsqueeze(-2)
    cosines = torch.where(norms > 0, centred / torch.where(norms > 0, norms, 1), 0)
    result = norms * dec_kernel(cosines.clamp(-1, 1))
    return result / result.diagonal(dim1=-2, dim2=-1).amax(dim=-1)[..., None, None]


def _check_gamma(gamma: Numbers) -> None:
    if not np.all((np.asarray(gamma) > 0) & (np.asarray(gamma) < 1)):
        raise ValueError(f"gamma must lie in (0, 1), got {gamma}")


def _check_above_one(alpha: Numbers) -> None:
    if not np.all(np.asarray(alpha) > 1):
        raise ValueError(f"alpha must exceed 1 for Chernoff's bound, got {alpha}")


def _above_two(batch: Numbers) -> Any:
    if np.any(np.asarray(batch) <= 2):
        raise ValueError(f"batch must exceed 2, got {batch}")
    return np.subtract(batch, 2.0)
