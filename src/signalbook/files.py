"""Whole files or none: writing that a kill cannot leave half done."""

from __future__ import annotations

import json
import os
import re
import socket
import tempfile
from pathlib import Path
from typing import Any

import psutil

from signalbook.errors import BookError

__all__ = ["clear", "read_json", "replace", "unwritable", "write"]

#: A file that :func:`replace` has not put in place: its name ends with whose it is.
UNFINISHED = re.compile(r"\..+\.(?P<process>\d+)@(?P<host>.+)\.\w{8}")


def read_json(path: Path) -> Any:
    """Return what the file holds; None where it is missing or torn, which means: make it again."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def write(path: Path, text: str | bytes) -> bool:
    """Make ``path`` hold ``text``; leave it untouched, and return False, where it does already."""
    content = text.encode() if isinstance(text, str) else text
    if path.is_file() and path.read_bytes() == content:
        return False
    replace(path, content)
    return True


def replace(path: Path, content: bytes) -> None:
    """Put a file in place in one step: readers see the old content or the new, never a part."""
    temporary, prefix = "", f".{path.name}.{os.getpid()}@{socket.gethostname()}."
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=prefix)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def clear(folder: Path) -> None:
    """Remove what processes of this machine were writing below the folder when they were killed."""
    for place, _, names in os.walk(folder):
        for found in filter(None, map(UNFINISHED.fullmatch, names)):
            ours = found["host"] == socket.gethostname()
            if ours and not psutil.pid_exists(int(found["process"])):
                Path(place, found[0]).unlink(missing_ok=True)


def unwritable(path: Path | str, error: OSError) -> BookError:
    """What a full disk, or a folder of somebody else, asks of a person."""
    return BookError(
        f"cannot write {path}: {error.strerror}; free some space or fix the folder's"
        " permissions, then run the same command again: what is finished stays"
    )
