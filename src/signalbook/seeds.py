"""What the chapters found with other seeds of the book, and with more threads.

A verdict is a statement about the mathematics only if another draw gives the same one. Each run of
``make seeds`` (:mod:`signalbook.reseed`) is a row of ``records/seeds.json``, kept under the digest
of all that it computed with. So runs add up over days, and those of code that is no longer there
are told apart. This module knows the rows and shows them.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

from signalbook import fingerprint
from signalbook.errors import BookError
from signalbook.files import read_json, replace
from signalbook.fingerprint import text_digest
from signalbook.keys import wanted
from signalbook.project import Project
from signalbook.source import Source
from signalbook.words import show

__all__ = [
    "FILE",
    "OWN",
    "PROFILE",
    "code_now",
    "draws",
    "entry",
    "fresh",
    "kept",
    "key",
    "save",
    "seeds_page",
]

FILE = "records/seeds.json"
PROFILE = "fast"
OWN = 0  # the book's own seed

#: What the rows of one seed and number of threads hold.
Row = Mapping[str, Any]


class Kept(NamedTuple):
    """A row of a chapter, and whether it speaks for the code of today."""

    chapter: str
    row: Row
    fresh: bool


def kept(project: Project) -> dict[str, Any]:
    """The record: for each chapter its rows, and the modules and files that its last run read.

    With the twin of its rows (:mod:`signalbook.carry`): a row has the verdicts that are unlike it.
    """
    return dict(read_json(project.root / FILE) or {})


def save(project: Project, chapter: str, now: Mapping[str, Any]) -> None:
    """Write the entry of a chapter into the record."""
    replace(project.root / FILE, _lines(kept(project) | {chapter: now}, depth=3).encode() + b"\n")


def _lines(value: Any, depth: int, indent: str = "") -> str:
    """JSON with a line for each entry down to a depth, thus for each row and each claim.

    >>> print(_lines({"a": [{"x": 1, "y": [2]}], "b": {}}, 2))
    {
     "a": [
      {"x": 1, "y": [2]}
     ],
     "b": {}
    }
    """
    if not depth or not value or not isinstance(value, dict | list):
        return json.dumps(value, sort_keys=True)
    if isinstance(value, list):
        inside, (first, last) = [_lines(v, depth - 1, indent + " ") for v in value], "[]"
    else:
        inside = [
            f"{json.dumps(k)}: {_lines(value[k], depth - 1, indent + ' ')}" for k in sorted(value)
        ]
        first, last = "{}"
    between = f",\n{indent} "
    return f"{first}\n{indent} {between.join(inside)}\n{indent}{last}"


def entry(record: Mapping[str, Any], chapter: str) -> dict[str, Any]:
    """What the record holds of a chapter; without a row if it has none."""
    return dict(record.get(chapter, {"modules": "", "files": "", "rows": []}))


def key(asked: Mapping[str, Any], code: Mapping[str, Any], files: Mapping[str, Any]) -> str:
    """Digest what a run computed with, but for its seed.

    ``asked`` is what :func:`signalbook.keys.wanted` says before it, ``code`` and ``files`` are what
    it read.
    """
    values = {name: value for name, value in asked["parameters"].items() if name != "seed"}
    of = {"parameters": values, "data": asked["data"], "reads": asked["reads"]}
    return text_digest(json.dumps({**of, "code": code, "files": files}, sort_keys=True))


def fresh(project: Project, chapter: str, found: Mapping[str, Any]) -> list[Row]:
    """The rows of a chapter that the code of today would compute as they stand."""
    if not found["rows"]:
        return []
    names = found["modules"].split()
    try:
        asked = wanted(project, chapter, PROFILE)
        now = key(asked, **code_now(project, chapter, names, found["files"].split()))
    except (BookError, OSError, SyntaxError):
        return []  # a module is gone, or the chapter's own run says what is wrong
    return [row for row in found["rows"] if row["key"] == now]


def code_now(
    project: Project, chapter: str, names: Collection[str], files: Iterable[str] = ()
) -> dict[str, Any]:
    """Digest the code cells, modules and files of a chapter as they lie on the disk."""
    modules = {n: fingerprint.of_module(fingerprint.module_file(n).read_bytes()) for n in names}
    contents = {name: (fingerprint.SOURCES / name).read_bytes() for name in files}
    return {
        "code": {"cells": Source(project.source(chapter)).code_digest, "modules": modules},
        "files": {n: fingerprint.of_file(n, read, names) for n, read in contents.items()},
    }


def draws(source: Source) -> bool:
    """Whether a chapter draws at random: whether its seed leads to anything.

    Every draw comes from the stream that ``start`` makes of the seed. Where that stream is not
    used, nor the seed anywhere else, all seeds give the same numbers.
    """
    try:
        nodes = [node for cell in source.code for node in ast.walk(ast.parse(cell.source))]
    except (BookError, SyntaxError):
        return True  # the chapter's own run says what is wrong
    used = Counter(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    idle = [node for node in nodes if _starts_in_vain(node, used)]
    return used["seed"] != len(idle)


def _starts_in_vain(node: ast.AST, used: Mapping[str, int]) -> bool:
    """Whether a statement makes a stream of the seed that the names in use do not hold."""
    if not isinstance(node, ast.Expr | ast.Assign) or not isinstance(node.value, ast.Call):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else []
    held = [target for target in targets if not isinstance(target, ast.Name) or used[target.id]]
    return ast.unparse(node.value.func) == "start" and not held


def seeds_page(project: Project, titles: Mapping[str, str]) -> str:
    """The page of the verdicts for other seeds and for another number of threads."""
    record, rows = kept(project), []
    for chapter in titles:
        found = entry(record, chapter)
        now = fresh(project, chapter, found)
        rows += [Kept(chapter, row, row in now) for row in found["rows"]]
    random = {chapter for chapter in titles if draws(Source(project.source(chapter)))}
    seeded = [run for run in rows if run.row["threads"] == 1 and run.row["seed"] != OWN]
    return "\n".join(
        [
            "# Other seeds, and more threads\n",
            _summary(titles, random, seeded),
            "## What was not as declared\n",
            "A verdict that differed, or a run that ended without one: where the numbers drawn "
            "cannot tell a statement from one of its rivals for sure, a check refuses to decide "
            "(*NoPower*). Such a chapter is given more runs or another rival, and the row stays "
            "until the seed is run again.\n",
            _differences(titles, rows),
            "## One thread and two\n",
            _threads(titles, rows),
            "## Chapter by chapter\n",
            _chapters(titles, random, seeded),
        ]
    )


def _summary(titles: Mapping[str, str], random: Set[str], seeded: Sequence[Kept]) -> str:
    if not seeded:
        return "No run with another seed was kept yet: `make seeds` makes them.\n"
    claims = sum(run.row["claims"] for run in seeded)
    chance = sum(run.row["chance"] for run in seeded)
    differ = sum(bool(run.row["differs"]) for run in seeded)
    stale = sum(not run.fresh for run in seeded)
    carried = sum(run.fresh and "carried" in run.row for run in seeded)
    return (
        "Each verdict must be the same for every draw, but for the chance of a false alarm that "
        "its card states. Here the chapters run at the fast profile with seeds other than the "
        "book's own, and each claim is compared: with what the chapter declares, and with the "
        "first such run. `make seeds` makes the runs that are not there yet, the cheap ones of "
        "chapters with few seeds first; a schedule goes on with it each week.\n\n"
        f"Of {len(titles)} chapters {len(random)} draw at random. In the others the seed leads to "
        "nothing, as their code shows, so one run is all. "
        f"There are {len(seeded)} runs of {len({run.chapter for run in seeded})} chapters, with "
        f"{claims} claims together; a recipe has none, but an assertion that must hold. "
        f"By the chances that the claims state, at most "
        f"{show(chance, 2)} of them should differ by luck. In {differ or 'none'} of the runs "
        "something was not as declared. "
        f"{_count(stale)} of the runs had code that has changed since; they are made anew by and "
        f"by.{_carried(carried)}\n"
    )


def _carried(number: int) -> str:
    if not number:
        return ""
    return (
        f" {number} of the others had earlier code too, which found the same with the book's own "
        "seed as the code of today, claim by claim."
    )


def _count(number: int) -> str:
    """A number that begins a sentence.

    >>> _count(0), _count(3)
    ('None', '3')
    """
    return str(number) if number else "None"


def _differences(titles: Mapping[str, str], rows: Iterable[Kept]) -> str:
    lines = [
        f"- {_link(titles, run.chapter)}, seed {run.row['seed']}{_earlier(run)}: {text}"
        for run in rows
        for text in run.row["differs"]
    ]
    return "\n".join(lines or ["There are none."]) + "\n"


def _earlier(run: Kept) -> str:
    return "" if run.fresh else ", with earlier code"


def _threads(titles: Mapping[str, str], rows: Sequence[Kept]) -> str:
    """Runs that differ in the number of threads alone."""
    one = {(run.chapter, run.row["seed"], run.row["key"]): run for run in rows if _of(run, 1)}
    lines = []
    for run in rows:
        other = one.get((run.chapter, run.row["seed"], run.row["key"]))
        if _of(run, 1) or other is None:
            continue
        verdicts = "the same" if run.row["unlike"] == other.row["unlike"] else "others"
        verdicts = verdicts if run.row["claims"] else "it has none"
        outputs = "the same" if run.row["outputs"] == other.row["outputs"] else "others"
        cells = [_link(titles, run.chapter), str(run.row["threads"]), verdicts, outputs]
        lines.append(f"| {' | '.join(cells)} |")
    if not lines:
        return "No such run was kept yet.\n"
    return (
        "A build gives each chapter one thread. These chapters ran with more, at the "
        "book's own seed. Bytes may differ, since sums that threads share are rounded "
        "differently; verdicts may not.\n\n"
        "| chapter | threads | verdicts | bytes of all that it shows |\n| --- | --: | --- | --- |\n"
        + "\n".join(lines)
        + "\n"
    )


def _of(run: Kept, threads: int) -> bool:
    return bool(run.row["threads"] == threads)


def _chapters(titles: Mapping[str, str], random: Set[str], seeded: Sequence[Kept]) -> str:
    lines = []
    for chapter in titles:
        own = [run for run in seeded if run.chapter == chapter]
        cells = [str(len(own)), str(sum(run.fresh for run in own))]
        if own:
            differ = sum(bool(run.row["differs"]) for run in own)
            chance = show(sum(run.row["chance"] for run in own), 2)
            cells += [str(own[-1].row["claims"]), str(differ), chance]
        cells = cells if chapter in random else ["draws nothing"]
        cells += [""] * (5 - len(cells))
        lines.append(f"| {' | '.join([_link(titles, chapter), *cells])} |")
    return (
        "| chapter | seeds run | with the code of today | claims | runs that differed | "
        "expected at most |\n| --- | --: | --: | --: | --: | --: |\n" + "\n".join(lines) + "\n"
    )


def _link(titles: Mapping[str, str], chapter: str) -> str:
    return f"[{titles[chapter]}](../chapters/{chapter})"
