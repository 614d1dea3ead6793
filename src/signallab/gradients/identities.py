"""Displays of GRAD that are algebra, proved for all widths d and all spectra that sum to d.

``S`` is ``sum (lambda_k - 1)^2``. As the ``lambda_k - 1`` sum to 0, their products over all pairs
of different indices sum to -S. Sums are taken one index at a time, or one pair. Each docstring says
how the display follows.
"""

from __future__ import annotations

import sympy

from signallab.gradients.certificates import numerical_inequalities
from signallab.isometry.identities import variance_of_the_lengths
from signallab.slopes import from_zero
from signalprop.certify import Identity, prove_identity

__all__ = [
    "all_layers",
    "both_regimes",
    "corollary",
    "cross_entropy",
    "equality",
    "expected_fall",
    "expected_growth",
    "fourth_moments",
    "hitting_time",
    "jacobian_of_a_row",
    "least_row",
    "one_step",
    "pairs_of_rows",
    "sharper_growth",
    "size_of_the_gain",
    "spectrum_of_the_jacobian",
    "squares_of_eigenvalues",
    "start_of_the_rates",
    "weingarten",
]

#: Means of monomials by the powers of ``W_ik, W_iq, W_jk, W_jq``.
Means = dict[tuple[int, ...], sympy.Expr]

d, spread, u = sympy.symbols("d S u", positive=True)
half = sympy.Rational(1, 2)
#: E W_ik^2 W_jq^2 and E W_ik^2 W_jk^2 as printed, for i != j and k != q.
E_1 = (d + 1) / (d * (d + 2) * (d - 1))
E_2 = (d - 1) / (d * (d + 2) * (d - 1))
PRINTED_GAIN = 1 / (1 - spread / (2 * d**2 * (d + 2)))
C_35 = 1 - spread / (2 * d * (d + 2) * (d - 1))
C_39 = d**2 - spread / (2 * (d + 2))


def fourth_moments() -> list[Identity]:
    """GRAD (C.25) to (C.31) for all d from 2 on, without pairings.

    With ``E_3 = E W_ik W_iq W_jk W_jq``: rows have length 1, so that ``(d - 1) E_1 + E_2`` is ``E
    W_ik^2``, or 1/d; rows are orthogonal, ``E_2 + (d - 1) E_3 = 0``; and a turn of columns k and q
    changes no mean. The last equation is the same at every angle, ``E_2 = E_1 + 2 E_3``. The
    determinant of the three is not 0, so that no other values solve them.

    >>> len(fourth_moments())
    4
    """
    e_1, e_2, e_3 = sympy.symbols("E_1 E_2 E_3")
    third = -E_2 / (d - 1)
    means: Means = {(2, 0, 2, 0): E_2, (0, 2, 0, 2): E_2, (2, 0, 0, 2): E_1, (0, 2, 2, 0): E_1}
    means[1, 1, 1, 1] = third
    equations = [(d - 1) * e_1 + e_2, e_2 + (d - 1) * e_3, e_2 - e_1 - 2 * e_3]
    determinant = sympy.Matrix(equations).jacobian([e_1, e_2, e_3]).det()
    return [
        prove_identity((d - 1) * E_1 + E_2, 1 / d),
        prove_identity(E_2 + (d - 1) * third, sympy.S.Zero),
        prove_identity(_after_a_turn(means), E_2),
        prove_identity(determinant, -(d - 1) * (d + 2)),
    ]


def weingarten() -> list[Identity]:
    """GRAD (C.25), mended, to (C.31) for all d from 2 on: the sum over pairings.

    Two of the three pairings of four factors form two loops together if they are the same, and else
    one. Wg is the inverse. One pairing fits rows (i, i, j, j), one fits columns (k, k, q, q), and
    all three fit columns (k, k, k, k).

    >>> len(weingarten())
    2
    """
    wg = sympy.Matrix(3, 3, lambda p, q: d**2 if p == q else d).inv()
    return [prove_identity(wg[0, 0], E_1), prove_identity(sum(wg[0, :]), E_2)]


def pairs_of_rows() -> list[Identity]:
    """GRAD (C.18) to (C.20) and (C.33) to (C.35), for all d and all spectra.

    A root lies below its tangent by half of a square. The product of two tangents is ``1 + u v/4``,
    but for ``(u + v)/2``, whose mean is 0 by (C.21) to (C.24). Then come the two moments.

    >>> len(pairs_of_rows())
    8
    """
    root, v = sympy.symbols("a v", positive=True)
    line_33 = 1 + (-spread * E_1 + spread * E_2) / 4
    line_34 = 1 + (-spread - spread) / (4 * d * (d + 2) * (d - 1))
    return [
        prove_identity(1 + (root**2 - 1) / 2 - root, (root - 1) ** 2 / 2),
        prove_identity((1 + u / 2) * (1 + v / 2) - (1 + u * v / 4), (u + v) / 2),
        *fourth_moments(),
        prove_identity(line_33, line_34),
        prove_identity(line_34, C_35),
    ]


def expected_growth() -> list[Identity]:
    """GRAD Theorem C.4 with all displays of its proof, for all d from 2 on and all inputs.

    The factor of Lemma C.2 is ``d sum a^2 / (sum a)^2 = d^2 / T``. In (C.16) ``1/T`` lies above its
    tangent at the mean m of T. (C.36) to (C.39) sum :func:`pairs_of_rows` over ``d^2 - d`` pairs.

    >>> len(expected_growth())
    12
    """
    t, m = sympy.symbols("T m", positive=True)
    return [
        variance_of_the_lengths(),
        prove_identity(1 / t - (2 / m - t / m**2), (t - m) ** 2 / (t * m**2)),
        *pairs_of_rows(),
        prove_identity(d + (d**2 - d) * C_35, C_39),
        prove_identity(d**2 / C_39, PRINTED_GAIN),
    ]


def equality() -> Identity:
    """GRAD Theorem 6.3 for orthogonal X: S is 0, and the factor 1; ``W X`` has rows of length 1.

    >>> isinstance(equality(), Identity)
    True
    """
    return prove_identity(PRINTED_GAIN.subs(spread, 0), sympy.S.One)


def corollary() -> list[Identity]:
    """GRAD Corollary C.6 with (C.41) to (C.46), mended, for all d and all inputs.

    (C.44) is Jensen's inequality: ``y - 1 - log y``, for y the square over its mean, has the slope
    ``(y - 1)/y`` and so is not negative.

    >>> len(corollary())
    15
    """
    y = sympy.Symbol("y", positive=True)
    return [
        *expected_growth(),
        *from_zero(y - 1 - sympy.log(y), y, (y - 1) / y, at=1),
        prove_identity(C_39 / d**2, 1 / PRINTED_GAIN),
    ]


def expected_fall() -> list[Identity]:
    """The fall of the gap, ``-E log(1 + u)``, is at least ``S / (d (d + 2) L)``; L is the largest.

    Not in the document. ``1 + u = sum lambda_k w_k^2`` is a squared length, at most the largest
    eigenvalue L. ``f = u - log(1 + u) - u^2 / (2 L)`` is 0 at 0, and its slope has the sign of u.
    The mean of u is 0. That of ``u^2`` has the fourth moments of one row: their sum rule, what a
    turn of two columns does, and the sum over pairs.

    >>> len(expected_fall())
    5
    """
    largest = sympy.Symbol("L", positive=True)
    f = u - sympy.log(1 + u) - u**2 / (2 * largest)
    other, fourth = 1 / (d * (d + 2)), 3 / (d * (d + 2))
    means: Means = {(4, 0, 0, 0): fourth, (0, 4, 0, 0): fourth, (2, 2, 0, 0): other}
    return [
        *from_zero(f, u, u * (largest - 1 - u) / (largest * (1 + u))),
        prove_identity(fourth + (d - 1) * other, 1 / d),
        prove_identity(_after_a_turn(means, one_row=True), fourth),
        prove_identity(
            (spread * fourth - spread * other) / (2 * largest), spread / (d * (d + 2) * largest)
        ),
    ]


def sharper_growth() -> list[Identity]:
    """GRAD Theorem 6.3 as printed, and with ``exp(S / (d (d + 2) L))``, for all d and inputs.

    The second by Jensen's inequality for the exponential, which is that of :func:`corollary`.

    >>> len(sharper_growth())
    20
    """
    return [*corollary(), *expected_fall()]


def start_of_the_rates() -> list[Identity]:
    """GRAD (C.48) and (C.53) for all d from 2 on and all spectra.

    In (C.48) the fall ``sigma / (2 d^2)`` has ``sigma = S / d``. That of :func:`expected_fall`,
    with ``L < d``, exceeds it by a term that has the sign of ``d - 2``. (C.53) sums (C.52).

    >>> len(start_of_the_rates())
    12
    """
    proved, printed = spread / (d * (d + 2) * d), spread / d / (2 * d**2)
    room = spread * (d - 2) / (2 * d**3 * (d + 2))
    return [*expected_fall(), prove_identity(proved - printed, room), *numerical_inequalities()]


def one_step(small: bool) -> list[Identity]:
    """GRAD Lemma C.9, (C.49) for ``small`` gaps and (C.50) for others, for all d from 2 on.

    In the first regime the largest eigenvalue L is at most 3/2 and ``S >= d psi``. In the other
    ``S > 1/16`` and ``L <= 1 + sqrt S``, and ``S / (1 + sqrt S)`` rises. The fall is compared with
    the printed one at ``d = 2 + e``.

    >>> len(one_step(True)), len(one_step(False))
    (15, 15)
    """
    return [*_regimes(), *_compared(small)]


def both_regimes() -> list[Identity]:
    """GRAD Lemma C.9 in both regimes of :func:`one_step`.

    >>> len(both_regimes())
    17
    """
    return [*_regimes(), *_compared(True), *_compared(False)]


def all_layers() -> list[Identity]:
    """GRAD Theorem 6.1 with C = 32, for all d from 2 on, all inputs of full rank and all depths.

    By Lemma C.9, and as the gap never exceeds ``psi_0`` (Lemma C.2), a layer takes ``psi / k`` off
    the mean gap, with ``k >= max(2 d^2, 32 d^3 psi_0)``. And ``1 - y`` is at most ``exp(-y)``: the
    difference is 0 at 0 and has a slope that is not negative.

    >>> len(all_layers())
    21
    """
    psi, y = sympy.symbols("psi_0 y", positive=True)
    k = 32 * d**2 * (1 + d * psi)
    return [
        *both_regimes(),
        prove_identity(k - 2 * d**2, 30 * d**2 + 32 * d**3 * psi),
        prove_identity(k - 32 * d**3 * psi, 32 * d**2),
        *from_zero(sympy.exp(-y) - (1 - y), y, 1 - sympy.exp(-y)),
    ]


def hitting_time() -> list[Identity]:
    """GRAD Lemma C.14 for all d from 2 on: ``E S <= 20 d (d + 2) psi_0``, and at most the print.

    Up to S a layer takes ``1 / (20 d (d + 2))`` off the mean gap, which has ``psi_0`` to fall. With
    ``psi_0 = (1 + m) / (16 d)``, the printed ``512 d^4 psi_0^2`` is larger, at ``d = 2 + e``.

    >>> len(hitting_time())
    17
    """
    e, more = sympy.symbols("e m", positive=True)
    start = (1 + more) / (16 * d)
    proved, printed = 20 * d * (d + 2) * start, 512 * d**4 * start**2
    rest = 8 * e**2 + 27 * e + 12 + 8 * more * (2 + e) ** 2
    return [
        *one_step(False),
        prove_identity(start - 1 / (16 * d), more / (16 * d)),
        prove_identity((printed - proved).subs(d, 2 + e), (1 + more) / 4 * rest),
    ]


def squares_of_eigenvalues() -> Identity:
    """GRAD Remark C.5: the squares sum to less than ``d^2``; a pair contributes ``2 l m`` more.

    >>> squares_of_eigenvalues().symbols
    ('l', 'm')
    """
    first, other = sympy.symbols("l m", positive=True)
    return prove_identity((first + other) ** 2 - first**2 - other**2, 2 * first * other)


def size_of_the_gain() -> list[Identity]:
    """GRAD Remark C.7: the fraction is below ``1/(2 d)``, as the squares sum to ``d^2`` at most.

    >>> len(size_of_the_gain())
    2
    """
    squares = sympy.Symbol("Q", positive=True)
    fraction = (squares - 2 * d + d) / (2 * d**2 * (d + 2))
    room = (d**2 - squares + 3 * d) / (2 * d**2 * (d + 2))
    return [squares_of_eigenvalues(), prove_identity(1 / (2 * d) - fraction, room)]


def jacobian_of_a_row() -> list[Identity]:
    """GRAD Lemma C.18, with the identity of size d, for all d: both kinds of entries.

    x and y are two entries of the row, R the squares of all others.

    >>> len(jacobian_of_a_row())
    2
    """
    x, y, others = sympy.symbols("x y R", positive=True)
    length = sympy.sqrt(x**2 + y**2 + others)
    normalized = x / length
    return [
        prove_identity(normalized.diff(x), 1 / length - x**2 / length**3),
        prove_identity(normalized.diff(y), -x * y / length**3),
    ]


def spectrum_of_the_jacobian() -> list[Identity]:
    """GRAD Corollary C.19, with multiplicity d - 1, for all d: entries of J x and of J v.

    ``x.x`` is the square of the length r. Orthogonal to x there are d - 1 directions v.

    >>> len(spectrum_of_the_jacobian())
    4
    """
    x, v, r, product = sympy.symbols("x v r p", positive=True)
    along, across = (entry / r - x * inner / r**3 for entry, inner in ((x, r**2), (v, product)))
    return [
        *jacobian_of_a_row(),
        prove_identity(along, sympy.S.Zero),
        prove_identity(across.subs(product, 0), v / r),
    ]


def least_row() -> Identity:
    """GRAD Lemma C.20, for all d: a squared length is a mean of eigenvalues, with weights p.

    Above the least eigenvalue it lies by a sum, in which one term is ``p (l - m)``.

    >>> least_row().symbols
    ('l', 'm', 'p')
    """
    weight, value, least = sympy.symbols("p l m")
    return prove_identity(weight * value - weight * least, weight * (value - least))


def cross_entropy() -> list[Identity]:
    """GRAD (C.143) to (C.146) for any number of classes: the slope in each logit is ``p - y``.

    a and b are the exponentials of the logits of the class and of another, R the sum of all others;
    a slope in a logit is that in its exponential, times it.

    >>> len(cross_entropy())
    2
    """
    a, b, others = sympy.symbols("a b R", positive=True)
    total = a + b + others
    loss = -sympy.log(a / total)
    return [
        prove_identity(a * loss.diff(a), a / total - 1),
        prove_identity(b * loss.diff(b), b / total),
    ]


def _regimes() -> list[Identity]:
    """What a gap says of the eigenvalues.

    ``d psi`` is the sum of ``g(t) = t - log(1 + t)`` over ``t = lambda_k - 1``. By (C.54) g is
    above 1/16 at 1/2 and at -1/2, and it falls up to 0 and rises beyond. So a small gap has all t
    within 1/2, and by (C.52) ``d psi <= S``. A larger gap has ``S > 1/16``, else all t were within
    1/4 and (C.52) would make it small.
    """
    t = sympy.Symbol("t")
    above = t - t * (6 + t) / (6 + 4 * t) - sympy.Rational(1, 16)
    return [
        *expected_fall(),
        *numerical_inequalities(),
        prove_identity(above.subs(t, half), sympy.Rational(1, 32)),
        prove_identity(above.subs(t, -half), sympy.Rational(1, 8)),
    ]


def _compared(small: bool) -> list[Identity]:
    """The fall at the ends of a regime, and what it exceeds the printed one by."""
    e, psi, r = sympy.symbols("e psi r", positive=True)
    if small:
        fall, printed = d * psi / (d * (d + 2) * 3 * half), psi / (2 * d**2)
        room = psi * (4 * e**2 + 13 * e + 4) / (6 * (2 + e) ** 2 * (4 + e))
        step = prove_identity(fall, 2 * psi / (3 * (d + 2)))
    else:
        share = r**2 / (1 + r)  # r is the root of S
        fall, printed = share.subs(r, sympy.Rational(1, 4)) / (d * (d + 2)), 1 / (32 * d**3)
        room = (8 * e**2 + 27 * e + 12) / (160 * (2 + e) ** 3 * (4 + e))
        step = prove_identity(share.diff(r), (r**2 + 2 * r) / (1 + r) ** 2)
    return [step, prove_identity((fall - printed).subs(d, 2 + e), room)]


def _after_a_turn(means: Means, one_row: bool = False) -> sympy.Expr:
    """The mean of ``W_ik^2 W_jk^2`` after a turn of columns k and q; for one row that of W_ik^4.

    Where a column has an odd power the mean is 0, as its sign may turn.
    """
    entries = sympy.symbols("A B C D")
    c, s = sympy.symbols("c s")
    first = c * entries[0] + s * entries[1]
    second = first if one_row else c * entries[2] + s * entries[3]
    total = sympy.S.Zero
    for powers, factor in sympy.Poly(first**2 * second**2, *entries).terms():
        if (powers[0] + powers[2]) % 2 == 0:
            total += factor * means[powers]
    return total.subs(s**4, (1 - c**2) ** 2).subs(s**2, 1 - c**2)
