"""What runs cost: kept as they are measured, and the guess for a run that is still to come.

A cost is kept under the values that the run had, so that a chapter has one at the fast profile, one
at the document's sizes, and one for each point of a sweep.
"""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import psutil

from signalbook.errors import BookError
from signalbook.files import read_json, write
from signalbook.fingerprint import of_values
from signalbook.keys import values as values_of
from signalbook.project import Project
from signalbook.scale import OURS
from signalbook.source import Source

__all__ = [
    "Estimate",
    "device_name",
    "estimate",
    "keep",
    "machine",
    "measured",
    "needs",
    "roughly",
    "work",
]

#: Seconds that any run takes: a kernel starts, torch is loaded.
LEAST = 3.0

YEAR = 365 * 86_400.0

#: What a cluster is asked for at least, in MB and minutes: enough for every chapter that is fast.
MEMORY, RUNTIME = 3000, 60


class Estimate(NamedTuple):
    """How long a run may take, and what the guess rests on."""

    seconds: float
    because: str


def keep(project: Project, chapter: str, parameters: Mapping[str, Any], run: Any) -> None:
    """Keep what a run took: ``run`` has ``seconds``, ``cpu_seconds`` and ``memory_mb``."""
    cost = {
        "parameters": dict(parameters),
        "seconds": run.seconds,
        "cpu_seconds": run.cpu_seconds,
        "memory_mb": run.memory_mb,
        "device": device_name(str(parameters.get("device", "cpu"))),
        "machine": machine(),
    }
    write(project.cost(chapter, of_values(parameters)), json.dumps(cost, sort_keys=True))


def measured(
    project: Project, chapter: str, parameters: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return what a run with these values took here the last time; None where none was."""
    cost = read_json(project.cost(chapter, of_values(parameters)))
    return cost if isinstance(cost, dict) and {"seconds", "memory_mb"} <= set(cost) else None


def estimate(project: Project, chapter: str, parameters: Mapping[str, Any]) -> Estimate:
    """Guess how many seconds a run with these values takes.

    The nearest run that was measured counts, or the record; where none is, the chapter's own rough
    time at the fast profile. The guess is that the work grows with every value that differs.
    """
    known = []
    for values, seconds, because in _known(project, chapter):
        ratios = _ratios(parameters, values)
        distance = sum(abs(math.log(ratio)) for ratio in ratios)
        guess = max(LEAST, seconds * math.prod(ratios)) if distance else seconds
        if distance:
            because = "a rough guess"
        known.append((distance, Estimate(guess, because)))
    return min(known, key=lambda entry: entry[0])[1]


def work(values: Mapping[str, Any], known: Mapping[str, Any]) -> float:
    """How many times the work of a run with the values ``known`` one with ``values`` asks for.

    >>> work({"width": 64, "seed": 7}, {"width": 16, "seed": 1})
    4.0
    """
    return math.prod(_ratios(values, known))


def roughly(seconds: float) -> str:
    """A guess has no more digits than it deserves, and beyond a year none.

    >>> roughly(32), roughly(5932), roughly(12_046_440), roughly(1e9)
    ('about 32 s', 'about 1 h 40 min', 'about 3300 h', 'more than a year')
    """
    from signalbook.words import duration  # with numpy, which the job of a chapter does without

    if seconds >= YEAR:
        return "more than a year"
    if seconds >= 36_000:
        return f"about {float(f'{seconds / 3600:.2g}'):.0f} h"
    return f"about {duration(seconds if seconds < 600 else 600 * round(seconds / 600))}"


def needs(project: Project, chapter: str, parameters: Mapping[str, Any]) -> dict[str, int]:
    """Return what a cluster is asked for: ``mem_mb``, ``runtime`` in minutes and ``gpu``.

    Half more memory than such a run took and three times as long, at least what any chapter has.
    """
    seconds = estimate(project, chapter, parameters).seconds
    cost = measured(project, chapter, parameters) or read_json(project.record(chapter)) or {}
    gpu = str(parameters.get("device", "cpu")).startswith("cuda")
    return {
        "mem_mb": max(MEMORY, round(1.5 * float(cost.get("memory_mb", 0)))),
        "runtime": max(RUNTIME, round(3 * seconds / 60)),
        "gpu": int(gpu),
    }


def device_name(device: str) -> str:
    """What a page calls a device: a GPU by its model."""
    if not device.startswith("cuda"):
        return device
    import torch

    return str(torch.cuda.get_device_name(device))


def machine() -> str:
    """What a page calls this machine: system, kind, cores and memory."""
    memory = round(psutil.virtual_memory().total / 2**30)
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {memory} GB"


def _known(project: Project, chapter: str) -> Iterator[tuple[Mapping[str, Any], float, str]]:
    """Values, seconds and origin of every run that is known; the last is never measured."""
    for path in sorted(project.cost(chapter, "x").parent.glob("*.json")):
        cost = read_json(path)
        if isinstance(cost, dict) and {"parameters", "seconds"} <= set(cost):
            yield cost["parameters"], float(cost["seconds"]), "as the last time"
    record = read_json(project.record(chapter))
    if isinstance(record, dict) and {"parameters", "seconds"} <= set(record):
        yield record["parameters"], float(record["seconds"]), "when it was recorded"
    try:
        source = Source(project.source(chapter))
        yield values_of(project, source, chapter, "fast"), source.seconds, "a rough guess"
    except BookError:
        yield {}, 0.0, "a rough guess"  # the chapter's own run says what is wrong with it


def _ratios(values: Mapping[str, Any], known: Mapping[str, Any]) -> list[float]:
    names = [name for name in values if name in known and name not in OURS]
    return [_ratio(values[name], known[name]) for name in names]


def _ratio(value: Any, known: Any) -> float:
    """How many times more work a value asks for, if the work is proportional to it.

    Sizes are whole numbers. A fraction is a rate or a limit: it makes no work by being larger, and
    a list of them makes work by its length.

    >>> _ratio(15000, 1200), _ratio([5, 15], [5]), _ratio("adam", "sgd"), _ratio(2, 4)
    (12.5, 4.0, 1.0, 0.5)
    >>> _ratio(0.001, 0.05), _ratio([0.1, 0.01, 0.001], [0.1])
    (1.0, 3.0)
    """
    if isinstance(value, list) and isinstance(known, list) and value and known:
        sizes = all(isinstance(x, int) and x > 0 for x in [*value, *known])
        return sum(value) / sum(known) if sizes else len(value) / len(known)
    if isinstance(value, int) and isinstance(known, int):
        return value / known if value > 0 and known > 0 else 1.0
    return 1.0
