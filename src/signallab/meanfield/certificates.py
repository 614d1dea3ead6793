"""Counterexamples to statements of MF in exact numbers or balls, one function a statement.

Pairs of signs ``x = (1, s)``, s = 1 or -1 with equal chances, have ``E x x^T = I`` and ``||x||^2 =
n`` with n = 2, so that B = 1, and ``x x^T - I`` has s beside the diagonal, and the norm ``sqrt 2``.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction

from flint import arb

from signalprop.certify import Counterexample, ball, differs, exceeds

__all__ = [
    "a_large_deviation",
    "a_mean_of_laws",
    "a_negative_tail",
    "an_average_of_norms",
    "bernstein_without_a_mean",
    "change_of_variable",
    "equal_samples_stay",
    "fixed_point_of_two_samples",
    "no_rate_for_all_inputs",
    "one_vector_on_a_sphere",
    "single_inputs_and_laws",
    "some_layer_is_beyond",
    "symmetric_product",
    "the_gaussian_law_is_far",
    "the_gaussian_law_moves",
    "the_gaussian_law_moves_by_b_3",
    "the_norm_in_the_logarithm",
    "the_omitted_constant",
    "two_gaussian_laws",
]

_ZERO = Fraction(0)
OFF = arb(2).sqrt()  # of x x^T - I for a pair of signs


def fixed_point_of_two_samples() -> Counterexample:
    """MF Corollary 3.1: the fixed point of linear networks is the identity.

    Recentred and normalized, two samples are 1 and -1 in every row.

    >>> fixed_point_of_two_samples().left
    Fraction(-1, 1)
    """
    gram = _gram_of_a_row([0, 1])
    return differs(gram[0][1], 0, at="n = 2, the entry off the diagonal", given=_diagonal(gram))


def equal_samples_stay() -> Counterexample:
    """MF Corollary 3.1: the fixed point attracts globally; entries here stay 1 away from it.

    Three samples, two of them equal, at every layer; the fixed point of three has -1/2 off the
    diagonal. Right is a millionth.

    >>> equal_samples_stay().left
    Fraction(1, 1)
    """
    gram = _gram_of_a_row([0, 0, 1])
    off = gram[0][1] - Fraction(-1, 2)
    at = "n = 3, two samples equal, every layer; the distance of their entry from the fixed point"
    return exceeds(off, Fraction(1, 10**6), at=at, given=_diagonal([row[:2] for row in gram[:2]]))


def one_vector_on_a_sphere(t: Fraction = Fraction(1, 20), constant: int = 2) -> Counterexample:
    """MF Lemmas B.1 and B.2: ``P(||C_d - C|| >= constant t eps) <= exp(-t^2)``.

    ``eps = n / sqrt d``. One pair of signs is off by ``sqrt 2`` for sure; C is the identity.

    >>> one_vector_on_a_sphere().left
    1
    """
    given = {"surely off by that": bool(ball(constant * t * 2) <= OFF), "t ≤ √d": t <= 1}
    at = f"a pair of signs, n = 2, d = 1, t = {t}, constant {constant}"
    return exceeds(1, (-ball(t**2)).exp(), at=at, given=given)


def bernstein_without_a_mean(d: int = 10, t: Fraction = Fraction(9, 20)) -> Counterexample:
    """MF (B.5): ``P(mean >= t) <= 2 exp(-(d t^2 / 2) / (1 + t/3))``, for X = 1.

    >>> bernstein_without_a_mean().left
    1
    """
    right = 2 * (-ball(d * t**2 / 2 / (1 + t / 3))).exp()
    return exceeds(
        1, right, at=f"X = 1, d = {d}, t = {t}", given={"the mean is at least t": t <= 1}
    )


def an_average_of_norms(d: int = 10, t: Fraction = Fraction(1, 5)) -> Counterexample:
    """MF (B.10) and (B.11): averages of ``||x x^T - C||`` become small.

    ``P(average >= t) <= exp(-(d t^2 / 2) / (4 n^2 B^2 + 2 B n t / 3))``, and it is ``sqrt 2``.

    >>> an_average_of_norms().left
    1
    """
    given = {"the average is at least t": bool(ball(t) <= OFF)}
    return exceeds(1, _tail(d, t), at=f"pairs of signs, n = 2, d = {d}, t = {t}", given=given)


def change_of_variable(d: int = 2, t: Fraction = Fraction(1, 2)) -> Counterexample:
    """MF (B.14): the tail in the new variable, ``exp(-t^2 / (1 + t / (3 sqrt(2) d)))``.

    (B.13) at ``t' = sqrt 8 t n B / sqrt d`` has ``1 + sqrt 2 t / (3 sqrt d)``.

    >>> change_of_variable().exact
    False
    """
    root = arb(d).sqrt()
    moved = arb(8).sqrt() * ball(t) * 2 / root
    left = (-(d * moved**2 / 2) / (16 + 4 * moved / 3)).exp()
    right = (-ball(t**2) / (1 + ball(t) / (3 * arb(2).sqrt() * d))).exp()
    return differs(left, right, at=f"n = 2, B = 1, d = {d}, t = {t}")


def symmetric_product(mean: Fraction = Fraction(1, 100)) -> Counterexample:
    """MF, proof of Lemma B.2: ``||C^-1 C_d - I|| <= ||C^-1/2 C_d C^-1/2 - I||``, here in squares.

    ``C = diag(4, 1)`` and ``C_d = C^1/2 (I + E) C^1/2`` with entries ``mean`` beside the diagonal.

    >>> symmetric_product().left > symmetric_product().right
    True
    """
    roots = (Fraction(2), Fraction(1))
    c = [[roots[0] ** 2, Fraction(0)], [Fraction(0), roots[1] ** 2]]
    c_d = [[(mean if i != j else 1) * roots[i] * roots[j] for j in range(2)] for i in range(2)]
    left = sum((c_d[i][j] / c[i][i] - (i == j)) ** 2 for i in range(2) for j in range(2))
    right = sum(
        (c_d[i][j] / roots[i] / roots[j] - (i == j)) ** 2 for i in range(2) for j in range(2)
    )
    return exceeds(Fraction(left), Fraction(right), at=f"C = diag(4, 1), mean sign {mean}, squares")


def two_gaussian_laws(variance: Fraction = Fraction(1001, 1000)) -> Counterexample:
    """MF (B.43): the distance of two Gaussian laws is at most ``3/2 ||G_*^-1 G - I||^2``.

    For variances 1 and v the densities cross where ``x^2 = v log v / (v - 1)``, and the distance
    is ``erf(x / sqrt 2) - erf(x / sqrt(2 v))``.

    >>> two_gaussian_laws().right
    Fraction(3, 2000000)
    """
    at = f"one sample, one row, variances 1 and {variance}"
    return exceeds(_apart(ball(variance)), Fraction(3, 2) * (variance - 1) ** 2, at=at)


def no_rate_for_all_inputs(alpha: Fraction = Fraction(1, 10), layer: int = 10) -> Counterexample:
    """MF Assumption 3.1: laws from two inputs are at most ``2 (1 - alpha)^layer`` apart.

    Equal samples have equal images in every layer. Samples that differ stay so almost surely: tanh
    is injective, and weights with a density send different batches to different ones. So the event
    "samples 1 and 2 are equal" has probabilities 1 and 0.

    >>> no_rate_for_all_inputs().left
    1
    """
    gram = _gram_of_a_row([0, 0, 1])
    given = {"equal after a layer": gram[0] == gram[1]}
    at = f"tanh, 3 samples, two of them equal or not, layer {layer}, α = {alpha}"
    return exceeds(1, 2 * (1 - alpha) ** layer, at=at, given=given)


def single_inputs_and_laws(states: int = 4, kept: Fraction = Fraction(1, 10)) -> Counterexample:
    """MF (3.7): ``|T nu - pi| <= (1 - alpha) |nu - pi|`` with the rate for single inputs.

    The next state is uniform over the half at hand with probability ``(1 + kept)/2``, else over the
    other half; pi is uniform and nu uniform over one half.

    >>> single_inputs_and_laws().left, single_inputs_and_laws().right
    (Fraction(1, 20), Fraction(1, 30))
    """
    half = [1] * (states // 2) + [-1] * (states // 2)
    step = [[(1 + kept * a * b) / states for b in half] for a in half]
    pi = [Fraction(1, states)] * states

    def after(law: list[Fraction]) -> list[Fraction]:
        return [sum((law[i] * step[i][j] for i in range(states)), _ZERO) for j in range(states)]

    def apart(law: list[Fraction]) -> Fraction:
        return sum((abs(a - b) for a, b in zip(law, pi, strict=True)), _ZERO) / 2

    single = [[Fraction(i == j) for j in range(states)] for i in range(states)]
    rate = max(apart(after(law)) / apart(law) for law in single)
    nu = [Fraction(a > 0) / (states // 2) for a in half]
    given = {"π is invariant": after(pi) == pi, "the rate is below 1": rate < 1}
    at = f"two halves of {states} states, from one half"
    return exceeds(apart(after(nu)), rate * apart(nu), at=at, given=given)


def the_gaussian_law_moves(width: int = 512) -> Counterexample:
    """MF Lemma 3.3, ReLU and two samples: ``|T(muhat) - muhat| <= |G*^-1| n^2/d ln(d/n)``.

    >>> the_gaussian_law_moves().left > 0.16
    True
    """
    right = ball(Fraction(8, width)) * arb(width // 2).log()
    return exceeds(_moved_at_least(width), right, at=_two_samples(width))


def the_gaussian_law_moves_by_b_3(
    width: int = 512, alpha: Fraction | None = None, depth: int | None = None
) -> Counterexample:
    """MF Lemmas B.3, B.4 (with ``alpha``) and B.5 (with ``depth``), ReLU and two samples.

    ``eps^2 ln(1/eps)`` with ``eps = 4 / sqrt d``, over alpha, and ``(1 - alpha)^depth`` more. The
    invariant law is the image of the Gaussian one.

    >>> the_gaussian_law_moves_by_b_3().right < 0.08
    True
    """
    right = ball(Fraction(16, width)) * (ball(Fraction(width, 16)).log() / 2)
    at, given = _two_samples(width), {"ε < 1": width > 16}
    if alpha is not None:
        right /= ball(alpha)
        at, given = f"{at}, α = {alpha}", given | _mixing(width, alpha)
        if depth is not None:
            right += ball((1 - alpha) ** depth)
            at = f"{at}, layer {depth}"
    return exceeds(_moved_at_least(width), right, at=at, given=given)


def the_gaussian_law_is_far(width: int = 512, alpha: Fraction = Fraction(1, 2)) -> Counterexample:
    """MF Proposition 3.7: it lies within ``n^2 |G*^-1| / (d alpha)`` of the invariant law.

    >>> the_gaussian_law_is_far().right
    Fraction(1, 32)
    """
    right = Fraction(8, width) / alpha
    at = f"{_two_samples(width)}, α = {alpha}"
    return exceeds(_moved_at_least(width), right, at=at, given=_mixing(width, alpha))


def the_omitted_constant(
    epsilon: Fraction = Fraction(999, 1000), constant: int = 10
) -> Counterexample:
    """MF (B.45) to (B.46): ``3/2 eps^2 (1 + ln(2/(3 eps^2))) <= constant eps^2 ln(1/eps^2)``.

    >>> the_omitted_constant().left > 20 * the_omitted_constant().right
    True
    """
    square = epsilon**2
    left = ball(3 * square / 2) * (1 + ball(2 / (3 * square)).log())
    right = constant * ball(square) * ball(1 / square).log()
    return exceeds(
        left, right, at=f"ε = {epsilon}, constant {constant}", given={"ε < 1": epsilon < 1}
    )


def some_layer_is_beyond(width: int = 257, layers: int = 10**20) -> Counterexample:
    """MF, after Theorem 3.2: one radius for all layers, with probability 1/2 at least.

    ReLU and two samples, ``alpha = 1/2``: ``G_l - G* = diag(m, -m)/2`` with m a mean of d signs,
    drawn anew in each layer. The radius is ``n/sqrt d (ln(d/n) / alpha)^(1/2)``.

    >>> some_layer_is_beyond().left > 0.999
    True
    """
    radius = (8 * ball(Fraction(width, 2)).log() / width).sqrt()
    beyond = sum(
        math.comb(width, k)
        for k in range(width + 1)
        if ball(Fraction(abs(2 * k - width), width)) > arb(2).sqrt() * radius
    )
    once = ball(Fraction(beyond, 2**width))
    at = f"ReLU, n = 2, d = {width}, 10^{len(str(layers)) - 1} layers, constant 1"
    return exceeds(1 - (-layers * once).exp(), Fraction(1, 2), at=at)


def a_negative_tail(t: Fraction = Fraction(1, 10), depth: int = 400) -> Counterexample:
    """MF Theorem B.6 where ``eps >= 1``: ReLU, two samples, width 2, whose signs have mean m.

    ``P(|m| / sqrt 2 >= t)`` and ``t^-2 (|G*|^2 (1 - alpha)^l + eps^2 ln(1/eps) / alpha)`` with
    ``|G*| = 1/2``, ``eps = sqrt 2`` and ``alpha = 1/4``. After a layer m is -1, 0, 1 with chances
    1/4, 1/2, 1/4, so that no input is farther than 3/4 from that.

    >>> a_negative_tail().left
    Fraction(1, 2)
    """
    chances, alpha = {-1: Fraction(1, 4), 0: Fraction(1, 2), 1: Fraction(1, 4)}, Fraction(1, 4)
    left = sum(p for m, p in chances.items() if Fraction(m**2, 2) >= t**2)
    right = (ball((1 - alpha) ** depth / 4) - arb(2).log() / ball(alpha)) / ball(t**2)
    given = {
        "each input within 1 − α after a layer": max(1 - p for p in chances.values()) <= 1 - alpha
    }
    at = f"ReLU, n = 2, d = 2, t = {t}, ε = √2, constant 1, layer {depth}, α = {alpha}"
    return exceeds(Fraction(left), right, at=at, given=given)


def the_norm_in_the_logarithm(batch: int = 10, width: int = 2200) -> Counterexample:
    """MF (B.29) to (B.32), ReLU: ``|G*|^2 eps^2 ln(1/eps)`` at most the same of ``|G*| eps``.

    ``eps = n |G*^-1| / sqrt d``. ``G*`` has 1/2 on its diagonal and off it ReLU's kernel at the
    cosine ``-1/(n - 1)``, as normalized rows are uniform on a sphere.

    >>> the_norm_in_the_logarithm().left > 20 * the_norm_in_the_logarithm().right
    True
    """
    rho = ball(Fraction(-1, batch - 1))
    off = ((1 - rho**2).sqrt() + rho * (arb.pi() - rho.acos())) / (2 * arb.pi())
    norm, least = (batch - 1) * off + arb(1) / 2, arb(1) / 2 - off
    eps = batch / (least * arb(width).sqrt())
    left, right = (norm * eps) ** 2 * -eps.log(), (norm * eps) ** 2 * -(norm * eps).log()
    given = {"both logarithms are positive": bool(eps < 1) and bool(norm * eps < 1)}
    return exceeds(left, right, at=f"ReLU, n = {batch}, d = {width}, constant 1", given=given)


def a_large_deviation(variance: int = 12) -> Counterexample:
    """MF Lemma B.7: ``t/100 P(|G*^-1 G - I|^2 >= t) <= tv``, for one row of one sample.

    >>> a_large_deviation().left
    Fraction(121, 100)
    """
    left = Fraction((variance - 1) ** 2, 100)
    return exceeds(left, _apart(arb(variance)), at=f"n = 1, d = 1, G* = 1, G = {variance}")


def a_mean_of_laws(delta: Fraction = Fraction(1, 10)) -> Counterexample:
    """MF (B.47): the distance of a mean of laws is the mean of their distances.

    G is ``1 - delta`` or ``1 + delta``, each with chance 1/2. The distance of the mean law is at
    most half the root of its chi-square: the product of densities of variances ``1 + a`` and
    ``1 + b`` over that of 1 has the integral ``1/sqrt(1 - a b)``.

    >>> a_mean_of_laws().right > 7 * a_mean_of_laws().left
    True
    """
    squared = (1 / ball(1 - delta**2).sqrt() + 1 / ball(1 + delta**2).sqrt()) / 2 - 1
    left = arb(0).union(squared.sqrt() / 2)
    right = (_apart(ball(1 - delta)) + _apart(ball(1 + delta))) / 2
    return differs(left, right, at=f"n = 1, d = 1, G* = 1, G = 1 ± {delta} with even chances")


def _apart(v: arb) -> arb:
    """Total variation between ``N(0, 1)`` and ``N(0, v)``.

    The densities cross where ``x^2 = v log v / (v - 1)``.
    """
    x = (v * v.log() / (v - 1)).sqrt()
    return abs((x / arb(2).sqrt()).erf() - (x / (2 * v).sqrt()).erf())


def _two_samples(width: int) -> str:
    return f"ReLU, n = 2, d = {width}, constant 1; the distance, at least"


@functools.cache
def _moved_at_least(width: int) -> arb:
    """A lower bound of the total variation between the Gaussian law of two samples and its image.

    In suitable coordinates rows are i.i.d. of covariance ``[[1, m], [m, 1]]``, with m = 0, and in
    the image with m a mean of d signs. Of rows (x, y) the quotient of ``sum (x + y)^2`` and ``sum
    (x - y)^2`` has the law F(d, d) times ``(1 + m)/(1 - m)``. Both laws are put to the event that
    it is not between 1/r and r: the share ``q / (1 + q)`` of F(d, d) has a beta law. The best r is
    near ``exp(2 sqrt(2 ln 2 / d))``.
    """
    r = (8 * arb(2).log() / width).sqrt().exp().mid()
    half = arb(width) / 2

    def below(q: arb) -> arb:
        return (q / (1 + q)).beta_lower(half, half, regularized=True)

    total = arb(0)
    for k in range(1, width):
        if (2 * k - width) ** 2 > 64 * width:
            continue  # what is left out is not negative
        odds = arb(k) / (width - k)  # (1 + m) / (1 - m) for k signs of 1
        outside = 1 - below(r / odds) + below(1 / (r * odds))
        total += ball(Fraction(math.comb(width, k), 2**width)) * outside
    return total - 2 * below(1 / r)


@functools.cache
def _mixing(width: int, alpha: Fraction) -> dict[str, bool]:
    """That the image of the Gaussian law is within ``1 - alpha`` of it.

    Given m the relative entropy is ``-d/2 log(1 - m^2)``; by Pinsker the distance is at most the
    root of half of it, and in the mean over m at most the mean.
    """
    total = arb(2) / arb(2) ** width
    for k in range(1, width):
        entropy = -arb(width) / 2 * (1 - ball(Fraction(2 * k - width, width)) ** 2).log()
        total += ball(Fraction(math.comb(width, k), 2**width)) * (entropy / 2).sqrt()
    return {"a balanced input is within 1 − α after a layer": bool(total < ball(1 - alpha))}


def _tail(d: int, t: Fraction) -> arb:
    """(B.13) for n = 2 and B = 1."""
    return (-ball(d * t**2 / 2 / (16 + 4 * t / 3))).exp()


def _gram_of_a_row(values: list[int]) -> list[list[Fraction]]:
    """The Gram matrix of a feature after its mean and its root mean square are off."""
    mean = Fraction(sum(values), len(values))
    row = [value - mean for value in values]
    square = sum((value**2 for value in row), Fraction(0)) / len(row)
    return [[a * b / square for b in row] for a in row]


def _diagonal(gram: list[list[Fraction]]) -> dict[str, bool]:
    return {"equal entries on the diagonal": gram[0][0] == gram[1][1]}
