"""``make seeds``: run chapters with other seeds, as many as the time allows.

The rows that are kept, and what is read from them, are told in :mod:`signalbook.seeds`.
"""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from papermill import PapermillExecutionError

from signalbook import costs
from signalbook.carry import carry_over, is_built, labelled, shown
from signalbook.errors import BookError
from signalbook.execute import ChapterError, Run, execute
from signalbook.fingerprint import modules
from signalbook.keys import values, wanted
from signalbook.ledger import unexpected
from signalbook.project import Project
from signalbook.records import read_record
from signalbook.seeds import OWN, PROFILE, Row, code_now, draws, entry, fresh, kept, key, save
from signalbook.source import Source
from signalbook.vouch import counted
from signalbook.words import show

__all__ = ["due", "run_seeds"]


def run_seeds(project: Project, chapters: Sequence[str], count: int, seconds: float) -> int:
    """Run ``chapters`` with the seeds 1 to ``count`` until ``seconds`` have passed.

    Return 1 if a verdict differs or a chapter cannot be run. A ``count`` of 0 asks for the book's
    own seed. The number of threads is that of ``SIGNALBOOK_THREADS``, as for a build.
    """
    threads = int(os.environ.get("SIGNALBOOK_THREADS", "1"))
    seeds = range(1, 1 + count) if count else [OWN]
    for chapter in chapters if count else []:
        if is_built(project, chapter) and draws(Source(project.source(chapter))):
            _carry(project, chapter)  # costs nothing
    runs = _weighed(project, chapters, seeds, threads)
    if runs:
        total = costs.roughly(sum(cost for _, cost, _, _ in runs))
        print(f"{len(runs)} runs are due, {total} of CPU time together", flush=True)
    ends, failed = time.monotonic() + seconds, 0
    for place, (_, _, chapter, seed) in enumerate(runs):
        if time.monotonic() >= ends:
            print(f"the time is over; {len(runs) - place} runs are left for the next time")
            break
        try:
            if count and not _has_twin(project, chapter):
                _carry(project, chapter)
            if _is_there(project, chapter, seed, threads):
                continue
            row = _run(project, chapter, seed, threads)
        except BookError as error:
            failed += 1
            print(f"{chapter}, seed {seed}: nothing is kept: {error}", flush=True)
            continue
        failed += bool(row["differs"])
        print(f"{chapter}, seed {seed}: {row['cpu_seconds']} s", *row["differs"], sep="\n  ")
    return int(failed > 0)


def _carry(project: Project, chapter: str) -> None:
    if rows := carry_over(project, chapter):
        print(f"{chapter}: finds the same with this code, {rows} runs stand for it", flush=True)


def _has_twin(project: Project, chapter: str) -> bool:
    """Whether the twin of a chapter's rows was made by the code of today."""
    found = entry(kept(project), chapter)
    twin = found.get("twin")
    return bool(twin and fresh(project, chapter, {**found, "rows": [twin]}))


def _is_there(project: Project, chapter: str, seed: int, threads: int) -> bool:
    rows = fresh(project, chapter, entry(kept(project), chapter))
    return any((row["seed"], row["threads"]) == (seed, threads) for row in rows)


def due(
    project: Project, chapters: Iterable[str], seeds: Sequence[int], threads: int = 1
) -> list[tuple[str, int]]:
    """The runs that are not there yet, the cheap ones of chapters with few seeds first.

    A run weighs what it costs, times the number of seeds that its chapter then has. So any time is
    spread over the book, with more seeds for what is cheap. Where nothing is drawn, other seeds
    than the book's own are not due.
    """
    return [(chapter, seed) for _, _, chapter, seed in _weighed(project, chapters, seeds, threads)]


def _weighed(
    project: Project, chapters: Iterable[str], seeds: Sequence[int], threads: int
) -> list[tuple[float, float, str, int]]:
    """The runs that are due, in order: weight, about how many seconds it takes, chapter, seed."""
    record, weighed = kept(project), []
    for chapter in chapters:
        source = Source(project.source(chapter))
        if OWN not in seeds and not draws(source):
            continue
        try:
            rows = [
                row
                for row in fresh(project, chapter, entry(record, chapter))
                if row["threads"] == threads and row["seed"] in seeds
            ]
            cost = _cost(project, chapter, source, rows)
        except BookError:
            rows, cost = [], 0.0  # its own run says what is wrong with it
        missing = sorted(set(seeds) - {row["seed"] for row in rows})
        weighed += [
            (cost * number, cost, chapter, seed)
            for number, seed in enumerate(missing, start=1 + len(rows))
        ]
    return sorted(weighed)


def _cost(project: Project, chapter: str, source: Source, rows: Sequence[Row]) -> float:
    if rows:
        return float(rows[-1]["cpu_seconds"])
    parameters = values(project, source, chapter, PROFILE)
    measured = costs.measured(project, chapter, parameters)
    if measured is not None:
        return float(measured["cpu_seconds"])
    return costs.estimate(project, chapter, parameters).seconds


def _run(project: Project, chapter: str, seed: int, threads: int) -> Row:
    """Run a chapter with a seed, and keep its row in the place of an older one."""
    known = entry(kept(project), chapter)
    asked, begun = wanted(project, chapter, PROFILE, {"seed": seed}), time.monotonic()
    try:
        run = execute(project, chapter, asked["parameters"])
    except ChapterError as error:
        if not isinstance(error.__cause__, PapermillExecutionError):
            raise  # the machine's fault, not the seed's
        names = known["modules"].split() or sorted(modules())
        ran = code_now(project, chapter, names)
        row = _stopped(error.failure.error, time.monotonic() - begun)
    else:
        ran = counted(run.ran)
        row = _found(project, chapter, run, known["rows"])
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    row |= {"seed": seed, "threads": threads, "date": today}
    row["key"] = key(asked, **ran)
    others = [r for r in known["rows"] if (r["seed"], r["threads"]) != (seed, threads)]
    now = {
        "modules": " ".join(sorted(ran["code"]["modules"])),
        "files": " ".join(sorted(ran["files"])),
        "rows": sorted([*others, row], key=lambda r: (r["threads"], r["seed"])),
    }
    save(project, chapter, known | now)
    return row


def _stopped(error: str, seconds: float) -> dict[str, Any]:
    """The row of a run that a cell of the chapter ended."""
    return {
        "verdicts": {},
        "chance": 0.0,
        "outputs": "",
        "cpu_seconds": round(seconds, 1),
        "differs": [f"the run ended with {error}"],
    }


def _found(project: Project, chapter: str, run: Run, rows: Sequence[Row]) -> dict[str, Any]:
    """The row of a run: the verdict of each claim, and those that differ with what was measured.

    A verdict differs if it is not the one declared for its ID, or not that of the first row.
    """
    claims = labelled(run.notebook.cells)
    verdicts = {label: claim["verdict"] for label, claim in claims.items()}
    usual = next((row["verdicts"] for row in rows if row["verdicts"]), verdicts)
    source, record = Source(project.source(chapter)), read_record(project, chapter)
    wrong = unexpected(source, run.notebook, record)
    differs = [
        f"{label}: {claim['verdict']}. {claim.get('measured') or claim['found']} {_chance(claim)}"
        for label, claim in claims.items()
        if usual.get(label) != claim["verdict"] or _is_named(claim, wrong)
    ]
    differs += [f"{label}: there is no such claim" for label in usual if label not in claims]
    return {
        "verdicts": verdicts,
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
