"""Numbers and tables for a chapter's text: what a page says was computed, never typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from myst_nb import glue

from signalbook.cards import template
from signalbook.outputs import FIGURE
from signalbook.words import plain, show

ROWS = 10  # of a table that a page shows

__all__ = ["Table", "table", "tell"]


def tell(digits: int = 3, **values: Any) -> None:
    """Make values available to the text as ``{glue:text}`name```, numbers with ``digits`` digits.

    Call it in a cell tagged ``remove-cell``. Integers, words and lists of them stay as they are;
    anything else (a series, a mapping, a missing number) is no word of a sentence and refused.
    """
    for name, value in values.items():
        glue(name, _Words(_words(plain(value), digits, name)), display=False)


def _words(value: Any, digits: int, name: str) -> str:
    """A value as running text has it: true minus signs, lists with "and"."""
    if isinstance(value, list) and value:
        *first, last = (_words(item, digits, name) for item in value)
        return f"{', '.join(first)} and {last}" if first else last
    if not isinstance(value, int | float | str) or not show(value, digits).strip():
        raise ValueError(f"{name} must be a number, words or a list of them, got {value!r}")
    if isinstance(value, str) and ("\n" in value or "object at 0x" in value):
        raise ValueError(f"{name} must be words of a sentence, got {value!r}")
    return show(value, digits)


class _Words(str):
    """Text whose representation has no quotes."""

    def __repr__(self) -> str:
        return str(self)


class Table:
    """Rows as an HTML table that scrolls in itself on a narrow screen; the rest as a download."""

    def __init__(self, data: pd.DataFrame, digits: int, name: str) -> None:
        self.data, self.digits, self.name = data, digits, name

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/html": self._html(), "text/plain": str(self)}
        if self.name:
            csv = self.data.to_csv(index=False, float_format="%.12g", lineterminator="\n")
            bundle[FIGURE] = {"name": self.name, "csv": csv}
        return bundle

    def _html(self) -> str:
        shown = self.data.head(ROWS)
        cells = [
            [_cell(value, self.digits) for value in row] for row in shown.itertuples(index=False)
        ]
        heads = [
            (str(head), all(row[place][1] for row in cells))
            for place, head in enumerate(shown.columns)
        ]
        named = re.sub(r"[$\\]", "", ", ".join(head for head, _ in heads))  # read aloud: no maths
        label = f"Table {self.name}: {named}" if self.name else f"Table: {named}"
        return template("table.html.j2").render(
            heads=heads, rows=cells, count=len(self.data), most=ROWS, label=label
        )

    def __str__(self) -> str:
        return str(self.data.to_string(index=False))


def table(
    rows: pd.DataFrame | Mapping[str, Any] | Sequence[Any], digits: int = 4, name: str = ""
) -> Table:
    """Show rows (a frame, a dict of columns or a list of dicts); numbers with ``digits`` digits.

    A page shows ten rows at most. Longer tables need a ``name``: all rows are offered as a file.
    """
    data = pd.DataFrame(rows)
    if len(data) > ROWS and not name:
        raise ValueError(f"name must be given for a table of {len(data)} rows; {ROWS} are shown")
    return Table(data, digits, name)


def _cell(value: Any, digits: int) -> tuple[str, bool]:
    """What stands in a cell, and whether it is a number."""
    value = plain(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return show(value, digits), number
