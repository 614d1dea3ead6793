"""The figures of the page on promises come from the tests themselves."""

import json

from signalbook import promises
from signalbook.project import Project
from tests.promises import note


def test_without_a_run_there_are_no_figures(book):
    assert promises.figures(Project(book.root)) == "No run of these tests was kept yet.\n"


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
