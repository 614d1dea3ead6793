"""The book answers for every row of the inventory, each with a verdict or known to be missing."""

from collections import Counter
from pathlib import Path

from signalbook.inventory import DOCUMENTS, rows
from signalbook.project import Project
from signalbook.source import Source

ROOT = Path(__file__).parents[2]

#: Documents all of whose rows must have a verdict; the others may have rows still to come.
FINISHED = {"ORTH", "KER", "ISO", "MF", "RANK", "DEC", "GRAD", "COND"}


def test_inventory_is_whole():
    assert len(rows()) == 340
    assert {row.document for row in rows().values()} == set(DOCUMENTS)
    assert all(row.id.startswith(f"{row.document}-") for row in rows().values())


def test_every_id_is_settled_once_or_still_to_come():
    project = Project(ROOT)
    settled = [name for c in project.chapters for name in Source(project.source(c)).settles]
    assert [name for name, count in Counter(settled).items() if count > 1] == []
    assert set(settled) <= set(rows())
    missing = [row for row in rows().values() if row.id not in settled]
    assert len(settled) + len(missing) == 340
    assert [row.id for row in missing if row.document in FINISHED] == []
