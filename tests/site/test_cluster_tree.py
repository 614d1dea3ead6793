"""The tree model to play with says what the library says, by keyboard, and without scripts."""

from __future__ import annotations

import re

import numpy as np
import pytest

from signalprop.clusters import ClusterTree, gram_angles, gram_norms

PAGE = "chapters/decomposed/tree-to-play.html"
SAID = re.compile(
    r"Layer (\d+): ([\d,]+) neurons, each with at most (\d+) .* point (\d+), ([\d.]+) times .* "
    r"at ([\d.]+)° to ([\d.]+)° from them.* within ([\d.]+)°"
)


@pytest.fixture
def page(desktop):
    return desktop.open(PAGE)


def said(page):
    words = page.inner_text("#cluster-tree output")
    return [float(number.replace(",", "")) for number in SAID.search(words).groups()]


def expected(values, layer):
    """What the page should say, computed by the library."""
    tree = ClusterTree.start(values).after(layer)
    norms, angles = gram_norms(tree.gram()), np.degrees(gram_angles(tree.gram()))
    odd = int(np.argmax(norms))
    others = [i for i in range(len(values)) if i != odd]
    away = angles[odd][others]
    within = angles[np.ix_(others, others)].max()
    times = 1 / np.median(norms[others])
    return [layer, 2**layer, tree.most_clusters, odd + 1, times, away.min(), away.max(), within]


@pytest.mark.parametrize(
    "values", [[1, 4, 9, 16, 25], [-3, 0, 9999], [5, 5, -2, 7, 7, 100, -40, 3, 1, 0, 12, 8]]
)
def test_numbers_are_those_of_the_library(page, values):
    page.fill("#cluster-tree input[name=values]", ", ".join(map(str, values)))
    for layer in (1, 2, 7, 60):
        page.fill("#cluster-tree input[name=layer]", str(layer))
        assert said(page) == pytest.approx(expected(values, layer), abs=0.051, rel=1e-12), layer


def test_the_tree_does_not_know_the_sign(page):
    page.select_option("#cluster-tree select", label="squares")
    page.fill("#cluster-tree input[name=layer]", "9")
    before = said(page)
    page.select_option("#cluster-tree select", label="squares, other sign")
    assert said(page) == before


def test_the_keyboard_goes_down_and_up(page):
    page.focus("#cluster-tree input[name=layer]")
    page.keyboard.press("ArrowRight")
    assert said(page)[0] == 2
    page.keyboard.press("End")
    assert said(page)[0] == 60
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert said(page)[0] == 59
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Space")
    assert said(page)[0] == 60, "there is no deeper layer"


@pytest.mark.parametrize(
    ("values", "told"),
    [("1, 2", "3 to 12 numbers"), ("1, x, 3", "whole numbers"), ("4 4 4", "two different")],
)
def test_what_is_no_batch_is_told_and_changes_nothing(page, values, told):
    before = said(page)
    page.fill("#cluster-tree input[name=values]", values)
    assert told in page.inner_text("#ct-wrong")
    assert said(page) == before
    assert page.get_attribute("#cluster-tree input[name=values]", "aria-invalid") == "true"


def test_without_scripts_the_figure_stands_alone(browser, server):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{server}/{PAGE}")
        assert not page.locator("#cluster-tree").is_visible()
        assert page.locator("figure img").first.is_visible()
