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
from flint import arb, fmpq

from signalprop.certify import (
    Counterexample,
    Identity,
    ball,
    differs,
    exceeds,
    prove_identity,
    reaches,
)

__all__ = [
    "a_child_loses_two_clusters",
    "a_gap_changes",
    "a_negative_bound",
    "a_point_at_the_mean",
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
    "no_uneven_split",
    "repeated_columns",
    "the_mean_grows",
    "the_sign_stays",
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


def gain_at_the_invariant() -> Identity:
    """DEC, Appendix F: the gains of Theorems 13 and 14 are one at an invariant representation.

    ``n^2 / ((n - 1)^2 R^2) = n^2 / (n^2 - 2n + 2)`` with ``R^2 = 1 + 1/(n - 1)^2``.

    >>> gain_at_the_invariant().symbols
    ('n',)
    """
    n = sympy.Symbol("n")
    squared_radius = 1 + 1 / (n - 1) ** 2
    return prove_identity(n**2 / ((n - 1) ** 2 * squared_radius), n**2 / (n**2 - 2 * n + 2))


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
