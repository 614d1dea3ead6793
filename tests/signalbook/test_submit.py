"""Records as jobs: ordered, made by their jobs, told; the cluster itself is in test_cluster."""

import json

import pytest

from signalbook import submit
from signalbook.errors import BookError
from signalbook.files import replace
from signalbook.project import Project

A, B = "orthogonality/a", "kernels/b"


@pytest.fixture
def project(book, monkeypatch):
    for name, id in ((A, "ORTH-X1"), (B, "KER-E5.1")):
        book.chapter(name, id)
    monkeypatch.setattr(submit, "end_as_interrupted", lambda: None)  # signals stay those of tests

    def record(project, chapter, chosen, on_cell):
        on_cell(1, 1)
        if chapter == B:
            raise BookError("the sky fell")
        replace(project.record(chapter), json.dumps({"seconds": 7.0, "given": chosen}).encode())
        return project.record(chapter)

    monkeypatch.setattr(submit, "make_record", record)
    return Project(book.root)


def test_orders_are_carried_out_and_told(project, monkeypatch, capsys):
    asked = []

    def engine(project, config, cores, watch, lock, targets, where):
        asked.append((config, cores, list(targets), where))
        code = 0
        for chapter in (A, B):
            try:
                submit.record_as_ordered(project, chapter)
            except BookError:
                code = 1
            watch.look()
        return code

    monkeypatch.setattr(submit, "run_engine", engine)
    assert submit.submit(project, [A, B], {"runs": 3}, 2, project.root) == 1
    output = capsys.readouterr().out
    assert f"{A}: about " in output
    assert f"[1/2] {A} done in 7.0 s" in output
    assert "[2/2] the sky fell" in output
    assert output.endswith(f"recorded {A}\nFAILED   {B}\n")
    targets = [f"_build/recorded/{chapter}/done.json" for chapter in (A, B)]
    assert asked == [({"goal": "records"}, 2, targets, project.root)]
    assert json.loads(project.record(A).read_text())["given"] == {"runs": 3}
    order = json.loads((project.build / "recorded" / A / "order.json").read_text())
    assert order["needs"]["mem_mb"] >= 3000


def test_nothing_is_due(project, capsys):
    assert submit.submit(project, [], {}, 2, None) == 0
    assert "every record is there" in capsys.readouterr().out


def test_an_engine_that_fails_by_itself_is_quoted(project, monkeypatch):
    def engine(project, *_):
        (project.build / "snakemake.log").write_text("no such executor")
        return 1

    monkeypatch.setattr(submit, "run_engine", engine)
    with pytest.raises(BookError, match="Snakemake failed:\n  no such executor"):
        submit.submit(project, [A], {}, 2, None)
