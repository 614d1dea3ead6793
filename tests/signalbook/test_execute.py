"""Builds that end cleanly: no process outlives them, no fault is silent, blamed or spread."""

import fcntl
import os
import signal

import psutil
import pytest

from signalbook import build, engine, execute
from signalbook.project import Project
from tests.signalbook.minibook import wait_for

pytestmark = pytest.mark.slow  # it starts interpreters, kernels, builds

A, B = "orthogonality/a", "kernels/b"

SLEEPS = """
import os, pathlib, time
pathlib.Path("kernel").write_text(str(os.getpid()))
time.sleep(300)
"""


@pytest.mark.parametrize(
    ("target", "number", "said"),
    [
        ("build", signal.SIGTERM, "stopped; what is finished stays"),
        ("build", signal.SIGINT, "stopped; what is finished stays"),
        ("build", signal.SIGKILL, "started"),
        ("engine", signal.SIGKILL, "error: Snakemake failed"),
    ],
)
def test_nothing_outlives_a_build(book, target, number, said):
    book.chapter(A, "ORTH-X1", first=SLEEPS)
    process = book.start("book", "--cores", "1")
    kernel = book.root / "kernel"
    wait_for(lambda: kernel.is_file() and kernel.read_text())
    below = psutil.Process(process.pid).children(recursive=True)
    assert int(kernel.read_text()) in [child.pid for child in below]
    (engine,) = psutil.Process(process.pid).children()
    os.kill(process.pid if target == "build" else engine.pid, number)
    assert said in process.communicate(timeout=60)[0]
    wait_for(lambda: not any(child.is_running() for child in below), seconds=30)


def test_an_interrupt_is_told_in_a_line(book):
    """It reaches the command and its kernel, as Ctrl-C does."""
    book.chapter(A, "ORTH-X1", first=SLEEPS)
    process = book.start("chapter", A)
    kernel = book.root / "kernel"
    wait_for(lambda: kernel.is_file() and kernel.read_text())
    for number in (int(kernel.read_text()), process.pid):
        os.kill(number, signal.SIGINT)
    said = process.communicate(timeout=60)[0]
    assert process.returncode in (1, 130), said
    assert "IPKernelApp" not in said
    assert "Traceback" not in said


def test_an_exception_while_watching_ends_engine_and_kernel(book, monkeypatch):
    book.chapter(A, "ORTH-X1", first=SLEEPS)
    project, kernel, below = Project(book.root), book.root / "kernel", []
    before = psutil.Process().children(recursive=True)

    def fail(watch):
        if kernel.is_file() and kernel.read_text():
            children = psutil.Process().children(recursive=True)
            below.extend(child for child in children if child not in before)
            raise ZeroDivisionError

    monkeypatch.setattr(engine.Watch, "look", fail)
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # those of the tests stay
    with pytest.raises(ZeroDivisionError):
        build.build(project, "fast", 1)
    assert int(kernel.read_text()) in [child.pid for child in below]
    wait_for(lambda: not any(child.is_running() for child in below), seconds=30)
    with (project.build / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises where the engine holds it


@pytest.mark.parametrize("cores", ["0", "-2"])
def test_cores(book, cores):
    book.chapter(A, "ORTH-X1")
    assert f"CORES must be 1 or more, got {cores}" in book.run("book", "--cores", cores, code=1)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys\nsys.exit(0)", "the chapter ended before its last cell"),
        ("import os\nos._exit(3)", "the kernel ended by itself, with exit code 3"),
        ("import os\nos.kill(os.getpid(), 11)", "the kernel was ended by SIGSEGV"),
        (
            "import os\nos.kill(os.getpid(), 15)",
            "the kernel was ended from elsewhere, by SIGTERM",
        ),
        ("for _ in range(50):\n    print('x' * 1_000_000)", "its outputs exceed 10 MB"),
    ],
)
def test_how_a_chapter_ends_is_said(book, code, message):
    book.chapter(A, "ORTH-X1", first=code)
    output = book.run("chapter", A, code=1)
    assert f"{A} failed: {message}" in output
    assert code.splitlines()[-1] in output


LATE = """
import time
def wait_once():
    kernel.post_handler_hook = hook
    time.sleep(5)
    hook()
kernel = get_ipython().kernel
hook, kernel.post_handler_hook = kernel.post_handler_hook, wait_once
"""


def test_a_busy_machine_may_be_late_with_what_a_cell_shows(book, monkeypatch):
    """The kernel says that a cell is done seconds after its answer; papermill would wait four."""
    book.chapter(A, "ORTH-X1", first=LATE)
    project, run = Project(book.root), execute.papermill.execute_notebook
    assert execute.execute(project, A, {}).notebook.cells
    monkeypatch.setattr(
        execute.papermill,
        "execute_notebook",
        lambda *given, **options: run(*given, **options | {"iopub_timeout": 1}),
    )
    with pytest.raises(execute.ChapterError, match="what a cell has shown did not arrive"):
        execute.execute(project, A, {})


IDS = ["ORTH-L6", "ORTH-L7", "ORTH-L8", "ORTH-L9", "RANK-D2", "RANK-D3", "RANK-D4"]


def test_broken_chapters_are_named_and_the_others_go_on(book):
    book.chapter(A, "ORTH-X1")
    broken = {
        "kernels/front": ("  time_limit:", "  time_limit: [", "front.md is not a MyST notebook"),
        "kernels/list": (
            "    ID: holds",
            "    - ID",
            "'settles' must be a mapping, got ['ORTH-L7']",
        ),
        "kernels/cell": (":tags: [parameters]\n", "", "has 0 cells tagged `parameters`"),
        "kernels/syntax": ("values = ", "values = = ", "SyntaxError: invalid syntax"),
        "kernels/kernel": ("kernelspec:", "other:", "copy the `kernelspec` of another chapter"),
        "kernels/start": ("stream = start(", "# start(", "does not check its parameters"),
        "kernels/latin": ("Prose of", "\xe0 la prose of", "latin.md is not text in UTF-8"),
    }
    for id, (name, (old, new, _)) in zip(IDS, broken.items(), strict=True):
        path = book.chapter(name, id)
        old = old.replace("ID", id)
        assert old in path.read_text()
        text = path.read_text().replace(old, new.replace("ID", id))
        path.write_bytes(text.encode("latin-1" if "\xe0" in text else "utf-8"))
    profiles = {
        B: ("KER-E5.1", "runs = 5\n", "expected `name: value  # reason`"),
        "kernels/torn": ("RANK-D1", "runs: [5  # few\n", "torn.yml line 1: expected"),
    }
    (book.root / "profiles" / "fast" / "kernels").mkdir()
    for name, (id, text, _) in profiles.items():
        book.chapter(name, id)
        (book.root / "profiles" / "fast" / f"{name}.yml").write_text(text)

    output = book.run("book", "--cores", "2", code=1)
    for name, (_, _, message) in (broken | profiles).items():
        (told,) = [line for line in output.splitlines() if line.startswith(f"WRONG  {name}: ")]
        assert message in told
    assert [entry["chapter"] for entry in book.ledger()] == [A]
    assert "Chapter list" in book.page("kernels/list")
    assert "latin.md is not text in UTF-8" in book.page("kernels/latin")
