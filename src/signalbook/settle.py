"""A claim, settled where its evidence stands: one call, a verdict made by code from numbers.

:func:`settle` binds checks to an ID, whose statement stands in the project's list, puts them to
their rivals and shows a card; the ledger reads the same data. :func:`misprint` and
:func:`open_choice` are for the two kinds of finding that no computation decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from signalbook.checks import LEVEL, Check, Witness
from signalbook.outputs import CLAIMS
from signalbook.scale import reductions
from signalbook.verdicts import SEVERITIES, Severity
from signalbook.words import plain, show

__all__ = ["Card", "NoPower", "misprint", "open_choice", "settle"]


class NoPower(AssertionError):
    """A check that cannot tell its statement from a rival decides nothing."""


@dataclass(frozen=True)
class Card:
    """A settled claim as the page shows it and as the ledger reads it."""

    data: dict[str, Any] = field(repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.data[name]

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from signalbook import cards  # how a claim is shown does not decide it

        text = f"{self.data['id']}: {self.data['verdict']}\n{self.data['found']}"
        return {CLAIMS: [self.data], "text/html": cards.card(self.data), "text/plain": text}


def settle(
    id: str,
    printed: Check,
    *,
    found: str,
    rivals: Mapping[str, Any],
    undecided: Mapping[str, Any] | None = None,
    repaired: Check | None = None,
    repair: str = "",
    severity: Severity | None = None,
    seen_from: Callable[..., float] | None = None,
    size: str = "width",
    holds_at: Check | None = None,
    sharper: Check | None = None,
    sharpened: str = "",
    about: str = "",
    in_proof: str = "",
    regardless_of: Sequence[str] = (),
    needs: Check | None = None,
    numbers: Mapping[str, Any] | None = None,
) -> Card:
    """Settle an ID, or the part of it that ``about`` names; the last line of a cell.

    ``found`` is the sentence of the summary box. Numbers enter it by name: those of the check
    (``{measured}``, ``{room}``, ...), of the repair (``{repaired_measured}``), of ``sharper`` and
    ``holds_at`` likewise, ``{seen_from}``, ``{left}`` and ``{right}`` of the counterexample, and
    the author's ``numbers``.

    - ``rivals`` are put to the check that stands in the end (the sharper one, the printed one, the
      repair) and must be rejected, by more than luck; ``undecided`` names those that the data
      cannot tell from the statement;
    - where the print fails, ``repaired`` passes the same test, ``repair`` is the mended statement
      in full, ``severity`` says what kind of mend it is, and ``seen_from`` (a function of points)
      the ``size`` from which a failing point can be seen: the point with the smallest is the
      counterexample, evaluated again on its own; without it the first failing point is;
    - ``holds_at`` shows that a failing statement holds elsewhere, at the sizes in use;
    - ``sharper`` passes too and says more than the print, in the words of ``sharpened``;
    - ``in_proof`` names a display of a proof: its failure leaves the statement as it is;
    - a run whose parameters differ from the document's agrees or disagrees *at reduced scale*,
      unless the statement does not depend on those that differ: ``regardless_of`` lists them;
    - ``needs`` is what a smaller run has to show before it says anything about the statement (that
      the networks learn at all): one that does not has *not run at this scale*.
    """
    _known(id)
    if not rivals:
        raise NoPower(f"{id}: rivals must name a statement that the check rejects, got none")
    if sharper is not None and not (printed.passed and sharper.passed):
        raise NoPower(f"{id}: the sharper statement does not stand: {sharper.measured}")
    if holds_at is not None and not holds_at.passed:
        raise NoPower(f"{id}: it does not hold where it is said to: {holds_at.measured}")
    stands = sharper or (printed if printed.passed or repaired is None else repaired)
    others = [check for check in (printed, repaired, sharper, holds_at, needs) if check is not None]
    tried = {name: stands.rival(rival) for name, rival in rivals.items()}
    reduced = {n: v for n, v in reductions().items() if n not in regardless_of}
    silent = bool(reduced) and needs is not None and not needs.passed
    if stands.passed and not silent:
        _has_power(id, tried)
    verdict = _at_scale(_verdict(printed, repaired, sharper), bool(reduced), silent)
    data: dict[str, Any] = {
        "id": id,
        "about": about,
        "in_proof": in_proof,
        "verdict": verdict,
        "kind": printed.kind,
        "measured": printed.measured,
        "repair": "",
        "sharpened": sharpened,
        "sharper": sharper.measured if sharper else "",
        "slack": 1 / stands.worst if stands.kind == "bound" and 0 < stands.worst < 1 else None,
        "holds_at": holds_at.measured if holds_at else "",
        "rivals": {name: check.worst for name, check in tried.items()},
        "undecided": {name: stands.rival(r).worst for name, r in (undecided or {}).items()},
        "reduced": reduced,
        "needs": needs.measured if needs else "",
        "error": _error(others, tried.values()),
        "modelled": all(check.error is not None for check in others),
        "seen_from": None,
        "counterexample": None,
    }
    if not silent and not printed.passed and repaired is not None and repaired.passed:
        if printed.escape is not None and printed.escape > LEVEL:
            raise NoPower(
                f"{id}: chance may explain the failure (probability {printed.escape:.2g}): take "
                f"more runs. {printed.measured}"
            )
        if severity not in SEVERITIES or not repair:
            raise NoPower(f"{id} fails: say repair= and severity= (one of {', '.join(SEVERITIES)})")
        witness, size_seen = _counterexample(printed, seen_from)
        data |= {"severity": severity, "repair": repair, "repaired": repaired.measured}
        data |= {"counterexample": vars(witness), "seen_from": size_seen, "size": size}
    names = _named(printed, repaired=repaired, sharper=sharper, holds=holds_at)
    names |= {name: show(value, 3) for name, value in (numbers or {}).items()}
    names |= {"seen_from": show(data["seen_from"], 2)} if data["seen_from"] else {}
    if data["counterexample"]:
        names |= {side: show(data["counterexample"][side]) for side in ("left", "right")}
    return Card(plain({**data, "found": _filled(found, names)}))


def misprint(
    id: str,
    *,
    where: str,
    printed: str,
    should: str,
    because: str,
    about: str = "",
    in_proof: bool = False,
) -> Card:
    """A slip of print that the text around it corrects: argued, not computed, and it says so.

    A statement that has one is a *misprint*, also where it holds once the slip is mended. A slip
    ``in_proof``, or elsewhere in the text around the statement, leaves the statement as it is.

    >>> misprint(
    ...     "ORTH-Tab2", where="Table 2", printed="(4)", should="(1)", because="(4) is a bound"
    ... )["verdict"]
    'misprint'
    """
    _known(id)
    argued = {"where": where, "printed": printed, "should": should, "because": because}
    if empty := [name for name, text in argued.items() if not text.strip()]:
        raise ValueError(f"{empty[0]} must not be empty")
    found = f"{where}: printed is {printed}; it should be {should}."
    told = {"id": id, "about": about, "in_proof": where if in_proof else "", "found": found}
    return Card({**told, "verdict": "misprint", **argued})


def open_choice(
    id: str,
    readings: Mapping[str, Check],
    *,
    found: str,
    rivals: Mapping[str, Any],
    about: str = "",
    numbers: Mapping[str, Any] | None = None,
) -> Card:
    """A text that leaves something open: every reading is tested, none is chosen.

    ``rivals`` are put to every reading that passes. Where none passes, there is nothing to choose:
    the statement is not reproduced, whichever way it is read. A failed check with a passing repair
    is no open choice: that is :func:`settle` with ``repaired``.
    """
    _known(id)
    if len(readings) < 2:
        raise ValueError(f"readings must name at least two ways to read, got {len(readings)}")
    tried = {
        f"{name} ({reading})": check.rival(rival)
        for reading, check in readings.items()
        if check.passed
        for name, rival in rivals.items()
    }
    _has_power(id, tried)
    names = {name: show(value, 3) for name, value in (numbers or {}).items()}
    told = {n: {"passed": c.passed, "measured": c.measured} for n, c in readings.items()}
    none = not any(check.passed for check in readings.values())
    data = {
        "id": id,
        "about": about,
        "verdict": _at_scale("not reproduced", bool(reductions()), False)
        if none
        else "open choice",
        "found": _filled(found, names),
        "readings": told,
        "rivals": {name: check.worst for name, check in tried.items()},
        "error": _error(readings.values(), tried.values()),
        "modelled": all(check.error is not None for check in readings.values()),
    }
    return Card(plain(data))


def _known(id: str) -> None:
    from signalbook.inventory import rows

    if id not in rows():
        raise ValueError(f"id must be in the list of statements, got {id!r}")


def _verdict(printed: Check, repaired: Check | None, sharper: Check | None) -> str:
    if not printed.passed:
        return "fails as printed" if repaired is not None and repaired.passed else "not reproduced"
    if printed.kind == "limit":
        return "illustrated"
    return "holds with slack" if sharper is not None else "holds"


def _at_scale(verdict: str, reduced: bool, silent: bool) -> str:
    if silent:
        return "not run at this scale"
    if not reduced:
        return verdict
    good = verdict in ("holds", "holds with slack", "illustrated")
    return f"{'agrees' if good else 'disagrees'} at reduced scale"


def _has_power(id: str, tried: Mapping[str, Check]) -> None:
    for name, check in tried.items():
        if check.passed:
            raise NoPower(f"{id}: the check also passes for its rival {name!r}: {check.measured}")
        if check.escape is not None and check.escape > LEVEL:
            raise NoPower(
                f"{id}: only luck rejects the rival {name!r}, on another draw it passes with "
                f"probability {check.escape:.2g}: take more runs, or name it under undecided="
            )


def _error(checks: Any, rivals: Any) -> float:
    """The chance, at most, that another draw gives another outcome: the sum over all checks."""
    outcomes = [c.error if c.passed else c.escape for c in checks] + [r.escape for r in rivals]
    return float(sum(chance or 0.0 for chance in outcomes))


def _counterexample(
    check: Check, seen_from: Callable[..., float] | None
) -> tuple[Witness, float | None]:
    """The failing point that can be seen at the smallest size, evaluated again, and that size."""
    if check.witness is None or not check.failing:
        raise NoPower("a statement that fails needs a point at which it does")
    sizes = [seen_from(**point) for point in check.failing] if seen_from else [0.0]
    at = int(np.argmin(sizes))
    if not np.isfinite(sizes[at]):
        raise NoPower("the failure cannot be seen at any size: seen_from is infinite throughout")
    return check.witness(check.failing[at]), sizes[at] if seen_from else None


def _named(printed: Check, **others: Check | None) -> dict[str, str]:
    """The numbers that a sentence may quote: the printed check's, the others' with a prefix."""
    named = dict(printed.numbers)
    for prefix, check in others.items():
        if check is not None:
            named |= {f"{prefix}_{name}": number for name, number in check.numbers.items()}
    return named


def _filled(sentence: str, numbers: Mapping[str, str]) -> str:
    """Put numbers in place of ``{names}``; braces within formulas stay.

    >>> _filled("From {width} on, like $d^{-1/2}$.", {"width": "30"})
    'From 30 on, like $d^{-1/2}$.'
    """

    def number(match: re.Match[str]) -> str:
        if match[1] not in numbers:
            raise ValueError(
                f"found quotes {match[0]}, which is not there; there are: {', '.join(numbers)}"
            )
        return numbers[match[1]]

    parts = re.split(r"(\$[^$]+\$)", sentence)
    return "".join(
        part if part.startswith("$") else re.sub(r"\{(\w+)\}", number, part) for part in parts
    )
