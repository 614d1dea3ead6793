"""Old numbers never pass for new, and what did not change is not run again."""

import json
import os
import shutil
import time

import pytest

from signalbook import fingerprint, keys
from signalbook.costs import estimate
from signalbook.engine import states_below
from signalbook.files import read_json
from signalbook.ledger import collect
from signalbook.project import Project
from tests.signalbook.minibook import once

pytestmark = pytest.mark.slow  # it starts interpreters, kernels, builds

A = "orthogonality/a"

#: With its 20 runs the chapter waits for a file, and takes a module of the library after that.
WAITS = """
import pathlib, time
while runs == 20 and not pathlib.Path("go").exists():
    time.sleep(0.05)
import signalprop.clusters
"""


@pytest.fixture
def own(book, monkeypatch):
    """A book with sources of its own, and a chapter of it."""
    (book.root / "src").unlink()
    shutil.copytree(
        fingerprint.SOURCES, book.root / "src", ignore=shutil.ignore_patterns("__pycache__")
    )
    monkeypatch.setattr(fingerprint, "SOURCES", (book.root / "src").resolve())
    monkeypatch.setenv("PYTHONPATH", str(book.root / "src"))
    book.chapter(A, "ORTH-X1", code=WAITS)
    book.library = book.root / "src" / "signalprop" / "clusters.py"
    return book


@pytest.fixture
def ran(own, tmp_path_factory):
    """The same once its chapter ran: once for all tests, in a place that its key does not hold."""

    def make(root):
        run(own)
        shutil.copytree(own.root / "_build", root)

    shutil.copytree(once(tmp_path_factory, "ran", make), own.root / "_build", dirs_exist_ok=True)
    return own


def planned(book):
    keys.prepare(Project(book.root), "fast")
    return read_json(book.root / "_build" / "plan.json")


def run(book):
    assert planned(book) == [A]
    (book.root / "go").touch()
    book.run("execute", A)
    (book.root / "go").unlink()


def start(book):
    """Start a job that no build watches, and return when its kernel runs."""
    planned(book)
    status = book.root / "_build" / "status" / f"{A}.json"
    status.unlink(missing_ok=True)
    job = book.start("execute", A)
    deadline = time.monotonic() + 60
    while (read_json(status) or {"cell": 0})["cell"] < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    return job


def end(book, job):
    (book.root / "go").touch()
    output = job.communicate(timeout=60)[0]
    (book.root / "go").unlink()
    return output


def test_an_orphaned_job_replaces_nothing(own):
    orphan = start(own)
    profile = own.root / "profiles" / "fast" / f"{A}.yml"
    profile.parent.mkdir()
    profile.write_text("runs: 5  # enough\n")
    run(own)
    right = own.executed(A)

    assert "is not kept: changed since its run: runs" in end(own, orphan)
    assert own.executed(A) == right
    ledger = collect(Project(own.root))
    assert ledger.problems == {}
    assert [entry["parameters"]["runs"] for entry in ledger.entries] == [5]


def test_an_orphan_that_fails_replaces_nothing_either(own):
    own.chapter(A, "ORTH-X1", code=WAITS + "assert runs == 5")
    orphan = start(own)
    own.chapter(A, "ORTH-X1")
    run(own)
    assert "AssertionError" in end(own, orphan)
    assert collect(Project(own.root)).problems == {}
    assert not (own.root / "_build" / "failed" / f"{A}.json").exists()


def test_an_edit_during_a_run_that_is_put_back(own):
    original = own.library.read_text()
    own.library.write_text(original + "EDITED = True\n")
    job = start(own)  # with the edit
    own.library.write_text(original)
    assert "is not kept: changed since its run: signalprop.clusters" in end(own, job)
    assert planned(own) == [A]

    job = start(own)  # without
    own.library.write_text(original + "EDITED = True\n")
    time.sleep(0.2)
    own.library.write_text(original)
    end(own, job)
    assert planned(own) == [], "the kernel never saw the edit"


def test_a_notebook_changed_by_hand(ran):
    path = ran.root / "_build" / "executed" / f"{A}.ipynb"
    text = path.read_text()
    assert text.count('"verdict": "holds"') == 1
    path.write_text(text.replace('"verdict": "holds"', '"verdict": "fails as printed"'))
    ledger = collect(Project(ran.root))
    assert ledger.entries == []
    assert "changed by hand" in ledger.problems[A][0]
    run(ran)
    assert collect(Project(ran.root)).problems == {}


def test_what_reruns_a_chapter(ran):
    chapter = ran.root / "chapters" / f"{A}.md"
    stub = ran.root / "src" / "signalprop" / "__init__.pyi"
    style = ran.root / "src" / "signalbook" / "book.mplstyle"
    unused = ran.root / "src" / "signalprop" / "training" / "__init__.py"
    shran = ran.root / "src" / "signalbook" / "cards.py"
    before = {p: p.read_text() for p in (chapter, ran.library, stub, style, unused, shran)}

    def after(path, text):
        path.write_text(text)
        found = planned(ran)
        path.write_text(before[path])
        return found == [A]

    assert not after(chapter, before[chapter].replace("Prose of", "New prose of"))
    assert not after(chapter, before[chapter].replace("plt.subplots()", "plt.subplots()  # one"))
    assert not after(ran.library, before[ran.library].replace('"""', '"""New: ', 1) + "# end\n")
    assert not after(stub, before[stub] + "from . import speed as speed\n")
    assert not after(unused, before[unused] + "more = 1\n")
    assert not after(shran, before[shran] + "more = 1\n")
    assert after(chapter, before[chapter].replace("seed: int = 0", "seed: int = 1"))
    assert after(chapter, before[chapter].replace("(runs)", "(2 * runs)"))
    assert after(ran.library, before[ran.library] + "more = 1\n")
    assert after(style, before[style] + "lines.linewidth: 9\n")
    assert planned(ran) == [], "all was put back"


def test_versions_as_installed_and_records_count(ran, monkeypatch):
    project, path = Project(ran.root), ran.root / "records" / f"{A}.json"
    notebook = ran.executed(A)
    assert keys.stale(project, A, notebook) == ""
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert keys.stale(project, A, notebook) == "changed since its run: record"
    path.unlink()
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0")
    assert "numpy, " in keys.stale(project, A, notebook)
    assert "sympy" not in keys.stale(project, A, notebook), "the chapter does not use it"


def test_torn_files_are_made_again(ran):
    project = Project(ran.root)
    places = [project.executed(A), project.failure(A), project.build / "plan.json"]
    places += [project.build / "status" / f"{A}.json", project.cost(A, "0")]
    for path in places:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"torn')
    left = places[0].with_name(f".{places[0].name}.half")  # of a job that was killed as it wrote
    left.touch()
    assert "no run that can be read" in collect(project).problems[A][0]
    assert states_below(project.build / "status") == {}
    assert estimate(project, A, {}).seconds > 0
    assert planned(ran) == [A]
    assert not project.failure(A).exists()
    assert not left.exists()
    project.key(A).write_text('{"torn')
    run(ran)
    assert collect(project).problems == {}


def test_nothing_made_is_of_the_future(ran):
    """The engine compares dates: a clock that was ahead would make every later run look old."""
    project = Project(ran.root)
    assert planned(ran) == []
    for path in (project.executed(A), project.key(A), project.build / "keys" / "site.txt"):
        os.utime(path, (time.time() + 1e6, time.time() + 1e6))
    chapter = project.source(A)
    chapter.write_text(chapter.read_text().replace("seed: int = 0", "seed: int = 1"))
    assert planned(ran) == [A]
    executed, order = (path.stat().st_mtime_ns for path in (project.executed(A), project.key(A)))
    assert executed < order <= time.time_ns()


def test_the_key_holds_no_place_of_a_machine(own):
    run(own)
    assert str(own.root) not in json.dumps(own.executed(A)["metadata"])
