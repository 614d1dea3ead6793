"""Numbers and tables for a chapter's text: what a page says was computed, never typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from myst_nb import glue

from signalbook.claims import show

__all__ = ["Table", "table", "tell"]


def tell(digits: int = 3, **values: Any) -> None:
    """Make values available to the text as ``{glue:text}`name```, numbers with ``digits`` digits.

    Call it in a cell tagged ``remove-cell``. Integers, words and lists of them stay as they are.
    """
    for name, value in values.items():
        glue(name, _Words(show(value, digits)), display=False)


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
        body = shown.to_html(index=False, border=0, na_rep="")
        return f'<div class="sb-table" tabindex="0" role="region" aria-label="Table">{body}</div>'

    def __repr__(self) -> str:
        return self.data.to_string(index=False)


def table(rows: pd.DataFrame | Mapping[str, Any] | Sequence[Any], digits: int = 4) -> Table:
    """Show rows (a frame, a dict of columns or a list of dicts); numbers with ``digits`` digits."""
    return Table(pd.DataFrame(rows), digits)
