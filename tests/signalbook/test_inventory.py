"""The book answers for every row of the inventory, each with a verdict or known to be missing."""

import re
from collections import Counter
from pathlib import Path

import pytest

from signalbook.inventory import DOCUMENTS, PARTS, rows
from signalbook.project import Project
from signalbook.source import Source

ROOT = Path(__file__).parents[2]

#: Documents all of whose rows must have a verdict; the others may have rows still to come.
FINISHED = {"ORTH", "KER", "ISO", "MF", "RANK", "DEC", "GRAD", "COND"}


def test_inventory_is_whole():
    assert len(rows()) == 340
    assert {row.document for row in rows().values()} == set(DOCUMENTS)
    assert all(row.id.startswith(f"{row.document}-") for row in rows().values())


@pytest.mark.parametrize("part", PARTS)
def test_a_part_has_all_that_the_guide_asks_for(part):
    assert (ROOT / "src/signalbook/statements" / f"{part}.toml").is_file()
    assert (ROOT / "src/signallab" / part / "__init__.py").read_text().startswith('"""')
    listed = Project(ROOT).pages
    essay, errata = f"pages/parts/{part}", f"pages/errata/{part}"
    assert errata in listed
    assert listed[listed.index(essay) + 1].startswith(f"chapters/{part}/")
    text = (ROOT / f"{essay}.md").read_text()
    made = [f"{part}{end}.md" for end in ("-counts", "-open", "")]
    assert re.findall(r"\{include\} \.\./\.\./generated/parts/(\S+)", text) == made
    assert f"```{{picture}} {part}/" in text


def test_every_id_is_settled_once_or_still_to_come():
    project = Project(ROOT)
    settled = [name for c in project.chapters for name in Source(project.source(c)).settles]
    assert [name for name, count in Counter(settled).items() if count > 1] == []
    assert set(settled) <= set(rows())
    missing = [row for row in rows().values() if row.id not in settled]
    assert len(settled) + len(missing) == 340
    assert [row.id for row in missing if row.document in FINISHED] == []
