"""Whole files or none."""

import os

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
