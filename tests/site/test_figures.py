"""Figures of two drawings: one for each window, and both large at a tap."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def phone(browser, server):
    with browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True) as context:
        yield context.new_page(), server


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
