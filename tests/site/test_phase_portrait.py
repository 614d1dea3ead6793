"""The kernel map to play with says what the library says, by keyboard, and without scripts."""

from __future__ import annotations

import re

import pytest

import signalprop as sp

PAGE = "chapters/kernels/phase-portrait.html"
SAID = re.compile(r"Case (\d).*κ′\(1\) = ([\d.∞]+)\..*ρ\* = ([\d.]+)\.")
MAPS = {
    "tanh": sp.activations.tanh,
    "ReLU": sp.activations.relu,
    "GELU": sp.activations.gelu,
    "ELU": sp.activations.elu,
    "sigmoid": sp.activations.sigmoid,
    "exp": sp.activations.exp,
    "step": sp.activations.step,
}


@pytest.fixture
def page(desktop):
    return desktop.open(PAGE)


def said(page):
    """The case, the slope at 1 and the fixed point, as the page says them."""
    case, slope, value = SAID.search(page.inner_text("#phase-portrait output")).groups()
    return int(case), float(slope.replace("∞", "inf")), float(value)


@pytest.mark.parametrize("name", MAPS)
def test_numbers_are_those_of_the_library(page, name):
    page.select_option("#phase-portrait select[name=activation]", name)
    for gain in (0.5, 1, 2):
        page.select_option("#phase-portrait select[name=gain]", f"{gain:g}")
        kernel = sp.KernelMap(MAPS[name].gained(gain).normalized())
        case, slope, value = said(page)
        expected = float(kernel(0.0)), float(kernel.derivative(1.0))
        assert case == sp.theory.ker_theorem_5_11_case(*expected), gain
        assert slope == pytest.approx(expected[1], abs=1e-4), gain
        assert value == pytest.approx(float(kernel.fixed_point().value), abs=2e-4), gain


def test_the_keyboard_takes_a_map_through_the_cases(page):
    page.select_option("#phase-portrait select[name=activation]", "tanh")
    page.focus("#phase-portrait input[name=mean]")
    cases = [said(page)[0]]
    for key in ("ArrowRight", "End"):
        page.keyboard.press(key)
        cases.append(said(page)[0])
    page.focus("#phase-portrait button[name=critical]")
    page.keyboard.press("Enter")
    assert [*cases, said(page)[0]] == [1, 4, 2, 3]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    assert said(page)[0] == 1, "back at its own mean"


def test_a_touch_on_the_map_chooses_the_start(page):
    before = page.inner_text("[data-shows=start]")
    page.locator("#phase-portrait svg").first.click()
    assert page.inner_text("[data-shows=start]") != before


def test_without_scripts_the_figure_stands_alone(browser, server):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{server}/{PAGE}")
        assert not page.locator("#phase-portrait").is_visible()
        assert page.locator("noscript").count()
        assert page.locator("figure img").is_visible()
