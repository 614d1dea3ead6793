"""The map of statements: what each of them needs, and what uses it, drawn part by part.

The drawing is made here, as SVG with links; a script (``assets/map.js``) only lights up what
belongs together. The needs are data, in ``src/signalbook/statements``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from signalbook import cards
from signalbook.inventory import DOCUMENTS, PARTS, Row, corrected_by, rows
from signalbook.layered import Layout, laid_out
from signalbook.verdicts import VERDICTS
from signalbook.words import slug

__all__ = ["atlas", "plain", "used_by"]

WIDTH, HEIGHT = 66, 24  # of a node, in px, as are all lengths
COLUMN, ROW, LINE = 128, 34, 9
MARGIN = 14
#: How the statement of a row stands, by its verdict; any other is undecided.
STANDING = {
    "holds": "as-printed",
    "holds with slack": "as-printed",
    "misprint": "mended",
    "fails as printed": "mended",
}


@dataclass(frozen=True)
class Node:
    """A statement on the map, or one of another part that it needs (``guest``)."""

    row: Row
    x: int
    y: int
    verdict: str
    link: str
    users: int
    slip: bool
    guest: bool

    @property
    def outline(self) -> str:
        """The path of its shape, around the centre."""
        return _SHAPES[self.row.kind]

    @property
    def label(self) -> str:
        """What stands in the shape; a guest says where it comes from."""
        return self.row.id if self.guest else self.row.id.split("-", 1)[1]

    @property
    def standing(self) -> str:
        """The kind of its border."""
        return STANDING.get(self.verdict, "undecided")

    @property
    def said(self) -> str:
        """What it is, in words, for those who do not see it."""
        error = ", an error in its proof" if self.slip else ""
        error += ", corrected by a later text" if self.row.corrected else ""
        return (
            f"{self.row.id}, {self.row.kind}, {plain(self.row.title)}: {self.verdict}{error}; "
            f"used by {self.users}"
        )


@dataclass(frozen=True)
class Line:
    """A need, drawn from what is needed to what needs it; ``kind`` is "statement" or "proof".

    A "correction" goes from the earlier statement to the later one that corrects it.
    """

    need: str
    user: str
    kind: str
    path: str


def atlas(entries: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """The sections of ``pages/map.md``: address, heading and HTML, the legend without a heading.

    ``entries`` are those of the ledger, by ID.
    """
    common = {"shapes": _SHAPES, "half": (WIDTH // 2, HEIGHT // 2)}
    lists = {"users": used_by(), "known": rows(), "entries": entries}
    found = [
        ("", "", _render("map-legend.html.j2", common, {"verdicts": VERDICTS})),
        ("map-of-documents", "Between the documents", _render(
            "map-documents.html.j2", common, _overview()
        )),
    ]  # fmt: skip
    for part in PARTS:
        drawn = _part(part, entries)
        text = _render("map-part.html.j2", common, lists, drawn)
        found.append((f"map-of-{part}", str(drawn["document"]), text))
    return found


def _render(template: str, *values: Mapping[str, Any]) -> str:
    return cards.template(template).render({k: v for group in values for k, v in group.items()})


def used_by() -> dict[str, tuple[str, ...]]:
    """The IDs that use each statement directly, in the order of the documents.

    >>> "ORTH-C3" in used_by()["ORTH-T1"]
    True
    """
    found: dict[str, list[str]] = {name: [] for name in rows()}
    for row in rows().values():
        for need in dict.fromkeys((*row.statement_needs, *row.proof_needs)):
            found[need].append(row.id)
    return {name: tuple(users) for name, users in found.items()}


def plain(text: str) -> str:
    r"""Text without the marks of its formulas, where none can be set.

    >>> plain(r"Gap is at most $2n\\hat V$")
    'Gap is at most 2n hat V'
    """
    words = re.sub(r"\\+(?:mathrm|mathbb|mathcal|operatorname|text)?", " ", text)
    return " ".join(re.sub(r"[${}]", "", words).split())


def _part(part: str, entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    own = [row for row in rows().values() if row.part == part]
    needs = {row.id: (*_needs(row), *corrected_by(row.id)) for row in own}
    guests = {n for its in needs.values() for n in its} - {row.id for row in own}
    names = [*(name for name in rows() if name in guests), *(row.id for row in own)]
    linked = {*needs, *guests} - _alone(needs, names)
    drawn = laid_out(
        [name for name in names if name in linked], needs, column=COLUMN, row=ROW, line=LINE
    )
    places = _with_the_rest(drawn, [name for name in names if name not in linked])
    users = used_by()
    nodes = [
        _node(rows()[name], places[name], entries.get(name), len(users[name]), name in guests)
        for name in names
    ]
    document = own[0].document
    return {
        "name": part,
        "document": document,
        "title": DOCUMENTS[document],
        "nodes": nodes,
        "lines": _lines(drawn, rows()),
        "rows": own,
        "width": round(max(x for x, _ in places.values())) + WIDTH + 2 * MARGIN,
        "height": round(max(y for _, y in places.values())) + HEIGHT + 2 * MARGIN,
    }


def _overview() -> dict[str, Any]:
    """The documents, and how many statements of one use how many of another."""
    pairs: dict[tuple[str, str], int] = {}
    for row in rows().values():
        for need in _needs(row):
            other = rows()[need].document
            if other != row.document:
                pairs[other, row.document] = pairs.get((other, row.document), 0) + 1
    needs: dict[str, list[str]] = {name: [] for name in DOCUMENTS}
    for need, user in pairs:
        needs[user].append(need)
    alone = _alone(needs, list(DOCUMENTS))
    drawn = laid_out([n for n in DOCUMENTS if n not in alone], needs, column=COLUMN, row=1.5 * ROW)
    places = _with_the_rest(drawn, [name for name in DOCUMENTS if name in alone])
    count = {name: sum(row.document == name for row in rows().values()) for name in DOCUMENTS}
    parts = {row.document: row.part for row in rows().values()}
    return {
        "nodes": [(n, count[n], parts[n], round(x), round(y)) for n, (x, y) in places.items()],
        "lines": [
            (_path(drawn.routes[pair]), number, _middle(drawn.routes[pair]), pair)
            for pair, number in pairs.items()
        ],
        "width": round(max(x for x, _ in places.values())) + WIDTH + 2 * MARGIN,
        "height": round(max(y for _, y in places.values())) + HEIGHT + 2 * MARGIN,
    }


def _needs(row: Row) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*row.statement_needs, *row.proof_needs)))


def _alone(needs: Mapping[str, Iterable[str]], names: Sequence[str]) -> set[str]:
    """Those of the names that nothing of the drawing ties to another."""
    tied = {name for name, its in needs.items() if its} | {n for its in needs.values() for n in its}
    return set(names) - tied


def _with_the_rest(drawn: Layout, rest: Sequence[str]) -> dict[str, tuple[float, float]]:
    """The places of the layout, and below them a row of the nodes that stand alone."""
    foot = drawn.size[1] + 1.5 * ROW if drawn.places else 0.0
    return drawn.places | {name: (place * COLUMN, foot) for place, name in enumerate(rest)}


def _node(
    row: Row, place: tuple[float, float], entry: Mapping[str, Any] | None, users: int, guest: bool
) -> Node:
    checks = entry["checks"] if entry else []
    slip = any(
        c.get("in_proof") and c["verdict"] in ("fails as printed", "misprint") for c in checks
    )
    link = f"../chapters/{entry['chapter']}.html#{entry['anchor']}" if entry else ""
    link = f"#map-{slug(row.id)}" if guest else link or f"ledger.html#{slug(row.id)}"
    verdict = entry["verdict"] if entry else "still to come"
    return Node(row, round(place[0]), round(place[1]), verdict, link, users, slip, guest)


def _lines(drawn: Layout, known: Mapping[str, Row]) -> list[Line]:
    """The lines of statements above those of proofs, which are more."""
    found = [
        Line(
            need,
            user,
            _kind(known[need], known[user]),
            _path(route),
        )
        for (need, user), route in drawn.routes.items()
    ]
    return sorted(found, key=lambda line: line.kind)


def _kind(need: Row, user: Row) -> str:
    if any(later.by == user.id for later in need.corrected):
        return "correction"
    return "statement" if need.id in user.statement_needs else "proof"


def _path(route: Sequence[tuple[float, float]]) -> str:
    """A smooth line from the right end of the first node to the left end of the last."""
    points = [(round(x), round(y)) for x, y in route]
    (x, y), *rest = points
    text = f"M{x + WIDTH // 2} {y}"
    at = x + WIDTH // 2
    for number, (x, y) in enumerate(rest, start=1):
        end = x - WIDTH // 2
        bend = (at + end) // 2
        text += f"C{bend} {points[number - 1][1]} {bend} {y} {end} {y}"
        at = end
        if number < len(rest):
            text += f"H{x + WIDTH // 2}"
            at = x + WIDTH // 2
    return text


def _middle(route: Sequence[tuple[float, float]]) -> tuple[int, int]:
    """Where the number of a line stands: between its last two places."""
    (x0, y0), (x1, y1) = route[-2:]
    return round((x0 + x1) / 2), round((y0 + y1) / 2)


def _shape(*corners: tuple[float, float]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in corners) + "z"


def _round(radius: int) -> str:
    w, h, r = WIDTH // 2, HEIGHT // 2, radius
    turn = f"a{r} {r} 0 0 1"
    return (
        f"M{r - w} {-h}H{w - r}{turn} {r} {r}V{h - r}{turn} {-r} {r}"
        f"H{r - w}{turn} {-r} {-r}V{r - h}{turn} {r} {-r}z"
    )


_W, _H = WIDTH // 2, HEIGHT // 2
#: The outline of each kind of statement, around its centre.
_SHAPES = {
    "definition": _shape((-_W, -_H), (_W, -_H), (_W, _H), (-_W, _H)),
    "theorem": _round(_H),
    "lemma": _round(5),
    "corollary": _shape(
        (-_W, 0), (8 - _W, -_H), (_W - 8, -_H), (_W, 0), (_W - 8, _H), (8 - _W, _H)
    ),
    "proof": _shape((8 - _W, -_H), (_W, -_H), (_W - 8, _H), (-_W, _H)),
    "claim": _shape((-_W, -_H), (_W - 8, -_H), (_W, 0), (_W - 8, _H), (-_W, _H)),
    "figure": _shape((-_W, -_H), (_W - 8, -_H), (_W, 8 - _H), (_W, _H), (-_W, _H)),
    "table": _shape((-_W, -_H), (_W, -_H), (_W, _H), (-_W, _H))
    + f"M{-_W} {5 - _H}H{_W}M{-_W} {_H - 5}H{_W}",
}
