"""The map of statements: nodes that light up, the keyboard, addresses, previews."""

from __future__ import annotations

import pytest

from signalbook.atlas import used_by
from signalbook.inventory import rows
from signalbook.words import slug
from tests.site.waits import wait_until

FOCUSED = "document.activeElement.dataset.id"


def lit(page) -> set[str]:
    return set(page.evaluate("[...document.querySelectorAll('a.sb-on')].map((a) => a.dataset.id)"))


@pytest.fixture(params=["desktop", "folder"])
def window(request):
    return request.getfixturevalue(request.param)


def test_every_statement_is_on_the_map(desktop):
    page = desktop.open("pages/map.html")
    assert page.locator(".sb-map a[id^=map-]").count() == len(rows())


def test_an_address_lights_a_node_with_what_it_needs_and_what_uses_it(window):
    page = window.open("pages/map.html#map-orth-t1")
    wait_until(page, f"{FOCUSED} === 'ORTH-T1'")
    row = rows()["ORTH-T1"]
    tied = {*row.statement_needs, *row.proof_needs, *used_by()["ORTH-T1"]}
    assert lit(page) == {"ORTH-T1"} | {name for name in tied if name.startswith("ORTH-")}
    assert window.wrong == []


def test_arrows_go_along_the_lines(desktop):
    page = desktop.open("pages/map.html")
    page.focus("#map-orth-t1")
    page.keyboard.press("ArrowLeft")
    row = rows()["ORTH-T1"]
    assert page.evaluate(FOCUSED) in {*row.statement_needs, *row.proof_needs}
    page.focus("#map-orth-t1")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(FOCUSED) in used_by()["ORTH-T1"]
    page.keyboard.press("ArrowDown")
    assert page.evaluate(FOCUSED) != "ORTH-T1"


def test_a_node_leads_to_its_claim(desktop):
    page = desktop.open("pages/map.html")
    address = page.locator("#map-orth-t1").get_attribute("href")
    page.focus("#map-orth-t1")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{address.removeprefix('../')}")
    assert page.locator(f"[id='{address.split('#')[1]}']").is_visible()


def test_the_list_says_the_same(desktop):
    page = desktop.open("pages/map.html")
    fold = page.locator("details.sb-plain", has_text="ORTH as a list")
    fold.locator("summary").click()
    line = fold.locator("li", has_text="Gap falls exponentially with depth").first.inner_text()
    assert all(name in line for name in used_by()["ORTH-T1"])


def test_an_id_says_what_it_stands_for_on_hover_and_on_focus(window):
    page = window.open("pages/ledger.html")
    note = page.locator(".sb-preview")
    link = page.locator(f"#{slug('ORTH-T1')} th a")
    link.scroll_into_view_if_needed()
    link.hover()
    note.wait_for(state="visible")
    assert "Gap falls exponentially with depth" in note.inner_text()
    page.mouse.move(1, 1)
    note.wait_for(state="hidden")
    link.focus()
    note.wait_for(state="visible")
    assert link.get_attribute("aria-describedby") == note.get_attribute("id")
    page.keyboard.press("Escape")
    note.wait_for(state="hidden")
    assert window.wrong == []
