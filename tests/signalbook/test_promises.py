"""The figures of the page on promises come from the tests themselves."""

import json

from signalbook import promises
from signalbook.project import Project
from tests.promises import note


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
