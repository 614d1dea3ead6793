"""At which size a page ran: which parameters differ from the document's."""

from __future__ import annotations

import ast
import sys
from typing import Any

from signalbook.parameters import declared

__all__ = ["OURS", "assignments", "document", "history", "reductions"]

OURS = {"seed", "device"}  # no document prints them, and no statement depends on them


def document() -> dict[str, Any]:
    """Return the document's values of the parameters, whatever this run has in their place."""
    cells = history()
    return {n: p.default for n, p in declared(cells[0]).items()} if cells else {}


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


def history() -> list[str]:
    """Return the cells that ran before this one: [] outside a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return [cell for cell in shell.user_ns.get("In", [])[:-1] if cell] if shell else []


def assignments(cell: str) -> dict[str, object]:
    """The names that an injected cell sets; papermill writes ``name = literal`` lines.

    >>> assignments("n = 4\\nrate = float('nan')")
    {'n': 4, 'rate': nan}
    """
    return {
        node.targets[0].id: _literal(node.value)
        for node in ast.parse(cell).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def _literal(node: ast.expr) -> object:
    """A literal; of what has none papermill writes calls: ``float('nan')``, ``float('inf')``."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "float" and len(node.args) == 1:
        return float(ast.literal_eval(node.args[0]))
    return ast.literal_eval(node)
