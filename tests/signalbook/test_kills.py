"""Faults of the machine: kills at random moments, full disks, clocks that jump, two at once.

However a build was disturbed, the next one that is left alone gives what an undisturbed build
gives, byte for byte: the ledger, the data of the figures, the whole site. So does every disturbed
build that says it went well.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.promises import note
from tests.signalbook.minibook import ROOT, MiniBook, empty, once

pytestmark = pytest.mark.slow  # it starts interpreters, kernels, builds

A, B = "orthogonality/a", "kernels/b"
KILLS = int(os.environ.get("SIGNALBOOK_KILLS", "5"))
MINUTES = float(os.environ.get("SIGNALBOOK_MINUTES", "60"))  # for the kills, at most
SEED = 15  # of the moments and of what is killed

#: The processes of a build, each by a word of its command.
PROCESSES = {
    "the command": "signalbook book",
    "the engine": "-m snakemake",
    "a job": "signalbook execute",
    "a kernel": "ipykernel_launcher",
    "the pages": "jupyter-book build",
}
CHAPTERS = {A: "ORTH-X1", B: "KER-E5.1"}


def reduce(book: MiniBook, reduced: bool) -> None:
    """Give the first chapter a profile, or take it away."""
    profile = book.root / "profiles" / "fast" / f"{A}.yml"
    profile.parent.mkdir(exist_ok=True)
    profile.unlink(missing_ok=True)
    if reduced:
        profile.write_text("runs: 5  # enough to see the line\n")


def written(root: Path) -> MiniBook:
    book = empty(root)
    for name, id in CHAPTERS.items():
        book.chapter(name, id, code="import time\ntime.sleep(0.5)")
    return book


def made(book: MiniBook) -> dict[str, bytes]:
    return book.products() | book.site()


@pytest.fixture
def right(tmp_path_factory) -> dict[bool, dict[str, bytes]]:
    """What undisturbed builds give, with the document's values and with the reduced."""

    def make(root: Path) -> None:
        root.mkdir()
        for reduced in (False, True):
            book = written(root / str(reduced))
            reduce(book, reduced)
            book.run("book", "--cores", "2")

    folder = once(tmp_path_factory, "undisturbed", make)
    found = {reduced: made(MiniBook(folder / str(reduced))) for reduced in (False, True)}
    assert found[False] != found[True]
    return found


def find(build: subprocess.Popen, word: str) -> psutil.Process | None:
    """The process of a running build whose command has the word."""
    try:
        root = psutil.Process(build.pid)
        for process in (root, *root.children(recursive=True)):
            if word in " ".join(process.cmdline()):
                return process
    except psutil.Error:
        pass
    return None


def kill(build: subprocess.Popen, word: str, delay: float) -> bool:
    """End the process some time after it is there; False where the build ended before."""
    while build.poll() is None:
        if process := find(build, word):
            time.sleep(delay)
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
            return True
        time.sleep(0.02)
    return False


def alone(book: MiniBook) -> None:
    """Wait until nothing of a killed build is left: it ends by itself."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not any(str(book.root) in str(_folder(p)) for p in psutil.process_iter()):
            return
        time.sleep(0.1)
    raise AssertionError("a process outlived its build")


def _folder(process: psutil.Process) -> str:
    try:
        return "" if process.pid == os.getpid() else process.cwd()
    except psutil.Error:
        return ""


def test_kills(tmp_path, right):
    chance = random.Random(SEED)
    book, reduced = written(tmp_path / "book"), False
    killed = dict.fromkeys(PROCESSES, 0)
    changes, well = 0, 0
    ends = time.monotonic() + 60 * MINUTES
    while sum(killed.values()) < KILLS and time.monotonic() < ends:
        if chance.random() < 0.3:
            reduced, changes = not reduced, changes + 1
            reduce(book, reduced)
        build = book.start("book", "--cores", "2")
        while build.poll() is None and sum(killed.values()) < KILLS:
            fewest = min(killed.values())
            name = chance.choice([name for name, count in killed.items() if count == fewest])
            killed[name] += kill(build, PROCESSES[name], chance.expovariate(1))
        said = build.communicate(timeout=300)[0]
        assert "Traceback" not in said
        alone(book)
        if build.returncode == 0:
            assert made(book) == right[reduced], "what says that it went well did"
            well += 1
    book.run("book", "--cores", "2")
    assert made(book) == right[reduced]
    for name, count in killed.items():
        note(f"Kills of {name} at random moments", count)
    note("Changes of parameters between them", changes)


def test_clean_during_a_build(tmp_path, right):
    book = written(tmp_path / "book")
    build = book.start("book", "--cores", "2")
    assert kill(build, PROCESSES["a kernel"], 0.2)
    shutil.copy(ROOT / "Makefile", book.root)
    subprocess.run(["make", "clean"], cwd=book.root, check=True, capture_output=True)
    said = build.communicate(timeout=300)[0]
    assert build.returncode == 1
    assert said.endswith("error: _build was removed during the build: run the same command again\n")
    alone(book)
    book.run("book", "--cores", "2")
    assert made(book) == right[False]
    note("Builds whose folder was removed under them")


def test_two_builds_at_once(tmp_path, right):
    book = written(tmp_path / "book")
    both = [book.start("book", "--cores", "1") for _ in range(2)]
    said = [build.communicate(timeout=600)[0] for build in both]
    assert [build.returncode for build in both] == [0, 0], said
    assert sum("another build of this book is still running" in text for text in said) == 1
    assert made(book) == right[False]
    note("Pairs of builds at once")


#: Bytes with which a build ends before its first job, in a job, and as the pages are made.
ROOMS = (4096, 40_960, 4_194_304)
#: The same where only the size of a file can be bounded.
LARGEST = (0, 30_000)


@pytest.fixture
def disk(tmp_path):
    """A small disk for what a book makes, filled up for real; None where none can be mounted."""
    folder = tmp_path / "book" / "_build"
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOMS[0]}", "tmpfs", str(folder)]
    mounted = shutil.which("mount") and not subprocess.run(mount, capture_output=True).returncode
    yield folder if mounted else None
    if mounted:
        subprocess.run(["umount", "--lazy", folder], check=True)


@contextmanager
def room_for(size: int, disk: Path | None) -> Iterator[str]:
    """Leave so many bytes to what is started within; tell what the system says when they are full.

    Only root can mount a disk. For others no file may become larger than that.
    """
    if disk is not None:
        subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)
        yield "No space left on device"
        return
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limit[1]))
    try:
        yield "File too large"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)


def test_a_disk_without_room(disk, tmp_path, right):
    book = written(tmp_path / "book")
    for size in ROOMS if disk else LARGEST:
        with room_for(size, disk) as full:
            # Old Pythons keep bytecode that was cut off, and trip over it ever after.
            build = book.start("book", "--cores", "2", PYTHONDONTWRITEBYTECODE="1")
        said = build.communicate(timeout=300)[0]
        assert build.returncode == 1, said
        assert "Traceback" not in said
        assert f"{full}; free some space" in said
        alone(book)
        note("Builds on a full disk" if disk else "Builds with a limit on the size of files")
    if disk:
        subprocess.run(["mount", "-o", "remount,size=1g", disk], check=True)
    book.run("book", "--cores", "2")
    assert made(book) == right[False]


AHEAD = """
import time
now, now_ns = time.time, time.time_ns
time.time, time.time_ns = lambda: now() + 86_400 * 400, lambda: now_ns() + 86_400 * 400 * 10**9
"""


def test_a_clock_that_jumps(tmp_path, right):
    """What was made looks as if it were made in the future, then years ago."""
    book = written(tmp_path / "book")
    (tmp_path / "ahead").mkdir()
    (tmp_path / "ahead" / "sitecustomize.py").write_text(AHEAD)
    book.run("book", "--cores", "2", PYTHONPATH=str(tmp_path / "ahead"))
    assert json.loads((book.root / "_build" / "sphinx.state").read_text())["until"] > time.time()
    for reduced, days in ((True, 400), (False, -3000)):
        date_files(book, days)
        reduce(book, reduced)
        assert "Executed 1 of 2" in book.run("book", "--cores", "2")
        assert made(book) == right[reduced]
        note("Jumps of the clock")


def date_files(book: MiniBook, days: int) -> None:
    for path in (book.root / "_build").rglob("*"):
        if path.is_file():
            moment = path.stat().st_mtime + 86_400 * days
            os.utime(path, (moment, moment))


def test_the_processes_have_these_names(tmp_path):
    """So that a new name of one of them does not make the kills miss it."""
    book = written(tmp_path / "book")
    build = book.start("book", "--cores", "1")
    for word in PROCESSES.values():
        while build.poll() is None and not find(build, word):
            time.sleep(0.02)
        assert build.poll() is None, word
    os.kill(build.pid, signal.SIGTERM)
    build.communicate(timeout=60)
