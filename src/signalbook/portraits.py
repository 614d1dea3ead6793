"""Phase portraits of kernel maps: the activation, the map with its cobweb, distance by depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from signalbook.play import Embedded, digits
from signalprop import Activation, KernelMap, theory

__all__ = ["Portrait", "bound", "draw", "interactive"]

HEADS = ("activation", "kernel map and iteration", "distance to the fixed point")


@dataclass(frozen=True)
class Portrait:
    """One row of a figure: an activation with ``E phi(X)^2 = 1``, a start and a bound.

    ``bound`` holds an upper bound of ``|rho_l - rho*|`` for l = 0, 1, ..., as far as it is to be
    followed.
    """

    title: str
    phi: Activation
    rho0: float
    bound: np.ndarray[Any, Any]


def bound(kernel: KernelMap, rho0: float, depth: int) -> np.ndarray[Any, Any]:
    """Return the bound of ``|rho_l - rho*|``, l = 0..depth, that holds in the case of the map.

    The printed one of KER Theorem 5.11 in cases 2 and 3, the repaired one in cases 1 and 4.
    """
    layers, point = np.arange(depth + 1), kernel.fixed_point()
    value, slope = float(point.value), float(point.multiplier)
    at_zero, at_one = float(kernel(0.0)), float(kernel.derivative(1.0))
    match theory.ker_theorem_5_11_case(at_zero, at_one):
        case 2:
            result = theory.ker_theorem_5_11_2(rho0, layers, slope)
        case 3:
            slope_at_zero = float(kernel.derivative(0.0))
            result = theory.ker_theorem_5_11_3(rho0, layers, at_zero, slope_at_zero)
        case _:
            result = theory.ker_theorem_5_11_4_repaired(rho0, layers, value, slope)
    return np.asarray(result)


def draw(portraits: list[Portrait]) -> tuple[Any, pd.DataFrame]:
    """Draw one row a portrait; return the figure and the numbers of all trajectories."""
    fig, axes = plt.subplots(len(portraits), 3, figsize=(8.4, 2.3 * len(portraits)), squeeze=False)
    rows = [_draw_row(*pair) for pair in zip(portraits, axes, strict=True)]
    for ax, head in zip(axes[0], HEADS, strict=True):
        ax.set_title(head)
    for ax, label in zip(axes[-1], ("input", "correlation", "layer"), strict=True):
        ax.set_xlabel(label)
    axes[0, 2].legend()
    return fig, pd.concat(rows)


def _draw_row(portrait: Portrait, axes: Any) -> pd.DataFrame:
    kernel, depth = KernelMap(portrait.phi), len(portrait.bound) - 1
    x, grid = np.linspace(-3, 3, 301), np.linspace(-1, 1, 301)
    axes[0].plot(x, portrait.phi(x))
    axes[0].set_ylabel(portrait.title)
    path = np.asarray(kernel.iterate(portrait.rho0, depth))
    corners = np.repeat(path, 2)
    axes[1].plot(grid, kernel(grid))
    axes[1].plot([-1, 1], [-1, 1], "-", color="0.6", lw=1)
    axes[1].plot(corners[:-1], corners[1:], "-", lw=1)
    star = float(kernel.fixed_point().value)
    axes[1].plot(star, star, "ko", clip_on=False)
    distance = kernel.approach(portrait.rho0, depth)
    for label, values, style in (("distance", distance, "C0-"), ("bound", portrait.bound, "k--")):
        axes[2].semilogy(np.where(values > 1e-14, values, np.nan), style, label=label)
    return pd.DataFrame(
        {
            "case": portrait.title,
            "layer": np.arange(depth + 1),
            "correlation": path,
            "distance": distance,
            "bound": portrait.bound,
        }
    )


def interactive(activations: Mapping[str, Activation], gains: Sequence[float]) -> Embedded:
    """Return the maps of the activations at each gain, as ``assets/phase-portrait.js`` reads them.

    Each standardized: ``(1 - kappa(1 - gap)) / gap^power`` at equal steps of the angle ``acos(1 -
    gap)``, where it is smooth; ``power`` is 1, or 1/2 for an activation with jumps.
    """
    return Embedded(
        "phase-portrait-maps",
        {
            name: {f"{gain:g}": _tabulate(phi.gained(gain)) for gain in gains}
            for name, phi in activations.items()
        },
    )


def _tabulate(phi: Activation, steps: int = 96) -> dict[str, Any]:
    kernel = KernelMap(phi.standardized())
    slope = float(kernel.derivative(1.0))
    power = 1.0 if np.isfinite(slope) else 0.5
    gaps = 2 * np.sin(np.linspace(0, np.pi, steps + 1) / 2) ** 2
    gaps[0] = 1e-20  # the limit
    return {
        "mean": round(abs(phi.mean) / np.sqrt(phi.variance), 13),
        "slope": slope if np.isfinite(slope) else None,
        "power": power,
        "values": digits(kernel.complement(gaps) / gaps**power, 9),
    }
