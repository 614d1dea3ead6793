"""Pages keep what they use."""

from pathlib import Path

import pytest

from signalbook.errors import BookError
from signalbook.light import lighter, page, pictures, style

ICONS = (
    'var icons={"angle-left":[320,512,[8249],"f104","M41 233"],list:[512,512,[],"f03a","M40 48"]}'
)


@pytest.fixture
def site(tmp_path):
    files = {
        "index.html": '<head></head><i class="fa-solid fa-list fa-lg"></i><b class="used"></b>',
        "a/b.html": '<head></head><p class="math notranslate"></p>',
        "_static/scripts/fontawesome.js": ICONS,
        "_static/scripts/fontawesome.js.map": "{}",
        "_static/own.js": 'box.classList.add("by-script")',
        "_static/own.css": ".used{a:1} .fa-list{b:1} .by-script{c:1} .sb-icon{d:1} .never{e:1}"
        " .sb-print a{f:1}",
        "_images/x.svg": '<svg><path id="p4.12345" d="M -1.999999 20.004\nL 3.14 1e-05"/></svg>',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return {name.as_posix(): content.decode() for name, content in lighter(tmp_path)}


def test_what_no_page_needs_is_left_out(site):
    assert [name for name in site if "fontawesome" in name] == []


def test_paths_of_drawings_lose_digits_that_no_screen_shows(site):
    assert (
        site["_images/x.svg"] == '<svg><path id="p4.12345" d="M -2.00 20.00\nL 3.14 1e-05"/></svg>'
    )


def test_rules_stay_that_a_page_or_a_script_may_use(site):
    assert site["_static/own.css"] == ".used{a:1}.by-script{c:1}.sb-icon{d:1}.sb-print a{f:1}"


def test_maths_is_loaded_where_there_is_some(site):
    assert "maths.js" not in site["index.html"]
    assert '<script defer src="../_static/maths.js">' in site["a/b.html"]


def test_icons_are_drawn_in_the_page(site):
    drawing = '<svg class="sb-icon fa-lg" viewBox="0 0 512 512" aria-hidden="true">'
    assert f'{drawing}<path fill="currentColor" d="M40 48"/></svg>' in site["index.html"]
    kept = page('<i class="mode fa-solid fa-angle-left" data-mode="dark"></i>', "", ICONS)
    assert '<svg class="sb-icon mode" data-mode="dark" viewBox="0 0 320 512"' in kept


def test_an_unknown_icon_is_named():
    with pytest.raises(BookError, match="unheard-of"):
        page('<i class="fa-solid fa-unheard-of"></i>', "", ICONS)


def test_the_search_index_is_loaded_on_the_search_page_alone():
    scripts = (
        '<script src="../searchindex.js"></script><script src="_static/searchtools.js"></script>'
    )
    assert page(f"<p>{scripts}</p>", "", "") == "<p></p>"
    searching = f'<div id="search-results"></div>{scripts}'
    assert page(searching, "", "") == searching


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        ("@media (min-width:1px){.b{x:1}}", ""),
        ("@media (min-width:1px){.a{x:1}.b{x:1}}", "@media (min-width:1px){.a{x:1}}"),
        ("@keyframes b{from{x:1}to{x:2}}", "@keyframes b{from{x:1}to{x:2}}"),
        ('@import "x.css";.a{y:1}', '@import "x.css";.a{y:1}'),
        (".a:not(.b){x:1}", ".a:not(.b){x:1}"),
        (":is(.b,.a) p{x:1}", ":is(.b,.a) p{x:1}"),
        ("[class~=b]{x:1}", "[class~=b]{x:1}"),
        ('.a::after{content:"}.b{"}', '.a::after{content:"}.b{"}'),
        ("/* .a{} */.b{x:1}p,.b{x:2}", "p{x:2}"),
        (".w-1\\/2{x:1}", ""),
        ("@font-face{font-family:Font Awesome 6;src:url(a)}p{x:1}", "p{x:1}"),
    ],
)
def test_style(css, kept):
    assert style(css, {"a"}) == kept


def test_the_folder_is_left_as_it_is(tmp_path: Path):
    (tmp_path / "_static" / "scripts").mkdir(parents=True)
    (tmp_path / "_static" / "scripts" / "fontawesome.js").write_text(ICONS)
    (tmp_path / "a.css").write_text(".b{x:1}")
    assert dict(lighter(tmp_path)) == {Path("a.css"): b""}
    assert (tmp_path / "a.css").read_text() == ".b{x:1}"


def test_figures_after_the_first_wait_and_say_their_size(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.svg").write_text('<svg x="1" width="345.6pt" height="237.6pt" y="2"/>')
    (tmp_path / "c.svg").write_text('<svg viewBox="0 0 1 1"/>')
    text = "".join(f'<p><img alt="{name}" src="{name}.svg" /></p>' for name in "abc")
    assert pictures(f'<img src="x.png"/>{text}', tmp_path) == (
        '<img src="x.png"/><p><img width="461" height="317" alt="a" src="a.svg" /></p>'
        '<p><img loading="lazy" width="461" height="317" alt="b" src="b.svg" /></p>'
        '<p><img alt="c" src="c.svg" /></p>'
    )


def test_a_window_loads_the_drawing_that_fits_it(tmp_path):
    sizes = {"wide": ("460.8", "216"), "wide-narrow": ("345.6", "432"), "next": ("72", "36")}
    for name, (width, height) in sizes.items():
        (tmp_path / f"{name}.svg").write_text(f'<svg x="1" width="{width}pt" height="{height}pt"/>')
    figure = '<figure><img alt="a" src="wide.svg" /><figcaption>Text.</figcaption></figure>'
    narrow = '<p>Data</p>\n<img alt="x" class="sb-narrow" src="wide-narrow.svg" />'
    text = f'<img src="first.png"/>{figure}{narrow}<img alt="b" src="next.svg" />'
    assert pictures(text, tmp_path) == (
        '<img src="first.png"/><figure><picture><source media="(max-width: 600px)" width="461" '
        'height="576" srcset="wide-narrow.svg" /><img width="614" height="288" alt="a" '
        'src="wide.svg" /></picture><figcaption>Text.</figcaption></figure><p>Data</p>'
        '<img loading="lazy" width="96" height="48" alt="b" src="next.svg" />'
    )


def test_a_statement_goes_by_the_number_of_its_document():
    title = (
        '<p class="admonition-title" id="x"><span class="caption-number">Lemma 26 </span>'
        " (COND, Lemma 43 (Gneiting))</p>"
    )
    assert page(title, "", "") == '<p class="admonition-title" id="x">COND, Lemma 43 (Gneiting)</p>'
