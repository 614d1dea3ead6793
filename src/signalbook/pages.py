"""The parts of the site that code writes: banners, the ledger, the errata, the summary."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from signalbook import cards
from signalbook.errors import BookError
from signalbook.inventory import DOCUMENTS, KINDS, rows
from signalbook.ledger import Ledger
from signalbook.parameters import Change, read_profile
from signalbook.project import Project
from signalbook.settle import SEVERITIES, VERDICTS
from signalbook.source import Source
from signalbook.words import badge, show, typeset

__all__ = [
    "TO_COME",
    "box",
    "closing",
    "disagreement",
    "failed",
    "figure_links",
    "generated",
    "run_it_yourself",
]

TO_COME = "still to come"


def generated(project: Project, ledger: Ledger) -> dict[str, str]:
    """The generated pages and snippets, by their place among the sources."""
    titles = {c: Source(project.source(c)).title for c in project.chapters}
    return {
        "pages/ledger.md": _ledger(ledger, titles),
        "pages/errata.md": _errata(ledger, titles),
        "generated/summary.md": _summary(ledger),
        "generated/costs.md": _costs(project, titles),
    }


def box(
    chapter: str,
    source: Source,
    key: Mapping[str, Any],
    changes: Mapping[str, Change],
    entries: Sequence[Mapping[str, Any]],
    record: Mapping[str, Any] | None,
) -> str:
    """What a chapter shows under its title: what was found, and which sizes made the page.

    Nothing for a page of our own, which settles no statement of a document.
    """
    if not source.settles:
        return ""
    up = "../" * (chapter.count("/") + 1)
    defaults = {name: p.default for name, p in source.parameters.items()}
    differing = [
        f"<code>{name} = {_esc(show(value))}</code> instead of "
        f"<code>{_esc(show(defaults[name]))}</code>"
        f"{': ' + typeset(changes[name].reason) if name in changes else ''}"
        for name, value in key["parameters"].items()
        if value != defaults[name]
    ]
    count = f"{len(differing)} {'value differs' if len(differing) == 1 else 'values differ'}"
    summary = f"Made with the {key['profile']} profile: {count} from the document's"
    sizes = {"summary": summary, "lines": differing} if differing else None
    note = _record_note(record, key["code"]) if record else ""
    return _raw(cards.box(entries, sizes, note, up))


def closing(entries: Sequence[Mapping[str, Any]]) -> str:
    """The table at the end of a chapter: every claim of it in a line."""
    claims = [claim for entry in entries for claim in entry["checks"]]
    return "## What was settled\n\n" + _raw(cards.closing(claims)) if claims else ""


def _record_note(record: Mapping[str, Any], code: str) -> str:
    stale = "" if record["code"] == code else " The code has changed since: the record is stale."
    made = f"{record['date']}, on {record['device']}, in {record['seconds']:.0f} s"
    return f"A run at the document's own sizes was recorded on {made}.{stale}"


def figure_links(chapter: str, data: str) -> str:
    """The line under a figure: its numbers and the command that made it."""
    return (
        f":::{{div}} sb-figure-links\n{{download}}`Data (CSV) <{data}>` · made by "
        f"`make chapter C={chapter}`\n:::"
    )


def run_it_yourself(chapter: str, source: Source) -> str:
    """The foot of a chapter: the notebook and the commands."""
    slug = Path(chapter).name
    first = next((p for p in source.parameters.values() if p.name != "seed"), None)
    example = f' P="{first.name}=..."' if first else ""
    return (
        "## Run it yourself\n\n"
        f"{{download}}`The executed notebook <{slug}.files/{slug}-executed.ipynb>` · "
        f"{{download}}`its source <{slug}.files/{slug}.md>`\n\n"
        "```bash\n"
        f"make chapter C={chapter}{example}   # the fast profile, with your values\n"
        f"make paper C={chapter}   # the document's own sizes\n"
        f"papermill jupytext://chapters/{chapter}.md out.ipynb -p seed 1\n"
        "```\n"
    )


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
    return _page(
        "ledger.html.j2",
        lines=lines,
        titles=titles,
        to_come=TO_COME,
        filters={
            "document": list(DOCUMENTS),
            "kind": KINDS,
            "verdict": [*VERDICTS, TO_COME],
        },
        slipped=lambda entry: bool(_errors(entry)) and entry["verdict"] != "fails as printed",
        intro="# The ledger\n\nEvery statement, figure and table of the documents, with the "
        "verdict that its chapter computed. What the verdicts mean is said in [](reading.md).\n\n",
    )


def _errata(ledger: Ledger, titles: Mapping[str, str]) -> str:
    """Failing statements from the gravest to the least, then slips of proofs and of print."""
    failing = [entry for entry in ledger.entries if entry["verdict"] == "fails as printed"]
    failing.sort(key=lambda e: -SEVERITIES.index(e.get("severity") or SEVERITIES[0]))
    slips = [entry for entry in ledger.entries if entry not in failing and _errors(entry)]
    return _page(
        "errata.html.j2",
        failing=failing,
        slips=slips,
        errors=_errors,
        titles=titles,
        rows=rows(),
        intro="# Errata\n\nStatements that fail as printed, the gravest first: what is printed, a "
        "counterexample, the sizes at which it can be seen, and a repair that passes the same "
        "test. Each is computed anew with every build. Slips of proofs and of print, which leave "
        "a statement as it is, follow.\n\n",
    )


def _errors(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The claims of an entry that found an error of the print."""
    return [c for c in entry["checks"] if c["verdict"] in ("fails as printed", "misprint")]


def _summary(ledger: Ledger) -> str:
    items = "".join(
        f"<li>{badge(verdict)} <strong>{count}</strong></li>"
        for verdict, count in ledger.counts().items()
        if count
    )
    failing = [
        f'<a href="chapters/{entry["chapter"]}.html">{entry["id"]}</a>'
        for entry in ledger.entries
        if entry["verdict"] == "fails as printed"
        and rows()[entry["id"]].kind in ("theorem", "corollary")
    ]
    headline = (
        f"<p>Among the theorems, propositions and corollaries that fail as printed, each with a "
        f"counterexample and a repair: {', '.join(failing)}.</p>"
        if failing
        else ""
    )
    return (
        f"Of {len(rows())} statements, figures and tables, {len(ledger.entries)} have a "
        "verdict:\n\n" + _raw(f'<ul class="sb-summary">{items}</ul>{headline}') + "\n"
    )


def _costs(project: Project, titles: Mapping[str, str]) -> str:
    """How large the runs are; times differ between machines and stay out of the pages."""
    lines = ["| chapter | values reduced by the profile |", "| --- | --- |"]
    for chapter, title in titles.items():
        try:
            changes = read_profile(project.profile("fast", chapter))
        except BookError:
            continue  # the chapter's own page says what is wrong
        values = ", ".join(f"`{n} = {show(c.value)}`" for n, c in changes.items()) or "none"
        lines.append(f"| [{title}](../chapters/{chapter}) | {values} |")
    return "\n".join(lines) + "\n"


def _page(template: str, *, intro: str, **values: Any) -> str:
    return intro + _raw(cards.template(template).render(values))


def _raw(text: str) -> str:
    return f"```{{raw}} html\n{text}\n```"


def _esc(value: object) -> str:
    return html.escape(str(value))
