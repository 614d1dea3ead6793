"""Contraction with normalization layers (KER Thm. 5.15), as printed and repaired.

The map of the activation enters by a few numbers, and may have any ``kappa(1)``: ``at_zero`` is
``kappa(0)``, ``slope_at_zero`` is ``kappa'(0)``, and so on. All arguments are arrays that
broadcast, so that one call serves a batch of maps.
"""

from __future__ import annotations

from typing import Any

from signalprop._arrays import on_tensors
from signalprop.theory._formula import formula
from signalprop.theory.kernels.centred import ker_potential

__all__ = [
    "ker_theorem_5_15",
    "ker_theorem_5_15_alpha",
    "ker_theorem_5_15_alpha_repaired",
]


@formula()
def ker_theorem_5_15_alpha(at_zero: Any, at_one: Any, slope_at_one: Any) -> Any:
    """KER Eq. 5.14: ``alpha = (kappa(1) - kappa(0)) / kappa'(1)`` as printed.

    >>> ker_theorem_5_15_alpha(at_zero=0.0, at_one=1.0, slope_at_one=2.0)
    0.5
    """
    return (at_one - at_zero) / slope_at_one


@formula()
def ker_theorem_5_15_alpha_repaired(at_zero: Any, at_one: Any, slope_at_zero: Any) -> Any:
    """KER Eq. 5.14 with the rate of Theorem 5.8, which its proof invokes.

    Standardized, the activation has the map ``(kappa - kappa(0)) / v`` with the variance ``v =
    kappa(1) - kappa(0)``, whose slope at 0 is ``kappa'(0) / v``. Theorem 5.8 then says ``alpha =
    1 / (2 - kappa'(0) / v) = v / (2 v - kappa'(0))``.

    >>> ker_theorem_5_15_alpha_repaired(at_zero=1.0, at_one=3.0, slope_at_zero=0.0)
    0.5
    """
    variance = at_one - at_zero
    return variance / (2 * variance - slope_at_zero)


@formula()
@on_tensors("rho0", "depth")
def ker_theorem_5_15(
    rho0: Any, depth: Any, at_zero: float, at_one: float, slope_at_one: float
) -> Any:
    """KER Theorem 5.15: bound of the potential of ``rho_depth`` with normalization layers.

    >>> ker_theorem_5_15(0.5, [0, 1], at_zero=0.0, at_one=1.0, slope_at_one=2.0)
    array([1. , 0.5])
    """
    return ker_potential(rho0) * ker_theorem_5_15_alpha(at_zero, at_one, slope_at_one) ** depth
