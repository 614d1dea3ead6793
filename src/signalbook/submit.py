"""Records as jobs of the engine: ``make paper PROFILE=slurm``.

A record is written by its job, whole, where `make paper` writes it too; what the engine looks at is
a mark beside the order, so that it never takes a record away.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from signalbook import costs
from signalbook.build import fetch_data
from signalbook.engine import Watch, end_as_interrupted, engine_failed, only_one, run_engine
from signalbook.errors import BookError
from signalbook.files import read_json, replace
from signalbook.paper import make_record
from signalbook.parameters import resolve
from signalbook.project import Project
from signalbook.source import Source

__all__ = ["record_as_ordered", "submit"]


def submit(
    project: Project,
    chapters: Sequence[str],
    chosen: Mapping[str, Any],
    cores: int,
    where: Path | None,
) -> int:
    """Make the records of chapters at a place, side by side; return the exit code.

    ``chosen`` values come before the document's.
    """
    if not chapters:
        print("every record is there, and made by the code of today")
        return 0
    end_as_interrupted()
    with only_one(project.build / "recorded" / "lock", "making of records") as lock:
        guesses = {chapter: _order(project, chapter, chosen) for chapter in chapters}
        for chapter, guess in guesses.items():
            print(f"{chapter}: {costs.roughly(guess.seconds)}, {guess.because}", flush=True)
        fetch_data(project, chapters)

        def states() -> dict[str, Mapping[str, Any]]:
            said = {c: read_json(_folder(project, c) / "status.json") for c in chapters}
            return {chapter: state for chapter, state in said.items() if state}

        def expected(chapter: str) -> float:
            return guesses[chapter].seconds

        watch = Watch(states, lambda: chapters, expected, cores)
        done = [_folder(project, chapter) / "done.json" for chapter in chapters]
        targets = [path.relative_to(project.root).as_posix() for path in done]
        code = run_engine(project, {"goal": "records"}, cores, watch, lock, targets, where)
        if code and not any(state["state"] == "failed" for state in states().values()):
            engine_failed(project)
    for chapter, path in zip(chapters, done, strict=True):
        print(f"{'recorded' if path.is_file() else 'FAILED  '} {chapter}")
    return int(code != 0)


def record_as_ordered(project: Project, chapter: str) -> None:
    """Record a chapter as it was ordered (the engine calls it)."""
    folder = _folder(project, chapter)
    chosen = (read_json(folder / "order.json") or {}).get("chosen", {})

    def tell(state: str, **details: Any) -> None:
        replace(folder / "status.json", json.dumps({"state": state, **details}).encode())

    tell("running", cell=0, cells=1)
    try:
        path = make_record(
            project, chapter, chosen, lambda cell, cells: tell("running", cell=cell, cells=cells)
        )
    except BookError as error:
        tell("failed", message=str(error))
        raise
    seconds = json.loads(path.read_bytes())["seconds"]
    tell("done", seconds=seconds)
    replace(folder / "done.json", json.dumps({"seconds": seconds}).encode())


def _folder(project: Project, chapter: str) -> Path:
    return project.build / "recorded" / chapter


def _order(project: Project, chapter: str, chosen: Mapping[str, Any]) -> costs.Estimate:
    """Write the order of a record; return how long it may take."""
    parameters = resolve(Source(project.source(chapter)).parameters, dict(chosen), chapter)
    folder = _folder(project, chapter)
    for name in ("status.json", "done.json"):
        (folder / name).unlink(missing_ok=True)
    needs = costs.needs(project, chapter, parameters)
    order = {"chosen": dict(chosen), "needs": needs, "issued": time.time_ns()}
    replace(folder / "order.json", json.dumps(order, indent=1).encode())
    return costs.estimate(project, chapter, parameters)
