"""The parts of the site that code writes: banners, the ledger, the errata, the summary."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.highlighting import PygmentsBridge

from signalbook import cards, gallery, promises
from signalbook.atlas import atlas, plain
from signalbook.cost_page import cost_page
from signalbook.downloads import as_bibtex, as_csv, as_json, bibtex
from signalbook.errors import BookError
from signalbook.excerpt import leading_to
from signalbook.inventory import DOCUMENTS, KINDS, PARTS, resting_on, rows
from signalbook.launch import binder, colab
from signalbook.ledger import Ledger
from signalbook.parameters import Change, read_profile
from signalbook.pictures import Album
from signalbook.project import Project
from signalbook.records import Record, read_record
from signalbook.scale import OURS
from signalbook.seeds import seeds_page
from signalbook.source import Source
from signalbook.verdicts import SEVERITIES, VERDICTS
from signalbook.words import show, typeset

if TYPE_CHECKING:
    from signalbook.agreement import Agreement

__all__ = [
    "TO_COME",
    "box",
    "closing",
    "disagreement",
    "failed",
    "figure_links",
    "generated",
    "previews",
    "run_it_yourself",
    "symbols",
]

#: What is wrong in the print, by ID: claims, each with code that shows it, where there is some.
Errors = Mapping[str, Sequence[Mapping[str, Any]]]

TO_COME = "still to come"
SLIP = "slip"  # in the place of a severity, where the statement stays as it is
GRAVEST = 5  # findings that the front page shows
#: What the front page's bar joins: a class of its colour, words, and the verdicts.
SHARES = (
    ("good", "stand as printed", ("holds", "holds with slack", "agrees at reduced scale")),
    ("fair", "are slips of print, choices left open, or limits", (
        "misprint", "illustrated", "open choice"
    )),
    ("none", "are not decided, or not reproduced, at the sizes that were run", (
        "not run at this scale", "disagrees at reduced scale", "not reproduced"
    )),
    ("bad", "fail as printed", ("fails as printed",)),
)  # fmt: skip
NOTHING = "No verdict of this part leaves a question."
#: Verdicts that leave a question.
OPEN = (
    "illustrated",
    "agrees at reduced scale",
    "open choice",
    "not run at this scale",
    "disagrees at reduced scale",
    "not reproduced",
)
#: Verdicts of what does not stand, from the least to the worst.
BAD = ("disagrees at reduced scale", "not reproduced", "fails as printed")
HEADINGS = {
    "false": "To be given up",
    "rate": "Another rate",
    "constant": "Another constant",
    "hypothesis": "One more hypothesis",
}


def generated(
    project: Project, ledger: Ledger, albums: Mapping[str, Album] | None = None
) -> dict[str, str]:
    """The generated pages and snippets, by their place among the sources.

    ``albums`` hold the pictures of the chapters, for thumbnails.
    """
    titles = {c: Source(project.source(c)).title for c in project.chapters}
    albums = albums or {}
    errors = _with_code(project, ledger)
    return {
        "pages/map.md": _map(ledger),
        **_downloads(ledger),
        "pages/ledger.md": _ledger(ledger, titles),
        "pages/errata.md": _errata(ledger, errors),
        **{f"pages/errata/{part}.md": _errata_of(part, ledger, titles, errors) for part in PARTS},
        "generated/summary.md": _summary(ledger),
        "generated/findings.md": _findings(ledger, albums),
        **_of_parts(project, ledger, titles, albums),
        "generated/reductions.md": _reductions(project, titles),
        "pages/costs.md": cost_page(project, titles),
        "generated/promises.md": promises.figures(project),
        "pages/seeds.md": seeds_page(project, titles),
    }


def previews(ledger: Ledger) -> str:
    """A script with what each ID stands for: its place, its title, what was found."""
    entries = {entry["id"]: entry for entry in ledger.entries}
    texts = {
        name: cards.template("preview.html.j2").render(row=row, entry=entries.get(name))
        for name, row in rows().items()
    }
    text = json.dumps(texts, ensure_ascii=False, indent=0)
    return f'"use strict";\nwindow.signalbookStatements = {text};\n'


def symbols() -> str:
    """A script with what a formula that is nothing but a symbol means, by part and TeX."""
    table = tomllib.loads(files("signalbook").joinpath("symbols.toml").read_text("utf-8"))
    texts = {part: {tex: typeset(says) for tex, says in its.items()} for part, its in table.items()}
    text = json.dumps(texts, ensure_ascii=False, indent=0)
    return f'"use strict";\nwindow.signalbookSymbols = {text};\n'


def box(
    chapter: str,
    source: Source,
    key: Mapping[str, Any],
    changes: Mapping[str, Change],
    entries: Sequence[Mapping[str, Any]],
    record: Record | None = None,
    agreement: Agreement | None = None,
) -> str:
    """What a chapter shows under its title: what was found, and which sizes made the page.

    A ``record`` is told with what it took, and in how many places it was in ``agreement`` with the
    run of the page. What fails comes first; what is only a slip of print stays in its section.
    Nothing for a page of our own, which settles no statement of a document.
    """
    if not source.settles:
        return ""
    defaults = {name: p.default for name, p in source.parameters.items()}
    reduced = [
        (name, show(value), show(defaults[name]), getattr(changes.get(name), "reason", ""))
        for name, value in key["parameters"].items()
        if value != defaults[name] and name not in OURS
    ]
    return _raw(
        cards.template("box.html.j2").render(
            entries=[e for e in _gravest_first(entries) if "because" not in e],  # argued, not found
            profile=key["profile"],
            reduced=reduced,
            record=record,
            larger=record.reductions(source) if record else {},
            agreement=agreement,
            up="../" * (chapter.count("/") + 1),
        )
    )


def closing(entries: Sequence[Mapping[str, Any]]) -> str:
    """The table at the end of a chapter: every claim of it in a line, what fails first."""
    claims = [claim for entry in _gravest_first(entries) for claim in entry["checks"]]
    return "## What was settled\n\n" + _raw(cards.closing(claims)) if claims else ""


def _gravest_first(entries: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What does not stand comes first: by severity, then by how much else rests on it."""

    def gravity(entry: Mapping[str, Any]) -> tuple[int, int, int]:
        if entry["verdict"] not in BAD:
            return (0, 0, 0)  # the others keep the order of the documents
        severity = SEVERITIES.index(entry["severity"]) if entry.get("severity") else 0
        return (-BAD.index(entry["verdict"]) - 1, -severity, -len(resting_on(entry["id"])))

    return sorted(entries, key=gravity)


def figure_links(chapter: str, name: str, data: str, narrow: str = "", recorded: str = "") -> str:
    """The line under a figure or a table: its numbers, those recorded of it, and the command.

    ``narrow`` is the file of the drawing for phones, which :mod:`signalbook.light` puts in place.
    """
    other = f" · {{download}}`recorded data of {name} (CSV) <{recorded}>`" if recorded else ""
    line = (
        f":::{{div}} sb-figure-links\n{{download}}`Data of {name} (CSV) <{data}>`{other} · made by "
        f"`make chapter C={chapter}`\n:::"
    )
    return line + (f"\n\n:::{{image}} {narrow}\n:class: sb-narrow\n:::" if narrow else "")


def run_it_yourself(
    chapter: str,
    source: Source,
    experiments: Sequence[str] = (),
    recorded: bool = False,
    repository: str = "",
) -> str:
    """The foot of a chapter: notebook, functions that it calls, record, commands, how to cite it.

    ``repository`` is the address of the project: with it there are links that open the chapter.
    """
    slug = Path(chapter).name
    functions = "".join(
        f" · {{download}}`experiments: {name} <{slug}.files/{name}>`" for name in experiments
    )
    record = f" · {{download}}`the record <{slug}.files/{slug}-record.json>`" if recorded else ""
    launch = f" · [open in Binder]({binder(repository, chapter)})" if repository else ""
    if address := colab(repository, chapter):
        launch += f" · [open in Colab]({address})"
    first = next((p for p in source.parameters.values() if isinstance(p.default, int)), None)
    example = f' P="{first.name}={first.default}"' if first else ""
    paper = f"make paper C={chapter}   # the document's own sizes\n" if source.settles else ""
    return (
        "## Run it yourself\n\n"
        f"{{download}}`The executed notebook <{slug}.files/{slug}-executed.ipynb>` · "
        f"{{download}}`its source <{slug}.files/{slug}.md>`{functions}{record}{launch}\n\n"
        "```bash\n"
        f"make chapter C={chapter}{example}   # the fast profile, with your values\n"
        f"{paper}"
        f".venv/bin/papermill jupytext://chapters/{chapter}.md out.ipynb -p seed 1\n"
        "```\n\n"
        ":::{dropdown} Cite this page\n"
        f"```bibtex\n{_citation(chapter, source.title)}```\n"
        "The book and the library as a whole: `CITATION.cff` in the project's folder.\n:::\n"
    )


def _citation(chapter: str, title: str) -> str:
    key = f"signalprop-{chapter.replace('/', '-')}"
    return bibtex(key, plain(title), f"Chapter {chapter}, signalprop {version('signalprop')}")


def failed(title: str, failure: Mapping[str, str] | None) -> str:
    """The page of a chapter that has no finished run."""
    if failure is None:
        return f"# {title}\n\n:::{{admonition}} Not executed yet\nRun `make book`.\n:::\n"
    cell = f"\nIn the cell\n\n```python\n{failure['source']}\n```\n" if failure["source"] else ""
    return (
        f"# {title}\n\n::::{{admonition}} This chapter failed\n:class: danger\n"
        f"```text\n{failure['error']}\n```\n{cell}\n{failure['remedy']}\n::::\n"
    )


def disagreement(title: str, problems: Sequence[str]) -> str:
    """The page of a chapter whose verdicts are not the ones that it declares."""
    items = "\n".join(f"- {problem}" for problem in problems)
    return (
        f"# {title}\n\n:::{{admonition}} This chapter's verdicts are not the declared ones\n"
        f":class: danger\n{items}\n:::\n"
    )


def _ledger(ledger: Ledger, titles: Mapping[str, str]) -> str:
    entries = {entry["id"]: entry for entry in ledger.entries}
    lines = [(row, entries.get(row.id)) for row in rows().values()]
    return (
        "# The ledger\n\nEvery statement, figure and table of the documents, with the verdict "
        "that its chapter computed. What the verdicts mean is said in [](reading.md), and what "
        "rests on what is drawn in [](map.md). An ID leads to its own address. All of it as a "
        "file: {download}`CSV <ledger.csv>`, {download}`JSON <ledger.json>`, "
        "{download}`BibTeX <ledger.bib>`.\n\n"
        + _render(
            "ledger.html.j2",
            what="the ledger",
            lines=lines,
            titles=titles,
            to_come=TO_COME,
            filters={
                "document": list(DOCUMENTS),
                "kind": KINDS,
                "verdict": [*VERDICTS, *([TO_COME] if len(entries) < len(rows()) else [])],
                "certificate": ["proved", "certified"],
            },
            certified=_certified,
            slipped=lambda entry: bool(_errors(entry)) and entry["verdict"] != "fails as printed",
        )
    )


def _errata(ledger: Ledger, errors: Errors) -> str:
    """All that fails in a line each, the gravest first; every part has a page with the whole."""
    found = [entry for entry in ledger.entries if errors[entry["id"]]]
    return (
        "# Errata\n\nStatements that fail as printed, the gravest first, then slips of proofs "
        "and of print, which leave a statement as it is. Each leads to its erratum: what is "
        "printed, a counterexample with code, the sizes at which it can be seen, and a repair that "
        "passes the same test. All but the slips of print, which are argued, are computed anew "
        "with every build. Where it says *certified*, no rounding can explain the counterexample. "
        "[](reading.md) says how severities are told apart.\n\n"
        + (f"{_counted(errors)}\n\n{_list_of_errata(found)}" if found else "None so far.")
    )


def _counted(errors: Errors) -> str:
    """How many counterexamples come with code, and of which kind."""
    computed = [e for found in errors.values() for e in found if e["verdict"] != "misprint"]
    at_points = sum(bool(_at_point(error)) for error in computed)
    by_chapters = sum(bool(error.get("lines")) for error in computed)
    return (
        f"Of {len(computed)} counterexamples, {at_points} come with a few lines that evaluate both "
        f"sides at their point, and {by_chapters} with the lines of their chapter that lead to "
        "them. Both run as they stand: in a file, with `.venv/bin/python`, in the project's folder."
    )


def _with_code(project: Project, ledger: Ledger) -> Errors:
    """The errors of each entry; those without code at their point with their chapter's lines."""
    return {
        entry["id"]: [{**error, **_lines(project, entry, error)} for error in _errors(entry)]
        for entry in ledger.entries
    }


def _lines(project: Project, entry: Mapping[str, Any], error: Mapping[str, Any]) -> dict[str, Any]:
    """The lines of the chapter that lead to an error, and what they took, if it was recorded."""
    if error["verdict"] == "misprint" or _at_point(error):
        return {}
    source = Source(project.source(entry["chapter"]))
    record = read_record(project, entry["chapter"]) if error.get("recorded") else None
    values = record["parameters"] if record else entry["parameters"]
    return {"lines": leading_to(source, error, values), "took": record and record["seconds"]}


def _at_point(error: Mapping[str, Any]) -> str:
    """The code that evaluates both sides at a counterexample, "" where there is none."""
    return str((error["counterexample"] or {}).get("code", ""))


def _list_of_errata(found: Sequence[Mapping[str, Any]]) -> str:
    filters = {"document": DOCUMENTS, "kind": KINDS, "severity": [*reversed(SEVERITIES), SLIP]}
    return "\n\n".join(
        [
            _render("filters.html.j2", what="the errata", filters=filters),
            _grouped("errata.html.j2", found, certified=_certified, slip=SLIP),
            _raw('<script src="../_static/errata.js"></script>'),
        ]
    )


def _errata_of(part: str, ledger: Ledger, titles: Mapping[str, str], errors: Errors) -> str:
    """The errata of one part in full; all on one page would weigh too much for a phone."""
    found = [e for e in ledger.entries if errors[e["id"]] and rows()[e["id"]].part == part]
    document = next(row.document for row in rows().values() if row.part == part)
    return f"# Errata of {document}\n\n{DOCUMENTS[document]}.\n\n" + (
        _grouped(
            "erratum.html.j2",
            found,
            titles=titles,
            errors=errors,
            certified=_certified,
            highlighted=_highlighted,
            resting=lambda name: sorted(resting_on(name), key=list(rows()).index),
        )
        or "None so far."
    )


def _grouped(template: str, found: Sequence[Mapping[str, Any]], **values: Any) -> str:
    """Failing statements from the gravest to the least, then slips of proofs and of print."""
    failing = [entry for entry in found if entry["verdict"] == "fails as printed"]
    groups = {
        HEADINGS[severity]: [e for e in _gravest_first(failing) if e["severity"] == severity]
        for severity in reversed(SEVERITIES)
    }
    groups["Slips that leave the statement as it is"] = [e for e in found if e not in failing]
    return "\n\n".join(
        f"## {heading}\n\n{_render(template, entries=entries, rows=rows(), **values)}"
        for heading, entries in groups.items()
        if entries
    )


def _errors(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The claims of an entry that found an error of the print."""
    return [c for c in entry["checks"] if c["verdict"] in ("fails as printed", "misprint")]


def _certified(entry: Mapping[str, Any]) -> bool:
    """Whether an error that the entry tells of is certified: by balls or exact numbers."""
    return any(error.get("certificate") for error in _errors(entry))


def _downloads(ledger: Ledger) -> dict[str, str]:
    """The ledger as files, beside its page."""
    entries = {entry["id"]: entry for entry in ledger.entries}
    return {
        "pages/ledger.csv": as_csv(entries),
        "pages/ledger.json": as_json(entries),
        "pages/ledger.bib": as_bibtex(entries),
    }


def _map(ledger: Ledger) -> str:
    """How the statements rest on one another, drawn for each document."""
    entries = {entry["id"]: entry for entry in ledger.entries}
    sections = [
        (f"({address})=\n## {heading}\n\n" if heading else "") + _raw(text)
        for address, heading, text in atlas(entries)
    ]
    return (
        "# The map of statements\n\nWhat each statement, figure and table needs stands to its "
        "left, and what uses it to its right. A node leads to the claim in its chapter. With the "
        "keyboard, the arrows go along the lines. Below each drawing stands the same as a list.\n\n"
        + "\n\n".join(sections)
        + "\n\n"
        + _raw('<script src="../_static/map.js"></script>')
        + "\n"
    )


def _summary(ledger: Ledger) -> str:
    """The front page's account: how much is settled, and what became of it."""
    counts = ledger.counts()
    failing = [entry for entry in ledger.entries if entry["verdict"] == "fails as printed"]
    by_severity = {
        name: sum(entry["severity"] == name for entry in failing) for name in reversed(SEVERITIES)
    }
    shares = [
        (colour, words, sum(counts[verdict] for verdict in verdicts))
        for colour, words, verdicts in SHARES
    ]
    return (
        _render(
            "front.html.j2",
            proved=sum(entry.get("proved", False) for entry in ledger.entries),
            certified=sum(map(_certified, ledger.entries)),
            settled=len(ledger.entries),
            recorded=sum(bool(entry.get("recorded")) for entry in ledger.entries),
            argued=counts["misprint"],
            total=len(rows()),
            counts=counts,
            up="pages/",
            shares=[share for share in shares if share[2]],
            severities=[(HEADINGS[n].lower(), count) for n, count in by_severity.items() if count],
        )
        + "\n"
    )


def _findings(ledger: Ledger, albums: Mapping[str, Album]) -> str:
    """The most telling findings: the gravest of each part, and of these the gravest.

    Of those that other statements rest on: a wrong label in a figure is wrong for good and harms
    nothing else.
    """
    failing = [
        entry
        for entry in ledger.entries
        if entry["verdict"] == "fails as printed" and resting_on(entry["id"])
    ]
    first: dict[str, Mapping[str, Any]] = {}
    for entry in _gravest_first(failing):
        first.setdefault(rows()[entry["id"]].part, entry)
    shown = list(first.values())[:GRAVEST]
    return gallery.tiles(
        [
            gallery.tile(
                albums.get(entry["chapter"], Album()).of_claims.get(entry["anchor"]),
                _render(
                    "finding.html.j2",
                    entry=entry,
                    row=rows()[entry["id"]],
                    reach=len(resting_on(entry["id"])),
                ),
                "",
            )
            for entry in shown
        ]
    )


def _of_parts(
    project: Project, ledger: Ledger, titles: Mapping[str, str], albums: Mapping[str, Album]
) -> dict[str, str]:
    """For the essay of each part: its counts, what is open, and tiles of its chapters."""
    found, before = {}, gallery.prerequisites(project)
    for part in PARTS:
        entries = [entry for entry in ledger.entries if rows()[entry["id"]].part == part]
        counts = Counter(entry["verdict"] for entry in entries)
        left = [entry for entry in entries if entry["verdict"] in OPEN]
        found[f"generated/parts/{part}-counts.md"] = _render(
            "counts.html.j2",
            counts={verdict: counts[verdict] for verdict in VERDICTS},
            document=next(row.document for row in rows().values() if row.part == part),
            up="../",
        )
        found[f"generated/parts/{part}-open.md"] = (
            _render("open.html.j2", entries=left, rows=rows()) if left else NOTHING
        )
        found[f"generated/parts/{part}.md"] = gallery.tiles(
            [
                _chapter_tile(project, chapter, ledger, titles, before[chapter], albums)
                for chapter in project.chapters
                if chapter.startswith(f"{part}/")
            ]
        )
    return found


def _chapter_tile(
    project: Project,
    chapter: str,
    ledger: Ledger,
    titles: Mapping[str, str],
    before: Sequence[str],
    albums: Mapping[str, Album],
) -> str:
    pictures = albums.get(chapter, Album())
    entries = ledger.of(chapter)
    text = _render(
        "tile.html.j2",
        chapter=chapter,
        titles=titles,
        before=before,
        minutes=gallery.minutes(Source(project.source(chapter)), len(pictures.pictures)),
        statements=len(entries),
        failing=sum(entry["verdict"] == "fails as printed" for entry in entries),
        up="../../",
    )
    return gallery.tile(pictures.telling, text, "../../")


def _reductions(project: Project, titles: Mapping[str, str]) -> str:
    """What the fast profile puts in place of the document's values."""
    lines = ["| chapter | values reduced by the profile |", "| --- | --- |"]
    for chapter, title in titles.items():
        try:
            changes = read_profile(project.profile("fast", chapter))
        except BookError:
            continue  # the chapter's own page says what is wrong
        if changes:
            values = ", ".join(f"`{n} = {show(c.value)}`" for n, c in changes.items())
            lines.append(f"| [{title}](../chapters/{chapter}) | {values} |")
    return "\n".join(lines) + "\n"


def _render(template: str, **values: Any) -> str:
    return _raw(cards.template(template).render(values))


def _highlighted(code: str) -> str:
    """Code as HTML, as it is elsewhere in the book: coloured, with a button to copy it."""
    return PygmentsBridge("html").highlight_block(code, "python")


def _raw(text: str) -> str:
    """HTML for a Markdown page, in a fence that nothing within can close."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{{raw}} html\n{text}\n{fence}"
