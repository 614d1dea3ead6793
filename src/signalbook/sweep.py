"""``make sweep``: one chapter over a grid of values, each point a run that is kept.

A point is named by its values, so that grids share points, and what was stopped goes on with those
that are left. A point is run anew when what it depends on changes, as a chapter is.
"""

from __future__ import annotations

import ast
import itertools
import json
import math
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from signalbook import costs
from signalbook.build import fetch_data
from signalbook.engine import (
    Watch,
    end_as_interrupted,
    engine_failed,
    only_one,
    run_engine,
)
from signalbook.errors import BookError
from signalbook.execute import Job, carry_out
from signalbook.files import read_json, replace
from signalbook.fingerprint import of_values
from signalbook.keys import stale, values
from signalbook.project import Project
from signalbook.source import Source

__all__ = ["PROFILE", "Point", "execute_point", "parse_grid", "points", "sweep"]

#: What a point has where neither the grid nor the caller says a value.
PROFILE = "fast"
MOST = 10_000  # points of a grid: more are a slip of the pen


@dataclass(frozen=True)
class Point:
    """One run of a sweep: ``swept`` are its values of the grid, ``parameters`` all of them."""

    chapter: str
    swept: Mapping[str, Any]
    parameters: Mapping[str, Any]

    @cached_property
    def digest(self) -> str:
        """The name of its folder."""
        return of_values(self.parameters)

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.swept.items())


def parse_grid(text: str) -> dict[str, list[Any]]:
    """Read ``name=value,value,...`` words, as the command line gives them.

    >>> parse_grid("width=64,128 law=gaussian,uniform widths=[16,32],[64]")
    {'width': [64, 128], 'law': ['gaussian', 'uniform'], 'widths': [[16, 32], [64]]}
    """
    grid: dict[str, list[Any]] = {}
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BookError(f"GRID cannot be read, {str(error).lower()}: {text}") from error
    for word in words:
        name, equals, listed = word.partition("=")
        if not equals or not name.isidentifier():
            raise BookError(f"GRID is made of name=value,value words, got {word!r}")
        if name in grid:
            raise BookError(f"GRID names {name} twice: give all its values in one word")
        grid[name] = [_value(part, name) for part in _split(listed)]
        if twice := [value for value in grid[name] if grid[name].count(value) > 1]:
            raise BookError(f"GRID has the value {twice[0]!r} of {name} twice")
    if not grid:
        raise BookError('say over what to sweep: GRID="name=value,value name=value"')
    return grid


def points(
    project: Project, chapter: str, grid: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any]
) -> list[Point]:
    """Return every point of the grid, the last name running fastest; ``fixed`` holds for all.

    An unknown name or an ill-typed value is a ``BookError`` that says what there is.
    """
    if both := [name for name in grid if name in fixed]:
        raise BookError(f"{both[0]} is in GRID and in P: say it once")
    count = math.prod(len(listed) for listed in grid.values())
    if count > MOST:
        raise BookError(f"GRID has {count} points, more than {MOST}: split it")
    source = Source(project.source(chapter))
    found = []
    for combination in itertools.product(*grid.values()):
        swept = dict(zip(grid, combination, strict=True))
        parameters = values(project, source, chapter, PROFILE, {**fixed, **swept})
        found.append(Point(chapter, {n: parameters[n] for n in grid}, parameters))
    return found


def sweep(
    project: Project,
    chapter: str,
    grid: str,
    fixed: Mapping[str, Any],
    cores: int,
    where: Path | None = None,
) -> int:
    """Run what is stale of a grid, write its table, and return the exit code."""
    from signalbook.results import load_points

    every = points(project, chapter, parse_grid(grid), fixed)
    end_as_interrupted()
    with only_one(project.build / "points" / chapter / "lock", f"sweep of {chapter}") as lock:
        due = [point for point in every if _ordered(project, point)]
        _announce(project, every, due, cores)
        if due:
            _run(project, due, cores, lock, where)
    failed = [point for point in every if not _path(project, point, "run.ipynb").is_file()]
    for point in failed:
        failure = read_json(_path(project, point, "failure.json")) or {"error": "it did not run"}
        print(f"FAILED  {point}: {failure['error']}")
    done = [point for point in every if point not in failed]
    if done:
        folder = project.build / "sweeps" / chapter
        folder /= of_values({"grid": [dict(point.parameters) for point in every]})
        load_points(project, done).write(folder)
        more = "".join(f", {name}={value!r}" for name, value in fixed.items())
        print(f"{len(done)} of {len(every)} points; the table is {folder / 'claims.csv'}")
        print(f'In Python: signalbook.load("{chapter}", "{grid}"{more})')
    return int(bool(failed))


def execute_point(project: Project, chapter: str, digest: str) -> None:
    """Execute a point as it was ordered (the engine calls it)."""
    folder = project.point(chapter, digest)
    job = Job(
        chapter,
        folder / "order.json",
        folder / "run.ipynb",
        folder / "failure.json",
        folder / "status.json",
    )
    carry_out(project, job)


def _path(project: Project, point: Point, name: str) -> Path:
    return project.point(point.chapter, point.digest) / name


def _ordered(project: Project, point: Point) -> bool:
    """Order a run of the point where it is stale; return whether one is wanted."""
    executed, chosen = _path(project, point, "run.ipynb"), dict(point.parameters)
    _path(project, point, "status.json").unlink(missing_ok=True)
    if not stale(project, point.chapter, read_json(executed), PROFILE, chosen):
        return False
    executed.unlink(missing_ok=True)
    order = {"profile": PROFILE, "chosen": chosen, "issued": time.time_ns()}
    order["needs"] = costs.needs(project, point.chapter, chosen)
    replace(_path(project, point, "order.json"), json.dumps(order, indent=1).encode())
    return True


def _announce(project: Project, every: Sequence[Point], due: Sequence[Point], cores: int) -> None:
    chapter = every[0].chapter
    text = f"{chapter}: {len(every)} points, {len(every) - len(due)} of them are there"
    if due:
        guesses = [costs.estimate(project, chapter, point.parameters) for point in due]
        longest = max(guess.seconds for guess in guesses)
        total = max(longest, sum(guess.seconds for guess in guesses) / cores)
        text += f"; the others take {costs.roughly(total)} on {cores} cores"
    print(text, flush=True)


def _run(
    project: Project, due: Sequence[Point], cores: int, lock: IO[str], where: Path | None
) -> None:
    named = {str(point): point for point in due}

    def states() -> dict[str, Mapping[str, Any]]:
        paths = {name: _path(project, point, "status.json") for name, point in named.items()}
        said = {name: read_json(path) for name, path in paths.items()}
        return {name: state for name, state in said.items() if state}

    def expected(name: str) -> float:
        return costs.estimate(project, named[name].chapter, named[name].parameters).seconds

    fetch_data(project, [due[0].chapter])
    watch = Watch(states, lambda: list(named), expected, cores)
    targets = [
        _path(project, point, "run.ipynb").relative_to(project.root).as_posix() for point in due
    ]
    code = run_engine(project, {"goal": "points"}, cores, watch, lock, targets, where)
    if code and not any(_path(project, point, "failure.json").is_file() for point in due):
        engine_failed(project)


def _split(listed: str) -> list[str]:
    """Split at commas outside of brackets."""
    parts, depth, begun = [], 0, 0
    for place, sign in enumerate(listed):
        depth += (sign in "[(") - (sign in "])")
        if sign == "," and depth == 0:
            parts.append(listed[begun:place])
            begun = place + 1
    return [*parts, listed[begun:]]


def _value(part: str, name: str) -> Any:
    if not part.strip():
        raise BookError(f"GRID has an empty value of {name}")
    try:
        return ast.literal_eval(part)
    except (ValueError, SyntaxError):
        return part
