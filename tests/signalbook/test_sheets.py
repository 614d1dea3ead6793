"""A page asks for one style sheet, whose rules are those of all, in their order."""

import re
from pathlib import Path

import pytest

from signalbook.errors import BookError
from signalbook.sheets import joined

SHEETS = {
    Path("_static/styles/first.css"): '@charset "UTF-8";@import "../basic.css";.a{x:1}',
    Path("_static/basic.css"): ".b{background:url(file.png)}",
    Path("_static/last.css"): ".c{mask:url('data:image/x')}.d{background:url('fonts/x.woff')}",
    Path("_static/play.css"): ".e{x:2}",
}


def page(up, body=""):
    names = ("styles/first.css?digest=0", "last.css?v=1")
    links = [f'<link rel="stylesheet" href="{up}_static/{name}" />' for name in names]
    gap = "\n\n    "
    return f'<head>{gap.join(links)}\n<link rel="icon" href="x.svg"/></head>{body}'


def asked(text):
    return re.findall(r'rel="stylesheet" href="([^"]+)"', text)


def test_the_head_of_a_page_asks_for_one_sheet():
    own = '<link rel="stylesheet" href="../_static/play.css">'
    pages, sheets = joined(
        {Path("index.html"): page(""), Path("a/b.html"): page("../", own)}, SHEETS
    )
    (name,) = asked(pages[Path("index.html")])
    assert asked(pages[Path("a/b.html")]) == [f"../{name}", "../_static/play.css"]
    assert set(sheets) == {Path(name), Path("_static/play.css")}
    assert '<link rel="icon" href="x.svg"/></head>' in pages[Path("a/b.html")]


def test_rules_keep_their_order_and_addresses_lead_to_the_same_files():
    _, sheets = joined({Path("index.html"): page("")}, SHEETS)
    (css,) = [css for name, css in sheets.items() if name.name.startswith("styles-")]
    assert css == (
        '.b{background:url("file.png")}.a{x:1}'
        ".c{mask:url('data:image/x')}.d{background:url(\"fonts/x.woff\")}"
    )


def test_another_sheet_has_another_name():
    other = SHEETS | {Path("_static/last.css"): ".c{x:3}"}
    names = {
        asked(joined({Path("x.html"): page("")}, s)[0][Path("x.html")])[0] for s in (SHEETS, other)
    }
    assert len(names) == 2


def test_a_page_without_style_sheets_stays():
    bare = {Path("a.html"): "<head></head>", Path("b.html"): "no page"}
    assert joined(bare, SHEETS) == (bare, SHEETS)


def test_a_sheet_that_is_not_there_is_named():
    with pytest.raises(BookError, match=r"asks for _static/basic\.css"):
        joined({Path("x.html"): page("")}, {k: v for k, v in SHEETS.items() if k.stem != "basic"})
