"""Numbers and tables for a chapter's text: what a page says was computed, never typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from myst_nb import glue

from signalbook.claims import plain, show

__all__ = ["Table", "table", "tell"]


def tell(digits: int = 3, **values: Any) -> None:
    """Make values available to the text as ``{glue:text}`name```, numbers with ``digits`` digits.

    Call it in a cell tagged ``remove-cell``. Integers, words and lists of them stay as they are.
    """
    for name, value in values.items():
        glue(name, _Words(_words(plain(value), digits)), display=False)


def _words(value: Any, digits: int) -> str:
    """A value as running text has it: true minus signs, lists with "and"."""
    if isinstance(value, list):
        *first, last = (_words(item, digits) for item in value)
        return f"{', '.join(first)} and {last}" if first else last
    shown = show(value, digits)
    return shown.replace("-", "\u2212") if isinstance(value, int | float) else shown


class _Words(str):
    """Text whose representation has no quotes."""

    def __repr__(self) -> str:
        return str(self)


class Table:
    """Rows shown as an HTML table that scrolls in itself on a narrow screen."""

    def __init__(self, data: pd.DataFrame, digits: int) -> None:
        self.data, self.digits = data, digits

    def _repr_html_(self) -> str:
        shown = self.data.map(lambda value: show(value, self.digits))
        body: str = shown.to_html(index=False, border=0, na_rep="")
        return f'<div class="sb-table" tabindex="0" role="region" aria-label="Table">{body}</div>'

    def __repr__(self) -> str:
        return str(self.data.to_string(index=False))


def table(rows: pd.DataFrame | Mapping[str, Any] | Sequence[Any], digits: int = 4) -> Table:
    """Show rows (a frame, a dict of columns or a list of dicts); numbers with ``digits`` digits."""
    return Table(pd.DataFrame(rows), digits)
