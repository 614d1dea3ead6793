"""Small books: of no chapter yet, and one that is built."""

import shutil
from pathlib import Path

import pytest

from tests.signalbook.minibook import MiniBook, empty, once

IDS = {"orthogonality/a": "ORTH-X1", "kernels/b": "KER-E5.1"}


@pytest.fixture
def book(tmp_path: Path) -> MiniBook:
    return empty(tmp_path)


@pytest.fixture
def built(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> MiniBook:
    """A book of two chapters, built on two cores, with all of it but Sphinx's caches."""

    def build(root: Path) -> None:
        book = empty(root)
        for name, id in IDS.items():
            book.chapter(name, id)
        assert "Executed 2 of 2" in book.run("book", "--cores", "2")

    def caches(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if Path(folder).name == "_build" and "sphinx" in name]

    folder, root = once(tmp_path_factory, "built", build), tmp_path / "book"
    shutil.copytree(folder, root, symlinks=True, ignore=caches)
    return MiniBook(root, IDS)


@pytest.fixture
def swept(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> MiniBook:
    """A book of one chapter that was swept twice; four runs are too many for it."""
    name = "orthogonality/a"

    def make(root: Path) -> None:
        book = empty(root)
        book.chapter(name, IDS[name], code="assert runs != 4, 'four is too many'")
        for file, grid, code in (("first.txt", "runs=3,4", 1), ("second.txt", "runs=5,3", 0)):
            output = book.run("sweep", name, "--grid", grid, "--set", "seed=1", code=code)
            (root / file).write_text(output)

    folder, root = once(tmp_path_factory, "swept", make), tmp_path / "book"
    shutil.copytree(folder, root, symlinks=True)
    return MiniBook(root, [name])
