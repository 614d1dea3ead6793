"""What the page of costs says of what was measured, recorded, guessed and never run."""

from types import SimpleNamespace

import pytest

from signalbook import costs
from signalbook.cost_page import cost_page
from signalbook.project import Project
from signalbook.source import Source

CHAPTER = "one/gap"


@pytest.fixture
def project(book):
    book.chapter(CHAPTER, "ORTH-T1")
    return Project(book.root)


def page_of(project):
    return cost_page(project, {c: Source(project.source(c)).title for c in project.chapters})


def test_the_cost_page_says_what_was_measured_and_what_is_a_guess(project, book):
    took = SimpleNamespace(seconds=8.0, cpu_seconds=4.2, memory_mb=300)
    costs.keep(project, CHAPTER, {"runs": 20, "device": "cpu", "seed": 0}, took)
    book.chapter("one/reduced", "ORTH-T2")
    (book.root / "profiles" / "fast" / "one").mkdir()
    (book.root / "profiles" / "fast" / "one" / "reduced.yml").write_text("runs: 5  # enough\n")
    costs.keep(Project(book.root), "one/reduced", {"runs": 5, "device": "cpu", "seed": 0}, took)
    page = page_of(Project(book.root))
    assert "(../chapters/one/gap) | 8 s | 4 s | 300 MB | cpu | the same |  |  |" in page
    assert "(../chapters/one/reduced) | 8 s | 4 s | 300 MB | cpu | about 32 s |  |  |" in page
    assert "All 2 chapters with a measurement took 8 s of CPU time together" in page
    costs.keep(
        Project(book.root),
        "one/reduced",
        {"runs": 20, "device": "cpu", "seed": 0},
        SimpleNamespace(seconds=7300.0, cpu_seconds=1.0, memory_mb=900),
    )
    page = page_of(Project(book.root))
    assert "one/reduced) | 8 s | 4 s | 300 MB | cpu | 2 h 2 min | 900 MB | cpu |" in page


def test_what_was_never_run_is_not_measured(project):
    page = page_of(project)
    assert "| [Chapter gap](../chapters/one/gap) | not measured |  |  |  | the same |  |  |" in page
    assert "Measured on: no machine" in page
