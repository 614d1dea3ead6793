"""Counterexamples to statements of COND in exact numbers or balls, one function a statement."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
from flint import acb, arb, fmpq, fmpq_mat

from signallab.conditioning import identities
from signalprop.activations import relu, selu, sigmoid, tanh
from signalprop.certify import (
    Counterexample,
    Proof,
    ball,
    derivative,
    differs,
    exceeds,
    function,
    hermite_coefficient,
    kernel,
    mean_square,
    prove_digits,
    prove_positive,
    reaches,
)

__all__ = [
    "a_rare_label",
    "a_slow_descent",
    "a_slow_descent_of_all_layers",
    "all_starts_arrive",
    "bends_of_norm_relu",
    "chance_of_a_miss",
    "chords_of_the_bias",
    "coefficient_near_one",
    "denominators_from_one",
    "digits_of_norm_relu",
    "factors_of_the_chain",
    "first_coefficient_of_tanh",
    "first_step_of_case_two",
    "index_of_the_slope",
    "mean_cosine_of_even_signs",
    "mean_of_the_normalized",
    "mean_size_of_cosines",
    "no_sign_suffices",
    "noise_in_few_dimensions",
    "norm_of_one_sample",
    "norm_relu",
    "norm_transfer_in_print",
    "odd_coefficient_of_relu",
    "outputs_of_the_normalized",
    "printed_constants_of_norm_relu",
    "printed_numbers_of_norm_relu",
    "rate_below_one_in_print",
    "rate_of_one",
    "reading",
    "rises_of_norm_relu",
    "risk_without_a_signal",
    "series_of_relu",
    "sigmoid_at_zero",
    "size_of_the_mean",
    "smallest_eigenvalue",
    "square_of_a_constant_query",
    "steps_of_all_layers",
    "steps_of_single_inputs",
    "sum_of_biases",
    "the_half",
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


def noise_in_few_dimensions() -> Counterexample:
    """COND, after Assumption B: with ``n >= d`` white noise makes the smallest eigenvalue positive.

    The Gram matrix of three inputs of the plane has no inverse, whatever the noise.

    >>> noise_in_few_dimensions().right
    Fraction(0, 1)
    """
    x = fmpq_mat(3, 2, [fmpq(a, 100) for a in (101, 3, 98, -2, 103, 1)])
    volume = (x * x.transpose()).det()
    at = "three nearly equal inputs of the plane, the determinant of their Gram matrix on the right"
    return reaches(0, Fraction(int(volume.p), int(volume.q)), at=at)


def first_step_of_case_two(
    delta: Fraction = Fraction(1, 100), mu: Fraction = Fraction(1, 20)
) -> Counterexample:
    """COND, proof of Theorem 27: ``(1 - mu/2)^(L/2 - L_0) = 2 B(L/2, delta)``, at ``L = 2 L_0``.

    There ``B(L_0, delta) = 1 - delta (1 + mu/2)^L_0``.

    >>> float(first_step_of_case_two().right).__round__(4)
    0.9858
    """
    near = 1 - delta * (1 + mu / 2) ** _l_0(delta, mu)
    return differs(1, 2 * near, at=f"δ = {delta}, μ = {mu}, L = 2 L₀")


def the_half(delta: Fraction = Fraction(3, 10), mu: Fraction = Fraction(1, 1000)) -> Counterexample:
    """COND, proof of Corollary 28: ``(1 - mu/2)^L_0(delta)`` is at most one half.

    >>> float(the_half().left).__round__(4)
    0.5998
    """
    return exceeds((1 - mu / 2) ** _l_0(delta, mu), HALF, at=f"δ = {delta}, μ = {mu}")


def rate_of_one() -> Counterexample:
    """COND Lemma 35: the rate ``max(1 - mu (1 - p)/2, s'(p))`` is below 1; the sigmoid has p = 1.

    1 is a fixed point, and the only one if the slope there, ``E s'^2 / E s^2``, is below 1.

    >>> rate_of_one().left
    1
    """
    slope = mean_square(derivative(sigmoid)) / mean_square(function(sigmoid))
    given = {"ŝ′(1) < 1": bool(slope < 1)}
    return reaches(1, 1, at="the sigmoid, with fixed point 1; the rate on the left", given=given)


def a_slow_descent(
    n: int = 1000, steps: int = 1000, rate: Fraction = Fraction(1, 10)
) -> Counterexample:
    """COND Theorem 44: ``L(v_t) <= e^(-rate t) L(v_0)`` with ``eta = 1 / lambda_max(K)``.

    A step multiplies residuals by ``I - (2 eta / n) K``, no eigenvalue of which is below
    ``1 - 2/n``.

    >>> a_slow_descent().left > 0.01
    True
    """
    at = f"any kernel of {n} inputs, step {steps}, rate {rate}; the share of the loss, at least"
    return exceeds(ball((1 - Fraction(2, n)) ** (2 * steps)), (-ball(rate * steps)).exp(), at=at)


def a_slow_descent_of_all_layers(
    n: int = 1000, steps: int = 1000, rate: Fraction = Fraction(1, 10), condition: int = 2
) -> Counterexample:
    """COND Theorem 47 at infinite width: the same with ``eta = 2 / (lambda_min + lambda_max)``.

    Then ``eta lambda_max <= 2``, and no eigenvalue of a step is below ``1 - 4/n``. The theorem has
    ``e^(-rate t / kappa)``.

    >>> a_slow_descent_of_all_layers().left > 1e-4
    True
    """
    at = (
        f"any kernel of {n} inputs with condition number at most {condition}, infinite width, step "
        f"{steps}, rate {rate}; the share of the loss, at least"
    )
    left = ball((1 - Fraction(4, n)) ** (2 * steps))
    return exceeds(left, (-ball(rate * steps / condition)).exp(), at=at)


def steps_of_all_layers(
    n: int = 1000, target: Fraction = Fraction(1, 10), constant: int = 10
) -> Counterexample:
    """COND Corollary 48 at infinite width: ``constant log(1/eps)`` steps are enough.

    The loss falls at most by ``(1 - 4/n)^2`` in a step, as in Theorem 47.

    >>> steps_of_all_layers().left > 280
    True
    """
    left = ball(target).log() / (2 * ball(1 - Fraction(4, n)).log())
    at = f"{n} inputs, infinite width, {target} of the loss, constant {constant}; steps, at least"
    return exceeds(left, -constant * ball(target).log(), at=at)


def steps_of_single_inputs(
    n: int = 1000, target: Fraction = HALF, constant: int = 10
) -> Counterexample:
    """COND Theorems 13 and 45: ``constant log(1/eps)`` stochastic steps are enough.

    Features of orthogonal inputs are orthonormal at infinite width if the activation is odd. A step
    changes one residual, so that the expected loss keeps a share of at least ``1 - 1/n``.

    >>> steps_of_single_inputs().left > 690
    True
    """
    left = ball(target).log() / ball(1 - Fraction(1, n)).log()
    at = f"{n} orthonormal features, {target} of the loss, constant {constant}; steps, at least"
    return exceeds(left, -constant * ball(target).log(), at=at)


def smallest_eigenvalue(n: int = 20, constant: Fraction = Fraction(1, 10)) -> Counterexample:
    """COND, proof of Theorem 45: ``lambda_min >= constant n``; the mean eigenvalue is 1.

    >>> smallest_eigenvalue().left
    Fraction(2, 1)
    """
    at = f"any kernel of {n} inputs with 1 on its diagonal, constant {constant}"
    return exceeds(constant * n, Fraction(n, n), at=at)


def factors_of_the_chain(n: int = 2) -> Counterexample:
    """COND, proof of Theorem 51, second to third line, at ``w = 0`` with ``eta = 1/(2 beta)``.

    ``|w*|^2 - eta (w - w*) grad + eta^2 E |grad_i|^2`` against ``|w*|^2 - eta L + eta^2 E r_i^2
    |a_i|^2``; the inputs are unit vectors of n dimensions, and all labels 1.

    >>> factors_of_the_chain().left, factors_of_the_chain().right
    (Fraction(2, 1), Fraction(7, 4))
    """
    labels, eta = [Fraction(1)] * n, HALF  # beta = 1
    best = sum(
        (y**2 for y in labels), Fraction(0)
    )  # w* has the labels as entries, and all residuals are these
    loss = weighted = best / n
    inner, square = 2 * loss, 4 * weighted
    left = best - eta * inner + eta**2 * square
    right = best - eta * loss + eta**2 * weighted
    return exceeds(left, right, at=f"the {n} unit vectors with label 1, w = 0, η = ½")


def a_rare_label(share: Fraction = Fraction(1, 10)) -> Counterexample:
    """COND, proof of Theorem 16: ``(y - v*)^2 <= 1 + v*^2``, constant features, a rare label -1.

    >>> a_rare_label().left
    Fraction(81, 25)
    """
    best = 1 - 2 * share
    at = f"one constant feature, the label −1 with a share of {share}, a sample of it"
    return exceeds((-1 - best) ** 2, 1 + best**2, at=at, given={"v* > 0": best > 0})


def risk_without_a_signal(points: int = 10) -> Counterexample:
    """COND Theorem 16: the excess risk is at most ``C log(n/gamma)/n |v*|^2``; here v* = 0.

    Labels are fair signs, independent of inputs that are uniform on finitely many directions. The
    interpolant of one sample is a sign at that sample, which is met with this probability.

    >>> risk_without_a_signal().left
    Fraction(1, 10)
    """
    at = f"n = 1, fair signs, inputs uniform on {points} directions; the excess risk, at least"
    return exceeds(Fraction(1, points), 0, at=at)


def first_coefficient_of_tanh() -> Counterexample:
    """COND, proof of Theorem 42: ``a_1 <= 1 - mu + mu/4``, for tanh at ``gamma = 1``.

    With ``mu = 1 - a_1^2``, of tanh divided by the root of its mean square.

    >>> first_coefficient_of_tanh().exact
    False
    """
    f = function(tanh)
    first = hermite_coefficient(f, 1) / mean_square(f).sqrt()
    return exceeds(first, 1 - 3 * (1 - first**2) / 4, at="tanh, γ = 1")


def sigmoid_at_zero() -> Counterexample:
    """COND, Discussion: the sigmoid, divided by its root mean square, is 0 at 0.

    >>> sigmoid_at_zero().exact
    False
    """
    f = function(sigmoid)
    return differs(f(0.0) / mean_square(f).sqrt(), 0, at="the sigmoid at 0")


def all_starts_arrive(shift: Fraction = Fraction(1)) -> Counterexample:
    """COND, Discussion: under ``max(x, 0) - 1``, scaled, the norms of some start do not come to 1.

    If all layers multiply the distance of the squared norm from 1 by less than a number below 1,
    there is no such start: the largest factor has to be at least 1. By
    :func:`~signallab.conditioning.identities.norms_under_a_shift` the factors of all starts lie
    between ``(1/2 - 2 m s)/S`` and ``1/(2 S)``, with ``m = 1/sqrt(2 pi)``.

    >>> bool(all_starts_arrive().right < 0.713)
    True
    """
    proved = identities.norms_under_a_shift()
    twice = 2 * ball(shift) / (2 * arb.pi()).sqrt()
    second = ball(HALF + shift**2) - twice
    largest = abs((ball(HALF) - twice) / second).max(ball(HALF) / second)
    at = (
        f"max(x, 0) − {shift}, scaled, all starts at once; right is the largest factor by which a "
        "layer changes the distance of the squared norm from 1"
    )
    given = {"every factor lies between the two, by algebra": len(proved) > 0 and shift > 0}
    return exceeds(1, largest, at=at, given=given)


def mean_cosine_of_even_signs(depth: int = 100, rate: Fraction = Fraction(1, 5)) -> Counterexample:
    """COND Theorem 52: ``|E rho_h| <= e^(-rate h) + L e^(-rate L)`` for h = L, with ``c_1 = 1``.

    The activation is 1 where ``|x| > t`` and -1 elsewhere, with even chances, inputs of cosine 1/2.
    A mean cosine is at least ``a_2^2 / m``: all coefficients of the dual are of even order, none is
    negative, and a mean of m signs has a mean square of at least 1/m.

    >>> mean_cosine_of_even_signs().left < 0.001
    True
    """
    width = 4 * depth + 1
    right = (1 + depth) * (-ball(rate * depth)).exp()
    at = f"the even sign, {depth} layers of width {width}, rate {rate}; the mean cosine, at least"
    return exceeds(_second_of_even_sign() / width, right, at=at, given=_wide(width, depth, HALF))


def mean_size_of_cosines(depth: int = 100, rate: Fraction = Fraction(1, 5)) -> Counterexample:
    """COND, proof of Theorem 15: ``E |rho| <= e^(-rate L) + L e^(-rate L)``, for the sign.

    A mean of an odd number of signs is never 0.

    >>> mean_size_of_cosines().left
    Fraction(1, 401)
    """
    width = 4 * depth + 1
    right = (1 + depth) * (-ball(rate * depth)).exp()
    at = f"the sign, {depth} layers of width {width}, rate {rate}; the mean size, at least"
    given = _wide(width, depth, HALF) | {"the width is odd": width % 2 == 1}
    return exceeds(Fraction(1, width), right, at=at, given=given)


def size_of_the_mean(width: int = 5, start: Fraction = Fraction(-23, 25)) -> Counterexample:
    """COND, proof of Theorem 15: ``|E_W f(x) f(y)| <= |E_W Phi(x) . Phi(y)|`` after two layers.

    For the lopsided sign. A cosine of m signs has m + 1 values; given that of the layer before, the
    number of equal signs is binomial, with the chance ``(1 + s)/2`` for the dual s there. Given the
    features, the outputs agree in sign by Sheppard's formula.

    >>> size_of_the_mean().left > size_of_the_mean().right
    True
    """
    cosines = [Fraction(2 * k - width, width) for k in range(width + 1)]
    first = _law_of_the_cosine(width, start)
    rows = [_law_of_the_cosine(width, rho) for rho in cosines]
    law = [
        sum((p * row[k] for p, row in zip(first, rows, strict=True)), arb(0))
        for k in range(width + 1)
    ]
    values = [ball(rho) for rho in cosines]
    mean = sum((p * rho for p, rho in zip(law, values, strict=True)), arb(0))
    signs = sum((p * rho.asin() for p, rho in zip(law, values, strict=True)), arb(0))
    at = f"the lopsided sign, two layers of width {width}, inputs of cosine {start}"
    given = {"not collinear": abs(start) < 1, "no projection is 0": width % 2 == 1}
    return exceeds(abs(2 / arb.pi() * signs), abs(mean), at=at, given=given)


def _law_of_the_cosine(width: int, rho: Fraction) -> list[arb]:
    agree = (1 + _dual_of_the_lopsided_sign(rho)) / 2
    pairs = [(agree**k, (1 - agree) ** (width - k)) for k in range(width + 1)]
    return [arb(width).bin(k) * p * q for k, (p, q) in enumerate(pairs)]


def _dual_of_the_lopsided_sign(rho: Fraction) -> arb:
    """``4 P(X, Y in [l, h]) - 1`` for ``l = -1/4`` and the h that makes the measure of it 1/2.

    By rho the probability has the derivative ``p(h, h) + p(l, l) - 2 p(h, l)``, with the density of
    two Gaussians of correlation rho; it is 1/4 at 0. At -1 both are in ``[l, -l]``, as ``h > -l``.
    """
    low = -arb(1) / 4
    share = (low / arb(2).sqrt()).erf() / 2  # Phi(l) - 1/2
    high = arb(2).sqrt() * (2 * (arb(1) / 2 + share)).erfinv()
    if rho == 1:
        return arb(1)
    if rho == -1:
        return -8 * share - 1

    def slope(r: acb, analytic: bool) -> acb:
        spread = 1 - r * r
        ends = [(high, high, 1), (low, low, 1), (high, low, -2)]
        terms = [n * (-(a * a - 2 * r * a * b + b * b) / (2 * spread)).exp() for a, b, n in ends]
        return sum(terms, acb(0)) / (2 * acb.pi() * spread.sqrt(analytic=analytic))

    return 4 * acb.integral(slope, 0, acb(ball(rho))).real


def square_of_a_constant_query(depth: int = 100, rate: Fraction = Fraction(1, 5)) -> Counterexample:
    """COND Eq. 24: ``E_W (E_x g f)^2 <= L e^(-rate L)`` for ``g = 1`` and the even sign.

    Two inputs of the cube of dimension ``d = L + 1`` are equal with the chance ``2^(1 - d)``; else
    the mean product of signs is at least ``(2/pi) a_2^2 / m``, as no odd moment is negative.

    >>> square_of_a_constant_query().left > square_of_a_constant_query().right
    True
    """
    d = depth + 1
    width = depth * d**2 // 4 + 1
    left = 2 / arb.pi() * _second_of_even_sign() / width * (1 - arb(2) ** (1 - d))
    at = f"the even sign, {depth} layers of width {width}, dimension {d}, rate {rate}; at least"
    given = _wide(width, depth, Fraction(2, d))
    return exceeds(left, depth * (-ball(rate * depth)).exp(), at=at, given=given)


def no_sign_suffices(n: int = 3) -> Counterexample:
    """COND, proof of Theorem 56: ``|T|`` reaches ``sqrt(delta) / 9n`` for a sign of c.

    Inputs ``(1, 0), (3/5, 4/5), (-3/5, 4/5)``, so that ``delta = 2/5``; ``w = (u, 1)`` with ``u =
    c`` or ``-c``, ``c = sqrt(delta) / 9n``. With coefficients ``(1, b, b')`` over their norm, ``(b
    - b') 3/5 = -1/2`` and ``(b + b') 4/5 = -c/4``, T is ``max(u, 0) - u/2 - c/4`` over the norm.

    >>> no_sign_suffices().left > 3 * no_sign_suffices().right
    True
    """
    x, delta = [(Fraction(s * 3, 5), Fraction(4, 5)) for s in (1, -1)], Fraction(2, 5)
    root = ball(delta).sqrt()
    c = root / (9 * n)
    even, odd = -c / 4 / ball(x[0][1]), ball(-HALF / x[0][0])
    alpha = [arb(1), (even + odd) / 2, (even - odd) / 2]
    norm = sum((a**2 for a in alpha), arb(0)).sqrt()
    found = []
    for u in (c, -c):
        inner = [u, *(ball(a) * u + ball(b) for a, b in x)]
        total = sum((a * z.max(arb(0)) for a, z in zip(alpha, inner, strict=True)), arb(0))
        found.append(abs(total) / norm)
    products = [x[0][0], x[0][0] * x[1][0] + x[0][1] * x[1][1]]
    given = {
        "the cosines are at most 1 − δ": max(map(abs, products)) <= 1 - delta,
        "the first coefficient is the largest": bool(n >= norm**2),
        "w is in G": bool(min(ball(b) for _, b in x) > root / (4 * n)),
    }
    at = "three inputs of the plane, two at cosines ±3/5 to the first, both signs"
    return exceeds(c, found[0].max(found[1]), at=at, given=given)


def chance_of_a_miss(n: int = 2, delta: Fraction = Fraction(1, 1000)) -> Counterexample:
    """COND, proof of Lemma 57: ``P(|w x_i| <= sqrt(delta) / 4n)`` is at most ``1/8n``.

    At ``w x_1 = 0``, for inputs of cosine ``1 - delta``.

    >>> chance_of_a_miss().right
    Fraction(1, 16)
    """
    least = ball(delta).sqrt() / (4 * n)
    left = (least / (2 * ball(1 - (1 - delta) ** 2)).sqrt()).erf()
    return exceeds(left, Fraction(1, 8 * n), at=f"n = {n}, δ = {delta}")


def sum_of_biases(layers: int = 200) -> Counterexample:
    """COND, Appendix I.1: ``sum_l bias(gamma_l) = bias(1/2) / alpha``, from 1/2.

    ``1 - gamma_l = (1 - alpha)^l / 2``. The bias is below its chord, ``2 bias(1/2) (1 - gamma)``,
    which bounds what is left out.

    >>> sum_of_biases(50).left < sum_of_biases(50).right
    True
    """
    _, square = norm_relu(HALF)
    alpha = 2 * square - 1

    def bias(gamma: arb) -> arb:
        mean, square = (m[0] for m in (_mean(gamma), _norm_transfer(gamma)))
        return mean**2 / square

    start = bias(arb(1) / 2)
    path = [1 - (1 - alpha) ** k / 2 for k in range(layers)]
    beyond = start * (1 - alpha) ** layers / alpha
    left = sum(map(bias, path), arb(0)) + arb(0).union(beyond)
    return differs(left, start / alpha, at="from ½")


def denominators_from_one(rho: Fraction = Fraction(1, 1000)) -> Counterexample:
    """COND Eq. 29: ``sum_(j>=1) a_j^2 rho^j / sum_(j>=1) a_j^2 <= rho (1 - mu (1 - rho))``.

    For NormReLU at variance 1/2, with ``mu = 1 - a_1^2 / sum_(j>=0) a_j^2``. The first term of the
    left side is enough.

    >>> denominators_from_one().left > denominators_from_one().right
    True
    """
    mean, square = norm_relu(HALF)
    share = 1 - _coefficient(ball(HALF))
    left = share * square / (square - mean**2) * ball(rho)
    right = ball(rho) * (share + (1 - share) * ball(rho))
    return exceeds(left, right, at=f"γ = ½, ρ = {rho}; the first term of the left side")


def _l_0(delta: Fraction, mu: Fraction) -> int:
    """COND's ``L_0``: the layers that bring delta to 1/2 if each multiplies it by ``1 + mu/2``."""
    layers = 0
    while delta < HALF:
        delta, layers = delta * (1 + mu / 2), layers + 1
    return layers


def _second_of_even_sign() -> arb:
    """``a_2^2`` of the sign of ``|x| - t`` with even chances: ``8 (t density(t))^2``."""
    t = arb(2).sqrt() * (arb(1) / 2).erfinv()
    return 8 * t**2 * (-(t**2)).exp() / (2 * arb.pi())


def _wide(width: int, depth: int, delta: Fraction) -> dict[str, bool]:
    return {"m > L/δ²": width > depth / delta**2}


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


def chords_of_the_bias() -> Proof:
    """COND Eq. 28: the bias is below both chords, ``2 bias(1/2) (1 - gamma)`` and the other.

    It is 0 at 1, where the mean is, and strictly convex on all of [1/2, 2].

    >>> chords_of_the_bias().margin > 0
    True
    """
    return prove_positive(_bend_of_the_bias, RANGE)


def coefficient_near_one() -> Proof:
    """COND, proof of Theorem 59: ``mu^{gamma} >= mu / 2`` for variances within ``mu / 4`` of 1.

    Proved within 1/250, which is more.

    >>> coefficient_near_one().margin > 0.003
    True
    """
    mu = _coefficient(arb(1))
    near = Fraction(1, 250)
    if not mu / 4 <= ball(near):
        raise ArithmeticError(f"the interval must have a radius of mu/4 at least, got mu = {mu}")
    return prove_positive(lambda gamma: _coefficient(gamma) - mu / 2, [(1 - near, 1 + near)])


def printed_numbers_of_norm_relu() -> list[Proof]:
    """COND Appendix C.4: ``lambda``, ``Phi(c)`` and ``mu`` of NormReLU, to their printed digits.

    >>> len(printed_numbers_of_norm_relu())
    3
    """
    first, second = _hinge(Fraction(1))
    scale, below = 1 / (second - first**2).sqrt(), (-ball(THRESHOLD) / arb(2).sqrt()).erfc() / 2
    return [
        prove_digits(scale, "1.05"),
        prove_digits(below, "0.0551"),
        prove_digits(_coefficient(arb(1)), "0.0156"),
    ]


def printed_constants_of_norm_relu() -> list[Proof]:
    """COND, at Eq. 4: ``lambda`` and ``b`` of NormReLU, and SELU's scale, to two and four digits.

    SELU's scale is that of torch.

    >>> len(printed_constants_of_norm_relu())
    3
    """
    first, second = _hinge(Fraction(1))
    return [
        prove_digits(1 / (second - first**2).sqrt(), "1.05"),
        prove_digits(-first, "-1.6209"),
        prove_digits(derivative(selu)(1.0), "1.05"),
    ]


def reading(value: arb, printed: str) -> str:
    """Return how a number was printed: ``rounded``, ``cut off`` or ``neither``, for certain.

    >>> reading(arb.pi(), "3.1416"), reading(arb.pi(), "3.1415"), reading(arb.pi(), "3.1417")
    ('rounded', 'cut off', 'neither')
    """
    unit = Fraction(1, 10 ** len(printed.partition(".")[2]))
    beyond = (value - ball(Fraction(printed))) / ball(unit)  # in units of the last place
    beyond = beyond if Fraction(printed) > 0 else -beyond
    if abs(beyond) < 0.5:
        return "rounded"
    if abs(beyond) > 0.5 and beyond < 1 and beyond > 0:
        return "cut off"
    if abs(beyond) > 0.5 and (beyond < 0 or beyond > 1):
        return "neither"
    raise ArithmeticError(f"value must be known better to read {printed}, got {value}")


def digits_of_norm_relu() -> pd.DataFrame:
    """Read the printed constants of NormReLU: COND Eq. 4, Fact 1 and Appendix I.1.

    Columns: the number, what is printed, an enclosure of the number, and its reading.

    >>> digits_of_norm_relu()["printed by"].value_counts().to_dict()
    {'rounded': 6, 'neither': 2, 'cut off': 1}
    """
    first, second = _hinge(Fraction(1))
    half, one, two = arb(1) / 2, arb(1), arb(2)
    bias = {gamma: _mean(gamma)[0] ** 2 / _norm_transfer(gamma)[0] for gamma in (half, two)}
    transfer, slope = _norm_transfer(half)[0], _norm_transfer(one)[1]
    rates = 2 * transfer - 1, 1 - slope
    numbers = [
        ("scale λ", 1 / (second - first**2).sqrt(), "1.05"),
        ("shift b", -first, "-1.6209"),
        ("norm transfer at ½", transfer, "0.5399"),
        ("slope of the norm transfer at 1", slope, "0.8428"),
        ("bias at ½", bias[half], "0.00086"),
        ("bias at 2", bias[two], "0.0029"),
        ("rate below 1", rates[0], "0.0798"),
        ("rate above 1", rates[1], "0.1572"),
        ("δ′", (bias[half] / rates[0]).max(bias[two] / rates[1]), "0.0185"),
    ]
    return pd.DataFrame(
        {
            "number": name,
            "printed": printed,
            "enclosed": value.str(8),
            "printed by": reading(value, printed),
        }
        for name, value, printed in numbers
    )


def _coefficient(gamma: arb) -> arb:
    """``mu^{gamma} = 1 - a_1^2 / sum_j a_j^2`` of NormReLU, with ``a_1 = sqrt(gamma) E g'``."""
    first, second = _hinge(Fraction(1))
    above = (ball(THRESHOLD) / (2 * gamma).sqrt()).erfc() / 2
    return 1 - gamma * above**2 / (second - first**2) / _norm_transfer(gamma)[0]


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
