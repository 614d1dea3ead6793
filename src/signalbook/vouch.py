"""``make vouch``: carry a record over to newer code that computes the same.

A record keeps, beside its own claims, its *twin*: what the chapter found at the fast profile with
the very code that made the record. When code has changed since, the chapter is run at that profile
again; a book that is built has this run. If all its claims and figures are as in the twin, the
record stands for the code of today too, and its page says so. A change that matters at the
document's size alone is not seen in this way; all else is, and where anything differs the record
stays stale.
"""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from signalbook import costs
from signalbook.errors import BookError
from signalbook.execute import execute
from signalbook.files import read_json, replace
from signalbook.keys import built, code_changes, values
from signalbook.outputs import claims_in, figures_in
from signalbook.project import Project
from signalbook.records import read_record, seal
from signalbook.source import Source
from signalbook.thinning import thinned

__all__ = ["counted", "differences", "twin", "vouch", "vouch_all"]

ROUNDING = 1e-5  # relative: the rows of a twin have six digits
NOISE = 1e-12  # what is smaller is rounding in both

#: Modules that show what was computed. No number that a record keeps passes through them, and an
#: edit of them makes no record stale.
SHOWING = {
    f"signalbook.{name}"
    for name in [
        "beside",
        "certificates",
        "figures",
        "legible",
        "narrow",
        "outputs",
        "prose",
        "words",
    ]
}


def counted(ran: Mapping[str, Any]) -> dict[str, Any]:
    """The code and the files of a run that its numbers depend on."""
    modules = {n: d for n, d in ran["code"]["modules"].items() if n not in SHOWING}
    files = {n: d for n, d in ran["files"].items() if not n.startswith("signalbook/")}
    return {"code": {**ran["code"], "modules": modules}, "files": files}


def twin(
    project: Project, chapter: str, on_cell: Callable[[int, int], None]
) -> tuple[Mapping[str, Any], Any]:
    """Return what a chapter's run at the fast profile rests on, and what is to be kept of it.

    Where the book was built with the code of today, that run is there.
    """
    parameters = values(project, Source(project.source(chapter)), chapter, "fast")
    notebook = built(project, chapter, "fast")
    if notebook:
        cells, ran = notebook["cells"], notebook["metadata"]["made"]["key"]
    else:
        guess = costs.estimate(project, chapter, parameters)
        print(f"{chapter}: {costs.roughly(guess.seconds)}, {guess.because}", flush=True)
        run = execute(project, chapter, parameters, on_cell=on_cell)
        cells, ran = run.notebook.cells, run.ran
    kept = {
        "parameters": parameters,
        "versions": ran["versions"],
        "claims": claims_in(cells),
        "figures": {figure["name"]: thinned(figure["csv"]) for figure in figures_in(cells)},
    }
    return ran, json.loads(json.dumps(kept))


def vouch(
    project: Project,
    chapter: str,
    on_cell: Callable[[int, int], None] = lambda cell, cells: None,
) -> bool:
    """Carry the record of a chapter over to the code of today; return whether anything was to do.

    A ``BookError`` says why that is impossible: no record, no twin, or what differs.
    """
    record = read_record(project, chapter)
    if record is None:
        raise BookError(f"{chapter} has no record: run `make paper C={chapter}`")
    if record.fresh:
        return False
    if "twin" not in record.data:
        raise BookError(f"the record of {chapter} has no twin: run `make paper C={chapter}`")
    ran, now = twin(project, chapter, on_cell)
    if changes := code_changes(project, chapter, ran["code"]):
        raise BookError(f"nothing is vouched for: {', '.join(changes)} changed during the run")
    if found := list(differences(record["twin"], now)):
        more = f", and {len(found) - 3} more" if len(found) > 3 else ""
        raise BookError(
            f"{chapter} does not find the same with the code of today: {'; '.join(found[:3])}{more}"
        )
    data = read_json(project.record(chapter))
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    data["vouched"] = {**counted(ran), "date": today}
    data = json.loads(json.dumps(data))
    data["seal"] = seal(data)
    replace(project.record(chapter), json.dumps(data, indent=1, sort_keys=True).encode() + b"\n")
    return True


def vouch_all(project: Project) -> int:
    """Carry over all records that can be; name the others. Return the exit code."""
    failed = 0
    for chapter in project.chapters:
        if not project.record(chapter).is_file():
            continue
        try:
            done = vouch(project, chapter)
            print(f"{chapter}: {'finds the same with this code' if done else 'fresh'}", flush=True)
        except BookError as error:
            failed += 1
            print(f"{chapter}: stays stale: {error}", flush=True)
    return int(failed > 0)


def differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Say where what a run found is not what it was; what only the new one has does not count.

    Numbers may differ by rounding, and tables of figures are compared column by column.

    >>> list(differences({"a": [1.0, "x"]}, {"a": [1.0 + 1e-9, "x"], "b": 2}))
    []
    >>> list(differences({"a": [1.0, "x"]}, {"a": [1.1, "y"]}))
    ['a, 0: 1.0, now 1.1', "a, 1: 'x', now 'y'"]
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in old:
            at = f"{place}, {name}" if place else str(name)
            if name not in new:
                yield f"{at} is gone"
            elif place == "figures":
                yield from _table_differences(old[name], new[name], at)
            elif name != "versions":
                yield from differences(old[name], new[name], at)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{place}: {len(old)} of them, now {len(new)}"
        for number, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from differences(one, other, f"{place}, {number}")
    elif not _same(old, new):
        yield f"{place}: {old!r}, now {new!r}"


def _same(old: Any, new: Any) -> bool:
    if type(old) is float or type(new) is float:
        numbers = all(isinstance(value, int | float) for value in (old, new))
        return numbers and bool(np.isclose(old, new, ROUNDING, NOISE, equal_nan=True))
    return bool(old == new)


def _table_differences(old: str, new: str, place: str) -> Iterator[str]:
    one, other = (pd.read_csv(io.StringIO(text)) for text in (old, new))
    if len(one) != len(other) or not set(one) <= set(other):
        yield f"{place}: other rows or columns"
        return
    for name in one:
        pairs = zip(one[name].tolist(), other[name].tolist(), strict=True)
        wrong = [(a, b) for a, b in pairs if not _same(a, b)]
        if wrong:
            yield f"{place}, {name}: {wrong[0][0]!r}, now {wrong[0][1]!r}"
