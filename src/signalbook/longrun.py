"""Runs of minutes and more: where they keep checkpoints, and how they tell how far they are."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from signalbook.files import write
from signalbook.project import Project
from signalbook.scale import history
from signalbook.witness import library_digest

__all__ = ["RUN", "LongRun", "forget", "long_run"]

RUN = "SIGNALBOOK_RUN"  # the variable by which a kernel knows the execution that it serves
USER = "run"  # the file beside checkpoints that says which execution took them up last


class LongRun(TypedDict):
    """What `signalprop.training.train` takes as ``folder`` and ``progress``."""

    folder: Path
    progress: Callable[[str, int, int], None]


def long_run(chapter: str) -> LongRun:
    """Let a chapter's training go on after a kill, and tell the build how far it is.

    Use it as ``sp.training.train(..., **long_run("<part>/<slug>"))``. The folder is named after all
    that the numbers can depend on: the cells that ran so far, parameters among them, the whole
    library (what is loaded later counts too) and the version of torch. So a checkpoint is only ever
    taken up by the run that it is of. Once the chapter is executed the checkpoints that it used are
    removed; those of other sizes stay.
    """
    project = Project.find(Path.cwd())
    parts = [library_digest(), importlib.metadata.version("torch"), *history()]
    name = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def progress(group: str, done: int, steps: int) -> None:
        if done * 100 // steps > (done - 1) * 100 // steps:
            write(project.progress(chapter), f"{group}, step {done} of {steps}")

    folder = project.checkpoints(chapter) / name
    write(folder / USER, os.environ.get(RUN, ""))
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
