"""Counterexamples to statements of KER in exact fractions or balls, one function a statement.

Each goes back to the statement as printed and shares no code with the evaluation in doubles. A
kernel map with finitely many weights, ``kappa(rho) = sum_k w_k rho^k``, is a list of fractions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb, ctx

from signalprop.certify import Counterexample, ball, differs, exceeds, reaches

__all__ = [
    "factor_above",
    "growing_cosine",
    "linear_map",
    "mehler_without_powers",
    "negative_start",
    "potential",
    "rate_of_case_1",
    "rate_of_case_4",
    "rate_with_a_norm",
    "relu_at_the_boundary",
    "short_inputs",
    "slope",
    "slope_of_the_exponential",
    "value",
]

Weights = Sequence[Fraction]

#: Of ``x^3`` over its root mean square, ``(9 rho + 6 rho^3) / 15``.
CUBE: Weights = [Fraction(0), Fraction(3, 5), Fraction(0), Fraction(2, 5)]
#: A map of case 4 with the fixed point 1/2, where its slope is 2/3.
QUADRATIC: Weights = [Fraction(1, 3), Fraction(0), Fraction(2, 3)]
HALF = Fraction(1, 2)


def linear_map(rho: Fraction = HALF) -> Counterexample:
    """KER Theorem 5.8: no cosine in (-1, 1) but 0 is fixed, that is, 0 attracts them all.

    Then ``|kappa(rho)| < |rho|``. The identity is centred and normalized, and fixes every cosine.

    >>> linear_map().exact
    True
    """
    kappa = [Fraction(0), Fraction(1)]
    given = {"κ(0) = 0": kappa[0] == 0, "κ(1) = 1": value(kappa, Fraction(1)) == 1}
    return reaches(abs(value(kappa, rho)), abs(rho), at=f"the identity, ρ = {rho}", given=given)


def negative_start(rho: Fraction = -HALF) -> Counterexample:
    """KER Corollary 5.10: ``|rho_1| <= rho_0 / (1 - |rho_0|) alpha``, for ``rho^2``.

    >>> negative_start().right
    Fraction(-1, 2)
    """
    kappa = [Fraction(0), Fraction(0), Fraction(1)]
    bound = rho / (1 - abs(rho)) / (2 - slope(kappa, Fraction(0)))
    return exceeds(abs(value(kappa, rho)), bound, at=f"ρ² from ρ₀ = {rho} in layer 1")


def rate_of_case_1(rho: Fraction = Fraction(1, 10)) -> Counterexample:
    """KER Theorem 5.11, case 1: a layer divides the potential by ``kappa'(1)`` at least.

    >>> rate_of_case_1().left, rate_of_case_1().right
    (Fraction(151, 2349), Fraction(5, 81))
    """
    left = potential(value(CUBE, rho))
    right = potential(rho) / slope(CUBE, Fraction(1))
    given = {"κ(0) = 0": CUBE[0] == 0, "κ(1) = 1": value(CUBE, Fraction(1)) == 1}
    return exceeds(left, right, at=f"(3ρ + 2ρ³)/5, potentials from ρ₀ = {rho}", given=given)


def rate_of_case_4(gap: Fraction = Fraction(1, 10**8), layers: int = 60) -> Counterexample:
    """KER Theorem 5.11, case 4: ``|rho_l - rho*| <= |rho_0 - rho*| / (1 - |rho_0|) alpha^l``.

    ``alpha`` is the largest of ``1 - kappa(0)``, ``kappa'(rho*)`` and
    ``(1 - rho*) / (2 - kappa'(rho*))``. Close to 1 a layer moves the cosine away from 1 by the
    factor ``kappa'(1)`` only.

    >>> rate_of_case_4().exact
    False
    """
    fixed, steep = HALF, slope(QUADRATIC, HALF)
    alpha = max(1 - QUADRATIC[0], steep, (1 - fixed) / (2 - steep))
    with ctx.workprec(300):
        rho = ball(1 - gap)
        for _ in range(layers):
            rho = sum((ball(w) * rho**k for k, w in enumerate(QUADRATIC)), arb(0))
        left = abs(rho - ball(fixed))
        right = ball(abs(1 - gap - fixed) / gap * alpha**layers)
    given = {
        "κ(ρ*) = ρ*": value(QUADRATIC, fixed) == fixed,
        "κ(0) > 0": QUADRATIC[0] > 0,
        "κ′(1) > 1": slope(QUADRATIC, Fraction(1)) > 1,
    }
    power = str(math.log10(gap.denominator)).removesuffix(".0")
    at = f"(1 + 2ρ²)/3 from $1 - \\rho_0 = 10^{{-{power}}}$ in layer {layers}"
    return exceeds(left, right, at=at, given=given)


def factor_above(rho: Fraction = 1 - Fraction(1, 20_000)) -> Counterexample:
    """KER, proof of Theorem 5.11, case 4 above the fixed point: the factor of one layer.

    ``(kappa - rho*)/(1 - kappa) <= (rho - rho*)/(1 - rho) (1 - rho*)/(2 - kappa'(rho*))``.

    >>> found = factor_above()
    >>> float(found.left / found.right).__round__(3)
    2.0
    """
    after, factor = value(QUADRATIC, rho), HALF / (2 - slope(QUADRATIC, HALF))
    left, right = (after - HALF) / (1 - after), factor * (rho - HALF) / (1 - rho)
    return exceeds(left, right, at=f"(1 + 2ρ²)/3, ρ = {rho}", given={"ρ ≥ ρ*": rho >= HALF})


def slope_of_the_exponential() -> Counterexample:
    """KER, proof of Theorem 5.11: ``kappa'(1) = 1 + sum_{k >= 2} (k - 1) c_k^2``, so above 1.

    For ``exp(x - 1)`` the map is ``exp(rho - 1)``. Its weights are ``c_k^2 = 1 / (e k!)``, and
    ``sum_{k >= 2} (k - 1) / k! = (e - 1) - (e - 2) = 1``.

    >>> slope_of_the_exponential().left.contains(1)
    True
    """
    e = arb(1).exp()
    steep = sum((1 / arb(math.factorial(k - 1)) for k in range(1, 40)), arb(0)) / e
    rest = arb(0, (2 / arb(math.factorial(39)) / e).upper())  # sum_{k >= 40} 1 / (k - 1)!
    return differs(steep + rest, 1 + 1 / e, at=r"$\phi(x) = e^{x - 1}$")


def growing_cosine(rho: Fraction = -Fraction(1, 10)) -> Counterexample:
    """KER, proof of Theorem 5.11, case 4: ``|kappa(rho)| <= |rho|`` from negative cosines.

    >>> growing_cosine().left
    Fraction(17, 50)
    """
    given = {"ρ < 0": rho < 0, "κ′(1) > 1": slope(QUADRATIC, Fraction(1)) > 1}
    return exceeds(abs(value(QUADRATIC, rho)), abs(rho), at=f"(1 + 2ρ²)/3, ρ = {rho}", given=given)


def rate_with_a_norm(rho: Fraction = Fraction(1, 10)) -> Counterexample:
    """KER Theorem 5.15: ``alpha = (kappa(1) - kappa(0)) / kappa'(1)`` a layer, for the cube.

    The cube has mean 0, so that a norm leaves its map as it is, up to scale.

    >>> rate_with_a_norm().left
    Fraction(151, 2349)
    """
    own = [15 * w for w in CUBE]  # of x^3: E x^6 = 15
    alpha = (value(own, Fraction(1)) - own[0]) / slope(own, Fraction(1))
    left = potential(value(own, rho) / value(own, Fraction(1)))
    return exceeds(left, potential(rho) * alpha, at=f"the cube, potentials from ρ₀ = {rho}")


def short_inputs(q: Fraction = Fraction(1, 100), rho: Fraction = Fraction(1, 20)) -> Counterexample:
    """KER Theorem 5.15 with the rate of Theorem 5.8, ``x + x^3``, inputs of mean square q.

    With ``E`` over a Gaussian pair of variance q, ``E phi phi' = (q + 6 q^2 + 9 q^3) rho +
    6 q^3 rho^3``, as ``x^3 = q^(3/2) (He_3 + 3 He_1)(x / sqrt q)``.

    >>> float(short_inputs().left).__round__(4), float(short_inputs().right).__round__(4)
    (0.0526, 0.0414)
    """

    def weights(q: Fraction) -> Weights:
        return [Fraction(0), q + 6 * q**2 + 9 * q**3, Fraction(0), 6 * q**3]

    first, own = weights(q), weights(Fraction(1))
    alpha = value(own, Fraction(1)) / (2 * value(own, Fraction(1)) - own[1])
    left = potential(value(first, rho) / value(first, Fraction(1)))
    at = f"x + x³, a norm after it, inputs of mean square {q}, potentials from ρ₀ = {rho}"
    return exceeds(left, potential(rho) * alpha, at=at)


def relu_at_the_boundary() -> Counterexample:
    """KER Figure 5.2: ReLU is said to be in case 2, where ``kappa'(1) < 1``.

    ``kappa'(1) = E phi'(X)^2 / E phi(X)^2``, the shares of half of the even moments 1 and 1.

    >>> relu_at_the_boundary().left
    Fraction(1, 1)
    """
    moments = [Fraction(math.prod(range(1, 2 * m, 2)), 2) for m in (0, 1)]  # E X^2m over X > 0
    return reaches(moments[0] / moments[1], 1, at="ReLU, κ′(1) for the left side")


def mehler_without_powers(rho: Fraction = -Fraction(9, 10), terms: int = 40) -> Counterexample:
    """Mehler's formula as quoted in the proof of KER Lemma 5.6, without the powers of rho.

    At ``x = y = 0`` the sum ``sum_m he_m(0)^2`` has no negative term, so that its first terms are
    at most the kernel ``1 / sqrt(1 - rho^2)``: ``he_{2m}(0)^2 = binom(2m, m) / 4^m``.

    >>> mehler_without_powers().at
    'x = y = 0, ρ = -9/10, the first 40 terms of the sum on the left'
    """
    first = sum((Fraction(math.comb(2 * m, m), 4**m) for m in range(terms // 2)), Fraction(0))
    at = f"x = y = 0, ρ = {rho}, the first {terms} terms of the sum on the left"
    return exceeds(first, 1 / ball(1 - rho**2).sqrt(), at=at)


def value(weights: Weights, rho: Fraction) -> Fraction:
    """Return ``kappa(rho)``.

    >>> value(CUBE, Fraction(1))
    Fraction(1, 1)
    """
    return sum((w * rho**k for k, w in enumerate(weights)), Fraction(0))


def slope(weights: Weights, rho: Fraction) -> Fraction:
    """Return ``kappa'(rho)``.

    >>> slope(CUBE, Fraction(1))
    Fraction(9, 5)
    """
    return sum((k * w * rho ** (k - 1) for k, w in enumerate(weights) if k), Fraction(0))


def potential(rho: Fraction) -> Fraction:
    """Return ``|rho| / (1 - |rho|)``, the quantity that the theorems bound.

    >>> potential(Fraction(-1, 3))
    Fraction(1, 2)
    """
    return abs(rho) / (1 - abs(rho))
