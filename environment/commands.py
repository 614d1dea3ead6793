"""The two commands, and every error of theirs in words."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from environment import SetupError, lock, venv

__all__ = ["run"]

ROOT = Path(__file__).resolve().parents[1]


def run(arguments: list[str]) -> int:
    """Make the environment, or with the argument ``lock`` write the pins anew."""
    this_python = "--this-python" in arguments
    try:
        if "lock" in arguments:
            lock.write(ROOT, this_python)
        else:
            venv.ensure(ROOT, os.environ.get("TORCH_INDEX", ""), this_python)
    except (SetupError, OSError) as error:
        print(f"error: {in_words(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; `make setup` takes it up again", file=sys.stderr)
        return 130
    return 0


def in_words(error: SetupError | OSError) -> str:
    """Say what the error means for a set-up.

    >>> in_words(OSError(errno.ENOSPC, "No space left on device", "/home/a/.venv"))
    'the disk is full: no space left for /home/a/.venv'
    """
    if isinstance(error, SetupError):
        return str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full: no space left for {error.filename}"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"no permission for {error.filename}"
    return str(error)
