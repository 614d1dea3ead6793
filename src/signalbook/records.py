"""Recorded runs at the documents' own sizes, or the largest to be had: when they decide.

A record is written by :mod:`signalbook.paper` alone, and carries the digest of the code that made
it. While that is the code of today, or code that was shown to find the same
(:mod:`signalbook.vouch`), its verdicts take the place of those of smaller runs; else it is stale:
still shown, marked, and decides nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from signalbook.errors import BookError
from signalbook.files import read_json
from signalbook.fingerprint import text_digest
from signalbook.keys import code_changes, file_changes
from signalbook.project import Project
from signalbook.scale import OURS
from signalbook.source import Source

__all__ = ["REDUCED", "Record", "decisive", "parts", "read_record", "reduced", "seal"]

#: The verdict of a run that is too small to say anything.
SILENT = "not run at this scale"

#: Verdicts that a record takes the place of.
REDUCED = ("agrees at reduced scale", "disagrees at reduced scale", SILENT)


@dataclass(frozen=True)
class Record:
    """What ``records/<part>/<slug>.json`` holds.

    ``changes`` names the code that is other now than the code that is known to find the same, and
    ``since`` what differs between that code and the code that made the record.
    """

    data: Mapping[str, Any]
    changes: tuple[str, ...] = ()
    since: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        return self.data[name]

    @property
    def fresh(self) -> bool:
        """Whether it speaks for the code of today."""
        return not self.changes

    def reductions(self, source: Source) -> dict[str, tuple[Any, Any]]:
        """Its values that differ from the document's: the largest scale that was to be had."""
        return {
            name: (self["parameters"][name], parameter.default)
            for name, parameter in source.parameters.items()
            if name not in OURS
            and name in self["parameters"]
            and self["parameters"][name] != parameter.default
        }


def read_record(project: Project, chapter: str) -> Record | None:
    """Return the record of a chapter, None if there is none.

    One that is torn, or was written by hand, is a ``BookError``.
    """
    path = project.record(chapter)
    if not path.is_file():
        return None
    data = read_json(path)
    if not isinstance(data, dict) or data.get("seal") != seal(data):
        raise BookError(
            f"{path.relative_to(project.root)} is not as its run left it: "
            f"run `make paper C={chapter}`, or remove it"
        )
    made = _changes(project, chapter, data)
    if "vouched" not in data:
        return Record(data, made)
    changes = _changes(project, chapter, data["vouched"])
    return Record(data, changes, since=() if changes else made)


def _changes(project: Project, chapter: str, ran: Mapping[str, Any]) -> tuple[str, ...]:
    changes = code_changes(project, chapter, ran["code"])
    return (*changes, *file_changes(ran["files"], ran["code"]["modules"]))


def seal(data: Mapping[str, Any]) -> str:
    """Digest a record; only the command that makes one writes it."""
    return text_digest(json.dumps({n: v for n, v in data.items() if n != "seal"}, sort_keys=True))


def decisive(
    live: Sequence[Mapping[str, Any]], record: Record | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The claims of one ID that decide, and those of the live run that they take the place of.

    Where the live run is reduced, the claim of a fresh record speaks, and says at which size and
    when it was recorded: at the document's, or else in a larger run than the live one. What the
    live run settles at full size stays: it is computed anew with every build. A claim about a size
    that only the live run has does not decide, nor does a recorded one of a run that was too small.
    """
    there = parts(c for c in record["claims"] if c["id"] == live[0]["id"]) if record else {}
    heard = {part: c for part, c in there.items() if c["verdict"] != SILENT}
    if record is None or not record.fresh or not heard:
        return [dict(claim) for claim in live], []
    found, replaced = [], []
    for part, claim in parts(live).items():
        if claim["verdict"] not in REDUCED or (part in there and part not in heard):
            found.append(dict(claim))
            continue
        replaced.append(dict(claim))
        if part in heard:
            found.append(_recorded(heard[part], record, claim["anchor"]))
    if replaced:
        more = [claim for part, claim in heard.items() if part not in parts(live)]
        found += [_recorded(claim, record, live[0]["anchor"]) for claim in more]
    return found, replaced


def _recorded(claim: Mapping[str, Any], record: Record, anchor: str) -> dict[str, Any]:
    size = "in a larger run" if claim["verdict"] in REDUCED else "at the document’s size"
    return {**claim, "anchor": anchor, "recorded": f"{size}, recorded {record['date']}"}


def reduced(verdict: str) -> str:
    """What a reduced run says that finds the same as the run with this verdict.

    >>> reduced("holds"), reduced("fails as printed"), reduced("misprint")
    ('agrees at reduced scale', 'disagrees at reduced scale', 'agrees at reduced scale')
    """
    if verdict in ("holds", "holds with slack", "misprint", "illustrated"):
        return "agrees at reduced scale"
    if verdict in ("not reproduced", "fails as printed"):
        return "disagrees at reduced scale"
    return verdict


def parts(claims: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, ...], Mapping[str, Any]]:
    """Claims by what they are about; the second about the same thing is told from the first."""
    seen: Counter[Any] = Counter()
    found = {}
    for claim in claims:
        about = (claim["id"], claim.get("about", ""), claim.get("in_proof", ""))
        found[*about, seen[about]] = claim
        seen[about] += 1
    return found
