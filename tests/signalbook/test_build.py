"""The build as its user meets it: what runs again, what a kill costs, what a failure says."""

import json
import os
import signal
import sys
import time

import pytest

from signalbook.build import _watch
from signalbook.project import Project
from tests.signalbook.minibook import empty

pytestmark = pytest.mark.slow  # it starts interpreters, kernels, builds

A, B = "orthogonality/a", "kernels/b"


def changed(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def source(book, name):
    return book.root / "chapters" / f"{name}.md"


def test_only_what_changed_runs_again(built):
    assert "Executed 0 of 2" in built.run("book")

    changed(source(built, A), "Prose of", "New prose of")
    profile = built.root / "profiles" / "fast" / f"{B}.yml"
    profile.parent.mkdir()
    profile.write_text("runs: 5  # enough to see the line\n")
    output = built.run("book")
    assert "Executed 1 of 2" in output
    assert f"{B} done" in output
    assert "New prose of" in built.page(A)
    assert "enough to see the line" in built.page(B)

    changed(source(built, A), "standard_normal(runs)", "standard_normal(2 * runs)")
    output = built.run("book")
    assert "Executed 1 of 2" in output
    assert f"{A} done" in output


def test_order_and_workers_leave_no_trace(built):
    first = built.products()
    figures = {name.rpartition("/")[2] for name in first}
    assert {"ledger.json", "ledger.csv"} < figures
    assert len(first) == 4, "two figures as well"

    built.toc([B, A])
    for path in (built.root / "_build").iterdir():
        os.rename(path, built.root / f"old-{path.name}")
    assert "Executed 2 of 2" in built.run("book", "--cores", "1")
    assert built.products() == first


def test_failure_shows_cell_and_keeps_the_rest(built):
    clean = built.site()
    built.chapter(A, "ORTH-X1", first="raise RuntimeError('the sky fell')")
    output = built.run("book", code=1)
    assert "RuntimeError: the sky fell" in output
    assert "raise RuntimeError('the sky fell')" in output
    assert "the sky fell" in built.page(A)
    assert "ORTH-X1" not in {entry["id"] for entry in built.ledger()}
    assert "the sky fell" in built.run("book", code=1), "a failure does not go away by itself"

    built.chapter(A, "ORTH-X1")
    output = built.run("book")
    assert "Executed 1 of 2" in output
    assert "the sky fell" not in built.page(A)
    mended = built.site()
    assert sorted(mended) == sorted(clean)
    assert [name for name in clean if mended[name] != clean[name]] == [], "no trace of the failure"


def test_killed_kernel_and_time_limit(book):
    book.chapter(A, "ORTH-X1", first="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    book.chapter(B, "KER-E5.1", first="import time\ntime.sleep(60)", time_limit=3)
    output = book.run("book", code=1)
    assert "the kernel was killed" in output
    assert "a cell ran longer than its limit of 3 s" in output


def test_verdicts_other_than_the_declared_ones_fail_the_build(built):
    changed(source(built, A), "ORTH-X1: holds", "ORTH-X1: fails as printed")
    changed(source(built, B), "KER-E5.1: holds", "KER-E5.1: holds\n    KER-D5.3: holds")
    output = built.run("book", code=1)
    assert "Executed 0 of 2" in output, "what is declared changes no number"
    assert "ORTH-X1: expected 'fails as printed', found 'holds'" in output
    assert "KER-D5.3: expected 'holds', but no claim of the chapter settles it" in output
    assert "expected" in built.page(A)


def test_killed_build_ends_right_the_next_time(book):
    book.chapter(A, "ORTH-X1")
    book.chapter(B, "KER-E5.1", code="import time\ntime.sleep(3)")
    process = book.start("book", "--cores", "1")
    done = book.root / "_build" / "executed" / f"{A}.ipynb"
    deadline = time.monotonic() + 60
    while not done.is_file() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    finished = done.read_bytes()

    output = book.run("book")
    assert "holds" in output
    assert done.read_bytes() == finished
    assert {entry["id"] for entry in book.ledger()} == {"ORTH-X1", "KER-E5.1"}
    assert (book.root / "_build" / "site" / ".complete").is_file()


def test_a_training_may_end_while_its_progress_is_read(book, monkeypatch):
    book.chapter(A, "ORTH-X1")
    progress = _watch(Project(book.root), "fast", 1).progress
    monkeypatch.setattr("pathlib.Path.is_file", lambda _: True)  # it was there, and is gone
    assert progress(A) == ""
    Project(book.root).progress(A).parent.mkdir(parents=True)
    Project(book.root).progress(A).write_text("net, step 7 of 9")
    assert progress(A) == ": net, step 7 of 9"


def test_figure_without_alt_text_is_refused(built):
    changed(source(built, A), "    alt: A random line.\n", "    alt: ''\n")
    assert "figure without alt" in built.run("book", code=1)


def test_single_chapter_with_own_values(book):
    book.chapter(A, "ORTH-X1")
    output = book.run("chapter", A, "--set", "runs=7 seed=3")
    assert "ORTH-X1" in output
    assert "holds" in output
    runs = list((book.root / "_build" / "runs").rglob("*.ipynb"))
    assert len(runs) == 1
    assert "runs = 7" in runs[0].read_text()


def test_single_chapter_is_held_to_its_declared_verdicts(book):
    book.chapter(A, "ORTH-X1", expected="misprint")
    assert f"{A}: ORTH-X1: expected 'misprint', found 'holds'" in book.run("chapter", A, code=1)
    book.run("chapter", A, "--set", "runs=7")  # own values may give other verdicts


def test_record_is_drawn_from_and_marked_stale(built):
    built.run("paper", A)
    assert "own sizes is recorded: it was made on" in (built.run("book") and built.page(A))
    assert "stale" not in built.page(A)
    changed(source(built, A), "fig, ax", "figure, ax")
    changed(source(built, A), "(fig,", "(figure,")
    built.run("book")
    assert "The record is stale" in built.page(A)


def test_pages_that_do_not_build_say_why(built):
    changed(source(built, A), "Prose of", "See [](lost.md). Prose of")
    output = built.run("book", code=1)
    assert "the pages do not build" in output
    assert "lost" in output
    assert "rule site" not in output, "the engine's own chatter stays in its log"

    changed(source(built, A), "lost.md", "../kernels/b.md")
    built.run("book")
    assert "../kernels/b.html" in built.page(A)


def test_standard_error_stays_off_the_page(book):
    book.chapter(
        A, "ORTH-X1", code="import sys\nprint('loading 7 %', file=sys.stderr)\nprint('shown')"
    )
    book.run("chapter", A)
    (run,) = (book.root / "_build" / "runs").rglob("*.ipynb")
    outputs = str([cell.get("outputs") for cell in json.loads(run.read_text())["cells"]])
    assert "shown" in outputs
    assert "loading" not in outputs


def test_a_checkout_in_a_folder_of_any_name(tmp_path):
    root = tmp_path / "two words; $(touch made) `touch made` 'quoted'"
    root.mkdir()
    (root / "the environment").symlink_to(sys.prefix)
    book = empty(root / "a book")
    book.python = str(root / "the environment" / "bin" / "python")
    book.chapter(A, "ORTH-X1")
    assert "Executed 1 of 1" in book.run("book", "--cores", "1")
    assert "holds" in book.page(A)
    assert "ORTH-X1" in book.run("chapter", A, "--set", "runs=7")
    assert list(tmp_path.rglob("made")) == []
