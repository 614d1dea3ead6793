"""Build the static site from the staged sources, and put it in place."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from signalbook.errors import BookError
from signalbook.files import read_json, replace, unwritable, write
from signalbook.launch import notebooks
from signalbook.ledger import Ledger, collect
from signalbook.light import lighter
from signalbook.pages import previews, symbols
from signalbook.policy import guarded
from signalbook.project import Project
from signalbook.stage import stage

__all__ = ["STAMP", "build_site"]

#: Written last: a site without it is not finished.
STAMP = ".complete"

NOT_EXECUTED = "not executed"

#: What belongs to every page.
FRAME = ("_config.yml", "_toc.yml", "assets/")

#: How often, at most, a build may fail by chance alone.
FALSE_ALARM = 1e-3


def build_site(project: Project) -> Ledger:
    """Collect the ledger, stage and build the pages, and return the ledger.

    Chapters that failed, or whose verdicts are not the declared ones, get a page that says so; the
    caller decides what that means for the exit code.
    """
    ledger = collect(project)
    (project.site / STAMP).unlink(missing_ok=True)
    html = _sphinx(project, stage(project, ledger))
    write(html / "_static" / "statements.js", previews(ledger))
    write(html / "_static" / "symbols.js", symbols())
    for name, notebook in notebooks(project).items():
        write(html / name, notebook)
    _mirror(guarded(lighter(html)), project.site)
    replace(project.site / STAMP, b"")
    return ledger


def _sphinx(project: Project, sources: Path) -> Path:
    """Run Jupyter Book with warnings as errors.

    Its caches are kept only where :func:`_sees_changes`. Every page is written anew from what it
    has read: beside pages of an earlier run it would keep the words that these had in the index of
    the search.
    """
    out, state = project.build / "sphinx", project.build / "sphinx.state"
    files, last, read = _digests(sources), read_json(state), time.time()
    if _sees_changes(last, sources, files):
        read = max(read, last["until"])
    else:
        shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(out / "_build" / "html", ignore_errors=True)
    state.unlink(missing_ok=True)
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(sources)]
    options = ["--path-output", str(out), "--warningiserror", "--keep-going", "--nitpick"]
    run = subprocess.run(
        [*command, *options],
        stdout=subprocess.PIPE,  # a file would be cut off where the disk is full
        stderr=subprocess.STDOUT,
        cwd=project.root,
        encoding="utf-8",
        errors="replace",
    )
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        if run.returncode and os.strerror(number) in run.stdout:
            raise unwritable(out, OSError(number, os.strerror(number)))
    write(project.build / "sphinx.log", run.stdout)
    if run.returncode:
        lines = re.sub(r"\x1b\[[\d;]*m", "", run.stdout).splitlines()
        told = [line for line in lines if "WARNING" in line or "ERROR" in line] or lines[-15:]
        raise BookError("the pages do not build:\n  " + "\n  ".join(told[:20]))
    write(state, json.dumps({"files": files, "until": max(read, time.time())}))
    return out / "_build" / "html"


def _digests(folder: Path) -> dict[str, str]:
    """The digest of every file below the folder, by its name there."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _sees_changes(last: Any, sources: Path, files: Mapping[str, str]) -> bool:
    """Whether Sphinx would read again all that changed since its last run.

    That run must have ended well: after a kill the caches may be torn. The frame must be the same,
    as Sphinx does not look at the assets or the table of contents. It takes a page for changed if
    the page is younger than its last reading, by the clock; where the clock was set back between
    the two, it is not.
    """
    if not last:
        return False
    names = {*files, *last["files"]}
    changed = [name for name in names if files.get(name) != last["files"].get(name)]
    return not any(
        name.startswith(FRAME)
        or (name in files and (sources / name).stat().st_mtime <= last["until"])
        for name in changed
    )


def _mirror(files: Iterable[tuple[Path, bytes]], target: Path) -> None:
    """Make ``target`` hold these files, each replaced in one step, and no others."""
    wanted = set()
    for name, content in files:
        write(target / name, content)
        wanted.add(name)
    for path in target.rglob("*"):
        if path.is_file() and path.relative_to(target) not in wanted:
            path.unlink()


def problems(project: Project, ledger: Ledger) -> list[str]:
    """Return everything that makes a build fail, one message each."""
    told = [f"{name}: {text}" for name, texts in ledger.problems.items() for text in texts]
    if ledger.false_alarm() > FALSE_ALARM:
        told.append(
            f"the chances of a false alarm sum to {ledger.false_alarm():.2g}, allowed are "
            f"{FALSE_ALARM:g}: take more runs where the chance is largest"
        )
    for chapter in project.chapters:
        if failure := read_json(project.failure(chapter)):
            told.append(f"{chapter}: {failure['error']}")
        elif not project.executed(chapter).is_file():
            told.append(f"{chapter}: {NOT_EXECUTED}")
    return told
