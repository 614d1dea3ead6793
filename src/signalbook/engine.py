"""Snakemake as the engine: started, watched and ended with all that it started."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import IO, Any, NoReturn

from signalbook import lifeline
from signalbook.errors import BookError
from signalbook.files import read_json
from signalbook.project import Project

__all__ = [
    "Watch",
    "end_as_interrupted",
    "engine_failed",
    "only_one",
    "read_profiles",
    "run_engine",
    "states_below",
]

States = Mapping[str, Mapping[str, Any]]

LOOKS = 0.5  # seconds between two looks at what the jobs say: each reads a file a job


def run_engine(
    project: Project,
    config: Mapping[str, str],
    cores: int,
    watch: Watch,
    lock: IO[str],
    targets: Sequence[str] = (),
    where: Path | None = None,
) -> int:
    """Let Snakemake make the ``targets`` (default: the book), and return its exit code.

    ``where`` is the folder of a workflow profile, say of a cluster; jobs run here without it.
    """
    command = [sys.executable, "-m", "snakemake", *targets, "--cores", str(cores), "--nolock"]
    options = ["--rerun-incomplete", "--keep-going"]
    options += ["--config", *(f"{name}={value}" for name, value in config.items())]
    options += ["--workflow-profile", str(where)] if where else []
    with _log(project).open("w") as log:
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
            while engine.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    engine.wait(LOOKS)
                watch.look()
        finally:
            _end(engine)
    return engine.returncode


def read_profiles(project: Project, text: str) -> tuple[str, Path | None]:
    """Return the sizes to run at, and the workflow profile of the place where to run.

    ``text`` names one of them or both: ``fast``, ``slurm``, ``paper slurm``, ``slurm-of-mine``. All
    are folders below ``profiles/``; that of a place holds a ``config.yaml``, and may be given by
    its path. ``paper`` reduces nothing and needs no folder.
    """
    sizes, where = [], []
    for name in text.split():
        folder = next(
            (f for f in (project.root / "profiles" / name, Path(name).expanduser()) if f.is_dir()),
            None,
        )
        if folder is not None and (folder / "config.yaml").is_file():
            where.append(folder.resolve())
        elif name == "paper" or (project.root / "profiles" / name).is_dir():
            sizes.append(name)
        else:
            raise BookError(f"there is no profile {name!r}: add profiles/{name}/")
    if len(sizes) > 1 or len(where) > 1:
        raise BookError(f"PROFILE names sizes and a place, one of each at most, got {text!r}")
    return next(iter(sizes), "fast"), next(iter(where), None)


def engine_failed(project: Project) -> NoReturn:
    """No job explains the failure: the engine itself, or what it reads, does not work."""
    lines = _log(project).read_text().splitlines()
    begins = [place for place, line in enumerate(lines) if line.startswith("error: ")]
    if not begins:
        raise BookError("Snakemake failed:\n  " + "\n  ".join(lines[-25:]))
    first, *rest = lines[begins[0] :]
    message = [first.removeprefix("error: "), *takewhile(lambda line: line.startswith("  "), rest)]
    raise BookError("\n".join(message))


def _log(project: Project) -> Path:
    return project.build / "snakemake.log"


def _end(engine: subprocess.Popen[bytes]) -> None:
    """End the engine and its jobs, politely first: on a cluster it has jobs to take back."""
    for number, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, None)):
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(engine.pid, number)
            engine.wait(patience)


@contextmanager
def only_one(path: Path, what: str) -> Iterator[IO[str]]:
    """Hold the lock at ``path``; where another process holds it, say so and wait.

    The system drops it with its holder: a kill leaves nothing to undo.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"another {what} is still running; waiting for it to end", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def end_as_interrupted() -> None:
    """Let the signals that end a process end it as Ctrl-C does: with what it started."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


def states_below(folder: Path, names: str = "*.json") -> dict[str, dict[str, Any]]:
    """What the jobs last said in the files below a folder, the latest at the end."""
    paths = sorted(folder.rglob(names), key=lambda path: path.stat().st_mtime_ns)
    found = [path.relative_to(folder).with_suffix("").as_posix() for path in paths]
    said = {name: read_json(path) for name, path in zip(found, paths, strict=True)}
    return {name: state for name, state in said.items() if state}


LINES = {
    "running": "{name} started",
    "done": "{name} done in {seconds} s",
    "failed": "{message}",
}


@dataclass
class Watch:
    """Turns what the jobs say of themselves into lines for a person.

    ``states`` returns what they last said by name, ``planned`` the names of all that will run,
    ``expected`` how many seconds one may take, ``progress`` a few words on one that runs. When none
    runs, the engine is ``idle``.
    """

    states: Callable[[], States]
    planned: Callable[[], Sequence[str]]
    expected: Callable[[str], float]
    cores: int
    progress: Callable[[str], str] = lambda name: ""
    idle: str = "waiting"
    begun: float = field(default_factory=time.monotonic)
    told: dict[str, str] = field(default_factory=dict)
    spoke: float = field(default_factory=time.monotonic)

    def look(self) -> None:
        """Say what is new, and every twenty seconds what is running."""
        states = self.states()
        for name, state in states.items():
            if self.told.get(name) != state["state"]:
                self.told[name] = state["state"]
                self._say(LINES[state["state"]].format(name=name, **state), states)
        if time.monotonic() - self.spoke > 20:
            running = [
                f"{name} (cell {state['cell']} of {state['cells']}{self.progress(name)})"
                for name, state in states.items()
                if state["state"] == "running"
            ]
            self._say("running " + ", ".join(running) if running else self.idle, states)

    def _say(self, text: str, states: States) -> None:
        self.spoke = time.monotonic()
        plan = self.planned()
        ended = sum(state["state"] != "running" for state in states.values())
        left = sum(
            self.expected(name)
            for name in plan
            if states.get(name, {}).get("state", "running") == "running"
        )
        print(
            f"[{ended}/{max(len(plan), len(states))}] {text}  · "
            f"{time.monotonic() - self.begun:.0f} s elapsed, about {left / self.cores:.0f} s to go",
            flush=True,
        )
