"""Tiles that lead to chapters: a thumbnail, the title, what was found, how long, what before."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from signalbook.errors import BookError
from signalbook.inventory import rows
from signalbook.pictures import Picture
from signalbook.project import Project
from signalbook.source import Source

__all__ = ["minutes", "prerequisites", "tile", "tiles"]

WORDS_A_MINUTE = 200  # of prose with formulas
FIGURE_MINUTES = 0.5  # to look at one
NO_PROSE = re.compile(r"\A---\n.*?^---$|^```\{code-cell\}.*?^```$", re.MULTILINE | re.DOTALL)


def minutes(source: Source, figures: int) -> int:
    """Roughly how long a chapter takes to read: its words, and its figures."""
    prose = NO_PROSE.sub("", source.text)
    return max(1, round(len(prose.split()) / WORDS_A_MINUTE + figures * FIGURE_MINUTES))


def prerequisites(project: Project) -> dict[str, list[str]]:
    """The chapters whose statements a chapter's own statements use, in reading order.

    Those that the statements themselves use; what only a proof uses can wait.
    """
    settling = {
        name: chapter for chapter in project.chapters for name in _settles(project, chapter)
    }
    found: dict[str, list[str]] = {}
    for chapter in project.chapters:
        needs = {n for name in _settles(project, chapter) for n in rows()[name].statement_needs}
        before = {settling[name] for name in needs if name in settling} - {chapter}
        found[chapter] = [other for other in project.chapters if other in before]
    return found


def _settles(project: Project, chapter: str) -> list[str]:
    try:
        settles = Source(project.source(chapter)).settles
    except BookError:
        return []  # the chapter's own run says what is wrong with it
    return [name for name in settles if name in rows()]


def tiles(parts: Sequence[str]) -> str:
    """Tiles side by side, as many as there is room for."""
    return ":::::{div} sb-tiles\n" + "\n".join(parts) + "\n:::::\n"


def tile(picture: Picture | None, text: str, up: str) -> str:
    """One tile of a page that lies ``up`` from the root: a thumbnail above a piece of Markdown."""
    lines = ["::::{div} sb-tile"]
    if picture is not None:
        alt = json.dumps(picture.alt, ensure_ascii=False)
        lines += [f":::{{image}} {up}{picture.small_file}", f":alt: {alt}"]
        lines += [":class: sb-thumb", ":::"]
    return "\n".join([*lines, text, "::::"])
