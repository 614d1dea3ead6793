"""What code writes into the site, from a ledger made by hand."""

import re

import pytest

from signalbook import pages
from signalbook.checks import at_most_one
from signalbook.inventory import resting_on, rows
from signalbook.ledger import Ledger
from signalbook.parameters import Change
from signalbook.project import Project
from signalbook.records import Record
from signalbook.settle import misprint, settle
from signalbook.source import Source
from signalbook.verdicts import SEVERITIES
from signallab.case import Case

POINTS = [{"n": n} for n in (1, 2, 3)]
CHAPTER = "one/gap"
OF_ORTH = "pages/errata/orthogonality.md"


def at_most(factor):
    return lambda n: Case(float(n), factor * n, words=f"n = {n}")


def entry(claim, **more):
    claim = {**claim.data, "anchor": f"claim-{claim['id'].lower()}"}
    return {**claim, "chapter": CHAPTER, "checks": [claim]} | more


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


def test_the_front_page_counts_and_shows_the_gravest(project):
    found = [failing("ORTH-T1", "hypothesis", "First."), failing("ORTH-L2", "false", "Second.")]
    text = made(project, *found, holding("ORTH-X1"))["generated/summary.md"]
    assert f"**3 of {len(rows())}**" in text
    assert text.index("Second.") < text.index("First.")
    assert 'href="pages/errata/orthogonality.html#erratum-orth-l2"' in text
    assert "It holds." not in text
    assert text.count("<strong>1</strong>") == 1  # one holds
    assert text.count("<strong>2</strong>") == 1  # two fail
    assert f"<strong>{len(rows()) - 3}</strong>" in text


def test_the_front_page_shows_few_findings(project):
    names = [name for name in rows() if name.startswith("ORTH-")][:9]
    text = made(project, *(failing(name, "rate") for name in names))["generated/summary.md"]
    assert text.count("Erratum of") == pages.GRAVEST
    assert "The gravest of 9 statements" in text


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
        assert "$" not in text, name


def key(**values):
    defaults = {"runs": 20, "device": "cpu", "seed": 0}
    return {"profile": "fast", "parameters": defaults | values, "code": "now"}


def test_the_box_puts_failures_first_and_leaves_slips_out(source):
    entries = [holding("ORTH-X1"), slip("ORTH-Tab2"), failing("ORTH-T1", "rate")]
    box = pages.box(CHAPTER, source, key(), {}, entries, None)
    assert ids(box, r'href="#([^"]+)"') == ["claim-orth-t1", "claim-orth-x1"]
    assert "ORTH-T1 repaired" in box
    assert 'href="../../pages/errata/orthogonality.html#erratum-orth-t1"' in box


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
    for text in made(project, holding("ORTH-T1", evil), failing("ORTH-L2", "rate", evil)).values():
        assert "<script>alert" not in text
        for fence, body in re.findall(r"^(`{3,})\{raw\} html\n(.*?)\n\1$", text, re.M | re.S):
            assert fence not in body
