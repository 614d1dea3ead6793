"""The pictures of executed chapters, for pages that show them again: essays and galleries."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from signalbook.cards import anchored
from signalbook.errors import BookError
from signalbook.files import read_json
from signalbook.outputs import claims_in, figures_in
from signalbook.project import Project
from signalbook.source import Source

__all__ = ["Album", "Picture", "album", "placed"]

#: Where an essay asks for a picture: chapter, name of the figure, a caption of its own.
ASKED = re.compile(r"^```\{picture\} (\S+) (\S+)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
FOLDER = "generated/figures"
SVG = "http://www.w3.org/2000/svg"
DRAWINGS = {"image/svg+xml": "svg", "image/png": "png"}


@dataclass(frozen=True)
class Picture:
    """A figure of a chapter: its drawing, the one for phones if it has one, and its alt text."""

    chapter: str
    name: str
    alt: str
    ending: str
    drawing: bytes
    narrow: str = ""

    @property
    def file(self) -> str:
        """Its place among the staged sources."""
        return f"{FOLDER}/{self.chapter}/{self.name}.{self.ending}"

    def files(self, shown: str) -> dict[str, bytes]:
        """Those of its drawings whose places occur in the text ``shown``."""
        found = {self.file: self.drawing} if self.file in shown else {}
        if self.narrow_file and self.narrow_file in shown:
            found[self.narrow_file] = self.narrow.encode()
        if self.small_file in shown:
            found[self.small_file] = without_letters(self.drawing)
        return found

    @property
    def small_file(self) -> str:
        """The place of the drawing for thumbnails; a PNG has no other than its own."""
        return self.file.replace(".svg", "-small.svg")

    @property
    def narrow_file(self) -> str:
        """The place of the drawing for phones; "" if there is none, or no SVG."""
        drawn = self.narrow.lstrip().startswith("<")
        return self.file.replace(f".{self.ending}", "-narrow.svg") if drawn else ""


@dataclass(frozen=True)
class Album:
    """The pictures of one chapter in order, and for each claim, by its anchor, the one that it
    rests on."""

    pictures: dict[str, Picture] = field(default_factory=dict)
    telling: Picture | None = None
    of_claims: dict[str, Picture] = field(default_factory=dict)


def album(project: Project, chapter: str) -> Album:
    """The pictures of the chapter's run, with today's alt texts; none where there is no run.

    A claim rests on the last picture before it, and before the first one on the telling picture.
    """
    source, run = Source(project.source(chapter)), read_json(project.executed(chapter))
    if run is None:
        return Album()
    found: dict[str, Picture] = {}
    of_claims: dict[str, Picture | None] = {}
    claims = iter(anchored(claims_in(run["cells"])))
    for cell, made in zip(source.code, _executed(run), strict=False):
        for picture in _pictures(chapter, cell, made):
            found[picture.name] = picture
        latest = next(reversed(found.values()), None)
        for _ in claims_in([made]):
            of_claims[next(claims)["anchor"]] = latest
    telling = found.get(source.telling) or next(iter(found.values()), None)
    chosen = {anchor: picture or telling for anchor, picture in of_claims.items()}
    return Album(found, telling, {a: p for a, p in chosen.items() if p is not None})


def _executed(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The code cells as they ran, without that of the injected parameters."""
    injected = "injected-parameters"
    return [
        cell
        for cell in run["cells"]
        if cell["cell_type"] == "code" and injected not in cell["metadata"].get("tags", [])
    ]


def _pictures(chapter: str, cell: Mapping[str, Any], made: dict[str, Any]) -> list[Picture]:
    alt = str(cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")).strip()
    found = []
    for output in made["outputs"]:
        for figure in figures_in([{"outputs": [output]}]):
            for kind, ending in DRAWINGS.items():
                if drawing := output["data"].get(kind):
                    data = drawing.encode() if ending == "svg" else base64.b64decode(drawing)
                    narrow = figure.get("narrow") or ""
                    found.append(Picture(chapter, figure["name"], alt, ending, data, narrow))
    return found


def without_letters(drawing: bytes) -> bytes:
    """A drawing of matplotlib for a thumbnail, where letters are too small to be read.

    They are half of its weight. A legend without them would be lines without a meaning.
    """
    if not drawing.lstrip().startswith(b"<"):
        return drawing
    for prefix, name in {"": SVG, "xlink": "http://www.w3.org/1999/xlink"}.items():
        ElementTree.register_namespace(prefix, name)
    tree = ElementTree.fromstring(drawing)
    for parent in list(tree.iter()):
        for child in list(parent):
            if child.get("id", "").startswith(("text_", "legend_")):
                parent.remove(child)
    return ElementTree.tostring(tree)


def placed(text: str, page: Path, albums: Mapping[str, Album]) -> str:
    """A page's Markdown with the pictures that it asks for.

    ``page`` is its path from the root. Where a chapter has no run there is no picture yet.
    """
    up = "../" * (len(page.parts) - 1)

    def shown(asked: re.Match[str]) -> str:
        chapter, name, caption = asked.groups()
        if chapter not in albums:
            raise BookError(f"{page}: there is no chapter {chapter!r} to take {name!r} from")
        there = albums[chapter].pictures
        if not there:
            return f"*The picture {name} appears once {chapter} is executed.*"
        if name not in there:
            raise BookError(f"{page}: {chapter} has no picture {name!r}; it has {', '.join(there)}")
        return figure(there[name], f"{caption} ([Its chapter]({up}chapters/{chapter}).)", up)

    return ASKED.sub(shown, text)


def figure(picture: Picture, caption: str, up: str) -> str:
    """A picture as a figure of a Markdown page that lies ``up`` from the root."""
    lines = [
        f"```{{figure}} {up}{picture.file}",
        f":alt: {json.dumps(picture.alt, ensure_ascii=False)}",
        f":name: fig-{picture.name}-of-{picture.chapter.split('/')[-1]}",
        "",
        caption,
        "```",
    ]
    if picture.narrow_file:
        lines += ["", f"```{{image}} {up}{picture.narrow_file}", ":class: sb-narrow", "```"]
    return "\n".join(lines)
