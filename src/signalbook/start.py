"""The first line of every chapter: check the parameters, set the style, name the randomness."""

from __future__ import annotations

from signalbook import figures
from signalbook.errors import BookError
from signalbook.parameters import declared, resolve
from signalbook.scale import assignments, history
from signalprop.random import Stream

__all__ = ["start"]


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
    figures.begin(chapter)
    return Stream(seed, (chapter,))


def _check_device(device: str) -> None:
    if device == "cpu":
        return
    import torch  # it takes seconds to load, and some chapters need it not

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        there = ["cpu"] + [f"cuda:{i}" for i in range(torch.cuda.device_count())]
        raise BookError(f"device {device!r} is not there; there are: {', '.join(there)}") from error
