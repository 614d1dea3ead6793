"""One chapter for several seeds: what comes before the randomness runs once, the rest in forks.

``python -m signalbook.forked`` takes the place of a kernel (:mod:`signalbook.together` starts it).
An order on its standard input holds code cells, ``shared`` ones and, for each seed, its own; for
each seed a line on the standard output answers. Kernels would load the same packages for every
seed anew, which takes many chapters longer than what they compute. A fork has them at once, and
nothing that it does reaches the next one.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from signalbook import lifeline
from signalbook.witness import MIME, Testimony, watch

__all__ = ["answers"]

Outputs = list[dict[str, Any]]


class _Last(DisplayHook):
    """Keeps what the last line of a cell shows, in the form in which a kernel sends it."""

    shell: Any

    def write_output_prompt(self) -> None:
        """Nobody sees the prompt."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        """Keep the formats that an object has given."""
        shown = {"data": format_dict, "metadata": md_dict, "execution_count": self.prompt_count}
        self.shell.shown.append({"output_type": "execute_result", **shown})

    def finish_displayhook(self) -> None:
        """Nothing is left to be sent."""


class _Displayed(DisplayPublisher):
    """Keeps what a cell displays on its way."""

    shell: Any

    def publish(self, data: Any, metadata: Any = None, *_: Any, **__: Any) -> None:
        """Keep the formats that an object has given."""
        shown = {"data": data, "metadata": metadata or {}}
        self.shell.shown.append({"output_type": "display_data", **shown})


class _Printed(StringIO):
    """Keeps what a cell prints, between what it displays before and after."""

    def __init__(self, shown: Outputs) -> None:
        super().__init__()
        self.shown = shown

    def write(self, text: str) -> int:
        """Keep the text, with what was printed right before it."""
        if not self.shown or self.shown[-1]["output_type"] != "stream":
            self.shown.append({"output_type": "stream", "name": "stdout", "text": ""})
        self.shown[-1]["text"] += text
        return len(text)


class _Shell(InteractiveShell):
    displayhook_class = Type(_Last)
    display_pub_class = Type(_Displayed)
    shown: Outputs

    def run(self, code: str) -> Outputs:
        """Run a cell as a kernel does; return its outputs, or raise what it raises."""
        self.shown = []
        with redirect_stdout(_Printed(self.shown)):
            result = self.run_cell(code, store_history=True)  # type: ignore[no-untyped-call]
        result.raise_error()
        return self.shown


def answers(order: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Run the cells for all seeds, ``side_by_side`` at a time; yield what each came to.

    That is its ``seed``, ``seconds``, ``cpu_seconds``, ``memory`` and exit ``code``, and the
    ``outputs`` of all cells with the ``testimony`` of what ran, or the ``error`` that ended it.
    """
    shell = _Shell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shared = _outcome(shell, order["shared"])
    waiting = list(order["own"])
    running: dict[int, tuple[int, Path, float]] = {}  # by process: seed, file, when it began
    with TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < order["side_by_side"]:
                seed, cells = waiting.pop(0)
                file = Path(folder, str(seed))
                child = os.fork()
                if not child:
                    _answer(shell, file, shared, cells)
                running[child] = seed, file, time.monotonic()
            child, status, used = os.wait3(0)
            seed, file, begun = running.pop(child)
            yield {
                "seed": seed,
                "code": os.waitstatus_to_exitcode(status),
                "seconds": time.monotonic() - begun,
                "cpu_seconds": used.ru_utime + used.ru_stime,
                "memory": used.ru_maxrss,
                **({} if status else json.loads(file.read_bytes())),
            }


def _answer(shell: _Shell, file: Path, shared: dict[str, Any], cells: Iterable[str]) -> NoReturn:
    """Run the cells of one seed, write down what came of it, and end."""
    code = 1
    try:
        lifeline.follow()
        found = shared if "error" in shared else _outcome(shell, cells, shared["outputs"])
        if "error" not in found:
            found["testimony"] = Testimony()._repr_mimebundle_()[MIME]
        file.write_text(json.dumps(found))
        code = 0
    finally:
        os._exit(code)  # what the parent would do at its end is not for its forks


def _outcome(shell: _Shell, cells: Iterable[str], before: Iterable[Outputs] = ()) -> dict[str, Any]:
    """What cells show, after what was shown before; or the error that one of them raises."""
    try:
        return {"outputs": [*before, *(shell.run(cell) for cell in cells)]}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    lifeline.follow()
    os.environ |= lifeline.environment()  # for the forks
    watch()
    for answer in answers(json.load(sys.stdin)):
        print(json.dumps(answer), flush=True)
