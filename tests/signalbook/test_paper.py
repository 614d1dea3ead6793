"""Records are made by one command, whole or not at all, cheapest first, within a budget."""

import json
import time

import psutil
import pytest

from signalbook import paper
from signalbook.errors import BookError
from signalbook.project import Project
from signalbook.records import read_record

A, B, C = "orthogonality/a", "kernels/b", "rank/c"

SLEEPS = "import time\ntime.sleep(300 if runs == 20 else 0)"
FAILS = "assert runs != 20"


def chapters(book, **code):
    for name, id in ((A, "ORTH-X1"), (B, "KER-E5.1"), (C, "RANK-D1")):
        book.chapter(name, id, code=code.get(name[-1], ""))
        profile = book.root / "profiles" / "fast" / f"{name}.yml"
        profile.parent.mkdir(exist_ok=True)
        profile.write_text("runs: 5  # enough\n")
    return Project(book.root)


@pytest.mark.slow
def test_a_record_says_what_ran_and_keeps_rows_and_verdicts(book):
    project = chapters(book)
    (book.root / "profiles" / "fast" / f"{A}.yml").write_text("seed: 3  # ours\n")
    book.run("paper", A)
    record = json.loads(project.record(A).read_text())
    assert record["parameters"] == {"runs": 20, "device": "cpu", "seed": 0}
    assert record["claims"][0]["verdict"] == "holds"
    assert record["figures"]["line"]["csv"].startswith("value\n")
    assert record["figures"]["line"]["reduced"] == []
    assert record["twin"]["parameters"] == {"runs": 20, "device": "cpu", "seed": 3}
    assert record["twin"]["claims"][0]["id"] == "ORTH-X1"
    assert len(record["twin"]["figures"]["line"].split()) == 21
    assert {"python", "numpy"} <= set(record["versions"])
    assert (record["device"], len(record["date"])) == ("cpu", 10)
    assert 0 < record["seconds"] < 120
    assert "signalbook.settle" in record["code"]["modules"]
    assert "signalbook.figures" not in record["code"]["modules"], "it shows, and decides nothing"
    assert project.record(A).stat().st_size < 100_000
    assert read_record(project, A).fresh
    assert [chapter for _, chapter in paper.due(project)] == [B, C], "seeds reduce nothing"


@pytest.mark.slow
def test_what_fails_leaves_the_old_record(book):
    project = chapters(book, a=FAILS)
    path = project.record(A)
    path.parent.mkdir(parents=True)
    path.write_text("old")
    assert "AssertionError" in book.run("paper", A, code=1)
    assert "at no smaller a size" in book.run("paper", "--set=runs=4", A, code=1)
    assert path.read_text() == "old"
    assert "say which chapter" in book.run("paper", code=1)


def test_what_is_due_comes_cheapest_first(book):
    project = chapters(book)
    costs = {A: 3.0, B: 2.0, C: 1.0}
    for name, seconds in costs.items():
        path = project.cost(name, "fast")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"parameters": {"runs": 5}, "seconds": seconds}))
    # 20 runs instead of 5: four times what the fast profile took.
    assert paper.due(project) == [(4.0, C), (8.0, B), (12.0, A)]
    (book.root / "profiles" / "fast" / f"{C}.yml").unlink()
    assert [chapter for _, chapter in paper.due(project)] == [B, A], "it runs at full size anyway"


def test_a_broken_chapter_is_due_and_its_own_run_says_why(book):
    project = chapters(book)
    (book.root / "profiles" / "fast" / f"{B}.yml").write_text("runs: .nan  # none\n")
    project.source(C).write_text("---\nsignalbook: [\n---\n")
    assert {(0.0, B), (0.0, C)} < set(paper.due(project))


def test_the_budget_ends_the_list_and_failures_do_not(book, monkeypatch, capsys):
    project = chapters(book)
    clock, tried = [0.0], []

    def run(left, chapter, _):
        tried.append((chapter, left))
        clock[0] += 40
        return {A: 1, B: 0, C: None}[chapter]

    monkeypatch.setattr(paper, "due", lambda _: [(1.0, A), (2.0, B), (3.0, C), (4.0, A)])
    monkeypatch.setattr(paper, "_recorded_within", run)
    monkeypatch.setattr(paper.time, "monotonic", lambda: clock[0])
    assert paper.make_due(project, 100.0) == 1, "one failed"
    assert tried == [(A, 100.0), (B, 60.0), (C, 20.0)]
    output = capsys.readouterr().out
    assert f"{C} was stopped; it goes on from its checkpoints next time" in output
    assert f"the time is over; still to record: {A}\n" in output
    monkeypatch.setattr(paper, "due", lambda _: [(2.0, B)])
    assert paper.make_due(project) == 0
    monkeypatch.setattr(paper, "due", lambda _: [])
    assert paper.make_due(project) == 0
    assert "every record is there" in capsys.readouterr().out


@pytest.mark.slow
def test_what_the_budget_stops_leaves_no_record_and_no_process(book):
    project = chapters(book, a=SLEEPS)
    children = psutil.Process().children(recursive=True)
    assert paper._recorded_within(8.0, A, project) is None
    assert not project.record(A).exists()
    ends = time.monotonic() + 20
    while left := set(psutil.Process().children(recursive=True)) - set(children):
        assert time.monotonic() < ends, left
        time.sleep(0.1)
    assert paper.due(project)[-1][1] in (A, B, C)
    assert len(paper.due(project)) == 3


@pytest.mark.parametrize("text", ["2", "h", "two hours", "-1h", "1h 30m"])
def test_a_budget_that_cannot_be_read(text):
    with pytest.raises(BookError, match=r"BUDGET must be like 2h"):
        paper.budget(text)


def test_the_time_before_a_stop_counts(book):
    project = chapters(book)
    spent = project.build / "paper" / f"{A}.json"
    spent.parent.mkdir(parents=True)
    spent.parent.joinpath("orthogonality").mkdir()
    spent.write_text(json.dumps({"seconds": 100.0}))
    with paper._clock(project, A) as clock:
        assert clock() < 10, "nothing to resume: begun anew"
    checkpoint = project.checkpoints(A) / "name" / "net.pt"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.touch()
    with paper._clock(project, A) as clock:
        assert 100 <= clock() < 110
