"""Committed records: each as its run left it, small, and of a chapter that is there."""

from pathlib import Path

import pytest

from signalbook.project import Project
from signalbook.records import read_record

PROJECT = Project.find(Path(__file__).parents[2])
FOLDER = PROJECT.root / "records"
RECORDED = sorted(p.relative_to(FOLDER).with_suffix("").as_posix() for p in FOLDER.glob("*/*.json"))


@pytest.mark.parametrize("chapter", RECORDED)
def test_a_record_is_whole_small_and_of_a_chapter(chapter):
    assert chapter in PROJECT.chapters
    record = read_record(PROJECT, chapter)
    assert record is not None
    assert record["chapter"] == chapter
    assert PROJECT.record(chapter).stat().st_size <= 150_000
