"""Claims as pages show them: the card of one, the closing table of a chapter, and the templates.

How a claim is shown is separate from how it is decided: a chapter leaves data, and the pages are
made from it anew by every build.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import jinja2

from signalbook.inventory import rows
from signalbook.words import badge, duration, show, slug, typeset

__all__ = ["anchored", "card", "certificate", "closing", "erratum", "template"]


def card(claim: Mapping[str, Any], up: str = "../../") -> str:
    """One claim with its evidence, as HTML; ``up`` leads from its page to the root of the site."""
    named = {"anchor": f"claim-{slug(claim['id'])}", **claim, "row": rows()[claim["id"]]}
    links = {
        "ledger": f"{up}pages/ledger.html#{slug(claim['id'])}",
        "errata": f"{up}pages/{erratum(claim['id'])}",
    }
    return template("card.html.j2").render(named | links)


def certificate(said: Mapping[str, Any]) -> str:
    """One certificate where a page asks for it, as HTML; the card of its claim repeats it."""
    return template("certificate.html.j2").render(said)


def closing(claims: Sequence[Mapping[str, Any]]) -> str:
    """The table at the end of a chapter: every claim in a line."""
    named = [{**claim, "row": rows()[claim["id"]]} for claim in claims]
    return template("closing.html.j2").render(claims=named)


def anchored(claims: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Give each claim of a page an address of its own: claim-<id>, claim-<id>-2, ...

    >>> [c["anchor"] for c in anchored([{"id": "ORTH-T1"}, {"id": "ORTH-T1"}])]
    ['claim-orth-t1', 'claim-orth-t1-2']
    """
    seen: dict[str, int] = {}
    found = []
    for claim in claims:
        name = slug(claim["id"])
        seen[name] = seen.get(name, 0) + 1
        number = f"-{seen[name]}" if seen[name] > 1 else ""
        found.append({**claim, "anchor": f"claim-{name}{number}"})
    return found


def erratum(name: str) -> str:
    """The address of a statement's erratum, from the folder of the pages on.

    >>> erratum("ORTH-T1")
    'errata/orthogonality.html#erratum-orth-t1'
    """
    return f"errata/{rows()[name].part}.html#erratum-{slug(name)}"


def begun(text: str) -> str:
    """Begin a sentence: a first word gets a capital letter, a symbol and all that follows stay.

    >>> begun("a slice, as Equation 6 has it"), begun("n = d"), begun("$v$ alone")
    ('A slice, as Equation 6 has it', 'n = d', '$v$ alone')
    """
    return re.sub(r"^(?:a(?= [a-z])|[a-z](?=[a-z]))", lambda first: first[0].upper(), text)


@cache
def template(name: str) -> jinja2.Template:
    """A template of the package, with the words that all of them use."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("signalbook"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.ChainableUndefined,
    )
    environment.filters["begun"] = begun
    environment.filters["erratum"] = erratum
    environment.filters["slug"] = slug
    environment.globals.update(badge=badge, duration=duration, show=show, typeset=typeset)
    found: jinja2.Template = environment.get_template(name)
    return found
