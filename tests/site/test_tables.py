"""Tables of prose on a phone: a row is a card whose cells name their columns."""

from __future__ import annotations


def test_on_a_phone_cells_name_their_columns_and_empty_ones_are_gone(browser, server):
    with browser.new_context(viewport={"width": 390, "height": 800}) as context:
        page = context.new_page()
        page.goto(f"{server}/pages/notation.html")
        tables = page.locator("article table.table")
        cells = tables.last.locator("tbody tr").first.locator("td")
        names = [cell.get_attribute("data-head") for cell in cells.all()]
        assert names == [None, "Mean removed", "Divided by", "Scale"]
        said = "e => getComputedStyle(e, '::before').content"
        assert "Mean removed" in cells.nth(1).evaluate(said)
        assert cells.nth(1).locator("p").evaluate("e => getComputedStyle(e).display") == "inline"
        row = tables.nth(1).locator("tr", has_text="singular values, eigenvalues")
        assert not row.locator("td").nth(2).is_visible()
        page.set_viewport_size({"width": 1600, "height": 800})
        assert cells.nth(1).evaluate(said) == "none"
