"""What is written after `make` reaches the commands as it stands: nothing reads it on the way."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NASTY = [
    "$(shell touch made)",
    "$$(touch made)",
    "`touch made`",
    '"; touch made; "',
    "'; touch made; '",
    "${HOME} $HOME \\ * ? #",
    "-x=1 --help",
]


@pytest.fixture
def folder(tmp_path) -> Path:
    """A checkout in a folder with a space in its name, whose Python writes down its arguments."""
    root = tmp_path / "a folder"
    (root / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", root)
    for python in (root / ".venv" / "bin" / "python", root / "my python"):
        python.write_text('#!/bin/sh\nprintf "%s\\n" "$0" "$@" >> log\n')
        python.chmod(0o755)
    return root


def make(folder: Path, *arguments: str) -> list[str]:
    python = f"PYTHON={folder}/my python"
    subprocess.run(["make", python, *arguments], cwd=folder, check=True, capture_output=True)
    assert not (folder / "made").exists()
    return (folder / "log").read_text().splitlines()


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("target", ["chapter", "paper"])
def test_chapter_and_parameters(folder, target, text):
    lines = make(folder, target, f"C={text}", f"P={text}", f"OUT={text}")
    setup = [f"{folder}/my python", "-m", "environment", "--this-python"]
    assert lines[:4] == setup
    assert lines[5:8] == ["-m", "signalbook", target]
    handed_out = [f"--out={text}"] if target == "chapter" else []
    assert lines[-3 - len(handed_out) :] == [f"--set={text}", *handed_out, "--", text]


@pytest.mark.parametrize("text", NASTY)
def test_the_other_variables(folder, text):
    lines = make(folder, "book", f"CORES={text}", f"PROFILE={text}", f"TORCH_INDEX={text}")
    assert lines[5:] == ["-m", "signalbook", "book", "--cores", text, "--profile", text]


@pytest.mark.parametrize("text", NASTY)
def test_a_record_and_a_port(folder, text):
    assert make(folder, "vouch", f"C={text}")[5:] == ["-m", "signalbook", "vouch", "--", text]
    (folder / "log").unlink()
    lines = make(folder, "seeds", f"SEEDS={text}", f"BUDGET={text}", f"CORES={text}", f"C={text}")
    assert lines[5:] == [
        "-m",
        "signalbook",
        "seeds",
        f"--count={text}",
        f"--budget={text}",
        "--cores",
        text,
        "--",
        text,
    ]
    (folder / "log").unlink()
    lines = make(folder, "paper", f"ALL={text}", f"BUDGET={text}")
    assert lines[-2:] == ["--all", f"--budget={text}"]
    (folder / "log").unlink()
    assert make(folder, "serve", f"PORT={text}")[5:] == [
        "-m",
        "signalbook",
        "serve",
        "--port",
        text,
    ]
