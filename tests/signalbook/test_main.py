"""The command line: what it refuses, and how it ends."""

import argparse
import http.server
import re
import socket
from pathlib import Path

import pytest

from signalbook import __main__ as cli
from signalbook.errors import BookError

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
        (["book", "--profile", "fast paper"], "PROFILE names sizes and a place, one of each"),
        (["paper", "x/y"], "there is no chapter 'x/y'"),
        (["paper", "--", ""], "say which chapter, C=<part>/<slug>, or all that are due, ALL=1"),
        (["paper", A, "--budget", "2h"], "BUDGET is for ALL=1 on this machine"),
        (["sweep", A], 'say over what to sweep: GRID="name=value'),
        (["sweep", A, "--grid", "seed=1", "--cores", "0"], "CORES must be 1 or more, got 0"),
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
    assert [(profile, cores) for _, profile, cores, _ in asked] == [("fast", 3)]


def test_a_port_that_is_taken_is_named(here, monkeypatch, capsys):
    (here.root / "_build" / "site").mkdir(parents=True)
    (here.root / "_build" / "site" / "index.html").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert cli.main(["serve", "--port", port]) == 1
    said = capsys.readouterr().err
    assert f"cannot serve at port {port}: " in said
    assert "`make serve PORT=0` takes a free one" in said
    assert cli.main(["serve", "--port", "70000"]) == 1
    assert "cannot serve at port 70000: no port" in capsys.readouterr().err

    monkeypatch.setattr(http.server.ThreadingHTTPServer, "serve_forever", lambda _: None)
    assert cli.main(["serve", "--port", "0"]) == 0
    assert re.match(r"http://127\.0\.0\.1:[1-9]\d*/ ", capsys.readouterr().out)


@pytest.mark.parametrize("command", [["book"], ["chapter", A], ["paper", A]])
def test_a_home_that_cannot_be_is_named(here, command, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file" / "home"))
    assert cli.main(command) == 1
    assert "file/home, which cannot be written to: set HOME" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["_build", "_build/status"])
def test_a_place_that_cannot_be_written_is_named(here, place, capsys):
    path = here.root / place
    path.parent.mkdir(exist_ok=True)
    path.touch()
    assert cli.main(["book"]) == 1
    said = capsys.readouterr().err
    assert f"error: cannot write {here.root / '_build'}" in said
    assert "free some space or fix the folder's permissions" in said
    assert said.count("\n") == 1


def test_a_folder_of_somebody_else(here, monkeypatch, capsys):
    """Nothing is forbidden to root, so the system's word is put in."""

    def forbidden(*_):
        raise PermissionError(13, "Permission denied", "_build/snakemake.log")

    monkeypatch.setattr("signalbook.build.build", forbidden)
    assert cli.main(["book"]) == 1
    assert "cannot write _build/snakemake.log: Permission denied;" in capsys.readouterr().err
    monkeypatch.setattr("signalbook.build.build", lambda *_: Path("no such file").stat())
    with pytest.raises(FileNotFoundError):
        cli.main(["book"])


@pytest.mark.parametrize(
    ("said", "sizes", "where"),
    [
        ("slurm", "fast", "slurm"),
        ("paper slurm", "paper", "slurm"),
        ("paper", "paper", None),
        ("fast", "fast", None),
    ],
)
def test_a_profile_is_sizes_a_place_or_both(here, monkeypatch, said, sizes, where):
    asked = []
    monkeypatch.setattr("signalbook.build.build", lambda *given: asked.append(given) or 0)
    folder = here.root / "profiles" / "slurm"
    folder.mkdir()
    (folder / "config.yaml").write_text("executor: slurm\n")
    assert cli.main(["book", "--cores", "3", "--profile", said]) == 0
    ((_, *found),) = asked
    assert found == [sizes, 3, folder if where else None]
    assert cli.main(["book", "--cores", "3", "--profile", str(folder)]) == 0
    assert asked[-1][-1] == folder


def test_records_go_where_the_profile_says(here, monkeypatch):
    asked = []
    monkeypatch.setattr("signalbook.submit.submit", lambda *given: asked.append(given) or 0)
    monkeypatch.setattr("signalbook.paper.due", lambda project: [(2.0, A)])
    folder = here.root / "profiles" / "slurm"
    folder.mkdir()
    (folder / "config.yaml").write_text("executor: slurm\n")
    assert cli.main(["paper", A, "--profile", "slurm", "--set", "runs=3"]) == 0
    assert cli.main(["paper", "--all", "--profile", "slurm"]) == 0
    assert [given[1:3] for given in asked] == [([A], {"runs": 3}), ([A], {})]


def test_a_run_says_beforehand_how_long_it_takes(here, monkeypatch, capsys):
    def ran(*given, **_):
        raise BookError("enough")

    monkeypatch.setattr("signalbook.execute.execute", ran)
    assert cli.main(["chapter", A]) == 1
    assert capsys.readouterr().out == f"{A}: about 15 s, a rough guess\n"


def test_a_list_may_be_given_with_spaces():
    options = argparse.Namespace(assignments="widths=[16, 32] law='two words' runs=5")
    assert cli._assignments(options) == {"widths": [16, 32], "law": "two words", "runs": 5}


def test_a_command_begins_by_removing_what_killed_ones_left(here, capsys):
    half = f".b.json.{2**22 + 1}@{socket.gethostname()}.abcdefgh"  # no such process can be
    left = [here.root / folder / half for folder in ("_build/runs/kernels", "records/kernels")]
    for path in left:
        path.parent.mkdir(parents=True)
        path.touch()
    assert cli.main(["chapter", "x/y"]) == 1
    assert [path for path in left if path.exists()] == []
