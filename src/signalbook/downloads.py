"""The ledger as files: CSV for tables, JSON for programs, BibTeX for those who cite."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from typing import Any

from signalbook.atlas import plain
from signalbook.inventory import rows

__all__ = ["CITED", "as_bibtex", "as_csv", "as_json", "bibtex"]

#: The work that each short name stands for, by its key in ``references.bib``.
CITED = {
    "RANK": "daneshmand2020",
    "ORTH": "daneshmand2021",
    "MF": "joudaki2024",
    "ISO": "joudaki2024",
    "KER": "joudaki2024",
    "GRAD": "joudaki2024",
    "COND": "agarwal2021",
    "DEC": "nachum2024",
}
YEAR = "2026"
COLUMNS = (
    *("id", "document", "kind", "title", "where", "says", "verdict", "severity", "found", "repair"),
    *("seen_from", "size", "chapter", "statement_needs", "proof_needs"),
)


def as_json(entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Every row as an object with the names of :data:`COLUMNS`; what there is not is null."""
    return json.dumps(_table(entries), ensure_ascii=False, indent=1) + "\n"


def as_csv(entries: Mapping[str, Mapping[str, Any]]) -> str:
    """The same as a table: lists are words with spaces between them."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for line in _table(entries):
        joined = {n: " ".join(v) if isinstance(v, list) else v for n, v in line.items()}
        writer.writerow(joined)
    return out.getvalue()


def as_bibtex(entries: Mapping[str, Mapping[str, Any]]) -> str:
    """An entry for each row that has a verdict, named ``signalprop-<ID>``."""
    found = [
        bibtex(
            f"signalprop-{name}",
            f"{name}: {plain(rows()[name].title)}",
            f"Entry {name} of the ledger, verdict: {entry['verdict']}. "
            f"On {plain(rows()[name].where)} (key {CITED[rows()[name].document]})",
        )
        for name, entry in entries.items()
    ]
    return "\n".join(found)


def bibtex(key: str, title: str, note: str) -> str:
    r"""One entry of this book.

    >>> print(bibtex("signalprop", "All & more", "A note"))
    @misc{signalprop,
      author = {{The signalprop developers}},
      title = {{All \& more}},
      howpublished = {Signal propagation, recomputed},
      year = {2026},
      note = {A note},
    }
    <BLANKLINE>
    """
    fields = {
        "author": "{The signalprop developers}",
        "title": f"{{{_safe(title)}}}",
        "howpublished": "Signal propagation, recomputed",
        "year": YEAR,
        "note": _safe(note),
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@misc{{{key},\n{lines}}}\n"


def _table(entries: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for row in rows().values():
        entry = entries.get(row.id, {})
        values = {name: entry.get(name) for name in COLUMNS} | {
            name: getattr(row, name)
            for name in ("id", "document", "kind", "title", "where", "says")
        }
        values["statement_needs"] = list(row.statement_needs)
        values["proof_needs"] = list(row.proof_needs)
        found.append(values)
    return found


def _safe(text: str) -> str:
    return re.sub(r"([&%#_])", r"\\\1", text)
