"""Learning random networks from statistical queries: COND Section 5 and Appendix F.

Each layer ends in a vector of unit length, so two inputs are followed by their cosine alone: the
next cosine is that of ``s(X_i)`` and ``s(Y_i)`` for m independent Gaussian pairs of the cosine
before. If s has the values 1 and -1 only, m cosine is a sum of m signs, and its law is computed.
"""

from __future__ import annotations

import functools
import math
from typing import Literal

import numpy as np
import pandas as pd
from scipy import optimize, special, stats

from signallab.case import Case
from signallab.conditioning.reference import ACTIVATIONS
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "ASKED",
    "LIPSCHITZ",
    "SECOND",
    "Signs",
    "balanced",
    "bars",
    "dual",
    "even_floor",
    "floors",
    "from_proof",
    "growth",
    "learned",
    "moments",
    "network_means",
    "of_networks",
    "one_query",
    "paths",
    "second_moment",
    "simulated",
    "small_expectation",
    "small_second_moment",
    "subgaussian",
]

Signs = Literal["sign", "even sign", "lopsided sign"]
#: Where the even sign jumps: the upper quartile of the Gaussian, which makes its mean 0.
JUMP = float(special.ndtri(0.75))
#: The lopsided sign is 1 between these two, of Gaussian measure 1/2, and -1 elsewhere.
WINDOW = (-0.25, float(special.ndtri(0.5 + special.ndtr(-0.25))))
#: The correlation that a constant is asked for, times the square root of the width: below the
#: typical mean output, whose size is of order one, and more than most lists of coin flips have.
ASKED = 0.25
#: Squared second Hermite coefficient of the even sign.
SECOND = float(8 * (JUMP * stats.norm.pdf(JUMP)) ** 2)
#: Constants of COND Eq. 21: of a normalized activation its steepest slope, of a sign 1.
LIPSCHITZ = {
    "sign": 1.0,
    **{
        name: float(
            np.abs(np.gradient(ACTIVATIONS[name](x := np.linspace(-9, 9, 180001)), x)).max()
        )
        for name in ("ReLU", "tanh", "erf", "sine", "SELU", "NormReLU")
    },
}


def growth(name: str, rate: Floats) -> Floats:
    """Return ``2 log E exp(rate s(X)) / rate^2`` for each ``rate``, the least ``alpha^2`` there.

    By sums over a grid of step 0.002 from -40 to 40, in logarithms.

    >>> bool(abs(growth("sign", np.array([2.0]))[0] - np.log(np.cosh(2)) / 2) < 1e-6)
    True
    """
    x = (np.arange(-20000, 20000) + 0.5) * 0.002
    values = np.sign(x) if name == "sign" else np.asarray(ACTIVATIONS[name](x))
    log = special.logsumexp(np.outer(rate, values) + stats.norm.logpdf(x), axis=1)
    return np.asarray(2 * (log + math.log(0.002)) / rate**2)


def subgaussian(name: str, *, factor: float = 1.0) -> Case:
    """COND Eq. 21 with a definite constant, for rates between -12 and 12.

    The constant is the steepest slope (a Lipschitz function of a Gaussian is subgaussian with its
    constant), and 1 for the sign. ``factor`` multiplies it.

    >>> case = subgaussian("ReLU")
    >>> bool((case.left <= case.right).all())
    True
    """
    rate = np.array([s * r for s in (-1, 1) for r in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0)])
    return Case(growth(name, rate), np.full(len(rate), (factor * LIPSCHITZ[name]) ** 2), words=name)


def dual(signs: Signs, rho: Floats) -> Floats:
    """Return ``E s(X) s(Y)`` at correlation ``rho``.

    By the arcsine for the sign, and by Owen's function for the two others.

    >>> dual("sign", np.array([0.5])).round(9), dual("even sign", np.array([0.0, 1.0])).round(9)
    (array([0.33333333]), array([0., 1.]))
    >>> dual("lopsided sign", np.array([-1.0, 0.0, 1.0])).round(4) + 0.0
    array([-0.2103,  0.    ,  1.    ])
    """
    r = np.clip(np.abs(rho), 0, 1)
    if signs == "sign":
        return np.asarray(2 / math.pi * np.arcsin(np.clip(rho, -1, 1)))
    if signs == "lopsided sign":
        return 4 * _both_in_window(np.clip(rho, -1, 1)) - 1
    # P(|X| > t, |Y| > t) = 2 P(X > t, Y > t) + 2 P(X > t, Y < -t), each by Owen's T.
    with np.errstate(divide="ignore"):
        up = 2 * special.owens_t(JUMP, np.sqrt((1 - r) / (1 + r)))
        down = 2 * special.owens_t(JUMP, np.sqrt((1 + r) / (1 - r)))
    both = 2 * (0.25 - up) + 2 * (0.25 - down)
    return np.asarray(4 * both - 1)


def _both_in_window(rho: Floats) -> Floats:
    """``P(X in WINDOW, Y in WINDOW)``, four quadrants by Owen's T; the window has 0 inside."""
    low, high = WINDOW
    with np.errstate(divide="ignore"):
        even, root = np.sqrt((1 - rho) / (1 + rho)), np.sqrt(1 - rho**2)
        below = special.ndtr(low) - 2 * special.owens_t(low, even)
        above = special.ndtr(high) - 2 * special.owens_t(high, even)
        mixed = (special.ndtr(low) + special.ndtr(high) - 1) / 2
        mixed = mixed - special.owens_t(low, (high - rho * low) / (low * root))
        mixed = mixed - special.owens_t(high, (low - rho * high) / (high * root))
    return np.asarray(below + above - 2 * mixed)


def moments(signs: Signs, width: int, depth: int, start: Floats) -> dict[str, Floats]:
    """Return moments of the cosine after layers 1 to ``depth``, ``(depth, len(start))`` each.

    They are ``mean``, ``size`` (of the absolute value) and ``signs``, the expectation
    ``(2/pi) E arcsin`` of the product of two outputs' signs. The exact law is propagated: m + 1
    values, binomial transitions.

    >>> moments("sign", 3, 1, np.array([0.0, 1.0]))["size"].round(9)
    array([[0.5, 1. ]])
    """
    values = np.arange(-width, width + 1, 2) / width
    law, laws = _layer(signs, width, start), []
    kernel = _kernel(signs, width)
    for _ in range(depth):
        laws.append(law)
        law = law @ kernel
    path = np.stack(laws)
    arcs = 2 / math.pi * np.arcsin(values)
    return {"mean": path @ values, "size": path @ np.abs(values), "signs": path @ arcs}


def _layer(signs: Signs, width: int, rho: Floats) -> Floats:
    """The law of the next cosine, a row for each ``rho``: ``(len(rho), width + 1)``."""
    agree = np.clip((1 + dual(signs, rho)) / 2, 0, 1)
    return np.asarray(stats.binom.pmf(np.arange(width + 1), width, agree[:, None]))


@functools.lru_cache(maxsize=8)
def _kernel(signs: Signs, width: int) -> Floats:
    return _layer(signs, width, np.arange(-width, width + 1, 2) / width)


def balanced(signs: Signs, width: int, depth: int, low: float, high: float) -> float:
    """Return the cosine of inputs between ``low`` and ``high`` whose mean cosine is 0 at the top.

    >>> round(balanced("lopsided sign", 17, 2, -0.6, -0.5), 3)
    -0.552
    """

    def mean(start: float) -> float:
        return float(moments(signs, width, depth, np.array([start]))["mean"][-1, 0])

    return float(optimize.brentq(mean, low, high, xtol=1e-15))


def bars(
    signs: Signs, width: int, depth: int, start: float, *, inside: bool = False, factor: float = 1.0
) -> Case:
    """COND, proof of Theorem 15: ``|E f(x) f(y)| <= |E Phi(x) . Phi(y)|``, for f the sign of f_W.

    ``inside`` puts the bars within the expectation on the right, ``factor`` before it.

    >>> case = bars("sign", 5, 2, 0.5)
    >>> case.left < case.right
    True
    """
    found = moments(signs, width, depth, np.array([start]))
    left, mean, size = (abs(float(found[key][-1, 0])) for key in ("signs", "mean", "size"))
    right = factor * (size if inside else mean)
    words = f"{signs}, {depth} layers of width {width}, cosine {start:.3g}"
    return Case(left, right, {"not collinear": abs(start) < 1}, words)


def even_floor(width: float) -> float:
    """Return ``a_2^2 / m``, below the mean cosine of the even sign from layer 2 on, for any start.

    Right because all coefficients of its dual are of even order and none is negative: so the mean
    of the next cosine is at least ``a_2^2 E rho^2``, and a mean of m signs has ``E rho^2 >= 1/m``.

    >>> round(even_floor(1), 3)
    0.368
    """
    return SECOND / width


def small_expectation(
    depth: int, constant: float, rate: float, *, signs: Signs, moment: str = "mean"
) -> Case:
    """COND Theorem 52 with definite constants: ``|E rho| <= e^(-rate h) + L e^(-rate L)``.

    Of inputs of cosine 1/2 (so delta = 1/2, no layers are needed before, and h = L), and of width
    above ``constant L / delta^2``. ``moment`` names another expectation, as in :func:`moments`.

    >>> case = small_expectation(40, 1.0, 0.5, signs="even sign")
    >>> bool(case.left > case.right)
    True
    """
    delta = 0.5
    width = math.floor(constant * depth / delta**2) + 1
    left = abs(moments(signs, width, depth, np.array([1 - delta]))[moment][-1, 0])
    right = (1 + depth) * math.exp(-rate * depth)
    wide = {"wide enough": width > constant * depth / delta**2}
    return Case(left, right, wide, f"{signs}, {depth} layers of width {width}, rate {rate}")


@functools.cache
def second_moment(signs: Signs, dimension: int, width: int, depth: int) -> float:
    """Return ``E_W (E_x f(x))^2`` of the constant query g = 1, x uniform on half of the cube.

    The half has first coordinate 1. Two of its points differ in k of the other d - 1 coordinates;
    their cosine is ``1 - 2k/d``, and their outputs agree in sign with the expectation of Sheppard.

    >>> round(second_moment("sign", 1, 5, 3), 9)
    1.0
    """
    k = np.arange(dimension)
    weights = stats.binom.pmf(k, dimension - 1, 0.5)
    return float(weights @ moments(signs, width, depth, 1 - 2 * k / dimension)["signs"][-1])


def small_second_moment(
    depth: int,
    constant: float,
    rate: float,
    *,
    exactly: Signs | None = None,
    dimension: int | None = None,
    width: int = 301,
) -> Case:
    """COND Eq. 24 with definite constants: ``E (E_x g f)^2 <= L e^(-rate L)``, for g = 1.

    ``left`` is a lower bound for the even sign, at a width above ``constant L / delta^2`` with
    ``delta = 2/d``: its diagonal ``2^(1-d)`` and ``(2/pi) a_2^2 / m`` off it, as odd moments of the
    cosine are not negative. ``exactly`` computes the moment for one of the activations, at
    ``width``. The dimension is ``L + 1`` if none is given.

    >>> case = small_second_moment(100, 1.0, 0.5)
    >>> bool(case.left > case.right)
    True
    """
    d = dimension or depth + 1
    words = f"{depth} layers, dimension {d}, rate {rate}"
    right = depth * math.exp(-rate * depth)
    if exactly:
        return Case(second_moment(exactly, d, width, depth), right, words=words)
    width = math.floor(constant * depth * d**2 / 4) + 1
    same = 2.0 ** (1 - d)
    left = 2 / math.pi * even_floor(width) * (1 - same) + same
    return Case(left, right, words=f"{words}, width {width}")


def simulated(name: str, width: int, depth: int, runs: int, start: float, seed: Stream) -> Floats:
    """Return cosines after layers 1 to ``depth``, ``(runs, depth)``, by drawing Gaussian pairs.

    >>> simulated("tanh", 8, 2, 3, 0.5, Stream(0)).shape
    (3, 2)
    """
    phi, rng = ACTIVATIONS[name], seed.numpy()
    rho, path = np.full(runs, start), np.empty((runs, depth))
    for layer in range(depth):
        x, z = rng.standard_normal((2, runs, width))
        r = rho[:, None]
        a = np.asarray(phi(x))
        b = np.asarray(phi(r * x + np.sqrt(np.clip(1 - r**2, 0, None)) * z))
        rho = (a * b).sum(1) / np.sqrt((a**2).sum(1) * (b**2).sum(1))
        path[:, layer] = rho
    return path


def network_means(
    name: str, dimension: int, width: int, depth: int, runs: int, seed: Stream
) -> Floats:
    """Return ``E_x sgn f(x)`` over half of the cube in ``runs`` networks, ``(runs,)``.

    >>> network_means("ReLU", 3, 4, 2, 5, Stream(0)).shape
    (5,)
    """
    phi, rng = ACTIVATIONS[name], seed.numpy()
    bits = np.arange(2 ** (dimension - 1))[:, None] >> np.arange(dimension) & 1
    inputs = ((1 - 2 * bits) / math.sqrt(dimension)).astype(np.float32)
    means = np.empty(runs)
    for run in range(runs):
        h = inputs
        for _ in range(depth):
            w = rng.standard_normal((h.shape[1], width), dtype=np.float32)
            h = np.asarray(phi(h @ w), dtype=np.float32)
            h /= np.linalg.norm(h, axis=1, keepdims=True)
        means[run] = np.sign(h @ rng.standard_normal(width, dtype=np.float32)).mean()
    return means


def learned(means: Floats, width: int) -> Floats:
    """Return in which networks a constant has correlation ``ASKED / sqrt m`` at least, as 0 and 1.

    >>> learned(np.array([0.2, -0.3, 0.0]), 4)
    array([1., 1., 0.])
    """
    return np.asarray(np.abs(means) >= ASKED / math.sqrt(width), dtype=float)


def one_query(depth: int, rate: float, *, width: int) -> Case:
    """COND Theorems 15 and 53: one query is too few, ``max(q^2, r^2) (p + 1) < e^(rate L)``.

    The algorithm asks for ``E_x f`` to the tolerance 1/r, and answers with the constant 1 or -1 of
    the same sign. ``q = sqrt m / ASKED`` as in :func:`learned`, and ``r = 2q``: an answer off by
    half of what is there keeps its sign. So it must not succeed in half of the networks.

    >>> case = one_query(60, 0.2, width=87)
    >>> bool(case.left < case.right)
    True
    """
    words = f"{depth} layers of width {width}, one query, rate {rate}"
    return Case(2 * (2 / ASKED) ** 2 * width, math.exp(rate * depth), words=words)


def from_proof(depth: int, rate: float, *, signs: Signs, dimension: int | None = None) -> Case:
    """What the proof needs of the constant query: ``e^(rate L) <= 1 / (2 E (E_x f)^2)``.

    By Markov's inequality the right side is at most ``max(q^2, r^2) (p + 1)`` if all queries have
    such a moment. The width is 301, the dimension ``L + 1`` if none is given.

    >>> case = from_proof(10, 0.2, signs="sign")
    >>> bool(case.left <= case.right)
    True
    """
    value = 0.5 / second_moment(signs, dimension or depth + 1, 301, depth)
    return Case(math.exp(rate * depth), value, words=f"{signs}, {depth} layers")


def of_networks(
    names: list[str], dimension: int, widths: list[int], depths: list[int], runs: int, seed: Stream
) -> pd.DataFrame:
    """Return the mean square of ``E_x sgn f(x)``: ``activation, width`` and a column a depth.

    >>> of_networks(["ReLU"], 3, [4], [2], 3, Stream(0)).columns.tolist()
    ['activation', 'width', 'mean square, 2 layers']
    """

    def square(name: str, m: int, depth: int) -> float:
        means = network_means(name, dimension, m, depth, runs, seed.child(name, m, depth))
        return float((means**2).mean())

    return pd.DataFrame(
        [
            {"activation": name, "width": m}
            | {f"mean square, {depth} layers": square(name, m, depth) for depth in depths}
            for name in names
            for m in widths
        ]
    )


def paths(width: int, depth: int, runs: int, start: float, seed: Stream) -> pd.DataFrame:
    """Return ``layer, curve, value``: mean cosines and their mean size over the layers.

    Exact for the two signs, by simulation for ReLU.

    >>> sorted(set(paths(9, 2, 4, 0.5, Stream(0))["curve"]))[:2]
    ['ReLU, |mean|', 'even sign, |mean|']
    """
    curves: dict[str, Floats] = {}
    names: list[Signs] = ["sign", "even sign"]
    for name in names:
        found = moments(name, width, depth, np.array([start]))
        curves[f"{name}, |mean|"] = np.abs(found["mean"][:, 0])
        if name == "sign":
            curves["sign, mean size"] = found["size"][:, 0]
    curves["ReLU, |mean|"] = np.abs(simulated("ReLU", width, depth, runs, start, seed).mean(0))
    layer = np.arange(1, depth + 1)
    parts = [pd.DataFrame({"layer": layer, "curve": k, "value": v}) for k, v in curves.items()]
    return pd.concat(parts, ignore_index=True)


def floors(widths: list[int], depth: int) -> pd.DataFrame:
    """Return moments of the cosine at ``depth`` for each width: ``activation, width, ...``.

    >>> floors([4], 3).columns.tolist()
    ['activation', 'width', 'mean', 'mean size', 'signs']
    """
    names: list[Signs] = ["sign", "even sign"]
    rows = []
    for name in names:
        for m in widths:
            found = {
                k: round(float(v[-1, 0]), 12) + 0.0
                for k, v in moments(name, m, depth, np.zeros(1)).items()
            }
            head = {"activation": name, "width": m, "mean": found["mean"]}
            rows.append(head | {"mean size": found["size"], "signs": found["signs"]})
    return pd.DataFrame(rows)
