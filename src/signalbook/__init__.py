"""The machinery of the book: executes chapters, collects verdicts, builds the site.

A chapter uses ``signalbook.start``, ``checks`` and ``settle``, ``prose``, ``figures`` and
``draw``. ``signalbook.load`` returns what chapters found. It is imported when it is asked for, so
that the command line starts at once.
"""

from __future__ import annotations

from typing import Any

__all__ = ["load"]


def __getattr__(name: str) -> Any:
    if name != "load":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from signalbook.results import load

    return load
