"""A chapter's source: a MyST notebook, its front matter, its cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jupytext
import yaml

from signalbook.errors import BookError
from signalbook.parameters import Parameter, declared

__all__ = ["Source"]

FIELDS = {"settles", "telling", "data", "reads", "seconds", "time_limit"}


@dataclass
class Source:
    """The MyST notebook at ``path``, read once."""

    path: Path
    notebook: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            self.notebook = jupytext.read(self.path, fmt="md:myst")
        except FileNotFoundError as error:
            raise BookError(f"there is no {self.path.name}") from error
        except (ValueError, yaml.YAMLError) as error:
            raise BookError(f"{self.path.name} is not a MyST notebook: {error}") from error
        for number, cell in enumerate(self.notebook.cells):
            cell["id"] = f"cell-{number}"  # jupytext draws them at random: builds would differ

    @cached_property
    def matter(self) -> dict[str, Any]:
        """The ``signalbook`` block of the front matter."""
        matter = self.notebook.metadata.get("signalbook") or {}
        if unknown := sorted(set(matter) - FIELDS):
            raise BookError(
                f"{self.path.name}: unknown front matter {unknown[0]!r}; known: {sorted(FIELDS)}"
            )
        return dict(matter)

    @property
    def settles(self) -> dict[str, str]:
        """The IDs this chapter settles, each with the verdict expected of it."""
        return dict(self.matter.get("settles") or {})

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

    @cached_property
    def title(self) -> str:
        """The first heading."""
        for cell in self.notebook.cells:
            if cell.cell_type == "markdown":
                for line in cell.source.splitlines():
                    if line.startswith("# "):
                        return str(line[2:].strip())
        raise BookError(f"{self.path.name} has no title: it needs a heading `# ...`")
