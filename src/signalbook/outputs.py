"""What an executed notebook carries besides its pages: claims and the data of figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["CLAIMS", "FIGURE", "claims_in", "figures_in"]

CLAIMS = "application/vnd.signalbook.claims+json"
FIGURE = "application/vnd.signalbook.figure+json"


def claims_in(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the claims that the cells reported, in order."""
    return [claim for claims in _parts(cells, CLAIMS) for claim in claims]


def figures_in(cells: Iterable[dict[str, Any]]) -> list[dict[str, str]]:
    """Return the name, the CSV text and the narrow drawing of all that the cells show, in order."""
    return _parts(cells, FIGURE)


def _parts(cells: Iterable[dict[str, Any]], mime: str) -> list[Any]:
    data = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    return [bundle[mime] for bundle in data if mime in bundle]
