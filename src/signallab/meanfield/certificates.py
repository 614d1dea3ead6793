"""Counterexamples to statements of MF in exact numbers or balls, one function a statement.

Pairs of signs ``x = (1, s)``, s = 1 or -1 with equal chances, have ``E x x^T = I`` and ``||x||^2 =
n`` with n = 2, so that B = 1, and ``x x^T - I`` has s beside the diagonal, and the norm ``sqrt 2``.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from signalprop.certify import Counterexample, ball, differs, exceeds

__all__ = [
    "an_average_of_norms",
    "bernstein_without_a_mean",
    "change_of_variable",
    "equal_samples_stay",
    "fixed_point_of_two_samples",
    "one_vector_on_a_sphere",
    "symmetric_product",
    "two_gaussian_laws",
]

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
    v = ball(variance)
    x = (v * v.log() / (v - 1)).sqrt()
    left = (x / arb(2).sqrt()).erf() - (x / (2 * v).sqrt()).erf()
    at = f"one sample, one row, variances 1 and {variance}"
    return exceeds(left, Fraction(3, 2) * (variance - 1) ** 2, at=at)


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
