"""What a phone shows of a drawing: the sizes of its labels, and where its panels stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from playwright.sync_api import Page

from tests.site.waits import wait_until

PHONE = 390  # px: the width of its window
LEAST = 10  # px: what a tick label may measure at least
SVG = "{http://www.w3.org/2000/svg}"


def drawings(page: Page) -> Iterator[tuple[str, float]]:
    """The address of each drawing that the open page shows, and its width in px."""
    for image in page.locator("article figure img").all():
        image.scroll_into_view_if_needed()
        wait_until(page, "image => image.complete", image.element_handle())
        box = image.bounding_box()
        assert box is not None
        yield image.evaluate("image => image.currentSrc"), box["width"]


def tick_labels(tree: ElementTree.Element) -> list[float]:
    """The sizes of the tick labels, in points: matplotlib scales glyphs of size 100."""
    found = []
    for axis in tree.iter(f"{SVG}g"):
        if re.match("[xy]tick_", axis.get("id", "")):
            texts = [g for g in axis.iter(f"{SVG}g") if g.get("id", "").startswith("text_")]
            scales = [re.search(r"scale\(([\d.]+)", g[0].get("transform", "")) for g in texts]
            found += [100 * float(scale[1]) for scale in scales if scale]
    return found


def panels(tree: ElementTree.Element) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each panel's background; of a colour bar's, nothing."""
    found = []
    for axes in tree.iter(f"{SVG}g"):
        if axes.get("id", "").startswith("axes_"):
            patch = axes.find(f"{SVG}g/{SVG}path")
            assert patch is not None
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", patch.get("d", ""))]
            xs, ys = numbers[0::2], numbers[1::2]
            if max(xs) - min(xs) > 0.15 * points(tree):
                found.append((min(xs), min(ys), max(xs), max(ys)))
    return found


def points(tree: ElementTree.Element) -> float:
    """The width of a drawing, in points."""
    return float(tree.get("viewBox", "").split()[2])
