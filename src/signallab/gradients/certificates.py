"""Counterexamples to statements of GRAD in exact numbers or balls, one function a statement.

The gap is ``psi(X) = -log(det(X^T X)^(1/d) / (tr(X^T X) / d))``.
"""

from __future__ import annotations

import math
from fractions import Fraction

import sympy
from flint import arb

from signallab.slopes import from_zero
from signalprop.certify import (
    Counterexample,
    Identity,
    Proof,
    ball,
    differs,
    exceeds,
    prove_identity,
    prove_positive,
    reaches,
)

__all__ = [
    "a_large_batch",
    "a_large_eigenvalue",
    "a_multiple_of_the_identity",
    "a_negative_gap",
    "a_reversed_step",
    "a_row_of_zeros",
    "a_wider_interval",
    "first_term_of_the_sum",
    "growth_in_the_plane",
    "least_eigenvalue",
    "least_eigenvalue_at_small_gaps",
    "logarithms_of_the_gap",
    "numerical_inequalities",
    "root_of_the_quadratic",
    "small_inputs",
    "small_inputs_without_a_gap",
]

SPREAD = Fraction(3, 5)  # rows (1, 0) and (3/5, 4/5) have eigenvalues 1 - 3/5 and 1 + 3/5


def a_negative_gap(d: int = 2) -> Counterexample:
    """GRAD Definition 6.5: the gap is at least zero; not for one sample of d features.

    ``X^T X`` is the number 1: the gap is ``-log(1 / (1/d)) = -log d``.

    >>> a_negative_gap().right < 0
    True
    """
    return exceeds(0, -arb(d).log(), at=f"the first unit vector, d = {d}, n = 1")


def a_large_batch(c: int = 10**15, d: int = 2) -> Counterexample:
    """GRAD Theorem 6.5 at L = 0, with C = 1: ``log ||grad|| <= d^5 (psi^3 + 1)``; psi is 0 at c I.

    The gradient of ``(W_0 X_0)_11`` in ``W_0`` has one row that is not zero, the first sample.

    >>> a_large_batch().right
    32
    """
    given = {"det(X₀ᵀX₀) = (tr/d)ᵈ: the gap is 0": c ** (2 * d) == Fraction(d * c**2, d) ** d}
    return exceeds(ball(c).log(), d**5, at=f"d = {d}, L = 0, X₀ = {c:.0e} I, C = 1", given=given)


def a_large_eigenvalue() -> Counterexample:
    """GRAD, after Theorem 6.3: eigenvalues of ``X X^T`` lie in (0, 1] for rows of norm one.

    >>> a_large_eigenvalue().left
    Fraction(8, 5)
    """
    return exceeds(1 + SPREAD, 1, at="rows (1, 0), (⅗, ⅘)", given=_eigenvalues())


def a_row_of_zeros() -> Counterexample:
    """GRAD Corollary C.3: ``I(BN(U^T X)) = 1``; for X of rank one ``U^T X`` has a row of zeros.

    BN leaves it as it is, and the determinant is 0.

    >>> a_row_of_zeros().left
    Fraction(0, 1)
    """
    u, x = _over(5, [[3, -4], [4, 3]]), _over(1, [[9, 12], [12, 16]])
    turned = _product(_transposed(u), x)
    normalized = _over(5, [[3, 4], [0, 0]])
    given = {
        "U is orthogonal": _product(_transposed(u), u) == _over(1, [[1, 0], [0, 1]]),
        "UᵀXU = diag(25, 0)": _product(turned, u) == _over(1, [[25, 0], [0, 0]]),
        "UᵀX = diag(25, 0) BN(UᵀX)": turned == _product(_product(turned, u), normalized),
    }
    at = "X with the rows (9, 12), (12, 16); the isometry squared"
    return differs(_isometry_squared(normalized), 1, at=at, given=given)


def a_multiple_of_the_identity() -> Counterexample:
    """GRAD, after Corollary C.3: if X is not orthogonal, its isometry can increase; not for 2 I.

    >>> a_multiple_of_the_identity().left
    Fraction(1, 1)
    """
    x = _over(1, [[2, 0], [0, 2]])
    given = {"XXᵀ is not I": _product(x, _transposed(x)) != _over(1, [[1, 0], [0, 1]])}
    at = "X = 2 I₂, whose isometry is compared with the largest there is, both squared"
    return reaches(_isometry_squared(x), 1, at=at, given=given)


def a_wider_interval(
    e: Fraction = Fraction(1, 50), c: Fraction = Fraction(1, 100)
) -> Counterexample:
    """GRAD Lemma C.8: a gap of at most ``c / (16 d)`` puts eigenvalues in ``[1 - c, 1 + c]``.

    For d = 2 and eigenvalues ``1 - e, 1 + e`` the gap is ``-log(1 - e^2) / 2``.

    >>> a_wider_interval().left
    Fraction(1, 50)
    """
    gap = -ball(1 - e**2).log() / 2
    given = {"ψ(X) ≤ c/(16d)": bool(gap < ball(c / 32))}
    return exceeds(e, c, at=f"d = 2, c = {c}, the distance of both eigenvalues from 1", given=given)


def root_of_the_quadratic() -> Counterexample:
    """GRAD, after (C.55): ``(1 + sqrt 74) / 24`` is a root of ``48 e^2 - 4 e - 6``.

    >>> root_of_the_quadratic().left.overlaps(arb(1) / 12)
    True
    """
    e = (1 + arb(74).sqrt()) / 24
    return differs(48 * e**2 - 4 * e - 6, 0, at="the printed larger root, put into 48e² − 4e − 6")


def small_inputs(scale: Fraction = Fraction(1, 10)) -> Counterexample:
    """GRAD Lemma C.13: ``log ||J|| <= d psi + 1``; at ``scale I`` the gap is 0.

    The Jacobian of ``x / ||x||`` at a row of norm ``scale`` is a projection over the norm.

    >>> small_inputs().right
    1
    """
    return exceeds(-ball(scale).log(), 1, at=f"{scale} I₂, where ψ = 0")


def small_inputs_without_a_gap(scale: Fraction = Fraction(1, 10)) -> Counterexample:
    """GRAD Lemma C.13: ``log ||J|| <= 2 sqrt(d psi)`` for small gaps; at ``scale I`` it is 0.

    >>> small_inputs_without_a_gap().right
    0
    """
    given = {"det = (tr/2)²: the gap is 0": scale**4 == (2 * scale**2 / 2) ** 2}
    return exceeds(-ball(scale).log(), 0, at=f"{scale} I₂, where ψ = 0", given=given)


def a_reversed_step(d: int = 1, depth: int = 0) -> Counterexample:
    """GRAD (C.110) to (C.111): ``sum_(k=0)^L e^(-k y) <= (1 - e^(-L y)) / y``, y = 1/(32 d^4).

    >>> a_reversed_step().left.contains(1)
    True
    """
    y = ball(Fraction(1, 32 * d**4))
    left = sum(((-k * y).exp() for k in range(depth + 1)), arb(0))
    return exceeds(left, (1 - (-depth * y).exp()) / y, at=f"d = {d}, L = {depth}")


def first_term_of_the_sum(d: int = 2, excess: Fraction = Fraction(1, 1000)) -> Counterexample:
    """GRAD (C.113): ``P(S >= 1) <= 16 d psi exp(-1/k)``, ``k = max(2 d^2, 32 d^3 psi)``.

    A start whose gap is above ``1/(16 d)`` has S >= 1 for sure.

    >>> first_term_of_the_sum().left
    1
    """
    gap = Fraction(1, 16 * d) * (1 + excess)
    k = max(Fraction(2 * d**2), 32 * d**3 * gap)
    right = ball(16 * d * gap) * (-1 / ball(k)).exp()
    given = {"ψ(X₀) > 1/(16d)": 16 * d * gap > 1}
    return exceeds(1, right, at=f"d = {d}, ψ(X₀) = {gap}", given=given)


def numerical_inequalities() -> list[Identity]:
    """GRAD (C.52), (C.54), (C.99) and (C.105) to (C.108), for all x and y that they are used at.

    The differences of the sides, or their derivatives, as products whose signs are seen:
    ``log(1 + x) - x + x^2`` and the difference of (C.54) are 0 at 0, and have derivatives of the
    sign of x, for x > -1/2 and for x > -1; at -1/2 the first is positive as it falls up to 0. That
    of (C.99) is a square over ``1 - y``. That of (C.108) is, in the root s of ``1 - y``, half of
    ``(1 - s)^3 (1 + s)``.

    >>> len(numerical_inequalities())
    6
    """
    x, y, s = sympy.symbols("x y s")
    sides = [
        sympy.log(1 + x) - x + x**2,
        x * (6 + x) / (6 + 4 * x) - sympy.log(1 + x),
    ]
    slopes = [x * (1 + 2 * x) / (1 + x), x**3 / ((1 + x) * (3 + 2 * x) ** 2)]
    last = 1 - (1 - s**2) ** 2 / 2 - (s + (1 - s) * s**2)
    return [
        *(
            proved
            for side, slope in zip(sides, slopes, strict=True)
            for proved in from_zero(side, x, slope)
        ),
        prove_identity((1 - y) - (1 - 2 * y) / (1 - y), y**2 / (1 - y)),
        prove_identity(last, (1 - s) ** 3 * (1 + s) / 2),
    ]


def least_eigenvalue() -> list[Identity]:
    r"""GRAD Lemma C.17, first part, for all d: the gap is a sum of terms that are not negative.

    ``d psi = sum_k h(lambda_k)`` with ``h(x) = x - 1 - log x``, as the trace is d, so that the
    ``lambda_k - 1`` sum to 0. The slope of h is ``(x - 1) / x``: h falls to 0 at 1 and rises. So
    ``d psi >= h(lambda_d) >= -1 - log lambda_d``.

    >>> len(least_eigenvalue())
    2
    """
    x = sympy.Symbol("x", positive=True)
    return from_zero(x - 1 - sympy.log(x), x, (x - 1) / x, at=1)


def least_eigenvalue_at_small_gaps() -> list[Proof]:
    r"""GRAD Lemma C.17, second part, for all d: ``u <= 2 sqrt(d psi)`` with ``u = -log lambda_d``.

    By the first part ``d psi >= a(u) = e^-u - 1 + u``, which rises. It is above 1/16 from 1/2 on,
    so that ``u < 1/2``; and there ``4 a(u) >= u^2``. Divided by u^2 it has no zero: its series
    alternates.

    >>> len(least_eigenvalue_at_small_gaps())
    2
    """
    return [
        prove_positive(_room_of_small_gaps, [(0, 0.5)]),
        prove_positive(_room_of_larger_gaps, [(0.5, 1)]),
    ]


def logarithms_of_the_gap(terms: int = 30) -> list[Proof]:
    r"""GRAD (C.127) and (C.130), mended, for ``t = 1 - x`` in [0, 1] and for x in [0, 1/2].

    ``-log(1 - t) - t - t^2 / 2 = t^3 (1/3 + t/4 + ...)``, whose first terms are a lower bound; and
    ``-log(1 - x) = x (1 + x/2 + ...)``, whose terms from K on are at most ``x^K / (1 - x) / (K +
    1)``.

    >>> len(logarithms_of_the_gap())
    2
    """
    return [
        prove_positive(_cube_of_the_logarithm, [(0, 1)]),
        prove_positive(lambda x: _slope_of_the_logarithm(x, terms), [(0, 0.5)]),
    ]


def growth_in_the_plane(terms: int = 6) -> list[Proof]:
    r"""GRAD Theorem C.4 for d = 2 and all eigenvalues ``1 ± e``: as printed, and a sharper factor.

    The growth is ``(2/pi) K(e) = sum_m c_m e^(2m)``, ``c_m = (binom(2m, m) / 4^m)^2``, of which
    the first terms are a lower bound. The printed factor is ``1 / (1 - e^2 / 16)``; less 1 both
    sides are divided by ``e^2``. The sharper one is ``exp(v)``, ``v = e^2 / (4 (1 + e))``, divided
    by ``e^3``, where ``(exp(v) - 1 - v) / v^2 <= exp(v) / 2``.

    >>> len(growth_in_the_plane())
    2
    """
    rooms = (_room_of_the_printed_growth, _room_of_the_sharper_growth)
    return [prove_positive(lambda e, room=room: room(e, terms), [(0, 1)]) for room in rooms]


def _room_of_small_gaps(u: arb) -> arb:
    """``4 a(u) / u^2 - 1``, with what the series of the exponential leaves after eight terms."""
    terms = [(-u) ** k / math.factorial(k + 2) for k in range(8)]
    return 4 * (sum(terms, arb(0)) + arb(0).union(u**8) / math.factorial(10)) - 1


def _room_of_larger_gaps(u: arb) -> arb:
    return (-u).exp() - 1 + u - arb(1) / 16


def _cube_of_the_logarithm(t: arb) -> arb:
    """Below ``(-log(1 - t) - t - t^2/2) / t^3``."""
    return sum((t**k / (k + 3) for k in range(4)), arb(0))


def _slope_of_the_logarithm(x: arb, terms: int) -> arb:
    """``sqrt 2 + log(1 - x) / x``."""
    known = sum((x**k / (k + 1) for k in range(terms)), arb(0))
    return arb(2).sqrt() - known - arb(0).union(x**terms / (1 - x)) / (terms + 1)


def _of_the_elliptic_integral(terms: int) -> list[arb]:
    return [ball(Fraction(math.comb(2 * m, m), 4**m)) ** 2 for m in range(terms)]


def _room_of_the_printed_growth(e: arb, terms: int) -> arb:
    """Below ``((2/pi) K(e) - 1 / (1 - e^2/16)) / e^2``."""
    c = _of_the_elliptic_integral(terms)
    growth = sum((c[m] * e ** (2 * m - 2) for m in range(1, terms)), arb(0))
    return growth - 1 / (16 - e**2)


def _room_of_the_sharper_growth(e: arb, terms: int) -> arb:
    """Below ``((2/pi) K(e) - exp(v)) / e^3``."""
    c = _of_the_elliptic_integral(terms)
    growth = sum((c[m] * e ** (2 * m - 3) for m in range(2, terms)), arb(0))
    v = e**2 / (4 * (1 + e))
    return growth + 1 / (4 * (1 + e)) - v.exp() * e / (32 * (1 + e) ** 2)


def _over(divisor: int, rows: list[list[int]]) -> list[list[Fraction]]:
    return [[Fraction(entry, divisor) for entry in row] for row in rows]


def _transposed(x: list[list[Fraction]]) -> list[list[Fraction]]:
    return [list(column) for column in zip(*x, strict=True)]


def _product(x: list[list[Fraction]], y: list[list[Fraction]]) -> list[list[Fraction]]:
    columns = _transposed(y)
    return [
        [sum((a * b for a, b in zip(row, c, strict=True)), Fraction(0)) for c in columns]
        for row in x
    ]


def _isometry_squared(x: list[list[Fraction]]) -> Fraction:
    """``I(X)^2 = det(X)^2 / (tr(X X^T) / 2)^2`` of a matrix of two rows."""
    (a, b), (c, d) = x
    return (a * d - b * c) ** 2 / Fraction(a**2 + b**2 + c**2 + d**2, 2) ** 2


def _eigenvalues() -> dict[str, bool]:
    """The Gram matrix of the rows has 1 on its diagonal and SPREAD beside it."""
    rows = [(Fraction(1), Fraction(0)), (SPREAD, Fraction(4, 5))]
    gram = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in rows] for x in rows]
    return {"rows of norm one": gram == [[1, SPREAD], [SPREAD, 1]]}
