"""The four cases of KER Theorem 5.11, their bounds as printed and repaired.

Throughout ``kappa(1) = 1``. The map enters by a few numbers: ``at_zero`` is ``kappa(0)``,
``slope_at_zero`` is ``kappa'(0)``, and so on. All arguments are arrays that broadcast, so that one
call serves a batch of maps.
"""

from __future__ import annotations

from typing import Any

import torch

from signalprop._arrays import on_tensors
from signalprop.theory._formula import formula
from signalprop.theory.kernels.centred import check_correlation, ker_potential

__all__ = [
    "ker_theorem_5_11_1",
    "ker_theorem_5_11_2",
    "ker_theorem_5_11_3",
    "ker_theorem_5_11_3_sharper",
    "ker_theorem_5_11_4",
    "ker_theorem_5_11_4_alphas",
    "ker_theorem_5_11_4_repaired",
    "ker_theorem_5_11_case",
]


@formula()
def ker_theorem_5_11_case(at_zero: float, slope_at_one: float, tolerance: float = 1e-9) -> int:
    """KER Theorem 5.11: the case, 1 to 4, of a non-linear map with ``kappa(1) = 1``.

    ``tolerance`` is how far ``kappa(0)`` may be from 0, and ``kappa'(1)`` from 1, to count as it.

    >>> [ker_theorem_5_11_case(*numbers) for numbers in [(0, 2), (0.5, 0.7), (0.4, 1), (0.2, 3)]]
    [1, 2, 3, 4]
    """
    if at_zero <= tolerance:
        return 1
    if abs(slope_at_one - 1) <= tolerance:
        return 3
    return 2 if slope_at_one < 1 else 4


@formula()
@on_tensors("rho0", "depth")
def ker_theorem_5_11_1(rho0: Any, depth: Any, slope_at_one: Any) -> Any:
    """KER Eq. 5.7 (``kappa(0) = 0``): bound of the potential as printed, rate ``1 / kappa'(1)``.

    The slope may be infinite. :func:`ker_theorem_5_8` is the bound that holds.

    >>> ker_theorem_5_11_1(0.5, [0, 1], slope_at_one=2.0)
    array([1. , 0.5])
    """
    return ker_potential(rho0) * (1 / torch.as_tensor(slope_at_one, dtype=rho0.dtype)) ** depth


@formula()
@on_tensors("rho0", "depth", "slope_at_one")
def ker_theorem_5_11_2(rho0: Any, depth: Any, slope_at_one: Any) -> Any:
    """KER Eq. 5.8 (``kappa(0) > 0``, ``kappa'(1) < 1``): bound of ``|rho_depth - 1|``.

    ``(1 - kappa(r)) / (1 - r)`` is at most the largest slope, ``kappa'(1)``.

    >>> ker_theorem_5_11_2(0.5, [0, 1], slope_at_one=0.5)
    array([0.5 , 0.25])
    """
    check_correlation("rho0", rho0)
    return abs(rho0 - 1) * slope_at_one**depth


@formula()
@on_tensors("rho0", "depth", "at_zero", "slope_at_zero")
def ker_theorem_5_11_3(rho0: Any, depth: Any, at_zero: Any, slope_at_zero: Any) -> Any:
    """KER Eq. 5.9 (``kappa(0) > 0``, ``kappa'(1) = 1``): bound of ``|rho_depth - 1|``.

    >>> ker_theorem_5_11_3(0.0, [0, 1, 3], at_zero=0.25, slope_at_zero=0.25)
    array([1.        , 0.66666667, 0.4       ])
    """
    check_correlation("rho0", rho0)
    alpha = 1 - at_zero - slope_at_zero
    return abs(rho0 - 1) / (depth * alpha * abs(rho0 - 1) + 1)


@formula()
@on_tensors("rho0", "depth", "at_zero")
def ker_theorem_5_11_3_sharper(rho0: Any, depth: Any, at_zero: Any) -> Any:
    """KER Eq. 5.9 with ``alpha = kappa(0)``, never less than the printed one; ``rho0 >= 0`` only.

    With ``x = 1 - rho`` and ``g(rho) = (kappa(rho) - rho) / (1 - rho)^2`` a layer takes x to
    ``x (1 - g x)``, so that ``1/x`` grows by at least g; and since ``kappa'(1) = 1`` all
    coefficients of ``g(rho) = sum_k c_k^2 sum_{j<i<k} rho^j`` are non-negative, ``g >= g(0)``.

    >>> ker_theorem_5_11_3_sharper(0.0, [0, 1, 3], at_zero=0.5)
    array([1.        , 0.66666667, 0.4       ])
    """
    check_correlation("rho0", rho0)
    if float(rho0.min()) < 0:
        raise ValueError(f"rho0 must not be negative here, got {float(rho0.min())}")
    return (1 - rho0) / (depth * at_zero * (1 - rho0) + 1)


@formula()
def ker_theorem_5_11_4_alphas(
    at_zero: Any, fixed_point: Any, slope_at_fixed_point: Any
) -> tuple[Any, Any, Any]:
    """KER Eq. 5.10: the three rates of which alpha is the largest.

    They rule ``rho <= 0``, ``0 <= rho <= rho*`` and ``rho >= rho*`` in this order.

    >>> ker_theorem_5_11_4_alphas(at_zero=0.25, fixed_point=0.5, slope_at_fixed_point=0.75)
    (0.75, 0.75, 0.4)
    """
    above = (1 - fixed_point) / (2 - slope_at_fixed_point)
    return 1 - at_zero, slope_at_fixed_point, above


@formula()
@on_tensors("rho0", "depth", "at_zero", "fixed_point", "slope_at_fixed_point")
def ker_theorem_5_11_4(
    rho0: Any, depth: Any, at_zero: Any, fixed_point: Any, slope_at_fixed_point: Any
) -> Any:
    """KER Eq. 5.10 (``kappa(0) > 0``, ``kappa'(1) > 1``): bound of ``|rho_depth - rho*|``.

    As printed, which fails near ``rho0 = 1``: see :func:`ker_theorem_5_11_4_repaired`.

    >>> ker_theorem_5_11_4(0.0, [0, 1], at_zero=0.25, fixed_point=0.5, slope_at_fixed_point=0.75)
    array([0.5  , 0.375])
    """
    check_correlation("rho0", rho0)
    below, inside, above = ker_theorem_5_11_4_alphas(at_zero, fixed_point, slope_at_fixed_point)
    alpha = torch.maximum(torch.maximum(below, inside), above)
    return abs(rho0 - fixed_point) / (1 - abs(rho0)) * alpha**depth


@formula()
@on_tensors("rho0", "depth", "fixed_point", "slope_at_fixed_point")
def ker_theorem_5_11_4_repaired(
    rho0: Any, depth: Any, fixed_point: Any, slope_at_fixed_point: Any
) -> Any:
    """Bound of ``|rho_depth - rho*|`` for every map with ``rho* < 1``, of one rate only.

    It is ``|rho0 - rho*| max(1, (1 - rho*) / (1 - |rho0|))`` times the power of ``alpha =
    1 / (2 - kappa'(rho*))``, because that product shrinks by alpha a layer: above ``rho*`` by the
    proof of KER Theorem 5.8 about ``rho*`` in place of 0; in ``[-rho*, rho*]`` by ``kappa'(rho*)
    <= alpha``, as ``kappa'`` increases and ``kappa(r) + kappa(-r) >= 2 kappa(0)``; below ``-rho*``
    by both together. For ``rho* = 0`` it is Corollary 5.10.

    >>> ker_theorem_5_11_4_repaired([0.25, 0.75], 1, fixed_point=0.5, slope_at_fixed_point=0.75)
    array([0.2, 0.4])
    """
    check_correlation("rho0", rho0)
    stretch = ((1 - fixed_point) / (1 - abs(rho0))).clamp(min=1.0)
    return abs(rho0 - fixed_point) * stretch / (2 - slope_at_fixed_point) ** depth
