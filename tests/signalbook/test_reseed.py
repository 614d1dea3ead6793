"""Runs with other seeds: which come first, what a row keeps, when it is stale."""

import json

import nbformat
import pytest

from signalbook import carry, reseed, seeds
from signalbook.execute import ChapterError, Failure, Run
from signalbook.outputs import CLAIMS
from signalbook.project import Project

A, B = "orthogonality/a", "kernels/b"
TITLES = {A: "Chapter a", B: "Chapter b"}


def claim(verdict="holds", **more):
    found = {"id": "ORTH-X1", "verdict": verdict, "found": "It is.", "measured": "0.5 of it."}
    return {**found, "error": 1e-7, "modelled": True, **more}


@pytest.fixture
def pretended(book, monkeypatch):
    """A book of two chapters, and a list of the claims that each next run pretends to find."""
    for name, id in ((A, "ORTH-X1"), (B, "KER-E5.1")):
        book.chapter(name, id)
    project, coming, ran = Project(book.root), [], []

    def usual(chapter):
        return [claim(id="ORTH-X1" if chapter == A else "KER-E5.1")]

    def execute_seeds(_, chapter, values, seeds, cores):
        for seed in seeds:
            ran.append((chapter, seed))
            claims = coming.pop(0) if coming else usual(chapter)
            yield seed, claims if isinstance(claims, Exception) else run(chapter, claims)

    def run(chapter, claims):
        output = {"output_type": "display_data", "data": {CLAIMS: claims}}
        prose = {"cell_type": "markdown", "source": f"Words of run {len(ran)}."}
        notebook = {"cells": [prose, {"cell_type": "code", "outputs": [output]}]}
        testimony = seeds.code_now(project, chapter, ["signalbook.settle", "signalprop.chains"])
        cost = 4.0 if chapter == A else 9.0
        return Run(nbformat.from_dict(notebook), testimony, cost, cost, 100)

    monkeypatch.setattr(reseed, "execute_seeds", execute_seeds)
    # The book's own seed, which is run for the twin alone, finds what is usual.
    monkeypatch.setattr(carry, "execute", lambda _, chapter, values: run(chapter, usual(chapter)))
    return project, coming, ran


def test_a_little_time_goes_to_many_chapters(pretended, monkeypatch, capsys):
    project, _, ran = pretended
    assert reseed.run_seeds(project, [A, B], 1, 99) == 0
    told = capsys.readouterr().out
    assert told.startswith("2 runs are due, about 30 s of CPU time together\n"), "guesses"
    monkeypatch.setattr(reseed, "TOGETHER", 2)
    of_a = [(8, 4, A, (2, 3)), (16, 4, A, (4, 5))]
    of_b = [(18, 9, B, (2, 3)), (36, 9, B, (4, 5))]
    assert reseed.due(project, [A, B], [1, 2, 3, 4, 5]) == [*of_a, *of_b]
    assert reseed.run_seeds(project, [A, B], 2, 0) == 0
    assert len(ran) == 2, "there was no time"
    assert capsys.readouterr().out.startswith("2 runs are due, about 13 s of"), "as the last times"
    reseed.run_seeds(project, [A, B], 2, 99)
    reseed.run_seeds(project, [A, B], 2, 99)
    assert ran == [(B, 1), (A, 1), (A, 2), (B, 2)], "what is there is not run again"


def test_a_broken_chapter_is_named_and_the_others_go_on(pretended, capsys):
    project, _, ran = pretended
    project.profile("fast", A).parent.mkdir()
    project.profile("fast", A).write_text("runs: .nan  # none\n")
    assert reseed.run_seeds(project, [A, B], 1, 99) == 1
    assert ran == [(B, 1)]
    assert f"{A}: nothing is kept: " in capsys.readouterr().out


def test_a_row_is_stale_when_the_code_has_changed(pretended, book):
    project, _, _ = pretended
    reseed.run_seeds(project, [A, B], 1, 99)
    text = seeds.seeds_page(project, TITLES)
    assert "There are 2 runs of 2 chapters" in text
    assert "None of the runs had code that has changed" in text
    _without_twins(project)
    path = project.source(A)
    path.write_text(path.read_text().replace("9.0", "8.0"))
    assert "1 of the runs had code that has changed" in seeds.seeds_page(project, TITLES)
    assert [runs[2:] for runs in reseed.due(project, [A, B], [1])] == [(A, (1,))]
    reseed.run_seeds(project, [A, B], 1, 99)
    assert "There are 2 runs of 2 chapters" in seeds.seeds_page(project, TITLES)


def _without_twins(project):
    """As rows are that were made before twins were kept."""
    record = seeds.kept(project)
    for known in record.values():
        del known["twin"]
    (project.root / seeds.FILE).write_text(json.dumps(record))


def test_rows_stand_for_new_code_that_finds_the_same(pretended, capsys):
    project, _, ran = pretended
    reseed.run_seeds(project, [A, B], 2, 99)
    path = project.source(A)
    path.write_text(path.read_text().replace("9.0", "8.0"))
    assert [runs[2:] for runs in reseed.due(project, [A, B], [1, 2])] == [(A, (1, 2))]
    made = len(ran)
    assert reseed.run_seeds(project, [A, B], 2, 99) == 0
    assert len(ran) == made, "no seed was run again"
    assert f"{A}: finds the same with this code, 2 runs stand for it" in capsys.readouterr().out
    assert reseed.due(project, [A, B], [1, 2]) == []
    page = seeds.seeds_page(project, TITLES)
    assert "None of the runs had code that has changed" in page
    assert "2 of the others had earlier code too, which found the same" in page


@pytest.mark.parametrize("found", [claim("not reproduced"), claim(error=2e-7), claim(about="more")])
def test_rows_of_code_that_finds_something_else_are_made_anew(pretended, monkeypatch, found):
    project, _, ran = pretended
    reseed.run_seeds(project, [A], 2, 99)
    path = project.source(A)
    path.write_text(path.read_text().replace("9.0", "8.0"))
    output = {"output_type": "display_data", "data": {CLAIMS: [found]}}
    notebook = nbformat.from_dict({"cells": [{"cell_type": "code", "outputs": [output]}]})
    code = seeds.code_now(project, A, ["signalbook.settle", "signalprop.chains"])
    monkeypatch.setattr(carry, "execute", lambda *_: Run(notebook, code, 1.0, 1.0, 100))
    reseed.run_seeds(project, [A], 2, 99)
    assert ran == [(A, 1), (A, 2), (A, 1), (A, 2)]
    assert not any("carried" in row for row in seeds.kept(project)[A]["rows"])


def test_a_verdict_that_differs_is_told_with_what_was_measured(pretended, capsys):
    project, coming, _ = pretended
    coming += [[claim()], [claim("not reproduced")]]
    coming += [[claim(), claim(about="more", modelled=False)], []]
    assert reseed.run_seeds(project, [A], 4, 99) == 1
    rows = seeds.kept(project)[A]["rows"]
    assert [len(row["differs"]) for row in rows] == [0, 1, 1, 1]
    assert rows[1]["differs"] == [
        "ORTH-X1: not reproduced. 0.5 of it. The stated chance of a false alarm is 1·10⁻⁷."
    ]
    assert rows[2]["differs"][0].endswith("No chance of a false alarm is stated.")
    assert rows[3]["differs"] == ["ORTH-X1: there is no such claim"]
    page = seeds.seeds_page(project, TITLES)
    assert "[Chapter a](../chapters/orthogonality/a), seed 2: ORTH-X1: not reproduced." in page
    assert "In 3 of the runs something was not as declared." in page
    assert "  ORTH-X1: not reproduced." in capsys.readouterr().out


def test_what_is_not_declared_is_told_of_the_first_run_too(pretended):
    project, coming, _ = pretended
    coming += [[claim("not reproduced")]]
    assert reseed.run_seeds(project, [A], 1, 99) == 1
    assert "not reproduced" in seeds.kept(project)[A]["rows"][0]["differs"][0]


def test_a_cell_that_fails_is_a_finding_and_a_machine_that_fails_is_none(pretended, capsys):
    project, coming, _ = pretended
    failed = ChapterError(Failure(A, "NoPower: only luck", ""))
    failed.__cause__ = RuntimeError("only luck")
    coming += [failed, ChapterError(Failure(A, "no room on the disk", ""))]
    assert reseed.run_seeds(project, [A], 2, 99) == 1
    (row,) = seeds.kept(project)[A]["rows"]
    assert row["differs"] == ["the run ended with NoPower: only luck"]
    assert "nothing is kept" in capsys.readouterr().out


def test_threads_are_compared_at_the_same_seed_and_code(pretended, monkeypatch):
    project, coming, _ = pretended
    assert reseed.run_seeds(project, [A, B], 0, 99) == 0
    assert "No such run was kept yet." in seeds.seeds_page(project, TITLES)
    monkeypatch.setenv("SIGNALBOOK_THREADS", "2")
    coming += [[claim(id="KER-E5.1")], [claim(found="It is so.")]]  # the words around change
    assert reseed.run_seeds(project, [B, A], 0, 99) == 0
    page = seeds.seeds_page(project, TITLES)
    assert "| [Chapter a](../chapters/orthogonality/a) | 2 | the same | others |" in page
    assert "| [Chapter b](../chapters/kernels/b) | 2 | the same | the same |" in page
    assert "No run with another seed was kept yet" in page, "the book's own seed is no other"


@pytest.mark.slow
def test_the_command_runs_other_seeds(book):
    book.chapter(A, "ORTH-X1", code="values = values if seed != 2 else values + 20")
    output = book.run("seeds", "--count", "2", code=1)
    rows = json.loads((book.root / seeds.FILE).read_text())[A]["rows"]
    assert [row["seed"] for row in rows] == [1, 2]
    assert [len(row["differs"]) for row in rows] == [0, 1]
    assert all(0 < row["cpu_seconds"] < 60 for row in rows)
    assert f"{A}, seed 2" in output
    assert "ORTH-X1: not reproduced." in output
    assert "SEEDS must be a number from 0" in book.run("seeds", "--count", "-1", code=1)
