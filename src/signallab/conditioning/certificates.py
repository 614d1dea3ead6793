"""Counterexamples to statements of COND in exact numbers or balls, one function a statement."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from signalprop.activations import relu
from signalprop.certify import (
    Counterexample,
    Proof,
    ball,
    differs,
    exceeds,
    kernel,
    prove_positive,
    reaches,
)

__all__ = [
    "index_of_the_slope",
    "mean_of_the_normalized",
    "norm_of_one_sample",
    "bends_of_norm_relu",
    "norm_relu",
    "norm_transfer_in_print",
    "odd_coefficient_of_relu",
    "outputs_of_the_normalized",
    "rate_below_one_in_print",
    "rises_of_norm_relu",
    "series_of_relu",
]

THRESHOLD = Fraction("-1.5975")  # of NormReLU
HALF = Fraction(1, 2)
RANGE = [(HALF, Fraction(2))]  # of the variances in COND Figure 6 and Fact 1


def norm_relu(gamma: Fraction) -> tuple[arb, arb]:
    """Return mean and mean square of NormReLU on Gaussian inputs of variance gamma.

    With ``u = c / sqrt gamma``, density p and distribution function P: ``E (x - c)_+ = sqrt gamma
    p(u) - c (1 - P(u))`` and ``E (x - c)_+^2 = (gamma + c^2)(1 - P(u)) - c sqrt gamma p(u)``.

    >>> mean, square = norm_relu(Fraction(1))
    >>> mean.contains(0), square.contains(1)
    (True, True)
    """
    first, second = _hinge(Fraction(1))
    scale = 1 / (second - first**2).sqrt()
    mean, square = _hinge(gamma)
    return scale * (mean - first), scale**2 * (square - 2 * first * mean + first**2)


def norm_transfer_in_print() -> Counterexample:
    """COND Fact 1: the norm transfer at 1/2 is about 0.5399; rounded, it would be below 0.53995.

    >>> norm_transfer_in_print().exact
    False
    """
    _, square = norm_relu(HALF)
    at = "γ = ½; right is the end of what rounds to the printed 0.5399"
    return exceeds(square, Fraction("0.53995"), at=at)


def rate_below_one_in_print() -> Counterexample:
    """COND Appendix I: ``alpha^- = 2 s(1/2) - 1`` is about 0.0798, so below 0.07985.

    >>> rate_below_one_in_print().exact
    False
    """
    _, square = norm_relu(HALF)
    at = "the rate below 1; right is the end of what rounds to the printed 0.0798"
    return exceeds(2 * square - 1, Fraction("0.07985"), at=at)


def series_of_relu() -> Counterexample:
    """COND, table of duals: the coefficient of ``rho^2`` for ReLU is ``1/(2 pi)``.

    >>> series_of_relu().left.overlaps(1 / (4 * arb.pi()))
    True
    """
    coefficient = kernel(relu, order=2).coefficients[2]
    return differs(coefficient, 1 / (2 * arb.pi()), at="ReLU, the coefficient of ρ²")


def outputs_of_the_normalized() -> Counterexample:
    """COND Lemmas 1 and 17: with batch normalization a network does not see shift and scale.

    One hidden unit, whose batch is normalized to 1 and -1, with output weight 1: ReLU gives 1 at
    the first input, the normalized ReLU ``(1 - c) / s``.

    >>> outputs_of_the_normalized().left
    1
    """
    mean, deviation = _relu_moments()
    at = "one hidden unit, two inputs, the output at the first, ReLU and normalized ReLU"
    return differs(1, (1 - mean) / deviation, at=at)


def mean_of_the_normalized(weight: int = 2) -> Counterexample:
    """COND, proof of Lemma 17: the mean ``mu`` of ``w sigma`` becomes ``(mu - c) / s``.

    >>> mean_of_the_normalized().exact
    False
    """
    mean, deviation = _relu_moments()
    over_batch = ball(Fraction(sum(max(x, 0) for x in (1, -1)), 2))
    left = weight * (over_batch - mean) / deviation
    right = (weight * over_batch - mean) / deviation
    return differs(left, right, at=f"ReLU of 1 and −1, m = 1, weight {weight}")


def index_of_the_slope(rho: Fraction = Fraction(-7, 10)) -> Counterexample:
    """COND Eq. 7 for one hidden layer: ``s(rho) + rho s'(s(rho))``, where ``s'(rho)`` is right.

    For the second Hermite polynomial, ``s = rho^2``. The tangent kernel of one hidden layer is
    ``s(rho) + rho s'(rho)``: output weights and hidden weights.

    >>> index_of_the_slope().left, index_of_the_slope().right
    (Fraction(-49, 250), Fraction(147, 100))
    """
    dual = rho**2
    return differs(
        dual + rho * 2 * dual, dual + rho * 2 * rho, at=f"second Hermite, ρ = {rho}, L = 1"
    )


def norm_of_one_sample(d: int = 3) -> Counterexample:
    """COND Lemma 54: the covariance has norm at most ``8 log(N) / N``, which is 0 for N = 1.

    Its trace is 1, so that its norm is ``1/d`` at least.

    >>> norm_of_one_sample().left
    Fraction(1, 3)
    """
    return exceeds(
        Fraction(1, d), 8 * arb(1).log(), at=f"N = 1, inputs of dimension {d}, no layers"
    )


def odd_coefficient_of_relu() -> Counterexample:
    """COND, before Theorem 58: that ReLU has infinitely many odd coefficients; the third is 0.

    ``E ReLU(X) (X^3 - 3 X)``, half of ``E X^4 - 3 E X^2``.

    >>> odd_coefficient_of_relu().right
    Fraction(0, 1)
    """
    third = (Fraction(3) - 3 * Fraction(1)) / 2
    return reaches(0, third**2, at="ReLU, the square of its third coefficient")


def bends_of_norm_relu() -> list[Proof]:
    """COND Figure 6, on all of [1/2, 2]: the norm transfer is concave, the bias convex.

    >>> len(bends_of_norm_relu())
    2
    """
    return [
        prove_positive(lambda gamma: -_norm_transfer(gamma)[2], RANGE),
        prove_positive(_bend_of_the_bias, RANGE),
    ]


def rises_of_norm_relu() -> list[Proof]:
    """COND Fact 1, on all of [1/2, 2]: the norm transfer rises, the bias falls to 1 and then rises.

    The bias is a square over a positive number, and 0 at 1, where the mean is 0. As it is strictly
    convex, it falls before and rises after.

    >>> all(proof.margin > 0 for proof in rises_of_norm_relu())
    True
    """
    return [
        prove_positive(lambda gamma: _norm_transfer(gamma)[1], RANGE),
        prove_positive(_bend_of_the_bias, RANGE),
    ]


def _bend_of_the_bias(gamma: arb) -> arb:
    """The second derivative of ``mean^2 / norm transfer`` by the variance."""
    m, m_1, m_2 = _mean(gamma)
    s, s_1, s_2 = _norm_transfer(gamma)
    ratio = m / s
    return 2 * (m_1 - ratio * s_1) ** 2 / s + ratio * (2 * m_2 - ratio * s_2)


def _mean(gamma: arb) -> tuple[arb, arb, arb]:
    """NormReLU's mean at a variance, and two derivatives: ``d/d gamma E g = E g'' / 2``."""
    first, second = _hinge(Fraction(1))
    scale, (mean, _), density = 1 / (second - first**2).sqrt(), _hinge(gamma), _density(gamma)
    bend = density * (ball(THRESHOLD) ** 2 / gamma - 1) / (4 * gamma)
    return scale * (mean - first), scale * density / 2, scale * bend


def _norm_transfer(gamma: arb) -> tuple[arb, arb, arb]:
    """NormReLU's mean square at a variance, and two derivatives."""
    first, second = _hinge(Fraction(1))
    squared_scale = 1 / (second - first**2)
    (mean, square), density = _hinge(gamma), _density(gamma)
    above = (ball(THRESHOLD) / (2 * gamma).sqrt()).erfc() / 2
    bend = density * (ball(THRESHOLD) / gamma) / 2
    bend_of_mean = density * (ball(THRESHOLD) ** 2 / gamma - 1) / (4 * gamma)
    return (
        squared_scale * (square - 2 * first * mean + first**2),
        squared_scale * (above - first * density),
        squared_scale * (bend - 2 * first * bend_of_mean),
    )


def _density(gamma: arb) -> arb:
    """The density of a Gaussian of variance gamma at the kink."""
    return (-(ball(THRESHOLD) ** 2) / (2 * gamma)).exp() / (2 * arb.pi() * gamma).sqrt()


def _hinge(gamma: Fraction | arb) -> tuple[arb, arb]:
    """Moments of ``(x - c)_+`` for x Gaussian of variance gamma."""
    c, root = ball(THRESHOLD), ball(gamma).sqrt()
    u = c / root
    above = (u / arb(2).sqrt()).erfc() / 2
    density = (-(u**2) / 2).exp() / (2 * arb.pi()).sqrt()
    return root * density - c * above, (ball(gamma) + c**2) * above - c * root * density


def _relu_moments() -> tuple[arb, arb]:
    """Mean and standard deviation of ReLU of a standard Gaussian."""
    mean = 1 / (2 * arb.pi()).sqrt()
    return mean, (arb(1) / 2 - mean**2).sqrt()
