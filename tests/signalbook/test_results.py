"""One line loads what an executed chapter, a sweep or a record found."""

import json
import re
import warnings

import pytest

import signalbook
from signalbook import results, sweep
from signalbook.errors import BookError
from signalbook.files import write
from signalbook.outputs import CLAIMS, FIGURE
from signalbook.project import Project
from signalbook.records import seal
from signalbook.source import Source
from tests.signalbook.minibook import ROOT

A, B = "orthogonality/a", "kernels/b"


def test_a_run_is_handed_out_as_files(book, tmp_path):
    claim = {"id": "ORTH-X1", "verdict": "holds", "found": "So it is.", "kind": "bound"}
    data = {FIGURE: {"name": "line", "csv": "value\n1\n"}, CLAIMS: [claim]}
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    notebook = {"cells": [{"cell_type": "code", "source": "", "outputs": [output]}]}
    found = results.of_notebook(Project(book.root), A, {"seed": 0}, notebook)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").touch()  # what was there stays
    results.hand_out(tmp_path / "out", "a", notebook, found)
    there = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*.*")}
    tables = {"claims.csv", "runs.csv", "figures/line.csv"}
    assert there == {"a.ipynb", "verdicts.json", "mine.txt"} | tables
    (verdict,) = json.loads((tmp_path / "out" / "verdicts.json").read_text())
    assert (verdict["id"], verdict["verdict"]) == ("ORTH-X1", "holds")


@pytest.mark.slow  # it builds a book
def test_an_executed_chapter_is_claims_figures_and_costs(built):
    found = signalbook.load(A, root=built.root)
    assert found.claims[["id", "verdict", "kind"]].to_numpy().tolist() == [
        ["ORTH-X1", "holds", "bound"]
    ]
    assert list(found.figures) == ["line"]
    assert len(found.figures["line"]) == 20
    (run,) = found.runs.to_dict("records")
    assert (run["runs"], run["seed"], run["device"]) == (20, 0, "cpu")
    assert 0 < run["cpu_seconds"] < 60
    assert run["memory_mb"] > 50

    path = built.root / "chapters" / f"{A}.md"
    path.write_text(path.read_text().replace("(runs)", "(2 * runs)"))
    with pytest.warns(UserWarning, match=f"{A} is of the past: changed since its run: cells"):
        signalbook.load(A, root=built.root)
    with pytest.raises(BookError, match=f"{B} was not run at runs=3: run `make sweep`"):
        signalbook.load(B, "runs=3", root=built.root)
    with pytest.raises(BookError, match=f"{B} has no record: run `make paper C={B}`"):
        signalbook.load(B, record=True, root=built.root)


@pytest.mark.slow  # it starts kernels, and builds a book
def test_what_was_executed_alone_loads_until_the_book_is_built_again(built):
    def sizes():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return len(signalbook.load(A, root=built.root).figures["line"])

    profile = built.root / "profiles" / "fast" / f"{A}.yml"
    profile.parent.mkdir(parents=True, exist_ok=True)
    profile.write_text("runs: 3  # of 20\n")
    built.run("chapter", A)
    assert sizes() == 3
    built.run("chapter", A, "--set", "runs=4")
    assert sizes() == 3
    assert len(signalbook.load(A, runs=4, root=built.root).figures["line"]) == 4
    Project(built.root).executed(A).touch()  # as a build leaves it
    with pytest.warns(UserWarning, match="changed since its run: runs"):
        assert len(signalbook.load(A, root=built.root).figures["line"]) == 20


@pytest.mark.slow  # it starts interpreters and kernels
def test_any_grid_loads_whose_points_are_there(swept):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = signalbook.load(A, "seed=1 runs=5,3", root=swept.root)
    assert found.figures["line"].groupby("runs", sort=False).size().to_dict() == {5: 5, 3: 3}
    assert list(found.claims.columns[:3]) == ["seed", "runs", "about"]
    assert found.runs["cpu_seconds"].min() > 0


def test_a_record_loads_alike(book):
    book.chapter(A, "ORTH-X1")
    record = {
        "parameters": {"runs": 20, "seed": 0},
        "code": {"cells": Source(book.root / "chapters" / f"{A}.md").code_digest, "modules": {}},
        "files": {},
        "claims": [{"id": "ORTH-X1", "verdict": "holds", "rivals": {"a": 2.0}}],
        "figures": {"line": {"csv": "value\n0.5\n", "reduced": []}},
        "seconds": 7.0,
        "memory_mb": 300,
        "device": "cpu",
    }
    write(Project(book.root).record(A), json.dumps({**record, "seal": seal(record)}))
    found = signalbook.load(A, record=True, root=book.root)
    assert found.claims.to_dict("records") == [{"id": "ORTH-X1", "verdict": "holds"}]
    assert found.figures["line"]["value"].tolist() == [0.5]
    assert found.runs[["runs", "seconds"]].to_numpy().tolist() == [[20, 7.0]]


def test_what_is_not_there_is_said(book):
    book.chapter(A, "ORTH-X1")
    with pytest.raises(
        BookError, match=f"{A} is not executed: run `make chapter C={A}`, or `make book`"
    ):
        signalbook.load(A, root=book.root)
    with pytest.raises(BookError, match="there is no chapter 'x/y'"):
        signalbook.load("x/y", root=book.root)
    with pytest.raises(BookError, match=f'not run at runs=3: run `make chapter C={A} P="runs=3"`'):
        signalbook.load(A, runs=3, root=book.root)
    with pytest.raises(BookError, match="a record has values of its own, got runs too"):
        signalbook.load(A, runs=3, record=True, root=book.root)
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        _ = signalbook.lode


def test_swept_names_stand_before_columns_of_the_same_name():
    runs = [
        results._Run({"width": w}, {"width": w}, {}, [{"id": "X"}], {"gap": "width,gap\n7,0.5\n"})
        for w in (1, 2)
    ]
    figure = results._together(runs).figures["gap"]
    assert figure.columns.tolist() == ["width", "width (of the row)", "gap"]
    assert figure["width"].tolist() == [1, 2]


@pytest.mark.slow  # it starts interpreters and kernels
@pytest.mark.filterwarnings("ignore:orthogonality/a is of the past")
def test_the_example_of_the_page_runs(swept, monkeypatch):
    text = (ROOT / "pages" / "executing.md").read_text()
    (code,) = re.findall(r"```python\n(import signalbook\n.*?)```", text, re.S)
    for shown, here in (
        ("orthogonality/gap-depth-width", A),
        ("gap-depth", "line"),
        ("runs=5,10 seed=0,1", "runs=5,3 seed=1"),
    ):
        assert shown in code
        code = code.replace(shown, here)
    project = Project(swept.root)
    (point,) = sweep.points(project, A, {"runs": [5]}, {"seed": 1})
    project.executed(A).parent.mkdir(parents=True)
    project.executed(A).symlink_to(project.point(A, point.digest) / "run.ipynb")
    monkeypatch.chdir(swept.root)
    found = {}
    exec(code, found)
    assert len(found["run"].figures["line"]) == 5
    assert list(found["sweep"].claims.columns[:2]) == ["runs", "seed"]
