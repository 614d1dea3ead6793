"""At which size a page ran: which parameters differ from the document's."""

from __future__ import annotations

from typing import Any

from signalbook.parameters import declared
from signalbook.start import assignments, history

__all__ = ["OURS", "reductions"]

OURS = {"seed", "device"}  # no document prints them, and no statement depends on them


def reductions() -> dict[str, tuple[Any, Any]]:
    """Return ``{name: (value of this run, value of the document)}`` where the two differ.

    The first cell of a chapter declares the document's values, papermill injects others. Outside a
    notebook there is nothing to differ.
    """
    cells = history()
    if not cells:
        return {}
    parameters = declared(cells[0])
    injected = assignments("\n".join(c for c in cells[1:] if c.startswith("# Parameters")))
    return {
        name: (value, parameters[name].default)
        for name, value in injected.items()
        if name in parameters and name not in OURS and value != parameters[name].default
    }
