"""The 340 statements, figures and tables that the book answers for."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["DOCUMENTS", "KINDS", "PARTS", "Correction", "Row", "corrected_by", "resting_on", "rows"]

DOCUMENTS = {
    "RANK": "Daneshmand, Kohler, Bach, Hofmann, Lucchi: batch norm avoids rank collapse",
    "ORTH": "Daneshmand, Joudaki, Bach: batch norm orthogonalizes representations",
    "MF": "Joudaki, thesis, chapter 3: mean field",
    "ISO": "Joudaki, thesis, chapter 4: isometry",
    "KER": "Joudaki, thesis, chapter 5: kernels",
    "GRAD": "Joudaki, thesis, chapter 6: gradients",
    "COND": "Agarwal, Awasthi, Kale: deep conditioning",
    "DEC": "Nachum, Bondaschi, Gastpar, Khina: batch normalization decomposed",
}

KINDS = ("definition", "theorem", "lemma", "corollary", "proof", "claim", "figure", "table")

#: The parts of the book, a file of statements each, in the order of the documents.
PARTS = (
    "rank",
    "orthogonality",
    "meanfield",
    "isometry",
    "kernels",
    "gradients",
    "conditioning",
    "decomposed",
)


@dataclass(frozen=True)
class Correction:
    """A later text that corrects a statement, or replaces it.

    ``where`` it does so, and what it ``says``;
    ``by`` is the ID of the later statement; "" where it is a later version of the same one.
    """

    where: str
    says: str
    by: str = ""


@dataclass(frozen=True)
class Row:
    """One numbered (or named) statement, figure or table of a document.

    ``says`` restates what is printed, with the document's formulas; ``where`` is its place there.
    The needs are IDs: notions and results that the statement uses, and those that its proof uses.
    What later texts correct is told only where they say so themselves, or print it otherwise.
    """

    id: str
    part: str
    title: str
    kind: str
    where: str
    says: str
    statement_needs: tuple[str, ...] = ()
    proof_needs: tuple[str, ...] = ()
    corrected: tuple[Correction, ...] = ()

    @property
    def document(self) -> str:
        """The short name of its document."""
        return self.id.split("-")[0]


@cache
def rows() -> dict[str, Row]:
    """Return all rows by ID, in the order of the documents.

    >>> rows()["ORTH-T1"].kind, rows()["ORTH-T1"].document
    ('theorem', 'ORTH')
    """
    found = {}
    for part in PARTS:
        file = files("signalbook").joinpath("statements", f"{part}.toml")
        for name, entry in tomllib.loads(file.read_text("utf-8")).items():
            entry |= {n: tuple(entry[n]) for n in ("statement_needs", "proof_needs")}
            entry["corrected"] = tuple(Correction(**c) for c in entry.get("corrected", ()))
            found[name] = Row(name, part, **entry)
    return found


def corrected_by(name: str) -> tuple[str, ...]:
    """The IDs of earlier statements that ``name`` corrects or replaces.

    >>> corrected_by("DEC-F2")
    ('RANK-F5',)
    """
    return tuple(row.id for row in rows().values() if any(c.by == name for c in row.corrected))


@cache
def resting_on(name: str) -> frozenset[str]:
    """The IDs whose statement or proof uses ``name``, directly or through others.

    >>> "ORTH-C3" in resting_on("ORTH-T1"), "ORTH-T1" in resting_on("ORTH-C3")
    (True, False)
    """
    found, new = set[str](), {name}
    while new:
        needed = new
        new = {
            row.id
            for row in rows().values()
            if needed & {*row.statement_needs, *row.proof_needs} and row.id not in found
        }
        found |= new
    return frozenset(found - {name})
