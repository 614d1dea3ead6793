"""A chapter's source: a MyST notebook, its front matter, its cells."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jupytext

from signalbook.errors import BookError
from signalbook.fingerprint import of_cell, text_digest
from signalbook.inventory import rows
from signalbook.parameters import Parameter, declared

__all__ = ["Source"]

#: The fields of the front matter, each with what it may hold.
FIELDS: dict[str, type | tuple[type, ...]] = {
    "settles": dict,
    "live": dict,
    "telling": str,
    "data": list,
    "reads": list,
    "seconds": (int, float),
    "time_limit": int,
}
SHAPES: dict[object, str] = {
    dict: "a mapping",
    list: "a list",
    str: "a word",
    int: "a whole number",
}

#: How a chapter names itself.
STARTS = re.compile(r"^[^#\n]*\bstart\(\s*[\"']([^\"']+)[\"']", re.MULTILINE)

#: What stands before the pages' text, and between it: neither holds a heading.
NO_TEXT = re.compile(r"\A---\n.*?^---$|^```.*?^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Source:
    """The MyST notebook at ``path``, read once, when it is first asked for something.

    Of a chapter that is not well-formed the title can still be had.
    """

    path: Path

    @cached_property
    def notebook(self) -> Any:
        """The cells and metadata, without outputs."""
        try:
            notebook = jupytext.read(self.path, fmt="md:myst")
        except FileNotFoundError as error:
            raise BookError(f"there is no {self.path.name}") from error
        except UnicodeDecodeError as error:
            raise BookError(
                f"{self.path.name} is not text in UTF-8: {error}; save it in that encoding"
            ) from error
        except Exception as error:  # of jupytext, YAML, nbformat: each has kinds of its own
            raise BookError(f"{self.path.name} is not a MyST notebook: {error}") from error
        for number, cell in enumerate(notebook.cells):
            cell["id"] = f"cell-{number}"  # jupytext draws them at random: builds would differ
        return notebook

    @cached_property
    def matter(self) -> dict[str, Any]:
        """The ``signalbook`` block of the front matter."""
        matter = self.notebook.metadata.get("signalbook") or {}
        if not isinstance(matter, dict):
            raise BookError(f"{self.path.name}: `signalbook` must hold fields, got {matter!r}")
        for name, value in matter.items():
            if name not in FIELDS:
                known = sorted(FIELDS)
                raise BookError(f"{self.path.name}: unknown front matter {name!r}; known: {known}")
            if not isinstance(value, FIELDS[name]) or isinstance(value, bool):
                shape = SHAPES.get(FIELDS[name], "a number")
                raise BookError(f"{self.path.name}: {name!r} must be {shape}, got {value!r}")
        return dict(matter)

    def check(self) -> None:
        """Raise the ``BookError`` that says why the chapter cannot be run as it stands."""
        _ = self.matter, self.parameters
        if not self._heading:
            raise BookError(f"{self.path.name} has no title: it needs a heading `# ...`")
        if unknown := [name for name in self.settles if name not in rows()]:
            raise BookError(
                f"{self.path.name} settles {unknown[0]}, which is not in the inventory "
                "(src/signalbook/statements)"
            )
        if not self._in_python:
            raise BookError(
                f"{self.path.name} does not say in its front matter that its code is Python: copy"
                " the `kernelspec` of another chapter"
            )
        self._check_start()

    def _check_start(self) -> None:
        name = self.path.with_suffix("").as_posix().rpartition("/chapters/")[2]
        found = STARTS.findall("\n".join(cell.source for cell in self.code))
        if not found:
            raise BookError(
                f"{self.path.name} does not check its parameters, nor name its randomness: begin"
                f' its code with `stream = start("{name}", seed)`'
            )
        for said in found:
            if said != name:
                raise BookError(
                    f"{self.path.name} starts as {said!r}: its randomness and its figures would be "
                    f"those of another chapter; it is {name!r}"
                )

    @property
    def _in_python(self) -> bool:
        """Whether Jupyter is told what the page of the chapter, too, is coloured by."""
        spec = self.notebook.metadata.get("kernelspec")
        return isinstance(spec, dict) and spec.get("language") == "python" and "name" in spec

    @property
    def settles(self) -> dict[str, str]:
        """The IDs this chapter settles, each with the verdict expected of it: of its record, where
        there is one."""
        return dict(self.matter.get("settles") or {})

    @property
    def live(self) -> dict[str, str]:
        """Verdicts expected of the build's own run, where they differ from what a record gives.

        A reduced run of a statement that `settles` agrees or disagrees at reduced scale
        accordingly; what else it gives is said here.
        """
        return dict(self.matter.get("live") or {})

    @property
    def telling(self) -> str:
        """The name of the figure that stands right below the summary box; the first, if not
        said."""
        return str(self.matter.get("telling", ""))

    @property
    def data(self) -> list[str]:
        """The data sets that it loads."""
        return list(self.matter.get("data") or [])

    @property
    def reads(self) -> list[str]:
        """The files of the project that it reads, by their path from the root."""
        return list(self.matter.get("reads") or [])

    @property
    def seconds(self) -> float:
        """Rough run time at the fast profile, for the first estimate of progress."""
        return float(self.matter.get("seconds", 15))

    @property
    def time_limit(self) -> int:
        """Seconds that one cell may take at the fast profile."""
        return int(self.matter.get("time_limit", 300))

    @property
    def code(self) -> list[Any]:
        """The code cells in order."""
        return [cell for cell in self.notebook.cells if cell.cell_type == "code"]

    @property
    def code_digest(self) -> str:
        """What the code cells compute, as a digest that comments and layout leave alone."""
        return text_digest("\n".join(of_cell(cell.source) for cell in self.code))

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters that the one ``parameters`` cell declares."""
        tagged = [c for c in self.code if "parameters" in c.metadata.get("tags", [])]
        if len(tagged) != 1:
            raise BookError(
                f"{self.path.name} has {len(tagged)} cells tagged `parameters`; it needs one"
            )
        try:
            return declared(tagged[0].source)
        except (BookError, SyntaxError) as error:
            raise BookError(f"{self.path.name}: {error}") from error

    @property
    def text(self) -> str:
        """The file as it stands, with marks where it is not text in UTF-8."""
        return self.path.read_text("utf-8", "replace")

    @property
    def title(self) -> str:
        """The first heading; the name of the file where there is none."""
        return self._heading or self.path.stem

    @cached_property
    def _heading(self) -> str:
        found = re.search(r"^# +(.*\S)", NO_TEXT.sub("", self.text), re.MULTILINE)
        return found[1] if found else ""
