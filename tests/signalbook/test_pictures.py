"""Pictures of chapters on other pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from signalbook.errors import BookError
from signalbook.files import write
from signalbook.outputs import CLAIMS, FIGURE
from signalbook.pictures import Album, Picture, album, figure, placed, without_letters
from signalbook.project import Project

CHAPTER = "one/gap"
LINE = Picture(CHAPTER, "line", 'A "random" line: up.', "svg", b"<svg/>", "<svg>narrow</svg>")


def code(*outputs, tags=()):
    return {"cell_type": "code", "metadata": {"tags": list(tags)}, "outputs": list(outputs)}


def drawing(name, **kinds):
    data = {FIGURE: {"name": name, "csv": "", "narrow": ""}} | kinds
    return {"data": data}


def claim(name):
    return {"data": {CLAIMS: [{"id": name}]}}


@pytest.fixture
def project(book):
    """A chapter of the small book: parameters, imports, a cell of code, a figure, a claim."""
    book.chapter(CHAPTER, "ORTH-T1")
    return Project(book.root)


def ran(project, *cells):
    write(project.executed(CHAPTER), json.dumps({"cells": list(cells)}))


def test_pictures_have_todays_alt_texts(project):
    svg = drawing("line", **{"image/svg+xml": "<svg/>"})
    injected = code(tags=["injected-parameters"])
    ran(project, code(), injected, code(), code(), code(svg), code(claim("ORTH-T1")))
    found = album(project, CHAPTER)
    assert list(found.pictures) == ["line"]
    assert found.telling.alt == "A random line."
    assert found.telling.drawing == b"<svg/>"
    assert found.of_claims == {"claim-orth-t1": found.telling}


def test_a_table_is_no_picture_and_png_is_one(project):
    png = drawing("dots", **{"image/png": "aGk="})
    ran(project, code(), code(), code(), code(drawing("rows"), png), code())
    (picture,) = album(project, CHAPTER).pictures.values()
    assert (picture.file, picture.drawing) == ("generated/figures/one/gap/dots.png", b"hi")
    assert picture.small_file == picture.file
    assert picture.files(f"![]({picture.file})") == {picture.file: b"hi"}


def test_a_claim_before_the_first_picture_gets_the_telling_one(project):
    svg = drawing("line", **{"image/svg+xml": "<svg/>"})
    ran(project, code(), code(), code(claim("ORTH-T1")), code(svg), code(claim("ORTH-T1")))
    found = album(project, CHAPTER).of_claims
    assert {anchor: picture.name for anchor, picture in found.items()} == {
        "claim-orth-t1": "line",
        "claim-orth-t1-2": "line",
    }


def test_without_a_run_there_are_no_pictures(project):
    assert album(project, CHAPTER) == Album()


ASKED = "Before.\n\n```{picture} one/gap line\nWhat it shows,\nin two lines.\n```\n\nAfter."
PAGE = Path("pages/parts/one.md")


def test_an_essay_gets_the_picture_with_its_own_caption():
    text = placed(ASKED, PAGE, {CHAPTER: Album({"line": LINE})})
    assert text.startswith("Before.\n\n```{figure} ../../generated/figures/one/gap/line.svg\n")
    assert r':alt: "A \"random\" line: up."' in text
    assert "in two lines. ([Its chapter](../../chapters/one/gap).)" in text
    assert "{image} ../../generated/figures/one/gap/line-narrow.svg\n:class: sb-narrow" in text
    assert text.endswith("After.")


def test_a_picture_that_is_not_there_is_an_error_that_names_those_there_are():
    with pytest.raises(BookError, match=r"parts/one\.md: one/gap has no picture 'line'.*dots"):
        placed(ASKED, PAGE, {CHAPTER: Album({"dots": LINE})})
    with pytest.raises(BookError, match="no chapter 'one/gap'"):
        placed(ASKED, PAGE, {})


def test_a_chapter_that_is_not_executed_leaves_a_sentence():
    assert "once one/gap is executed" in placed(ASKED, PAGE, {CHAPTER: Album()})


def test_names_of_figures_differ_from_those_in_the_chapters():
    assert ":name: fig-line-of-gap" in figure(LINE, "Caption.", "")


def test_only_drawings_that_pages_show_are_laid_out():
    assert LINE.files("nothing of it") == {}
    assert list(LINE.files("../generated/figures/one/gap/line-narrow.svg")) == [LINE.narrow_file]
    assert list(LINE.files("generated/figures/one/gap/line.svg")) == [LINE.file]


def test_a_thumbnail_has_the_lines_and_no_letters():
    drawing = b"""<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="9pt">
<g id="axes_1"><g id="line2d_1"><path d="M 0 0"/></g><g id="text_1"><defs><path id="A"/></defs></g>
<g id="legend_1"><g id="text_2"/></g></g></svg>"""
    small = without_letters(drawing).decode()
    assert small.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="9pt">')
    assert "line2d_1" in small
    assert "text_" not in small
    assert "legend_" not in small
    assert without_letters(b"\x89PNG") == b"\x89PNG"
