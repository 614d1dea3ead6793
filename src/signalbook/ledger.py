"""Collect the verdicts that executed chapters left, and hold them against the declared ones."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from signalbook.cards import anchored
from signalbook.files import read_json, write
from signalbook.inventory import rows
from signalbook.keys import stale
from signalbook.outputs import claims_in
from signalbook.project import Project
from signalbook.source import Source
from signalbook.verdicts import VERDICTS

__all__ = ["Ledger", "collect"]


@dataclass(frozen=True)
class Ledger:
    """One entry an ID that has a verdict, and per chapter what is wrong with its claims."""

    entries: list[dict[str, Any]]
    problems: dict[str, list[str]] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """How many IDs have each verdict; ``still to come`` for those without one."""
        found = Counter(entry["verdict"] for entry in self.entries)
        counts = {verdict: found[verdict] for verdict in VERDICTS}
        return counts | {"still to come": len(rows()) - len(self.entries)}

    def false_alarm(self) -> float:
        """Return the probability, at most, that chance alone fails some true statement.

        By the union bound, it is the sum of what the checks state.
        """
        return float(
            sum(check.get("error", 0) for entry in self.entries for check in entry["checks"])
        )

    def of(self, chapter: str) -> list[dict[str, Any]]:
        """The entries that one chapter settles."""
        return [entry for entry in self.entries if entry["chapter"] == chapter]


def collect(project: Project) -> Ledger:
    """Read every executed chapter, write ``_build/ledger.json`` and return the ledger.

    Chapters that have not been executed (or failed) contribute nothing.
    """
    by_id: dict[str, dict[str, Any]] = {}
    problems: dict[str, list[str]] = {}
    for chapter in project.chapters:
        path = project.executed(chapter)
        if not path.is_file():
            continue
        notebook = read_json(path)
        if why := stale(project, chapter, notebook):
            problems[chapter] = [f"{why}: run `make book`"]
            continue
        entries = _entries(chapter, notebook)
        wrong = _disagreements(Source(project.source(chapter)).settles, entries)
        wrong += [
            f"{name} is settled twice, here and in {by_id[name]['chapter']}: keep one of them"
            for name in entries
            if name in by_id
        ]
        if wrong:
            problems[chapter] = wrong
        by_id = entries | by_id
    order = {name: place for place, name in enumerate(rows())}
    ledger = Ledger(sorted(by_id.values(), key=lambda e: order.get(e["id"], len(order))), problems)
    write(project.build / "ledger.json", json.dumps(ledger.entries, indent=1, sort_keys=True))
    return ledger


def _entries(chapter: str, notebook: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """One entry an ID: its claim with the worst verdict speaks, all stand under ``checks``.

    Displays of a proof have a say only where an ID has no other claims. A slip of print gives the
    verdict where nothing is worse, and leaves the word to what was computed.
    """
    key = notebook["metadata"]["made"]["key"]
    grouped: dict[str, list[dict[str, Any]]] = {}
    for claim in anchored(claims_in(notebook["cells"])):
        grouped.setdefault(claim["id"], []).append(claim)
    context = {
        "chapter": chapter,
        "profile": key["profile"],
        "parameters": key["parameters"],
        "seed": key["parameters"].get("seed"),
    }
    entries = {}
    for name, claims in grouped.items():
        deciding = [c for c in claims if not c.get("in_proof")] or claims
        verdict = max((c["verdict"] for c in deciding), key=VERDICTS.index)
        computed = [c for c in deciding if c["verdict"] != "misprint"] or deciding
        speaks = max(computed, key=lambda claim: VERDICTS.index(claim["verdict"]))
        entries[name] = speaks | context | {"verdict": verdict, "checks": claims}
    return entries


def _disagreements(settles: dict[str, str], entries: dict[str, dict[str, Any]]) -> list[str]:
    """What the front matter declares against what the run found, one sentence a difference."""
    wrong = []
    for name in dict.fromkeys([*settles, *entries]):
        expected, found = settles.get(name), entries.get(name, {}).get("verdict")
        if name not in rows():
            wrong.append(f"{name} is not in the inventory (src/signalbook/statements)")
        elif expected not in (*VERDICTS, None):
            wrong.append(f"{name}: {expected!r} is no verdict; there are: {', '.join(VERDICTS)}")
        elif expected is None:
            wrong.append(f"{name}: found {found!r}, but the front matter does not declare it")
        elif found is None:
            wrong.append(f"{name}: expected {expected!r}, but no claim of the chapter settles it")
        elif found != expected:
            wrong.append(f"{name}: expected {expected!r}, found {found!r}")
    return wrong
