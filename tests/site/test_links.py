"""Links and anchors, read from the files."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Targets(HTMLParser):
    """The anchors that a page has and the addresses that it points to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {"", "top"}
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name in ("href", "src") and value is not None:
                self.links.add(value)


@cache
def targets(path: Path) -> Targets:
    return Targets(path.read_text())


def broken(path: Path, site: Path) -> list[str]:
    found = []
    for link in sorted(targets(path).links):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.is_relative_to(site.resolve()):
            found.append(f"{link} leaves the site")
        elif not target.is_file():
            found.append(f"{link}: no such file")
        elif target.suffix == ".html" and unquote(parts.fragment) not in targets(target).anchors:
            found.append(f"{link}: no such anchor")
    return found


def test_no_broken_link(html, site):
    assert broken(site / html, site) == []


def test_a_broken_link_is_seen(tmp_path):
    page = tmp_path / "a.html"
    page.write_text('<a href="b.html"></a><a href="#x"></a><a href="../c"></a><p id="y"></p>')
    assert [message.split()[-1] for message in broken(page, tmp_path)] == ["anchor", "site", "file"]
