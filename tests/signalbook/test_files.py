"""Whole files or none."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from signalbook import files
from signalbook.errors import BookError


def test_what_is_the_same_is_left_untouched(tmp_path):
    path = tmp_path / "a" / "b.txt"
    assert files.write(path, "one")
    os.utime(path, ns=(1, 1))
    assert not files.write(path, b"one")
    assert path.stat().st_mtime_ns == 1
    assert files.write(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mtime_ns > 1


def test_others_may_read_and_nothing_is_left_beside(tmp_path):
    path = tmp_path / "b.txt"
    files.replace(path, b"x")
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_of_the_old_file_keeps_it(tmp_path):
    path = tmp_path / "b.txt"
    files.replace(path, b"old")
    with path.open("rb") as reader:
        files.replace(path, b"new and longer")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new and longer"


def test_where_nothing_can_be_written_the_remedy_is_said(tmp_path):
    folder = tmp_path / "b.txt"
    folder.mkdir()
    with pytest.raises(BookError, match=r"cannot write .*b\.txt: .*; free some space or fix"):
        files.replace(folder, b"x")
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize(
    ("content", "found"), [(b'{"a": 1}', {"a": 1}), (b'{"a', None), (b"\xff", None)]
)
def test_what_is_torn_is_missing(tmp_path, content, found):
    path = tmp_path / "a.json"
    assert files.read_json(path) is None
    path.write_bytes(content)
    assert files.read_json(path) == found


STOPPED = """
import os, signal, sys
from pathlib import Path
from signalbook import files
os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGSTOP)
files.replace(Path(sys.argv[1]), b"new")
"""


def test_what_a_kill_leaves_is_removed_once_its_process_is_gone(tmp_path):
    path = tmp_path / "folder" / "b.txt"
    files.replace(path, b"old")
    others = path.with_name(".b.txt.1@elsewhere.abcdefgh")
    others.touch()
    process = subprocess.Popen([sys.executable, "-c", STOPPED, str(path)])
    os.waitpid(process.pid, os.WUNTRACED)

    def found() -> set[Path]:
        files.clear(tmp_path)
        return set(path.parent.iterdir()) - {path, others}

    (half,) = found()
    assert half.name.startswith(f".b.txt.{process.pid}@")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert half.exists()
    assert found() == set()
    assert path.read_bytes() == b"old"
    assert others.exists(), "of a process of another machine nothing is known"
