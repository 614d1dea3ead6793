"""A chapter for several seeds at once: what a kernel finds, and what is told when one fails."""

import os
import signal

import psutil
import pytest

from signalbook import together
from signalbook.carry import shown
from signalbook.execute import ChapterError, execute
from signalbook.keys import wanted
from signalbook.project import Project
from signalbook.source import Source
from tests.signalbook.minibook import wait_for

A = "orthogonality/a"


@pytest.fixture
def project(book):
    return Project(book.root)


def values(project):
    return wanted(project, A, "fast")["parameters"]


def found(project, seeds, **options):
    return dict(together.execute_seeds(project, A, values(project), seeds, **options))


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["", "runs: 7  # fewer\n"])
def test_a_fork_finds_what_a_kernel_finds(book, project, profile):
    book.chapter(A, "ORTH-X1", code="display(values.max())\nprint(seed)\nprint(runs)")
    project.profile("fast", A).parent.mkdir()
    project.profile("fast", A).write_text(profile)
    runs = found(project, [2, 0, 1], side_by_side=2)
    assert set(runs) == {0, 1, 2}
    assert runs[0].ran != {}
    for seed in (0, 2):  # the default's, for which papermill writes no value, and another
        alone = execute(project, A, values(project) | {"seed": seed})
        assert shown(runs[seed].notebook.cells) == shown(alone.notebook.cells)
        assert runs[seed].ran == alone.ran
    assert len({shown(run.notebook.cells) for run in runs.values()}) == 3
    assert all(0 < run.cpu_seconds < 60 and 50 < run.memory_mb < 2000 for run in runs.values())


@pytest.mark.slow
def test_what_ends_one_seed_ends_no_other(book, project):
    fails = "assert seed != 1, 'one is odd'"
    killed = "import os, sys\nif seed == 2: os.kill(os.getpid(), 9)"
    book.chapter(A, "ORTH-X1", code=f"{fails}\n{killed}\nif seed == 3: sys.exit()")
    runs = found(project, [1, 2, 3, 4])
    assert all(isinstance(runs[seed], ChapterError) for seed in (1, 2))
    assert runs[1].failure.error == "AssertionError: one is odd"
    assert runs[1].__cause__
    assert runs[2].failure.error.startswith("the kernel was killed")
    assert not runs[2].__cause__
    assert isinstance(runs[3], ChapterError), "it did not come to its end"
    assert not isinstance(runs[4], ChapterError)


SLEEPS = """
import os, pathlib, time
if seed:
    pathlib.Path("fork").write_text(str(os.getpid()))
    time.sleep(300)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_no_fork_outlives_the_command(book, number):
    book.chapter(A, "ORTH-X1", code=SLEEPS)
    process, fork = book.start("seeds", "--count", "1"), book.root / "fork"
    wait_for(lambda: fork.is_file() and fork.read_text())
    below = psutil.Process(process.pid).children(recursive=True)
    assert int(fork.read_text()) in [child.pid for child in below]
    os.kill(process.pid, number)
    process.communicate(timeout=60)
    wait_for(lambda: not any(child.is_running() for child in below), seconds=30)


@pytest.mark.slow
def test_what_ends_all_is_told_for_each(book, project):
    book.chapter(A, "ORTH-X1", first="import nothing_of_this_name")
    runs = found(project, [1, 2])
    assert all("nothing_of_this_name" in run.failure.error for run in runs.values())
    book.chapter(A, "ORTH-X1", first="import os; os._exit(7)")
    runs = found(project, [1, 2])
    assert all("exit code 7" in run.failure.error for run in runs.values())
    assert not any(run.__cause__ for run in runs.values())


def test_cells_that_read_no_parameter_are_shared(book):
    path = book.chapter(A, "ORTH-X1", first="import math")
    cells = [cell.source for cell in Source(path).code]
    assert together._before_the_values(Source(path)) == 2
    assert cells[1] == "import math"
    path = book.chapter(A, "ORTH-X1", first="import math\nmost = 2 * runs")
    assert together._before_the_values(Source(path)) == 1
