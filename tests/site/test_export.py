"""The site to take away: a part as PDF, all of it as a zip."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile

import pytest

from signalbook.export import parts, zipped
from signalbook.project import Project
from tests.site.conftest import Window


def test_a_part_is_printed_with_an_outline_and_links_that_lead_somewhere(site, browser):
    project = Project.find()
    command = [sys.executable, "-m", "signalbook", "pdf", "--parts", "isometry"]
    subprocess.run(command, check=True, cwd=project.root)
    data = (project.build / "pdf" / "isometry.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert data.count(b"/Type /Page\n") > len(parts(project)["isometry"][1])
    assert b"/Outlines" in data
    assert b"book.invalid" not in data, "a link to a page that only the printer had"
    lead = set(re.findall(rb"/Dest /([\w-]+)", data))
    there = set(re.findall(rb"/([\w-]+) \[\d+ 0 R /XYZ", data))
    assert len(lead) > 10
    assert lead <= there
    assert b"/URI (https://arxiv.org/abs/" in data
    assert b"MathJax_Main" in data, "formulas were printed before their fonts came"


def test_what_is_printed_has_its_styles_and_numbered_figures(site):
    (styles,) = (site / "_static").glob("styles-*.css")
    assert ".sb-print h1" in styles.read_text()
    for path in site.glob("chapters/**/*.html"):
        captions = path.read_text().split("<figcaption>")[1:]
        assert all('class="caption-number">Fig. ' in c.split("</figcaption>")[0] for c in captions)


@pytest.mark.slow
def test_the_zip_works_from_any_folder(site, browser, tmp_path):
    """All that pages load is in there; what they do as files is tested with the folder."""
    folder = tmp_path / "taken home, with a space"
    with zipfile.ZipFile(zipped(Project.find())) as archive:
        archive.extractall(folder)
    with browser.new_context() as context:
        window = Window(context.new_page(), (folder / "signalprop-book").as_uri())
        for html in (
            "index.html",
            "chapters/orthogonality/gap-depth-width.html",
            "chapters/orthogonality/gap-to-play.html",
            "pages/map.html",
        ):
            page = window.open(html)
            assert page.locator("article h1").is_visible()
            assert window.wrong == [], html
        page = window.open("pages/ledger.html")
        page.select_option(".sb-filters select[name=document]", "DEC")
        names = page.locator("#sb-ledger tbody tr:not([hidden]) th").all_inner_texts()
        assert {name.split("-")[0] for name in names} == {"DEC"}
        assert window.wrong == []
        page.locator("#sb-ledger tbody tr:not([hidden]) a[href*='chapters/']").first.click()
        page.wait_for_url("**/chapters/decomposed/*.html*")
