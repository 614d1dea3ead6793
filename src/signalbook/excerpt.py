"""The lines of a chapter that lead to a claim, as code that a reader can run.

Where a counterexample rests on a simulation, or its point is too long to be written down, the
chapter's own lines do: the check of the claim, and all that it is made of, with the values of the
run. They are taken from the source; nothing is run for it.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from signalbook.source import Source

__all__ = ["leading_to"]

#: What evaluates the counterexample that the build chose: the failing point of the smallest size.
SMALLEST = "point = min(check.failing, key=lambda point: seen_from(**point))"
FIRST = "point = check.failing[0]"
LAST = "found = check.witness(point)\nprint(found.words, found.left, found.right)"


def leading_to(source: Source, claim: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """Return the lines of a chapter that evaluate a failing ``claim``, "" if it is not a call of
    its own there.

    ``values`` are those of the parameters in its run.
    """
    statements = list(_statements(source))
    ends = [(place, call) for place, s in enumerate(statements) if (call := s.settles(claim))]
    if len(ends) != 1:
        return ""
    place, call = ends[0]
    options = {option.arg: option.value for option in call.keywords}
    aims = {"check": call.args[1]}
    aims |= {"seen_from": options["seen_from"]} if "seen_from" in options else {}
    text = statements[place].text
    last = [_Statement(f"{name} = {_segment(text, node)}") for name, node in aims.items()]
    kept = [*_needed(statements[:place], last), *last]
    used = {name for statement in kept for name in statement.needs}
    blocks = [
        [line for statement in kept if (line := statement.importing(used))],
        [f"{name} = {value!r}" for name, value in values.items() if name in used],
        [statement.spaced for statement in kept if not statement.imports],
        [SMALLEST if "seen_from" in aims else FIRST, LAST],
    ]
    return "\n\n".join("\n".join(block).strip() for block in blocks if block)


@dataclass(frozen=True)
class _Statement:
    """A statement at the top of a chapter's cell."""

    text: str

    @cached_property
    def node(self) -> ast.stmt:
        return ast.parse(self.text).body[0]

    @property
    def spaced(self) -> str:
        """What has a block of its own stands between empty lines."""
        return f"\n{self.text}\n" if hasattr(self.node, "body") else self.text

    @cached_property
    def _names(self) -> symtable.SymbolTable:
        return symtable.symtable(self.text, "chapter", "exec")

    @property
    def imports(self) -> bool:
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def binds(self) -> set[str]:
        """The names that it gives a value."""
        symbols = self._names.get_symbols()
        return {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}

    @property
    def changes(self) -> set[str]:
        """The names whose objects it changes: by an item, an attribute, a call of a method."""
        found = set()
        for node in ast.walk(self.node):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                node = node.value.func
            elif not isinstance(getattr(node, "ctx", None), ast.Store):
                continue
            root = node
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if isinstance(root, ast.Name) and root is not node:
                found.add(root.id)
        return found

    @property
    def anew(self) -> bool:
        """Whether what its names were before no longer matters."""
        plain = ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.Import | ast.ImportFrom
        return isinstance(self.node, plain)

    @property
    def needs(self) -> set[str]:
        """The names of the chapter that it speaks of, within functions too."""
        here = {s.get_name() for s in self._names.get_symbols() if s.is_referenced()}
        return here | self.later

    @property
    def later(self) -> set[str]:
        """Those of them that are looked up within functions, whenever these are called."""
        tables = list(self._names.get_children())
        found = set()
        while tables:
            table = tables.pop()
            tables += table.get_children()
            found |= {s.get_name() for s in table.get_symbols() if s.is_global()}
        return found

    def importing(self, used: Set[str]) -> str:
        """The import of what is used alone; "" for what is no import."""
        if not isinstance(self.node, ast.Import | ast.ImportFrom):
            return ""
        names = [n for n in self.node.names if (n.asname or n.name.split(".")[0]) in used]
        fields = {**vars(self.node), "names": names}
        return ast.unparse(type(self.node)(**fields))

    def settles(self, claim: Mapping[str, Any]) -> ast.Call | None:
        """The call that settles the claim, if that is what the statement is."""
        call = getattr(self.node, "value", None)
        if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "settle":
            return None
        said = {option.arg: option.value for option in call.keywords}
        words = (call.args[0], *(said.get(name) for name in ("about", "in_proof")))
        found = tuple(getattr(word, "value", "") for word in words)
        return call if found == tuple(claim[name] for name in ("id", "about", "in_proof")) else None


def _statements(source: Source) -> Iterator[_Statement]:
    """The statements of all cells but that of the parameters, in order."""
    for cell in source.code:
        if "parameters" in cell.metadata.get("tags", []):
            continue
        for node in ast.parse(cell.source).body:
            yield _Statement(_segment(cell.source, node))


def _segment(text: str, node: ast.stmt | ast.expr) -> str:
    """The source of a node, as it would stand at the left margin."""
    first, *rest = (ast.get_source_segment(text, node) or "").splitlines()
    margin = " " * (len(line := text.splitlines()[node.lineno - 1]) - len(line.lstrip()))
    return "\n".join([first, *(line.removeprefix(margin) for line in rest)])


def _needed(statements: Sequence[_Statement], ends: Sequence[_Statement]) -> list[_Statement]:
    """Those of the statements that the ends rest on, in order."""
    wanted = {name for statement in ends for name in statement.needs}
    while True:
        kept, names = [], set(wanted)
        for statement in reversed(statements):
            if names & (statement.binds | statement.changes):
                kept.append(statement)
                names = (names - statement.binds if statement.anew else names) | statement.needs
        # a function looks its names up when it is called: what they are then may stand below it
        if wanted >= (more := {name for statement in kept for name in statement.later}):
            return kept[::-1]
        wanted |= more
