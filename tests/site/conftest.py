"""A browser, the built site served on this machine, and the pages to look at.

What is needed and not there (the site, Chromium, npm) skips the tests with the reason; where the
variable CI is set it fails them.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from signalbook.project import Project
from tests.site.drawings import PHONE

AXE = "4.10.3"
WIDTHS = (PHONE, 1600)  # px
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]


def require(there: object, message: str) -> None:
    if not there:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a page and a width, so that a failure names both.

    The scopes sort the tests by width, then by page: a window serves a whole width, and a page is
    loaded once for all that is asked of it there.
    """
    if "html" in metafunc.fixturenames:
        folder = Project.find().site
        pages = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.html"))
        pages = [page for page in pages if not page.startswith("_static/")] or ["index.html"]
        metafunc.parametrize("html", pages, scope="module")
    if "width" in metafunc.fixturenames:
        metafunc.parametrize("width", WIDTHS, scope="session")


@pytest.fixture(scope="session")
def site() -> Path:
    folder = Project.find().site
    require((folder / ".complete").is_file(), "there is no site: run `make book` first")
    return folder


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    require(path, "no Chromium found: install `chromium` or name one in the variable CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Window:
    """A browser window that notes what a page loads, and what it must not do."""

    page: Page
    origin: str
    wrong: list[str] = field(default_factory=list)
    loaded: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._listen()

    def renew(self) -> None:
        """Go on in a new tab: Chromium hands every page of a tab the fonts that another needed."""
        old, self.page = self.page, self.page.context.new_page()
        self._listen()
        old.close()

    def _listen(self) -> None:
        self.page.on("request", lambda request: self._check_request(request.url))
        self.page.on("requestfinished", lambda r: self.loaded.add(self.file(r.url)))
        self.page.on("requestfailed", lambda r: self._check_failure(r.url, r.failure))
        self.page.on("pageerror", lambda error: self.wrong.append(f"script error: {error}"))
        self.page.on("console", lambda m: self._check_console(m.type, m.text))

    def open(self, path: str) -> Page:
        """Open a page of the site, unless it is open already, and wait until its maths is set."""
        address = f"{self.origin}/{path}"
        if self.page.url == address:
            return self.page
        self.wrong.clear()
        self.loaded.clear()
        self.page.goto(address)
        self.page.evaluate("() => window.MathJax?.startup?.promise?.then(() => null)")
        return self.page

    def file(self, url: str) -> str:
        """Where an address of the site lies in its folder."""
        return unquote(urlsplit(url.removeprefix(f"{self.origin}/")).path)

    def _check_request(self, url: str) -> None:
        if not url.startswith((f"{self.origin}/", "data:", "blob:")):
            self.wrong.append(f"request off the site: {url}")

    def _check_failure(self, url: str, why: str | None) -> None:
        if why != "net::ERR_ABORTED":  # the page was left while it still asked
            self.wrong.append(f"request failed ({why}): {url}")

    def _check_console(self, kind: str, text: str) -> None:
        if kind == "error":
            self.wrong.append(f"console error: {text}")


@pytest.fixture(scope="session")
def window(browser: Browser, server: str, site: Path, width: int) -> Iterator[Window]:
    """The site as it is visited: served to a wide screen, or as a folder of files on a phone."""
    phone = width == PHONE
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        has_touch=phone,
        color_scheme="light",
        # No transitions: a colour half-way between two themes is nobody's mistake.
        reduced_motion="reduce",
    )
    yield Window(context.new_page(), site.as_uri() if phone else server)
    context.close()


@pytest.fixture
def night(window: Window) -> Iterator[None]:
    """Night falls over the open page, until the end of the test."""
    window.page.emulate_media(color_scheme="dark")
    yield
    window.page.emulate_media(color_scheme="light")


@pytest.fixture
def desktop(browser: Browser, server: str) -> Iterator[Window]:
    """The served site in a fresh wide window."""
    with browser.new_context(viewport={"width": 1600, "height": 900}) as context:
        yield Window(context.new_page(), server)


@pytest.fixture(scope="session")
def folder(browser: Browser, site: Path) -> Iterator[Window]:
    """The site opened as a folder of files, with no server."""
    with browser.new_context(viewport={"width": 1600, "height": 900}) as context:
        yield Window(context.new_page(), site.as_uri())


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, fetched once with npm."""
    cache = Project.find().build / "axe"
    archive = cache / f"axe-core-{AXE}.tgz"
    if not archive.is_file():
        npm = shutil.which("npm")
        require(npm, "no npm found: install node and npm to check the site with axe-core")
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as own:  # workers may fetch it side by side
            command = [str(npm), "pack", f"axe-core@{AXE}", "--silent", "--pack-destination", "."]
            run = subprocess.run(command, cwd=own, capture_output=True, text=True)
            require(run.returncode == 0, f"npm cannot fetch axe-core {AXE}: {run.stderr.strip()}")
            os.replace(Path(own) / archive.name, archive)
    with tarfile.open(archive) as files:
        member = files.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()
