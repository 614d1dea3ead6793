"""One layer of features before normalization, mostly ReLU: COND Appendix H.

``K = E phi(w . x_i) phi(w . x_j)`` is the kernel matrix at infinite width, closed form for ReLU.
``delta`` is the separation of the inputs, the largest with ``|x_i . x_j| <= 1 - delta``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from scipy.stats import norm

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.reference import ACTIVATIONS, directions, equicorrelated, fan
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.random import Stream

__all__ = [
    "ANGLES",
    "FEATURES",
    "INPUTS",
    "arc",
    "coefficient",
    "equicorrelated_event",
    "event",
    "fitted_exponents",
    "floors",
    "kink",
    "misses",
    "nonsingular",
    "per_spacing",
    "separation",
    "smallest",
    "variance",
    "wide",
    "wide_enough",
]

A = sp.activations
Bound = Literal["Theorem 56", "Note", "floor"]


def arc(n: int, spacing: float) -> Floats:
    """Return n unit vectors in the plane, neighbours at the angle ``spacing``: ``(n, 2)``.

    >>> arc(2, np.pi / 2).round(12)
    array([[1., 0.],
           [0., 1.]])
    """
    if n < 2 or not 0 < spacing * n <= np.pi * (1 + 1e-12):
        raise ValueError(
            f"spacing must lie in (0, pi / n] with n >= 2, got n = {n}, spacing = {spacing}"
        )
    angles = spacing * np.arange(n)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _grid(side: int, spacing: float) -> Floats:
    """A square grid of ``side ** 2`` points, projected from a tangent plane to the sphere."""
    steps = spacing * (np.arange(side) - (side - 1) / 2)
    x = np.stack([*(a.ravel() for a in np.meshgrid(steps, steps)), np.ones(side**2)], axis=1)
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def _simplex(n: int, rho: float) -> Floats:
    """n unit vectors in ``R^n`` with pairwise inner product ``rho``."""
    return np.asarray(np.linalg.cholesky(equicorrelated(n, rho)))


#: Unit inputs, ``(n, d)``, by their names in words.
INPUTS: Mapping[str, Floats] = {
    "a pair at angle 0.1": arc(2, 0.1),
    **{f"a fan of {n}": fan(n) for n in (4, 8, 12, 64)},
    **{f"{n} on an arc, spacing {t:g}": arc(n, t) for n in (3, 8) for t in (0.1, 0.02, 0.005)},
    "a grid of 25, spacing 0.1": _grid(5, 0.1),
    "20 random directions in 10 dimensions": directions(),
    "60 random directions in 3 dimensions": directions(60, 3),
    "10 of cosine 0.99": _simplex(10, 0.99),
}
#: Activations: the first four meet the hypothesis of Theorem 58, the others do not.
FEATURES: Mapping[str, Activation] = {
    "exponential": ACTIVATIONS["exponential"],
    "SELU": ACTIVATIONS["SELU"],
    "NormReLU": ACTIVATIONS["NormReLU"],
    "softplus": A.softplus.standardized(),
    "ReLU": A.relu,
    "tanh": ACTIVATIONS["tanh"],
    "step": ACTIVATIONS["step"],
    "fifth degree": Activation.from_hermite([1.0] * 6),
}


def separation(x: Floats) -> float:
    """Return the largest delta of Assumption A, without loss of digits for close inputs.

    By ``1 - |x . y| = min |x -+ y|^2 / 2`` for unit vectors.

    >>> round(separation(arc(3, 1e-6)) * 1e12, 6)
    0.5
    """
    i, j = np.triu_indices(len(x), k=1)
    squares = [((x[i] + sign * x[j]) ** 2).sum(1) for sign in (-1, 1)]
    return float(np.min(squares) / 2)


def _kernel(x: Floats, phi: Activation) -> Floats:
    """The kernel matrix at infinite width, ``(n, n)``."""
    gram = np.clip(x @ x.T, -1, 1)
    np.fill_diagonal(gram, 1)
    return np.asarray(sp.KernelMap(phi)(gram))


def smallest(x: Floats, phi: Activation = A.relu) -> float:
    """Return the smallest eigenvalue of the kernel matrix of unit inputs ``(n, d)``.

    >>> round(smallest(arc(2, np.pi / 2)), 6)    # 1/2 - 1/(2 pi)
    0.340845
    """
    return float(np.linalg.eigvalsh(_kernel(x, phi))[0])


@functools.cache
def _relu_weights(delta: float) -> Floats:
    """Squared coefficients as far as they matter at this separation."""
    return theory.cond_relu_weights(min(math.ceil(40 / delta), 2_000_000))


def _bound(of: Bound, n: int, delta: float, power: float) -> float:
    if of == "Theorem 56":
        return theory.cond_theorem_56(n, delta**power)
    if of == "Note":
        return theory.cond_note_56(n, delta**power)
    return theory.cond_theorem_58_floor(n, delta, _relu_weights(delta))


def floors(inputs: str, of: Bound, *, factor: float = 1.0, power: float = 1.0) -> Case:
    """A lower bound of the smallest eigenvalue under ReLU, beside the eigenvalue.

    ``factor`` times the bound, or the bound at ``delta ** power``, makes a rival.

    >>> case = floors("a pair at angle 0.1", "floor")
    >>> 0.9999 < case.left / case.right < 1
    True
    """
    x = INPUTS[inputs]
    delta = separation(x)
    return Case(factor * _bound(of, len(x), delta, power), smallest(x), words=inputs)


def per_spacing(counts: Sequence[int], spacings: Sequence[float]) -> pd.DataFrame:
    """Return the smallest eigenvalue on arcs, and what bounds it from below.

    >>> per_spacing([2], [np.pi / 2])["smallest eigenvalue"].round(4).tolist()
    [0.3408]
    """
    rows = []
    for n in counts:
        for spacing in spacings:
            x = arc(n, spacing)
            delta = separation(x)
            rows.append(
                {
                    "inputs": n,
                    "spacing": spacing,
                    "separation": delta,
                    "smallest eigenvalue": smallest(x),
                    "over δ^(3/2)": smallest(x) / delta**1.5,
                    "discs": _bound("floor", n, delta, 1.0),
                    "with logarithm": theory.cond_note_56(n, delta),
                    "Theorem 56": theory.cond_theorem_56(n, delta),
                }
            )
    return pd.DataFrame(rows)


def fitted_exponents(n: int, spacings: Sequence[float]) -> Floats:
    """Return the local exponents of delta in the smallest eigenvalue, between neighbours.

    >>> fitted_exponents(2, [0.02, 0.01]).round(2)
    array([1.])
    """
    rows = per_spacing([n], spacings)
    logs = np.log(rows[["separation", "smallest eigenvalue"]].to_numpy())
    steps = np.diff(logs, axis=0)
    return np.asarray(steps[:, 1] / steps[:, 0])


def wide(x: Floats, width: int, runs: int, stream: Stream) -> Floats:
    """Return the smallest eigenvalue of ``Phi(X)^T Phi(X)`` of random ReLU layers, ``(runs,)``.

    >>> wide(arc(2, 1.0), 10, 3, sp.Stream(0)).shape
    (3,)
    """
    rng = stream.numpy()
    values = []
    for _ in range(runs):
        gram = np.zeros((len(x), len(x)))
        for start in range(0, width, 20_000):  # to bound the memory
            features = np.maximum(
                rng.standard_normal((min(20_000, width - start), x.shape[1])) @ x.T, 0
            )
            gram += features.T @ features
        values.append(np.linalg.eigvalsh(gram / width)[0])
    return np.array(values)


def wide_enough(x: Floats, width: int, runs: int, stream: Stream) -> Floats:
    """Return for each random layer whether its eigenvalue is at least half the limit, ``(runs,)``.

    >>> wide_enough(arc(2, 1.0), 2000, 3, sp.Stream(0))
    array([ True,  True,  True])
    """
    return np.asarray(wide(x, width, runs, stream) >= smallest(x) / 2)


def _near_zero(n: int, delta: float) -> tuple[float, float]:
    """The two thresholds of Lemma 57: of ``|w . x_1|`` from above, of the others from below."""
    return math.sqrt(delta) / (10 * n), math.sqrt(delta) / (4 * n)


def _theta(n: int, delta: float, root: int) -> float:
    """``delta^(1/4) / (5 n)`` in Lemma 57, ``sqrt(delta) / (5 n)`` in the proof that uses it."""
    return float(delta ** (1 / root) / (5 * n))


def event(n: int, root: int = 4, *, least: float = 1 / 50) -> Case:
    """COND Lemma 57 for a fan of n: ``least * sqrt(delta) / n`` beside the probability of G.

    In the plane ``w = (a, g)``, and to each a belongs a union of intervals of forbidden g.

    >>> case = event(2)
    >>> 0.25 < case.left / case.right < 0.35
    True
    """
    x = fan(n)
    delta = separation(x)
    small, large = _near_zero(n, delta)
    spread = math.sqrt(1 - _theta(n, delta, root) ** 2)
    nodes, weights = np.polynomial.legendre.leggauss(64)
    total = 0.0
    for a, weight in zip(small * nodes, small * weights, strict=True):
        allowed = 1 - _covered((-large - a * x[1:, 0]) / x[1:, 1], 2 * large / x[1:, 1])
        total += weight * norm.pdf(a, scale=spread) * allowed
    return Case(least * math.sqrt(delta) / n, float(total), words=f"a fan of {n}")


def _covered(starts: Floats, lengths: Floats) -> float:
    """The Gaussian measure of a union of intervals."""
    total, end = 0.0, -math.inf
    for start, length in sorted(zip(starts, lengths, strict=True)):
        total += max(norm.cdf(start + length) - norm.cdf(max(start, end)), 0.0)
        end = max(end, start + length)
    return float(total)


def equicorrelated_event(n: int, delta: float, root: int = 4, *, least: float = 1 / 50) -> Case:
    """COND Lemma 57 for n inputs of cosine ``1 - delta``, as :func:`event`.

    Given ``w . x_1 = a`` the others are ``rho a + sqrt(rho (1 - rho)) f + sqrt(1 - rho) e_i`` with
    independent standard Gaussians; so the probability is an integral over a and f.

    >>> case = equicorrelated_event(2, 0.1)
    >>> round(case.right * 2 / 0.1**0.5, 4)    # sqrt(2/pi)/10 times (1 - 0.145/n)
    0.0741
    """
    rho = 1 - delta
    small, large = _near_zero(n, delta)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    common, mass = np.polynomial.hermite_e.hermegauss(200)
    a = small * nodes[:, None]
    centre = rho * a + math.sqrt(rho * delta) * common
    scale = math.sqrt(delta)
    inside = norm.cdf((large - centre) / scale) - norm.cdf((-large - centre) / scale)
    given = (1 - inside) ** (n - 1) @ (mass / mass.sum())
    density = norm.pdf(a[:, 0], scale=math.sqrt(1 - _theta(n, delta, root) ** 2))
    total = float(small * weights @ (density * given))
    return Case(least * math.sqrt(delta) / n, total, words=f"n = {n}, δ = {delta:g}")


def misses(n: int, delta: float, *, share: float = 1 / 8) -> Case:
    """COND, proof of Lemma 57: ``P(|w . x_i| <= sqrt(delta) / 4n)`` beside ``share / n``.

    For inputs of cosine ``1 - delta``, at ``w . x_1 = 0``, where it is largest.

    >>> round(misses(400, 1.0).left * 400, 4)
    0.1995
    """
    _, large = _near_zero(n, delta)
    left = 2 * norm.cdf(large / math.sqrt(1 - (1 - delta) ** 2)) - 1
    return Case(float(left), share / n, words=f"n = {n}, δ = {delta:g}")


def variance(delta: float, *, power: float = 2.0, over: float = 4.0) -> Case:
    """COND, proof of Lemma 57: ``delta^2 / 4`` beside the smallest variance of ``w . x_i``.

    ``delta^power / over`` in general.

    >>> variance(0.5)
    Case(left=0.0625, right=0.75, hypotheses={}, words='δ = 0.5', where={})
    """
    return Case(delta**power / over, 1 - (1 - delta) ** 2, words=f"δ = {delta:g}")


#: Angles of the two neighbours in :func:`kink`, in degrees.
ANGLES = (50, 60, 70)


def kink(degrees: float, *, mended: bool = False, factor: float = 1.0) -> Case:
    """COND, proof of Theorem 56: what ``|T|`` is said to reach, beside what it reaches.

    Three inputs in the plane: ``x_1 = (1, 0)`` and two at this angle from it and from ``-x_1``. If
    ``w . x_1 = u`` and the other two are positive, ``T = alpha_1 max(u, 0) + b u + b'``. Here
    ``b = -alpha_1 / 2`` and ``b' = -alpha_1 c / 4``. The random part of w along ``x_1`` is ``+-c``
    with ``c = sqrt(delta) / 9n``, the lower end of the event E. As printed ``|T|`` exceeds
    ``sqrt(delta) / 9n`` for one of the signs. ``mended``: for one of ``u = c, 0, -c`` it is at
    least ``sqrt(delta) / (36 n^(3/2))``, by ``T(c) - 2 T(0) + T(-c) = alpha_1 c``.

    >>> case = kink(60)
    >>> case.left > case.right
    True
    """
    angle = math.radians(degrees)
    x = np.array([[1, 0], *([s * math.cos(angle), math.sin(angle)] for s in (1, -1))])
    n, delta = 3, separation(x)
    small, large = _near_zero(n, delta)
    c, g = math.sqrt(delta) / (9 * n), 1.0
    even, odd = -c / 4 / (g * math.sin(angle)), -0.5 / math.cos(angle)  # sum and difference
    alpha = np.array([1, (even + odd) / 2, (even - odd) / 2])
    alpha /= np.linalg.norm(alpha)
    steps = [c, 0.0, -c] if mended else [c, -c]
    right = max(abs(float(alpha @ np.maximum(x @ [u, g], 0))) for u in steps)
    left = math.sqrt(delta) / (36 * n**1.5 if mended else 9 * n)
    hypotheses = {
        "the first coefficient is the largest": float(alpha[0]) >= n**-0.5,
        "w is in G": bool(np.all(np.abs(x[1:] @ [0.0, g]) > large)) and small > 0,
    }
    return Case(factor * left, right, hypotheses, words=f"neighbours at {degrees}°")


def nonsingular(inputs: str, activation: str) -> Case:
    """COND Theorem 58: what rounding leaves of a zero eigenvalue, beside the smallest one.

    Kernel maps are right to 1e-12 of their largest value; a matrix of n rows, to n times that.

    >>> case = nonsingular("a fan of 8", "exponential")
    >>> case.left < case.right
    True
    """
    kernel = _kernel(INPUTS[inputs], FEATURES[activation])
    values = np.linalg.eigvalsh(kernel)
    zero = 2e-12 * len(kernel) * kernel[0, 0]
    return Case(float(zero), float(values[0]), words=f"{activation}, {inputs}")


def coefficient(order: int, activation: str = "ReLU") -> Case:
    """Return ``1e-10`` beside the squared Hermite coefficient of this order, by quadrature.

    >>> coefficient(3).right < 1e-20
    True
    """
    value = sp.KernelMap(FEATURES[activation]).hermite_coefficients(order)[order]
    return Case(1e-10, float(value) ** 2, words=f"order {order}")
