"""A Python that will not do says so, and another one is taken if there is one."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from environment import __main__ as main

ROOT = Path(__file__).parents[2]
OLD = [path for name in ("python2.7", "python3.6", "python3.8") if (path := shutil.which(name))]


@pytest.fixture
def path(tmp_path, monkeypatch) -> Path:
    """An empty checkout and a search path with nothing on it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def program(path: Path, fits: bool) -> Path:
    """Put a Python there that writes down what it is called with."""
    check = "exit 0" if fits else "exit 1"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\n[ "$1" = -c ] && {check}\necho "$0" "$@" > "$0.log"\nexit 7\n')
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("version", [(2, 7), (3, 10), (3, 15)])
def test_a_python_that_will_not_do_says_so(path, monkeypatch, capsys, version):
    monkeypatch.setattr(sys, "version_info", (*version, 1))
    program(path / "python3.12", fits=False)
    assert main.main([]) == 1
    said = capsys.readouterr().out
    assert f"is Python {version[0]}.{version[1]}; Python 3.11 to 3.14 is needed." in said
    assert "make setup PYTHON=python3.14" in said


def test_another_python_is_taken_the_environment_first(path, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    newer = program(path / "python3.13", fits=True)
    program(path / "python3.12", fits=True)
    assert main.main(["lock"]) == 7
    assert newer.with_name("python3.13.log").read_text().endswith(" -m environment lock\n")

    own = program(path.parent / ".venv" / "bin" / "python", fits=True)
    assert main.main([]) == 7
    assert own.with_name("python.log").exists()


def test_a_python_that_was_named_is_not_replaced(path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    program(path / "python3.13", fits=True)
    assert main.main(["--this-python"]) == 1
    assert "is Python 3.9" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["__main__", "__init__"])
def test_old_pythons_can_read_it(name):
    text = (ROOT / "environment" / f"{name}.py").read_text()
    ast.parse(text, feature_version=(3, 4))
    assert not re.search(r"""\bf["']|annotations|:=""", text)


@pytest.mark.skipif(not OLD, reason="no old Python is here")
@pytest.mark.parametrize("python", OLD)
def test_an_old_python_says_that_it_is_too_old(python):
    command = [python, "-m", "environment", "--this-python"]
    if subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"{python} does not run")
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 1
    assert "Python 3.11 to 3.14 is needed." in run.stdout
    assert run.stderr == ""
