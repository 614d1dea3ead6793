"""``make book``: drive the engine, tell what happens, sum up at the end."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import takewhile
from typing import IO, Any, NoReturn

from signalbook import lifeline
from signalbook.errors import BookError
from signalbook.files import read_json, write
from signalbook.ledger import Ledger, collect
from signalbook.project import Project
from signalbook.site import NOT_EXECUTED, STAMP, build_site, problems
from signalbook.source import Source
from signalbook.weights import heaviest

__all__ = ["build"]


def build(project: Project, profile: str, cores: int) -> int:
    """Execute what is stale, build the site, print a summary; return the exit code."""
    (project.build / "status").mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)  # ends as Ctrl-C does
    with _only_one(project) as lock:
        before = time.monotonic()
        _forget_statuses(project)
        _fetch_data(project)
        code = _run_engine(project, profile, cores, lock)
        ledger = collect(project)
        wrong = problems(project, ledger)
        if code and (not wrong or any(text.endswith(NOT_EXECUTED) for text in wrong)):
            _engine_failed(project)
        if wrong or not (project.site / STAMP).is_file():
            # The engine stops short of the site when a chapter fails; its page must say so.
            ledger = build_site(project)
    _summary(project, ledger, wrong, time.monotonic() - before)
    return 1 if wrong else 0


def _engine_failed(project: Project) -> NoReturn:
    """No chapter explains the failure: the pages, or the engine itself, do not work."""
    lines = (project.build / "snakemake.log").read_text().splitlines()
    begins = [place for place, line in enumerate(lines) if line.startswith("error: ")]
    if not begins:
        raise BookError("Snakemake failed:\n  " + "\n  ".join(lines[-25:]))
    first, *rest = lines[begins[0] :]
    message = [first.removeprefix("error: "), *takewhile(lambda line: line.startswith("  "), rest)]
    raise BookError("\n".join(message))


@contextmanager
def _only_one(project: Project) -> Iterator[IO[str]]:
    """Hold the build's lock. The system drops it with its holder: a kill leaves nothing to undo."""
    with (project.build / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another build of this book is still running; waiting for it to end", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def _forget_statuses(project: Project) -> None:
    folder = project.build / "status"
    for path in folder.rglob("*.json"):
        state = read_json(path) or {}
        if state.get("state") == "done":
            write(project.build / "costs" / path.relative_to(folder), _dump(state))
        path.unlink()


def _fetch_data(project: Project) -> None:
    """Fetch the data sets that chapters declare, here, where a person sees the progress.

    A marker remembers what is in the cache. What cannot be had is said once more by the chapter
    that needs it; the others go on.
    """
    for name in sorted({name for chapter in project.chapters for name in _data(project, chapter)}):
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


def _run_engine(project: Project, profile: str, cores: int, lock: IO[str]) -> int:
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--nolock"]
    options = ["--rerun-incomplete", "--keep-going", "--config", f"profile={profile}"]
    extra = os.environ.get("SNAKEMAKE_PROFILE")
    options += ["--workflow-profile", extra] if extra else []
    with (project.build / "snakemake.log").open("w") as log:
        engine = subprocess.Popen(
            [*command, *options],
            cwd=project.root,
            env=os.environ | lifeline.environment(),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that it can be ended with all that it started
            pass_fds=[lock.fileno()],  # the lock outlives a killed parent until the engine ends
        )
        try:
            watch = _Watch(project, cores)
            while engine.poll() is None:
                time.sleep(0.1)
                watch.look()
            watch.look()
        finally:
            _end(engine)
    return engine.returncode


def _end(engine: subprocess.Popen[bytes]) -> None:
    """End the engine and its jobs, politely first: on a cluster it has jobs to take back."""
    for number, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, None)):
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(engine.pid, number)
            engine.wait(patience)


@dataclass
class _Watch:
    """Turns the status files that jobs leave into lines for a person."""

    project: Project
    cores: int
    begun: float = field(default_factory=time.monotonic)
    told: dict[str, str] = field(default_factory=dict)
    spoke: float = field(default_factory=time.monotonic)

    def look(self) -> None:
        states = self.states()
        for chapter, state in states.items():
            if self.told.get(chapter) != state["state"]:
                self.told[chapter] = state["state"]
                self._say(_LINES[state["state"]].format(chapter=chapter, **state), states)
        if time.monotonic() - self.spoke > 20:
            running = [
                f"{chapter} (cell {state['cell']} of {state['cells']}{self._progress(chapter)})"
                for chapter, state in states.items()
                if state["state"] == "running"
            ]
            self._say("running " + ", ".join(running) if running else "building the site", states)

    def _progress(self, chapter: str) -> str:
        path = self.project.progress(chapter)
        return f": {path.read_text()}" if path.is_file() else ""

    def states(self) -> dict[str, dict[str, Any]]:
        """What the jobs last said, the latest at the end."""
        folder = self.project.build / "status"
        paths = sorted(folder.rglob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        names = [path.relative_to(folder).with_suffix("").as_posix() for path in paths]
        said = {name: read_json(path) for name, path in zip(names, paths, strict=True)}
        return {name: state for name, state in said.items() if state}

    def _say(self, text: str, states: dict[str, dict[str, Any]]) -> None:
        self.spoke = time.monotonic()
        plan = self._planned()
        ended = sum(state["state"] != "running" for state in states.values())
        elapsed = time.monotonic() - self.begun
        left = sum(
            self._expected(chapter)
            for chapter in plan
            if states.get(chapter, {}).get("state", "running") == "running"
        )
        print(
            f"[{ended}/{max(len(plan), len(states))}] {text}"
            f"  · {elapsed:.0f} s elapsed, about {left / self.cores:.0f} s to go",
            flush=True,
        )

    def _planned(self) -> list[str]:
        return read_json(self.project.build / "plan.json") or []

    def _expected(self, chapter: str) -> float:
        if cost := read_json(self.project.build / "costs" / f"{chapter}.json"):
            return float(cost["seconds"])
        try:
            return Source(self.project.source(chapter)).seconds
        except BookError:
            return 0.0


_LINES = {
    "running": "{chapter} started",
    "done": "{chapter} done in {seconds} s",
    "failed": "{message}",
}


def _summary(project: Project, ledger: Ledger, wrong: list[str], seconds: float) -> None:
    states = _Watch(project, 1).states()
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


def _dump(value: object) -> str:
    return json.dumps(value, sort_keys=True)
