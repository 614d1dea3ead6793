"""``make seeds``: run chapters with other seeds, as many as the time allows.

The rows that are kept, and what is read from them, are told in :mod:`signalbook.seeds`.
"""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from signalbook import costs
from signalbook.carry import carry_over, labelled, shown
from signalbook.errors import BookError
from signalbook.execute import Run
from signalbook.fingerprint import modules
from signalbook.keys import built, values, wanted
from signalbook.ledger import unexpected
from signalbook.project import Project
from signalbook.records import read_record
from signalbook.seeds import OWN, PROFILE, Row, code_now, draws, entry, fresh, kept, key, save
from signalbook.source import Source
from signalbook.together import execute_seeds
from signalbook.vouch import counted
from signalbook.words import show

__all__ = ["Runs", "due", "run_seeds"]

#: So many runs of a chapter start together; with more, dear chapters would wait longer for their
#: first.
TOGETHER = 10


class Runs(NamedTuple):
    """Runs of a chapter that are due: what they weigh, and about how many seconds each takes."""

    weight: float
    cost: float
    chapter: str
    seeds: tuple[int, ...]


def run_seeds(
    project: Project, chapters: Sequence[str], count: int, seconds: float, cores: int = 1
) -> int:
    """Run ``chapters`` with the seeds 1 to ``count`` until ``seconds`` have passed.

    Return 1 if a verdict differs or a chapter cannot be run. A ``count`` of 0 asks for the book's
    own seed. The number of threads is that of ``SIGNALBOOK_THREADS``, as for a build.
    """
    threads = int(os.environ.get("SIGNALBOOK_THREADS", "1"))
    seeds = range(1, 1 + count) if count else [OWN]
    for chapter in chapters if count else []:
        if draws(Source(project.source(chapter))) and built(project, chapter, PROFILE):
            _carry(project, chapter)  # costs nothing
    runs = due(project, chapters, seeds, threads)
    if runs:
        total = costs.roughly(sum(each.cost * len(each.seeds) for each in runs))
        print(f"{_number(runs)} runs are due, {total} of CPU time together", flush=True)
    ends, failed = time.monotonic() + seconds, 0
    for place, each in enumerate(runs):
        if time.monotonic() >= ends:
            print(f"the time is over; {_number(runs[place:])} runs are left for the next time")
            break
        try:
            if not _has_twin(project, each.chapter):
                _carry(project, each.chapter)
            failed += _run(project, each, threads, cores)
        except BookError as error:
            failed += 1
            print(f"{each.chapter}: nothing is kept: {error}", flush=True)
    return int(failed > 0)


def _number(runs: Iterable[Runs]) -> int:
    return sum(len(each.seeds) for each in runs)


def _carry(project: Project, chapter: str) -> None:
    if rows := carry_over(project, chapter):
        print(f"{chapter}: finds the same with this code, {rows} runs stand for it", flush=True)


def _has_twin(project: Project, chapter: str) -> bool:
    """Whether the twin of a chapter's rows was made by the code of today."""
    found = entry(kept(project), chapter)
    twin = found.get("twin")
    return bool(twin and fresh(project, chapter, {**found, "rows": [twin]}))


def due(
    project: Project, chapters: Iterable[str], seeds: Sequence[int], threads: int = 1
) -> list[Runs]:
    """The runs that are not there yet, the cheap ones of chapters with few seeds first.

    Runs weigh what one costs, times the number of seeds that its chapter has after the first. So
    any time is spread over the book, with more seeds for what is cheap. Where nothing is drawn,
    other seeds than the book's own are not due.
    """
    found = []
    for chapter in chapters:
        source = Source(project.source(chapter))
        if OWN not in seeds and not draws(source):
            continue
        rows = _there(project, chapter, seeds, threads)
        missing = _missing(rows, seeds)
        try:
            cost = _cost(project, chapter, source, rows)
        except BookError:
            cost = 0.0  # its own run says what is wrong with it
        for first in range(0, len(missing), TOGETHER):
            weight = cost * (1 + len(rows) + first)
            found.append(Runs(weight, cost, chapter, missing[first : first + TOGETHER]))
    return sorted(found)


def _there(
    project: Project, chapter: str, seeds: Iterable[int], threads: int
) -> list[Mapping[str, Any]]:
    """The rows for these seeds that stand for the code of today."""
    rows = fresh(project, chapter, entry(kept(project), chapter))
    return [row for row in rows if row["threads"] == threads and row["seed"] in seeds]


def _missing(rows: Iterable[Row], seeds: Iterable[int]) -> tuple[int, ...]:
    there = {row["seed"] for row in rows}
    return tuple(seed for seed in seeds if seed not in there)


def _cost(project: Project, chapter: str, source: Source, rows: Sequence[Row]) -> float:
    if rows:
        return float(rows[-1]["cpu_seconds"])
    parameters = values(project, source, chapter, PROFILE)
    measured = costs.measured(project, chapter, parameters)
    if measured is not None:
        return float(measured["cpu_seconds"])
    return costs.estimate(project, chapter, parameters).seconds


def _run(project: Project, runs: Runs, threads: int, cores: int) -> int:
    """Run a chapter with its seeds, and keep each row in the place of an older one.

    Return how many differ, or failed.
    """
    chapter, failed = runs.chapter, 0
    asked = wanted(project, chapter, PROFILE)
    # Some may be there by now: carried over, when the first of them was due.
    seeds = _missing(_there(project, chapter, runs.seeds, threads), runs.seeds)
    for seed, run in execute_seeds(project, chapter, asked["parameters"], seeds, cores):
        known = entry(kept(project), chapter)
        if isinstance(run, Run):
            ran, row = counted(run.ran), _found(project, chapter, run, known["twin"])
        elif run.__cause__:
            ran = code_now(project, chapter, known["modules"].split() or sorted(modules()))
            row = _stopped(run.failure.error)
        else:  # the machine's fault, not the seed's
            failed += 1
            print(f"{chapter}, seed {seed}: nothing is kept: {run}", flush=True)
            continue
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        row |= {"seed": seed, "threads": threads, "date": today, "key": key(asked, **ran)}
        _keep(project, chapter, known, row, ran)
        failed += bool(row["differs"])
        print(f"{chapter}, seed {seed}: {row['cpu_seconds']} s", *row["differs"], sep="\n  ")
    return failed


def _keep(
    project: Project,
    chapter: str,
    known: Mapping[str, Any],
    row: Row,
    ran: Mapping[str, Mapping[str, Any]],
) -> None:
    """Put a row in the place of an older one, with what its run read."""
    of = row["seed"], row["threads"]
    others = [other for other in known["rows"] if (other["seed"], other["threads"]) != of]
    now = {
        "modules": " ".join(sorted(ran["code"]["modules"])),
        "files": " ".join(sorted(ran["files"])),
        "rows": sorted([*others, row], key=lambda r: (r["threads"], r["seed"])),
    }
    save(project, chapter, {**known, **now})


def _stopped(error: str) -> dict[str, Any]:
    """The row of a run that a cell of the chapter ended."""
    return {
        "claims": 0,
        "unlike": {},
        "chance": 0.0,
        "outputs": "",
        "cpu_seconds": 0.0,
        "differs": [f"the run ended with {error}"],
    }


def _found(project: Project, chapter: str, run: Run, twin: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a run: which claims have another verdict, and with what was measured.

    A verdict differs if it is not the one declared for its ID, or not that of the twin.
    """
    claims = labelled(run.notebook.cells)
    verdicts = {label: claim["verdict"] for label, claim in claims.items()}
    usual = {label: claim["verdict"] for label, claim in twin["claims"].items()}
    source, record = Source(project.source(chapter)), read_record(project, chapter)
    wrong = unexpected(source, run.notebook, record)
    differs = [
        f"{label}: {claim['verdict']}. {claim.get('measured') or claim['found']} {_chance(claim)}"
        for label, claim in claims.items()
        if usual.get(label) != claim["verdict"] or _is_named(claim, wrong)
    ]
    differs += [f"{label}: there is no such claim" for label in usual if label not in claims]
    labels = [*usual, *(label for label in verdicts if label not in usual)]
    unlike = {name: verdicts.get(name) for name in labels if verdicts.get(name) != usual.get(name)}
    return {
        "claims": len(verdicts),
        "unlike": unlike,
        "chance": sum(claim.get("error", 0.0) for claim in claims.values()),
        "outputs": shown(run.notebook.cells),
        "cpu_seconds": run.cpu_seconds,
        "differs": differs or wrong,
    }


def _is_named(claim: Mapping[str, Any], wrong: Iterable[str]) -> bool:
    """Whether a sentence of the ledger is about the claim's ID and its verdict."""
    return any(
        text.startswith(f"{claim['id']}: ")
        and repr(claim["verdict"]) in text.rpartition("found ")[2]
        for text in wrong
    )


def _chance(claim: Mapping[str, Any]) -> str:
    if not claim.get("modelled", True):
        return "No chance of a false alarm is stated."
    return f"The stated chance of a false alarm is {show(claim.get('error', 0.0), 2)}."
