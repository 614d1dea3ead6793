"""Errors that a user can mend come without a traceback."""

import pytest

from signalbook import __main__ as cli
from signalbook.errors import BookError


def test_the_message_is_all_that_is_printed(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["book"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: no book at ")
    assert said.count("\n") == 1


def test_other_errors_keep_their_traceback(monkeypatch):
    def fail():
        raise ZeroDivisionError

    monkeypatch.setattr(cli.Project, "find", fail)
    with pytest.raises(ZeroDivisionError):
        cli.main(["book"])
    assert not issubclass(ZeroDivisionError, BookError)
