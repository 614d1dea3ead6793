"""What a visitor does: search, filter the ledger, go by keyboard."""

from __future__ import annotations

import re

import pytest

from signalbook.inventory import rows
from signalbook.pages import TO_COME
from signalbook.words import slug
from tests.site.waits import wait_until

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
    page.select_option(".sb-filters select[name=verdict]", "fails as printed")
    page.select_option(".sb-filters select[name=document]", "DEC")
    assert 0 < page.locator(SHOWN).count() < len(rows())
    assert folder.wrong == []


def shown(page):
    """The IDs of the rows that can be seen, in their order."""
    return page.locator(f"{SHOWN} th").all_inner_texts()


@pytest.fixture
def verdicts(site):
    """The verdict of each row, as the page has them without scripts."""
    text = (site / "pages" / "ledger.html").read_text()
    found = re.findall(r'<tr id="([^"]+)"[^>]*data-verdict="([^"]+)"', text)
    names = {slug(name): name for name in rows()}
    return {names[row]: verdict for row, verdict in found}


def test_ledger_opens_on_what_is_settled(desktop, verdicts):
    page = desktop.open("pages/ledger.html")
    assert shown(page) == [name for name, verdict in verdicts.items() if verdict != TO_COME]
    assert TO_COME not in verdicts.values() or page.locator(f"option[value='{TO_COME}']").count()


def test_ledger_filters(desktop):
    page = desktop.open("pages/ledger.html#dec-t3-1")
    page.select_option(".sb-filters select[name=verdict]", "fails as printed")
    page.select_option(".sb-filters select[name=document]", "DEC")
    page.select_option(".sb-filters select[name=kind]", "claim")
    wanted = [r.id for r in rows().values() if r.document == "DEC" and r.kind == "claim"]
    assert set(shown(page)) <= set(wanted)
    found = shown(page)
    assert f"{len(found)} of {len(rows())}" in page.inner_text("#sb-count")
    assert page.url.endswith("#dec-t3-1"), "filters keep the hash"
    page.reload()
    assert set(shown(page)) == {*found, "DEC-T3.1"}, "the address keeps the choice and the row"
    assert desktop.wrong == []


def test_ledger_is_searched_by_words(desktop, verdicts):
    page = desktop.open("pages/ledger.html")
    first = next(name for name, verdict in verdicts.items() if verdict != TO_COME)
    page.fill(".sb-filters input[name=words]", f"{first.lower()} {rows()[first].kind}")
    assert first in shown(page)
    page.fill(".sb-filters input[name=words]", "no row has these words")
    assert shown(page) == []
    assert "0 of" in page.inner_text("#sb-count")


def test_ledger_is_sorted_by_any_column(desktop):
    page = desktop.open("pages/ledger.html")
    order = shown(page)
    head = page.locator("#sb-ledger thead th").nth(3)
    head.locator("button").click()
    kinds = page.locator(f"{SHOWN} td:nth-child(4)").all_inner_texts()
    assert kinds == sorted(kinds)
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").press("Enter")
    assert page.locator(f"{SHOWN} td:nth-child(4)").all_inner_texts() == kinds[::-1]
    page.locator("#sb-ledger thead th").nth(0).locator("button").click()
    assert shown(page) == order
    assert head.get_attribute("aria-sort") is None


def test_ledger_is_whole_without_scripts(browser, server):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{server}/pages/ledger.html")
        assert page.locator(SHOWN).count() == len(rows())
        assert not page.locator(".sb-filters").is_visible(), "filters that do nothing"


def test_the_row_of_an_address_is_shown_and_marked(desktop, verdicts):
    """Also where its statement is still to come, and after maths has moved the rows."""
    for name in ("DEC-T3.1", next(iter(verdicts))):
        page = desktop.open(f"pages/ledger.html#{slug(name)}")
        page.reload()
        row = page.locator(f"[id='{slug(name)}']")
        assert row.is_visible()
        others, mine = (
            page.evaluate("s => getComputedStyle(document.querySelector(s)).backgroundColor", place)
            for place in ("#sb-ledger tbody tr:not([hidden], :target) td", "tr:target td")
        )
        assert mine != others
        wait_until(page, "() => scrollY >= 0")
        box = row.bounding_box()
        assert 0 <= box["y"] < 900, "the row is on the screen"


def test_an_id_puts_its_address_on_the_clipboard(browser, server):
    permissions = ["clipboard-read", "clipboard-write"]
    with browser.new_context(permissions=permissions) as context:
        page = context.new_page()
        page.goto(f"{server}/pages/ledger.html?document=DEC")
        page.click("#dec-t3-1 th a")
        wait_until(page, "document.getElementById('sb-copied').textContent")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == f"{server}/pages/ledger.html#dec-t3-1"


def test_keyboard_reaches_the_text_and_the_filters(desktop):
    page = desktop.open("pages/ledger.html")
    page.keyboard.press("Tab")
    assert "skip" in page.evaluate("document.activeElement.innerText").lower()
    page.keyboard.press("Enter")
    for _ in range(15):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "document":
            break
    page.keyboard.type("DEC")
    assert {name.split("-")[0] for name in shown(page)} <= {"DEC"}


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


def settled(verdicts):
    return [name for name, verdict in verdicts.items() if verdict != TO_COME]


def results(page, words):
    page.goto(page.url.split("/pages/")[0] + f"/search.html?q={words}")
    page.wait_for_selector("ul.search li a")
    wait_until(page, "!document.querySelector('.search-summary').textContent.endsWith('...')")
    return [a.get_attribute("href") for a in page.query_selector_all("ul.search li > a")]


def test_search_for_an_id_finds_its_chapter_first(desktop, verdicts):
    page = desktop.open("pages/ledger.html")
    for name in settled(verdicts)[:3]:
        page = desktop.open("pages/ledger.html")
        link = page.locator(f"[id='{slug(name)}'] a[href*='chapters/']").first.get_attribute("href")
        first = results(page, name)[0]
        assert link.removeprefix("../").split("#")[0] in first, name


def test_search_quotes_words(desktop):
    page = desktop.open("pages/notation.html")
    results(page, "quadrature")
    page.wait_for_selector("ul.search li p.context")
    quoted = " ".join(page.locator("ul.search li p.context").all_inner_texts())
    assert quoted
    for raw in (r"\(", r"\mathbb", "import ", ">>>"):
        assert raw not in quoted, raw


def a_figure(site):
    """A page that has a figure."""
    for path in sorted(site.glob("chapters/**/*.html")):
        if "<figure" in path.read_text():
            return path.relative_to(site).as_posix()
    pytest.skip("no page has a figure")


def test_a_figure_enlarges_by_keyboard_and_by_touch(desktop, site):
    page = desktop.open(a_figure(site))
    button = page.locator("article figure button").first
    alt = page.locator("article figure img").first.get_attribute("alt")
    small = page.locator("article figure img").first.bounding_box()["width"]
    button.focus()
    page.keyboard.press("Enter")
    large = page.locator("dialog[open] img")
    assert large.get_attribute("alt") == alt
    assert large.bounding_box()["width"] > small
    page.keyboard.press("Escape")
    page.locator("dialog.sb-large").wait_for(state="detached")
    assert page.evaluate("document.activeElement.className") == "sb-enlarge"
    button.click()
    page.locator("dialog[open] img").click()
    page.locator("dialog.sb-large").wait_for(state="detached")
    assert desktop.wrong == []


def test_on_a_phone_a_figure_enlarges_beyond_the_window(browser, server, site):
    with browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True) as context:
        page = context.new_page()
        page.goto(f"{server}/{a_figure(site)}")
        page.locator("article figure button").first.tap()
        assert page.locator("dialog[open] img").bounding_box()["width"] > 390


def test_the_sidebar_toggle_shows_its_focus(desktop):
    page = desktop.open("index.html")
    toggle = page.locator(".sidebar-toggle.primary-toggle")
    style = "e => getComputedStyle(e).outlineStyle"
    assert toggle.evaluate(style) in ("none", "auto")
    page.keyboard.press("Tab")  # from here on focus is the keyboard's
    toggle.focus()
    assert toggle.evaluate(style) == "solid"


def test_the_theme_can_be_switched(desktop):
    """Its icons are drawings, and one of them shows at a time."""
    page = desktop.open("index.html")
    button = page.locator(".theme-switch-button:visible").first
    seen = set()
    for _ in range(3):
        (icon,) = [s for s in button.locator("svg").all() if s.is_visible()]
        seen.add(icon.get_attribute("data-mode"))
        button.click()
    assert len(seen) == 3
