"""What a reader takes home from the pages: data that opens, notebooks that run again."""

from __future__ import annotations

import csv
import json

import papermill
import pytest

import signalprop
from signalbook.execute import THREADS
from signalbook.outputs import claims_in
from signalbook.project import Project


def downloads(site, name):
    """The files of this name that pages hand out."""
    found = sorted((site / "_downloads").glob(f"*/{name}"))
    assert found, name
    return found


@pytest.mark.slow
def test_the_data_of_every_figure_and_table_open(site):
    for path in downloads(site, "*.csv"):
        with path.open(newline="") as file:
            head, *rows = csv.reader(file)
        assert rows, path
        assert {len(row) for row in rows} == {len(head)}, path


def test_every_chapter_hands_out_its_notebook(site):
    project = Project.find()
    slugs = [chapter.split("/")[-1] for chapter in project.chapters]
    files = downloads(site, "*-executed.ipynb")
    assert sorted(path.name.removesuffix("-executed.ipynb") for path in files) == sorted(slugs)
    for path in files:
        assert json.loads(path.read_text())["nbformat"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["definitions", "rank-through-relu"])
def test_a_notebook_that_was_taken_home_runs_again_and_finds_the_same(
    site, slug, tmp_path, monkeypatch
):
    for name in THREADS:
        monkeypatch.setenv(name, "1")
    (path,) = downloads(site, f"{slug}-executed.ipynb")
    root = str(Project.find().root)
    again = papermill.execute_notebook(
        str(path), str(tmp_path / "again.ipynb"), cwd=root, progress_bar=False
    )
    before = claims_in(json.loads(path.read_text())["cells"])
    assert before
    assert claims_in(json.loads(json.dumps(again))["cells"]) == before


def test_the_site_has_the_pages_of_the_table_of_contents_and_no_others(site):
    pages = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")}
    named = {page for page in pages if page.startswith(("chapters/", "pages/"))}
    assert named | {"index"} == {*Project.find().pages, "index"}


def test_every_page_says_which_version_it_is_of(site):
    """A zip that was kept has nothing else to tell it."""
    said = f"<p>Version {signalprop.__version__}</p>"
    pages = [site / "index.html", *site.glob("chapters/**/*.html"), *site.glob("pages/**/*.html")]
    assert [path for path in pages if said not in path.read_text()] == []
