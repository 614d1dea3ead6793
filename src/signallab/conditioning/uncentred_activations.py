"""Activations with a mean: COND Definition 29, Lemmas 30 to 33 and Theorem 11.

Here ``E phi(X)^2 = 1``, and the mean is free. The dual activation ``s`` is the kernel map, ``p``
its smallest fixed point in [0, 1], ``mu~`` the coefficient of non-affinity.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.reference import ACTIVATIONS
from signallab.kernels.families import column
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.limits.quadrature import gaussian_expectation
from signalprop.random import Stream

__all__ = [
    "IN_USE",
    "above_chord",
    "coefficient",
    "convergence",
    "fitted_rate",
    "in_range",
    "maps",
    "number_of_fixed_points",
    "power_law",
    "rate_of_proof",
    "shape",
    "slope",
    "step_of_proof",
    "summary",
]

A = sp.activations
#: Activations in use, of second moment 1 and with the mean that they have.
IN_USE: Mapping[str, Activation] = {
    name: phi.normalized()
    for name, phi in {
        "ReLU": A.relu,
        "sigmoid": A.sigmoid,
        "exponential": A.exp,
        "softplus": A.softplus,
        "GELU": A.gelu,
        "SiLU": A.silu,
        "ELU": A.elu,
        "step": A.step,
        "absolute value": A.leaky_relu(-1.0),
        "tanh": A.tanh,
    }.items()
}
#: Those with a critical slope, by the power and the constant of ``1 - rho_L ~ C / L^power``.
CRITICAL: Mapping[str, tuple[int, float]] = {
    "ReLU": (2, 9 * math.pi**2 / 2),
    "absolute value": (2, 9 * math.pi**2 / 8),
    "exponential": (1, 2.0),
}
SEPARATIONS: Floats = np.array([1e-8, 1e-6, 1e-4, 1e-2, 0.1, 0.5])
SHARES: Floats = np.linspace(0, 1, 101)[1:-1]
ROUNDING = 1e-13


def maps(series: int, largest: int, stream: Stream) -> dict[str, sp.KernelMap]:
    """Return kernel maps by name: of activations in use, and two batches of power series.

    Random series of orders up to ``largest``, and pairs of orders that lie far apart, each with a
    random weight on order 0. Pairs of orders 1 and 2 are quadratic.

    >>> list(maps(3, 5, sp.Stream(0)))[-3:]
    ['second Hermite', 'random series', 'pairs of orders']
    """
    batches = {
        "random series": sp.limits.random_series(series, largest, stream.child("series")),
        "pairs of orders": sp.limits.pair_series(
            [1, 2, 3, 5, 10, 40], [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]
        ),
    }
    found = {name: sp.KernelMap(phi) for name, phi in IN_USE.items()}
    found["second Hermite"] = sp.KernelMap(ACTIVATIONS["second Hermite"])
    for name, weights in batches.items():
        mean = stream.child(name).numpy().uniform(0.01, 0.99, len(weights))
        mixed = weights * (1 - mean[:, None])
        mixed[:, 0] = mean
        found[name] = sp.KernelMap.from_series(mixed)
    return found


def coefficient(name: str, *, mean: bool = True, power: int = 2) -> Case:
    """COND Definition 29: ``1 - (E phi)^2 - (E X phi)^2`` by integrals, beside the kernel map.

    ``left`` also has what the best affine function leaves, ``E (phi - a_0 - a_1 X)^2``. ``right``
    is ``s(1) - s(0) - s'(0)``. ``name`` is one in use, or one of the centred activations of this
    part, where ``right`` is the coefficient of non-linearity. Without ``mean`` it is not taken
    off, and ``power`` stands for the squares.

    >>> case = coefficient("step")
    >>> case.left.round(9), case.right.round(9)
    (array([0.18169011, 0.18169011]), array([0.18169011, 0.18169011]))
    """
    centred = name.startswith("centred ")
    phi = ACTIVATIONS[name.removeprefix("centred ")] if centred else IN_USE[name]
    k = sp.KernelMap(phi)
    a_0 = gaussian_expectation(lambda x: phi(x), phi.kinks)
    a_1 = gaussian_expectation(lambda x: x * phi(x), phi.kinks)
    rest = gaussian_expectation(lambda x: (phi(x) - a_0 - a_1 * x) ** 2, phi.kinks)
    by_definition = 1 - mean * abs(a_0) ** power - abs(a_1) ** power
    right = 1 - float(k.derivative(0.0)) - (0.0 if centred else float(k(0.0)))
    return Case(np.array([by_definition, rest]), np.full(2, right), words=name)


def in_range(name: str, k: sp.KernelMap, *, above: float = 1e-9, most: float = 1.0) -> Case:
    """COND Lemma 30: ``0 < mu~ <= 1``. ``above`` is what counts as positive, far above rounding.

    >>> in_range("square", sp.KernelMap.from_series([0, 0, 1.0])).left
    array([1.e-09, 1.e+00])
    """
    mu = np.asarray(k.nonlinearity)
    smallest, largest = float(mu.min()), float(mu.max())
    return Case(np.array([above, largest]), np.array([smallest, most]), words=name)


def shape(name: str, k: sp.KernelMap, *, low: float = 0.0) -> Case:
    """COND Lemma 31: the largest fall and the largest bend downwards on [low, 1], and 0.

    The fall is between neighbours of 401 points, the bend twice a middle less both neighbours.
    ``right`` is what rounding may do.

    >>> shape("cube", sp.KernelMap.from_series([0, 0, 0, 1.0]), low=-1).left.round(6)
    array([-0.      ,  0.000149])
    """
    r = np.linspace(low, 1, 401).reshape(-1, *[1] * np.ndim(k(0.0)))
    values = np.asarray(k(r))
    left = np.array([-np.diff(values, axis=0).min(), -np.diff(values, n=2, axis=0).min()])
    return Case(left, np.full(2, ROUNDING), words=name)


def above_chord(name: str, k: sp.KernelMap, *, factor: float = 1.0, power: int = 2) -> Case:
    """COND Lemma 32: ``mu~ l (1-l) (1-p)^power`` beside ``r - s(r)`` at ``r = l + (1-l) p``.

    Where the quotient is largest, over 99 values of l and a batch of maps with p < 0.99; for a
    fixed point at 1 both sides are 0. The right side has the rounding of its difference added.

    >>> case = above_chord("quadratic", sp.KernelMap.from_series([1 / 3, 0, 2 / 3]))
    >>> round(case.left / case.right, 9)
    1.0
    """
    gap, mu = np.asarray(k.fixed_point().gap), np.asarray(k.nonlinearity)
    share = SHARES.reshape(-1, *[1] * np.ndim(gap))
    left = factor * mu * share * (1 - share) * gap**power
    outer = (1 - share) * gap
    right = np.asarray(k.complement(outer)) - outer + ROUNDING
    left = np.where(gap > 0.01, left, 0.0)
    place = np.unravel_index(int(np.argmax(left / right)), left.shape)
    return Case(float(left[place]), float(right[place]), words=name)


def step_of_proof(order: int, point: float, share: float, *, lag: int = 0) -> Case:
    """COND, proof of Lemma 32: the difference of consecutive terms, and its product form.

    ``lag`` shifts the exponent on the right. Computed in fractions, as differences lose digits.

    >>> case = step_of_proof(2, 0.5, 0.5)
    >>> case.left, case.right
    (0.078125, 0.078125)
    """
    p, weight = (Fraction(x).limit_denominator(100) for x in (point, share))
    r = weight + (1 - weight) * p

    def term(i: int) -> Fraction:
        return weight + (1 - weight) * p**i - r**i

    right = (1 - weight) * (1 - p) * (r ** (order + lag) - p ** (order + lag))
    return Case(float(term(order + 1) - term(order)), float(right), words=f"order {order}")


def number_of_fixed_points(name: str, *, low: float = 0.0) -> Case:
    """COND Lemma 32: at most one fixed point in [low, 1), by a search that knows no theory.

    >>> number_of_fixed_points("GELU").left, number_of_fixed_points("tanh", low=-1).left
    (1.0, 2.0)
    """
    found = [p for p in sp.KernelMap(IN_USE[name]).fixed_points() if low <= p.value < 1]
    return Case(float(len(found)), 1.0, words=name)


def slope(
    name: str,
    k: sp.KernelMap,
    *,
    sharper: bool = False,
    strict: bool = False,
    factor: float = 1.0,
) -> Case:
    """COND Lemma 33: ``s'(p)`` beside 1, from which 1e-9 is taken off if ``p < 1``.

    ``sharper`` puts ``1 - factor mu~ (1 - p)`` on the right; ``strict``, a rival, asks for less
    than 1 by 1e-6 always.

    >>> quadratic = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])
    >>> round(slope("quadratic", quadratic, sharper=True).right, 9)
    0.666666667
    """
    point = k.fixed_point()
    left, gap = np.asarray(point.multiplier), np.asarray(point.gap)
    right = np.where(gap > 0, 1 - 1e-9, 1 + 1e-9)
    if strict:
        right = np.full_like(right, 1 - 1e-6)
    if sharper:
        right = 1 - factor * np.asarray(k.nonlinearity) * gap
        left = left - 1e-9 * (gap < 1)  # what the rounding of a fixed point does to its slope
    place = np.unravel_index(int(np.argmax(left / right)), left.shape)
    return Case(float(left[place]), float(right[place]), words=name)


def convergence(
    name: str, k: sp.KernelMap, depth: int, *, power: float = 1.0, local: bool = False
) -> Case:
    """COND Theorem 11 with constants: ``|s^(L)(r) - p| <= c^(L - L_0)`` for ``|r| <= 1 - delta``.

    ``c = 1 / (2 - s'(p))`` and ``L_0 = log(1/delta) / log(1/c)`` (KER Theorem 5.11, mended). So the
    right side is ``c^L / delta``, and ``left / right`` the largest quotient over starts, maps with
    ``p < 0.99`` and layers from ``L_0`` on. ``power`` goes to delta; ``local`` has ``s'(p)`` for c.

    >>> case = convergence("square", sp.KernelMap.from_series([0, 0, 1.0]), 30)
    >>> bool(case.left < case.right)
    True
    """
    point = k.fixed_point()
    slope_there = column(point.multiplier)
    rate = np.maximum(slope_there, 1e-12) if local else 1 / (2 - slope_there)
    delta = SEPARATIONS.reshape(-1, *[1] * np.ndim(point.value))
    bound = np.maximum(rate ** np.arange(depth + 1) / delta[..., None] ** power, 1e-300)
    counts = (bound <= 1) & (column(point.gap) > 0.01)
    worst = 0.0
    for start in (1 - delta, delta - 1, (1 - delta) / 2):
        distance = np.maximum(k.approach(start, depth) - ROUNDING, 0)
        worst = max(worst, float(np.where(counts, distance / bound, 0).max()))
    return Case(worst, 1.0, words=name)


def fitted_rate(name: str, *, at: float | None = None) -> Case:
    """Return the factor of a late layer beside ``s'(p)``, for an activation in use.

    In the last layer, of 600 from 0.3 on, with a distance above 1e-9. ``at`` takes the slope there.

    >>> case = fitted_rate("GELU")
    >>> round(float(case.left), 6) == round(float(case.right), 6)
    True
    """
    k = sp.KernelMap(IN_USE[name])
    distance = k.approach(0.3, 600)
    last = int(np.flatnonzero(distance > 1e-9)[-1])
    slope = k.fixed_point().multiplier if at is None else k.derivative(at)
    return Case(float(distance[last] / distance[last - 1]), float(slope), words=name)


def power_law(name: str, depth: int = 10**6, *, power: int | None = None) -> Case:
    """Return ``(1 - rho_L) L^power`` at a great depth beside its limit, of a critical activation.

    >>> case = power_law("exponential")
    >>> round(case.left, 3), case.right
    (2.0, 2.0)
    """
    own, constant = CRITICAL[name]
    gap = float(sp.KernelMap(IN_USE[name]).leap(0.0, depth))
    return Case(gap * float(depth) ** (own if power is None else power), constant, words=name)


def rate_of_proof(name: str, *, mended: bool = False, only_first: bool = False) -> Case:
    """COND Lemma 35, from which Theorem 11 "follows": is its rate less than 1?

    ``left`` is ``max(1 - mu~ (1-p)/2, s'(p))``, ``mended`` only ``s'(1)`` where ``p = 1``. With
    ``only_first`` the slope is left out.

    >>> rate_of_proof("sigmoid").left, round(rate_of_proof("sigmoid", mended=True).left, 3)
    (1.0, 0.153)
    """
    k = sp.KernelMap(IN_USE[name])
    point = k.fixed_point()
    slope_there = float(point.multiplier)
    first = 1 - float(k.nonlinearity) * float(point.gap) / 2
    rate = max(first, slope_there)
    if only_first:
        rate = first
    elif mended and point.value == 1:
        rate = slope_there
    hypotheses = {"a mean": float(k(0.0)) > 1e-12, "not critical": slope_there < 1 - 1e-6}
    return Case(rate, 1 - 1e-6, hypotheses, words=name)


def summary() -> pd.DataFrame:
    """Return fixed point, slope, coefficient and kind of convergence of the activations in use.

    >>> summary().set_index("activation").loc["sigmoid", "convergence"]
    'geometric'
    """
    rows = []
    for name, phi in IN_USE.items():
        k = sp.KernelMap(phi)
        point = k.fixed_point()
        rows.append(
            {
                "activation": name,
                "μ̃": float(k.nonlinearity),
                "fixed point": float(point.value),
                "slope there": float(point.multiplier),
                "convergence": k.rate().kind,
            }
        )
    return pd.DataFrame(rows)
