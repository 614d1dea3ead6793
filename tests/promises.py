"""The figures of the page on what the project promises: the tests that try a promise note them.

Nothing is noted unless the variable ``SIGNALBOOK_PROMISES`` names the file; `make promises` does,
for `records/promises.json`, and empties it first.
"""

from __future__ import annotations

import datetime
import fcntl
import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from signalbook.files import read_json, write

__all__ = ["note"]


def note(what: str, times: int = 1) -> None:
    """Add to how many times something was tried, and the promise kept."""
    if "SIGNALBOOK_PROMISES" not in os.environ:
        return
    path = Path(os.environ["SIGNALBOOK_PROMISES"])
    with _alone(path.parent):
        counts = (read_json(path) or {"counts": {}})["counts"]
        counts[what] = counts.get(what, 0) + times
        machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        found = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "machine": machine,
            "counts": counts,
        }
        write(path, json.dumps(found, indent=1, sort_keys=True) + "\n")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Tests that run side by side write one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
