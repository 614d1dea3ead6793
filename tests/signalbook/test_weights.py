"""What a page loads at first."""

from __future__ import annotations

import pytest

from signalbook.files import write
from signalbook.weights import MATHS, heaviest, weight

PAGE = """<link rel="stylesheet" href="../_static/a.css?v=1"><link rel="next" href="b.html">
<script src="../_static/a.js"></script><img src="one.svg"><img loading="lazy" src="two.svg">
<script src="https://elsewhere.example/x.js"></script><a href="three.svg"></a>"""


@pytest.fixture
def site(tmp_path):
    write(tmp_path / "_static" / "a.css", "x" * 1000)
    write(tmp_path / "_static" / "a.js", "x" * 200)
    write(tmp_path / "_static" / "frame.html", "x" * 10**6)
    write(tmp_path / "pages" / "a.html", PAGE)
    for name, size in (("one.svg", 30), ("two.svg", 10**5), ("three.svg", 10**5)):
        write(tmp_path / "pages" / name, "x" * size)
    return tmp_path


def test_a_page_weighs_what_it_loads_at_once(site):
    assert weight(site / "pages" / "a.html") == len(PAGE) + 1000 + 200 + 30


def test_formulas_weigh_what_their_script_fetches(site):
    page = '<script defer src="../_static/maths.js"></script>'
    write(site / "pages" / "b.html", page)
    write(site / "_static" / "maths.js", "x" * 7)
    for part in MATHS:
        write(site / "_static" / "mathjax" / part, "x" * 100)
    assert weight(site / "pages" / "b.html") == len(page) + 7 + 100 * len(MATHS)


def test_the_heaviest_pages_come_first(site):
    write(site / "index.html", "x" * 5000)
    assert heaviest(site, most=1) == [(5000, "index.html")]
    assert [name for _, name in heaviest(site)] == ["index.html", "pages/a.html"]
