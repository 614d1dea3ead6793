"""A figure and its data: what is handed out, and what a record adds."""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from signalbook import figures, scale
from signalbook.outputs import FIGURE

ROWS = {"depth": [1, 2, 3], "rank": [3.0, 2.0, 1.0]}
CSV = "depth,rank\n1,3.5\n2,2.5\n9,1.5\n"


@pytest.fixture
def chapter(tmp_path, monkeypatch):
    """A clone with one recorded figure, as a chapter finds it."""
    (tmp_path / "_toc.yml").touch()
    (tmp_path / "chapters").mkdir()
    path = tmp_path / "records" / "rank" / "depth.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"figures": {"ranks": {"csv": CSV, "reduced": []}}}))
    monkeypatch.chdir(tmp_path)
    yield "rank/depth"
    figures.begin("rank/another")


def shown(name, **options):
    figure, ax = plt.subplots()
    ax.plot(ROWS["depth"], ROWS["rank"])
    return ax, figures.show(figure, name, ROWS, **options)._repr_mimebundle_()


def test_data_come_with_the_picture():
    _, bundle = shown("ranks")
    assert "<svg" in bundle["image/svg+xml"]
    assert bundle[FIGURE]["csv"] == "depth,rank\n1,3\n2,2\n3,1\n"
    assert (bundle[FIGURE]["reduced"], bundle[FIGURE]["recorded"]) == ([], 0)


def test_a_recorded_curve_is_drawn_and_the_data_stay_the_live_ones(chapter):
    figures.begin(chapter)
    ax, bundle = shown("ranks")
    assert ax.lines[1].get_ydata().tolist() == [3.5, 2.5, 1.5]
    assert bundle[FIGURE]["recorded"] == 1
    assert pd.DataFrame(ROWS).to_csv(index=False, float_format="%.12g") == bundle[FIGURE]["csv"]


@pytest.mark.parametrize(
    ("reduced", "name"), [([], "recorded, document's size"), (["width"], "recorded, larger run")]
)
def test_the_legend_says_whether_the_recorded_run_has_the_documents_size(chapter, reduced, name):
    found = {"figures": {"ranks": {"csv": CSV, "reduced": reduced}}}
    Path("records/rank/depth.json").write_text(json.dumps(found))
    figures.begin(chapter)
    ax, _ = shown("ranks")
    assert [text.get_text() for text in ax.get_legend().texts] == [name]


def test_only_what_was_recorded_of_this_figure_and_chapter_is_drawn(chapter):
    figures.begin(chapter)
    assert shown("others")[1][FIGURE]["recorded"] == 0
    figures.begin("rank/another")
    assert shown("ranks")[1][FIGURE]["recorded"] == 0


def test_outside_a_clone_there_are_no_records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert figures.record("rank/depth") == {}


def test_a_figure_says_what_was_reduced_that_it_depends_on(monkeypatch):
    cells = ["runs: int = 20\nwidth: int = 512", "# Parameters\nruns = 5\nwidth = 64"]
    monkeypatch.setattr(scale, "history", lambda: cells)
    assert shown("ranks")[1][FIGURE]["reduced"] == ["runs", "width"]
    assert shown("ranks", regardless_of=["runs"])[1][FIGURE]["reduced"] == ["width"]


@pytest.mark.parametrize("name", ["", "a b", "a/b"])
def test_names_are_parts_of_addresses(name):
    with pytest.raises(ValueError, match="name must be"):
        figures.show(None, name, ROWS)
