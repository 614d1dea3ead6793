"""Data for the figures to play with: what a chapter computed, for a script of its page."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["Embedded", "digits"]


class Embedded:
    """Data that a script of the page reads by their name; invisible in itself."""

    def __init__(self, name: str, data: Any) -> None:
        self.name, self.data = name, data

    def _repr_html_(self) -> str:
        text = json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))
        text = text.replace("</", "<\\/")  # the same string to JSON, and no end of the element
        return f'<script type="application/json" id="{self.name}">{text}</script>'

    def __repr__(self) -> str:
        return f"{self.name}: {len(self.data)} entries"


def digits(values: Any, count: int = 4) -> list[float]:
    """The numbers as a page needs them: ``count`` digits, and no more to load.

    >>> digits([0.123456, 12.3456])
    [0.1235, 12.35]
    """
    return [float(f"{value:.{count}g}") for value in values]
