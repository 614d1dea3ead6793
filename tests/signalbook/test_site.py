"""What makes a build fail, and what the site's folder holds."""

from pathlib import Path

from signalbook import files, site
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
