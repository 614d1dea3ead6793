"""The figures of the page on what the project promises: how often the tests tried to break it."""

from __future__ import annotations

from signalbook.files import read_json
from signalbook.project import Project
from signalbook.words import show

__all__ = ["figures"]

# Both are written by the tests, see `tests/promises.py`.
FILE = "records/promises.json"
FUZZ = "records/fuzz.json"


def figures(project: Project) -> str:
    """The last run of the tests that try the promises, and what the fuzz tests have drawn."""
    return _table(project, FILE, "What was done") + "\n" + _table(project, FUZZ, "Fuzz tests")


def _table(project: Project, file: str, head: str) -> str:
    """What a file of counts holds, as a table and a sentence."""
    found = read_json(project.root / file)
    if not found:
        return f"{head}: no run was kept yet.\n"
    lines = [f"| {head} | Times |", "| --- | ---: |"]
    lines += [f"| {what} | {show(times)} |" for what, times in sorted(found["counts"].items())]
    return "\n".join([*lines, "", f"Last run: {found['date']}, {found['machine']}.", ""])
