"""Contraction to zero for centred activations (KER Thm. 5.8), in the potential.

Throughout ``kappa(1) = 1``. The map enters by a few numbers: ``at_zero`` is ``kappa(0)``,
``slope_at_zero`` is ``kappa'(0)``, and so on. All arguments are arrays that broadcast, so that one
call serves a batch of maps.
"""

from __future__ import annotations

from typing import Any

import torch

from signalprop._arrays import on_tensors
from signalprop.theory._formula import formula

__all__ = [
    "ker_corollary_5_10",
    "ker_corollary_5_10_repaired",
    "ker_potential",
    "ker_theorem_5_8",
    "ker_theorem_5_8_alpha",
]


@formula()
@on_tensors("rho")
def ker_potential(rho: Any) -> Any:
    """Return ``|rho| / (1 - |rho|)``, in which KER states contraction; infinite at both ends.

    >>> ker_potential([-0.5, 0.75])
    array([1., 3.])
    """
    check_correlation("rho", rho)
    return abs(rho) / (1 - abs(rho))


@formula()
def ker_theorem_5_8_alpha(slope_at_zero: Any) -> Any:
    """KER Eq. 5.6: ``alpha = 1 / (2 - kappa'(0))``, below 1 unless the activation is linear.

    >>> ker_theorem_5_8_alpha(0.0)
    0.5
    """
    return 1 / (2 - slope_at_zero)


@formula()
@on_tensors("rho0", "depth", "slope_at_zero")
def ker_theorem_5_8(rho0: Any, depth: Any, slope_at_zero: Any) -> Any:
    """KER Theorem 5.8: bound of the potential of ``rho_depth``, for centred activations.

    One step contracts: ``kappa(r) / (1 - kappa(r)) <= alpha r / (1 - r)`` because each term of
    ``(1 - kappa(r)) / (1 - r) = sum c_k^2 (1 + r + ... + r^{k-1})`` counts twice for k > 1.

    >>> ker_theorem_5_8(0.5, [0, 1, 2], slope_at_zero=0.0)
    array([1.  , 0.5 , 0.25])
    """
    return ker_potential(rho0) * ker_theorem_5_8_alpha(slope_at_zero) ** depth


@formula()
@on_tensors("rho0", "depth", "slope_at_zero")
def ker_corollary_5_10(rho0: Any, depth: Any, slope_at_zero: Any) -> Any:
    """KER Corollary 5.10, bound of ``|rho_depth|`` as printed: ``rho0`` on top, with its sign.

    >>> ker_corollary_5_10([-0.5, 0.5], 0, slope_at_zero=0.0)
    array([-1.,  1.])
    """
    check_correlation("rho0", rho0)
    return rho0 / (1 - abs(rho0)) * ker_theorem_5_8_alpha(slope_at_zero) ** depth


@formula()
def ker_corollary_5_10_repaired(rho0: Any, depth: Any, slope_at_zero: Any) -> Any:
    """KER Corollary 5.10 with ``|rho0|`` for ``rho0``: no number exceeds its potential.

    >>> ker_corollary_5_10_repaired([-0.5, 0.5], 0, slope_at_zero=0.0)
    array([1., 1.])
    """
    return ker_theorem_5_8(rho0, depth, slope_at_zero)


def check_correlation(name: str, rho: torch.Tensor) -> None:
    """Raise unless all of ``rho`` lie in [-1, 1]."""
    size = float(rho.abs().max())
    if size > 1:
        raise ValueError(f"{name} must lie in [-1, 1], got {size} in size")
