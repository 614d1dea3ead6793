"""Points at which a printed comparison is false, as no rounding can explain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from flint import arb, fmpq

from signalprop.certify.functions import ball

__all__ = ["Counterexample", "Exact", "Relation", "differs", "exceeds", "reaches"]

#: What a side may be: an exact number, or a ball. A float is neither, once it has been computed.
Exact = int | Fraction | fmpq | arb
#: How a statement compares its sides: ``left <= right``, ``left < right`` or ``left = right``.
Relation = Literal["at most", "below", "equal to"]


@dataclass(frozen=True)
class Counterexample:
    """Both sides of a statement that says "left is ``relation`` right", which is false here.

    It cannot be made where the sides do not decide it: balls that overlap refute nothing. ``at``
    says in words where the point is, ``given`` holds the hypotheses with their truth there.

    >>> Counterexample(Fraction(1, 3), Fraction(1, 4), "at most", at="n = 3").exact
    True
    """

    left: Exact
    right: Exact
    relation: Relation
    at: str
    given: Mapping[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, side in {"left": self.left, "right": self.right}.items():
            if isinstance(side, bool) or not isinstance(side, Exact):
                raise ValueError(f"{name} must be an exact number or a ball, got {side!r}")
        if broken := [words for words, true in self.given.items() if not true]:
            raise ValueError(f"given must hold at the point, got {broken[0]!r}, which does not")
        if not self.at.strip():
            raise ValueError("at must say where the point is, got an empty string")
        if not _false(self.left, self.right, self.relation):
            raise ValueError(
                f"the sides must refute that left is {self.relation} right, "
                f"got {self.left} and {self.right}"
            )

    @property
    def exact(self) -> bool:
        """Whether both sides are exact numbers, so that not even balls were needed."""
        return not isinstance(self.left, arb) and not isinstance(self.right, arb)


def exceeds(
    left: Exact, right: Exact, *, at: str, given: Mapping[str, bool] | None = None
) -> Counterexample:
    """Return the counterexample to ``left <= right``, where left is larger for certain.

    >>> exceeds(arb.pi(), Fraction(22, 7) - Fraction(1, 100), at="a circle").relation
    'at most'
    """
    return Counterexample(left, right, "at most", at, given or {})


def differs(
    left: Exact, right: Exact, *, at: str, given: Mapping[str, bool] | None = None
) -> Counterexample:
    """Return the counterexample to ``left = right``, where the two differ for certain.

    >>> differs(arb(2).sqrt(), Fraction(141, 100), at="a square").relation
    'equal to'
    """
    return Counterexample(left, right, "equal to", at, given or {})


def reaches(
    left: Exact, right: Exact, *, at: str, given: Mapping[str, bool] | None = None
) -> Counterexample:
    """Return the counterexample to ``left < right``, where left is as large for certain.

    >>> reaches(Fraction(1, 2), Fraction(1, 2), at="a half").relation
    'below'
    """
    return Counterexample(left, right, "below", at, given or {})


def _false(left: Exact, right: Exact, relation: Relation) -> bool:
    """Whether the comparison is false: exactly so, or for all that the balls may hold."""
    a, b = _comparable(left), _comparable(right)
    if isinstance(a, arb) or isinstance(b, arb):
        a, b = ball(a), ball(b)
    found = {"at most": a > b, "below": a >= b, "equal to": a != b}
    return bool(found[relation])


def _comparable(side: Exact) -> fmpq | arb:
    if isinstance(side, Fraction):
        return fmpq(side.numerator, side.denominator)
    return side if isinstance(side, arb) else fmpq(side)
