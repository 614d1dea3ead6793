"""Runs at the document's own sizes, kept small enough for git and honest about their origin."""

from __future__ import annotations

import datetime
import io
import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from signalbook.errors import BookError
from signalbook.execute import execute
from signalbook.files import replace
from signalbook.keys import code_changes
from signalbook.outputs import claims_in, figures_in
from signalbook.project import Project
from signalbook.source import Source

__all__ = ["make_record"]

ROWS = 400  # a curve on a page has fewer pixels than this


def make_record(
    project: Project,
    chapter: str,
    values: dict[str, Any],
    on_cell: Callable[[int, int], None] = lambda cell, cells: None,
) -> Path:
    """Execute a chapter with its own defaults (and ``values``, such as the device) and store it."""
    source = Source(project.source(chapter))
    run = execute(project, chapter, values, on_cell=on_cell)
    if changes := code_changes(project, chapter, run.ran["code"]):
        raise BookError(f"nothing is recorded: {', '.join(changes)} changed during the run")
    record = {
        "chapter": chapter,
        "code": run.ran["code"],
        "date": datetime.date.today().isoformat(),
        "device": values.get("device", "cpu"),
        "machine": f"{platform.system()} {platform.machine()}",
        "seconds": run.seconds,
        "versions": run.ran["versions"],
        "parameters": {name: p.default for name, p in source.parameters.items()} | values,
        "claims": claims_in(run.notebook.cells),
        "figures": {f["name"]: _thinned(f["csv"]) for f in figures_in(run.notebook.cells)},
    }
    path = project.record(chapter)
    replace(path, json.dumps(record, indent=1, sort_keys=True).encode() + b"\n")
    return path


def _thinned(csv: str) -> str:
    """Every k-th row, six digits: what a drawn curve needs."""
    data = pd.read_csv(io.StringIO(csv))
    step = -(-len(data) // ROWS)
    return str(data.iloc[::step].to_csv(index=False, float_format="%.6g", lineterminator="\n"))
