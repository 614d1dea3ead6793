"""The kernel map by three routes, and the dictionary of KER Table 5.2 as numbers.

An integral over the plane and the series of KER Corollary 5.7 have no formula in common. The third
is :class:`signalprop.KernelMap`: closed forms, or a series inside and integrals of ``phi'`` at the
ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.limits.expansions import hermite_coefficients
from signalprop.limits.quadrature import bivariate_expectation, gaussian_expectation

__all__ = [
    "ACTIVATIONS",
    "LINES",
    "TAYLOR",
    "Route",
    "agrees",
    "by_map",
    "by_quadrature",
    "by_reflection",
    "by_series",
    "fixed_at",
    "fixed_points",
    "largest",
    "never_falls",
    "partial_sums",
    "routes",
    "squares",
    "tail",
    "three_languages",
]

#: Of an activation and correlations ``(r,)``: the kernel map there.
Route = Callable[[Activation, Floats], Floats]

A = sp.activations
ACTIVATIONS: tuple[Activation, ...] = (
    *(A.tanh, A.relu, A.gelu, A.exp, A.sin, A.erf, A.sign, A.cube, A.leaky_relu(), A.elu, A.selu),
    *(A.step, A.silu, A.softplus, A.sigmoid, A.norm_relu()),
)
#: Three that are linear, one of them with a constant.
LINES: tuple[Activation, ...] = (
    A.identity,
    A.identity.scaled(2.0),
    Activation("identity + 1", lambda x: x.clone(), shift=1.0),
)
ORDERS = 6  # of the differences that are looked at
ROUNDING = 1e-14  # of a value found by quadrature in the plane
STEP = 3e-3  # of the difference quotient at 0, which is off by 4 STEP^4 c_5^2


def by_quadrature(phi: Activation, rho: Floats) -> Floats:
    """Return ``E phi(X) phi(Y)`` by an integral over the plane, split along the kinks.

    >>> by_quadrature(A.sign, np.array([0.5])).round(12)     # 2/pi arcsin(1/2)
    array([0.33333333])
    """
    return _in_plane(phi, tuple(np.asarray(rho, dtype=float).tolist()))


def by_series(
    phi: Activation, rho: Floats, order: int = 1500, power: int = 2, lag: int = 0
) -> Floats:
    """Return ``sum_k c_k^2 rho^k`` up to an order (KER Corollary 5.7).

    ``power`` stands for the square of the coefficients, ``lag`` shifts the powers of rho.

    >>> by_series(A.cube, np.array([0.5]), order=5).round(12)   # 9 rho + 6 rho^3
    array([5.25])
    """
    c = _coefficients(phi, order)
    return np.asarray(rho**lag * np.polynomial.polynomial.polyval(rho, c**power))


def by_map(phi: Activation, rho: Floats) -> Floats:
    """Return the map of the library.

    >>> by_map(A.erf, np.array([0.0, 1.0])).round(6)
    array([0.      , 0.464559])
    """
    return np.asarray(sp.KernelMap(phi)(rho))


def by_reflection(phi: Activation, rho: Floats) -> Floats:
    """Return ``E phi(X) phi(Y)`` for ``Y = X`` or ``-X``, such that ``E XY = rho``.

    Y is standard Gaussian, but the pair is not Gaussian. With ``Y = X`` of probability
    ``(1 + rho)/2``, the value is linear in rho, whatever the activation.

    >>> by_reflection(A.relu.normalized(), np.array([-1.0, 0.0, 1.0])).round(12)
    array([0. , 0.5, 1. ])
    """
    same = phi.second_moment
    mirrored = gaussian_expectation(lambda x: phi(x) * phi(-x), _mirrored_kinks(phi))
    return np.asarray((1 + rho) / 2 * same + (1 - rho) / 2 * mirrored)


def routes(rho: Floats, order: int) -> pd.DataFrame:
    """Return ``activation, correlation, quadrature, series, map`` for all stable activations.

    >>> routes(np.array([0.0]), 10).columns.tolist()
    ['activation', 'correlation', 'quadrature', 'series', 'map']
    """
    parts = []
    for phi in ACTIVATIONS:
        stable = phi.normalized()
        values = {
            "quadrature": by_quadrature(stable, rho),
            "series": by_series(stable, rho, order),
            "map": by_map(stable, rho),
        }
        parts.append(pd.DataFrame({"activation": phi.name, "correlation": rho, **values}))
    return pd.concat(parts, ignore_index=True)


def agrees(phi: Activation, rho: Floats, route: Route) -> Case:
    """Return a route beside the integral over the plane.

    >>> case = agrees(A.erf, np.array([0.3]), by_map)
    >>> bool(np.allclose(case.left, case.right, rtol=1e-12))
    True
    """
    return Case(route(phi, rho), by_quadrature(phi, rho), words=phi.name)


def largest(phi: Activation, grid: Floats) -> Case:
    """Return the largest ``|kappa|`` on a grid, beside 1.

    >>> largest(A.cube, np.linspace(-1, 1, 5)).left
    15.0
    """
    return Case(float(np.max(np.abs(by_map(phi, grid)))), 1.0, words=phi.name)


def fixed_at(phi: Activation, rho: float) -> Case:
    """Return ``kappa(rho)``, by quadrature in the plane, beside rho.

    >>> fixed_at(A.sign, 0.0)
    Case(left=0.0, right=0.0, hypotheses={}, words='sign', where={})
    """
    return Case(float(by_quadrature(phi, np.array([rho]))[0]), rho, words=phi.name)


def fixed_points() -> pd.DataFrame:
    """Return the fixed points of all stable activations, found by a search of [-1, 1].

    >>> rows = fixed_points().set_index("activation")
    >>> rows.loc["relu", "fixed points"], rows.loc["tanh", "fixed points"]
    ('1', '−1, 0, 1')
    """
    rows = []
    for phi in ACTIVATIONS:
        points = sp.KernelMap(phi.normalized()).fixed_points()
        attracting = next(point for point in points if point.attracting)
        rows.append(
            {
                "activation": phi.name,
                "fixed points": ", ".join(_brief(point.value) for point in points),
                "the attracting one": attracting.value,
                "slope there": attracting.multiplier,
            }
        )
    return pd.DataFrame(rows)


def partial_sums(phi: Activation, rho: Floats, orders: list[int]) -> pd.DataFrame:
    """Return what partial sums of the series leave out, a column for each order.

    >>> partial_sums(A.sin, np.array([1.0]), [1, 21]).round(6).values.tolist()
    [[1.0, 0.064453, 0.0]]
    """
    exact = by_quadrature(phi, rho)
    left_out = {f"order {k}": np.abs(exact - by_series(phi, rho, k)) for k in orders}
    return pd.DataFrame({"correlation": rho, **left_out})


def _relu_taylor(k: int) -> float:
    """Of ``(sqrt(1 - r^2) + r (pi - arccos r)) / 2 pi``."""
    if k < 2:
        return (1 / (2 * math.pi), 0.25)[k]
    odd = math.prod(range(k - 3, 0, -2))
    return 0.0 if k % 2 else odd**2 / math.factorial(k) / (2 * math.pi)


def _arcsine_taylor(k: int) -> float:
    """Of ``2/pi arcsin(r)``."""
    j = (k - 1) // 2
    return float(2 / math.pi * special.binom(2 * j, j) / 4**j / k) if k % 2 else 0.0


#: Taylor coefficients at 0 of kernel maps that have a closed form.
TAYLOR: Mapping[Activation, Callable[[int], float]] = {
    A.exp: lambda k: math.e / math.factorial(k),
    A.sin: lambda k: k % 2 / math.e / math.factorial(k),
    A.cube: lambda k: {1: 9.0, 3: 6.0}.get(k, 0.0),
    A.relu: _relu_taylor,
    A.sign: _arcsine_taylor,
}


def squares(phi: Activation, order: int, power: int = 2, lag: int = 0) -> Case:
    """Return the squares of Hermite coefficients beside the Taylor coefficients of the map.

    ``power`` and ``lag`` as in :func:`by_series`.

    >>> squares(A.cube, 3).right
    array([0., 9., 0., 6.])
    """
    taylor = np.array([TAYLOR[phi](k) for k in range(order + 1)])
    return Case(np.roll(_coefficients(phi, order) ** power, lag), taylor, words=phi.name)


def never_falls(phi: Activation, route: Route = by_quadrature, orders: int = ORDERS) -> Case:
    """Return minus the smallest difference of the map on [0, 0.9], beside rounding.

    The differences of orders 1 to ``orders`` of ten values, spaced by 0.1. A difference of order j
    adds up values with weights whose sizes sum to ``2^j``.

    >>> case = never_falls(A.cube)
    >>> case.left <= case.right
    True
    """
    values = route(phi, np.linspace(0, 0.9, 10))
    smallest = min(float(np.diff(values, j).min()) for j in range(1, orders + 1))
    allowed = 2**orders * ROUNDING * float(np.max(np.abs(values)))
    return Case(-smallest, allowed, words=phi.name)


def three_languages(
    phi: Activation, order: int, first: int = 2, power: int = 2, end: float = 1.0
) -> Case:
    """Return KER Table 5.2 as numbers: mean squared, second moment, distance from a line.

    ``left`` has them from integrals of the activation over the line, twice; ``right`` from Hermite
    coefficients (with the :func:`tail` that kinks and jumps leave) and from integrals over the
    plane. The distance is the mean square one from the best straight line, which is
    ``sum_{k>=2} c_k^2 = kappa(1) - kappa(0) - kappa'(0)``. ``first``, ``power`` and ``end`` stand
    for the 2, the square and the 1 in these formulas.

    >>> case = three_languages(A.identity.scaled(2.0), 5)
    >>> bool(np.allclose(case.left, [0, 4, 0] * 2)), bool(np.allclose(case.right, case.left))
    (True, True)
    """
    slope = gaussian_expectation(lambda x: x * phi(x), phi.kinks)
    line = [phi.mean**2, phi.second_moment, phi.variance - slope**2]
    c, rest = _coefficients(phi, order), tail(phi, order)
    weights = c**power
    coefficients = [weights[0], weights.sum() + rest, weights[first:].sum() + rest]
    steps = STEP * np.array([-2, -1, 1, 2])
    zero, last, *beside = by_quadrature(phi, np.array([0.0, end, *steps]))
    slope_at_zero = np.dot(beside, [1, -8, 8, -1]) / (12 * STEP)
    plane = [zero, last, last - zero - slope_at_zero]
    words = ("mean squared", "second moment", "distance from a line")
    return Case(
        np.array(line + line),
        np.array(coefficients + plane),
        words=phi.name,
        where=dict(zip(words, line, strict=True)),
    )


def tail(phi: Activation, order: int) -> float:
    """Return ``sum_{k > order} c_k^2`` to leading order, from the kinks and jumps.

    >>> of_step = tail(A.sign, 100) * math.pi * math.sqrt(math.pi / 8 * 100)
    >>> tail(A.tanh, 100), round(float(of_step), 12)
    (0, 1.0)
    """
    return sum(theory.hermite_tail(order, _jumps(phi, t), t) for t in phi.kinks)


@cache
def _in_plane(phi: Activation, rho: tuple[float, ...]) -> Floats:
    return np.asarray(bivariate_expectation(np.array(rho), phi, kinks=phi.kinks))


@cache
def _coefficients(phi: Activation, order: int) -> Floats:
    return np.asarray(hermite_coefficients(phi, order))


def _mirrored_kinks(phi: Activation) -> list[float]:
    return sorted({sign * t for t in phi.kinks for sign in (-1, 1)})


def _jumps(phi: Activation, at: float, step: float = 1e-4) -> list[float]:
    """The jumps of an activation and of its first two derivatives at a point."""
    places = at + step * np.array([-2, -1e-6, 1e-6, 2])
    value, slope = np.asarray(phi(places)), np.asarray(phi.derivative(places))
    curvature = (slope[3] - slope[2] - (slope[1] - slope[0])) / (2 * step)
    return [float(value[2] - value[1]), float(slope[2] - slope[1]), float(curvature)]


def _brief(value: Any) -> str:
    return f"{value:.4g}".replace("-", "−")
