"""The rank explorer says what the library says, by keyboard, and without scripts."""

from __future__ import annotations

import re

import pytest

from signallab.rank import rank_to_play as lab
from signalprop.random import Stream

PAGE = "chapters/rank/rank-to-play.html"
SAID = re.compile(
    r"Layer (\d+)\. With .*?(\d+) of (\d+) .* ratio is ([\d.]+)\. Without it (\d+) .* ([\d.]+)\."
)


@pytest.fixture
def page(desktop):
    return desktop.open(PAGE)


def said(page):
    return [float(n) for n in SAID.search(page.inner_text("#rank-explorer output")).groups()]


def test_numbers_are_those_of_the_library(page):
    """Of the network that the page drew, as far as layer 20."""
    stream = Stream(0, ("rank/rank-to-play",))
    found = lab.ranks(lab.spectra([16], [0.3], 20, stream), 1e-2).query("layer == 20")
    ours, plain = (found[found["normalization"] == lab.NAMES[n]] for n in ("batch norm", "none"))
    page.select_option("#rank-explorer [name=width]", "16")
    page.select_option("#rank-explorer [name=strength]", "0.3")
    page.fill("#rank-explorer [name=threshold]", "-2")
    page.fill("#rank-explorer [name=depth]", str(lab.recorded(20).index(20)))
    expected = [20, ours["numerical rank"].item(), 16, ours["effective rank"].item()]
    expected += [plain["numerical rank"].item(), plain["effective rank"].item()]
    assert said(page) == pytest.approx(expected, abs=0.15)


def test_the_keyboard_goes_down_and_moves_the_threshold(page):
    page.focus("#rank-explorer [name=depth]")
    page.keyboard.press("End")
    deep = said(page)
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    high = said(page)
    assert deep[0] == 2000
    assert deep[1] > deep[4], "batch normalization keeps more"
    assert high[1] < deep[1]


def test_without_scripts_the_figure_stands_alone(browser, server):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{server}/{PAGE}")
        assert not page.locator("#rank-explorer").is_visible()
        assert page.locator("figure img").first.is_visible()
