"""What a visitor does: search, filter the ledger, go by keyboard."""

from __future__ import annotations

import pytest

from signalbook.inventory import rows

SHOWN = "#sb-ledger tbody tr:not([hidden])"


@pytest.mark.parametrize("opened", ["desktop", "folder"])
def test_search_finds_a_phrase(opened, request):
    window = request.getfixturevalue(opened)
    page = window.open("search.html?q=false+alarm")
    page.wait_for_selector("ul.search li a")
    found = [a.get_attribute("href") for a in page.query_selector_all("ul.search li a")]
    assert any("pages/reading.html" in address for address in found)
    assert window.wrong == []


def test_links_work_without_a_server(folder):
    page = folder.open("index.html")
    page.click("article a[href*='ledger']")
    page.wait_for_selector("#sb-ledger")
    page.select_option(".sb-filters select[name=document]", "DEC")
    assert 0 < page.locator(SHOWN).count() < len(rows())
    assert folder.wrong == []


def test_ledger_filters(desktop):
    page = desktop.open("pages/ledger.html")
    assert page.locator(SHOWN).count() == len(rows())
    page.select_option(".sb-filters select[name=document]", "ORTH")
    page.select_option(".sb-filters select[name=kind]", "table")
    shown = {row.id for row in rows().values() if row.document == "ORTH" and row.kind == "table"}
    assert set(page.locator(f"{SHOWN} th").all_inner_texts()) == shown
    assert f"{len(shown)} of {len(rows())}" in page.inner_text("#sb-count")
    page.reload()
    assert page.locator(SHOWN).count() == len(shown), "the address keeps the choice"
    assert desktop.wrong == []


def test_ledger_is_whole_without_scripts(browser, server):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{server}/pages/ledger.html")
        assert page.locator(SHOWN).count() == len(rows())
        assert not page.locator(".sb-filters").is_visible(), "filters that do nothing"


def test_anchor_of_an_id_leads_to_its_row(desktop):
    page = desktop.open("pages/ledger.html#dec-t3-1")
    assert page.locator("[id='dec-t3-1']").is_visible()


def test_keyboard_reaches_the_text_and_the_filters(desktop):
    page = desktop.open("pages/ledger.html")
    page.keyboard.press("Tab")
    assert "skip" in page.evaluate("document.activeElement.innerText").lower()
    page.keyboard.press("Enter")
    for _ in range(15):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "document":
            break
    page.keyboard.type("ORTH")
    assert page.locator(SHOWN).count() < len(rows())


def test_figures_are_legible_at_night(browser, server):
    """Ink is dark on nothing: at night the picture is turned over, the caption is not."""
    with browser.new_context(color_scheme="dark") as context:
        page = context.new_page()
        page.goto(f"{server}/pages/ledger.html")
        dark = page.evaluate("""() => {
          const figure = document.createElement("figure");
          figure.append(new Image());
          document.querySelector("article").append(figure);
          return getComputedStyle(figure.firstChild).filter;
        }""")
        assert "invert" in dark
