"""Displays of RANK that are algebra, proved for all widths, all batches and all matrices.

Sums over indices are taken one index at a time: weights of different index are independent, with
mean 0, so that of a product of two such sums only equal indices are left. Sums over all pairs are
taken one pair at a time. Each docstring says how the display follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import sympy

from signalprop.certify import Identity, prove_identity

__all__ = [
    "bound_of_the_change",
    "cauchy_and_schwarz",
    "change_of_moments",
    "drift_of_the_norm",
    "near_rank_one",
    "order_of_units",
    "ratio_and_rank",
    "ratio_and_soft_rank",
    "rows_of_one_norm",
    "second_moments",
    "second_order",
    "signs_of_units",
    "signs_stay",
]

Pair = tuple[str, str]

d, gamma, x = sympy.symbols("d gamma x", positive=True)  # x is M_ij
p, q, w, v = sympy.symbols("p q w v", real=True)  # M_ki, M_kj and W_ik, W_jk for one k
s_ii, s_ij, s_jj = sympy.symbols("S_ii S_ij S_jj")  # entries of M^2, the sums of p^2, p q and q^2
norm, cube, diagonal = sympy.symbols("F T D")  # |M|_F^2, Tr M^3, Tr diag(M^2)^2

#: What index k contributes to the entries of ``W M + M W^T``.
CHANGE = {"ii": 2 * w * p, "ij": w * q + v * p, "jj": 2 * v * q}


def second_moments() -> list[Identity]:
    """RANK (73) and (76): means of the change of M and of its products, for all d and all M.

    The first order of the change has the mean 0. In ``W M W^T`` the mean of ``W_ik M_km W_jm`` is
    that of two weights, 1 for ``i = j`` and ``k = m``, where the diagonal of M sums to d. In the
    products of first orders only equal k are left.

    >>> len(second_moments())
    9
    """
    printed = {
        ("ij", "ij"): q**2 + p**2,
        ("ij", "ii"): 2 * q * p,
        ("ii", "ii"): 4 * p**2,
        ("ii", "jj"): sympy.S.Zero,
    }
    return [
        *(prove_identity(_mean(change), sympy.S.Zero) for change in CHANGE.values()),
        prove_identity(_mean(w**2), sympy.S.One),
        prove_identity(_mean(w * v), sympy.S.Zero),
        *(prove_identity(_mean(CHANGE[a] * CHANGE[b]), k) for (a, b), k in printed.items()),
    ]


def second_order() -> list[Identity]:
    """RANK (72), (74), (77) and (78) for all d and all M: Taylor's formula for a squared cosine.

    The derivatives are taken at a unit diagonal. (78) lacks the ``gamma^2`` of (74).

    >>> len(second_order())
    9
    """
    first, second = _derivatives()
    slopes = {"ii": -(x**2), "jj": -(x**2), "ij": 2 * x}
    bends: Mapping[Pair, sympy.Expr] = {
        ("ij", "ij"): sympy.Integer(2),
        ("ij", "ii"): -2 * x,
        ("ii", "ii"): 2 * x**2,
        ("jj", "ii"): x**2,
    }
    plain = s_jj + s_ii - 8 * x * s_ij + 4 * x**2 * s_ii + 4 * x**2 * s_jj
    return [
        *(prove_identity(first[a], slope) for a, slope in slopes.items()),
        *(prove_identity(second[pair], bend) for pair, bend in bends.items()),
        prove_identity(_linear_term(), -2 * d * x**2),
        prove_identity(_quadratic_term(), plain),
    ]


def drift_of_the_norm() -> list[Identity]:
    """RANK Lemma 12 and (79) for all d and all M: the coefficient of ``gamma^2`` is ``delta_F``.

    (79) is summed over all pairs of units, less the pairs ``i = j``, term by term. For ``gamma
    sqrt(3) d < 1`` no row vanishes, and the mean is a power series in gamma; it is even, as -W has
    the law of W. So the error is of the order ``gamma^2``.

    >>> len(drift_of_the_norm())
    19
    """
    everywhere = {
        s_ii: d * norm,
        s_jj: d * norm,
        x**2: norm,
        x * s_ij: cube,
        x**2 * s_ii: diagonal,
        x**2 * s_jj: diagonal,
    }
    on_the_diagonal = {s_ii: norm, s_jj: norm, x**2: d, x * s_ij: norm}
    on_the_diagonal |= {x**2 * s_ii: norm, x**2 * s_jj: norm}
    total = sympy.S.Zero
    for term in sympy.Add.make_args(sympy.expand(_linear_term() + _quadratic_term())):
        factor, entries = term.as_independent(x, s_ii, s_ij, s_jj)
        total += factor * (everywhere[entries] - on_the_diagonal[entries])
    printed = 2 * d**2 - 2 * norm - 8 * cube + 8 * diagonal
    return [*second_moments(), *second_order(), prove_identity(total, printed)]


def rows_of_one_norm() -> Identity:
    """RANK (49) mended and (50), for all d: the drift where all rows of M have one norm.

    The d entries of the diagonal of ``M^2`` are equal and sum to ``|M|_F^2``. The traces of
    ``M^2`` and ``M^3`` are sums over eigenvalues.

    >>> isinstance(rows_of_one_norm(), Identity)
    True
    """
    inside = d * (norm / d) ** 2
    drift = 2 * d**2 - 2 * norm - 8 * cube + 8 * inside
    return prove_identity(drift, 2 * d**2 - 2 * norm - 8 * cube + 8 * norm**2 / d)


def near_rank_one() -> list[Identity]:
    """RANK Example 14 with (83) and (84) mended, for all d from 2 on and small gamma.

    ``y = gamma^2``. First the slopes of the three norms at y = 0, then that of ``delta_F``, which
    is 0 there; the last identity compares the fall with ``d^2``, at ``d = 2 + e``, and has no
    negative term. What Lemma 12 leaves over is of higher order: at rank one all of it vanishes.

    >>> len(near_rank_one())
    6
    """
    y, e = sympy.symbols("y e")
    top = d - y * (d - 1)
    second, third = (top**k + (d - 1) * y**k for k in (2, 3))
    drift = 2 * d**2 - 2 * second - 8 * third + 8 * second**2 / d
    fall = 4 * d * (d - 1) * (2 * d - 1)
    slopes = {
        second: -2 * d * (d - 1),
        third: -3 * d**2 * (d - 1),
        second**2: -4 * d**3 * (d - 1),
        drift: -fall,
    }
    room = (fall - d**2).subs(d, 2 + e)
    return [
        *(prove_identity(value.diff(y).subs(y, 0), slope) for value, slope in slopes.items()),
        prove_identity(drift.subs(y, 0), sympy.S.Zero),
        prove_identity(room, (2 + e) * (10 + 19 * e + 8 * e**2)),
    ]


def change_of_moments() -> Identity:
    """RANK (95) with ``K = F(H) H^T / N``, for all d, N and F: what one sample contributes.

    Entry i, j of ``N M(H + gamma W F(H))`` is a sum over samples. In each, h and g are the entries
    of H in rows i and j, and a and b those of ``W F(H)``; in ``N W K`` the sample contributes ``a
    g``, in ``N K^T W^T`` it is ``h b``, and in ``N W P W^T`` it is ``a b``.

    >>> change_of_moments().symbols
    ('a', 'b', 'g', 'gamma', 'h')
    """
    h, g, a, b = sympy.symbols("h g a b")
    moved = (h + gamma * a) * (g + gamma * b)
    return prove_identity(moved - h * g, gamma * a * g + gamma * h * b + gamma**2 * a * b)


def cauchy_and_schwarz() -> Identity:
    """``(sum a b)^2 <= (sum a^2)(sum b^2)`` for any number of terms: what one pair contributes.

    >>> cauchy_and_schwarz().symbols
    ('a_1', 'a_2', 'b_1', 'b_2')
    """
    a, c, b, e = sympy.symbols("a_1 a_2 b_1 b_2")
    return prove_identity(a**2 * e**2 + c**2 * b**2 - 2 * a * b * c * e, (a * e - c * b) ** 2)


def bound_of_the_change() -> list[Identity]:
    """RANK Lemma 20 with (99) to (101), for all d, N, B and gamma.

    Entries of K and P are at most B and ``B^2``, as rows of H have norm ``sqrt N`` and those of
    F(H) at most ``B sqrt N``. Each entry of ``W K`` is a sum of d products with weights of at most
    ``sqrt 3``, each of ``W P W^T`` one of ``d^2`` with two.

    >>> len(bound_of_the_change())
    3
    """
    b = sympy.Symbol("B", positive=True)
    weight = sympy.sqrt(3)
    first, second = d * weight * b, d**2 * weight**2 * b**2
    bound = gamma * first + gamma * first + gamma**2 * second
    printed = 2 * weight * d * b * gamma + 3 * d**2 * b**2 * gamma**2
    return [change_of_moments(), cauchy_and_schwarz(), prove_identity(bound, printed)]


def signs_stay() -> list[Identity]:
    """RANK, proof of Lemma 21: at ``gamma = 1/(8 B d)`` the bound of Lemma 20 is below one half.

    >>> len(signs_stay())
    2
    """
    b = sympy.Symbol("B", positive=True)
    root, step = sympy.sqrt(3), 1 / (8 * b * d)
    bound = 2 * root * d * b * step + 3 * d**2 * b**2 * step**2
    room = sympy.Rational(1, 2) - root / 4 - sympy.Rational(3, 64)
    return [
        prove_identity(bound, root / 4 + sympy.Rational(3, 64)),
        prove_identity(room, 73 / (64 * (29 + 16 * root))),
    ]


def ratio_and_rank() -> Identity:
    """RANK Lemma 1, mended, for all matrices: ``k sum l^2 - (sum l)^2`` over k eigenvalues.

    It is a sum over pairs of eigenvalues, each of which contributes ``(l - m)^2``.

    >>> ratio_and_rank().symbols
    ('l', 'm')
    """
    first, other = sympy.symbols("l m")
    return prove_identity(first**2 + other**2 - 2 * first * other, (first - other) ** 2)


def ratio_and_soft_rank() -> list[Identity]:
    """RANK Lemma 2 for all matrices of unit diagonal and all tau from 0 to 1.

    Of d eigenvalues that sum to d, ``d - k`` are below tau; the k others sum to ``d - tau (d - k)``
    at least, which exceeds ``(1 - tau) d`` by ``tau k``. The latter is not negative, so that
    squares compare too. To these k applies what Lemma 1 says.

    >>> len(ratio_and_soft_rank())
    2
    """
    tau, k = sympy.symbols("tau k")
    others = d - tau * (d - k)
    return [prove_identity(others - (1 - tau) * d, tau * k), ratio_and_rank()]


def signs_of_units() -> list[Identity]:
    """RANK (37) to (45) for all d, N and odd F: a layer commutes with signs of its units.

    Unit i takes from unit k the sign twice, as F is odd: the difference has the factor ``s_k^2 -
    1``, which is 0 for a sign, and so has what its sign adds to the square of a row.

    >>> len(signs_of_units())
    2
    """
    own, other, weight, value = sympy.symbols("s_i s_k w f")
    moved = own * weight * other * (other * value) - own * weight * value
    return [
        prove_identity(moved, own * weight * value * (other**2 - 1)),
        prove_identity((own * value) ** 2 - value**2, value**2 * (own**2 - 1)),
    ]


def order_of_units(*, both_sides: bool = True) -> list[Identity]:
    """RANK (28) to (36) for all d, N and F: a layer commutes with an exchange of two units.

    Every order is made of such exchanges. Rows and columns of the weights change places too
    (``both_sides``). The third unit stands for any other, and each row keeps its length.

    >>> len(order_of_units())
    3
    """
    values, weights = sympy.symbols("h_1:4"), sympy.Matrix(3, 3, sympy.symbols("w_1:4_1:4"))
    feature, swap = sympy.Function("F"), (1, 0, 2)

    def layer(h: Sequence[sympy.Expr], w: sympy.Matrix) -> list[sympy.Expr]:
        return [h[i] + gamma * sum(w[i, j] * feature(h[j]) for j in range(3)) for i in range(3)]

    exchanged = weights.extract(swap, swap if both_sides else range(3))
    after = layer([values[i] for i in swap], exchanged)
    before = layer(values, weights)
    return [prove_identity(after[i], before[swap[i]]) for i in range(3)]


def _mean(polynomial: sympy.Expr) -> sympy.Expr:
    """The mean over two weights, independent and uniform on ``[-sqrt 3, sqrt 3]``."""
    terms = sympy.Poly(polynomial, w, v).terms()
    return sympy.Add(*(factor * _moment(j) * _moment(k) for (j, k), factor in terms))


@cache
def _moment(order: int) -> sympy.Expr:
    end = sympy.sqrt(3)
    return sympy.integrate(w**order, (w, -end, end)) / (2 * end)


def _derivatives() -> tuple[dict[str, sympy.Expr], dict[Pair, sympy.Expr]]:
    """First and second derivatives of ``M_ij^2 / (M_ii M_jj)`` at a unit diagonal."""
    first, last = sympy.symbols("M_ii M_jj", positive=True)
    names = {"ii": first, "ij": x, "jj": last}
    cosine = x**2 / (first * last)
    unit = {first: 1, last: 1}
    slopes = {a: cosine.diff(at).subs(unit) for a, at in names.items()}
    bends = {
        (a, b): cosine.diff(at, other).subs(unit)
        for a, at in names.items()
        for b, other in names.items()
    }
    return slopes, bends


def _linear_term() -> sympy.Expr:
    """``T_1 / gamma^2``: the mean of the change is ``d gamma^2`` on the diagonal and 0 off it."""
    slopes, _ = _derivatives()
    return d * slopes["ii"] + d * slopes["jj"]


def _quadratic_term() -> sympy.Expr:
    """``T_2 / gamma^2``, with the products of changes summed over k."""
    _, bends = _derivatives()
    terms = [bend * _summed(_mean(CHANGE[a] * CHANGE[b])) for (a, b), bend in bends.items()]
    return sympy.Add(*terms) / 2


def _summed(polynomial: sympy.Expr) -> sympy.Expr:
    """The sum over k of what one k contributes."""
    sums = {(2, 0): s_ii, (1, 1): s_ij, (0, 2): s_jj}
    terms = sympy.Poly(polynomial, p, q).terms()
    return sympy.Add(*(factor * sums[powers] for powers, factor in terms if factor != 0))
