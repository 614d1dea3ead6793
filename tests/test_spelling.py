"""Words that are often misspelled are not: in pages, chapters, code, comments and messages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = {".md", ".py", ".toml", ".j2", ".js", ".css", ".yml", ".bib", ".cff"}


def misspelled(*files: Path) -> str:
    command = [sys.executable, "-m", "codespell_lib", "--toml", str(ROOT / "pyproject.toml")]
    return subprocess.run([*command, *map(str, files)], capture_output=True, text=True).stdout


@pytest.mark.slow
def test_words_are_spelled():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    files = [ROOT / name for name in listed.stdout.decode().split("\0")]
    texts = [path for path in files if path.suffix in TEXTS and path.is_file()]
    assert len(texts) > 500
    assert misspelled(*texts) == ""


def test_a_slip_is_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Batch normalization is " + "dif" + "fernt.")
    assert "different" in misspelled(page)
