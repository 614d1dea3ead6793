"""The works that the book cites: each is there, and can be followed."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENTRIES = {
    match[1]: match[0]
    for match in re.finditer(
        r"^@\w+\{(\w+),.*?^\}", (ROOT / "references.bib").read_text(), re.M | re.S
    )
}
#: Works for which no address could be verified.
WITHOUT_ADDRESS = {"joudaki2024", "bougerol2012", "newman1986", "sawa1972"}


def test_every_work_has_an_address():
    linked = {
        key
        for key, entry in ENTRIES.items()
        if re.search(r"^  (doi = \{10\.\d{4,9}/\S+\}|url = \{https://\S+\}),$", entry, re.M)
    }
    assert set(ENTRIES) - linked == WITHOUT_ADDRESS


def test_every_cited_work_is_listed():
    pages = [*(ROOT / "chapters").rglob("*.md"), *(ROOT / "pages").rglob("*.md"), ROOT / "index.md"]
    cited = {
        key.strip()
        for page in pages
        for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", page.read_text())
        for key in keys.split(",")
    }
    assert cited
    assert cited <= set(ENTRIES)
