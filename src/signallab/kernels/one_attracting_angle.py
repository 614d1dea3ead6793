"""Where the iteration of a kernel map goes: KER Theorem 5.11 and Remarks 5.12, 5.13."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.kernels.families import shifted
from signalprop._arrays import Floats
from signalprop.activations import Activation

__all__ = [
    "Attractors",
    "attractors",
    "fixed_by",
    "fixed_points",
    "nearer",
    "never_negative",
    "with_mean",
]

Map = Callable[[Any], Any]

# An even number of points, so that 0, where centred maps have their root, lies between two.
LEFT = np.linspace(-1, 0.5, 1000)
GAPS = np.geomspace(0.5, 1e-10, 500)  # 1 - rho on the rest of the way to 1
INSIDE = np.linspace(-0.998, 0.998, 999)
STRICTLY = 1e-8  # nearer by more than the rounding of a distance


class Attractors(NamedTuple):
    """How many attracting points maps have, and the lowest: one entry a map."""

    count: Any
    value: Any


def attractors(function: Map, complement: Map | None = None) -> Attractors:
    """Return the attracting fixed points in [-1, 1] of one function or a batch, found by search.

    Attracting is where ``function(rho) - rho`` falls through zero (crossings are bracketed on 1,500
    points and bisected), or 1 itself, where it is still positive next to 1. Nothing is
    presupposed: the function need not be a kernel map, and may have several such points.
    ``complement(d)`` is ``1 - function(1 - d)`` with its own digits.

    >>> k = sp.KernelMap.from_series([[1 / 3, 0, 2 / 3], [0.5, 0.5, 0]])
    >>> attractors(k, k.complement).value.round(9)
    array([0.5, 1. ])
    >>> attractors(lambda rho: rho**2 / 2 + 2 * rho / 3 - 1 / 6).value.round(9)
    np.float64(-0.333333333)
    """
    batch = np.ndim(function(0.0))
    left, gaps = (grid.reshape(-1, *[1] * batch) for grid in (LEFT, GAPS))
    below_one = complement or (lambda d: 1 - function(1 - d))
    rise = np.concatenate([function(left) - left, gaps - below_one(gaps)])
    falls = (rise[:-1] > 0) & (rise[1:] <= 0)
    grid = np.concatenate([LEFT, 1 - GAPS])
    first = falls.argmax(axis=0)
    low, high = grid[first], grid[np.minimum(first + 1, len(grid) - 1)]
    for _ in range(60):
        middle = (low + high) / 2
        climbs = function(middle) > middle
        low, high = np.where(climbs, middle, low), np.where(climbs, high, middle)
    ends_at_one = rise[-1] > 0
    return Attractors(falls.sum(axis=0) + ends_at_one, np.where(falls.any(axis=0), high, 1.0))


def nearer(name: str, kernel: sp.KernelMap, towards: float | None = None) -> Case:
    """KER Theorem 5.11 as one inequality: a layer brings every cosine nearer to the fixed point.

    ``left`` is the largest ``|kappa(rho) - rho*| / |rho - rho*|`` over 999 points of (-1, 1) that
    are not ``rho*`` itself, ``right`` is 1, less :data:`STRICTLY`. A factor below 1 throughout says
    all that the theorem says: distances that keep falling have the limit ``rho*``, because the
    map is continuous, so nothing else in (-1, 1) is fixed, and -1 and 1 do not attract. ``towards``
    is another candidate for ``rho*``.

    >>> round(nearer("square", sp.KernelMap.from_series([0, 0, 1.0])).left, 9)
    0.998
    """
    point = attractors(kernel, kernel.complement).value if towards is None else kernel(0.0) * 0
    point = point + (towards or 0.0)
    rho = INSIDE.reshape(-1, *[1] * np.ndim(point))
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.abs(kernel(rho) - point) / np.abs(rho - point)
    factor = np.where(np.abs(rho - point) > 1e-6, factor, 0)
    place = np.unravel_index(int(factor.argmax()), factor.shape)
    nonlinear = bool(np.all(kernel.nonlinearity > 0)) if towards is None else True
    return Case(
        float(factor[place]),
        1 - STRICTLY,
        {"the activation is not linear": nonlinear},
        words=f"{name}, $\\rho = {INSIDE[place[0]]:.3g}$",
    )


def never_negative(name: str, function: Map, complement: Map | None = None) -> Case:
    """KER Remark 5.12: exactly one attracting point in [-1, 1], and ``1 - rho* <= 1``.

    ``left`` is ``1 + |count - 1|`` and ``1 - rho*``, the largest over a batch; ``right`` is 1, 1.

    >>> never_negative("(1 + ρ)/2", lambda rho: (1 + rho) / 2).left
    array([1., 0.])
    """
    found = attractors(function, complement)
    left = [1 + np.abs(found.count - 1).max(), 1 - np.min(found.value)]
    return Case(np.array(left, dtype=float), np.ones(2), words=name)


def fixed_by(name: str, phi: Activation, starts: Any) -> Case:
    """KER Remark 5.13: cosines that a layer leaves where they are, after (left) and before (right).

    One layer is enough; more would multiply rounding by the slope, 1.8 for the cube, each.

    >>> A = sp.activations
    >>> fixed_by("cube", A.cube, [-1.0, 1.0]).left
    array([-1.,  1.])
    """
    start = np.asarray(starts, dtype=float)
    return Case(sp.KernelMap(phi.normalized())(start), start, words=name)


def with_mean(phi: Activation, means: Floats) -> pd.DataFrame:
    """Return where the cosine goes if a constant is added to an activation of mean 0, variance 1.

    Columns: the mean that is added, the attracting cosine, its angle in degrees, the slopes of the
    map there and at 1. Adding c turns ``kappa`` into ``(kappa + c^2) / (1 + c^2)``.

    >>> with_mean(sp.activations.tanh, np.array([0.0, 2.0]))["angle"].tolist()
    [90.0, 0.0]
    """
    rows = []
    for mean in means:
        kernel = sp.KernelMap(shifted(phi.standardized(), float(mean)))
        cosine = float(attractors(kernel, kernel.complement).value)
        cosine = cosine if mean else 0.0  # a root at 0 is found to within 1e-17
        rows.append(
            {
                "mean": float(mean),
                "cosine": cosine,
                "angle": float(np.degrees(np.arccos(cosine))),
                "slope there": float(kernel.derivative(cosine)),
                "slope at 1": float(kernel.derivative(1.0)),
            }
        )
    return pd.DataFrame(rows)


def fixed_points(members: Mapping[str, sp.KernelMap], starts: Floats, depth: int) -> pd.DataFrame:
    """Return all fixed points of single maps, and how far from the attracting one starts end.

    >>> fixed_points({"square": sp.KernelMap.from_series([0, 0, 1.0])}, np.array([0.5]), 9)
          map fixed points attracting  distance left
    0  square   [0.0, 1.0]      [0.0]  7.458341e-155
    """
    rows = []
    for name, kernel in members.items():
        found = kernel.fixed_points()
        attracting = [p.value for p in found if p.attracting]
        ends = np.asarray(kernel.iterate(starts, depth))[..., -1]
        left = max(float(np.abs(ends - value).max()) for value in attracting)
        rows.append(
            {
                "map": name,
                "fixed points": [round(p.value, 4) for p in found],
                "attracting": [round(value, 4) for value in attracting],
                "distance left": left,
            }
        )
    return pd.DataFrame(rows)
