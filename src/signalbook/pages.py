"""The parts of the site that code writes: banners, the ledger, the errata, the summary."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from signalbook.claims import VERDICTS, badge, show, typeset
from signalbook.inventory import DOCUMENTS, rows
from signalbook.ledger import Ledger
from signalbook.parameters import Change, read_profile
from signalbook.project import Project
from signalbook.source import Source

__all__ = [
    "banner",
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


def banner(
    chapter: str,
    source: Source,
    key: Mapping[str, Any],
    changes: Mapping[str, Change],
    entries: Sequence[Mapping[str, Any]],
    record: Mapping[str, Any] | None,
) -> str:
    """What a chapter shows under its title: its verdicts, and which sizes made the page.

    Nothing for a page of our own, which settles no statement of a document.
    """
    if not source.settles:
        return ""
    up = "../" * (chapter.count("/") + 1)
    badges = "".join(
        f'<li><a href="{up}pages/ledger.html#{entry["id"].lower()}">{entry["id"]}</a> '
        f"{badge(entry['verdict'])}</li>"
        for entry in entries
    )
    defaults = {name: p.default for name, p in source.parameters.items()}
    differing = [
        f"<li><code>{name} = {_esc(show(value))}</code> instead of "
        f"<code>{_esc(show(defaults[name]))}</code>"
        f"{': ' + typeset(changes[name].reason) if name in changes else ''}</li>"
        for name, value in key["parameters"].items()
        if value != defaults[name]
    ]
    sizes = (
        f"<details><summary>Made with the {_esc(key['profile'])} profile: {len(differing)} "
        f"{'value differs' if len(differing) == 1 else 'values differ'} from the document's"
        f"</summary><ul>{''.join(differing)}</ul></details>"
        if differing
        else "<p>Made with the document's own values.</p>"
    )
    note = _record_note(record, key["code"]) if record else ""
    verdicts = f'<ul class="sb-verdicts">{badges}</ul>' if badges else ""
    return _raw(f'<div class="sb-banner">{verdicts}{sizes}{note}</div>')


def _record_note(record: Mapping[str, Any], code: str) -> str:
    stale = "" if record["code"] == code else " The code has changed since: the record is stale."
    made = f"{record['date']}, on {record['device']}, in {record['seconds']:.0f} s"
    return f"<p>A run at the document's own sizes was recorded on {_esc(made)}.{stale}</p>"


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
    body = []
    for row in rows().values():
        entry = entries.get(row.id)
        verdict = entry["verdict"] if entry else TO_COME
        chapter = (
            f'<a href="../chapters/{entry["chapter"]}.html">{_esc(titles[entry["chapter"]])}</a>'
            if entry
            else ""
        )
        numbers = f"<td>{_esc(_published(entry))}</td><td>{_esc(_measured(entry))}</td>"
        body.append(
            f'<tr id="{row.id.lower()}" data-document="{row.document}" data-kind="{_esc(row.kind)}"'
            f' data-verdict="{verdict}"><th scope="row">{row.id}</th>'
            f"<td>{badge(verdict)}{_slip(entry)}</td>"
            f"<td>{_esc(row.title)}</td><td>{_esc(row.kind)}</td>{numbers}<td>{chapter}</td></tr>"
        )
    filters = "".join(
        _select(name, options)
        for name, options in (
            ("document", list(DOCUMENTS)),
            ("kind", sorted({row.kind for row in rows().values()})),
            ("verdict", [*VERDICTS, TO_COME]),
        )
    )
    heads = ("ID", "Verdict", "What", "Kind", "Published", "Measured", "Chapter")
    head = "".join(f'<th scope="col">{h}</th>' for h in heads)
    table = (
        f'<form class="sb-filters" aria-label="Filter the ledger" hidden>{filters}'
        '<output id="sb-count" aria-live="polite"></output></form>'
        '<div class="sb-table" tabindex="0" role="region" aria-label="Ledger">'
        f'<table id="sb-ledger"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody>'
        '</table></div><script src="../_static/ledger.js"></script>'
    )
    return (
        "# The ledger\n\nEvery statement, figure and table of the documents, with the verdict that "
        "its chapter computed. What the verdicts mean is said in [](reading.md).\n\n" + _raw(table)
    )


def _slip(entry: Mapping[str, Any] | None) -> str:
    """A note at a statement that stands although a display of its proof does not."""
    if entry is None or entry["verdict"] == "fails as printed" or not _failing(entry):
        return ""
    return '<div class="sb-note"><a href="errata.html">slip in the proof</a></div>'


def _select(name: str, options: Sequence[str]) -> str:
    choices = "".join(f'<option value="{_esc(o)}">{_esc(o)}</option>' for o in options)
    return (
        f'<label>{name.capitalize()} <select name="{name}"><option value="">all</option>'
        f"{choices}</select></label>"
    )


def _published(entry: Mapping[str, Any] | None) -> str:
    return "" if entry is None else show(entry["published"])


def _measured(entry: Mapping[str, Any] | None) -> str:
    if entry is None:
        return ""
    interval = f" [{show(entry['interval'])}]" if entry["interval"] is not None else ""
    return show(entry["measured"]) + interval


def _errata(ledger: Ledger, titles: Mapping[str, str]) -> str:
    failing = [entry for entry in ledger.entries if _failing(entry)]
    sections = [
        f"## {entry['id']}: {rows()[entry['id']].title}\n\n"
        f"From the chapter [{titles[entry['chapter']]}](../chapters/{entry['chapter']}).\n\n"
        + "\n".join(_erratum(claim) for claim in _failing(entry))
        for entry in failing
    ]
    return (
        "# Errata\n\nStatements that fail as printed: what is wrong, a counterexample, and a "
        "repair that passes the same test. Each is computed anew with every build.\n\n"
        + ("\n".join(sections) or "No statement has failed so far.\n")
    )


def _failing(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [claim for claim in entry["checks"] if claim["verdict"] == "fails as printed"]


def _erratum(claim: Mapping[str, Any]) -> str:
    repair = claim["instead"]
    tolerance = "" if repair["tolerance"] is None else f", tolerance {show(repair['tolerance'])}"
    return (
        f"**Printed{' in the proof' if claim['in_proof'] else ''}**\n: {claim['statement']}\n\n"
        f"**Counterexample**\n: {claim['counterexample']}\n\n"
        f"**Repair**\n: {repair['statement']} *Tested the same way: measured "
        f"{show(repair['measured'])}{tolerance}.*\n"
    )


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
        and {"theorem", "corollary", "proposition"} & set(rows()[entry["id"]].kind.split())
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
        changes = read_profile(project.profile("fast", chapter))
        values = ", ".join(f"`{n} = {show(c.value)}`" for n, c in changes.items()) or "none"
        lines.append(f"| [{title}](../chapters/{chapter}) | {values} |")
    return "\n".join(lines) + "\n"


def _raw(text: str) -> str:
    return f"```{{raw}} html\n{text}\n```"


def _esc(value: object) -> str:
    return html.escape(str(value))
