"""Inequalities proved on whole boxes, by subdivision."""

from __future__ import annotations

import heapq
import itertools
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

__all__ = ["Box", "NotProved", "Proof", "Refuted", "prove_digits", "prove_positive", "signs"]

#: A product of closed intervals, by their exact ends.
Box = tuple[tuple[fmpq, fmpq], ...]


@dataclass(frozen=True)
class Proof:
    """That a function is positive on a box: ``margin`` is a proven lower bound of its minimum.

    >>> 0 < prove_positive(lambda x: x + 1, [(0, 1)]).margin <= 1
    True
    """

    boxes: int
    margin: float
    seconds: float


class Refuted(ArithmeticError):
    """The function is negative, or 0, at ``point``: ``value`` encloses it there.

    >>> try:
    ...     prove_positive(lambda x: x - 1, [(0, 4)])
    ... except Refuted as failure:
    ...     print(failure.point)
    (Fraction(1, 1),)
    """

    def __init__(self, point: tuple[Fraction, ...], value: arb) -> None:
        super().__init__(f"not positive at ({', '.join(map(str, point))}): {value}")
        self.point, self.value = point, value


class NotProved(ArithmeticError):
    """Neither proved nor refuted within the budget: ``worst`` is the box with the least bound.

    >>> try:
    ...     prove_positive(lambda x: x**2, [(-2, 1)], budget=9)
    ... except NotProved as failure:
    ...     print(str(failure)[:24])
    not proved with 9 boxes:
    """

    def __init__(self, worst: Box, value: arb, boxes: int) -> None:
        ends = ", ".join(f"[{float(a):.6g}, {float(b):.6g}]" for a, b in worst)
        super().__init__(f"not proved with {boxes} boxes: on {ends} there is only {value}")
        self.worst, self.value = worst, value


def prove_positive(
    f: Callable[..., arb],
    box: Sequence[tuple[float | Fraction, float | Fraction]],
    budget: int = 100_000,
    *,
    progress: bool = False,
) -> Proof:
    """Prove ``f > 0`` on a closed box by halving it until every part has a positive enclosure.

    f takes one ball for each side of the box and returns an enclosure of its values there. The
    part with the least lower bound is halved first, along its longest side, so that a point at
    which f is not positive is found early (:class:`Refuted`) and a budget spent in vain ends with
    the part that resists (:class:`NotProved`). A function that vanishes on the box cannot be
    proved positive: divide its zero out. With ``progress`` a line on stderr tells how far it is.
    Arb has no power of a ball whose midpoint is 0: ``x**2`` is NaN there, which proves nothing and
    costs a halving; ``x * x`` is not.

    >>> prove_positive(lambda x: 1 - x * (1 - x), [(0, 1)]).boxes < 20
    True
    """
    whole = _exact(box)
    started, told = time.perf_counter(), 0.0
    order = itertools.count()  # between equal bounds the older part goes first
    value = f(*_balls(whole))
    parts = [(_bound(value), next(order), whole, value)]
    while not parts[0][0] > 0:
        _, _, worst, value = heapq.heappop(parts)
        centre = tuple((a + b) / 2 for a, b in worst)
        there = f(*map(arb, centre))
        if there <= 0:
            raise Refuted(tuple(Fraction(int(c.p), int(c.q)) for c in centre), there)
        if len(parts) + 1 >= budget or not _divisible(worst):
            raise NotProved(worst, value, len(parts) + 1)
        for half in _halves(worst):
            value = f(*_balls(half))
            heapq.heappush(parts, (_bound(value), next(order), half, value))
        if progress and time.perf_counter() - told > 1:
            told = time.perf_counter()
            print(f"{len(parts)} boxes, least bound {parts[0][0]:.3g}", file=sys.stderr)
    return Proof(len(parts), parts[0][0], time.perf_counter() - started)


def prove_digits(value: arb, printed: str) -> Proof:
    """Prove that a number is what is printed, to half a unit of the last printed digit.

    The margin is the distance from the nearer end, in units of that digit.

    >>> prove_digits(arb.pi(), "3.1416").boxes
    1
    >>> prove_digits(arb(3), "3.1")
    Traceback (most recent call last):
    ArithmeticError: not proved to round to 3.1: 3.00000000000000
    """
    if not re.fullmatch(r"[+-]?[0-9]+(\.[0-9]*)?", printed):
        raise ValueError(f"printed must be a decimal such as '-1.05', got {printed!r}")
    started = time.perf_counter()
    unit = Fraction(1, 10 ** len(printed.partition(".")[2]))
    centre = Fraction(printed) / unit
    off = abs(
        value / arb(fmpq(unit.numerator, unit.denominator)) - arb(fmpq(*centre.as_integer_ratio()))
    )
    margin = _bound(arb(0.5) - off)
    if not margin > 0:
        raise ArithmeticError(f"not proved to round to {printed}: {value}")
    return Proof(1, margin, time.perf_counter() - started)


def signs(
    f: Callable[..., arb],
    box: Sequence[tuple[float | Fraction, float | Fraction]],
    size: float,
) -> Iterator[tuple[Box, int]]:
    """Divide a box into parts on which f has a proven sign, 1 or -1, down to a size; 0: undecided.

    Sides are compared with those of the whole box, so that ``size`` is a share of them.

    >>> [sign for _, sign in signs(lambda x: x - arb("0.3"), [(0, 1)], 0.3)]
    [-1, 0, 1]
    """
    if not size > 0:
        raise ValueError(f"size must be positive, got {size}")
    whole = _exact(box)
    waiting = [whole]
    while waiting:
        part = waiting.pop()
        value = f(*_balls(part))
        sign = 1 if value > 0 else -1 if value < 0 else 0
        shares = [(b - a) / (d - c) for (a, b), (c, d) in zip(part, whole, strict=True)]
        if sign or max(map(float, shares)) <= size:
            yield part, sign
        else:
            waiting.extend(reversed(_halves(part, shares)))


def _exact(box: Sequence[tuple[float | Fraction, float | Fraction]]) -> Box:
    if not box or any(not -math.inf < a < b < math.inf for a, b in box):
        raise ValueError(f"box must be a sequence of intervals (a, b) with a < b, got {box}")
    ends = tuple((Fraction(a), Fraction(b)) for a, b in box)
    rational = [fmpq(x.numerator, x.denominator) for side in ends for x in side]
    return tuple(zip(rational[::2], rational[1::2], strict=True))


def _balls(box: Box) -> list[arb]:
    return [arb(a).union(arb(b)) for a, b in box]


def _bound(value: arb) -> float:
    """A double below the ball; minus infinity where nothing is known."""
    lower = float(value.lower()) if value.is_finite() else -float("inf")
    lower = min(lower, sys.float_info.max)  # beyond it, infinity less infinity is no number
    return lower - abs(lower) * 2**-50


def _divisible(box: Box) -> bool:
    return any(float((b - a) / (1 + abs(a))) > 2**-48 for a, b in box)


def _halves(box: Box, shares: Sequence[fmpq] | None = None) -> list[Box]:
    lengths = [b - a for a, b in box] if shares is None else shares
    side = max(range(len(box)), key=lambda i: lengths[i])
    a, b = box[side]
    middle = (a + b) / 2
    return [(*box[:side], part, *box[side + 1 :]) for part in ((a, middle), (middle, b))]
