"""RANK Lemma 7 where the average over all layers is known: a chain that a layer freezes, in balls.

The activation is 0 up to a threshold, and then rises to 1. From a start of rank one a single entry
of each row is above the threshold. Weights that pull it below make all later activations 0, so that
the chain stays where it is, whatever its later weights; then the average over the layers tends to
the moment of that layer.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from signalprop.certify import Counterexample, ball, differs

__all__ = ["average_is_no_sign", "next_row", "staircase"]

THRESHOLD, STEEP = Fraction(247, 200), 200
ROW = (Fraction(31, 25), Fraction(17, 25))  # of norm sqrt 2, both rows at the start
GAMMA = Fraction(1, 16)  # 1/(8 B d) for B = 1 and d = 2
#: Between which ends the two weights of a row lie, for the first row and for the second.
Pulls = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]
PULLS: Pulls = (
    (Fraction(-3, 2), Fraction(-5, 4)),
    (Fraction(-3, 8), Fraction(-1, 4)),
)


def staircase(x: arb) -> arb:
    """Return the activation: odd, 0 up to the threshold, then a steep line up to 1.

    It is continuous, and ``|F(x)| <= |x|`` as the threshold is above 1.

    >>> staircase(arb("1.25")).contains(1), staircase(arb(-2)).contains(-1), staircase(arb("1.2"))
    (True, True, 0)
    """
    size = (STEEP * (abs(x) - ball(THRESHOLD))).max(arb(0)).min(arb(1))
    return size * x.sgn()


def next_row(pull: tuple[Fraction, Fraction]) -> tuple[arb, arb]:
    """Return a row after a layer, not normalized, for all weights of that row between two ends.

    >>> moved, kept = next_row((Fraction(-1), Fraction(-1)))
    >>> round(float(moved), 9), round(float(kept), 9)    # by twice a sixteenth
    (1.115, 0.68)
    """
    weight = ball(pull[0]).union(ball(pull[1]))
    first, second = (ball(x) + ball(GAMMA) * 2 * weight * staircase(ball(x)) for x in ROW)
    return first, second


def average_is_no_sign(pulls: Pulls = PULLS) -> Counterexample:
    """RANK Lemma 7: from rank one the average of ``M_12`` over the layers tends to 1 or -1.

    The first layer is the start, if the input is half of it: all its activations are 0. Both sides
    are squared. The limit is the moment after one layer more: the cosine of two rows, whose square
    is 1 less that of their determinant over their lengths. With the length sqrt 2 a row has the
    entries ``sqrt 2 / sqrt(1 + t^2)``, where t is the other entry over this one.

    >>> bool(average_is_no_sign().left < 0.999)
    True
    """
    (a, b), (c, d) = rows = [next_row(pull) for pull in pulls]
    square = 1 - (a * d - b * c) ** 2 / ((a * a + b * b) * (c * c + d * d))
    entries = [(2 / (1 + (y / x) ** 2)).sqrt() for x, y in rows]
    entries += [(2 / (1 + (x / y) ** 2)).sqrt() for x, y in rows]
    given = {
        "|F(x)| ≤ |x|, so B = 1": THRESHOLD >= 1,
        "γ ≤ 1/(8Bd)": Fraction(1, 8 * len(rows)) >= GAMMA,
        "rows of norm √N at the start": sum(x * x for x in ROW) == len(ROW),
        "weights within ±√3": all(w * w <= 3 for pull in pulls for w in pull),
        "F(H) = 0 after that layer, so that H stays": all(staircase(x) == 0 for x in entries),
    }
    chance = math.prod((high - low) ** 2 / 12 for low, high in pulls)
    at = (
        f"F(x) = min(max({STEEP}x − {STEEP * THRESHOLD}, 0), 1) for x ≥ 0, F odd, d = N = 2, "
        f"γ = {GAMMA}, H₁ two rows ({float(ROW[0])}, {float(ROW[1])}); with a chance of {chance} "
        "left is the square of the average of M₁₂ over all layers"
    )
    return differs(square, 1, at=at, given=given)
