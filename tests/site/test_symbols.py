"""Symbols say what they mean, under the mouse and with the keyboard, and fewer words elsewhere."""

from __future__ import annotations

PAGE = "chapters/orthogonality/gap-depth-width.html"


def test_a_symbol_says_its_meaning_on_hover_and_on_focus(desktop):
    page = desktop.open(PAGE)
    page.wait_for_selector(".sb-symbol")
    stops = page.locator(".sb-symbol[tabindex]")
    assert 3 <= stops.count() < page.locator(".sb-symbol").count()
    note = page.locator("#sb-preview")
    stops.first.scroll_into_view_if_needed()
    page.wait_for_timeout(100)  # scrolling hides the note
    stops.first.hover()
    note.wait_for(state="visible")
    said = note.inner_text()
    page.mouse.move(0, 0)
    note.wait_for(state="hidden")
    stops.first.focus()
    note.wait_for(state="visible")
    assert note.inner_text() == said
    assert stops.first.get_attribute("aria-describedby") == "sb-preview"
    page.keyboard.press("Escape")
    note.wait_for(state="hidden")
    assert desktop.wrong == []


def test_ids_keep_theirs_and_pages_of_no_part_have_no_symbols(desktop):
    page = desktop.open("pages/ledger.html")
    page.locator("#orth-t1 th a").focus()
    page.locator("#sb-preview").wait_for(state="visible")
    assert "ORTH-T1" in page.locator("#sb-preview").inner_text()
    assert page.locator(".sb-symbol").count() == 0
