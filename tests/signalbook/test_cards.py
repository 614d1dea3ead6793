"""What a page shows of a claim: everything that was found, and no markup but our own."""

import re
import subprocess
import sys

import pytest

from signalbook import cards
from signalbook.checks import at_most_one
from signalbook.settle import misprint, open_choice, settle
from signalbook.verdicts import VERDICTS
from signalbook.words import badge, slug, typeset
from signallab.case import Case

EVIL = "<script>alert('x')</script>"
POINTS = [{"n": n} for n in (1, 2, 3)]


def at_most(factor):
    return lambda n: Case(float(n), factor * n, {f"n > 0 {EVIL}": True}, words=f"n = {n} {EVIL}")


def claims():
    """A claim of each shape, with markup in every text that an author or a document may write."""
    holds, fails = (at_most_one(at_most(factor), over=POINTS) for factor in (1.5, 0.5))
    rivals = {f"half {EVIL}": at_most(0.5)}
    texts = {"found": f"so {EVIL}", "rivals": rivals, "about": f"part {EVIL}"}
    return {
        "holds": settle("ORTH-T1", holds, **texts),
        "slack": settle(
            "ORTH-T1",
            at_most_one(at_most(9.0), over=POINTS),
            sharper=holds,
            sharpened=f"1.5 {EVIL}",
            **texts,
        ),
        "fails": settle(
            "ORTH-T1",
            fails,
            repaired=holds,
            repair=f"three halves {EVIL}",
            severity="constant",
            seen_from=lambda n: 10.0**n,
            size=f"width {EVIL}",
            holds_at=holds,
            in_proof=f"last line {EVIL}",
            undecided={f"five thirds {EVIL}": at_most(5 / 3)},
            **texts,
        ),
        "open": open_choice(
            "ORTH-T1", {f"one {EVIL}": holds, "other": fails}, found=EVIL, rivals=rivals
        ),
        "misprint": misprint("ORTH-T1", where=EVIL, printed=EVIL, should=EVIL, because=EVIL),
    }


@pytest.mark.parametrize("name", ["holds", "slack", "fails", "open", "misprint"])
def test_texts_are_no_markup(name):
    claim = claims()[name].data
    for html in (cards.card(claim), cards.closing(cards.anchored([claim]))):
        assert "<script" not in html
        assert "&lt;script&gt;" in html


def test_a_failing_claim_shows_what_an_erratum_needs():
    html = re.sub(r"<[^>]+>", " ", cards.card(claims()["fails"].data))
    for wanted in ("left side 1", "right side 0.5", "10 on", "three halves", "severity: constant"):
        assert wanted in re.sub(r"\s+", " ", html), wanted
    assert "five thirds" in html
    assert "n &gt; 0" in html


def test_badge_ledger_erratum_and_section_are_linked():
    html = cards.card(cards.anchored([claims()["fails"].data])[0], up="../../")
    assert 'id="claim-orth-t1"' in html
    assert 'href="../../pages/ledger.html#orth-t1"' in html
    assert 'href="../../pages/errata/orthogonality.html#erratum-orth-t1"' in html
    assert "pages/errata" not in cards.card(claims()["holds"].data)


def test_each_claim_of_a_page_has_an_address_of_its_own():
    data = [claims()[name].data for name in ("holds", "fails", "slack")]
    table = cards.closing(cards.anchored(data))
    assert re.findall(r'href="#([^"]+)"', table) == [
        "claim-orth-t1",
        "claim-orth-t1-2",
        "claim-orth-t1-3",
    ]


def test_every_verdict_has_a_badge_with_a_colour_or_none():
    for verdict in VERDICTS:
        assert badge(verdict) == f'<span class="sb-badge sb-{slug(verdict)}">{verdict}</span>'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a < b", "a &lt; b"),
        ("$x < 1$", r'<span class="math notranslate nohighlight">\(x &lt; 1\)</span>'),
        ('"quoted" & more', "&#34;quoted&#34; &amp; more"),
        ("5 $ only", "5 $ only"),
    ],
)
def test_typeset(text, html):
    assert typeset(text) == html


def test_only_what_the_errata_list_links_there():
    """A failure at a reduced scale is no erratum: a record decides."""
    fails = claims()["fails"].data
    assert "pages/errata" in cards.card(fails)
    reduced = {**fails, "verdict": "disagrees at reduced scale"}
    assert "pages/errata" not in cards.card(reduced)


@pytest.mark.slow  # it starts an interpreter
def test_what_a_chapter_shows_needs_nothing_that_reads_chapters():
    """Every kernel of a build loads it."""
    code = "import sys, signalbook.prose, signalbook.settle; print('jupytext' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "False\n"
