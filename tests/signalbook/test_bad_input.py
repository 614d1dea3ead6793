"""Every wrong input gets one message that names the thing and the remedy."""

import errno
import os
import subprocess
import sys

import pytest

from signalbook import files, keys
from signalbook.errors import BookError
from signalbook.inventory import rows
from signalbook.ledger import collect
from signalbook.project import Project
from signalbook.site import problems
from signalbook.source import Source

pytestmark = pytest.mark.slow  # it starts interpreters, kernels, builds

A, B = "orthogonality/a", "kernels/b"


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("bogus=1", "unknown parameter 'bogus'; there are: runs: int, device: str, seed: int"),
        ("runs=many", "parameter runs must be int, got 'many'"),
        ("runs=2.5", "parameter runs must be int, got 2.5"),
        ("runs", "parameters are given as name=value words, got 'runs'"),
        ("device=quantum", "device 'quantum' is not there; there are: cpu"),
    ],
)
def test_parameters(book, assignment, message):
    book.chapter(A, "ORTH-X1")
    assert message in book.run("chapter", A, "--set", assignment, code=1)


def test_papermill_refuses_an_unknown_parameter_too(book, tmp_path):
    book.chapter(A, "ORTH-X1")
    command = [sys.executable, "-m", "papermill", f"jupytext://chapters/{A}.md"]
    run = subprocess.run(
        [*command, str(tmp_path / "out.ipynb"), "-p", "bogus", "1"],
        cwd=book.root, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode != 0
    assert "unknown parameter 'bogus'; there are: runs: int" in run.stderr


def test_unknown_chapter(book):
    book.chapter(A, "ORTH-X1")
    assert f"there is no chapter 'x/y'; the chapters are: {A}" in book.run("chapter", "x/y", code=1)


def test_chapter_outside_the_toc(book):
    book.chapter(A, "ORTH-X1")
    book.chapter(B, "KER-E5.1")
    book.toc([A])
    with pytest.raises(BookError, match=f"chapters/{B}.md is not in _toc.yml"):
        _ = Project(book.root).chapters


def test_toc_entry_without_file(book):
    book.chapter(A, "ORTH-X1")
    book.toc([A, "kernels/lost"])
    with pytest.raises(BookError, match=r"no chapters/kernels/lost\.md"):
        _ = Project(book.root).chapters


def test_missing_parameters_cell(book):
    path = book.chapter(A, "ORTH-X1")
    path.write_text(path.read_text().replace(":tags: [parameters]\n", ""))
    with pytest.raises(BookError, match="has 0 cells tagged `parameters`"):
        _ = Source(path).parameters


@pytest.mark.parametrize("line", ["runs = 20", "runs: dict = {}", "runs: int = 'x'", "import os"])
def test_ill_formed_parameters_cell(book, line):
    path = book.chapter(A, "ORTH-X1")
    path.write_text(path.read_text().replace("runs: int = 20", line))
    with pytest.raises(BookError, match=r"a\.md"):
        _ = Source(path).parameters


def test_unknown_front_matter(book):
    path = book.chapter(A, "ORTH-X1")
    path.write_text(path.read_text().replace("  time_limit:", "  timelimit:"))
    with pytest.raises(BookError, match="unknown front matter 'timelimit'"):
        _ = Source(path).settles


def test_profile_without_reason(book):
    book.chapter(A, "ORTH-X1")
    profile = book.root / "profiles" / "fast" / f"{A}.yml"
    profile.parent.mkdir()
    profile.write_text("runs: 5\n")
    assert "expected `name: value  # reason`" in book.run("chapter", A, code=1)


def test_ids_twice(built):
    built.chapter(B, "ORTH-X1")
    project = Project(built.root)
    keys.prepare(project, "fast")
    built.run("execute", B)
    assert problems(project, collect(project)) == [
        f"{B}: ORTH-X1 is settled twice, here and in {A}: keep one of them"
    ]


def test_an_unknown_id(book):
    book.chapter(A, "ORTH-X99")
    said = book.run("chapter", A, code=1)
    assert "a.md settles ORTH-X99, which is not in the inventory" in said


def test_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    files.replace(path, b"old")

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BookError, match="No space left on device; free some space"):
        files.replace(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_no_book_here(tmp_path):
    with pytest.raises(BookError, match="no book at"):
        Project.find(tmp_path)


def test_nothing_executed_is_an_empty_ledger(book):
    book.chapter(A, "ORTH-X1")
    ledger = collect(Project(book.root))
    assert ledger.entries == []
    assert ledger.counts()["still to come"] == len(rows())


def test_a_slip_in_a_proof_leaves_the_verdict_of_the_statement(book):
    path = book.chapter(A, "ORTH-X1")
    text = path.read_text()
    claim = text[text.index("settle(\n") : text.index("```", text.index("settle(\n"))]
    slip = claim.replace("below, over", "lambda run: below(run, 0.0), over").replace(
        "found=", 'repaired=at_most_one(below, over=[{"run": 0}]), repair="Nine.",\n'
        '    severity="constant", in_proof="the last line", found='
    )  # fmt: skip
    misprint = 'misprint("ORTH-X1", where="a", printed="<b>", should="c", because="d", '
    misprint += "in_proof=True)"
    cells = "".join(f"\n```{{code-cell}} ipython3\n{code}\n```\n" for code in (slip, misprint))
    path.write_text(text.replace("import settle", "import misprint, settle") + cells)
    book.run("book")
    (entry,) = book.ledger()
    assert entry["verdict"] == "holds"
    assert [claim["verdict"] for claim in entry["checks"]] == [
        "holds",
        "fails as printed",
        "misprint",
    ]
    site = book.root / "_build" / "site" / "pages"
    errata = (site / "errata" / "orthogonality.html").read_text()
    assert "the last line" in errata
    assert "&lt;b&gt;" in errata
    assert "slip beside ORTH-X1" in (site / "ledger.html").read_text()
