"""Sweeps: what a grid may say, that points are kept and shared, and the table at the end."""

import json
import os
import signal
import time

import pandas as pd
import pytest

from signalbook import sweep
from signalbook.errors import BookError
from signalbook.project import Project

A = "orthogonality/a"
GRID = "runs=3,5 seed=0,1"


def grid(book, text, **fixed):
    return sweep.points(Project(book.root), A, sweep.parse_grid(text), fixed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "say over what to sweep"),
        ("runs", "GRID is made of name=value,value words, got 'runs'"),
        ("runs='3", "GRID cannot be read, no closing quotation"),
        ("runs=3,,5", "GRID has an empty value of runs"),
        ("runs=", "GRID has an empty value of runs"),
        ("runs=3 runs=5", "GRID names runs twice"),
        ("runs=3,5,3", "GRID has the value 3 of runs twice"),
        ("width=3", f"{A}: unknown parameter 'width'; there are: runs: int, device: str, seed"),
        ("runs=3,many", "parameter runs must be int, got 'many'"),
        ("runs=[3],5", r"parameter runs must be int, got \[3\]"),
        ("device=cpu", "device is in GRID and in P"),
        ("runs=" + ",".join(map(str, range(10_001))), "GRID has 10001 points, more than 10000"),
    ],
)
def test_bad_grids_are_refused_by_name(book, text, message):
    book.chapter(A, "ORTH-X1")
    with pytest.raises(BookError, match=message):
        grid(book, text, device="cpu")


def test_points_are_named_by_all_their_values(book):
    book.chapter(A, "ORTH-X1")
    found = grid(book, GRID)
    assert [str(point) for point in found] == [
        "runs=3 seed=0", "runs=3 seed=1", "runs=5 seed=0", "runs=5 seed=1"
    ]  # fmt: skip
    assert [p.digest for p in grid(book, "seed=0,1", runs=3)] == [p.digest for p in found[:2]]
    assert len({point.digest for point in found}) == 4


@pytest.mark.slow  # it starts interpreters and kernels
def test_a_grid_runs_once_names_what_fails_and_joins_one_table(swept):
    first, second = (swept.root / name for name in ("first.txt", "second.txt"))
    output = first.read_text()
    assert f"{A}: 2 points, 0 of them are there; the others take about" in output
    assert "[2/2]" in output
    assert "FAILED  runs=4: AssertionError: four is too many" in output
    assert "1 of 2 points; the table is" in output

    output = second.read_text()
    assert f"{A}: 2 points, 1 of them are there; the others take about" in output
    assert "[1/1] runs=5 done" in output
    assert 'signalbook.load("orthogonality/a", "runs=5,3", seed=1)' in output
    (table,) = (path for path in swept.root.rglob("claims.csv") if len(pd.read_csv(path)) == 2)
    assert pd.read_csv(table)[["runs", "verdict"]].to_numpy().tolist() == [
        [5, "holds"], [3, "holds"]
    ]  # fmt: skip
    line = pd.read_csv(table.parent / "figures" / "line.csv")
    assert line.groupby("runs").size().to_dict() == {3: 3, 5: 5}


@pytest.mark.slow  # it starts interpreters and kernels
def test_what_is_there_is_not_run_again_until_the_code_changes(swept):
    project, (point,) = Project(swept.root), grid(swept, "runs=3", seed=1)
    assert not sweep._ordered(project, point)
    output = swept.run("sweep", A, "--grid", "runs=3,5", "--set", "seed=1")
    assert "2 points, 2 of them are there\n" in output
    path = swept.root / "chapters" / f"{A}.md"
    path.write_text(path.read_text().replace("(runs)", "(2 * runs)"))
    assert sweep._ordered(project, point)


@pytest.mark.slow  # it starts interpreters and kernels
def test_what_is_stopped_keeps_what_is_finished(swept):
    path = swept.root / "chapters" / f"{A}.md"
    path.write_text(path.read_text().replace("Prose of", "More prose of"))
    process = swept.start("sweep", A, "--grid", "runs=3,6", "--set", "seed=1")
    (point,) = grid(swept, "runs=6", seed=1)
    status = sweep._path(Project(swept.root), point, "status.json")
    ends = time.monotonic() + 300
    while not status.is_file() and time.monotonic() < ends:
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGTERM)
    output = process.communicate(timeout=60)[0]
    assert "2 points, 1 of them are there" in output
    assert "stopped; what is finished stays" in output
    (kept,) = grid(swept, "runs=3", seed=1)
    assert not sweep._ordered(Project(swept.root), kept)


def test_an_order_is_a_whole_file_with_all_values(book):
    book.chapter(A, "ORTH-X1")
    (point,) = grid(book, "runs=3")
    assert sweep._ordered(Project(book.root), point)
    order = json.loads((Project(book.root).point(A, point.digest) / "order.json").read_text())
    assert order["chosen"] == {"runs": 3, "device": "cpu", "seed": 0}
    assert order["needs"] == {"mem_mb": 3000, "runtime": 60, "gpu": 0}
