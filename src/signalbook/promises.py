"""The figures of the page on what the project promises: how often the tests tried to break it."""

from __future__ import annotations

from signalbook.files import read_json
from signalbook.project import Project
from signalbook.words import show

__all__ = ["figures"]

FILE = "records/promises.json"  # written by the tests, see `tests/promises.py`


def figures(project: Project) -> str:
    """The last run of the tests that try the promises, as a table and a sentence."""
    found = read_json(project.root / FILE)
    if not found:
        return "No run of these tests was kept yet.\n"
    lines = ["| What was done | Times |", "| --- | ---: |"]
    lines += [f"| {what} | {show(times)} |" for what, times in sorted(found["counts"].items())]
    return "\n".join([*lines, "", f"Last run: {found['date']}, {found['machine']}.", ""])
