"""What is chosen in a figure to play with stands in the address, and a link opens it again."""

from __future__ import annotations

import re

import pytest

ASKED = re.compile(r"[?]")
PLAYED = {
    "chapters/decomposed/tree-to-play.html": {"values": "3, 1, 4, 15", "layer": "7"},
    "chapters/kernels/phase-portrait.html": {"activation": "tanh", "start": "0.4", "mean": "0.5"},
    "chapters/orthogonality/gap-to-play.html": {"measure": "isometry gap", "layer": "3"},
    "chapters/rank/rank-to-play.html": {"strength": "0.3", "depth": "31", "threshold": "-5"},
}


def choose(page, fields):
    for name, value in fields.items():
        field = page.locator(f".sb-play [name={name}]")
        select = field.evaluate("field => field.tagName") == "SELECT"
        field.select_option(value) if select else field.fill(value)


def shown(page):
    return page.inner_html(".sb-play .play-pictures"), page.inner_text(".sb-play output")


@pytest.mark.parametrize("figure", PLAYED)
def test_a_copied_link_opens_the_same_state(desktop, browser, figure):
    page = desktop.open(figure)
    first = page.url
    before = shown(page)
    choose(page, PLAYED[figure])
    page.wait_for_url(ASKED)
    with browser.new_context() as other:
        copy = other.new_page()
        copy.goto(page.url)
        assert shown(copy) == shown(page) != before
        for name, value in PLAYED[figure].items():
            assert copy.input_value(f".sb-play [name={name}]") == value
    assert first.endswith(".html"), "the address of one who only reads stays as it was"
    assert desktop.wrong == []


def test_a_mean_finer_than_its_slider_comes_back(desktop):
    """Case 3 is a single point: a mean to two decimals would be another case."""
    page = desktop.open("chapters/kernels/phase-portrait.html")
    page.click(".sb-play button[name=critical]")
    page.wait_for_url(ASKED)
    page.reload()
    assert page.inner_text(".sb-play output").startswith("Case 3")


@pytest.mark.parametrize("figure", PLAYED)
def test_an_address_that_makes_no_sense_changes_nothing(desktop, figure):
    page = desktop.open(figure)
    before = shown(page)
    nonsense = "&".join(f"{name}=%3Cb%3E" for name in [*PLAYED[figure], "form", "action", "submit"])
    page.goto(f"{desktop.origin}/{figure}?{nonsense}")
    assert shown(page) == before
    assert desktop.wrong == []


@pytest.mark.parametrize("figure", PLAYED)
def test_the_state_is_kept_in_a_folder_of_files(folder, figure):
    page = folder.open(figure)
    choose(page, PLAYED[figure])
    page.wait_for_url(ASKED)
    page.reload()
    for name, value in PLAYED[figure].items():
        assert page.input_value(f".sb-play [name={name}]") == value
    assert folder.wrong == []
