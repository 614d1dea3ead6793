"""Lay out the sources of the site: pages as people wrote them, chapters as they were executed."""

from __future__ import annotations

import copy
import json
import re
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from signalbook import pages
from signalbook.errors import BookError
from signalbook.files import write
from signalbook.ledger import Ledger
from signalbook.outputs import CLAIMS, FIGURE, figures_in
from signalbook.parameters import read_profile
from signalbook.project import Project
from signalbook.source import Source

__all__ = ["stage"]

PROSE = ("_config.yml", "_toc.yml", "index.md", "references.bib", "pages", "assets")
LONG = 14  # lines of a code cell that a page shows unfolded
LINK = re.compile(r"\]\(([\w./-]+)\.md(#[\w-]+)?\)")  # a staged chapter is no longer an .md file
MATHJAX = "sphinx-mathjax-offline/static/mathjax/tex-svg-full.js"


def stage(project: Project, ledger: Ledger) -> Path:
    """Fill ``_build/stage`` and return it; files that did not change are left untouched."""
    folder = project.build / "stage"
    wanted = dict(_prose(project))
    mathjax = Path(str(distribution("sphinx-mathjax-offline").locate_file(MATHJAX)))
    wanted["assets/mathjax.js"] = mathjax.read_bytes()
    for name, text in pages.generated(project, ledger).items():
        wanted[name] = text.encode()
    for chapter in project.chapters:
        for name, content in _chapter(project, chapter, ledger).items():
            wanted[f"chapters/{Path(chapter).parent}/{name}"] = content
    for name, content in wanted.items():
        write(folder / name, content)
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    return folder


def _prose(project: Project) -> list[tuple[str, bytes]]:
    found = []
    for name in PROSE:
        path = project.root / name
        files = path.rglob("*") if path.is_dir() else [path]
        found += [
            (f.relative_to(project.root).as_posix(), f.read_bytes()) for f in files if f.is_file()
        ]
    return found


def _chapter(project: Project, chapter: str, ledger: Ledger) -> dict[str, bytes]:
    """The files of one chapter's page, by name beside it."""
    slug = Path(chapter).name
    source = Source(project.source(chapter))
    if chapter in ledger.problems:
        text = pages.disagreement(source.title, ledger.problems[chapter])
        return {f"{slug}.md": text.encode()}
    executed = project.executed(chapter)
    if not executed.is_file():
        return {f"{slug}.md": _not_there(project, chapter, source).encode()}
    run = json.loads(executed.read_text())
    notebook, files = _merge(source, run, chapter)
    _check_figures(notebook, chapter)
    cells = notebook["cells"]
    cells[0]["source"] = _under_title(cells[0]["source"], _banner(project, chapter, source, ledger))
    cells.append(_markdown("foot", pages.run_it_yourself(chapter, source)))
    files[f"{slug}.ipynb"] = json.dumps(notebook, indent=1, sort_keys=True)
    files[f"{slug}.files/{slug}-executed.ipynb"] = executed.read_text()
    files[f"{slug}.files/{slug}.md"] = source.path.read_text()
    return {name: text.encode() for name, text in files.items()}


def _not_there(project: Project, chapter: str, source: Source) -> str:
    path = project.failure(chapter)
    failure = json.loads(path.read_text()) if path.is_file() else None
    return pages.failed(source.title, failure)


def _merge(
    source: Source, run: dict[str, Any], chapter: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """Today's prose around the outputs of the run: a prose edit needs no execution."""
    notebook = json.loads(json.dumps(source.notebook))
    notebook["metadata"].pop("signalbook", None)
    notebook["metadata"].pop("jupytext", None)
    injected = "injected-parameters"
    executed = [
        cell
        for cell in run["cells"]
        if cell["cell_type"] == "code" and injected not in cell["metadata"].get("tags", [])
    ]
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if [c["source"] for c in code] != [c["source"] for c in executed]:
        raise BookError(f"{chapter} changed while the book was being built: run the command again")
    cells, files, slug = [], {}, Path(chapter).name
    outputs = iter(executed)
    for cell in notebook["cells"]:
        cells.append(cell)
        if cell["cell_type"] != "code":
            cell["source"] = LINK.sub(r"](\1\2)", cell["source"])
            continue
        _fold(cell)
        made = next(outputs)
        cell["outputs"], cell["execution_count"] = copy.deepcopy(made["outputs"]), None
        for figure in figures_in([cell]):
            name = f"{slug}.files/{figure['name']}.csv"
            files[name] = figure["csv"]
            cells.append(_markdown(f"{cell['id']}-data", pages.figure_links(chapter, name)))
        _drop_private_types(cell)
    notebook["cells"] = cells
    return notebook, files


def _fold(cell: dict[str, Any]) -> None:
    """Fold away the code of a long cell: a page tells a result, its code is one click off."""
    tags = cell["metadata"].setdefault("tags", [])
    if cell["source"].count("\n") >= LONG and not {"parameters", "hide-input", "remove-cell"} & set(
        tags
    ):
        tags.append("hide-input")


def _drop_private_types(cell: dict[str, Any]) -> None:
    for output in cell["outputs"]:
        for mime in (CLAIMS, FIGURE):
            output.get("data", {}).pop(mime, None)


def _check_figures(notebook: dict[str, Any], chapter: str) -> None:
    """Every picture needs a caption and an alt text: some readers have only the latter."""
    for cell in notebook["cells"]:
        kinds = [kind for output in cell.get("outputs", []) for kind in output.get("data", {})]
        if not any(kind.startswith("image/") for kind in kinds):
            continue
        metadata = cell["metadata"].get("mystnb", {})
        for group, field in (("image", "alt"), ("figure", "caption"), ("figure", "name")):
            if not str(metadata.get(group, {}).get(field, "")).strip():
                raise BookError(
                    f"{chapter}: the cell that begins {cell['source'].splitlines()[0]!r} shows a"
                    f" figure without {field}: add mystnb: {group}: {field} to its metadata"
                )


def _banner(project: Project, chapter: str, source: Source, ledger: Ledger) -> str:
    key = json.loads(project.key(chapter).read_text())
    changes = read_profile(project.profile(key["profile"], chapter))
    return pages.banner(
        chapter, source, key, changes, ledger.of(chapter), _record(project, chapter)
    )


def _record(project: Project, chapter: str) -> dict[str, Any] | None:
    path = project.record(chapter)
    return json.loads(path.read_text()) if path.is_file() else None


def _under_title(text: str, banner: str) -> str:
    head, _, rest = text.partition("\n")
    return f"{head}\n\n{banner}\n\n{rest}"


def _markdown(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}
