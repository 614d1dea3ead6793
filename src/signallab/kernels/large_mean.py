"""Convergence to 1: KER Theorem 5.11, cases 2 (slope below 1) and 3 (slope 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.kernels.families import Bound, Trial, column, critical_mean, shifted
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.activations import Activation

__all__ = [
    "around_critical",
    "constants",
    "geometric",
    "grows_by",
    "inverse_distance",
    "late",
    "printed_3",
    "sharper_3",
    "slopes_towards_one",
]

#: Of a map and starts ``(s, 1, ..)``: by how much ``1 / (1 - rho)`` grows a layer, at least.
Constant = Callable[[sp.KernelMap, Any], Any]
LATE = 1e-3  # the distance to 1 that counts as small


def geometric(factor: float = 1.0, later: int = 0) -> Bound:
    """KER Eq. 5.8: ``|rho_0 - 1| kappa'(1)^l``; with another factor of the rate, or shifted.

    >>> geometric()(0.5, np.array([0, 1]), sp.KernelMap.from_series([0.5, 0.5]))
    array([0.5 , 0.25])
    """

    def bound(start: Any, layer: Any, k: sp.KernelMap) -> Any:
        slope = column(k.derivative(1.0))
        return theory.ker_theorem_5_11_2(start, layer + later, factor * slope)

    return bound


def printed_3(k: sp.KernelMap, start: Any) -> Any:
    """KER Eq. 5.9: ``alpha = 1 - kappa(0) - kappa'(0)``.

    >>> round(float(printed_3(sp.KernelMap.from_series([0.25, 0.5, 0.25]), 0.0)), 12)
    0.25
    """
    return 1 - np.asarray(k(0.0)) - np.asarray(k.derivative(0.0)) + 0 * start


def sharper_3(k: sp.KernelMap, start: Any) -> Any:
    """Return ``kappa(0)`` from ``rho_0 >= 0``, else the larger of alpha and ``kappa(0) / 2``.

    On [0, 1) a layer adds at least ``g = (kappa(rho) - rho) / (1 - rho)^2`` to the inverse
    distance, which increases from ``g(0) = kappa(0)``. Below 0 a layer multiplies the distance,
    at most 2, by at most ``1 - kappa(0)``, which adds ``kappa(0) / 2`` or more to its inverse.

    >>> cubic = sp.KernelMap.from_series([0.02, 0.97, 0, 0.01])
    >>> [round(float(sharper_3(cubic, start)), 12) for start in (-0.5, 0.5)]
    [0.01, 0.02]
    """
    at_zero = np.asarray(k(0.0))
    return np.where(start >= 0, at_zero, np.maximum(printed_3(k, start), at_zero / 2))


def late(k: sp.KernelMap, start: Any = 0.0) -> Any:
    """Return by how much the inverse distance grows next to 1: ``kappa''(1) / 2`` if finite.

    >>> float(late(sp.KernelMap.from_series([0.5, 0, 0.5])).round(9))
    0.5
    """
    return (LATE - np.asarray(k.complement(LATE))) / LATE**2 + 0 * start


def grows_by(trial: Trial, constant: Constant) -> Case:
    """KER Eq. 5.9, solved for its constant: ``l alpha <= 1/(1 - rho_l) - 1/(1 - rho_0)``.

    Both sides at the start, map and layer where their ratio is largest. This form of the bound has
    power where the other has none: next to 1, where for many layers the distance hardly changes.

    >>> trial = Trial("", sp.KernelMap.from_series([0.5, 0, 0.5]), np.array([0.0]), 1, case=3)
    >>> case = grows_by(trial, printed_3)
    >>> case.left, case.right
    (0.5, 1.0)
    """
    start = trial.starts.reshape(-1, *[1] * (trial.distances.ndim - 2))
    growth = 1 / trial.distances - 1 / (1 - start[..., None])
    layers = np.arange(1, trial.depth + 1)
    claimed = layers * column(np.broadcast_to(constant(trial.kernel, start), growth.shape[:-1]))
    return trial.closest(claimed, growth, claimed / growth)


def constants(members: Mapping[str, sp.KernelMap]) -> pd.DataFrame:
    """Return the printed constant, the sharper one and that of the long run, of single maps.

    >>> constants({"m": sp.KernelMap.from_series([0.5, 0, 0.5])}).iloc[0, 1:].round(6).tolist()
    [0.5, 0.5, 0.5]
    """
    return pd.DataFrame(
        {
            "map": name,
            "α, printed": float(printed_3(k, 0.0)),
            "κ(0), from ρ₀ ≥ 0": float(k(0.0)),
            "growth next to 1": float(late(k)),
        }
        for name, k in members.items()
    )


def slopes_towards_one(
    members: Mapping[str, sp.KernelMap], start: float, layers: int
) -> pd.DataFrame:
    """Return by which factor the distance to 1 falls in the last layer, beside ``kappa'(1)``.

    >>> slopes_towards_one({"m": sp.KernelMap.from_series([0.5, 0.5])}, 0.0, 9).iloc[0, 1:].tolist()
    [0.5, 0.5]
    """
    rows = []
    for name, k in members.items():
        before, after = k.approach(start, layers)[-2:]
        rows.append(
            {
                "map": name,
                "factor of the last layer": after / before,
                "κ′(1)": float(k.derivative(1.0)),
            }
        )
    return pd.DataFrame(rows)


def inverse_distance(k: sp.KernelMap, start: float, depth: int) -> Floats:
    """Return ``1 / (1 - rho_l)`` for l = 0..depth.

    >>> inverse_distance(sp.KernelMap.from_series([0.5, 0.5]), 0.0, 2)
    array([1., 2., 4.])
    """
    return 1 / np.asarray(k.iterate_complement(1 - start, depth))


def around_critical(phi: Activation, shares: list[float], depth: int) -> pd.DataFrame:
    """Return the inverse distance from 0 for means that are shares of the critical one.

    Columns: share of the critical mean, layer, inverse distance to 1.

    >>> around_critical(sp.activations.sin, [1.0], 1)["inverse distance to 1"].round(6).tolist()
    [1.0, 1.313035]
    """
    mean = critical_mean(phi)
    frames = [
        pd.DataFrame(
            {
                "share of the critical mean": share,
                "layer": np.arange(depth + 1),
                "inverse distance to 1": inverse_distance(
                    sp.KernelMap(shifted(phi.standardized(), share * mean)), 0.0, depth
                ),
            }
        )
        for share in shares
    ]
    return pd.concat(frames, ignore_index=True)
