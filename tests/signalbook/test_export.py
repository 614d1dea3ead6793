"""The site as a zip, and the parts that are printed; tests/site prints one with Chromium."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from signalbook import export
from signalbook.errors import BookError
from signalbook.project import Project

ROOT = Path(__file__).parents[2]


@pytest.fixture
def built(tmp_path):
    project = Project(tmp_path)
    for name, text in (("index.html", "home"), ("pages/map.html", "map"), (".complete", "")):
        (project.site / name).parent.mkdir(parents=True, exist_ok=True)
        (project.site / name).write_text(text)
    return project


def test_the_zip_holds_the_site_in_one_folder_and_is_the_same_each_time(built):
    path = export.zipped(built)
    first = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert archive.read("signalprop-book/pages/map.html") == b"map"
    assert names == ["signalprop-book/index.html", "signalprop-book/pages/map.html"]
    assert export.zipped(built).read_bytes() == first


def test_without_a_site_there_is_nothing_to_take(tmp_path):
    for take in (export.zipped, lambda project: list(export.printed(project))):
        (tmp_path / "_toc.yml").write_text("parts: []")
        with pytest.raises(BookError, match="run `make book` first"):
            take(Project(tmp_path))


def test_every_chapter_is_printed_in_one_part_with_its_errata_and_the_bibliography():
    parts = export.parts(Project(ROOT))
    printed = [page for _, pages in parts.values() for page in pages]
    chapters = [page for page in printed if page.startswith("chapters/")]
    assert sorted(chapters) == sorted(f"chapters/{name}" for name in Project(ROOT).chapters)
    title, pages = parts["mean-field"]
    assert title == "Mean field"
    assert pages[0] == "pages/parts/meanfield"
    assert pages[-2:] == ["pages/errata/meanfield", "pages/bibliography"]
    assert all(len(set(pages)) == len(pages) for _, pages in parts.values())


def test_a_part_that_does_not_exist_is_told(built):
    (built.root / "_toc.yml").write_text("parts: [{caption: One part, chapters: [{file: a}]}]")
    with pytest.raises(BookError, match="there is no part 'two'; the parts are: one-part"):
        list(export.printed(built, "two"))


def test_the_printer_sees_the_site_alone(built):
    assert export._answer(built.site, f"{export.ORIGIN}/pages/map.html?x#y")["body"] == b"map"
    assert export._answer(built.site, f"{export.ORIGIN}/none.html")["status"] == 404
    assert export._answer(built.site, "https://example.org/index.html")["status"] == 404
