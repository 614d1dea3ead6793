"""The front page, the essays of the parts, and the files and filters of ledger and errata."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from signalbook.inventory import DOCUMENTS, PARTS, rows
from signalbook.pages import GRAVEST, TO_COME
from signalbook.words import slug

MINUTES = re.compile(r"^\d+ min\b")


def test_the_front_page_is_one_screen_of_findings(desktop):
    page = desktop.open("index.html")
    text = page.inner_text("article")
    assert all(name in text for name in DOCUMENTS)
    tiles = page.locator(".sb-tile")
    assert tiles.count() == GRAVEST
    assert tiles.locator("img").count() == GRAVEST
    assert len({tile.bounding_box()["y"] for tile in tiles.all()}) == 1, "side by side"
    assert tiles.first.bounding_box()["y"] < 900, "on the first screen"


def test_a_count_of_the_front_page_leads_to_its_rows(desktop):
    page = desktop.open("index.html")
    count = page.locator(".sb-summary li", has_text="fails as printed")
    number = int(count.locator("strong").inner_text())
    count.locator("a").click()
    page.wait_for_selector("#sb-ledger")
    assert page.locator("#sb-ledger tbody tr:not([hidden])").count() == number


@pytest.mark.parametrize("part", PARTS)
def test_the_essay_of_a_part_leads_to_its_chapters(part, desktop, site):
    page = desktop.open(f"pages/parts/{part}.html")
    there = {path.stem for path in site.glob(f"chapters/{part}/*.html")}
    links = page.locator("a.sb-tile-title")
    assert {
        a.get_attribute("href").split("/")[-1].removesuffix(".html") for a in links.all()
    } == there
    assert page.locator("article figure img").count() >= 1
    assert page.locator(".sb-tile img").count() == len(there)
    assert page.locator(".sb-tile .sb-note", has_text=MINUTES).count() == len(there)


def test_the_ledger_can_be_taken_home(desktop):
    page = desktop.open("pages/ledger.html")
    texts = {}
    for name in ("CSV", "JSON", "BibTeX"):
        with page.expect_download() as download:
            page.locator("article a", has_text=name).first.click()
        texts[name] = download.value.path().read_text()
    assert {line["id"] for line in csv.DictReader(io.StringIO(texts["CSV"]))} == set(rows())
    assert {line["id"] for line in json.loads(texts["JSON"])} == set(rows())
    settled = [line for line in json.loads(texts["JSON"]) if line["verdict"]]
    assert texts["BibTeX"].count("@misc{") == len(settled)


@pytest.mark.parametrize("opened", ["desktop", "folder"])
def test_errata_are_filtered_and_the_address_keeps_the_choice(opened, request):
    window = request.getfixturevalue(opened)
    page = window.open("pages/errata.html")
    shown = ".sb-errata li:not([hidden])"
    every = page.locator(shown).count()
    page.select_option("select[name=severity]", "rate")
    page.select_option("select[name=document]", "ORTH")
    found = page.locator(f"{shown} .sb-id").all_inner_texts()
    assert 0 < len(found) < every
    assert all(name.startswith("ORTH-") for name in found)
    assert page.locator("article h2:visible").count() == 1
    page.reload()
    assert page.locator(f"{shown} .sb-id").all_inner_texts() == found
    page.fill("input[name=words]", "no erratum has these words")
    assert page.locator(f"{shown}:visible").count() == 0
    assert window.wrong == []


def test_an_erratum_has_an_address(desktop):
    page = desktop.open(f"pages/errata/orthogonality.html#erratum-{slug('ORTH-T1')}")
    assert page.locator("section:target h3").inner_text().startswith("ORTH-T1")
    assert page.locator("section:target a", has_text="run ORTH-T1 yourself").is_visible()


def test_nothing_is_still_to_come(site):
    assert TO_COME not in (site / "index.html").read_text()


@pytest.mark.slow
def test_a_statement_goes_by_one_number(site):
    pages = [path for path in site.glob("chapters/**/*.html") if "<figure" in path.read_text()]
    assert pages
    for path in pages:
        titles = path.read_text().split('<p class="admonition-title"')[1:]
        assert not any('"caption-number"' in title.split("</p>")[0] for title in titles), path
