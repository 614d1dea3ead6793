"""The figures of the page on promises come from the tests themselves."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from signalbook import promises
from signalbook.project import Project
from tests.promises import note
from tests.signalbook.minibook import ROOT


def test_without_a_run_there_are_no_figures(book):
    assert promises.figures(Project(book.root)).count("no run was kept yet") == 2


def test_what_tests_note_is_what_the_page_says(book, monkeypatch):
    path = book.root / promises.FILE
    note("Kills", 3)
    assert not path.exists(), "nothing is kept unless it is asked for"
    monkeypatch.setenv("SIGNALBOOK_PROMISES", str(path))
    note("Kills", 3)
    note("Clocks that jump")
    note("Kills", 1200)
    text = promises.figures(Project(book.root))
    assert "| Clocks that jump | 1 |\n| Kills | 1203 |\n" in text
    assert json.loads(path.read_text())["date"] in text


def test_the_fuzz_tests_have_a_table_of_their_own(book, monkeypatch):
    monkeypatch.setenv("SIGNALBOOK_PROMISES", str(book.root / promises.FUZZ))
    note("Examples for batches", 10_000)
    text = promises.figures(Project(book.root))
    assert "What was done: no run was kept yet.\n\n| Fuzz tests | Times |" in text
    assert "| Examples for batches | 10000 |" in text


def test_tests_side_by_side_lose_no_count(tmp_path, monkeypatch):
    path = tmp_path / "kept" / "promises.json"
    monkeypatch.setenv("SIGNALBOOK_PROMISES", str(path))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(note, ["Kills"] * 100))
    assert json.loads(path.read_text())["counts"] == {"Kills": 100}


TWO = """
from hypothesis import strategies as st
from tests.fuzz.budget import fuzz

@fuzz(x=st.integers())
def test_good(x):
    pass

@fuzz(x=st.integers())
def test_bad(x):
    assert x < 0
"""


@pytest.mark.slow
def test_a_fuzz_test_counts_once_it_has_passed(tmp_path):
    """Whatever becomes of the others, and of the run."""
    (tmp_path / "conftest.py").write_text("from tests.fuzz.conftest import *\n")
    (tmp_path / "test_two.py").write_text(TWO)
    path = tmp_path / "fuzz.json"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--rootdir", str(tmp_path), "-c", os.devnull],
        cwd=tmp_path,
        env=os.environ | {"SIGNALBOOK_PROMISES": str(path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert "1 failed, 1 passed" in run.stdout
    assert json.loads(path.read_text())["counts"] == {"Examples for good": 40}
