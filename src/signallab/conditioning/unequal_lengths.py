"""Correlations of inputs of unequal norms under odd activations (COND Appendix D.2 and D.3)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.inputs_of_other_lengths import COVERED, leaning_erf, rate
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.limits.expansions import hermite_coefficients

__all__ = [
    "ANY_ODD",
    "ODD",
    "by_depth",
    "coefficient",
    "depths",
    "expansion",
    "first_coefficient",
    "generalized_hermite",
    "lemma_40",
    "near_one",
    "one_layer",
    "paths",
    "theorem_42",
    "waiting",
]

A = sp.activations
ORDER = 81  # of the Hermite series; what is left out is bounded and added
LEANING = {"erf": 0.0, "x/3 + erf": 1 / 3, "3x + erf": 3.0}  # slopes, of those with closed forms

#: Activations of COND Theorem 42, with second moment 1: odd, increasing, concave on the right.
ODD: dict[str, Activation] = {
    **{name: COVERED[name] for name in ("tanh", "erf", "arctan", "softsign", "asinh")},
    "x/3 + erf": COVERED["x/3 + erf"],
    "3x + erf": leaning_erf(3.0).normalized(),
}
#: Odd is all that Lemma 41 asks: these need not rise or bend towards the axis.
ANY_ODD: dict[str, Activation] = {
    **{name: ODD[name] for name in ("tanh", "erf", "softsign")},
    "sine": A.sin.normalized(),
    "cube": A.cube.normalized(),
    "he₁ and he₃": Activation.from_hermite([0.0, 0.8, 0.0, 0.6]),
}


def generalized_hermite(z: Floats, order: int, gamma: float, *, power: int = 1) -> Floats:
    """Return ``h_0 .. h_order`` at ``z`` from the generating function of COND Eq. 14.

    Shape ``(..., order + 1)``. With ``exp(t z - gamma^power t^2 / 2) = sum_j H_j t^j / j!``, where
    the power 2 is the print, differentiation in t gives ``H_{j+1} = z H_j - j gamma^power
    H_{j-1}``; and ``h_j = H_j / sqrt(gamma^j j!)``.

    >>> generalized_hermite(np.array([2.0]), 2, 4.0).round(4)    # z/2 and (z²/4 − 1)/√2
    array([[1., 1., 0.]])
    """
    rows = [np.ones_like(z), z / math.sqrt(gamma)]
    for j in range(1, order):
        before = gamma ** (power - 1) * math.sqrt(j) * rows[j - 1]
        rows.append((z / math.sqrt(gamma) * rows[j] - before) / math.sqrt(j + 1))
    return np.stack(rows[: order + 1], axis=-1)


def _gauss(points: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss-Hermite quadrature for N(0, 1), exact to degree 2 points - 1."""
    x, w = np.polynomial.hermite_e.hermegauss(points)
    return x, w / w.sum()


def lemma_40(
    gamma_1: float, gamma_2: float, gamma_3: float, order: int = 8, *, power: int = 1
) -> Case:
    """COND Lemma 40: moments of generalized Hermite polynomials, and powers of the correlation.

    ``left`` ``(order + 1, order + 1)`` by a product rule that is exact for polynomials. ``power``
    is that of :func:`generalized_hermite`.

    >>> case = lemma_40(2.0, 0.5, 0.3)
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    x, w = _gauss(order + 2)
    cosine = gamma_3 / math.sqrt(gamma_1 * gamma_2)
    second = math.sqrt(gamma_2) * (cosine * x[:, None] + math.sqrt(1 - cosine**2) * x)
    h1 = generalized_hermite(math.sqrt(gamma_1) * x, order, gamma_1, power=power)
    h2 = generalized_hermite(second, order, gamma_2, power=power)
    moments = np.einsum("a,b,ai,abj->ij", w, w, h1, h2)
    right = np.diag(cosine ** np.arange(order + 1))
    words = f"variances {gamma_1:g} and {gamma_2:g}, covariance {gamma_3:g}"
    return Case(moments, right, {"γ₃² ≤ γ₁γ₂": abs(cosine) <= 1}, words=words)


def expansion(
    name: str, gamma_1: float, gamma_2: float, rho: float, *, power: int = 1, shift: int = 0
) -> Case:
    """COND Eqs. 15 and 16: the product moment of a layer as a series, and by quadrature.

    The coefficients are taken against the polynomials of Eq. 14, with ``power``; ``shift`` is added
    to the exponent of the correlation. At ``rho = 1`` and equal variances it is Eq. 16.

    >>> case = expansion("erf", 0.5, 2.0, 0.4)
    >>> bool(np.isclose(case.left, case.right, rtol=1e-12))
    True
    """
    phi, order = ANY_ODD[name], 60
    x, w = _gauss(160)
    rows = []
    for gamma in (gamma_1, gamma_2):
        z = math.sqrt(gamma) * x
        rows.append((w * phi(z)) @ generalized_hermite(z, order, gamma, power=power))
    left = float((rows[0] * rows[1] * rho ** (np.arange(order + 1) + shift)).sum())
    right = float(sp.LengthMap(phi).covariance(gamma_1, gamma_2, rho))
    return Case(left, right, words=f"{name}, variances {gamma_1:g} and {gamma_2:g}")


@functools.lru_cache(maxsize=8192)
def _series(phi: Activation, gamma: float) -> tuple[Floats, float]:
    """Hermite coefficients of ``phi(sqrt(gamma) X)``, and the square root of what they miss."""
    a = hermite_coefficients(phi.gained(math.sqrt(gamma)), ORDER)
    moment = float(sp.LengthMap(phi)(gamma))
    return a, math.sqrt(max(moment - float((a**2).sum()), 0.0))


def coefficient(phi: Activation, gamma: float) -> float:
    """Return ``mu^{gamma} = 1 - a_1^2 / sum_j a_j^2`` (COND Lemma 41).

    >>> round(coefficient(ANY_ODD["cube"], 2.0), 6)    # of x³, at any length
    0.4
    """
    a, rest = _series(phi, gamma)
    return 1 - float(a[1] ** 2 / ((a**2).sum() + rest**2))


def _after(phi: Activation, gamma_1: float, gamma_2: float, rho: Floats) -> Floats:
    """Correlations after one layer, in size, with the most that the rest of the series can add."""
    (a, rest_a), (b, rest_b) = _series(phi, gamma_1), _series(phi, gamma_2)
    powers = rho[..., None] ** np.arange(ORDER + 1)
    moment = np.abs((a * b * powers).sum(-1)) + rest_a * rest_b * np.abs(rho) ** (ORDER + 1)
    size = math.sqrt(((a**2).sum() + rest_a**2) * ((b**2).sum() + rest_b**2))
    return np.asarray(moment / size)


Bound = Callable[[Any, Any, Any], Any]


def one_layer(
    name: str, norms: tuple[float, float], bound: Bound = theory.cond_lemma_41, points: int = 39
) -> Case:
    """COND Lemma 41: correlations after one layer, for a grid of correlations before, and a bound.

    The grid is within [-0.95, 0.95]. Another ``bound`` is a function of the correlation and the
    two coefficients.

    >>> case = one_layer("he₁ and he₃", (1.0, 1.0), theory.cond_lemma_41_sharper)
    >>> bool(np.allclose(case.left, case.right))    # attained
    True
    """
    phi, rho = ANY_ODD[name], np.linspace(-0.95, 0.95, points)
    x = np.linspace(0, 5, 51)
    stated = {"odd": bool(np.allclose(phi(-x), -np.asarray(phi(x)), atol=1e-14))}
    right = bound(rho, *(coefficient(phi, gamma) for gamma in norms))
    words = f"{name}, squared norms {norms[0]:g} and {norms[1]:g}"
    return Case(_after(phi, *norms, rho), np.asarray(right) + 1e-15, stated, words=words)


def near_one(name: str, share: float, *, least: float = 0.5) -> Case:
    """COND Eq. 20: the coefficient at squared norm ``1 + share mu/4`` is at least ``least mu``.

    ``share`` lies in [-1, 1]; the print has ``least = 1/2``.

    >>> case = near_one("tanh", -1.0)
    >>> bool(case.left < case.right)
    True
    """
    phi = ODD[name]
    mu = coefficient(phi, 1.0)
    stated = {"within μ/4 of 1": abs(share) <= 1}
    at = coefficient(phi, 1 + share * mu / 4)
    return Case(least * mu, at, stated, words=f"{name}, γ = 1 {share:+g} μ/4")


def first_coefficient(name: str, share: float, *, squared: bool, keep: float = 0.75) -> Case:
    """COND, proof of Theorem 42: ``a_1`` at ``1 + share mu/4`` is at most ``1 - 3 mu/4``.

    As printed, or ``squared``, which is what the next line uses. ``keep`` is the 3/4.

    >>> bool(first_coefficient("tanh", 0.0, squared=False).left > 1 - 0.75 * 0.0695)
    True
    """
    phi = ODD[name]
    mu = coefficient(phi, 1.0)
    first = float(_series(phi, 1 + share * mu / 4)[0][1])
    left = first**2 if squared else first
    return Case(left, 1 - keep * mu, words=f"{name}, γ = 1 {share:+g} μ/4")


def paths(
    name: str, norms: tuple[float, float], starts: Sequence[float], depth: int
) -> tuple[Floats, Floats]:
    """Return correlations ``(starts, depth + 1)`` and squared norms ``(2, depth + 1)`` by layer.

    In closed form for the activations of :data:`LEANING`, whose norms may be as large as doubles
    allow, else by Hermite series, rounded up. Signs of correlations stay, as the activation is odd.

    >>> rho, norms = paths("erf", (1.0, 1.0), [0.5], 1)
    >>> round(float(rho[0, 1]), 6), norms[:, 1].round(12).tolist()    # asin(1/3) / asin(2/3)
    (0.465704, [1.0, 1.0])
    """
    rho, lengths = _paths(name, tuple(norms), tuple(starts), depth)
    return rho.copy(), lengths.copy()


@functools.lru_cache(maxsize=512)
def _paths(
    name: str, norms: tuple[float, ...], starts: tuple[float, ...], depth: int
) -> tuple[Floats, Floats]:
    rho = [np.asarray(starts, dtype=float)]
    lengths = [np.asarray(norms, dtype=float)]
    for _ in range(depth):
        if name in LEANING:
            after, q = _leaning_layer(LEANING[name], lengths[-1], rho[-1])
        else:
            q = np.asarray(sp.LengthMap(ODD[name])(lengths[-1]))
            x, y = (round(float(v), 10) for v in lengths[-1])
            after = np.sign(rho[-1]) * _after(ODD[name], x, y, rho[-1])
        rho.append(after)
        lengths.append(q)
    return np.array(rho).T, np.array(lengths).T


def _leaning_layer(slope: float, norms: Floats, rho: Floats) -> tuple[Floats, Floats]:
    """Correlations and squared norms after a layer of ``slope x + erf(x)``, second moment 1.

    With Stein's lemma for the mixed terms, ``E X erf(Y) = cov 2 / sqrt(pi (1 + 2 var Y))``.
    """

    def moment(p: float, q: float, cosine: Any) -> Any:
        root = math.sqrt(p) * math.sqrt(q)
        mixed = sum(2 / math.sqrt(math.pi * (1 + 2 * v)) for v in (p, q))
        inside = 2 * root / (math.sqrt(1 + 2 * p) * math.sqrt(1 + 2 * q))
        angle = 2 / math.pi * np.arcsin(np.clip(inside * cosine, -1, 1))
        return (slope**2 + slope * mixed) * root * cosine + angle

    (x, y), unit = norms, moment(1.0, 1.0, 1.0)
    lengths = np.array([moment(x, x, 1.0), moment(y, y, 1.0)]) / unit
    size = math.sqrt(lengths[0]) * math.sqrt(lengths[1]) * unit
    return np.asarray(moment(x, y, rho) / size), lengths


def waiting(name: str, norms: tuple[float, float], *, inverse: bool = True) -> float:
    """Return ``L^`` of COND Theorem 42, or of Theorem 12 with the alpha of Theorem 37.

    The latter (``inverse=False``) multiplies by alpha where the former divides.

    >>> round(waiting("erf", (0.5, 2.0)), 2)
    8.81
    """
    alpha, mu = rate(ODD[name]), coefficient(ODD[name], 1.0)
    distance = max(abs(norms[0] - 1), abs(norms[1] - 1))
    depth = float(theory.cond_theorem_42_depth(distance, alpha, mu))
    return depth if inverse else depth * alpha**2


def theorem_42(
    name: str,
    norms: tuple[float, float],
    delta: float,
    *,
    start: float | None = None,
    extra: int = 200,
    inverse: bool = True,
    share: float = 1.0,
    sharper: float | None = None,
    nu: float = 0.5,
) -> Case:
    """COND Theorems 12 and 42: correlations for ``extra`` layers from ``L^`` on, and a bound.

    The start is ``1 - delta`` unless given. ``inverse`` is that of :func:`waiting`, of which only a
    ``share`` is waited. ``nu`` is the factor of mu in B; ``sharper`` that in the bound of
    ``cond_theorem_42_sharper``, which takes the place of B then.

    >>> case = theorem_42("erf", (0.5, 2.0), 0.1, extra=40)
    >>> bool((case.left <= case.right).all()), case.left.shape
    (True, (41,))
    """
    mu = coefficient(ODD[name], 1.0)
    wait = share * waiting(name, norms, inverse=inverse)
    first = math.ceil(wait)
    rho = paths(name, norms, [1 - delta if start is None else start], first + extra)[0][0]
    layers = np.arange(first, first + extra + 1)
    if sharper is None:
        right = theory.cond_b(layers - wait, delta, nu * mu)
    else:
        right = theory.cond_theorem_42_sharper(extra, delta, mu, sharper)
    stated = {
        "squared norms at least ½": min(norms) >= 0.5,
        "correlation at most 1 − δ": bool(rho[0] <= 1 - delta + 1e-15),
        "not linear": mu > 0,
    }
    words = f"{name}, squared norms {norms[0]:g} and {norms[1]:g}, δ = {delta:g}"
    return Case(rho[first:], np.asarray(right), stated, words=words)


def by_depth(name: str, norms: tuple[float, float], delta: float, depth: int) -> pd.DataFrame:
    """Return the correlation, the bound of COND Theorem 42 and the sharper one, layer by layer.

    Bounds are missing before ``L^``.

    >>> by_depth("erf", (0.5, 2.0), 0.1, 10)["bound"].isna().sum()
    np.int64(9)
    """
    mu, wait = coefficient(ODD[name], 1.0), waiting(name, norms)
    layers, first = np.arange(depth + 1), math.ceil(wait)
    bound, sharper = np.full(depth + 1, np.nan), np.full(depth + 1, np.nan)
    bound[first:] = theory.cond_theorem_42(layers[first:], delta, mu, wait)
    sharper[first:] = theory.cond_theorem_42_sharper(depth - first, delta, mu)
    rho = paths(name, norms, [1 - delta], depth)[0][0]
    columns = {"layer": layers, "correlation": rho, "bound": bound, "sharper bound": sharper}
    return pd.DataFrame(columns)


def depths(norms: tuple[float, float], delta: float, level: float = 0.1) -> pd.DataFrame:
    """Return the constants of COND Theorem 42, and the depths to bring a correlation to ``level``.

    >>> list(depths((0.5, 2.0), 0.1).columns[:4])
    ['activation', 'μ', 'α', 'L̂']
    """
    rows = []
    for name, phi in ODD.items():
        mu, wait = coefficient(phi, 1.0), waiting(name, norms)
        start = float(theory.cond_l_0(delta, mu / 2))
        proven = wait + start + math.log(2 * level) / math.log1p(-mu / 4)
        # the bound is never below the truth, so this depth is enough
        rho = paths(name, norms, [1 - delta], math.ceil(proven))[0][0]
        rows.append(
            {
                "activation": name,
                "μ": mu,
                "α": rate(phi),
                "L̂": wait,
                f"layers to {level:g}, bound": math.ceil(proven),
                f"layers to {level:g}": int(np.argmax(rho <= level)),
            }
        )
    return pd.DataFrame(rows)
