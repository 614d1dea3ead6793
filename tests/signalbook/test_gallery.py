"""Tiles that lead to chapters."""

from __future__ import annotations

import pytest

from signalbook import gallery
from signalbook.pictures import Picture
from signalbook.project import Project
from signalbook.source import Source


@pytest.fixture
def project(book):
    book.chapter("one/gap", "ORTH-T1")
    book.chapter("one/chain", "ORTH-X1")
    book.chapter("one/lemma", "ORTH-L4")
    return Project(book.root)


def test_a_chapter_builds_on_those_that_settle_what_its_statements_use(project):
    assert gallery.prerequisites(project) == {
        "one/gap": ["one/chain"],  # a lemma that only the proof uses can wait
        "one/chain": [],
        "one/lemma": ["one/chain"],
    }


def test_reading_takes_words_and_figures_and_no_code(project):
    path = project.source("one/gap")
    source = Source(path)
    assert gallery.minutes(source, 0) == 1
    assert gallery.minutes(source, 6) == 3
    path.write_text(path.read_text() + "\n" + "word " * 2000)
    assert gallery.minutes(Source(path), 0) == 10
    path.write_text(path.read_text() + "\n```{code-cell} ipython3\n" + "x = 1\n" * 2000 + "```\n")
    assert gallery.minutes(Source(path), 0) == 10


def test_a_tile_has_a_thumbnail_with_its_alt_text():
    picture = Picture("one/gap", "line", "A line: up.", "svg", b"<svg/>")
    text = gallery.tile(picture, "Words.", "../../")
    assert ":::{image} ../../generated/figures/one/gap/line-small.svg\n" in text
    assert ':alt: "A line: up."' in text
    assert "{image}" not in gallery.tile(None, "Words.", "")
