"""The gap to play with says what the library says, by keyboard, and without scripts."""

from __future__ import annotations

import re

import numpy as np
import pytest

import signalprop as sp

PAGE = "chapters/orthogonality/gap-to-play.html"
SAID = re.compile(r"(\d+) samples, width (\d+): .* is (\S+) at the input and (\S+) after (\d+)")


@pytest.fixture
def page(desktop):
    return desktop.open(PAGE)


def said(page):
    """Samples, width, the gap at the input and at the layer, the layer: as the page says them."""
    words = page.inner_text("#gap-explorer output")
    powers = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    numbers = SAID.search(words).groups()
    return [float(n.replace("·10", "e").translate(powers)) for n in numbers]


def chosen(page, **fields):
    for name, value in fields.items():
        field = page.locator(f"#gap-explorer [name={name}]")
        select = field.evaluate("field => field.tagName") == "SELECT"
        field.select_option(value) if select else field.fill(value)
    return said(page)


@pytest.mark.parametrize("samples", ["2", "8"])
def test_deep_gaps_are_those_of_the_closed_form(page, samples):
    """Over 50 runs the mean is known to 3 %, and the form is right to some 5 % at this width."""
    for start in ("nearly parallel", "orthogonal", "random"):
        found = chosen(page, samples=samples, start=start, width="4", layer="50")
        assert found[:2] == [float(samples), 512]
        assert found[3] == pytest.approx(sp.theory.stationary_gap(int(samples), 512), rel=0.15)


def test_without_normalization_samples_become_parallel(page):
    found = chosen(page, normalization="without normalization", layer="50", samples="4")
    assert found[3] == pytest.approx(np.sqrt(1 - 1 / 4), abs=1e-3)
    assert "No closed form" in page.inner_text("#gap-explorer output")


def test_the_keyboard_goes_deeper_and_wider(page):
    page.focus("#gap-explorer [name=width]")
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert [said(page)[k] for k in (1, 4)] == [1024, 1]


def test_without_scripts_the_figure_stands_alone(browser, server):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{server}/{PAGE}")
        assert not page.locator("#gap-explorer").is_visible()
        assert page.locator("figure img").first.is_visible()
