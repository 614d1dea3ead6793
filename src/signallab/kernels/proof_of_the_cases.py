"""The displays in the proof of KER Theorem 5.11, cases 2 to 4, each at its worst point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.limits import quadrature

__all__ = [
    "above",
    "balance",
    "below_zero",
    "between",
    "conclusion",
    "critical_step",
    "factors_above",
    "header",
    "mended",
    "not_larger",
]

Factor = Callable[[sp.KernelMap], Any]

# 1 - rho over all but the ends, and shares of an interval, dense towards both of its ends.
DISTANCES = np.linspace(0.01, 1.99, 100)
SHARES = np.concatenate([[1e-4, 1e-3, 1e-2], np.linspace(0.03, 0.97, 48), [0.99, 0.999, 0.9999]])
ROUNDING = 1e-15  # of a value of the map, where a display compares it with the fixed point


def header(k: sp.KernelMap) -> Any:
    """The factor that the item for ``rho >= rho*`` announces: ``kappa'(rho*)``.

    >>> round(float(header(sp.KernelMap.from_series([1 / 3, 0, 2 / 3]))), 12)
    0.666666666667
    """
    return k.fixed_point().multiplier


def conclusion(k: sp.KernelMap) -> Any:
    """The factor that it arrives at: ``(1 - rho*) / (2 - kappa'(rho*))``.

    >>> round(float(conclusion(sp.KernelMap.from_series([1 / 3, 0, 2 / 3]))), 12)
    0.375
    """
    point = k.fixed_point()
    return point.gap / (2 - point.multiplier)


def mended(k: sp.KernelMap) -> Any:
    """The factor that its steps give: ``1 / (2 - kappa'(rho*))``.

    >>> round(float(mended(sp.KernelMap.from_series([1 / 3, 0, 2 / 3]))), 12)
    0.75
    """
    return 1 / (2 - k.fixed_point().multiplier)


def critical_step(name: str, k: sp.KernelMap, constant: Factor | None = None) -> Case:
    """Display (b), for ``kappa'(1) = 1``: ``alpha x <= 1 - x'/x``, where a layer takes x to x'.

    ``x = 1 - rho``, and alpha is ``1 - kappa(0) - kappa'(0)`` or another constant.

    >>> case = critical_step("quadratic", sp.KernelMap.from_series([0.5, 0, 0.5]))
    >>> round(case.left / case.right, 12)
    1.0
    """
    x = _spread(DISTANCES, k)
    alpha = 1 - k(0.0) - k.derivative(0.0) if constant is None else constant(k)
    slope = np.asarray(k.derivative(1.0))
    critical = {"κ′(1) = 1": bool(np.all(abs(slope - 1) < 1e-11))}
    return _worst(name, alpha * x, 1 - k.complement(x) / x, 1 - x, critical)


def above(name: str, k: sp.KernelMap, factor: Factor) -> Case:
    """Display (c), ``rho >= rho*``: a layer multiplies ``(rho - rho*) / (1 - rho)`` by a factor.

    >>> case = above("m", sp.KernelMap.from_series([1 / 3, 0, 2 / 3]), mended)
    >>> case.left < case.right
    True
    """
    point = k.fixed_point()
    gap = _spread(SHARES, k) * point.gap
    after = k.complement(gap)
    left, right = (point.gap - after) / after, factor(k) * (point.gap - gap) / gap
    return _worst(name, left, right, 1 - gap, _case_4(k))


def between(name: str, k: sp.KernelMap, factor: Factor = header) -> Case:
    """Display (d), ``0 <= rho <= rho*``: ``|kappa(rho) - rho*| <= kappa'(rho*) |rho - rho*|``.

    >>> case = between("m", sp.KernelMap.from_series([1 / 3, 0, 2 / 3]))
    >>> round(case.left / case.right, 3)
    0.995
    """
    value = k.fixed_point().value
    rho = _spread(np.append(0.0, SHARES[:-2]), k) * value
    left = np.maximum(np.abs(k(rho) - value) - ROUNDING, 0)
    return _worst(name, left, factor(k) * (value - rho), rho, _case_4(k))


def below_zero(name: str, k: sp.KernelMap, factor: Factor | None = None) -> Case:
    """Display (e), ``rho <= 0``: ``|kappa(rho) - rho*| <= (1 - kappa(0)) |rho - rho*|``.

    >>> case = below_zero("m", sp.KernelMap.from_series([1 / 3, 0, 2 / 3]))
    >>> round(case.left / case.right, 12), case.words       # (1 - 1/2) / ((2/3)(3/2))
    (0.5, 'm, ρ = −1')
    """
    value = k.fixed_point().value
    rho = _spread(-np.linspace(0, 1, 101), k)
    rate = 1 - k(0.0) if factor is None else factor(k)
    return _worst(name, np.abs(k(rho) - value), rate * (value - rho), rho, _case_4(k))


def not_larger(
    name: str,
    k: sp.KernelMap,
    where: Literal["everywhere", "used", "no longer negative"],
    at: Floats | None = None,
) -> Case:
    """Display (g): from ``rho < 0``, ``|kappa(rho)| <= |rho|``.

    It is used where the sequence is still negative, and where it has passed ``rho*``. ``at`` are
    the points, by default 100 of [-1, 0).

    >>> quadratic = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])
    >>> case = not_larger("m", quadratic, "everywhere", at=np.array([-0.1]))
    >>> round(case.left, 12), case.right
    (0.34, 0.1)
    """
    rho = _spread(-np.linspace(0.01, 1, 100) if at is None else at, k)
    after, value = k(rho), k.fixed_point().value
    counted = {
        "everywhere": np.full_like(after, True, dtype=bool),
        "used": (after < 0) | (after > value + 10 * ROUNDING),
        "no longer negative": after >= 0,
    }[where]
    left = np.where(counted, np.abs(after), 0.0)
    return _worst(name, left, np.abs(rho), rho, _case_4(k))


def balance(phi: Activation, mean: float = 1.0, shift: int = 1, order: int = 200) -> Case:
    """Display (f): ``kappa'(1) = 1 + sum_{k>=2} (k - shift) c_k^2 - mean c_0^2``.

    ``left`` is ``E phi'^2 / E phi^2`` by quadrature, ``right`` comes from Hermite coefficients. The
    print forgets ``c_0``: ``mean=0``.

    >>> case = balance(sp.activations.exp)
    >>> round(float(case.left), 9), round(float(case.right), 9)
    (1.0, 1.0)
    """
    phi = phi.normalized()
    slope = quadrature.gaussian_expectation(lambda x: phi.derivative(x) ** 2, phi.kinks)
    length = quadrature.gaussian_expectation(lambda x: phi(x) ** 2, phi.kinks)
    weights = np.asarray(sp.KernelMap(phi).hermite_coefficients(order)) ** 2
    orders = np.arange(2, order + 1)
    right = 1 + weights[2:] @ (orders - shift) - mean * weights[0]
    return Case(slope / length, float(right), words=phi.name)


def factors_above(k: sp.KernelMap, points: int = 200) -> pd.DataFrame:
    """Return by what a layer multiplies ``(rho - rho*) / (1 - rho)``, for ``rho* < rho < 1``.

    >>> k = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])
    >>> round(float(factors_above(k)["factor of a layer"].iloc[-1]), 3)     # 3/4 at 1
    0.75
    """
    point = k.fixed_point()
    gap = point.gap * (1 - np.linspace(0.001, 0.999, points))
    after = k.complement(gap)
    factor = (point.gap - after) / after / ((point.gap - gap) / gap)
    return pd.DataFrame({"cosine": 1 - gap, "factor of a layer": factor})


def _spread(grid: Floats, k: sp.KernelMap) -> Floats:
    """A grid with as many further axes as the map has, to broadcast against a batch."""
    return grid.reshape(-1, *[1] * np.ndim(k(0.0)))


def _case_4(k: sp.KernelMap) -> dict[str, bool]:
    slope = np.asarray(k.derivative(1.0))
    return {"κ(0) > 0": bool(np.all(k(0.0) > 0)), "κ′(1) > 1": bool(np.all(slope > 1))}


def _worst(name: str, left: Any, right: Any, rho: Any, hypotheses: dict[str, bool]) -> Case:
    """The place where left / right is largest."""
    left, right, rho = np.broadcast_arrays(left, right, rho)
    place = np.unravel_index(int((left / right).argmax()), left.shape)
    number = f" (number {place[1] + 1})" if len(place) == 2 else ""
    where = f"{rho[place]:.6g}".replace("-", "−") if rho[place] else "0"
    words = f"{name}{number}, ρ = {where}"
    return Case(float(left[place]), float(right[place]), hypotheses, words=words)
