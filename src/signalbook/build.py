"""``make book``: drive the engine, tell what happens, sum up at the end."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

from signalbook import costs
from signalbook.engine import (
    Watch,
    end_as_interrupted,
    engine_failed,
    only_one,
    run_engine,
    states_below,
)
from signalbook.errors import BookError
from signalbook.files import read_json, write
from signalbook.keys import values
from signalbook.ledger import Ledger, collect
from signalbook.project import Project
from signalbook.site import NOT_EXECUTED, STAMP, build_site, problems
from signalbook.source import Source
from signalbook.weights import heaviest

__all__ = ["build", "fetch_data"]


def build(project: Project, profile: str, cores: int, where: Path | None = None) -> int:
    """Execute what is stale, build the site, print a summary; return the exit code.

    ``profile`` says at which sizes, ``where`` on which cluster, if not here.
    """
    status = project.build / "status"
    status.mkdir(parents=True, exist_ok=True)
    end_as_interrupted()
    with only_one(project.build / "lock", "build of this book") as lock, _kept(project):
        before = time.monotonic()
        for path in status.rglob("*.json"):
            path.unlink()
        fetch_data(project, project.chapters)
        watch = _watch(project, profile, cores)
        code = run_engine(project, {"profile": profile}, cores, watch, lock, where=where)
        ledger = collect(project)
        wrong = problems(project, ledger)
        if code and (not wrong or any(text.endswith(NOT_EXECUTED) for text in wrong)):
            engine_failed(project)
        if wrong or not (project.site / STAMP).is_file():
            # The engine stops short of the site when a chapter fails; its page must say so.
            ledger = build_site(project)
        # before the lock is free: the build that waits for it begins by removing what this reads
        _summary(project, ledger, wrong, time.monotonic() - before)
    return 1 if wrong else 0


@contextmanager
def _kept(project: Project) -> Iterator[None]:
    """Say it where somebody removed the build's folder, with all that was made in it."""
    try:
        yield
    except (FileNotFoundError, BookError) as error:
        if (project.build / "lock").is_file():
            raise
        raise BookError(
            f"{project.build.name} was removed during the build: run the same command again"
        ) from error


def fetch_data(project: Project, chapters: Iterable[str]) -> None:
    """Fetch the data sets that chapters declare, here, where a person sees the progress.

    A marker remembers what is in the cache. What cannot be had is said once more by the chapter
    that needs it; the others go on.
    """
    for name in sorted({name for chapter in chapters for name in _data(project, chapter)}):
        marker = project.build / "data" / name
        if not marker.is_file():
            run = subprocess.run([sys.executable, "-m", "signalprop.data", "fetch", name])
            if run.returncode == 0:
                write(marker, "")


def _data(project: Project, chapter: str) -> list[str]:
    try:
        return Source(project.source(chapter)).data
    except BookError:
        return []  # the chapter's own run says what is wrong with it


def _watch(project: Project, profile: str, cores: int) -> Watch:
    def progress(chapter: str) -> str:
        try:
            return f": {project.progress(chapter).read_text()}"
        except FileNotFoundError:
            return ""  # it does not train, or ended just now

    return Watch(
        states=partial(states_below, project.build / "status"),
        planned=lambda: read_json(project.build / "plan.json") or [],
        expected=cache(partial(_expected, project, profile)),
        cores=cores,
        progress=progress,
        idle="building the site",
    )


def _expected(project: Project, profile: str, chapter: str) -> float:
    try:
        parameters = values(project, Source(project.source(chapter)), chapter, profile)
    except BookError:
        return 0.0
    return costs.estimate(project, chapter, parameters).seconds


def _summary(project: Project, ledger: Ledger, wrong: list[str], seconds: float) -> None:
    states = states_below(project.build / "status")
    done = {name: state for name, state in states.items() if state["state"] == "done"}
    print(f"\nExecuted {len(done)} of {len(project.chapters)} chapters; {seconds:.0f} s in all.")
    slowest = sorted(done.items(), key=lambda item: -item[1]["cpu_seconds"])[:5]
    for name, state in slowest:
        print(f"  {state['cpu_seconds']:6.1f} s CPU  {state['memory_mb']:5} MB  {name}")
    if (project.site / STAMP).is_file():
        print("Pages that load most:")
        for weight, page in heaviest(project.site):
            print(f"  {weight / 1e6:6.2f} MB  {page}")
    print("Verdicts: " + ", ".join(f"{n} {verdict}" for verdict, n in ledger.counts().items() if n))
    for message in wrong:
        print(f"WRONG  {message}")
    print(f"The site is {project.site / 'index.html'}")
