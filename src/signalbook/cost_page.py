"""The page of costs: time, memory and device of every chapter, at both profiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from signalbook import costs, keys
from signalbook.errors import BookError
from signalbook.project import Project
from signalbook.records import read_record
from signalbook.scale import OURS
from signalbook.source import Source
from signalbook.words import duration

__all__ = ["cost_page"]


def cost_page(project: Project, titles: Mapping[str, str]) -> str:
    """What the chapters cost at both profiles, a table a part."""
    parts: dict[str, list[str]] = {}
    measured, machines = [], set()
    for chapter, title in titles.items():
        source = Source(project.source(chapter))
        try:
            fast = keys.values(project, source, chapter, "fast")
        except BookError:
            continue  # the chapter's own page says what is wrong
        cost = costs.measured(project, chapter, fast)
        if cost:
            measured.append(cost)
            machines.add(cost["machine"])
        line = [f"[{title}](../chapters/{chapter})", *_cost(cost)]
        line += _cost_in_full(project, chapter, source, fast)
        parts.setdefault(chapter.partition("/")[0], []).append(f"| {' | '.join(line)} |")
    captions = _captions(project)
    total = duration(sum(cost["cpu_seconds"] for cost in measured))
    head = (
        "| chapter | time | CPU time | memory | device | full size: time | memory | device |\n"
        "| --- | --: | --: | --: | --- | --: | --: | --- |\n"
    )
    return (
        "# What the chapters cost\n\n"
        "The first numbers are those of the fast profile, the last those of the document's own "
        "sizes. Both are measured: the first by the build, when it last executed the chapter, the "
        "last by the run that wrote the chapter's record. *About*, or *more than*, marks a "
        "guess, for what was never run here: that the work grows with each size that the profile "
        "reduces, which is mostly too much, since a run has parts that do not. *The same* "
        "means that nothing is reduced. Time is what the clock says, with other chapters running "
        f"beside; each has one thread. Measured on: {'; '.join(sorted(machines)) or 'no machine'}. "
        f"All {len(measured)} chapters with a measurement took {total} of CPU time together.\n\n"
        "Every command that runs a chapter says beforehand how long it may take; how to run them "
        "is told in [](executing.md).\n\n"
        + "\n".join(
            f"## {captions.get(part, part.capitalize())}\n\n{head}" + "\n".join(lines) + "\n"
            for part, lines in parts.items()
        )
    )


def _captions(project: Project) -> dict[str, str]:
    """What the table of contents calls the folder of each part."""
    found = {}
    for part in yaml.safe_load((project.root / "_toc.yml").read_text()).get("parts", []):
        for entry in part["chapters"]:
            if entry["file"].startswith("chapters/"):
                found[entry["file"].split("/")[1]] = str(part["caption"])
    return found


def _cost(cost: Mapping[str, Any] | None) -> list[str]:
    if cost is None:
        return ["not measured", "", "", ""]
    times = [duration(cost["seconds"]), duration(cost["cpu_seconds"])]
    return [*times, f"{cost['memory_mb']} MB", str(cost["device"])]


def _cost_in_full(
    project: Project, chapter: str, source: Source, fast: Mapping[str, Any]
) -> list[str]:
    """Time, memory and device at the document's sizes: of the record, measured here, or guessed."""
    document = {name: p.default for name, p in source.parameters.items()}
    if all(value == document[name] for name, value in fast.items() if name not in OURS):
        return ["the same", "", ""]
    record = read_record(project, chapter)
    cost = record.data if record else costs.measured(project, chapter, document)
    if cost is None:
        return [f"{costs.roughly(costs.estimate(project, chapter, document).seconds)}", "", ""]
    smaller = " (smaller than the document)" if record and record.reductions(source) else ""
    return [duration(cost["seconds"]) + smaller, f"{cost['memory_mb']} MB", str(cost["device"])]
