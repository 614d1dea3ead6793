"""Collect the verdicts that executed chapters left, and hold them against the declared ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from signalbook.cards import anchored
from signalbook.errors import BookError
from signalbook.files import read_json, write
from signalbook.inventory import rows
from signalbook.keys import stale
from signalbook.outputs import certificates_in, claims_in, part
from signalbook.project import Project
from signalbook.records import REDUCED, Record, decisive, read_record, reduced
from signalbook.source import Source
from signalbook.verdicts import VERDICTS
from signalbook.words import show

if TYPE_CHECKING:
    from signalbook.agreement import Agreement

__all__ = ["Ledger", "collect", "unexpected"]

HOLDS = ("holds", "holds with slack")
#: What a check that fails lacks for the verdict "fails as printed".
MISSING = (
    ": if the statement is wrong, give it as a function of points, so that the build can evaluate "
    "a counterexample, with repaired= (which passes the same test), repair= and severity="
)
#: The largest p-value of a failure that rests on runs alone: not one in the book is by luck.
CHANCE = 1e-12
#: The verdicts that a certificate may stand beside, by its kind.
CERTIFIABLE = {
    "proof": (*HOLDS, "agrees at reduced scale"),
    "counterexample": ("fails as printed", "not reproduced", "disagrees at reduced scale"),
}


@dataclass(frozen=True)
class Ledger:
    """One entry an ID that has a verdict, and per chapter what is wrong with its claims.

    ``agreements`` tell how far chapters were compared with their fresh records.
    """

    entries: list[dict[str, Any]]
    problems: dict[str, list[str]] = field(default_factory=dict)
    agreements: dict[str, Agreement] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """How many IDs have each verdict; ``still to come`` for those without one."""
        found = Counter(entry["verdict"] for entry in self.entries)
        counts = {verdict: found[verdict] for verdict in VERDICTS}
        return counts | {"still to come": len(rows()) - len(self.entries)}

    def false_alarm(self) -> float:
        """Return the probability, at most, that chance alone fails some true statement.

        By the union bound, it is the sum of what the checks of the build's own runs state, those
        that a record takes the place of and the comparisons with records among them. A record is
        drawn once: no build fails by its chance.
        """
        checks = [c for e in self.entries for c in (*e["checks"], *e.get("replaced", ()))]
        checks = [check for check in checks if "recorded" not in check]
        compared = sum(found.error for found in self.agreements.values())
        return float(sum(check.get("error", 0) for check in checks) + compared)

    def of(self, chapter: str) -> list[dict[str, Any]]:
        """The entries that one chapter settles."""
        return [entry for entry in self.entries if entry["chapter"] == chapter]


def collect(project: Project) -> Ledger:
    """Read every executed chapter, write ``_build/ledger.json`` and return the ledger.

    Chapters that have not been executed (or failed) contribute nothing.
    """
    by_id: dict[str, dict[str, Any]] = {}
    problems: dict[str, list[str]] = {}
    agreements: dict[str, Agreement] = {}
    for chapter in project.chapters:
        path = project.executed(chapter)
        if not path.is_file():
            continue
        notebook = read_json(path)
        if why := stale(project, chapter, notebook):
            problems[chapter] = [f"{why}: run `make book`"]
            continue
        try:
            record = read_record(project, chapter)
        except BookError as error:
            problems[chapter] = [str(error)]
            continue
        context = _context(chapter, notebook)
        entries = {n: entry | context for n, entry in _entries(notebook, record).items()}
        wrong = unexpected(Source(project.source(chapter)), notebook, record)
        if record is not None and record.fresh:
            from signalbook.agreement import agreement  # which computes; most builds need not

            agreements[chapter] = agreement(notebook, record)
            wrong += agreements[chapter].wrong
        wrong += [
            f"{name} is settled twice, here and in {by_id[name]['chapter']}: keep one of them"
            for name in entries
            if name in by_id
        ]
        if wrong:
            problems[chapter] = wrong
        by_id = entries | by_id
    order = {name: place for place, name in enumerate(rows())}
    sorted_entries = sorted(by_id.values(), key=lambda e: order.get(e["id"], len(order)))
    ledger = Ledger(sorted_entries, problems, agreements)
    write(project.build / "ledger.json", json.dumps(ledger.entries, indent=1, sort_keys=True))
    return ledger


def _context(chapter: str, notebook: dict[str, Any]) -> dict[str, Any]:
    """Where the claims of a chapter stand, and with which values it ran."""
    key = notebook["metadata"]["made"]["key"]
    return {
        "chapter": chapter,
        "profile": key["profile"],
        "parameters": key["parameters"],
        "seed": key["parameters"].get("seed"),
    }


def _entries(notebook: dict[str, Any], record: Record | None) -> dict[str, dict[str, Any]]:
    """One entry an ID: its claim with the worst verdict speaks, all stand under ``checks``.

    Displays of a proof have a say only where an ID has no other claims. A slip of print gives the
    verdict where nothing is worse, and leaves the word to what was computed. Claims of a reduced
    run that the record takes the place of stand under ``replaced``.
    """
    grouped: dict[str, list[dict[str, Any]]] = {}
    for claim in anchored(claims_in(notebook["cells"])):
        grouped.setdefault(claim["id"], []).append(claim)
    entries = {}
    for name, live in grouped.items():
        claims, replaced = decisive(live, record)
        claims = _certified(claims, live)
        deciding = [c for c in claims if not c.get("in_proof")] or claims
        verdict = max((c["verdict"] for c in deciding), key=VERDICTS.index)
        computed = [c for c in deciding if c["verdict"] != "misprint"] or deciding
        speaks = max(computed, key=lambda claim: VERDICTS.index(claim["verdict"]))
        told = {"verdict": verdict, "checks": claims, "replaced": replaced}
        told["proved"] = verdict in HOLDS and all(map(_proved, deciding))
        entries[name] = speaks | told
        if record is not None and not record.fresh and verdict in REDUCED:
            entries[name]["stale_record"] = record["date"]
    return entries


def _certified(
    claims: Sequence[dict[str, Any]], live: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Claims of a record with the certificates of the build's own run, which know no scale."""
    held = {part(c): {"certificate": c["certificate"]} for c in live if "certificate" in c}
    return [claim | held.get(part(claim), {}) for claim in claims]


def _proved(claim: Mapping[str, Any]) -> bool:
    return bool(claim.get("certificate", {}).get("kind") == "proof")


def _uncertified(notebook: Mapping[str, Any]) -> list[str]:
    """Certificates without their claim, or with one that says the opposite."""
    claims = claims_in(notebook["cells"])
    wrong = []
    for certificate in certificates_in(notebook["cells"]):
        found = [claim for claim in claims if part(claim) == part(certificate)]
        name = ", ".join(filter(None, part(certificate)))
        if len(found) != 1:
            wrong.append(f"{name}: a certificate belongs to {len(found)} claims, not to one")
        elif found[0]["verdict"] not in CERTIFIABLE[certificate["kind"]]:
            verdict = found[0]["verdict"]
            wrong.append(f"{name}: found {verdict!r}, its certificate is a {certificate['kind']}")
    return wrong


def unexpected(source: Source, notebook: dict[str, Any], record: Record | None) -> list[str]:
    """The verdicts, of the build's own run and of the record, that nobody declared."""
    live, both = _entries(notebook, None), _entries(notebook, record)
    decided = {name: entry for name, entry in both.items() if entry["replaced"]}
    settles = {name: [source.settles[name]] for name in decided if name in source.settles}
    recorded = [f"recorded, {text}" for text in _disagreements(settles, decided)]
    proofs = _uncertified(notebook) + _left_to_chance(both.values())
    return _disagreements(_expected(source, record), live) + recorded + proofs


def _left_to_chance(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Failures that chance might explain: no certificate, and a p-value too large."""
    found = [c for e in entries for c in e["checks"] if c["verdict"] == "fails as printed"]
    return [
        f"{', '.join(filter(None, part(claim)))}: it fails with p = {show(p, 2)}, "
        f"more than {show(CHANCE)}: take more runs, or certify it"
        for claim in found
        if "certificate" not in claim
        and (p := (claim.get("counterexample") or {}).get("p_value")) is not None
        and p > CHANCE
    ]


def _expected(source: Source, record: Record | None) -> dict[str, list[str]]:
    """The verdicts that the build's own run may give, by ID.

    Without a record it is the declared one. With a record that one is the record's, and a reduced
    run agrees or disagrees at reduced scale accordingly, or settles nothing, unless the front
    matter says what it gives. The same is expected once the record is stale.
    """
    if record is None:
        return {name: [verdict] for name, verdict in source.settles.items()}
    live = {name: [verdict] for name, verdict in source.live.items()}
    return {
        name: [verdict, *dict.fromkeys([reduced(verdict), "not run at this scale"])]
        for name, verdict in source.settles.items()
    } | live


def _disagreements(settles: dict[str, list[str]], entries: dict[str, dict[str, Any]]) -> list[str]:
    """What the front matter declares against what the run found, one sentence a difference."""
    wrong = []
    for name in dict.fromkeys([*settles, *entries]):
        expected, found = settles.get(name, []), entries.get(name, {}).get("verdict")
        unknown = [verdict for verdict in expected if verdict not in VERDICTS]
        if name not in rows():
            wrong.append(f"{name} is not in the inventory (src/signalbook/statements)")
        elif unknown:
            wrong.append(f"{name}: {unknown[0]!r} is no verdict; there are: {', '.join(VERDICTS)}")
        elif not expected:
            wrong.append(f"{name}: found {found!r}, but the front matter does not declare it")
        elif found is None:
            wrong.append(
                f"{name}: expected {expected[0]!r}, but no claim of the chapter settles it"
            )
        elif found not in expected:
            missing = MISSING if found == "not reproduced" else ""
            wrong.append(
                f"{name}: expected {' or '.join(map(repr, expected))}, found {found!r}{missing}"
            )
    return wrong
