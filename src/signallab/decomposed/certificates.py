"""Counterexamples to statements of DEC in exact numbers or balls, one function a statement.

Each goes back to the statement as printed. A layer takes a row of one feature to ``ReLU(x - mean)``
or ``ReLU(mean - x)``, exactly so for fractions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import sympy
from flint import arb, ctx, fmpq

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
    "a_child_loses_two_clusters",
    "a_gap_changes",
    "a_kind_is_missing",
    "a_negative_bound",
    "a_point_at_the_mean",
    "an_open_cluster",
    "branch",
    "classes_of_odd_polygons",
    "entries_turn_zero",
    "equality_along_one_direction",
    "equality_of_distances",
    "equality_of_heights",
    "gain_at_the_invariant",
    "mean_norm_of_the_centre",
    "mean_norm_of_the_odd_point",
    "mean_of_the_invariant",
    "no_invariant_is_that_far",
    "no_odd_point",
    "no_uneven_split",
    "not_linear_in_the_rows",
    "one_of_two_ends",
    "repeated_columns",
    "rows_for_two_points",
    "the_cluster_widens",
    "the_mean_grows",
    "the_sign_stays",
    "three_clusters_vanish",
    "waits_depend",
    "weaker_exponent",
]

Row = list[Fraction]


def classes_of_odd_polygons(n: int = 3) -> Counterexample:
    """DEC Example 1: a regular n-gon, n odd, has n classes of directions with equal signs.

    Signs at directions between the lines on which they change, each certain.

    >>> classes_of_odd_polygons(5).left
    10
    """
    patterns = set()
    for k in range(4 * n):
        w = Fraction(2 * k + 1, 4 * n)  # of a half turn
        turns = [w - Fraction(2 * i, n) for i in range(1, n + 1)]
        products = [arb(fmpq(t.numerator, t.denominator)).cos_pi() for t in turns]
        if all(product != 0 for product in products):
            patterns.add(tuple(bool(product > 0) for product in products))
    return exceeds(len(patterns), n, at=f"n = {n}, classes that were met on the left")


def repeated_columns(n: int = 3) -> Counterexample:
    """DEC Theorem 3: full rank n is reached for any batch.

    Equal columns stay equal, so that the rank is at most the number of different ones.

    >>> repeated_columns().right
    2
    """
    columns = [(1, k) for k in range(1, n)] + [(1, 1)]
    return exceeds(n, len(set(columns)), at=f"n = {n}, the first column twice; the rank, at most")


def a_point_at_the_mean() -> Counterexample:
    """DEC Corollary 4: after centring, full rank is reached for batches without collinear columns.

    A column that is the mean becomes zero, and stays it, so that the rank is at most that of the
    others.

    >>> a_point_at_the_mean().left
    3
    """
    columns = [(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)), (Fraction(1, 2),) * 2]
    n = len(columns)
    mean = tuple(sum(column[k] for column in columns) / n for k in range(2))
    kept = [column for column in columns if column != mean]
    apart = all(a[0] * b[1] != a[1] * b[0] for a, b in combinations(columns, 2))
    at = "columns (1, 0), (0, 1), (½, ½); the rank, at most the number of columns off the mean"
    return exceeds(n, len(kept), at=at, given={"no two columns collinear": apart})


def mean_of_the_invariant(n: int = 2) -> Counterexample:
    """DEC Theorem 13 with one neuron: ``||E x_1'||^2 = 1``.

    The neuron is Gaussian with variance ``2 alpha ||x_1 - mean||^2`` before ReLU, and its mean
    after it is the deviation over ``sqrt(2 pi)``. ``||x_1 - mean||^2 = ((n - 1) R / n)^2``, where
    ``R^2 = 1 + 1/(n - 1)^2``.

    >>> mean_of_the_invariant().left.overlaps(1 / arb.pi())
    True
    """
    alpha = Fraction(n**2, n**2 - 2 * n + 2)
    squared = Fraction((n - 1) ** 2, n**2) * (1 + Fraction(1, (n - 1) ** 2))
    left = ball(2 * alpha * squared) / (2 * arb.pi())
    return differs(left, 1, at=f"n = {n}, one neuron, the squared norm of the mean")


def no_invariant_is_that_far(n: int = 2) -> Counterexample:
    """DEC Theorem 14: an invariant representation with ``R > n / (n - 1)``, here in squares.

    >>> no_invariant_is_that_far().left, no_invariant_is_that_far().right
    (Fraction(4, 1), Fraction(2, 1))
    """
    left, right = Fraction(n, n - 1) ** 2, 1 + Fraction(1, (n - 1) ** 2)
    return exceeds(left, right, at=f"n = {n}, squares of n/(n − 1) and of R")


def mean_norm_of_the_odd_point() -> Counterexample:
    """DEC Theorem 14, item 1, one neuron: ``E |x_1'| = 1``.

    Its variance before ReLU is ``2 alpha ||x_1 - mean||^2 = 2``, for all n and R.

    >>> mean_norm_of_the_odd_point().left.overlaps(1 / arb.pi().sqrt())
    True
    """
    return differs(_mean_of_relu(arb(2)), 1, at="one neuron, any n and R")


def mean_norm_of_the_centre(n: int = 3) -> Counterexample:
    """DEC Theorem 14, item 2, one neuron: the mean norm is ``1/(n - 1)``.

    The variance before ReLU is ``2 alpha (R/n)^2 = 2/(n - 1)^2``, whatever R.

    >>> mean_norm_of_the_centre().right
    Fraction(1, 2)
    """
    right = Fraction(1, n - 1)
    return differs(_mean_of_relu(2 * ball(right) ** 2), right, at=f"n = {n}, one neuron, any R")


def a_child_loses_two_clusters() -> Counterexample:
    """DEC Figure 8: a row with three clusters has a child with three.

    >>> a_child_loses_two_clusters().left
    2
    """
    row = _centred([0, 1, 2])
    most = max(len(set(child)) for child in _children(row))
    return differs(most, 3, at="the row (0, 1, 2), most clusters of a child")


def the_sign_stays(epsilon: Fraction = Fraction(1, 10)) -> Counterexample:
    """DEC, proof of Lemma 2: ``w - (1 + eps) (w x_i) x_i / ||x_i||`` has the other sign at x_i.

    With the norm in place of its square it need not, here for a shorter vector.

    >>> the_sign_stays().left
    1
    """
    w, x = Fraction(1), Fraction(1, 2)  # along one axis; all else is zero
    shifted = w - (1 + epsilon) * w * x * x / abs(x)
    signs = [1 if value * x > 0 else -1 for value in (shifted, w)]
    return differs(signs[0], -signs[1], at=f"w = (1, 0), x = (½, 0), ε = {epsilon}")


def equality_of_heights() -> Counterexample:
    """DEC (35d): ``max - mean`` is less before the second negative step than after the first.

    >>> found = equality_of_heights()
    >>> found.left == found.right
    True
    """
    values = (357, 3694, 3715, 3749, 12440)
    rows = branch(values, (-1, -1))
    first, second = 1, 2  # the layers that negative steps lead to
    left, right = (max(rows[t]) - _mean(rows[t]) for t in (second - 1, first))
    return reaches(
        left, right, at=f"{_told(values)}, negative steps 1 and 2", given=_unmerged(rows)
    )


def the_mean_grows() -> Counterexample:
    """DEC (35e) and (35f): the mean falls to less than ``1 - 2/n`` from before two negative steps.

    >>> the_mean_grows().right
    Fraction(0, 1)
    """
    values = (-30944, -14492, -14402, -13718, 36778, 36778)
    rows = branch(values, (-1, 1, -1))
    right = (1 - Fraction(2, len(values))) * _mean(rows[0])
    at = f"{_told(values)}, negative steps 1 and 3"
    return reaches(_mean(rows[3]), right, at=at, given=_unmerged(rows))


def a_gap_changes() -> Counterexample:
    """DEC (31) along negative steps: the difference of the third and second value stays.

    >>> a_gap_changes().left, a_gap_changes().right
    (Fraction(15, 1), Fraction(114, 1))
    """
    values = (-1305, 1437, 1452, 1566, 9982, 9982)
    rows = branch(values, (-1, 1, -1))
    gaps = [sorted(set(row))[2] - sorted(set(row))[1] for row in rows]
    at = f"{_told(values)}, signs −1, 1, −1, the least and the most of a layer"
    return differs(min(gaps), max(gaps), at=at, given=_unmerged(rows))


def entries_turn_zero() -> Counterexample:
    """DEC, at (31): the number of positive entries is the same in all layers.

    >>> entries_turn_zero().left > entries_turn_zero().right
    True
    """
    values = (-1305, 1437, 1452, 1566, 9982, 9982)
    rows = branch(values, (-1, 1, -1))
    counts = [sum(value > 0 for value in row) for row in rows[1:]]
    at = f"{_told(values)}, signs −1, 1, −1, the most and the fewest of a layer"
    return differs(max(counts), min(counts), at=at, given=_unmerged(rows))


def no_uneven_split() -> Counterexample:
    """DEC (41): some row splits the points into one and all others, at the first stable layer.

    >>> no_uneven_split().right
    0
    """
    values = (0, 1, 5, 6)
    rows = _children(_centred(values))
    uneven = [
        row
        for row in rows
        if {row.count(min(row)), len(row) - row.count(min(row))} == {1, 3} and len(set(row)) == 2
    ]
    stable = {"three clusters at most": all(len(set(row)) <= 3 for row in rows)}
    return exceeds(1, len(uneven), at=f"{values}, layer 1, rows of that kind", given=stable)


def a_negative_bound(n: int = 3, layers: int = 2) -> Counterexample:
    """DEC (61) to (62): the sum in closed form, with ``2n - 7`` below, for height 1.

    >>> a_negative_bound().left, a_negative_bound().right
    (Fraction(4, 81), Fraction(-16, 81))
    """
    part, most = Fraction(n - 2, n) ** 2, Fraction(n - 1, n) ** 2
    left = part * sum(
        most**s * (Fraction(2, n) ** 2 + part) ** (layers - 1 - s) for s in range(1, layers)
    )
    right = part * Fraction(n**2 - 2 * n + 1, 2 * n - 7) * most ** (layers - 1)
    return exceeds(left, right, at=f"n = {n}, T = {layers}, c = 1")


def equality_along_one_direction() -> Counterexample:
    """DEC, Appendix F: ``x y < K(x, y)`` for ``x != y``, and ``K = ||x|| ||y||`` at cosine 1.

    >>> equality_along_one_direction().left
    50
    """
    x, y = (3, 4), (6, 8)
    product = sum(a * b for a, b in zip(x, y, strict=True))
    squares = [sum(a * a for a in point) for point in (x, y)]
    given = {"x ≠ y": x != y, "one direction": product**2 == squares[0] * squares[1]}
    return reaches(product, math.isqrt(squares[0] * squares[1]), at=f"{x}, {y}", given=given)


def equality_of_distances() -> Counterexample:
    """DEC (115): the expected squared distance falls, for ``x_i != x_j``.

    For points on a line on one side of the mean, ``K`` is the product of their distances from it.

    >>> equality_of_distances().left
    Fraction(1, 1)
    """
    values = (0, 1, 5)
    a, b, _ = _centred(values)
    given = {"x₁ ≠ x₂": a != b, "on one side of the mean": a * b > 0}
    after = a**2 + b**2 - 2 * abs(a) * abs(b)
    return reaches(after, (a - b) ** 2, at=f"{values}, the first two points", given=given)


def not_linear_in_the_rows(rows: int = 8) -> Counterexample:
    """DEC, after Theorem 3: that the theorem gives an image dimension linear in the rows.

    n points of the plane have a class of volume ``1/(2n)`` at most, so that its bound for n is at
    least ``2 n^2`` rows. For four times the rows it promises twice the dimension.

    >>> not_linear_in_the_rows().left, not_linear_in_the_rows().right
    (4, 8)
    """

    def promised(count: int) -> int:
        return math.isqrt(count // 2)

    at = f"the dimension for {4 * rows} rows, and four times that for {rows}"
    return differs(promised(4 * rows), 4 * promised(rows), at=at)


def waits_depend(turn: Fraction = Fraction(1, 10)) -> Counterexample:
    """DEC (28): the waits are independent; two points at an angle of ``turn`` half turns.

    ``y_1`` is geometric with 1/2, and ``y_2 = 0`` given ``y_1 = k`` if one of k - 1 rows that miss
    the first point sees the second: ``1 - (1 - turn)^(k - 1)``, whose mean is ``turn/(1 + turn)``.

    >>> waits_depend().left, waits_depend().right
    (Fraction(0, 1), Fraction(1, 11))
    """
    given_one = 1 - (1 - turn) ** 0
    return differs(given_one, turn / (1 + turn), at="P(y₂ = 0) given y₁ = 1, and without condition")


def three_clusters_vanish() -> Counterexample:
    """DEC, Appendix E: of the rows that descend from one with three clusters, one has three.

    From four equally spaced points both rows of layer 1 have three, and no row of layer 2.

    >>> three_clusters_vanish().left, three_clusters_vanish().right
    (0, 2)
    """
    first = _children(_centred((0, 1, 2, 3)))
    second = [child for row in first for child in _children(row)]
    after, before = (sum(len(set(row)) == 3 for row in rows) for rows in (second, first))
    return differs(after, before, at="the row 0, 1, 2, 3; rows of three clusters, layers 2 and 1")


def a_kind_is_missing() -> Counterexample:
    """DEC, below (71): A, B, C, D are positive; no row of layer 1 has one point beside all others.

    >>> a_kind_is_missing().right
    0
    """
    values = (0, 1, 2, 3, 4)
    rows = _children(_centred(values))
    uneven = [row for row in rows if len(set(row)) == 2 and row.count(min(row)) == 1]
    stable = {"three clusters at most": all(len(set(row)) <= 3 for row in rows)}
    return exceeds(1, len(uneven), at=f"{_told(values)}, layer 1, rows split after 1", given=stable)


def no_odd_point(squares: Sequence[int] = (4, 5, 6), layers: int = 300) -> Counterexample:
    """DEC, Section 3.1: one point ends far away; orthogonal points here end with one length.

    At infinite width. Left is the least length over the largest, right ``1/(0.6 (n - 1))``.

    >>> no_odd_point(layers=20).right
    Fraction(5, 6)
    """
    n = len(squares)
    with ctx.workprec(100 + 8 * layers):
        gram = [[arb(a if i == j else 0) for j in range(n)] for i, a in enumerate(squares)]
        lengths = [row[i].sqrt() for i, row in enumerate(_wide(gram, layers))]
    shares = [a / b for a in lengths for b in lengths]
    least = min(shares, key=lambda share: float(share.mid()))
    at = f"{n} orthogonal points, squared lengths {squares}, infinite width, layer {layers}"
    return exceeds(least, 1 / (Fraction(3, 5) * (n - 1)), at=at)


def an_open_cluster(n: int = 7, layers: int = 200) -> Counterexample:
    """DEC, Section 3.1: the points but one collapse to one direction; right is one degree.

    At infinite width from an odd point of length 1 and others of length about ``1/(n - 1)``, with
    cosines of 100/101 among them.

    >>> an_open_cluster(layers=60).left > 60
    True
    """
    near, base = Fraction(101, 100), Fraction(1, (n - 1) ** 2)
    with ctx.workprec(100 + 8 * layers):
        gram = [[ball(base * (near if i == j else 1)) for j in range(n)] for i in range(n)]
        for i in range(n):
            gram[0][i] = gram[i][0] = arb(i == 0)
        after = _wide(gram, layers)
        angle = (after[1][2] / (after[1][1] * after[2][2]).sqrt()).acos() * 180 / arb.pi()
    at = f"an odd point and {n - 1} others, infinite width, layer {layers}, angle of two in degrees"
    return exceeds(angle, 1, at=at)


def the_cluster_widens(n: int = 5, off: Fraction = Fraction(1, 1000)) -> Counterexample:
    """DEC, before Theorem 14: a layer brings the batch closer to an invariant representation.

    Squared spread of the cluster over ``R^2``, where R is the distance of ``x_1`` from its centre;
    the points of the cluster are off its direction, at right angles to it and to ``x_1``.

    >>> the_cluster_widens().left > the_cluster_widens().right
    True
    """
    radius = Fraction(1, n - 1)
    points = [(Fraction(1), Fraction(0), Fraction(0))] + [
        (Fraction(0), radius, off * (2 * k - n + 2)) for k in range(n - 1)
    ]
    gram = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in points] for x in points]
    with ctx.workprec(200):
        before = _spread([[ball(g) for g in row] for row in gram])
        after = _spread(_wide([[ball(g) for g in row] for row in gram], 1))
    given = {"‖xᵢ − ν‖ < 1/n²": 0 < off * (n - 2) < Fraction(1, n**2)}
    at = f"n = {n}, infinite width, {n - 1} points of the cluster at steps of {2 * off}"
    return exceeds(after, before, at=at, given=given)


def _wide(gram: list[list[arb]], layers: int) -> list[list[arb]]:
    """The Gram matrix after layers of recentring and ReLU at infinite width (DEC Eq. 8, 111)."""
    n = len(gram)
    for _ in range(layers):
        rows = [sum(row, arb(0)) / n for row in gram]
        mean = sum(rows, arb(0)) / n
        c = [[gram[i][j] - rows[i] - rows[j] + mean for j in range(n)] for i in range(n)]
        lengths = [c[i][i].sqrt() for i in range(n)]
        gram = [[c[i][i] for _ in range(n)] for i in range(n)]  # K(x, x) = |x|^2
        for i, j in combinations(range(n), 2):
            rho = c[i][j] / (lengths[i] * lengths[j])
            share = ((1 - rho**2).sqrt() + (arb.pi() - rho.acos()) * rho) / arb.pi()
            gram[i][j] = gram[j][i] = lengths[i] * lengths[j] * share
        scale = gram[0][0].mid()  # changes no angle
        gram = [[g / scale for g in row] for row in gram]
    return gram


def _spread(gram: list[list[arb]]) -> arb:
    """Mean squared distance of the cluster from its centre over that of the first point."""
    others = range(1, len(gram))
    count = len(others)
    centre = sum((gram[i][j] for i in others for j in others), arb(0)) / count**2
    spread = sum((gram[i][i] for i in others), arb(0)) / count - centre
    return spread / (gram[0][0] - 2 * sum((gram[0][i] for i in others), arb(0)) / count + centre)


def gain_at_the_invariant() -> Identity:
    """DEC, Appendix F: the gains of Theorems 13 and 14 are one at an invariant representation.

    ``n^2 / ((n - 1)^2 R^2) = n^2 / (n^2 - 2n + 2)`` with ``R^2 = 1 + 1/(n - 1)^2``.

    >>> gain_at_the_invariant().symbols
    ('n',)
    """
    n = sympy.Symbol("n")
    squared_radius = 1 + 1 / (n - 1) ** 2
    return prove_identity(n**2 / ((n - 1) ** 2 * squared_radius), n**2 / (n**2 - 2 * n + 2))


def weaker_exponent() -> list[Identity]:
    """DEC (7b) is weaker than (7a): ``a - 1 - log a`` is at most the other exponent, for a > 1.

    That one is ``(a/g - 1) log((a - g)/(1 - g)) - (a/g) log a``. Their difference is 0 at a = 1, as
    is its slope, and it is convex: its second derivative is ``g / (a^2 (a - g))``.

    >>> len(weaker_exponent())
    3
    """
    a, g = sympy.symbols("a g", positive=True)
    sharp = (a / g - 1) * sympy.log((a - g) / (1 - g)) - a / g * sympy.log(a)
    difference = sharp - (a - 1 - sympy.log(a))
    slope = difference.diff(a)
    return [
        prove_identity(difference.subs(a, 1), sympy.S.Zero),
        prove_identity(slope.subs(a, 1), sympy.S.Zero),
        prove_identity(slope.diff(a), g / (a**2 * (a - g))),
    ]


def rows_for_two_points() -> list[Proof]:
    """DEC Theorem 3 for two points in the plane, at every angle: ``gamma E y <= 2``, and sharper.

    Half-planes of two points cut the circle into arcs of the volumes ``p, q, p, q``, with ``q`` the
    rest of a half, for rows that see one point, both, the other, none. Full rank takes a first row
    that sees any, and then one that sees both or the other point; after a row that sees both, any
    row will do that sees a point. So ``E y = (1 + q/h + 4p) / h`` with ``h = 1 - q``, and gamma is
    the lesser of p and q. The sharper bound is ``2 + 1/(2 gamma)``.

    >>> len(rows_for_two_points())
    4
    """

    def scaled(p: arb, gamma: arb) -> arb:
        q = arb(0.5) - p
        return gamma * (1 + q / (1 - q) + 4 * p) / (1 - q)

    def gamma(p: arb) -> arb:
        return p.min(arb(0.5) - p)

    rooms = [
        lambda p: 2 - scaled(p, gamma(p)),
        lambda p: 2 * gamma(p) + arb(0.5) - scaled(p, gamma(p)),
    ]
    halves = [(0, 0.25), (0.25, 0.5)]
    return [prove_positive(room, [half]) for room in rooms for half in halves]


def one_of_two_ends() -> Identity:
    """DEC (51) and (52): one of two squared ratios is at most ``2 / ((n - 1)^2 + 1)``.

    They are ``(1 + r) / ((n - 1)^2 + r)`` with ``r = S_2 / S_1``, and the same of 1/r. Their
    inverses sum to ``(n - 1)^2 + 1``, so that one of them is at least half of that.

    >>> one_of_two_ends().symbols
    ('n', 'r')
    """
    n, r = sympy.symbols("n r", positive=True)
    inverses = [((n - 1) ** 2 + s) / (1 + s) for s in (r, 1 / r)]
    return prove_identity(sum(inverses), (n - 1) ** 2 + 1)


def branch(values: Sequence[int], signs: Sequence[int]) -> list[Row]:
    """Return the centred row and what steps of these signs make of it, layer by layer.

    >>> [list(map(int, row)) for row in branch((0, 1, 5), (1, -1))]
    [[-2, -1, 3], [0, 0, 3], [1, 1, 0]]
    """
    rows = [_centred(values)]
    for sign in signs:
        mean = _mean(rows[-1])
        rows.append([max(sign * (value - mean), Fraction(0)) for value in rows[-1]])
    return rows


def _children(row: Row) -> list[Row]:
    mean = _mean(row)
    return [[max(s * (value - mean), Fraction(0)) for value in row] for s in (1, -1)]


def _told(values: Sequence[int]) -> str:
    return f"the row {', '.join(map(str, values))}".replace("-", "−")


def _centred(values: Sequence[int]) -> Row:
    row = [Fraction(value) for value in values]
    return [value - _mean(row) for value in row]


def _mean(row: Row) -> Fraction:
    return sum(row, Fraction(0)) / len(row)


def _mean_of_relu(variance: arb) -> arb:
    """``E ReLU(x)`` of a Gaussian with mean 0."""
    return (variance / (2 * arb.pi())).sqrt()


def _unmerged(rows: Sequence[Row]) -> dict[str, bool]:
    counts = {len(set(row)) for row in rows}
    return {"more than three clusters, none of which merge": len(counts) == 1 and min(counts) > 3}
