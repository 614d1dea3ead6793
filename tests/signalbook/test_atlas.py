"""The map of statements, as HTML."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from signalbook.atlas import HEIGHT, WIDTH, atlas, plain, used_by
from signalbook.inventory import PARTS, rows
from signalbook.words import slug

ENTRY = {"chapter": "one/gap", "anchor": "claim-orth-t1", "verdict": "fails as printed"}


@pytest.fixture(scope="module")
def sections():
    checks = [{"verdict": "misprint", "in_proof": "the last display"}]
    return atlas({"ORTH-T1": {**ENTRY, "checks": checks}})


@pytest.fixture(scope="module")
def text(sections):
    return "\n".join(html for _, _, html in sections)


def test_every_part_has_a_drawing(sections):
    assert [address for address, _, _ in sections][2:] == [f"map-of-{part}" for part in PARTS]


def test_every_statement_is_a_link_with_an_address(text):
    addresses = re.findall(r'<a id="(map-[^"]+)"', text)
    assert sorted(addresses) == sorted(f"map-{slug(name)}" for name in rows())


def test_every_need_is_a_line(text):
    drawn = set(re.findall(r'data-need="([^"]+)" data-user="([^"]+)"', text))
    wanted = {(n, r.id) for r in rows().values() for n in (*r.statement_needs, *r.proof_needs)}
    corrections = {(row.id, c.by) for row in rows().values() for c in row.corrected if c.by}
    assert len(corrections) >= 2
    assert drawn == wanted | corrections


def test_a_line_says_whether_the_statement_or_its_proof_needs_it(text):
    groups = re.findall(r'<g class="sb-line sb-line-(\w+)">(.*?)</g>', text, re.DOTALL)
    kinds = {
        pair: kind
        for kind, paths in groups
        for pair in re.findall(r'data-need="([^"]+)" data-user="([^"]+)"', paths)
    }
    assert kinds["ORTH-A1", "ORTH-T1"] == "statement"
    assert kinds["ORTH-L4", "ORTH-T1"] == "proof"
    assert kinds["RANK-F5", "DEC-F2"] == "correction"


def test_a_node_shows_its_verdict_its_border_and_a_slip_in_its_proof(text):
    (node,) = re.findall(r'<a id="map-orth-t1".*?</a>', text)
    for wanted in (
        "sb-fill-fails-as-printed",
        "sb-mended",
        "sb-slip",
        "one/gap.html#claim-orth-t1",
    ):
        assert wanted in node, wanted
    said = re.search('aria-label="([^"]+)"', node)[1]
    assert said.startswith("ORTH-T1, theorem, Gap falls exponentially with depth: fails as printed")
    assert said.endswith(f"used by {len(used_by()['ORTH-T1'])}")


def test_nodes_do_not_cover_one_another(sections):
    for _, _, html in sections[1:]:
        places = [
            (int(x), int(y)) for x, y in re.findall(r'<g transform="translate\((\d+) (\d+)\)', html)
        ]
        for (x, y), (other, below) in combinations(places, 2):
            assert abs(x - other) >= WIDTH or abs(y - below) >= HEIGHT


def test_the_same_stands_in_a_list(text):
    (line,) = re.findall(r'<li><a class="sb-id" href="ledger.html#orth-t1">.*?</li>', text)
    assert "statement needs ORTH-X1, ORTH-X2, ORTH-A1" in line
    assert "proof needs ORTH-L4, ORTH-T5" in line
    assert f"used by {len(used_by()['ORTH-T1'])}: " in line


def test_the_list_says_what_later_texts_correct_and_where(text):
    earlier, version = (
        re.findall(rf'<li><a class="sb-id" href="ledger.html#{row}">.*?</li>', text)[0]
        for row in ("rank-f5", "orth-t5")
    )
    assert "corrected by DEC-F2 (DEC, Our Contribution" in earlier
    assert "corrected later (thesis, Eq. (A.9))" in version


def test_what_is_read_aloud_has_no_marks_of_formulas(text):
    for said in re.findall('aria-label="([^"]+)"', text):
        assert not set(said) & set("$\\{}"), said
    assert plain(r"The set $\mathcal{H}$ & more") == "The set H & more"
