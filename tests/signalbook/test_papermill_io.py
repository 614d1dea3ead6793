"""papermill reads chapters as they are, and writes none."""

import json
from pathlib import Path

import pytest
from papermill.iorw import papermill_io
from papermill.translators import papermill_translators

from signalbook.errors import BookError
from signalbook.papermill_io import JupytextHandler

A = "orthogonality/a"
CHAPTER = Path(__file__).parents[2] / "chapters" / "library" / "speed.md"


def test_a_chapter_is_read_with_its_parameters_and_without_outputs(book):
    path = book.chapter(A, "ORTH-X1")
    notebook = json.loads(JupytextHandler.read(f"jupytext://{path}"))
    (cell,) = [c for c in notebook["cells"] if "parameters" in c["metadata"].get("tags", [])]
    assert "runs: int = 20" in cell["source"]
    assert not any(c.get("outputs") for c in notebook["cells"])


def test_a_folder_lists_its_chapters(book):
    first, second = (book.chapter(f"kernels/{name}", "KER-E5.1") for name in "ab")
    assert JupytextHandler.listdir(f"jupytext://{first.parent}") == [str(first), str(second)]


def test_sources_are_not_written(tmp_path):
    with pytest.raises(BookError, match=r"a\.md is read-only: .* ends in \.ipynb"):
        JupytextHandler.write("{}", "jupytext://a.md")
    assert JupytextHandler.pretty_path("jupytext://a.md") == "jupytext://a.md"


def test_papermill_knows_the_scheme():
    assert papermill_io.get_handler("jupytext://a.md") is JupytextHandler


def test_a_list_on_papermills_command_line_is_a_list():
    """papermill hands on what stands behind ``-p`` as words."""
    JupytextHandler.read(f"jupytext://{CHAPTER}")
    translator = papermill_translators.find_translator("python3", "python")
    assert translator.codify({"widths": "[16, 32]", "law": "uniform"}).splitlines()[1:] == [
        "widths = [16, 32]",
        'law = "uniform"',
    ]
