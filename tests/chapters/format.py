"""Format the code cells of chapters to the width that a page shows: of all, or of those named."""

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.chapters.cells import CELL

CHAPTERS = Path(__file__).parents[2] / "chapters"


def formatted(codes: Iterable[str]) -> list[str]:
    """The cells as ruff formats them, by one call of it."""
    codes = list(codes)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{i}.py" for i in range(len(codes))]
        for file, code in zip(files, codes, strict=True):
            file.write_text(code)
        command = [sys.executable, "-m", "ruff", "format", "--quiet", "--line-length", "82", folder]
        subprocess.run(command, check=True)
        return [file.read_text().rstrip("\n") for file in files]


def rewritten(text: str) -> str:
    """A chapter with its code formatted."""
    codes = iter(formatted(match["code"] for match in CELL.finditer(text)))
    return CELL.sub(lambda match: f"{match['head']}{next(codes)}\n```", text)


def main(names: list[str]) -> None:
    """Rewrite the chapters ``<part>/<slug>`` that are named, or all."""
    for path in [CHAPTERS / f"{name}.md" for name in names] or sorted(CHAPTERS.rglob("*.md")):
        path.write_text(rewritten(path.read_text()))


if __name__ == "__main__":
    main(sys.argv[1:])
