"""Certificates beside claims: what was settled by numbers and is, besides, proved by machine.

:func:`settle <signalbook.settle.settle>` decides in doubles, at points. Where more is to be had, a
second call says so: :func:`certified` takes what :mod:`signalprop.certify` proved (a counterexample
in exact numbers or balls, proofs on boxes, identities for all symbols) and shows it. The claim with
the same ID, ``about`` and ``in_proof`` on the page carries it from then on: its card, the summary
box, the ledger and the errata. The build refuses a certificate without a claim, and one that says
the opposite of its claim. It refuses one that took too long as well, by the CPU time of the cell:
what takes longer is no part of the fast build, and is kept as a record.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from signalbook.outputs import CERTIFICATE
from signalbook.words import RAISED, show
from signalprop.certify import Counterexample, Exact, Identity, Proof

__all__ = ["LIMIT", "Certificate", "certified", "enclosure"]

LIMIT = 10  # seconds of CPU time that one certificate may take in a build
LONGEST = 12  # characters of a fraction that a page shows as it is
LEAST_DIGITS, MOST_DIGITS = 4, 60  # to which two sides are told apart


@dataclass
class Clock:
    """CPU seconds since the cell began, or since the certificate before in the same cell.

    Where there are no cells, nothing is measured. CPU time does not depend on what else the machine
    has to do.
    """

    began: float | None = None

    def start(self, *_: Any) -> None:
        """Begin anew: IPython calls this before each cell."""
        self.began = time.process_time()

    def lap(self) -> float | None:
        """Return the seconds, and begin anew; None where nothing is measured."""
        if self.began is None:
            return None
        seconds = time.process_time() - self.began
        self.start()
        return seconds


def _of_the_kernel() -> Clock:
    clock = Clock()
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        clock.start()
        shell.events.register("pre_run_cell", clock.start)
    return clock


clock = _of_the_kernel()


@dataclass(frozen=True)
class Certificate:
    """What a claim is certified by, as the page shows it and as the ledger reads it."""

    data: dict[str, Any] = field(repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.data[name]

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from signalbook import cards  # how a certificate is shown does not decide it

        html = cards.certificate(self.data)
        return {CERTIFICATE: self.data, "text/html": html, "text/plain": self.data["says"]}


def certified(
    id: str,
    by: Counterexample | Proof | Identity | Sequence[Proof] | Sequence[Identity],
    *,
    on: str = "",
    about: str = "",
    in_proof: str = "",
) -> Certificate:
    """Certify the claim of an ID, of the part ``about`` and the display ``in_proof`` that it names.

    ``by`` is what decides: a counterexample that was checked when it was made, or proofs. Several
    proofs count together. ``on`` says in words the set that proofs cover, which must be the whole
    set that the claim speaks of; a counterexample says itself where it is.

    ``by`` is made in the cell that calls this. In a build it may take ten seconds of CPU time.
    """
    took = _within_limit(clock.lap())
    from signalbook.inventory import rows

    if id not in rows():
        raise ValueError(f"id must be in the list of statements, got {id!r}")
    where = {"id": id, "about": about, "in_proof": in_proof}
    if isinstance(by, Counterexample):
        return Certificate(where | _timed(_refuted(by), took))
    proofs = list(by) if isinstance(by, Sequence) else [by]
    if not proofs:
        raise ValueError("by must hold at least one proof, got none")
    if not on.strip():
        raise ValueError("on must say the set on which the claim is proved, got an empty string")
    if all(isinstance(proof, Identity) for proof in proofs):
        return Certificate(where | _timed(_by_algebra(len(proofs), on), took))
    if not all(isinstance(proof, Proof) for proof in proofs):
        raise ValueError(f"by must hold proofs of one kind, got {by!r}")
    held = _proved([p for p in proofs if isinstance(p, Proof)], on)
    return Certificate(where | _timed(held, took))


def enclosure(side: Exact, digits: int) -> str:
    """Write a number so that it is certain: an exact one as it is, a ball by ends rounded outwards.

    >>> enclosure(Fraction(5, 86), 4), enclosure(arb(2).sqrt(), 4), enclosure(Fraction(1, 8), 4)
    ('exactly 5/86', 'in [1.414, 1.415]', 'exactly 0.125')
    """
    low, high = _ends(side)
    least, most = _rounded(low, digits, ROUND_FLOOR), _rounded(high, digits, ROUND_CEILING)
    if low == high:
        if least == most:
            return f"exactly {_written(least.normalize())}"
        if len(str(low)) <= LONGEST:
            return f"exactly {str(low).replace('-', '−')}"
    return f"in [{_written(least)}, {_written(most)}]"


def _refuted(found: Counterexample) -> dict[str, Any]:
    left, right = _told_apart(found.left, found.right)
    sign = {"at most": "≤", "below": "<", "equal to": "="}[found.relation]
    by = "exact numbers" if found.exact else "ball arithmetic"
    return {
        "kind": "counterexample",
        "left": left,
        "right": right,
        "at": found.at,
        "given": list(found.given),
        "by": by,
        "says": f"left {left}, right {right}, printed: left {sign} right, at {found.at}, by {by}",
    }


def _proved(proofs: Sequence[Proof], on: str) -> dict[str, Any]:
    boxes = sum(proof.boxes for proof in proofs)
    margin = min(proof.margin for proof in proofs)
    least = f"least margin {show(margin, 3)}"
    counted = "one box" if boxes == 1 else f"{boxes} boxes"
    return {
        "kind": "proof",
        "boxes": boxes,
        "margin": margin,
        "on": on,
        "says": f"proved on {on}: {counted}, {least}, ball arithmetic",
    }


def _by_algebra(count: int, on: str) -> dict[str, Any]:
    counted = "one identity" if count == 1 else f"{count} identities"
    says = f"proved for {on}: {counted}, computer algebra"
    return {"kind": "proof", "identities": count, "on": on, "says": says}


def _within_limit(seconds: float | None) -> float | None:
    """The CPU seconds of a certificate, if it did not take too many of them."""
    if seconds is not None and seconds > LIMIT:
        raise ValueError(
            f"a certificate may take {LIMIT} s of CPU time, got {seconds:.1f} s: make it cheaper, "
            "in a cell of its own, or keep what it finds as a record"
        )
    return seconds


def _timed(held: dict[str, Any], seconds: float | None) -> dict[str, Any]:
    """What a certificate holds with its CPU seconds, coarse enough to be the same in each build."""
    if seconds is None:
        return held
    most = next(limit for limit in (1, 5, LIMIT) if seconds <= limit)
    return {**held, "seconds": most, "says": f"{held['says']}, at most {most} s of CPU time"}


def _told_apart(left: Exact, right: Exact) -> tuple[str, str]:
    """Both sides with the fewest digits, four or more, that show them to be apart."""
    sides = _ends(left), _ends(right)
    for digits in range(LEAST_DIGITS, MOST_DIGITS):
        (low, high), (least, most) = (
            (_rounded(a, digits, ROUND_FLOOR), _rounded(b, digits, ROUND_CEILING)) for a, b in sides
        )
        if low > most or high < least:
            break
    else:
        digits = LEAST_DIGITS  # equal sides, which refute a strict inequality
    return enclosure(left, digits), enclosure(right, digits)


def _ends(side: Exact) -> tuple[Fraction, Fraction]:
    if isinstance(side, arb):
        low, high = (
            Fraction(int(mantissa)) * Fraction(2) ** int(power)
            for mantissa, power in (side.lower().man_exp(), side.upper().man_exp())
        )
        return low, high
    exact = Fraction(int(side.p), int(side.q)) if isinstance(side, fmpq) else Fraction(side)
    return exact, exact


def _rounded(end: Fraction, digits: int, direction: str) -> Decimal:
    context = Context(prec=digits, rounding=direction)
    return context.divide(Decimal(end.numerator), Decimal(end.denominator))


def _written(number: Decimal) -> str:
    """A decimal in full, as pages write it; without a power of ten where it is short enough.

    >>> _written(Decimal("-0.0604")), _written(Decimal("8.1485E-6"))
    ('−0.0604', '8.1485·10⁻⁶')
    """
    power = number.adjusted()
    if not number or -5 < power < 7:
        return f"{number:f}".replace("-", "−")
    mantissa = f"{number.scaleb(-power):f}".replace("-", "−")
    return f"{mantissa}·10{str(power).translate(RAISED)}"
