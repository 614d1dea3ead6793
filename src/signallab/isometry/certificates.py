"""Counterexamples to statements of ISO in exact fractions, one function a statement.

The isometry is ``det(M)^(1/n) / (tr(M)/n)``. For two by two matrices its square is rational.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from signalprop.certify import Counterexample, differs, exceeds, reaches

__all__ = [
    "a_multiple_of_the_identity",
    "centred_samples",
    "dimension_for_samples",
    "last_equals_sign",
    "recentred_features",
    "samples_for_features",
    "squared_isometry",
]

Matrix = Sequence[Sequence[Fraction | int]]


def squared_isometry(m: Matrix) -> Fraction:
    """Return the squared isometry of a two by two matrix.

    >>> squared_isometry([[1, 0], [0, 4]])
    Fraction(16, 25)
    """
    (a, b), (c, d) = m
    return Fraction(a * d - b * c) / (Fraction(a + d) / 2) ** 2


def a_multiple_of_the_identity() -> Counterexample:
    """ISO Lemma 4.2, item 3: the isometry is less than 1 but for the identity.

    >>> a_multiple_of_the_identity().left
    Fraction(1, 1)
    """
    return reaches(squared_isometry([[2, 0], [0, 2]]), 1, at="2 I₂, the squared isometry")


def dimension_for_samples(lengths: Sequence[int] = (1, 2), d: int = 4) -> Counterexample:
    """ISO Eq. 4.6: the sum of squares is divided by d, where (4.5) divides by n.

    >>> dimension_for_samples().left, dimension_for_samples().right
    (Fraction(5, 4), Fraction(5, 8))
    """
    return differs(
        _gain(lengths, len(lengths)), _gain(lengths, d), at=f"lengths {lengths}, d = {d}"
    )


def last_equals_sign(lengths: Sequence[int] = (1, 2)) -> Counterexample:
    """ISO Eq. 4.7: the gain is ``1 + variance / mean^2`` of the lengths.

    >>> last_equals_sign().left, last_equals_sign().right
    (Fraction(5, 4), Fraction(10, 9))
    """
    n = len(lengths)
    right = _bound([Fraction(a) for a in lengths], Fraction(sum(lengths), n))
    return differs(_gain(lengths, n), right, at=f"lengths {lengths}")


def centred_samples() -> Counterexample:
    """ISO Corollary 4.4 with the mean of the coordinates taken off: isometry does not fall.

    Squared isometries; the two unit vectors have equal lengths, so that the factor is 1.

    >>> centred_samples().right
    Fraction(0, 1)
    """
    samples = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]
    centred = [_centred(sample) for sample in samples]
    left, right = (squared_isometry(_gram(x)) for x in (samples, centred))
    return exceeds(left, right, at="the two unit vectors of the plane, squared isometries")


def samples_for_features(n: int = 4) -> Counterexample:
    """ISO Corollary 4.5, without mean reduction: the printed mean divides d lengths by n.

    Two orthonormal features of n samples, which batch normalization scales alike.

    >>> samples_for_features().left, samples_for_features().right
    (Fraction(2, 1), Fraction(1, 1))
    """
    features = [[Fraction(i == j) for j in range(n)] for i in range(2)]
    lengths = [Fraction(1), Fraction(1)]
    before = squared_isometry(_gram(features))
    left = before * _bound(lengths, Fraction(2, n))
    given = {"isometry 1": before == 1, "lengths 1": [_product(x, x) for x in features] == lengths}
    return exceeds(left, before, at=f"two orthonormal features of {n} samples", given=given)


def recentred_features() -> Counterexample:
    """ISO Corollary 4.5 with mean reduction, the mean of lengths mended; squared isometries.

    Features of equal lengths, which are opposite once their means are off.

    >>> recentred_features().left, recentred_features().right
    (Fraction(8, 9), Fraction(0, 1))
    """
    features = [[Fraction(x) for x in row] for row in ((2, 1, 1), (-2, 1, 1))]
    after = [_centred(x) for x in features]
    lengths = [_product(x, x) for x in after]
    given = {
        "no feature is constant": min(lengths) > 0,
        "equal lengths": _product(features[0], features[0]) == _product(features[1], features[1]),
    }
    # what is 0 stays 0 whatever the features are divided by
    left, right = squared_isometry(_gram(features)), squared_isometry(_gram(after))
    return exceeds(
        left, right, at="features (2, 1, 1), (−2, 1, 1), squared isometries", given=given
    )


def _gain(lengths: Sequence[int], divisor: int) -> Fraction:
    """The mean square of two lengths, with this divisor, over the geometric mean of squares."""
    if len(lengths) != 2:
        raise ValueError(f"lengths must be two, got {lengths}")
    return Fraction(sum(a**2 for a in lengths), divisor) / math.prod(lengths)


def _bound(lengths: Sequence[Fraction], mean: Fraction) -> Fraction:
    return 1 + sum(((a - mean) ** 2 for a in lengths), Fraction(0)) / len(lengths) / mean**2


def _centred(x: Sequence[Fraction]) -> list[Fraction]:
    mean = sum(x, Fraction(0)) / len(x)
    return [value - mean for value in x]


def _product(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def _gram(rows: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    return [[_product(x, y) for y in rows] for x in rows]
