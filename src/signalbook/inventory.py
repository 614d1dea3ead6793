"""The 340 statements, figures and tables that the book answers for."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["DOCUMENTS", "Row", "rows"]

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


@dataclass(frozen=True)
class Row:
    """One numbered (or named) statement, figure or table of a document."""

    id: str
    document: str
    part: str
    kind: str
    title: str


@cache
def rows() -> dict[str, Row]:
    """Return all rows by ID, in the order of the documents.

    >>> rows()["ORTH-F2b"].title
    'log mean V vs width'
    """
    text = files("signalbook").joinpath("inventory.tsv").read_text()
    return {
        entry["id"]: Row(**entry) for entry in csv.DictReader(text.splitlines(), delimiter="\t")
    }
