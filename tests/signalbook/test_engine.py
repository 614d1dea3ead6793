"""What the engine's watch tells, and one lock for one thing."""

import threading

import pytest

from signalbook import engine
from signalbook.errors import BookError
from signalbook.project import Project


def watch(states, **options):
    planned, expected = (lambda: ["a", "b"]), {"a": 10.0, "b": 30.0}.__getitem__
    return engine.Watch(lambda: states, planned, expected, cores=2, **options)


def test_each_change_is_a_line_with_what_is_left(capsys):
    states = {"a": {"state": "running", "cell": 1, "cells": 4}}
    told = watch(states)
    told.look()
    told.look()
    assert capsys.readouterr().out.splitlines() == [
        "[0/2] a started  · 0 s elapsed, about 20 s to go"
    ]
    states["a"] = {"state": "done", "seconds": 9}
    states["b"] = {"state": "failed", "message": "b failed"}
    told.look()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  · ")[0] for line in lines] == ["[2/2] a done in 9 s", "[2/2] b failed"]
    assert lines[-1].endswith("about 0 s to go")


def test_a_long_silence_is_broken(capsys):
    states = {"a": {"state": "running", "cell": 1, "cells": 4}}
    told = watch(states, progress=lambda name: f": step 7 of {name}", idle="resting")
    told.look()
    told.spoke -= 21
    told.look()
    assert "running a (cell 1 of 4: step 7 of a)" in capsys.readouterr().out
    states.clear()
    told.spoke -= 21
    told.look()
    assert "resting" in capsys.readouterr().out


def test_states_are_read_by_age_and_torn_ones_passed_over(tmp_path):
    for name, text in (("x/a", '{"state": "done"}'), ("b", '{"torn')):
        path = tmp_path / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert engine.states_below(tmp_path) == {"x/a": {"state": "done"}}


def test_the_second_waits_and_says_so(tmp_path, capsys):
    path, entered = tmp_path / "x" / "lock", threading.Event()

    def second():
        with engine.only_one(path, "sweep of x"):
            entered.set()

    with engine.only_one(path, "sweep of x"):
        thread = threading.Thread(target=second)
        thread.start()
        assert not entered.wait(0.3)
    thread.join(10)
    assert entered.is_set()
    assert "another sweep of x is still running; waiting" in capsys.readouterr().out


def test_an_engine_that_fails_by_itself_is_quoted(tmp_path):
    project = Project(tmp_path)
    project.build.mkdir()
    log = project.build / "snakemake.log"
    log.write_text("chatter\nerror: no rule\n  of this name\nchatter\n")
    with pytest.raises(BookError, match=r"^no rule\n  of this name$"):
        engine.engine_failed(project)
    log.write_text("nothing known")
    with pytest.raises(BookError, match="Snakemake failed:\n  nothing known"):
        engine.engine_failed(project)
