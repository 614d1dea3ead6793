"""Runs of minutes and more: where they keep checkpoints, and how they tell how far they are."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from signalbook.files import write
from signalbook.project import Project
from signalbook.start import history
from signalbook.witness import library_digest

__all__ = ["LongRun", "long_run"]


class LongRun(TypedDict):
    """What `signalprop.training.train` takes as ``folder`` and ``progress``."""

    folder: Path
    progress: Callable[[str, int, int], None]


def long_run(chapter: str) -> LongRun:
    """Let a chapter's training go on after a kill, and tell the build how far it is.

    Use it as ``sp.training.train(..., **long_run("<part>/<slug>"))``. The folder is named after all
    that the numbers can depend on: the cells that ran so far, parameters among them, the whole
    library (what is loaded later counts too) and the version of torch. So a checkpoint is only ever
    taken up by the run that it is of. Once the chapter is executed its checkpoints are removed.
    """
    project = Project.find(Path.cwd())
    parts = [library_digest(), importlib.metadata.version("torch"), *history()]
    name = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def progress(group: str, done: int, steps: int) -> None:
        if done * 100 // steps > (done - 1) * 100 // steps:
            write(project.progress(chapter), f"{group}, step {done} of {steps}")

    return LongRun(folder=project.checkpoints(chapter) / name, progress=progress)
