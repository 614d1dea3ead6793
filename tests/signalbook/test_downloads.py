"""The ledger as files."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
import yaml

from signalbook.downloads import CITED, COLUMNS, YEAR, as_bibtex, as_csv, as_json
from signalbook.inventory import DOCUMENTS, rows

ROOT = Path(__file__).parents[2]
ENTRY = {
    "verdict": "fails as printed",
    "severity": "rate",
    "found": 'Too fast: $a_b$, "by far", 50 % & more.',
    "repair": "Slower.",
    "chapter": "one/gap",
}


@pytest.fixture
def entries():
    return {"ORTH-T1": ENTRY}


def test_json_has_every_row(entries):
    found = {line["id"]: line for line in json.loads(as_json(entries))}
    assert list(found) == list(rows())
    assert found["ORTH-T1"]["verdict"] == "fails as printed"
    assert found["ORTH-T1"]["statement_needs"] == list(rows()["ORTH-T1"].statement_needs)
    assert found["ORTH-L2"]["verdict"] is None


def test_csv_reads_back(entries):
    lines = list(csv.DictReader(io.StringIO(as_csv(entries))))
    assert tuple(lines[0]) == COLUMNS
    (line,) = [line for line in lines if line["id"] == "ORTH-T1"]
    assert line["found"] == ENTRY["found"]
    assert line["proof_needs"] == " ".join(rows()["ORTH-T1"].proof_needs)


def test_bibtex_has_an_entry_for_each_verdict_with_balanced_braces(entries):
    text = as_bibtex(entries | dict.fromkeys(rows(), ENTRY))
    keys = re.findall(r"^@misc\{([^,]+),$", text, re.MULTILINE)
    assert len(set(keys)) == len(rows())
    assert all(re.fullmatch(r"[\w.-]+", key) for key in keys)
    for entry in text.split("@misc")[1:]:
        assert entry.count("{") == entry.count("}")
        assert not re.search(r"(?<!\\)[%&#_]", entry.split("\n", 1)[1]), entry


def test_every_document_is_in_the_bibliography():
    keys = re.findall(r"^@\w+\{(\w+),", (ROOT / "references.bib").read_text(), re.MULTILINE)
    assert set(CITED) == set(DOCUMENTS)
    assert set(CITED.values()) <= set(keys)


@pytest.mark.parametrize("page", ["index.md", "pages/reading.md", "pages/bibliography.md"])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_is_named_where_readers_meet_it(page, name):
    text = (ROOT / page).read_text()
    assert re.search(rf"\b{name}\b", text)
    assert f"{{cite:t}}`{CITED[name]}`" in text


def test_who_cites_the_project_finds_every_document():
    listed = yaml.safe_load((ROOT / "CITATION.cff").read_text())["references"]
    entries = (ROOT / "references.bib").read_text().split("\n@")
    titles = [
        re.search(r"^  title = \{(.+)\},$", entry, re.MULTILINE)[1]
        for entry in entries
        if entry.partition("{")[2].partition(",")[0] in CITED.values()
    ]
    assert {work["title"] for work in listed} == {re.sub("[{}]", "", title) for title in titles}


def test_the_year_is_that_of_the_book():
    assert yaml.safe_load((ROOT / "_config.yml").read_text())["copyright"] == YEAR
