"""The command line: what it refuses, and how it ends."""

import pytest

from signalbook import __main__ as cli

A = "orthogonality/a"


@pytest.fixture
def here(book, monkeypatch):
    book.chapter(A, "ORTH-X1")
    monkeypatch.chdir(book.root)
    return book


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["book", "--profile", "slow"], "there is no profile 'slow': add profiles/slow/"),
        (["book", "--cores", "0"], "CORES must be 1 or more, got 0"),
        (["chapter", "x/y"], f"there is no chapter 'x/y'; the chapters are: {A}"),
        (["chapter", A, "--set", "runs"], "name=value words, got 'runs'"),
        (["paper", "x/y"], "there is no chapter 'x/y'"),
        (["serve"], "there is no site yet: run `make book` first"),
    ],
)
def test_what_cannot_be_done_is_said(here, arguments, message, capsys):
    assert cli.main(arguments) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["bake"], ["book", "--cores", "many"]])
def test_commands_that_do_not_exist_get_the_usage(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert "usage: signalbook" in capsys.readouterr().err


def test_an_interrupt_ends_with_the_code_of_one(here, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("signalbook.build.build", interrupted)
    assert cli.main(["book"]) == 130
    assert "stopped; what is finished stays" in capsys.readouterr().err


@pytest.mark.parametrize("code", [0, 1])
def test_the_outcome_of_a_build_is_the_exit_code(here, monkeypatch, code):
    asked = []
    monkeypatch.setattr("signalbook.build.build", lambda *given: asked.append(given) or code)
    assert cli.main(["book", "--cores", "3"]) == code
    assert [(profile, cores) for _, profile, cores in asked] == [("fast", 3)]
