"""Tables of prose on a phone: a row is a card whose cells name their columns."""

from __future__ import annotations

from signalbook.prose import table


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


HEADS = ["activation", "repels from this batch on", "eigenvalue at 200 samples", "condition"]
LONG = ["activation", "normalization", "generalization", "approximation"]
#: Puts a table on the page and counts the lines of each word in it, and the pixels beyond its box.
LINES = """(html) => {
  const place = document.createElement("div");
  place.innerHTML = html;
  document.querySelector("article").append(place);
  dispatchEvent(new Event("resize"));
  const lines = [];
  const range = document.createRange();
  for (const cell of place.querySelectorAll("th"))
    for (const word of cell.textContent.matchAll(/\\S+/g)) {
      range.setStart(cell.firstChild, word.index);
      range.setEnd(cell.firstChild, word.index + word[0].length);
      lines.push(range.getClientRects().length);
    }
  const box = place.querySelector(".sb-table");
  return [Math.max(...lines), box.scrollWidth - box.clientWidth];
}"""


def test_on_a_phone_words_of_a_table_break_only_where_they_do_not_fit(browser, server):
    with browser.new_context(viewport={"width": 390, "height": 800}) as context:
        page = context.new_page()
        page.goto(f"{server}/pages/notation.html")
        for heads, lines in ((HEADS, 1), (LONG, 2)):
            row = dict(zip(heads, ("identity", "never up to 200", 1.1234, 1.234e-7), strict=True))
            html = table([row])._repr_mimebundle_()["text/html"]
            assert page.evaluate(LINES, html) == [lines, 0]
