"""A chapter for several seeds at once: its packages are loaded once, each seed runs in a fork."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from nbformat import from_dict
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

from signalbook import lifeline
from signalbook.execute import (
    ChapterError,
    Failure,
    Run,
    as_ran,
    how_it_died,
    in_mb,
    portable,
    threads,
)
from signalbook.longrun import RUN, forget
from signalbook.parameters import resolve
from signalbook.project import Project
from signalbook.source import Source

__all__ = ["execute_seeds"]

INJECTED = "injected-parameters"  # papermill's tag of the cell with the values


def execute_seeds(
    project: Project,
    chapter: str,
    values: Mapping[str, Any],
    seeds: Sequence[int],
    side_by_side: int = 1,
) -> Iterator[tuple[int, Run | ChapterError]]:
    """Run a chapter with the ``values`` for each seed; yield what ``execute`` would return.

    Or the error that it would raise, which has a cause if it is one that a cell raised. Seeds come
    in the order in which they are done, ``side_by_side`` at a time.
    """
    source = Source(project.source(chapter))
    source.check()
    shared = _before_the_values(source)
    notebooks = {seed: _with_values(source, chapter, {**values, "seed": seed}) for seed in seeds}
    own = {seed: [cell.source for cell in _in_order(nb, shared)] for seed, nb in notebooks.items()}
    order = {
        "shared": [cell.source for cell in source.code[:shared]],
        "own": [(seed, cells[shared:]) for seed, cells in own.items()],
        "side_by_side": side_by_side,
    }
    run = uuid.uuid4().hex
    left = dict(notebooks)
    worker = _worker(project, json.dumps(order), run)
    try:
        for line in worker.stdout or ():
            answer = json.loads(line)
            seed = answer["seed"]
            yield seed, _outcome(chapter, source, shared, left.pop(seed), answer)
        code = worker.wait()
    finally:
        worker.kill()  # nobody waits for the rest
        worker.wait()
        forget(project.checkpoints(chapter), run)
    for seed in left:
        yield seed, _failed(chapter, *how_it_died(code))


def _worker(project: Project, order: str, run: str) -> subprocess.Popen[str]:
    worker = subprocess.Popen(
        [sys.executable, "-m", "signalbook.forked"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # warnings and progress of several forks, mixed
        cwd=project.root,
        env={**os.environ, **lifeline.environment(), **threads(), RUN: run},
        text=True,
    )
    assert worker.stdin
    with suppress(BrokenPipeError), worker.stdin as told:  # one that has ended is told of below
        told.write(order)
    return worker


def _with_values(source: Source, chapter: str, values: Mapping[str, Any]) -> Any:
    """The notebook as papermill executes it: with a cell of the values that are not the default."""
    defaults = {name: p.default for name, p in source.parameters.items()}
    resolved = resolve(source.parameters, dict(values), chapter)
    changed = {name: value for name, value in resolved.items() if value != defaults[name]}
    notebook = load_notebook_node(source.notebook)
    return parameterize_notebook(notebook, changed) if changed else notebook


def _before_the_values(source: Source) -> int:
    """How many code cells come before the first that reads a parameter: imports, most often."""
    names, code = set(source.parameters), source.code
    return next((i for i, cell in enumerate(code) if _reads(cell.source, names)), len(code))


def _reads(code: str, names: Collection[str]) -> bool:
    """Whether a cell reads one of the names; that of the parameters does not.

    >>> _reads("seed: int = 0", ["seed"]), _reads("f(seed)", ["seed"])
    (False, True)
    """
    found = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
    return any(node.id in names and isinstance(node.ctx, ast.Load) for node in found)


def _in_order(notebook: Any, shared: int) -> list[Any]:
    """The code cells in the order in which they run: shared ones come before the values."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    injected = [cell for cell in code if INJECTED in cell.metadata.get("tags", [])]
    others = [cell for cell in code if INJECTED not in cell.metadata.get("tags", [])]
    return [*others[:shared], *injected, *others[shared:]]


def _outcome(
    chapter: str, source: Source, shared: int, notebook: Any, answer: Mapping[str, Any]
) -> Run | ChapterError:
    if "error" in answer:
        error = _failed(chapter, answer["error"], "Mend the cell, run again.")
        error.__cause__ = RuntimeError(answer["error"])
        return error
    if "outputs" not in answer:
        return _failed(chapter, *how_it_died(answer["code"]))
    for cell, outputs in zip(_in_order(notebook, shared), answer["outputs"], strict=True):
        cell["outputs"] = from_dict(outputs)  # type: ignore[no-untyped-call]
    return Run(
        portable(notebook),
        as_ran(source, answer["testimony"]),
        round(answer["seconds"], 1),
        round(answer["cpu_seconds"], 1),
        in_mb(answer["memory"]),
    )


def _failed(chapter: str, error: str, remedy: str) -> ChapterError:
    return ChapterError(Failure(chapter, error, remedy))
