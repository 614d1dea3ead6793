"""``make paper``: run chapters at the documents' own sizes and write their records.

A run that was stopped goes on from its checkpoints (:mod:`signalbook.longrun`). A record is written
whole, by a run that came to its end, or not at all.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from signalbook import costs, lifeline
from signalbook.errors import BookError
from signalbook.execute import execute
from signalbook.files import read_json, replace, write
from signalbook.keys import code_changes, values
from signalbook.outputs import claims_in, figures_in
from signalbook.parameters import resolve
from signalbook.project import Project
from signalbook.records import read_record, seal
from signalbook.scale import OURS
from signalbook.source import Source
from signalbook.thinning import thinned
from signalbook.vouch import counted, twin

__all__ = ["budget", "due", "make_due", "make_record"]


def make_record(
    project: Project,
    chapter: str,
    chosen: Mapping[str, Any],
    on_cell: Callable[[int, int], None] = lambda cell, cells: None,
) -> Path:
    """Execute a chapter with the document's values and store what it found.

    ``chosen`` values come before the document's: the device, or the largest size that is to be had.
    What the record keeps is listed in ``pages/executing.md``.
    """
    source = Source(project.source(chapter))
    parameters = resolve(source.parameters, dict(chosen), chapter)
    if costs.work(parameters, values(project, source, chapter, "fast")) < 1:
        raise BookError(f"{chapter} is recorded at no smaller a size than that of the fast profile")
    fast, kept = twin(project, chapter, on_cell)  # first: a failure would cost the long run
    with _clock(project, chapter) as spent:
        run = execute(project, chapter, dict(chosen), on_cell=on_cell)
        seconds = spent()
    changes = [
        name for ran in (fast, run.ran) for name in code_changes(project, chapter, ran["code"])
    ]
    if changes:
        raise BookError(f"nothing is recorded: {', '.join(changes)} changed during the run")
    record = {
        "chapter": chapter,
        **counted(run.ran),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "device": costs.device_name(str(parameters.get("device", "cpu"))),
        "machine": f"{platform.system()} {platform.machine()}",
        "seconds": round(seconds, 1),
        "memory_mb": run.memory_mb,
        "versions": run.ran["versions"],
        "parameters": parameters,
        "claims": claims_in(run.notebook.cells),
        "figures": {
            figure["name"]: {
                "csv": thinned(figure["csv"]),
                "reduced": figure.get("reduced", []),
            }
            for figure in figures_in(run.notebook.cells)
        },
        "twin": kept,
    }
    record = json.loads(json.dumps(record))  # as it will be read: the seal is over that
    record["seal"] = seal(record)
    path = project.record(chapter)
    replace(path, json.dumps(record, indent=1, sort_keys=True).encode() + b"\n")
    return path


def due(project: Project) -> list[tuple[float, str]]:
    """The chapters whose record is missing or stale, with about how many seconds each takes.

    The cheapest come first; the times are those of :mod:`signalbook.costs`. A chapter that no
    profile reduces runs at the document's size with every build and needs no record.
    """
    found = []
    for chapter in project.chapters:
        source = Source(project.source(chapter))
        try:
            reduced = values(project, source, chapter, "fast")
        except BookError:
            found.append((0.0, chapter))  # its own run says what is wrong with it
            continue
        document = {name: p.default for name, p in source.parameters.items()}
        differing = {n: v for n, v in reduced.items() if v != document[n] and n not in OURS}
        try:
            record = read_record(project, chapter)
        except BookError:
            record = None  # not as its run left it
        if record is not None and not record.fresh:
            found.append((float(record["seconds"]), chapter))
        elif record is None and differing:
            found.append((costs.estimate(project, chapter, document).seconds, chapter))
    return sorted(found)


def make_due(project: Project, seconds: float = np.inf) -> int:
    """Make the records that are due until ``seconds`` have passed; return the exit code.

    What the end of the time stops goes on from its checkpoints when it is run again.
    """
    chapters = due(project)
    if not chapters:
        print("every record is there, and made by the code of today")
    ends, failed = time.monotonic() + seconds, 0
    for place, (estimate, chapter) in enumerate(chapters):
        if (left := ends - time.monotonic()) <= 0:
            names = ", ".join(chapter for _, chapter in chapters[place:])
            print(f"the time is over; still to record: {names}")
            break
        known = "when it was recorded" if project.record(chapter).is_file() else "by a rough guess"
        print(f"{chapter}: {costs.roughly(estimate)}, {known}", flush=True)
        code = _recorded_within(left, chapter, project)
        failed += code not in (0, None)
        if code is None:
            print(f"{chapter} was stopped; it goes on from its checkpoints next time")
    return int(failed > 0)


def budget(text: str) -> float:
    """Return the seconds that a budget allows; without one there is no end.

    >>> budget("2h"), budget("1h30m"), budget("45s"), budget("")
    (7200.0, 5400.0, 45.0, inf)
    """
    found = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", text.strip())
    if found is None:
        raise BookError(f"BUDGET must be like 2h, 90m or 1h30m, got {text!r}")
    if not text.strip():
        return np.inf
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return 3600.0 * hours + 60.0 * minutes + seconds


def _recorded_within(seconds: float, chapter: str, project: Project) -> int | None:
    """Record a chapter in a process of its own; return its exit code, None if time ended it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "signalbook", "paper", "--", chapter],
        cwd=project.root,
        env=os.environ | lifeline.environment(),
        start_new_session=True,
    )
    try:
        return process.wait(seconds if np.isfinite(seconds) else None)
    except subprocess.TimeoutExpired:
        return None
    finally:
        for number in (signal.SIGINT, signal.SIGKILL):
            if process.poll() is None:
                os.killpg(process.pid, number)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    continue


@contextmanager
def _clock(project: Project, chapter: str) -> Iterator[Callable[[], float]]:
    """The time that a run has taken, with what it took before it was stopped."""
    path = project.build / "paper" / f"{chapter}.json"
    resumes = any(project.checkpoints(chapter).rglob("*.pt"))
    before = float((read_json(path) or {}).get("seconds", 0)) if resumes else 0.0
    begun, over = time.monotonic(), threading.Event()

    def spent() -> float:
        return before + time.monotonic() - begun

    def keep() -> None:
        while not over.wait(10):
            write(path, json.dumps({"seconds": spent()}))

    thread = threading.Thread(target=keep, daemon=True)
    thread.start()
    try:
        yield spent
    finally:
        over.set()
        thread.join()
