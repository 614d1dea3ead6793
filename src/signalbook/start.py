"""The first line of every chapter: check the parameters, set the style, name the randomness."""

from __future__ import annotations

import ast
import sys

import torch

from signalbook import figures
from signalbook.errors import BookError
from signalbook.parameters import declared, resolve
from signalprop.random import Stream

__all__ = ["assignments", "history", "start"]


def start(chapter: str, seed: int) -> Stream:
    """Return the chapter's random stream, after checking what papermill may have injected.

    papermill only warns about a parameter that the chapter does not have; here it is an error that
    names the ones there are, in the book's own build as in anyone's ``papermill`` call. Nothing is
    read but the cells that ran before this one.
    """
    cells = history()
    if cells:
        parameters = declared(cells[0])
        injected = [cell for cell in cells[1:] if cell.startswith("# Parameters")]
        values = resolve(parameters, assignments("\n".join(injected)), chapter)
        _check_device(str(values.get("device", "cpu")))
    figures.use_style()
    return Stream(seed, (chapter,))


def history() -> list[str]:
    """Return the cells that ran before this one: [] outside a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return [cell for cell in shell.user_ns.get("In", [])[:-1] if cell] if shell else []


def assignments(cell: str) -> dict[str, object]:
    """The names that an injected cell sets; papermill writes ``name = literal`` lines."""
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(cell).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def _check_device(device: str) -> None:
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        there = ["cpu"] + [f"cuda:{i}" for i in range(torch.cuda.device_count())]
        raise BookError(f"device {device!r} is not there; there are: {', '.join(there)}") from error
