"""Runs with other seeds, carried over to newer code that computes the same.

An entry of ``records/seeds.json`` keeps, beside its rows, their *twin*: what the chapter found with
the book's own seed and the very code that made them. When code has changed since, that run is made
again; where the book was built it is there already. If all its claims have the verdicts and the
numbers of the twin, the rows stand for the code of today too. As with a record
(:mod:`signalbook.vouch`), a change that matters for other seeds alone is not seen in this way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from signalbook.execute import execute
from signalbook.fingerprint import text_digest
from signalbook.keys import built, wanted
from signalbook.outputs import claims_in
from signalbook.project import Project
from signalbook.records import parts
from signalbook.seeds import OWN, PROFILE, entry, kept, key, save
from signalbook.vouch import counted, differences

__all__ = ["carry_over", "labelled", "shown"]

#: What of a claim is compared.
NUMBERS = ("verdict", "measured", "error", "slack", "rivals")


def carry_over(project: Project, chapter: str) -> int:
    """Keep the twin of today, and the rows of the old one if it found the same; return how many.

    A chapter that cannot be run is a ``ChapterError``.
    """
    asked = wanted(project, chapter, PROFILE)
    notebook = built(project, chapter, PROFILE)
    if notebook:
        ran = notebook["metadata"]["made"]["key"]
    else:
        run = execute(project, chapter, asked["parameters"] | {"seed": OWN})
        notebook, ran = run.notebook, run.ran
    counts = counted(ran)
    twin = {"key": key(asked, **counts), **_found(notebook["cells"])}
    known = entry(kept(project), chapter)
    old = known.get("twin")
    rows = [row for row in known["rows"] if old and row["key"] == old["key"] != twin["key"]]
    if old and not _same(old, twin):
        rows = []
    for row in rows:
        row |= {"key": twin["key"], "carried": True}
    read = {"modules": " ".join(counts["code"]["modules"]), "files": " ".join(counts["files"])}
    save(project, chapter, known | read | {"twin": twin})
    return len(rows)


def _found(cells: list[dict[str, Any]]) -> dict[str, Any]:
    claims = {
        label: {name: claim[name] for name in NUMBERS if name in claim}
        for label, claim in labelled(cells).items()
    }
    return {"claims": claims, "outputs": shown(cells)}


def _same(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Claim by claim, up to rounding; a recipe, which has none, must show the very same."""
    if old["outputs"] == new["outputs"]:
        return True
    alike = set(old["claims"]) == set(new["claims"]) != set()
    return alike and not list(differences(old["claims"], new["claims"]))


def labelled(cells: Iterable[dict[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The claims of a run, by what each is called in its chapter."""
    return {_label(*about): claim for about, claim in parts(claims_in(cells)).items()}


def _label(id: str, about: str, in_proof: str, number: int) -> str:
    """What a claim is called in a chapter.

    >>> _label("ORTH-T1", "the rate", "", 0), _label("ORTH-T1", "", "", 1)
    ('ORTH-T1, the rate', 'ORTH-T1 (2)')
    """
    name = ", ".join(filter(None, [id, about, in_proof]))
    return f"{name} ({number + 1})" if number else name


def shown(cells: Iterable[Mapping[str, Any]]) -> str:
    """Digest all that a run showed, without prose, which no key holds."""
    return text_digest(json.dumps([cell.get("outputs") for cell in cells], sort_keys=True))
