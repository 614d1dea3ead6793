"""Lay out the sources of the site: pages as people wrote them, chapters as they were executed."""

from __future__ import annotations

import base64
import copy
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from signalbook import cards, pages
from signalbook.errors import BookError
from signalbook.files import write
from signalbook.fingerprint import of_cell
from signalbook.launch import repository
from signalbook.ledger import Ledger
from signalbook.outputs import CERTIFICATE, CLAIMS, FIGURE, claims_in, figures_in
from signalbook.parameters import read_profile
from signalbook.pictures import Album, album, placed
from signalbook.project import Project
from signalbook.records import Record, read_record
from signalbook.source import Source

__all__ = ["check_figures", "stage"]

PROSE = ("_config.yml", "_toc.yml", "index.md", "CHANGELOG.md", "references.bib", "pages", "assets")
LINK = re.compile(r"\]\(([\w./-]+)\.md(#[\w-]+)?\)")  # a staged chapter is no longer an .md file
MATHJAX = "sphinx-mathjax-offline/static/mathjax"
#: The parts of MathJax that set TeX with its own fonts; extensions load where a formula needs them.
MATHJAX_PARTS = (
    "startup.js",
    "core.js",
    "input/tex.js",
    "input/tex/extensions/*.js",
    "output/chtml.js",
    "output/chtml/fonts/tex.js",
    "output/chtml/fonts/woff-v2/*.woff",
    "a11y/assistive-mml.js",
)


def stage(project: Project, ledger: Ledger) -> Path:
    """Fill ``_build/stage`` and return it; files that did not change are left untouched."""
    folder = project.build / "stage"
    wanted = dict(_prose(project))
    mathjax = Path(str(distribution("sphinx-mathjax-offline").locate_file(MATHJAX)))
    for path in (found for part in MATHJAX_PARTS for found in mathjax.glob(part)):
        wanted[f"assets/mathjax/{path.relative_to(mathjax).as_posix()}"] = path.read_bytes()
    broken = ledger.problems
    albums = {c: Album() if c in broken else album(project, c) for c in project.chapters}
    for name, text in pages.generated(project, ledger, albums).items():
        wanted[name] = text.encode()
    wanted |= _illustrated(wanted, albums)
    for chapter in project.chapters:
        for name, content in _chapter(project, chapter, ledger).items():
            wanted[f"chapters/{Path(chapter).parent}/{name}"] = content
    for name, content in wanted.items():
        write(folder / name, content)
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    return folder


def _illustrated(sources: Mapping[str, bytes], albums: Mapping[str, Album]) -> dict[str, bytes]:
    """The pages that ask for pictures of chapters, with them, and the drawings that pages show."""
    texts = {name: _text(name, data) for name, data in sources.items() if name.endswith(".md")}
    shown = {name: placed(text, Path(name), albums) for name, text in texts.items()}
    changed = {name: text.encode() for name, text in shown.items() if text != texts[name]}
    every = "\n".join(shown.values())
    pictures = [picture for found in albums.values() for picture in found.pictures.values()]
    drawings = [picture.files(every) for picture in pictures]
    return changed | {name: data for files in drawings for name, data in files.items()}


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BookError(
            f"{name} is not text in UTF-8: {error}; save it in that encoding"
        ) from error


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
    record = read_record(project, chapter)
    notebook, files = _merge(source, run, chapter, record)
    check_figures(notebook, chapter)
    _tell_recorded(notebook, record)
    _show_claims(notebook, chapter, ledger.of(chapter))
    _label_folds(notebook)
    _name_tables(notebook)
    lab = _experiments(project, run)
    experiments = [path.name for path in lab]
    foot = pages.run_it_yourself(
        chapter, source, experiments, record is not None, repository(project)
    )
    notebook["cells"] = [
        *_head(notebook["cells"], source, _box(project, chapter, source, ledger, record)),
        _markdown("closing", pages.closing(ledger.of(chapter))),
        _markdown("foot", foot),
    ]
    for cell in notebook["cells"]:
        _drop_private_types(cell)
    files[f"{slug}.ipynb"] = json.dumps(notebook, indent=1, sort_keys=True).encode()
    files[f"{slug}.files/{slug}-executed.ipynb"] = executed.read_bytes()
    files[f"{slug}.files/{slug}.md"] = source.path.read_bytes()
    if record is not None:
        files[f"{slug}.files/{slug}-record.json"] = project.record(chapter).read_bytes()
    return files | {f"{slug}.files/{path.name}": path.read_bytes() for path in lab}


def _experiments(project: Project, run: Mapping[str, Any]) -> list[Path]:
    """The modules of experiments that the run loaded: a page has their source one click away."""
    loaded = run["metadata"]["made"]["key"]["code"]["modules"]
    names = [name.split(".") for name in sorted(loaded) if name.startswith("signallab.")]
    paths = [(project.root / "src").joinpath(*name).with_suffix(".py") for name in names]
    return [path for path in paths if path.is_file() and path.stem != "case"]


def _not_there(project: Project, chapter: str, source: Source) -> str:
    path = project.failure(chapter)
    failure = json.loads(path.read_text()) if path.is_file() else None
    return pages.failed(source.title, failure)


def _merge(
    source: Source, run: dict[str, Any], chapter: str, record: Record | None = None
) -> tuple[dict[str, Any], dict[str, bytes]]:
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
    if [of_cell(c["source"]) for c in code] != [of_cell(c["source"]) for c in executed]:
        raise BookError(f"{chapter} changed while the book was being built: run the command again")
    cells, slug = [], Path(chapter).name
    files: dict[str, bytes] = {}
    outputs = iter(executed)
    for cell in notebook["cells"]:
        cells.append(cell)
        if cell["cell_type"] != "code":
            cell["source"] = LINK.sub(r"](\1\2)", cell["source"])
            continue
        made = next(outputs)
        cell["outputs"], cell["execution_count"] = copy.deepcopy(made["outputs"]), None
        for figure in figures_in([cell]):
            data, narrow, other = f"{slug}.files/{figure['name']}.csv", "", ""
            files[data] = figure["csv"].encode()
            if drawing := figure.get("narrow"):
                svg = drawing.lstrip().startswith("<")
                narrow = f"{slug}.files/{figure['name']}-narrow.{'svg' if svg else 'png'}"
                files[narrow] = drawing.encode() if svg else base64.b64decode(drawing)
            if record is not None and (there := record["figures"].get(figure["name"])):
                other = f"{slug}.files/{figure['name']}-recorded.csv"
                files[other] = there["csv"].encode()
            links = pages.figure_links(chapter, figure["name"], data, narrow, other)
            cells.append(_markdown(f"{cell['id']}-data", links))
    notebook["cells"] = cells
    return notebook, files


def _tell_recorded(notebook: dict[str, Any], record: Record | None) -> None:
    """Say of a picture with recorded curves that they are there, to all readers."""
    for cell in notebook["cells"]:
        for figure in figures_in([cell]):
            if record is None or not figure.get("recorded"):
                continue
            smaller = record["figures"][figure["name"]]["reduced"]
            size = "that was to be had" if smaller else "at the document's size"
            which = "largest run" if smaller else "run"
            shown = cell["metadata"]["mystnb"]
            shown["figure"]["caption"] += f" Open marks: the recorded {which} {size}."
            shown["image"]["alt"] += " Thin lines with open marks: the recorded run."


def _show_claims(
    notebook: dict[str, Any], chapter: str, entries: Iterable[Mapping[str, Any]] = ()
) -> None:
    """Draw every card anew from its data: how a claim is shown needs no execution.

    Below a reduced one stands what was recorded at the document's size, or at a larger one.
    """
    recorded: dict[str, list[Any]] = {}
    for check in (check for entry in entries for check in entry["checks"]):
        if check.get("recorded"):
            recorded.setdefault(check["anchor"], []).append(check)
    outputs = [
        o for c in notebook["cells"] for o in c.get("outputs", []) if CLAIMS in o.get("data", {})
    ]
    claims = iter(cards.anchored(claims_in(notebook["cells"])))
    up = "../" * (chapter.count("/") + 1)
    for output in outputs:
        shown = [
            cards.card({**claim, "in_record": recorded.get(claim["anchor"], [])}, up)
            for _, claim in zip(output["data"][CLAIMS], claims, strict=False)
        ]
        output["data"]["text/html"] = "\n".join(shown)


def _label_folds(notebook: dict[str, Any]) -> None:
    """Say what each fold hides, each in words of its own."""
    seen: Counter[str] = Counter()
    for cell in notebook["cells"]:
        if not {"hide-input", "hide-cell"} & set(cell["metadata"].get("tags", [])):
            continue
        figures = [figure["name"] for figure in figures_in([cell])]
        lines = [line for line in cell["source"].splitlines() if line and line[0] not in " )#"]
        imports = all(line.startswith(("import ", "from ")) for line in lines)
        what = "the imports" if imports else "the code"
        what = f"the code of figure {figures[0]}" if figures else what
        seen[what] += 1
        what += f" ({seen[what]})" if seen[what] > 1 else ""
        cell["metadata"].setdefault("mystnb", {}).update(
            code_prompt_show=f"Show {what}", code_prompt_hide=f"Hide {what}"
        )


def _name_tables(notebook: dict[str, Any]) -> None:
    """Tables of the same columns get numbers: a list of them, read aloud, tells them apart."""
    seen: Counter[str] = Counter()

    def numbered(found: re.Match[str]) -> str:
        seen[found[1]] += 1
        number = f" ({seen[found[1]]})" if seen[found[1]] > 1 else ""
        return f'aria-label="{found[1]}{number}"'

    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/html" in data:
                data["text/html"] = re.sub('aria-label="(Table[^"]*)"', numbered, data["text/html"])


def _head(cells: list[dict[str, Any]], source: Source, box: str) -> list[dict[str, Any]]:
    """Title, summary box, the telling figure, then the page.

    The figure is the one that the front matter names under `telling`, or the first: it answers the
    reader before the page tells how. Its code stays where it is.
    """
    first = cells[0]
    title, _, rest = first["source"].partition("\n")
    names = {f["name"]: c for c in cells if c.get("outputs") for f in figures_in([c])}
    telling = names.get(source.telling) if source.telling else next(iter(names.values()), None)
    if source.telling and telling is None:
        raise BookError(
            f"{source.path.name}: telling is {source.telling!r}, but its figures are: "
            f"{', '.join(names) or 'none'}"
        )
    lifted = []
    if telling is not None and source.settles:
        at = cells.index(telling)
        shown = {**telling, "id": "telling", "source": "# lifted", "outputs": telling["outputs"]}
        shown["metadata"] = {**telling["metadata"], "tags": ["remove-input"]}
        links = {**cells[at + 1], "id": "telling-data"}
        prompts = {k: v for k, v in telling["metadata"]["mystnb"].items() if "prompt" in k}
        code = {**telling, "outputs": [], "metadata": {"tags": ["hide-input"], "mystnb": prompts}}
        lifted = [shown, links]
        cells = [*cells[:at], code, *cells[at + 2 :]]
    # Whoever searches for an ID comes here first; the anchor needs a box that can carry it.
    index = f"```{{index}} {', '.join(f'! {name}' for name in source.settles)}\n```"
    index = f"{index}\n\n" if source.settles else ""
    top = _markdown("title", f"{title}\n\n{index}:::{{div}} sb-found-here\n{box}\n:::")
    return [{**first, **top}, *lifted, _markdown("opening", rest), *cells[1:]]


def _drop_private_types(cell: dict[str, Any]) -> None:
    for output in cell.get("outputs", []):
        for mime in (CERTIFICATE, CLAIMS, FIGURE):
            output.get("data", {}).pop(mime, None)


def check_figures(notebook: dict[str, Any], chapter: str) -> None:
    """Every picture needs a caption and an alt text: some readers have only the latter."""
    for cell in notebook["cells"]:
        kinds = [kind for output in cell.get("outputs", []) for kind in output.get("data", {})]
        if not any(kind.startswith("image/") for kind in kinds):
            continue
        metadata = cell["metadata"].get("mystnb") or {}  # a name with nothing after it is None
        for group, field in (("image", "alt"), ("figure", "caption"), ("figure", "name")):
            if not str((metadata.get(group) or {}).get(field) or "").strip():
                raise BookError(
                    f"{chapter}: the cell that begins {cell['source'].splitlines()[0]!r} shows a"
                    f" figure without {field}: add mystnb: {group}: {field} to its metadata"
                )


def _box(
    project: Project, chapter: str, source: Source, ledger: Ledger, record: Record | None
) -> str:
    key = json.loads(project.executed(chapter).read_text())["metadata"]["made"]["key"]
    changes = read_profile(project.profile(key["profile"], chapter))
    agreement = ledger.agreements.get(chapter)
    return pages.box(chapter, source, key, changes, ledger.of(chapter), record, agreement)


def _markdown(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}
