"""Where things lie: the folders of the book, and its list of chapters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

from signalbook.errors import BookError

__all__ = ["Project"]

PLAIN = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)*")


@dataclass(frozen=True)
class Project:
    """The book whose root folder is ``root``.

    A chapter is named by its path under ``chapters/`` without the ending: ``orthogonality/gap``.
    """

    root: Path

    @classmethod
    def find(cls, start: Path | None = None) -> Project:
        """Return the project that ``start`` (default: the current folder) lies in."""
        start = (start or Path.cwd()).resolve()
        for folder in (start, *start.parents):
            if (folder / "_toc.yml").is_file() and (folder / "chapters").is_dir():
                return cls(folder)
        raise BookError(f"no book at {start}: run this inside a clone, where _toc.yml lies")

    @property
    def build(self) -> Path:
        """Everything that can be made again lies here."""
        return self.root / "_build"

    @property
    def site(self) -> Path:
        """The finished site."""
        return self.build / "site"

    def source(self, chapter: str) -> Path:
        """The MyST notebook that people edit."""
        return self.root / "chapters" / f"{chapter}.md"

    def profile(self, name: str, chapter: str) -> Path:
        """The parameter file that reduces a chapter; it need not exist."""
        return self.root / "profiles" / name / f"{chapter}.yml"

    def record(self, chapter: str) -> Path:
        """The recorded run at the document's own sizes; it need not exist."""
        return self.root / "records" / f"{chapter}.json"

    def key(self, chapter: str) -> Path:
        """The digest of all that a chapter's numbers depend on."""
        return self.build / "keys" / f"{chapter}.json"

    def executed(self, chapter: str) -> Path:
        """The executed notebook: complete, or not there."""
        return self.build / "executed" / f"{chapter}.ipynb"

    def run(self, chapter: str, run: str) -> Path:
        """The notebook of `make chapter`, by the digest of its values: none overwrites another."""
        return self.build / "runs" / f"{chapter}-{run}.ipynb"

    def failure(self, chapter: str) -> Path:
        """What went wrong in the last execution, if it failed."""
        return self.build / "failed" / f"{chapter}.json"

    def cost(self, chapter: str, run: str) -> Path:
        """What the last run with the values of this digest took."""
        return self.build / "costs" / chapter / f"{run}.json"

    def point(self, chapter: str, run: str) -> Path:
        """The folder of one point of a sweep, by the digest of its values."""
        return self.build / "points" / chapter / run

    def checkpoints(self, chapter: str) -> Path:
        """Where training that was stopped goes on from; gone once the chapter is executed."""
        return self.build / "checkpoints" / chapter

    def progress(self, chapter: str) -> Path:
        """How far the training in the current cell is, in words."""
        return self.build / "status" / f"{chapter}.txt"

    @cached_property
    def pages(self) -> list[str]:
        """Every page of ``_toc.yml`` in reading order, without endings."""
        path = self.root / "_toc.yml"
        try:
            toc = yaml.safe_load(path.read_text())
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise BookError(f"cannot read {path.name}: {error}") from error
        return list(_files(toc))

    @cached_property
    def chapters(self) -> list[str]:
        """The chapters in reading order.

        A toc entry without a file and a chapter outside the toc are both errors: the first would be
        a dead link, the second a result that nobody finds. Names are plain, since they stand in
        addresses, in commands and in the engine's rules.
        """
        listed = [p.removeprefix("chapters/") for p in self.pages if p.startswith("chapters/")]
        for name in listed:
            if not PLAIN.fullmatch(name):
                raise BookError(
                    f"chapters/{name}.md: a chapter's name has letters, digits and hyphens alone"
                )
            if not self.source(name).is_file():
                raise BookError(
                    f"_toc.yml lists chapters/{name}, but there is no chapters/{name}.md:"
                    " add the file or take the line out"
                )
        folder = self.root / "chapters"
        there = {p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*.md")}
        if lost := sorted(there - set(listed)):
            raise BookError(
                f"chapters/{lost[0]}.md is not in _toc.yml: add `- file: chapters/{lost[0]}`"
            )
        return listed

    def require(self, chapter: str) -> str:
        """Return the chapter's name, or say which ones there are."""
        name = chapter.removeprefix("chapters/").removesuffix(".md")
        if name not in self.chapters:
            known = ", ".join(self.chapters)
            raise BookError(f"there is no chapter {chapter!r}; the chapters are: {known}")
        return name


def _files(node: object) -> list[str]:
    """Every ``root:`` and ``file:`` value below a node of the toc, in order."""
    if isinstance(node, list):
        return [name for part in node for name in _files(part)]
    if isinstance(node, dict):
        own = [str(node[key]) for key in ("root", "file") if key in node]
        return own + [name for part in node.values() for name in _files(part)]
    return []
