"""Figures on a phone: one column of panels, labels that can be read, and large at a tap."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest

LEAST = 10  # px: what a tick label may measure at least
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def phone(browser, server):
    with browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True) as context:
        yield context.new_page(), server


def drawings(page, html: str, server: str, site: Path):
    """Each drawing that the phone shows on a page, as a tree, and its px a point."""
    page.goto(f"{server}/{html}")
    for image in page.locator("article figure img").all():
        image.scroll_into_view_if_needed()
        page.wait_for_function("image => image.complete", arg=image.element_handle())
        path = site / unquote(
            urlsplit(image.evaluate("image => image.currentSrc")).path.lstrip("/")
        )
        if path.suffix == ".svg":
            tree = ElementTree.parse(path).getroot()
            scale = image.bounding_box()["width"] / float(tree.get("viewBox").split()[2])
            yield path.name, tree, scale


def tick_labels(tree) -> list[float]:
    """The sizes of the tick labels, in points: matplotlib scales glyphs of size 100."""
    found = []
    for axis in tree.iter(f"{SVG}g"):
        if re.match("[xy]tick_", axis.get("id", "")):
            texts = [g for g in axis.iter(f"{SVG}g") if g.get("id", "").startswith("text_")]
            scales = [re.search(r"scale\(([\d.]+)", g[0].get("transform", "")) for g in texts]
            found += [100 * float(scale[1]) for scale in scales if scale]
    return found


def panels(tree) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each panel's background; of a colour bar's, nothing."""
    width = float(tree.get("viewBox").split()[2])
    found = []
    for axes in tree.iter(f"{SVG}g"):
        if axes.get("id", "").startswith("axes_"):
            patch = axes.find(f"{SVG}g/{SVG}path")
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", patch.get("d"))]
            xs, ys = numbers[0::2], numbers[1::2]
            if max(xs) - min(xs) > 0.15 * width:
                found.append((min(xs), min(ys), max(xs), max(ys)))
    return found


def test_on_a_phone_panels_stand_in_one_column_and_labels_can_be_read(html, phone, site):
    page, server = phone
    if "<figure" not in (site / html).read_text():
        return
    for name, tree, scale in drawings(page, html, server, site):
        assert [size for size in tick_labels(tree) if scale * size < LEAST] == [], name
        rows = sorted(panels(tree), key=lambda panel: panel[1])
        for above, below in pairwise(rows):
            assert above[3] <= below[1] or above[:2] == below[:2], f"{name}: side by side"


def a_page_with_a_wide_figure(site: Path) -> str:
    for path in sorted(site.glob("chapters/**/*.html")):
        if "<picture>" in path.read_text():
            return path.relative_to(site).as_posix()
    pytest.skip("no page has a wide figure")


def test_a_wide_figure_has_a_drawing_for_each_window(phone, desktop, site):
    html = a_page_with_a_wide_figure(site)
    page, server = phone
    page.goto(f"{server}/{html}")
    source = "document.querySelector('picture img').currentSrc"
    assert page.evaluate(source).endswith("-narrow.svg")
    assert not desktop.open(html).evaluate(source).endswith("-narrow.svg")
    assert desktop.wrong == []


def test_a_tap_enlarges_either_drawing_and_closes_it(phone, site):
    page, server = phone
    page.goto(f"{server}/{a_page_with_a_wide_figure(site)}")
    button = page.locator("article figure button:has(picture)").first
    button.tap()
    large = page.locator("dialog[open] img")
    assert large.bounding_box()["width"] > 390
    large.tap()
    page.locator("dialog.sb-large").wait_for(state="detached")
    assert page.locator("article figure picture img").first.is_visible()
