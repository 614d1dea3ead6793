"""Figures as the book shows them: one style, SVG, and always with their data."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from signalbook.beside import beside
from signalbook.errors import BookError
from signalbook.files import read_json
from signalbook.legible import legible
from signalbook.narrow import is_wide, stack
from signalbook.outputs import FIGURE
from signalbook.project import Project
from signalbook.scale import reductions

__all__ = ["Figure", "begin", "record", "show", "use_style"]

_records: dict[str, Recorded] = {}  # of the chapter's figures, by name


def begin(chapter: str) -> None:
    """Apply the style, and look up what was recorded of the chapter's figures."""
    use_style()
    _records.clear()
    _records.update(record(chapter))


def use_style() -> None:
    """Apply the book's matplotlib style, without a display."""
    plt.switch_backend("agg")
    with as_file(files("signalbook").joinpath("book.mplstyle")) as path:
        plt.style.use(path)


@dataclass(frozen=True)
class Recorded:
    """What was recorded of a figure: its rows as CSV, and what was smaller than in the document."""

    csv: str
    reduced: Sequence[str]

    @property
    def name(self) -> str:
        """What the run is called in a legend."""
        return "recorded, larger run" if self.reduced else "recorded, document's size"


class Figure:
    """A matplotlib figure with its name and data, displayed as the last line of a cell.

    One that is wide is drawn twice, the second time for phones: see :mod:`signalbook.narrow`.
    ``reduced`` names the parameters by which its numbers differ from the document's, ``recorded``
    counts the curves of the recorded run that were drawn beside them.
    """

    def __init__(
        self,
        figure: Any,
        name: str,
        data: pd.DataFrame,
        *,
        raster: bool = False,
        reduced: Sequence[str] = (),
        recorded: int = 0,
    ) -> None:
        self.name, self.data, self.raster = name, data, raster
        self.reduced, self.recorded = list(reduced), recorded
        legible(figure)
        self.drawing, self.narrow = _drawn(figure, raster), ""
        if is_wide(figure):
            stack(figure)
            legible(figure)
            self.narrow = _drawn(figure, raster)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        # 12 digits: below that, the last bits of a float differ between machines to no use.
        csv = self.data.to_csv(index=False, float_format="%.12g", lineterminator="\n")
        return {
            FIGURE: {
                "name": self.name,
                "csv": csv,
                "narrow": self.narrow,
                "reduced": self.reduced,
                "recorded": self.recorded,
            },
            "text/plain": f"Figure {self.name}: {len(self.data)} rows of data",
            "image/png" if self.raster else "image/svg+xml": self.drawing,
        }


def _drawn(figure: Any, raster: bool) -> str:
    """The figure as it is now: SVG, or PNG in base 64."""
    buffer = io.BytesIO()
    if raster:
        figure.savefig(buffer, format="png", dpi=200)
        return base64.b64encode(buffer.getvalue()).decode()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue().decode()


def show(
    figure: Any,
    name: str,
    data: pd.DataFrame | Mapping[str, Any],
    *,
    raster: bool = False,
    regardless_of: Sequence[str] = (),
) -> Figure:
    """Show a figure and keep the numbers it was drawn from.

    ``data`` holds one row a point, columns named in words; readers download it as CSV. ``raster``
    draws PNG instead of SVG, for thousands of points. The page's cell metadata hold the caption and
    the alt text, without which the build refuses the page.

    Where a run at the document's sizes was recorded, its curves are drawn beside those of ``data``,
    and the build holds one against the other, unless this run differs from the document's in
    something that the numbers depend on: ``regardless_of`` lists the parameters that they do not
    depend on (of a mean, the number of runs).
    """
    if not name.replace("-", "").isalnum():
        raise ValueError(f"name must be letters, digits and hyphens, got {name!r}")
    rows = pd.DataFrame(data)
    recorded = _records.get(name)
    drawn = 0
    if recorded:
        drawn = beside(figure, rows, pd.read_csv(io.StringIO(recorded.csv)), recorded.name)
    reduced = [name for name in reductions() if name not in regardless_of]
    shown = Figure(figure, name, rows, raster=raster, reduced=reduced, recorded=drawn)
    plt.close(figure)
    return shown


def record(chapter: str) -> dict[str, Recorded]:
    """Return what was recorded of a chapter's figures, by name; none where there are none.

    Outside a clone of the book there are none.
    """
    try:
        found = read_json(Project.find(Path.cwd()).record(chapter))
    except BookError:
        return {}
    return {
        name: Recorded(figure["csv"], figure["reduced"])
        for name, figure in (found or {}).get("figures", {}).items()
    }
