"""Figures as the book shows them: one style, SVG, and always with their data."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from signalbook.outputs import FIGURE
from signalbook.project import Project

__all__ = ["Figure", "record", "show", "use_style"]


def use_style() -> None:
    """Apply the book's matplotlib style, without a display."""
    plt.switch_backend("agg")
    with as_file(files("signalbook").joinpath("book.mplstyle")) as path:
        plt.style.use(path)


class Figure:
    """A matplotlib figure with its name and data, displayed as the last line of a cell."""

    def __init__(self, figure: Any, name: str, data: pd.DataFrame, raster: bool) -> None:
        self.figure, self.name, self.data, self.raster = figure, name, data, raster

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        # 12 digits: below that, the last bits of a float differ between machines to no use.
        csv = self.data.to_csv(index=False, float_format="%.12g", lineterminator="\n")
        bundle: dict[str, Any] = {
            FIGURE: {"name": self.name, "csv": csv},
            "text/plain": f"Figure {self.name}: {len(self.data)} rows of data",
        }
        if self.raster:
            bundle["image/png"] = self._rendered("png", dpi=200)
        else:
            bundle["image/svg+xml"] = self._rendered("svg", metadata={"Date": None}).decode()
        return bundle

    def _rendered(self, kind: str, **options: Any) -> bytes:
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format=kind, **options)
        return buffer.getvalue()


def show(
    figure: Any, name: str, data: pd.DataFrame | Mapping[str, Any], *, raster: bool = False
) -> Figure:
    """Show a figure and keep the numbers it was drawn from.

    ``data`` holds one row a point, columns named in words; readers download it as CSV. ``raster``
    draws PNG instead of SVG, for thousands of points. The page's cell metadata hold the caption and
    the alt text, without which the build refuses the page.
    """
    if not name.replace("-", "").isalnum():
        raise ValueError(f"name must be letters, digits and hyphens, got {name!r}")
    plt.close(figure)
    return Figure(figure, name, pd.DataFrame(data), raster)


def record(chapter: str, name: str) -> pd.DataFrame | None:
    """The recorded data of a figure from the run at the document's own sizes, if there is one."""
    path = Project.find(Path.cwd()).record(chapter)
    if not path.is_file():
        return None
    csv = json.loads(path.read_text())["figures"].get(name)
    return None if csv is None else pd.read_csv(io.StringIO(csv))
