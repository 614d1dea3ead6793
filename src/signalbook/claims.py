"""Verdicts made by code from numbers.

A *check* compares what was measured with what was printed, under a tolerance fixed beforehand. A
*claim* binds checks to an inventory ID and turns them into one of seven verdicts. A *report* shows
claims in the page and leaves them there as data, from which the ledger is collected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from signalbook.outputs import CLAIMS
from signalbook.settle import VERDICTS
from signalbook.words import plain, show

__all__ = [
    "VERDICTS",
    "Check",
    "Claim",
    "Instead",
    "Report",
    "bound",
    "existence",
    "identity",
    "level",
    "limit",
    "ordering",
    "rate",
    "report",
]

Kind = Literal["identity", "bound", "rate", "level", "ordering", "limit", "existence"]


@dataclass(frozen=True)
class Check:
    """One comparison: ``passed`` was computed from the numbers beside it.

    ``error`` is the probability that a true statement fails this check by bad luck; 0 where no
    sampling is involved.
    """

    kind: Kind
    passed: bool
    measured: Any
    published: Any
    tolerance: Any
    reason: str
    interval: Any = None
    error: float = 0.0

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("reason must say why this tolerance, got an empty string")
        if not 0 <= self.error < 1:
            raise ValueError(f"error must be a probability in [0, 1), got {self.error!r}")


def identity(left: Any, right: Any, *, tolerance: float, reason: str, error: float = 0.0) -> Check:
    """Both sides agree entry by entry: the largest difference is at most ``tolerance``.

    >>> identity([1.0, 2.0], [1.0, 2.0 + 1e-14], tolerance=1e-12, reason="rounding").passed
    True
    """
    left, right = np.broadcast_arrays(_numbers(left, "left"), _numbers(right, "right"))
    worst = float(np.max(np.abs(left - right)))
    return Check("identity", worst <= tolerance, worst, 0.0, tolerance, reason, error=error)


def bound(
    left: Any, right: Any, *, reason: str, tolerance: float = 0.0, error: float = 0.0
) -> Check:
    """``left <= right`` everywhere, up to an absolute ``tolerance`` (rounding, sampling).

    ``measured`` is the largest ``left / right``, the tightness of the bound, over the entries with
    a positive right side; if there is none, the largest ``left - right``, published as 0.

    >>> bound([1.0, 2.0], [2.0, 2.5], reason="exact arithmetic").measured
    0.8
    """
    left, right = np.broadcast_arrays(_numbers(left, "left"), _numbers(right, "right"))
    positive = right > 0
    with np.errstate(over="ignore"):  # a ratio to next to nothing may be infinite
        measures = left[positive] / right[positive] if positive.any() else left - right
    published = 1.0 if positive.any() else 0.0
    passed = bool(np.all(left <= right + tolerance))
    worst = float(np.max(measures))
    return Check("bound", passed, worst, published, tolerance, reason, error=error)


def level(
    measured: float,
    published: float,
    *,
    tolerance: float,
    reason: str,
    interval: Sequence[float] | None = None,
    error: float = 0.0,
) -> Check:
    """A value: measured and published differ by at most ``tolerance``.

    >>> level(-0.47, -0.46, tolerance=0.035, reason="printed with two digits").passed
    True
    """
    return _near("level", measured, published, tolerance, reason, interval, error)


def rate(
    measured: float,
    published: float,
    *,
    tolerance: float,
    reason: str,
    interval: Sequence[float] | None = None,
    error: float = 0.0,
) -> Check:
    """An exponent or rate: as :func:`level`, of another kind."""
    return _near("rate", measured, published, tolerance, reason, interval, error)


def ordering(
    values: Mapping[str, float], *, reason: str, gap: float = 0.0, error: float = 0.0
) -> Check:
    """The named values increase in the order given, each step by more than ``gap``.

    >>> ordering({"with BN": 0.2, "without": 0.9}, reason="exact").passed
    True
    """
    if len(values) < 2:
        raise ValueError(f"values must name at least two numbers to order, got {len(values)}")
    numbers = _numbers(list(values.values()), "values")
    passed = bool(np.all(np.diff(numbers) > gap))
    return Check("ordering", passed, dict(values), " < ".join(values), gap, reason, error=error)


def limit(
    values: Any, target: float, *, tolerance: float, reason: str, error: float = 0.0
) -> Check:
    """A sequence approaches ``target``: its end lies within ``tolerance``, nearer than its start.

    Finite evidence for an asymptotic statement: a claim that rests on it is `illustrated`.

    >>> limit([0.5, 0.25, 0.01], 0.0, tolerance=0.05, reason="").passed
    Traceback (most recent call last):
    ...
    ValueError: reason must say why this tolerance, got an empty string
    """
    distance = np.abs(_numbers(values, "values") - target)
    if distance.size < 2:
        raise ValueError(f"values must hold at least two terms, got {distance.size}")
    passed = bool(distance[-1] <= tolerance and distance[-1] <= distance[0])
    return Check("limit", passed, float(distance[-1]), 0.0, tolerance, reason, error=error)


def existence(witness: Any, holds: bool, *, reason: str, error: float = 0.0) -> Check:
    """Something exists: ``witness`` is it, and ``holds`` was computed from it."""
    return Check("existence", bool(holds), witness, "exists", None, reason, error=error)


@dataclass(frozen=True)
class Instead:
    """A statement that replaces a printed one: its repair, or a sharper form of it."""

    statement: str
    check: Check


@dataclass(frozen=True)
class Claim:
    """An inventory ID (or a part of it), what it says, and the check that decides.

    - ``instead`` repairs a statement that fails, or sharpens one that holds;
    - ``counterexample`` is explicit and comes with a failing statement;
    - ``readings`` are the checks of each way to read a text that leaves it open;
    - ``scale`` says what a run must reach before the check decides; ``at_scale`` whether it did;
    - ``in_proof`` marks a display of a proof: a slip there goes to the errata, but the verdict of
      the ID is that of the statement.
    """

    id: str
    statement: str
    check: Check
    instead: Instead | None = None
    counterexample: str = ""
    readings: Mapping[str, Check] = field(default_factory=dict)
    scale: str = ""
    at_scale: bool = True
    in_proof: bool = False

    @property
    def verdict(self) -> str:
        """One of ``VERDICTS``, decided by the checks alone."""
        if not self.at_scale:
            return "not run at this scale"
        if self.readings:
            return "open choice"
        repaired = self.instead is not None and self.instead.check.passed
        if not self.check.passed:
            return "fails as printed" if repaired and self.counterexample else "not reproduced"
        if self.check.kind == "limit":
            return "illustrated"
        return "holds with slack" if repaired else "holds"

    def as_data(self) -> dict[str, Any]:
        """The claim as plain JSON types."""
        instead = self.instead
        found = f"{self.statement} Measured: {show(self.check.measured)}."
        return {
            "id": self.id,
            "verdict": self.verdict,
            "found": found,
            **_check_data(self.check),
            "measured": f"{show(self.check.measured)} against {show(self.check.published)}",
            "counterexample": None,
            "repair": instead.statement if instead else "",
            "in_proof": "a display" if self.in_proof else "",
            "about": "",
            "modelled": True,
        }


@dataclass(frozen=True)
class Report:
    """Claims as a page shows them (a table) and as the ledger reads them (data)."""

    claims: tuple[Claim, ...]

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        data = [claim.as_data() for claim in self.claims]
        return {CLAIMS: data, "text/plain": self._text()}

    def _text(self) -> str:
        return "\n".join(f"{claim.id}: {claim.verdict}" for claim in self.claims)


def report(*claims: Claim) -> Report:
    """Show the claims; as the last line of a cell it leaves them in the ledger."""
    return Report(claims)


def _near(
    kind: Kind,
    measured: float,
    published: float,
    tolerance: float,
    reason: str,
    interval: Sequence[float] | None,
    error: float,
) -> Check:
    value = float(_numbers(measured, "measured"))
    passed = abs(value - published) <= tolerance
    return Check(kind, passed, value, published, tolerance, reason, interval, error)


def _numbers(value: Any, name: str) -> Any:
    """``value`` as a float array without NaN: a comparison with NaN would decide nothing."""
    numbers = np.asarray(value, dtype=float)
    if numbers.size == 0 or np.isnan(numbers).any():
        raise ValueError(f"{name} must hold numbers and no NaN, got {value!r}")
    return numbers


def _check_data(check: Check) -> dict[str, Any]:
    names = ("kind", "passed", "published", "measured", "interval", "tolerance", "reason", "error")
    return {name: plain(getattr(check, name)) for name in names}
