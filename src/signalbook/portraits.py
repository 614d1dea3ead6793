"""Phase portraits of kernel maps: the activation, the map with its cobweb, distance by depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from signalprop import Activation, KernelMap

__all__ = ["Portrait", "draw"]

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
    axes[1].plot([-1, 1], [-1, 1], "k:", lw=1)
    axes[1].plot(corners[:-1], corners[1:], "-", lw=1)
    star = float(kernel.fixed_point().value)
    axes[1].plot(star, star, "ko", clip_on=False)
    distance = kernel.approach(portrait.rho0, depth)
    axes[2].semilogy(np.where(distance > 1e-14, distance, np.nan), label="distance")
    axes[2].semilogy(portrait.bound, label="bound")
    return pd.DataFrame(
        {
            "case": portrait.title,
            "layer": np.arange(depth + 1),
            "correlation": path,
            "distance": distance,
            "bound": portrait.bound,
        }
    )
