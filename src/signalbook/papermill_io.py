"""Lets papermill read chapters: ``papermill jupytext://chapters/<part>/<slug>.md out.ipynb``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from signalbook.errors import BookError
from signalbook.source import Source

__all__ = ["JupytextHandler"]

SCHEME = "jupytext://"


class JupytextHandler:
    """A papermill reader for MyST notebooks; registered as an entry point of the package."""

    @classmethod
    def read(cls, path: str) -> str:
        """Return the chapter as notebook JSON, outputs empty."""
        from papermill.translators import papermill_translators

        # papermill loads this module while it is itself loaded: its parts come later
        from signalbook.papermill_lists import ListsOfWords

        papermill_translators.register("python", ListsOfWords)
        return json.dumps(Source(Path(path.removeprefix(SCHEME))).notebook)

    @classmethod
    def listdir(cls, path: str) -> list[str]:
        """List the chapters in a folder."""
        return [str(p) for p in sorted(Path(path.removeprefix(SCHEME)).glob("*.md"))]

    @classmethod
    def write(cls, buf: Any, path: str) -> None:
        """Refuse: the sources are edited by people, not by runs."""
        raise BookError(f"{path} is read-only: give an output path that ends in .ipynb")

    @classmethod
    def pretty_path(cls, path: str) -> str:
        """Return the path as messages show it."""
        return path
