"""The built site to take away: as a zip that works from a folder, and as PDF, a file for each part.

Chromium prints. All pages of a part become one document, so that links between them, and the list
of contents, lead to places in the same file. Links to other parts stay words: a PDF has no site.
"""

from __future__ import annotations

import mimetypes
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from signalbook.errors import BookError
from signalbook.inventory import PARTS
from signalbook.project import Project
from signalbook.site import STAMP
from signalbook.words import slug

__all__ = ["parts", "printed", "zipped"]

NAME = "signalprop-book"
BIBLIOGRAPHY = "pages/bibliography"
ORIGIN = "http://book.invalid"  # no host: every request is answered from the site's folder
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same site makes the same zip
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FOOT = (
    '<div style="font-size:8px;width:100%;text-align:center">'
    '<span class="title"></span> · <span class="pageNumber"></span></div>'
)


def zipped(project: Project) -> Path:
    """Pack the site into ``_build/signalprop-book.zip``; unpacked, its ``index.html`` opens."""
    site, path = _built(project), project.build / f"{NAME}.zip"
    half = path.with_suffix(".new")
    with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(p for p in site.rglob("*") if p.is_file() and p.name != STAMP):
            entry = zipfile.ZipInfo(f"{NAME}/{file.relative_to(site).as_posix()}", LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
    os.replace(half, path)
    return path


def parts(project: Project) -> dict[str, tuple[str, list[str]]]:
    """The parts of the book: title and pages of each, by the name of its file.

    Its errata and the bibliography end each part: what its text refers to most. The reference of
    the library is left out: it is for looking things up.
    """
    toc = yaml.safe_load((project.root / "_toc.yml").read_text())
    found = {}
    for part in toc["parts"]:
        pages = [entry["file"] for entry in part["chapters"]]
        folders = {page.split("/")[1] for page in pages if page.startswith("chapters/")}
        pages += [f"pages/errata/{name}" for name in PARTS if name in folders]
        pages = [page for page in pages if not page.startswith("pages/api/")]
        pages = [page for page in pages if page != BIBLIOGRAPHY] + [BIBLIOGRAPHY]
        found[slug(part["caption"])] = (str(part["caption"]), pages)
    return found


def printed(project: Project, chosen: str = "") -> Iterator[Path]:
    """Print the parts named in ``chosen``, or all, into ``_build/pdf``; yield each file."""
    known = parts(project)
    names = chosen.split() or list(known)
    for name in names:
        if name not in known:
            raise BookError(f"there is no part {name!r}; the parts are: {', '.join(known)}")
    site, folder = _built(project), project.build / "pdf"
    folder.mkdir(parents=True, exist_ok=True)
    with _window(site) as page:
        for name in names:
            title, pages = known[name]
            yield _print(page, title, [f"{p}.html" for p in pages], folder / f"{name}.pdf")


def _print(page: Any, title: str, pages: list[str], path: Path) -> Path:
    page.goto(f"{ORIGIN}/index.html")
    page.evaluate(files("signalbook").joinpath("print.js").read_text(), [title, pages])
    half = path.with_suffix(".new")
    page.pdf(
        path=str(half), format="A4", outline=True, tagged=True, display_header_footer=True,
        header_template="<span></span>", footer_template=FOOT,
        margin={"top": "16mm", "bottom": "18mm", "left": "16mm", "right": "16mm"},
    )  # fmt: skip
    os.replace(half, path)
    return path


class _window:
    """A page of Chromium for which the folder of the site is the whole web."""

    def __init__(self, site: Path) -> None:
        self.site = site

    def __enter__(self) -> Any:
        from playwright.sync_api import sync_playwright

        path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
        if not path:
            raise BookError(
                "no Chromium found: install `chromium` or name one in the variable CHROMIUM"
            )
        self.playwright = sync_playwright().start()
        self.browser = self.playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = self.browser.new_page(color_scheme="light")
        page.emulate_media(media="print", color_scheme="light")
        page.set_default_timeout(600_000)
        page.route("**/*", lambda route: route.fulfill(**_answer(self.site, route.request.url)))
        return page

    def __exit__(self, *_: object) -> None:
        self.browser.close()
        self.playwright.stop()


def _answer(site: Path, url: str) -> Mapping[str, Any]:
    """What the folder has for an address: a file, or that there is none."""
    name = url.removeprefix(f"{ORIGIN}/").split("?")[0].split("#")[0]
    path = site / name
    if not url.startswith(f"{ORIGIN}/") or not path.is_file():
        return {"status": 404, "body": ""}
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return {"status": 200, "content_type": kind, "body": path.read_bytes()}


def _built(project: Project) -> Path:
    if not (project.site / STAMP).is_file():
        raise BookError("there is no site yet: run `make book` first")
    return project.site
