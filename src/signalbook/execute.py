"""Execute one chapter: papermill in, a complete notebook or a clear failure out."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from signalbook.errors import BookError
from signalbook.files import replace, write
from signalbook.parameters import resolve
from signalbook.project import Project
from signalbook.source import Source

__all__ = ["Failure", "Run", "execute", "execute_for_site"]


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
    """An executed notebook and what it cost."""

    notebook: Any
    seconds: float
    cpu_seconds: float
    memory_mb: float


class ChapterError(BookError):
    """A chapter failed; ``failure`` says how."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def execute_for_site(project: Project, chapter: str, profile: str) -> None:
    """Execute a chapter with a profile's values and leave its notebook where the site looks.

    The key file already holds the checked values. While it runs, ``_build/status`` says how far it
    is; a failure is left in ``_build/failed`` and the notebook of an earlier run is removed, so
    that nothing old passes for new.
    """
    output, failure, status = (
        project.executed(chapter),
        project.failure(chapter),
        project.build / "status" / f"{chapter}.json",
    )
    failure.unlink(missing_ok=True)
    values = json.loads(project.key(chapter).read_text())["parameters"]
    limit = Source(project.source(chapter)).time_limit

    def tell(**state: Any) -> None:
        replace(status, json.dumps(state).encode())

    tell(state="running", cell=0, cells=1)
    try:
        run = execute(
            project,
            chapter,
            values,
            time_limit=limit,
            on_cell=lambda cell, cells: tell(state="running", cell=cell, cells=cells),
        )
    except ChapterError as error:
        output.unlink(missing_ok=True)
        write(failure, json.dumps(asdict(error.failure)))
        tell(state="failed", message=str(error))
        raise
    replace(output, json.dumps(run.notebook, indent=1, sort_keys=True).encode())
    tell(state="done", seconds=run.seconds, cpu_seconds=run.cpu_seconds, memory_mb=run.memory_mb)


def execute(
    project: Project,
    chapter: str,
    values: dict[str, Any],
    *,
    time_limit: int | None = None,
    on_cell: Callable[[int, int], None] = lambda cell, cells: None,
) -> Run:
    """Run a chapter with the given parameter values; raise ``ChapterError`` if it fails."""
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    source = Source(project.source(chapter))
    parameters = resolve(source.parameters, values, chapter)
    defaults = {name: p.default for name, p in source.parameters.items()}
    changed = {name: value for name, value in parameters.items() if value != defaults[name]}
    cells = len(source.notebook.cells) + bool(changed)
    # One thread a chapter: the cores run chapters side by side, and sums do not depend on a split.
    os.environ |= {name: os.environ.get("SIGNALBOOK_THREADS", "1") for name in THREADS}
    current = {"source": ""}

    def started(cell: Any, cell_index: int) -> None:
        current["source"] = cell.source
        on_cell(cell_index + 1, cells)

    def fail(error: str, remedy: str) -> ChapterError:
        return ChapterError(Failure(chapter, error, remedy, current["source"]))

    begun = time.monotonic()
    temporary = project.build / "running" / f"{chapter.replace('/', '-')}.{os.getpid()}.ipynb"
    temporary.parent.mkdir(parents=True, exist_ok=True)
    try:
        notebook = papermill.execute_notebook(
            f"jupytext://{source.path}",
            str(temporary),
            parameters=changed,
            kernel_name="python3",
            progress_bar=False,
            log_output=False,
            execution_timeout=time_limit,
            cwd=str(project.root),
            on_cell_start=started,
        )
    except papermill.PapermillExecutionError as error:
        raise fail(f"{error.ename}: {error.evalue}", "Mend the cell, then run again.") from error
    except CellTimeoutError as error:
        raise fail(
            f"a cell ran longer than its limit of {time_limit} s",
            "Make it cheaper, or raise `time_limit` in the chapter's front matter.",
        ) from error
    except DeadKernelError as error:
        raise fail(
            "the kernel was killed, most likely because the machine ran out of memory",
            "Reduce the sizes in the chapter's profile, or run fewer chapters at once (CORES=1).",
        ) from error
    except OSError as error:
        raise fail(
            f"{error.strerror or error}", "Free some space or fix the permissions, then run again."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
        project.progress(chapter).unlink(missing_ok=True)
    shutil.rmtree(project.checkpoints(chapter), ignore_errors=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss is bytes there, kB elsewhere
    return Run(
        _portable(notebook),
        round(time.monotonic() - begun, 1),
        round(used.ru_utime + used.ru_stime, 1),
        round(used.ru_maxrss / unit),
    )


THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def _portable(notebook: Any) -> Any:
    """The notebook without times, paths and versions of this machine: equal runs, equal bytes.

    What code says on its standard error (progress, warnings) is for the one who runs it.
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
