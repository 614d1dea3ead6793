"""Contraction with normalization layers (KER Thm. 5.15), as printed.

Throughout ``kappa(1) = 1``. The map enters by a few numbers: ``at_zero`` is ``kappa(0)``,
``slope_at_zero`` is ``kappa'(0)``, and so on. All arguments are arrays that broadcast, so that one
call serves a batch of maps.
"""

from __future__ import annotations

from typing import Any

from signalprop._arrays import on_tensors
from signalprop.theory.kernels.centred import ker_potential

__all__ = [
    "ker_theorem_5_15",
    "ker_theorem_5_15_alpha",
]


def ker_theorem_5_15_alpha(at_zero: float, at_one: float, slope_at_one: float) -> float:
    """KER Eq. 5.14: ``alpha = (kappa(1) - kappa(0)) / kappa'(1)`` as printed.

    >>> ker_theorem_5_15_alpha(at_zero=0.0, at_one=1.0, slope_at_one=2.0)
    0.5
    """
    return (at_one - at_zero) / slope_at_one


@on_tensors("rho0", "depth")
def ker_theorem_5_15(
    rho0: Any, depth: Any, at_zero: float, at_one: float, slope_at_one: float
) -> Any:
    """KER Theorem 5.15: bound of the potential of ``rho_depth`` with normalization layers.

    >>> ker_theorem_5_15(0.5, [0, 1], at_zero=0.0, at_one=1.0, slope_at_one=2.0)
    array([1. , 0.5])
    """
    return ker_potential(rho0) * ker_theorem_5_15_alpha(at_zero, at_one, slope_at_one) ** depth
