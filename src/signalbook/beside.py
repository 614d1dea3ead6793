"""The recorded run beside the live one, in any figure: a curve is known by its numbers.

A figure hands out the rows that it was drawn from. A line of it whose points are a column of these
rows against another, all of them or those with one value in a third, can be drawn a second time
from the recorded rows, whoever drew the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

__all__ = ["beside"]

MARKS = 12  # on a curve
SAME = 1e-6  # means of single precision, taken by two hands, differ in the seventh digit
LOOK: dict[str, Any] = {"marker": "D", "markersize": 4, "markerfacecolor": "none", "lw": 0.7}
LOOK |= {"linestyle": "-"}
CHANCE = ("run", "runs", "standard error")  # columns that tell no curves apart


@dataclass(frozen=True)
class _Curve:
    """Column ``y`` against column ``x``, of the rows with ``value`` in the column ``by``."""

    x: str
    y: str
    by: str = ""
    value: Any = None

    def of(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The points, sorted; the mean where rows repeat (raw runs, or two tables in one)."""
        if not {self.x, self.y, self.by} <= {*rows.columns, ""}:
            return pd.DataFrame({self.x: [], self.y: []})
        chosen = self._chosen(rows)
        return chosen.astype(float).groupby(self.x, as_index=False)[self.y].mean()

    def repeats(self, rows: pd.DataFrame) -> bool:
        """Whether several rows are one point."""
        there = {self.x, self.y, self.by} <= {*rows.columns, ""}
        return there and bool(self._chosen(rows)[self.x].duplicated().any())

    def _chosen(self, rows: pd.DataFrame) -> pd.DataFrame:
        chosen = rows[rows[self.by] == self.value] if self.by else rows
        return chosen[[self.x, self.y]].dropna()


def beside(figure: Any, live: pd.DataFrame, recorded: pd.DataFrame, name: str) -> int:
    """Draw the recorded rows beside each line of ``figure`` that shows live ones; count them.

    They have the colour of their curve and open marks; the legend has their ``name``. Rows of
    values that the live run does not have (another width) are drawn in grey.
    """
    drawn = 0
    for ax in figure.axes:
        found: list[tuple[Any, _Curve]] = []
        for line in list(ax.lines):
            if curve := _curve(line, live, recorded, [curve for _, curve in found]):
                found.append((line.get_color(), curve))
        found += [("0.5", curve) for curve in _others([c for _, c in found], recorded)]
        for color, curve in found:
            points = curve.of(recorded)
            every = max(1, len(points) // MARKS)
            ax.plot(points[curve.x], points[curve.y], color=color, markevery=every, **LOOK)
        if found:
            _name(ax, name)
        drawn += len(found)
    return drawn


def _curve(
    line: Line2D, live: pd.DataFrame, recorded: pd.DataFrame, taken: Sequence[_Curve]
) -> _Curve | None:
    """What the line shows of the live rows, if it can be told and the record has it too.

    Of several curves that are one in the live run, each line takes another.
    """
    points = np.array(sorted(zip(*map(np.asarray, line.get_data()), strict=True)))
    if len(points) < 2 or points.dtype.kind not in "fiu":
        return None
    known = None
    for curve in _curves(live, points):
        there = curve.of(live).to_numpy()
        same = there.shape == points.shape and np.allclose(there, points, rtol=SAME, atol=0)
        # Rows that repeat in the record alone differ in something that the live run held fixed.
        mixed = curve.repeats(recorded) and not curve.repeats(live)
        if same and not mixed and len(curve.of(recorded)):
            known = known or curve
            if curve not in taken:
                return curve
    return known


def _curves(rows: pd.DataFrame, points: Any) -> Iterator[_Curve]:
    """What may have been drawn: the columns that hold the line's places, against all others.

    Rows are told apart by words first, then by numbers; all rows are one curve where no other
    column can say more.
    """
    numbers = [name for name in rows.columns if rows[name].dtype.kind in "fiu"]
    words = [name for name in rows.columns if name not in numbers]
    sizes = [n for n in numbers if n not in CHANCE and not str(n).startswith("mean ")]
    for x in numbers:
        if not np.isin(points[:, 0], rows[x].to_numpy(float)).all():
            continue
        for y in numbers:
            if y == x:
                continue
            whole = _Curve(x, y)
            first = words if whole.repeats(rows) else [*words, ""]
            for by in dict.fromkeys([*first, *sizes, ""]):
                if not by:
                    yield whole
                elif by not in (x, y):
                    yield from (_Curve(x, y, by, value) for value in rows[by].dropna().unique())


def _others(curves: list[_Curve], recorded: pd.DataFrame) -> list[_Curve]:
    """Curves of the record for values that no curve of the live run has.

    One whose rows repeat where those of the others do not mixes two tables: it is left out.
    """
    found = []
    for kind in dict.fromkeys((c.x, c.y, c.by) for c in curves if c.by in recorded.columns):
        live = [c for c in curves if (c.x, c.y, c.by) == kind]
        raw = any(c.repeats(recorded) for c in live)
        there = recorded.dropna(subset=[kind[1]]) if kind[1] in recorded.columns else recorded[:0]
        more = [_Curve(*kind, value) for value in there[kind[2]].unique()]
        more = [c for c in more if c not in live and (raw or not c.repeats(recorded))]
        found += more
    return found


def _name(ax: Any, name: str) -> None:
    """Put the recorded run into the legend, which keeps its place, title and columns."""
    mark = Line2D([], [], color="0.3", label=name, **LOOK)
    old = ax.get_legend()
    if old is None:
        ax.legend(handles=[mark])
        return
    names = [text.get_text() for text in old.texts]
    ax.legend(
        [*old.legend_handles, mark],
        [*names, name],
        title=old.get_title().get_text(),
        loc=old._loc,
        ncols=old._ncols,
        prop=old.prop,
    )
