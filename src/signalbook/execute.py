"""Execute one chapter: papermill in, a complete notebook or a clear failure out."""

from __future__ import annotations

import copy
import json
import os
import resource
import signal
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import papermill
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_code_cell

from signalbook import costs
from signalbook.errors import BookError
from signalbook.files import read_json, replace, write
from signalbook.keys import seal, stale, wanted
from signalbook.longrun import RUN, forget
from signalbook.parameters import resolve
from signalbook.project import Project
from signalbook.source import Source
from signalbook.witness import MIME

__all__ = [
    "ChapterError",
    "Failure",
    "Job",
    "Run",
    "as_ran",
    "carry_out",
    "execute",
    "execute_for_site",
    "how_it_died",
    "in_mb",
    "portable",
    "threads",
]


@dataclass(frozen=True)
class Failure:
    """Why a chapter did not finish, as its page and the terminal tell it."""

    chapter: str
    error: str
    remedy: str
    source: str = ""

    def __str__(self) -> str:
        cell = "".join(f"    | {line}\n" for line in self.source.splitlines())
        where = f"  in the cell\n{cell}" if cell else ""
        return f"{self.chapter} failed: {self.error}\n{where}  {self.remedy}"


@dataclass(frozen=True)
class Run:
    """An executed notebook, what ran in its kernel, and what it cost."""

    notebook: Any
    ran: dict[str, Any]
    seconds: float
    cpu_seconds: float
    memory_mb: float


class ChapterError(BookError):
    """A chapter failed; ``failure`` says how."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


class Job(NamedTuple):
    """A run that the engine asks for: of which chapter, and where order and outcome lie.

    The order holds a profile, and ``chosen`` values that come before it.
    """

    chapter: str
    order: Path
    executed: Path
    failure: Path
    status: Path
    time_limit: int | None = None


def execute_for_site(project: Project, chapter: str) -> None:
    """Execute a chapter as it was ordered and leave its notebook where the site looks."""
    try:
        limit = Source(project.source(chapter)).time_limit
    except BookError:
        limit = None  # the run says what is wrong
    carry_out(
        project,
        Job(
            chapter,
            project.key(chapter),
            project.executed(chapter),
            project.failure(chapter),
            project.build / "status" / f"{chapter}.json",
            limit,
        ),
    )


def carry_out(project: Project, job: Job) -> None:
    """Execute a job and put its notebook in place.

    While it runs, its status says how far it is; a failure is left in a file and the notebook of an
    earlier run is removed, so that nothing old passes for new. What changed while it ran makes its
    result one of the past: that is discarded, and replaces nothing.
    """
    chapter, issued = job.chapter, job.order.read_bytes()
    job.failure.unlink(missing_ok=True)

    def tell(state: str, **details: Any) -> None:
        replace(job.status, json.dumps({"state": state, **details}).encode())

    tell("running", cell=0, cells=1)
    try:
        run = _sealed(project, job, lambda cell, cells: tell("running", cell=cell, cells=cells))
    except Exception as error:  # whatever it is, it is named, and the other chapters go on
        failure = _failure(chapter, error)
        if job.order.read_bytes() == issued:
            job.executed.unlink(missing_ok=True)
            write(job.failure, json.dumps(asdict(failure)))
        tell("failed", message=str(failure))
        raise ChapterError(failure) from error
    if why := stale(project, chapter, run.notebook, **_asked(job)):
        tell("failed", message=f"{chapter} is not kept: {why}")
        raise BookError(f"{chapter} is not kept: {why}; run the same command again")
    replace(job.executed, json.dumps(run.notebook, indent=1, sort_keys=True).encode())
    costs.keep(project, chapter, run.notebook["metadata"]["made"]["key"]["parameters"], run)
    tell("done", seconds=run.seconds, cpu_seconds=run.cpu_seconds, memory_mb=run.memory_mb)


def _asked(job: Job) -> dict[str, Any]:
    """The profile and the values that a job's order holds."""
    order = read_json(job.order) or {}
    return {"profile": str(order.get("profile", "")), "chosen": order.get("chosen", {})}


def _failure(chapter: str, error: Exception) -> Failure:
    if isinstance(error, ChapterError):
        return error.failure
    said = str(error) if isinstance(error, BookError) else f"{type(error).__name__}: {error}"
    return Failure(chapter, said, "Mend it, then run again.")


def _sealed(project: Project, job: Job, on_cell: Callable[[int, int], None]) -> Run:
    """Run a chapter as ordered; its notebook carries the key that it was run under."""
    before = wanted(project, job.chapter, **_asked(job))
    run = execute(
        project, job.chapter, before["parameters"], time_limit=job.time_limit, on_cell=on_cell
    )
    seal(run.notebook, before | run.ran)
    return run


def execute(
    project: Project,
    chapter: str,
    values: dict[str, Any],
    *,
    time_limit: int | None = None,
    on_cell: Callable[[int, int], None] = lambda cell, cells: None,
) -> Run:
    """Run a chapter with the given parameter values; raise ``ChapterError`` if it fails."""
    source = Source(project.source(chapter))
    source.check()
    parameters = resolve(source.parameters, values, chapter)
    defaults = {name: p.default for name, p in source.parameters.items()}
    changed = {name: value for name, value in parameters.items() if value != defaults[name]}
    begun, before = time.monotonic(), _cpu_time()
    run = os.environ[RUN] = uuid.uuid4().hex
    try:
        notebook = _Papermill(project, chapter, source, on_cell).run(changed, time_limit)
    finally:
        project.progress(chapter).unlink(missing_ok=True)
    forget(project.checkpoints(chapter), run)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    testimony = notebook.cells.pop()["outputs"][0]["data"][MIME]
    return Run(
        portable(notebook),
        as_ran(source, testimony),
        round(time.monotonic() - begun, 1),
        round(_cpu_time() - before, 1),
        in_mb(memory),
    )


def as_ran(source: Source, testimony: dict[str, Any]) -> dict[str, Any]:
    """Return what a run rested on, of what its kernel tells at the end."""
    code = {"cells": source.code_digest, "modules": testimony["modules"]}
    return {"code": code, "files": testimony["files"], "versions": testimony["versions"]}


def in_mb(memory: int) -> int:
    """Return what the system calls the largest memory of a process: bytes on macOS, else kB."""
    return round(memory / (2**20 if sys.platform == "darwin" else 2**10))


def _cpu_time() -> float:
    """Seconds that the processors have worked for the kernels that this process has ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Kernel(AsyncKernelManager):
    """A kernel whose end is remembered: papermill only says that it is dead."""

    exit_code: int | None = None

    async def is_alive(self) -> bool:  # type: ignore[override]
        """Ask whether the kernel runs."""
        alive: bool = await super().is_alive()
        if not alive and self.provisioner:
            _Kernel.exit_code = await self.provisioner.poll()
        return alive


class _Papermill:
    """One run of a chapter, watched: what it loads, how much it shows, how it ends."""

    def __init__(
        self, project: Project, chapter: str, source: Source, on_cell: Callable[[int, int], None]
    ) -> None:
        self.project, self.chapter, self.source, self.on_cell = project, chapter, source, on_cell
        self.cell = ""
        self.shown = 0

    def run(self, changed: dict[str, Any], time_limit: int | None) -> Any:
        """Return the executed notebook, the kernel's testimony as its last cell."""
        notebook = copy.deepcopy(self.source.notebook)
        testify = new_code_cell(TESTIFY, id="testimony")  # type: ignore[no-untyped-call]
        notebook.cells.append(testify)
        # A chapter has one thread: the cores run chapters side by side, no sum depends on a split.
        os.environ |= threads()
        try:
            done = papermill.execute_notebook(
                notebook,
                None,
                parameters=changed,
                kernel_name="python3",
                progress_bar=False,
                log_output=False,
                start_timeout=PATIENCE,
                execution_timeout=time_limit,
                iopub_timeout=PATIENCE,
                cwd=str(self.project.root),
                kernel_manager_class=_Kernel,
                # Nothing of the kernel's own: cells tell their errors, messages carry a signature,
                # which its warning about local traffic does not mention, and how it takes an
                # interrupt is of no use to the person who sent it.
                extra_arguments=[f"--IPKernelApp.exec_lines={WATCH}", "--log-level=50"],
                on_cell_start=self._started(len(notebook.cells) - 1 + bool(changed)),
                on_cell_executed=self._executed,
            )
        except papermill.PapermillExecutionError as error:
            raise self._fail(
                f"{error.ename}: {error.evalue}", "Mend the cell, run again."
            ) from error
        except CellTimeoutError as error:
            raise self._fail(*_what_took_long(str(error), time_limit)) from error
        except DeadKernelError as error:
            raise self._fail(*how_it_died(_Kernel.exit_code)) from error
        except OSError as error:
            remedy = "Free some space or fix the permissions, then run again."
            raise self._fail(str(error.strerror or error), remedy) from error
        if not done.cells[-1].get("outputs"):
            raise self._fail(
                "the chapter ended before its last cell", "Take the call of `sys.exit` out."
            )
        return done

    def _started(self, cells: int) -> Callable[..., None]:
        def started(cell: Any, cell_index: int) -> None:
            if cell_index < cells:
                self.cell = cell.source
                self.on_cell(cell_index + 1, cells)

        return started

    def _executed(self, cell: Any, **_: Any) -> None:
        outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        self.shown += len(json.dumps(outputs))
        if self.shown > LARGEST:
            raise self._fail(
                f"its outputs exceed {LARGEST / 1e6:.0f} MB, too much for a page",
                "Print less, or draw with `raster=True`.",
            )

    def _fail(self, error: str, remedy: str) -> ChapterError:
        return ChapterError(Failure(self.chapter, error, remedy, self.cell))


WATCH = "from signalbook.witness import watch; watch(); del watch"
TESTIFY = "from signalbook.witness import Testimony\nTestimony()"
LARGEST = 10_000_000  # characters of output that a page may carry
PATIENCE = 300  # seconds for a kernel to start, or to hand over what a cell has shown


def _what_took_long(said: str, limit: int | None) -> tuple[str, str]:
    """Whether a cell ran out of time, or what it has shown did not come; and what helps."""
    if "IOPub" in said:
        return (
            f"what a cell has shown did not arrive within {PATIENCE} s",
            "Show less, or run fewer chapters at once (CORES=1).",
        )
    return (
        f"a cell ran longer than its limit of {limit} s",
        "Make it cheaper, or raise `time_limit` in the chapter's front matter.",
    )


def how_it_died(code: int | None) -> tuple[str, str]:
    """Return what the exit code of a kernel says, and what helps."""
    if code is None or code == -signal.SIGKILL:
        return (
            "the kernel was killed, most likely because the machine ran out of memory",
            "Reduce the sizes in the chapter's profile, or run fewer chapters at once (CORES=1).",
        )
    if code < 0:
        ended = signal.Signals(-code)
        if ended in (signal.SIGTERM, signal.SIGHUP):
            return f"the kernel was ended from elsewhere, by {ended.name}", "Run again."
        return (
            f"the kernel was ended by {ended.name}",
            "Look for a crash in compiled code in the cell.",
        )
    return (
        f"the kernel ended by itself, with exit code {code}",
        "Look for `os._exit` in what the cell calls, and for `quit` in the one before.",
    )


THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def threads() -> dict[str, str]:
    """Return the variables that give a chapter one thread, or as many as are asked for."""
    return {name: os.environ.get("SIGNALBOOK_THREADS", "1") for name in THREADS}


def portable(notebook: Any) -> Any:
    """Return the notebook without times, paths and versions of this machine.

    Equal runs have equal bytes. What code says on its standard error (progress, warnings) is for
    the one who runs it.
    """
    notebook.metadata.pop("papermill", None)
    notebook.metadata.pop("language_info", None)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        for name in ("papermill", "execution"):
            cell.metadata.pop(name, None)
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]  # papermill adds an empty list
        if cell.cell_type == "code":
            cell["outputs"] = [o for o in cell.outputs if o.get("name") != "stderr"]
    return notebook
