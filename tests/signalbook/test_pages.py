"""What code writes into the site, from a ledger made by hand."""

import json
import re
from html import unescape

import pytest

from signalbook import pages, records
from signalbook.checks import at_most_one
from signalbook.inventory import resting_on, rows
from signalbook.ledger import Ledger
from signalbook.parameters import Change
from signalbook.pictures import Album, Picture
from signalbook.project import Project
from signalbook.records import Record
from signalbook.settle import misprint, settle
from signalbook.source import Source
from signalbook.verdicts import SEVERITIES, VERDICTS
from signallab.case import Case

POINTS = [{"n": n} for n in (1, 2, 3)]
CHAPTER = "one/gap"
OF_ORTH = "pages/errata/orthogonality.md"
CELL = """\
```{code-cell} ipython3
over = [{"n": runs}]
settle("ORTH-L2", at_most_one(doubled, over=over), found="", rivals={})
```
"""


def at_most(factor):
    return lambda n: Case(float(n), factor * n, words=f"n = {n}")


def entry(claim, **more):
    claim = {**claim.data, "anchor": f"claim-{claim['id'].lower()}"}
    return {**claim, "chapter": CHAPTER, "checks": [claim], "parameters": {}} | more


def holding(name, found="It holds."):
    check = at_most_one(at_most(1.5), over=POINTS)
    return entry(settle(name, check, found=found, rivals={"half": at_most(0.5)}))


def failing(name, severity, found="Too small by {largest}."):
    return entry(
        settle(
            name,
            at_most_one(at_most(0.5), over=POINTS),
            found=found,
            repaired=at_most_one(at_most(1.5), over=POINTS),
            repair=f"{name} repaired",
            severity=severity,
            rivals={"half": at_most(0.5)},
        )
    )


def slip(name):
    return entry(misprint(name, where="Table 2", printed="(4)", should="(1)", because="it is."))


@pytest.fixture
def project(book):
    book.chapter(CHAPTER, "ORTH-T1")
    return Project(book.root)


@pytest.fixture
def source(project):
    return Source(project.source(CHAPTER))


def made(project, *entries):
    return pages.generated(project, Ledger(list(entries)))


def ids(text, pattern=r'id="erratum-([^"]+)"'):
    return re.findall(pattern, text)


def test_errata_are_grouped_by_severity_the_gravest_first(project):
    names = ["ORTH-T1", "ORTH-L2", "ORTH-C3", "ORTH-L4"]
    found = [failing(n, severity) for n, severity in zip(names, SEVERITIES, strict=True)]
    text = made(project, *found, slip("ORTH-Tab2"), holding("ORTH-X1"))[OF_ORTH]
    order = [pages.HEADINGS[severity] for severity in reversed(SEVERITIES)]
    assert re.findall("^## (.*)$", text, re.MULTILINE)[:-1] == order
    assert ids(text) == ["orth-l4", "orth-c3", "orth-l2", "orth-t1", "orth-tab2"]


def test_within_a_severity_that_on_which_most_rests_comes_first(project):
    names = sorted((n for n in rows() if n.startswith("ORTH-")), key=lambda n: len(resting_on(n)))
    least, most = names[0], names[-1]
    assert len(resting_on(most)) > len(resting_on(least))
    text = made(project, failing(least, "rate"), failing(most, "rate"))[OF_ORTH]
    assert ids(text) == [most.lower().replace(".", "-"), least.lower().replace(".", "-")]


def test_an_erratum_can_be_read_alone(project):
    text = made(project, failing("ORTH-T1", "rate"))[OF_ORTH]
    for wanted in (
        rows()["ORTH-T1"].title,
        "ORTH, Theorem 1, Eq. (3)",
        "Too small by 2.",
        "left side 1, right side 0.5",
        "ORTH-T1 repaired",
        "severity: rate",
        'href="../ledger.html#orth-t1"',
        'href="../../chapters/one/gap.html#claim-orth-t1"',
    ):
        assert wanted in text, wanted


def test_a_counterexample_comes_with_code_of_its_point_or_with_its_chapters_lines(project, book):
    book.chapter(CHAPTER, "ORTH-L2", body=CELL)
    at_point, by_lines = failing("ORTH-T1", "rate"), failing("ORTH-L2", "rate")
    at_point["checks"][0]["counterexample"]["code"] = "print('at the point')"
    by_lines["checks"][0]["counterexample"]["code"] = ""
    by_lines["parameters"] = {"runs": 7, "seed": 3}
    text = made(project, at_point, by_lines, slip("ORTH-Tab2"))
    shown = {name: unescape(re.sub("<[^>]+>", "", t)) for name, t in parted(text[OF_ORTH])}
    assert "print('at the point')" in shown["ORTH-T1"]
    assert (
        'runs = 7\n\nover = [{"n": runs}]\ncheck = at_most_one(doubled, over=over)'
        in shown["ORTH-L2"]
    )
    assert "seed = 3" not in shown["ORTH-L2"]
    assert "Of 2 counterexamples, 1 come with a few lines" in text["pages/errata.md"]
    assert "and 1 with the lines of their chapter" in text["pages/errata.md"]


def test_of_a_recorded_counterexample_the_lines_have_the_sizes_of_the_record(project, book):
    book.chapter(CHAPTER, "ORTH-L2", body=CELL)
    data = {"parameters": {"runs": 900}, "seconds": 7200.0}
    path = project.record(CHAPTER)
    path.parent.mkdir(parents=True, exist_ok=True)
    code = {"cells": "", "modules": {}}
    data |= {"code": code, "files": {}}
    path.write_text(json.dumps(data | {"seal": records.seal(data)}))
    found = failing("ORTH-L2", "rate")
    found["checks"][0] |= {"recorded": "2026-01-01", "counterexample": {"code": ""}}
    text = unescape(re.sub("<[^>]+>", "", made(project, found)[OF_ORTH]))
    assert "runs = 900" in text
    assert "All of the chapter took 2 h" in text


def test_every_erratum_says_whether_a_later_text_corrects_it(project):
    text = made(project, failing("ORTH-T1", "rate"), failing("ORTH-C3", "rate"))[OF_ORTH]
    said = {name: ("No later text" in part, "Later, " in part) for name, part in parted(text)}
    assert said == {"ORTH-T1": (True, False), "ORTH-C3": (False, True)}


def parted(text):
    """The errata of a page by their IDs."""
    return [(part.split(":")[0], part) for part in text.split("<h3>")[1:]]


def test_what_an_erratum_is_about_keeps_its_symbols(project):
    failed = failing("ORTH-T1", "rate")
    failed["checks"] = [failed["checks"][0] | {"about": "the slice V' of Equation 6"}]
    assert "<em>The slice V&#39; of Equation 6:</em>" in made(project, failed)[OF_ORTH]


def test_without_errors_the_errata_say_so(project):
    text = made(project, holding("ORTH-T1"))
    assert "None so far" in text["pages/errata.md"]
    assert "None so far" in text[OF_ORTH]


def test_an_overview_lists_the_errata_of_all_parts_and_leads_to_them(project):
    found = [failing("ORTH-T1", "rate"), failing("KER-P5.1", "false"), slip("ORTH-Tab2")]
    text = made(project, *found, holding("ORTH-X1"))
    assert re.findall(r'href="([^"]+)"', text["pages/errata.md"]) == [
        "errata/kernels.html#erratum-ker-p5-1",
        "errata/orthogonality.html#erratum-orth-t1",
        "errata/orthogonality.html#erratum-orth-tab2",
    ]
    assert ids(text["pages/errata/kernels.md"]) == ["ker-p5-1"]
    assert ids(text[OF_ORTH]) == ["orth-t1", "orth-tab2"]


def test_the_front_page_counts_what_is_settled(project):
    found = [failing("ORTH-T1", "hypothesis"), failing("ORTH-L2", "false"), slip("ORTH-Tab2")]
    found.append(holding("ORTH-X1") | {"recorded": "at the document's size"})
    text = made(project, *found)["generated/summary.md"]
    assert f"<strong>4 of {len(rows())}</strong>" in text
    assert "have a verdict so far" in text
    assert "but for 1 that come from records of longer runs and 1 slips of print" in text
    assert "<strong>1</strong> stand as printed" in text
    assert "<strong>2</strong> fail as printed (to be given up: 1; one more hypothesis: 1)" in text
    assert 'href="pages/ledger.html?verdict=fails+as+printed"' in text
    assert f"<strong>{len(rows()) - 4}</strong>" in text


def test_once_all_is_settled_nothing_is_so_far(project):
    text = made(project, *(slip(name) for name in rows()))["generated/summary.md"]
    assert "so far" not in text
    assert pages.TO_COME not in text


def test_every_verdict_has_its_share_of_the_front_page():
    assert sorted(v for _, _, verdicts in pages.SHARES for v in verdicts) == sorted(VERDICTS)


def test_the_findings_are_the_gravest_of_their_parts(project):
    first = failing("ORTH-T1", "hypothesis", "First.")
    second = failing("ORTH-L2", "false", "Second.")
    third = failing("KER-P5.1", "rate", "Third.")
    text = made(project, first, second, third, holding("ORTH-X1"))["generated/findings.md"]
    assert text.index("Second.") < text.index("Third.")
    assert "First." not in text
    assert "It holds." not in text
    assert 'href="pages/errata/orthogonality.html#erratum-orth-l2"' in text
    assert f"used by {len(resting_on('ORTH-L2'))} more" in text


def test_the_front_page_shows_few_findings_that_others_rest_on(project):
    one_of_each = {row.part: row.id for row in rows().values() if resting_on(row.id)}.values()
    found = [failing(name, "rate") for name in one_of_each]
    label = failing("KER-F5.2", "false", "A label.")
    assert not resting_on("KER-F5.2")
    text = made(project, *found, label)["generated/findings.md"]
    assert text.count("Erratum of") == pages.GRAVEST < len(found)
    assert "A label." not in text


def test_a_finding_shows_the_picture_that_it_rests_on(project):
    picture = Picture(CHAPTER, "line", "A line.", "svg", b"<svg/>")
    albums = {CHAPTER: Album({"line": picture}, picture, {"claim-orth-t1": picture})}
    ledger = Ledger([failing("ORTH-T1", "rate")])
    text = pages.generated(project, ledger, albums)["generated/findings.md"]
    assert f":::{{image}} {picture.small_file}" in text


def test_a_part_tells_its_counts_what_is_open_and_its_chapters(book):
    book.chapter("orthogonality/gap", "ORTH-T1")
    found = failing("ORTH-T1", "rate") | {"chapter": "orthogonality/gap"}
    left = holding("ORTH-F7a") | {"verdict": "not run at this scale"}
    text = made(Project(book.root), found, left, holding("KER-E5.1"))
    counts = text["generated/parts/orthogonality-counts.md"]
    assert "ledger.html?document=ORTH&amp;verdict=fails+as+printed" in counts
    assert "sb-holds" not in counts
    still = text["generated/parts/orthogonality-open.md"]
    assert ids(still, 'class="sb-id" href="[^"]+">([^<]+)') == ["ORTH-F7a"]
    tiles = text["generated/parts/orthogonality.md"]
    assert 'href="../../chapters/orthogonality/gap.html">Chapter gap</a>' in tiles
    assert "1 min · 1 statement, 1 fails" in tiles
    assert text["generated/parts/kernels-open.md"] == pages.NOTHING


def test_what_an_id_stands_for_is_a_script_that_a_page_may_load():
    script = pages.previews(Ledger([failing("ORTH-T1", "rate", "Too fast, $a < b$.")]))
    texts = json.loads(script.split("signalbookStatements = ")[1].removesuffix(";\n"))
    assert list(texts) == list(rows())
    assert "Too fast, " in texts["ORTH-T1"]
    assert "a &lt; b" in texts["ORTH-T1"]
    assert "sb-badge" not in texts["ORTH-L2"]


def test_the_ledger_has_every_row_with_an_address(project):
    text = made(project, holding("KER-T5.11.1"), slip("ORTH-Tab2"))["pages/ledger.md"]
    addresses = ids(text, r'<tr id="([^"]+)"')
    assert len(set(addresses)) == len(rows())
    assert all(re.fullmatch(r"[a-z0-9-]+", address) for address in addresses)
    assert text.count(f'data-verdict="{pages.TO_COME}"') == len(rows()) - 2
    assert 'href="errata/orthogonality.html#erratum-orth-tab2"' in text


def test_all_formulas_of_the_lists_are_set(project):
    """A dollar left in a page would be a formula that nothing sets."""
    for name, text in made(project, failing("ORTH-T1", "rate")).items():
        assert "$" not in text or not name.endswith(".md"), name


def key(**values):
    defaults = {"runs": 20, "device": "cpu", "seed": 0}
    return {"profile": "fast", "parameters": defaults | values, "code": "now"}


def test_the_box_puts_failures_first_and_leaves_slips_out(source):
    entries = [holding("ORTH-X1"), slip("ORTH-Tab2"), failing("ORTH-T1", "rate")]
    box = pages.box(CHAPTER, source, key(), {}, entries, None)
    assert ids(box, r'href="#([^"]+)"') == ["claim-orth-t1", "claim-orth-x1"]
    assert "ORTH-T1 repaired" in box
    assert 'href="../../pages/errata/orthogonality.html#erratum-orth-t1"' in box


def test_the_box_says_of_which_part_of_a_statement_it_speaks(source):
    entry = holding("ORTH-X1") | {"about": "the rate"}
    for checks, said in (([{}], False), ([{}, {}], True)):
        box = pages.box(CHAPTER, source, key(), {}, [entry | {"checks": checks}], None)
        assert ("<em>The rate:</em>" in box) == said


def test_what_differs_from_the_document_is_said(source):
    own = "No value differs from the document's"
    assert own in pages.box(CHAPTER, source, key(seed=7), {}, [], None)
    reduced = pages.box(CHAPTER, source, key(runs=5), {"runs": Change(5, "a < b")}, [], None)
    assert own not in reduced
    assert "1 value differs" in reduced
    assert "<code>runs = 5</code> instead of <code>20</code>: a &lt; b" in reduced


def test_a_record_of_other_code_is_stale(source):
    data = {"date": "2026-01-01", "device": "cpu", "machine": "Linux", "seconds": 61.2}
    data |= {"versions": {"torch": "9.9"}, "parameters": {}}
    box = pages.box(CHAPTER, source, key(), {}, [], Record(data, ("cells",)))
    assert "The record is stale" in box
    fresh = pages.box(CHAPTER, source, key(), {}, [], Record(data))
    for wanted in ("2026-01-01", "1 min 1 s on cpu (Linux, torch 9.9)", "not compared"):
        assert wanted in fresh, wanted
    assert "stale" not in fresh


def test_a_page_that_settles_nothing_has_no_box(source):
    source.__dict__["matter"] = {}
    assert pages.box(CHAPTER, source, key(), {}, [], None) == ""


def test_the_closing_table_has_every_claim_failures_first():
    table = pages.closing([holding("ORTH-X1"), slip("ORTH-Tab2"), failing("ORTH-T1", "rate")])
    assert re.findall(r'<th scope="row"><a[^>]*>([^<]+)', table) == [
        "ORTH-T1",
        "ORTH-X1",
        "ORTH-Tab2",
    ]


def test_the_command_at_the_foot_can_be_run_as_it_stands(source):
    foot = pages.run_it_yourself(CHAPTER, source)
    assert f'make chapter C={CHAPTER} P="runs=20"' in foot
    assert "..." not in foot


def test_the_functions_that_a_page_calls_are_one_click_away(source):
    foot = pages.run_it_yourself(CHAPTER, source, ["gap.py"])
    assert "{download}`experiments: gap.py <gap.files/gap.py>`" in foot


def test_markup_in_statements_and_fences_is_text(project):
    evil = "<script>alert(1)</script> ```` end"
    found = made(project, holding("ORTH-T1", evil), failing("ORTH-L2", "rate", evil))
    for text in (text for name, text in found.items() if name.endswith(".md")):
        assert "<script>alert" not in text
        for fence, body in re.findall(r"^(`{3,})\{raw\} html\n(.*?)\n\1$", text, re.M | re.S):
            assert fence not in body
