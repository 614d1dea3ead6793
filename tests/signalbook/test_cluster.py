"""The whole way through a real Slurm: results in place, a job that fails, one that is cancelled."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tests.signalbook import slurm
from tests.signalbook.minibook import ROOT

pytestmark = pytest.mark.slow  # it starts a cluster, builds and kernels

A, B, C = "orthogonality/a", "kernels/b", "rank/c"

#: The first time it waits to be cancelled; what is sent once more goes through.
WAITS = """
import pathlib, time
mark = pathlib.Path("waited")
if not mark.exists():
    mark.touch()
    time.sleep(1800)
"""


#: A test that is killed while its Slurm runs.
KILLED = """
import os, pathlib, signal, sys
from tests.signalbook import slurm
with slurm.slurm(pathlib.Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def nothing():
    """No Slurm but what the test starts, one test at a time, whatever runs beside."""
    with slurm.alone():
        if why := slurm.missing():
            if os.environ.get("NEEDS_SLURM"):
                pytest.fail(f"{why} (apt install slurmctld slurmd slurm-client munge)")
            pytest.skip(why)
        yield


@pytest.fixture
def cluster(nothing, tmp_path_factory):
    """The environment of a Slurm."""
    with slurm.slurm(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment


def run(book, cluster, *arguments, code=0):
    """Run a command on the cluster to its end: some minutes, more where the machine is busy."""
    process = book.start(*arguments, "--profile", "slurm", **cluster)
    output = process.communicate(timeout=1800)[0]
    assert process.returncode == code, output
    return output


def cancel(environment, chapter, mark):
    """Cancel the job of a chapter once it waits."""
    ends = time.monotonic() + 900
    while not mark.exists():
        assert time.monotonic() < ends
        time.sleep(0.2)
    asked = ["squeue", "--noheader", "--format=%i %k"]
    run = subprocess.run(asked, env=os.environ | environment, capture_output=True, text=True)
    slug = chapter.replace("/", "[/_]")
    (job,) = re.findall(rf"^(\d+) .*{slug}", run.stdout, re.M)
    subprocess.run(["scancel", job], env=os.environ | environment, check=True)


def test_a_book_and_a_record_through_slurm(book, cluster):
    shutil.copytree(ROOT / "profiles" / "slurm", book.root / "profiles" / "slurm")
    book.chapter(A, "ORTH-X1")
    book.chapter(B, "KER-E5.1", code="assert runs != 20, 'the sky fell'")
    book.chapter(C, "RANK-D1", code=WAITS)
    process = book.start("book", "--profile", "slurm", "--cores", "2", **cluster)
    cancel(cluster, C, book.root / "waited")
    output = process.communicate(timeout=1800)[0]
    assert process.returncode == 1, output
    assert f"WRONG  {B}: AssertionError: the sky fell" in output
    assert f"{A} done in" in output
    assert f"{C} done in" in output, "what was cancelled was sent once more"
    assert {entry["chapter"] for entry in book.ledger()} == {A, C}
    assert "the sky fell" in book.page(B)
    log = (book.root / "_build" / "snakemake.log").read_text()
    assert log.count("has been submitted with SLURM jobid") == 5, "three, and two once more"
    assert "mem_mb=6000" in log, "with more memory"

    book.chapter(B, "KER-E5.1")
    output = run(book, cluster, "book")
    assert "Executed 1 of 3" in output
    assert "the sky fell" not in book.page(B)

    output = run(book, cluster, "paper", A)
    assert f"recorded {A}" in output
    record = json.loads((book.root / "records" / f"{A}.json").read_text())
    assert record["claims"][0]["verdict"] == "holds"


def test_stopping_a_build_takes_its_jobs_back(book, cluster):
    shutil.copytree(ROOT / "profiles" / "slurm", book.root / "profiles" / "slurm")
    book.chapter(C, "RANK-D1", code=WAITS)
    process = book.start("book", "--profile", "slurm", **cluster)
    ends = time.monotonic() + 900
    while not (book.root / "waited").exists():
        assert time.monotonic() < ends
        time.sleep(0.2)
    process.terminate()
    assert "stopped; what is finished stays" in process.communicate(timeout=120)[0]
    asked = ["squeue", "--noheader", "--states=PENDING,RUNNING"]
    while subprocess.run(
        asked, env=os.environ | cluster, capture_output=True, text=True
    ).stdout.strip():
        assert time.monotonic() < ends
        time.sleep(0.2)


def test_what_a_killed_test_left_is_in_nobodys_way(nothing, tmp_path):
    code = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "killed"], cwd=ROOT).returncode
    assert code == -signal.SIGKILL
    assert slurm.USUAL.is_symlink()
    assert not slurm.missing()
    with slurm.slurm(tmp_path / "next"):
        pass
    assert not slurm.USUAL.is_symlink()
    ends = time.monotonic() + 60
    while str(tmp_path / "killed") in " ".join(
        word
        for process in psutil.process_iter(["environ"])
        for word in (process.info["environ"] or {}).values()
    ):
        assert time.monotonic() < ends, "the daemons outlived the test that started them"
        time.sleep(0.2)
