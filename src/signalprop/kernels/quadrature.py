"""Gaussian expectations to rounding error, with kinks and jumps on the edges of panels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

__all__ = ["gaussian_expectation", "panel_rule", "resolve"]

Function = Callable[[Tensor], Tensor]

ORDER = 20  # Gauss-Legendre nodes a panel: exact to degree 39
FARTHEST = 38.0  # the Gaussian density underflows soon after
NODES, WEIGHTS = (torch.from_numpy(a) for a in np.polynomial.legendre.leggauss(ORDER))


def density(x: Tensor) -> Tensor:
    """Return the standard Gaussian density at ``x``."""
    return torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def panel_rule(splits: Tensor, reach: float, width: float) -> tuple[Tensor, Tensor]:
    """Return nodes and weights ``(..., N)`` with ``sum(weights * f(nodes)) = E f(X)``.

    Composite Gauss-Legendre on ``[-reach, reach]``: panels no wider than ``width``, and an edge at
    each of ``splits`` ``(..., s)`` that falls inside. The weights carry the Gaussian density.

    >>> x, w = panel_rule(torch.zeros(0, dtype=torch.float64), 10.0, 1.0)
    >>> abs(float((w * x**4).sum()) - 3) < 1e-13
    True
    """
    panels = math.ceil(2 * reach / width)
    grid = torch.linspace(-reach, reach, panels + 1, dtype=torch.float64, device=splits.device)
    inside = splits.clamp(-reach, reach)
    edges = torch.cat([grid.expand(*splits.shape[:-1], -1), inside], dim=-1).sort(dim=-1).values
    centre = (edges[..., 1:] + edges[..., :-1])[..., None] / 2
    half = (edges[..., 1:] - edges[..., :-1])[..., None] / 2
    nodes = (centre + half * NODES.to(splits.device)).flatten(-2)
    weights = (half * WEIGHTS.to(splits.device)).flatten(-2)
    return nodes, weights * density(nodes)


def gaussian_expectation(f: Function, breakpoints: Sequence[float] = ()) -> float:
    """Return ``E f(X)`` for ``X ~ N(0, 1)``, to about 1e-15 of ``E |f(X)|``.

    ``f`` maps a float64 tensor to one of the same shape and is smooth between ``breakpoints``.
    Right because Gauss-Legendre converges geometrically on panels where ``f`` is analytic, and the
    panels are halved until nothing changes. A divergent expectation, or a kink that
    ``breakpoints`` does not name, is a ``ValueError``.

    >>> gaussian_expectation(torch.abs, [0.0]) - math.sqrt(2 / math.pi) < 1e-15
    True
    """
    return resolve(f, breakpoints)[0]


def resolve(f: Function, breakpoints: Sequence[float] = ()) -> tuple[float, float, float]:
    """Return ``E f(X)`` with the reach and the panel width that resolve it."""
    splits = torch.as_tensor(tuple(breakpoints), dtype=torch.float64)
    reach = _reach(f)
    before = math.inf
    for level in range(10):
        width = 2.0 ** (1 - level)
        nodes, weights = panel_rule(splits, reach, width)
        terms = weights * f(nodes)
        value, size = float(terms.sum()), float(terms.abs().sum())
        if abs(value - before) <= 2e-15 * size:
            return value, reach, 2 * width  # the coarser of the two that agree was enough
        before = value
    raise ValueError(
        "f is not resolved by panels of 1/256: name its kinks and jumps as breakpoints"
    )


def _reach(f: Function) -> float:
    """Return the smallest multiple of 1/2 beyond which ``|f|`` times the density is negligible."""
    x = torch.arange(0.0, FARTHEST + 0.01, 0.125, dtype=torch.float64)
    both = torch.maximum(f(x).abs(), f(-x).abs()) * density(x)
    mass = torch.where(torch.isfinite(both), both, math.inf)
    peak = torch.cummax(mass, 0).values
    for step in range(64, len(x) - 4, 4):
        if math.isfinite(float(peak[step])) and bool(
            (mass[step : step + 5] <= 1e-18 * peak[step]).all()
        ):
            return float(x[step])
    raise ValueError(
        f"f must have a Gaussian expectation, but |f| times the density does not decay by "
        f"|x| = {FARTHEST:g}: E f(X) is infinite, or beyond double precision"
    )
