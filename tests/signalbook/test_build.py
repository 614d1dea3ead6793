"""The build as its user meets it: what runs again, what a kill costs, what a failure says."""

import os
import signal
import time

A, B = "orthogonality/a", "kernels/b"


def two_chapters(book):
    book.chapter(A, "ORTH-X1")
    book.chapter(B, "KER-E5.1")
    return book


def test_only_what_changed_runs_again(book):
    two_chapters(book)
    assert "Executed 2 of 2" in book.run("book")
    assert "Executed 0 of 2" in book.run("book")

    source = book.root / "chapters" / f"{A}.md"
    source.write_text(source.read_text().replace("Prose of", "New prose of"))
    assert "Executed 0 of 2" in book.run("book")
    assert "New prose of" in book.page(A)

    profile = book.root / "profiles" / "fast" / f"{B}.yml"
    profile.parent.mkdir()
    profile.write_text("runs: 5  # enough to see the line\n")
    output = book.run("book")
    assert "Executed 1 of 2" in output
    assert B in output
    assert "enough to see the line" in book.page(B)

    source.write_text(
        source.read_text().replace("standard_normal(runs)", "standard_normal(2 * runs)")
    )
    assert "Executed 1 of 2" in book.run("book")


def test_order_and_workers_leave_no_trace(book):
    two_chapters(book)
    book.run("book", "--cores", "1")
    first = book.products()
    assert len(first) == 3

    book.toc([B, A])
    for path in (book.root / "_build").iterdir():
        os.rename(path, book.root / f"old-{path.name}")
    book.run("book", "--cores", "2")
    assert book.products() == first


def test_failure_shows_cell_and_keeps_the_rest(book):
    two_chapters(book)
    book.run("book")
    book.chapter(A, "ORTH-X1", code="raise RuntimeError('the sky fell')")
    output = book.run("book", code=1)
    assert "RuntimeError: the sky fell" in output
    assert "raise RuntimeError('the sky fell')" in output
    assert "the sky fell" in book.page(A)
    assert "ORTH-X1" not in {entry["id"] for entry in book.ledger()}
    assert "the sky fell" in book.run("book", code=1), "a failure does not go away by itself"

    book.chapter(A, "ORTH-X1")
    output = book.run("book")
    assert "Executed 1 of 2" in output
    assert "the sky fell" not in book.page(A)


def test_killed_kernel_and_time_limit(book):
    book.chapter(A, "ORTH-X1", code="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    book.chapter(B, "KER-E5.1", code="import time\ntime.sleep(60)", time_limit=3)
    output = book.run("book", code=1)
    assert "the kernel was killed" in output
    assert "a cell ran longer than its limit of 3 s" in output


def test_unexpected_verdict_fails_the_build(book):
    book.chapter(A, "ORTH-X1", expected="fails as printed")
    output = book.run("book", code=1)
    assert "ORTH-X1: expected 'fails as printed', found 'holds'" in output
    assert "expected" in book.page(A)


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


def test_figure_without_alt_text_is_refused(book):
    path = book.chapter(A, "ORTH-X1")
    path.write_text(path.read_text().replace("    alt: A random line.\n", "    alt: ''\n"))
    assert "figure without alt" in book.run("book", code=1)


def test_single_chapter_with_own_values(book):
    two_chapters(book)
    output = book.run("chapter", A, "--set", "runs=7 seed=3")
    assert "ORTH-X1" in output
    assert "holds" in output
    runs = list((book.root / "_build" / "runs").rglob("*.ipynb"))
    assert len(runs) == 1
    assert "runs = 7" in runs[0].read_text()


def test_record_is_drawn_from_and_marked_stale(book):
    two_chapters(book)
    book.run("paper", A)
    assert "own sizes is recorded: it was made on" in (book.run("book") and book.page(A))
    assert "stale" not in book.page(A)
    source = book.root / "chapters" / f"{A}.md"
    source.write_text(
        source.read_text().replace("fig, ax", "figure, ax").replace("(fig,", "(figure,")
    )
    book.run("book")
    assert "The record is stale" in book.page(A)


def test_pages_that_do_not_build_say_why(book):
    path = book.chapter(A, "ORTH-X1")
    text = path.read_text()
    path.write_text(text.replace("Prose of", "See [](lost.md). Prose of"))
    output = book.run("book", code=1)
    assert "the pages do not build" in output
    assert "lost" in output
    assert "rule site" not in output, "the engine's own chatter stays in its log"

    book.chapter(B, "KER-E5.1")
    path.write_text(text.replace("Prose of", "See [](../kernels/b.md). Prose of"))
    book.run("book")
    assert "../kernels/b.html" in book.page(A)


def test_standard_error_stays_off_the_page(book):
    book.chapter(
        A, "ORTH-X1", code="import sys\nprint('loading 7 %', file=sys.stderr)\nprint('shown')"
    )
    book.run("book")
    outputs = str([cell.get("outputs") for cell in book.executed(A)["cells"]])
    assert "shown" in outputs
    assert "loading" not in outputs
