"""What makes a build fail, and what the site's folder holds."""

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from signalbook import files, site
from signalbook.errors import BookError
from signalbook.ledger import Ledger
from signalbook.project import Project
from signalbook.site import problems


def test_checks_that_fail_by_chance_too_often(book):
    book.toc([])
    checks = [{"error": 0.0004}, {"error": 0.0007}, {"error": 0}]
    told = problems(Project(book.root), Ledger([{"checks": checks}]))
    assert any("sum to 0.0011, allowed are 0.001" in text for text in told)


def test_what_is_not_executed_or_failed_is_told(book):
    book.chapter("orthogonality/a", "ORTH-X1")
    book.chapter("kernels/b", "KER-E5.1")
    project = Project(book.root)
    files.write(project.failure("kernels/b"), '{"error": "the sky fell"}')
    ledger = Ledger([], {"orthogonality/a": ["settled twice"]})
    assert problems(project, ledger) == [
        "orthogonality/a: settled twice",
        "orthogonality/a: not executed",
        "kernels/b: the sky fell",
    ]


def test_the_sites_folder_mirrors_its_files(tmp_path):
    files.write(tmp_path / "old" / "page.html", "gone")
    files.write(tmp_path / "kept.html", "same")
    before = (tmp_path / "kept.html").stat().st_mtime_ns
    site._mirror([(Path("kept.html"), b"same"), (Path("a/new.html"), b"new")], tmp_path)
    found = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert found == {"kept.html", "a/new.html"}
    assert (tmp_path / "kept.html").stat().st_mtime_ns == before


class Pages:
    """A few sources, and whether a run found the caches of the last one."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.project, self.sources = SimpleNamespace(build=root, root=root), root / "stage"
        self.cache = root / "sphinx" / "cache"
        self.code, self.said = 0, ""
        for name in ("_config.yml", "_toc.yml", "assets/style.css", "index.md", "page.md"):
            self.edit(name, name)
        monkeypatch.setattr(site.subprocess, "run", self._sphinx)

    def edit(self, name: str, text: str, seconds: float = 0) -> None:
        """Write a source, with a clock that is ahead by so much."""
        files.write(self.sources / name, text)
        moment = (self.sources / name).stat().st_mtime + seconds
        os.utime(self.sources / name, (moment, moment))

    def _sphinx(self, *_: object, **__: object) -> SimpleNamespace:
        self.kept = self.cache.is_file()
        files.write(self.cache, "read")
        return SimpleNamespace(returncode=self.code, stdout=self.said)

    def run(self) -> bool:
        site._sphinx(self.project, self.sources)
        return self.kept


@pytest.fixture
def pages(tmp_path, monkeypatch):
    made = Pages(tmp_path, monkeypatch)
    assert not made.run()
    return made


def test_the_caches_are_kept_where_a_page_changes(pages):
    assert pages.run()
    time.sleep(0.02)  # a file's time has no finer steps
    pages.edit("page.md", "other words")
    pages.edit("new.md", "a new page")
    (pages.sources / "index.md").unlink()
    assert pages.run()


@pytest.mark.parametrize("name", ["page.md", "new.md"])
def test_a_page_that_looks_older_than_its_last_reading(pages, name):
    """The clock was ahead when the pages were read, and was set back before this one changed."""
    assert pages.run(), "which reads no page anew"
    pages.edit(name, "other words", seconds=-60)
    assert not pages.run()
    assert pages.run(), "now it is read"


def test_a_page_that_changes_after_two_runs(pages, monkeypatch):
    """The first with a clock that was ahead; the second read nothing."""
    now = time.time()
    monkeypatch.setattr(site.time, "time", lambda: 4e9)
    pages.run()
    monkeypatch.setattr(site.time, "time", lambda: 3e9)
    assert pages.run()
    pages.edit("page.md", "other words", seconds=3.5e9 - now)
    assert not pages.run()


def test_a_page_that_only_looks_old(pages):
    pages.edit("page.md", "page.md", seconds=-60)
    assert pages.run()


def test_a_clock_that_was_set_back_while_the_pages_were_read(pages, monkeypatch):
    moments = iter([4e9, 3e9])
    monkeypatch.setattr(site.time, "time", lambda: next(moments))
    pages.run()
    monkeypatch.undo()
    state = json.loads((pages.project.build / "sphinx.state").read_text())
    assert state["until"] == 4e9


@pytest.mark.parametrize("name", ["_config.yml", "_toc.yml", "assets/style.css", "assets/new.css"])
def test_a_new_frame_drops_the_caches(pages, name):
    time.sleep(0.02)
    pages.edit(name, "other")
    assert not pages.run()


def test_a_run_that_failed_drops_the_caches(pages):
    pages.code = 1
    with pytest.raises(BookError, match="the pages do not build"):
        pages.run()
    pages.code = 0
    assert not pages.run()


def test_pages_that_find_no_room_say_what_to_do(pages):
    pages.code, pages.said = 1, "OSError: [Errno 28] No space left on device"
    with pytest.raises(BookError, match=r"cannot write .*sphinx: No space left on device; free"):
        pages.run()
    pages.said = "page.md:1: WARNING: no such label"
    with pytest.raises(BookError, match=r"the pages do not build:\n  page\.md:1"):
        pages.run()
    assert (pages.project.build / "sphinx.log").read_text() == pages.said
