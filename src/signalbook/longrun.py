"""Runs of minutes and more: where they keep checkpoints, and how they tell how far they are."""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from signalbook.files import read_json, write
from signalbook.fingerprint import text_digest
from signalbook.project import Project
from signalbook.scale import history
from signalbook.witness import library, library_now

__all__ = ["RUN", "LongRun", "forget", "long_run"]

RUN = "SIGNALBOOK_RUN"  # the variable by which a kernel knows the execution that it serves
CODE = "code.json"  # the file beside checkpoints that says which code made them
PAUSE = 2  # seconds between two notes of a group: each is a file that waits for the disk
USER = "run"  # the file beside checkpoints that says which execution took them up last


class LongRun(TypedDict):
    """What `signalprop.training.train` takes as ``folder`` and ``progress``."""

    folder: Path
    progress: Callable[[str, int, int], None]


def long_run(chapter: str) -> LongRun:
    """Let a chapter's training go on after a kill, and tell the build how far it is.

    Use it as ``sp.training.train(..., **long_run("<part>/<slug>"))``. The folder is named after the
    version of torch and the cells that ran so far, parameters among them. Beside the checkpoints
    stands the code that made them, module by module, as far as it was loaded: where one of these
    has changed since, they are removed. So a checkpoint is only ever taken up by the run that it is
    of, and other experiments may change while a long one is under way. Once the chapter is executed
    the checkpoints that it used are removed; those of other sizes stay.
    """
    project = Project.find(Path.cwd())
    parts = [importlib.metadata.version("torch"), *history()]
    folder = project.checkpoints(chapter) / text_digest("\0".join(parts))[:16]
    code = read_json(folder / CODE)
    if code is None or code != library_now(code):
        shutil.rmtree(folder, ignore_errors=True)
    write(folder / USER, os.environ.get(RUN, ""))
    told: dict[str, float] = {}  # when, by group, the last time

    def progress(group: str, done: int, steps: int) -> None:
        if time.monotonic() > told.get(group, -math.inf) + PAUSE:
            told[group] = time.monotonic()
            write(folder / CODE, json.dumps(library()))
            write(project.progress(chapter), f"{group}, step {done} of {steps}")

    return LongRun(folder=folder, progress=progress)


def forget(checkpoints: Path, run: str) -> None:
    """Remove the checkpoints of a chapter that this run took up, or made, last.

    A record is made over several runs, and its chapter is executed at smaller sizes in between.
    """
    for mark in checkpoints.glob(f"*/{USER}"):
        if mark.read_text() == run:
            shutil.rmtree(mark.parent)
    if checkpoints.is_dir() and not any(checkpoints.iterdir()):
        checkpoints.rmdir()
