"""What executed chapters found, as data frames: ``signalbook.load``."""

from __future__ import annotations

import io
import json
import shutil
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from signalbook import costs, sweep
from signalbook.errors import BookError
from signalbook.files import read_json, write
from signalbook.fingerprint import of_values
from signalbook.keys import stale, values
from signalbook.outputs import claims_in, figures_in
from signalbook.project import Project
from signalbook.records import read_record
from signalbook.source import Source

__all__ = ["Results", "hand_out", "load", "load_points", "of_notebook"]


@dataclass(frozen=True)
class Results:
    """Tables of one or more runs of a chapter; the first columns are the values that were swept.

    ``claims`` has one row for each claim of each run, ``figures`` the rows behind each figure and
    each named table, ``runs`` one row a run: its parameters and what it cost.
    """

    claims: pd.DataFrame
    figures: Mapping[str, pd.DataFrame]
    runs: pd.DataFrame

    def write(self, folder: Path) -> None:
        """Write all tables as CSV into a folder of their own."""
        shutil.rmtree(folder, ignore_errors=True)
        self.add_to(folder)

    def add_to(self, folder: Path) -> None:
        """Write all tables as CSV into a folder that may hold other files."""
        figures = {f"figures/{name}": frame for name, frame in self.figures.items()}
        for name, frame in {"claims": self.claims, "runs": self.runs, **figures}.items():
            write(folder / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))


def load(
    chapter: str, grid: str = "", *, record: bool = False, root: Path | None = None, **fixed: Any
) -> Results:
    """Return what a chapter found: executed alone or for the book, in a sweep, or in its record.

    Without a grid it is what `make chapter` found with the ``fixed`` values as its ``P``; without
    any, the later of what `make chapter` and `make book` found. ``grid`` and ``fixed`` together
    are what `make sweep` was given; any grid will do whose points are there. ``record`` asks for
    the run at the document's own sizes. ``root`` is the clone, by default the one around the
    current folder. Results whose sources have changed since are returned with a warning.

    .. code-block:: python

        signalbook.load("orthogonality/gap-depth-width").claims
        signalbook.load("orthogonality/gap-depth-width", runs=5).claims
        signalbook.load("orthogonality/gap-depth-width", "runs=5,10 seed=0,1").figures["gap-depth"]
    """
    project = Project.find(root)
    name = project.require(chapter)
    if grid:
        return load_points(project, sweep.points(project, name, sweep.parse_grid(grid), fixed))
    if record and fixed:
        raise BookError(f"a record has values of its own, got {', '.join(fixed)} too")
    return _recorded(project, name) if record else _executed(project, name, fixed)


def load_points(project: Project, points: Sequence[sweep.Point]) -> Results:
    """Return what the points of a sweep found, in their order."""
    runs = []
    for point in points:
        notebook = read_json(project.point(point.chapter, point.digest) / "run.ipynb")
        if notebook is None:
            raise BookError(
                f"{point.chapter} was not run at {point}: run `make sweep` with this grid"
            )
        why = stale(project, point.chapter, notebook, sweep.PROFILE, dict(point.parameters))
        _warn(f"{point.chapter} at {point}", why)
        runs.append(_run(project, point.chapter, point.parameters, notebook, point.swept))
    return _together(runs)


def _executed(project: Project, chapter: str, chosen: Mapping[str, Any]) -> Results:
    alone = project.run(
        chapter,
        of_values(values(project, Source(project.source(chapter)), chapter, sweep.PROFILE, chosen)),
    )
    there = [path for path in (alone, project.executed(chapter)) if path.is_file()]
    if chosen:
        there = [path for path in there if path == alone]
    path = max(there, key=lambda path: path.stat().st_mtime_ns, default=alone)
    notebook = read_json(path)
    if notebook is None:
        command = f"make chapter C={chapter}"
        if not chosen:
            raise BookError(f"{chapter} is not executed: run `{command}`, or `make book`")
        at = " ".join(f"{name}={value}" for name, value in chosen.items())
        raise BookError(f'{chapter} was not run at {at}: run `{command} P="{at}"`')
    _warn(
        chapter, stale(project, chapter, notebook, sweep.PROFILE if path == alone else None, chosen)
    )
    parameters = notebook["metadata"]["made"]["key"]["parameters"]
    return _together([_run(project, chapter, parameters, notebook)])


def of_notebook(
    project: Project, chapter: str, parameters: Mapping[str, Any], notebook: Mapping[str, Any]
) -> Results:
    """Return what one run of a chapter found, from its executed notebook."""
    return _together([_run(project, chapter, parameters, notebook)])


def hand_out(folder: Path, slug: str, notebook: Mapping[str, Any], found: Results) -> None:
    """Write a run as files: the notebook, all tables as CSV, and ``verdicts.json``."""
    write(folder / f"{slug}.ipynb", json.dumps(notebook, indent=1))
    found.add_to(folder)
    claims = [
        {name: claim.get(name) for name in ("id", "about", "verdict", "found")}
        for claim in claims_in(notebook["cells"])
    ]
    write(folder / "verdicts.json", json.dumps(claims, indent=1, ensure_ascii=False) + "\n")


def _recorded(project: Project, chapter: str) -> Results:
    found = read_record(project, chapter)
    if found is None:
        raise BookError(f"{chapter} has no record: run `make paper C={chapter}`")
    _warn(f"the record of {chapter}", ", ".join(found.changes))
    figures = {name: figure["csv"] for name, figure in found["figures"].items()}
    cost = {name: found[name] for name in ("seconds", "memory_mb", "device")}
    return _together([_Run({}, found["parameters"], cost, found["claims"], figures)])


def _warn(what: str, why: str) -> None:
    if why:
        warnings.warn(f"{what} is of the past: {why}", stacklevel=4)


@dataclass(frozen=True)
class _Run:
    swept: Mapping[str, Any]
    parameters: Mapping[str, Any]
    cost: Mapping[str, Any]
    claims: Sequence[Mapping[str, Any]]
    figures: Mapping[str, str]


def _run(
    project: Project,
    chapter: str,
    parameters: Mapping[str, Any],
    notebook: Mapping[str, Any],
    swept: Mapping[str, Any] | None = None,
) -> _Run:
    cells = notebook["cells"]
    figures = {figure["name"]: figure["csv"] for figure in figures_in(cells)}
    measured = costs.measured(project, chapter, parameters) or {}
    names = ("seconds", "cpu_seconds", "memory_mb", "device", "machine")
    cost = {name: measured.get(name) for name in names}
    return _Run(swept or {}, parameters, cost, claims_in(cells), figures)


def _together(runs: Sequence[_Run]) -> Results:
    scalars = [[{n: v for n, v in c.items() if _is_scalar(v)} for c in run.claims] for run in runs]
    claims = _stacked((run, pd.DataFrame(rows)) for run, rows in zip(runs, scalars, strict=True))
    names = list(dict.fromkeys(name for run in runs for name in run.figures))
    figures = {
        name: _stacked(
            (run, pd.read_csv(io.StringIO(run.figures[name])))
            for run in runs
            if name in run.figures
        )
        for name in names
    }
    rest = [{n: v for n, v in run.parameters.items() if n not in run.swept} for run in runs]
    own = (pd.DataFrame([{**more, **run.cost}]) for more, run in zip(rest, runs, strict=True))
    return Results(claims, figures, _stacked(zip(runs, own, strict=True)))


def _stacked(tables: Iterable[tuple[_Run, pd.DataFrame]]) -> pd.DataFrame:
    """One table below the other, each with the swept values of its run in front."""
    frames = []
    for run, table in tables:
        taken = [name for name in run.swept if name in table.columns]
        frame = table.rename(columns={name: f"{name} (of the row)" for name in taken})
        for place, (name, value) in enumerate(run.swept.items()):
            frame.insert(place, name, value if _is_scalar(value) else str(value))
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)
