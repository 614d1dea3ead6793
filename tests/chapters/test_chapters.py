"""What every chapter keeps to, checked without executing it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from signalbook.claims import VERDICTS
from signalbook.inventory import rows
from signalbook.keys import values
from signalbook.parameters import read_profile
from signalbook.project import Project
from signalbook.source import Source

PROJECT = Project(Path(__file__).parents[2])

every_chapter = pytest.mark.parametrize("chapter", PROJECT.chapters)


@every_chapter
def test_front_matter(chapter):
    source = Source(PROJECT.source(chapter))
    assert set(source.settles) <= set(rows())
    assert set(source.settles.values()) <= set(VERDICTS)
    assert "seed" in source.parameters
    assert source.title


@every_chapter
def test_starts_under_its_own_name(chapter):
    code = "\n".join(cell.source for cell in Source(PROJECT.source(chapter)).code)
    assert f'start("{chapter}", seed)' in code


@every_chapter
def test_profile_changes_only_what_there_is(chapter):
    source = Source(PROJECT.source(chapter))
    chosen = values(PROJECT, source, chapter, "fast")
    for name in read_profile(PROJECT.profile("fast", chapter)):
        assert chosen[name] != source.parameters[name].default, "a change that changes nothing"


@every_chapter
def test_no_branch_on_the_profile(chapter):
    code = "\n".join(cell.source for cell in Source(PROJECT.source(chapter)).code)
    assert not re.search(r"\bif\s+(not\s+)?(fast|paper|profile|TEST)\b", code)


def test_every_profile_has_its_chapter():
    folder = PROJECT.root / "profiles" / "fast"
    named = {p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*.yml")}
    assert named <= set(PROJECT.chapters)


@every_chapter
def test_code_is_formatted_to_the_width_of_a_page(chapter):
    cells = [cell.source.rstrip("\n") for cell in Source(PROJECT.source(chapter)).code]
    for cell in cells:
        command = [sys.executable, "-m", "ruff", "format", "--line-length", "82", "-"]
        run = subprocess.run(command, input=cell, capture_output=True, text=True, check=True)
        assert run.stdout.rstrip("\n") == cell, "run: python tests/chapters/format.py"
