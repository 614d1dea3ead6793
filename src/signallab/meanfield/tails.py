"""From total variation to tails of the Gram matrix (MF Theorem B.6, Lemma B.7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import signalprop as sp
from signallab.case import Case
from signallab.meanfield import total_variation as tv
from signallab.meanfield.surrogate_law import from_input
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.random import Stream

__all__ = [
    "Deviation",
    "chebyshev",
    "convexity",
    "epsilon",
    "exact_tail",
    "exponential",
    "gram_deviations",
    "lemma_b_7",
    "moved_norm",
    "scalar",
    "skewed",
    "some_layer",
    "theorem_b_6",
    "turned",
]


@dataclass(frozen=True)
class Deviation:
    """A law of G beside G*, both norms of the lemma (squared), and two total variations.

    With probability ``chance`` G is off, by ``plain = |G*^-1 G - I|_F^2`` and ``symmetric =
    |G*^-1/2 G G*^-1/2 - I|_F^2``, else G is G*. ``given`` is the distance of the two Gaussian laws
    given such a G, of ``width`` rows; ``marginal`` is that of h itself, over all such G.
    """

    words: str
    batch: int
    width: int
    plain: float
    symmetric: float
    given: float
    marginal: float
    chance: float = 1.0

    def __str__(self) -> str:
        return self.words


def scalar(delta: float, width: int = 1, chance: float = 1.0) -> Deviation:
    """One sample, G* = 1 and G = 1 + ``delta``.

    >>> found = scalar(1.0)
    >>> found.plain, round(found.marginal, 3)
    (1.0, 0.166)
    """
    apart = tv.between_scales(1 + delta, width)
    words = f"n = 1, d = {width}, G* = 1, G = {1 + delta:g} with probability {chance:g}"
    return Deviation(words, 1, width, delta**2, delta**2, apart, apart, chance)


def skewed(eta: float, condition: float) -> Deviation:
    """Two samples, one row, ``G = G*^1/2 (I + eta J) G*^1/2``, J the exchange, G* ill-conditioned.

    >>> found = skewed(0.001, 1e8)
    >>> round(found.plain, 3), found.marginal < 0.001
    (100.0, True)
    """
    root = np.diag([1.0, condition**-0.5])
    g = root @ np.array([[1.0, eta], [eta, 1.0]]) @ root
    plain = float(np.sum((np.linalg.inv(root @ root) @ g - np.eye(2)) ** 2))
    apart = tv.between_two_scales(1 + eta, 1 - eta, (1, 1))
    words = f"n = 2, d = 1, κ(G*) = {condition:g}, G off by {eta:g} relative to G*"
    return Deviation(words, 2, 1, plain, 2 * eta**2, apart, apart)


def turned(delta: float, batch: int) -> Deviation:
    """One row, G* = I, half of G's eigenvalues 1 + ``delta`` and half 1 - ``delta``, turned at
    random.

    >>> found = turned(0.5, 100)
    >>> found.plain, found.marginal < 0.1 < found.given
    (25.0, True)
    """
    half = batch // 2
    given = tv.between_two_scales(1 + delta, 1 - delta, (half, half))
    marginal = tv.of_lengths(1 + delta, 1 - delta, half)
    square = 2 * half * delta**2
    words = f"n = {batch}, d = 1, G* = I, G of eigenvalues 1 ± {delta:g} turned at random"
    return Deviation(words, batch, 1, square, square, given, marginal)


def lemma_b_7(
    deviation: Callable[[], Deviation],
    *,
    part: Callable[[Deviation], float] = lambda deviation: deviation.plain,
    constant: float = 0.01,
    given: bool = False,
    chance: bool = True,
) -> Case:
    """MF Lemma B.7: ``constant t P(|G*^-1 G - I|_F^2 >= t) <= tv(h, hhat)``.

    Evaluated at the largest t that has the whole chance; ``part`` takes the place of that t.
    ``given`` takes the mean over G of the distance given G for the right side. What makes the
    deviation is handed over, so that a counterexample that is written down computes it.

    >>> case = lemma_b_7(lambda: scalar(11.0))
    >>> round(case.left, 2), round(case.right, 2)
    (1.21, 0.53)
    """
    of = deviation()
    left = constant * part(of) * (of.chance if chance else 1.0)
    right = of.chance * (of.given if given else of.marginal)
    return Case(left, right, words=str(of))


def convexity(deviation: Callable[[], Deviation], *, reverse: bool = False) -> Case:
    """MF Eq. B.47: the distance of h from hhat beside the mean of the distances given G.

    >>> case = convexity(lambda: turned(0.5, 20))
    >>> case.left < case.right
    True
    """
    of = deviation()
    apart, mean = of.chance * of.marginal, of.chance * of.given
    left, right = (mean, apart) if reverse else (apart, mean)
    return Case(left, right, words=str(of))


def epsilon(phi: Activation, batch: int, width: int) -> float:
    """``n B kappa(G*)/sqrt(d)`` of Theorem B.6, for an activation with B = 1.

    >>> epsilon(sp.activations.relu, 2, 16)
    0.5
    """
    condition = sp.limits.gram_fixed_point(phi, batch).condition_number
    return float(batch * condition / np.sqrt(width))


def exact_tail(width: int, t: float) -> float:
    """``P(|G* - G_l|_F >= t)`` for ReLU and two samples, at every layer after the input.

    ``G_l - G* = diag(m, -m)/2`` with m a mean of d random signs.

    >>> exact_tail(4, 0.5)  # |m| >= 0.707: two of sixteen
    0.125
    """
    m, chances = tv.signs(width)
    return float(chances[np.abs(m) >= np.sqrt(2) * t * (1 - 1e-12)].sum())


def theorem_b_6(
    width: int,
    t: float,
    constant: float = 1.0,
    *,
    depth: int | None = None,
    logarithm: Callable[[float], float] = lambda eps: -np.log(eps),
    power: float = 2.0,
    order: float = 2.0,
) -> Case:
    """MF Theorem B.6 for ReLU and two samples, at a layer after the input.

    ``P(|G* - G_l|_F >= t) <= c t^-power (|G*|^2 (1 - alpha)^l + alpha^-1 eps^order ln(1/eps))``.
    Without a ``depth`` the right side is the least that any rate and depth give where the logarithm
    is positive, that of alpha = 1. With one, alpha is ``2^-width``: a rate that serves every input,
    since from layer 2 on the law is the invariant one.

    >>> case = theorem_b_6(4, 0.35, depth=400)
    >>> case.left, round(case.right, 9), all(case.hypotheses.values())
    (0.625, 0.0, True)
    """
    point = sp.limits.gram_fixed_point(sp.activations.relu, 2)
    eps = epsilon(sp.activations.relu, 2, width)
    words = f"ReLU, n = 2, d = {width}, t = {t:.3g}, ε = {eps:.3g}, constant {constant:g}"
    alpha, hypotheses = 1.0, {"G* is not degenerate": point.condition_number < np.inf}
    if depth is not None:
        alpha = 2.0**-width
        words += f", layer {depth}, α = {alpha:g}"
        farthest = max(from_input(width, k) for k in range(width + 1))
        hypotheses["layer 1 of every input is within 1 - α"] = farthest <= 1 - alpha + 1e-9
    start = 0.0 if depth is None else max(point.eigenvalues) ** 2 * (1 - alpha) ** depth
    right = constant * t**-power * (start + eps**order * logarithm(eps) / alpha)
    return Case(exact_tail(width, t), float(right) + 0.0, hypotheses, words=words)


def exponential(
    width: int, t: float, constant: float = 1.0, *, factor: float = 2.0, rate: float = 1.0
) -> Case:
    """``P(|G* - G_l|_F >= t) <= factor exp(-rate d t^2)``, ReLU and two samples (Hoeffding).

    >>> case = exponential(4, 0.5)
    >>> case.left < case.right
    True
    """
    words = f"ReLU, n = 2, d = {width}, t = {t:.3g}"
    return Case(exact_tail(width, t), float(factor * np.exp(-rate * width * t**2)), words=words)


def some_layer(
    width: int,
    layers: float,
    constant: float = 1.0,
    *,
    bound: Callable[[int, float, float], float] = lambda width, layers, radius: 0.5,
) -> Case:
    """One radius for all layers, ReLU and two samples: the chance that some layer is beyond.

    The layers after the input are independent of each other. The radius is ``constant`` times that
    of MF Theorem 3.2 for ``alpha = 1/2`` and great depth. To hold for all layers with a probability
    of one half, the chance must be at most 1/2 however many layers there are; ``bound`` replaces
    this, and knows the radius.

    >>> case = some_layer(257, 1e30)
    >>> round(case.left, 3), case.right
    (1.0, 0.5)
    """
    radius = constant * float(theory.mf_theorem_3_2(width, 2, np.inf, 0.5, 1.0))
    once = exact_tail(width, radius)
    words = f"ReLU, n = 2, d = {width}, {layers:.0e} layers, constant {constant:g}"
    left = float(-np.expm1(layers * np.log1p(-once)))
    return Case(left, float(bound(width, layers, radius)), words=words)


def moved_norm(
    batch: int, width: int, constant: float = 1.0, *, kept: bool = False, power: float = 2.0
) -> Case:
    """MF Eqs. B.29 and B.32 for ReLU: ``|G*|^2 eps^2 ln(1/eps)`` against the same of ``|G*| eps``.

    ``eps`` is that of Lemma B.3. ``kept`` keeps it in the logarithm, and the norm outside.

    >>> case = moved_norm(20, 40_000)
    >>> case.left > 10 * case.right
    True
    """
    point = sp.limits.gram_fixed_point(sp.activations.relu, batch)
    norm, inverse = max(point.eigenvalues), 1 / min(point.eigenvalues)
    eps = batch * inverse / np.sqrt(width)
    moved = epsilon(sp.activations.relu, batch, width)
    logarithm = -np.log(eps if kept else moved)
    return Case(
        float(norm**2 * eps**2 * -np.log(eps)),
        float(constant * moved**power * logarithm),
        {"both logarithms are positive": max(eps, moved) < 1},
        words=f"ReLU, n = {batch}, d = {width}, constant {constant:g}",
    )


def gram_deviations(
    phi: Activation, batch: int, width: int, depth: int, runs: int, stream: Stream
) -> Floats:
    """Sample ``|G_l - G*|_F`` at layer ``depth``, inputs of pairwise cosine 0.9: ``(runs,)``.

    >>> gram_deviations(sp.activations.relu, 3, 50, 5, 2, Stream(0)).shape
    (2,)
    """
    target: Any = torch.from_numpy(sp.limits.gram_fixed_point(phi, batch).matrix())
    normalize = sp.BatchNorm()

    def deviation(h: torch.Tensor) -> torch.Tensor:
        y = phi(normalize(h))
        off: torch.Tensor = (y @ y.mT / width - target).square().sum(dim=(-2, -1)).sqrt()
        return off

    net = sp.Chain(width, before=[normalize, phi])
    start = sp.inputs.with_correlation(0.9, batch)
    path = net.run(start, depth, runs, stream.child("gram", phi.name, batch, width))
    return np.asarray(path.measure(deviation, every=depth).values[:, -1])


def chebyshev(deviations: Floats, t: Floats) -> Floats:
    """``E X^2 / t^2``: the best tail of the theorem's form.

    >>> chebyshev(np.array([1.0, 2.0]), np.array([5.0]))
    array([0.1])
    """
    return np.asarray(np.mean(deviations**2) / t**2)
