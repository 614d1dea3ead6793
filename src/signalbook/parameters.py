"""A chapter's parameters: declared in one cell, reduced by a profile, checked before a run."""

from __future__ import annotations

import ast
import math
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from signalbook.errors import BookError

__all__ = [
    "Change",
    "Parameter",
    "declared",
    "parse_assignments",
    "read_profile",
    "resolve",
]

SCALARS: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str}


@dataclass(frozen=True)
class Parameter:
    """One line ``name: type = literal`` of a parameters cell."""

    name: str
    type: str
    default: Any

    def check(self, value: Any) -> Any:
        """Return ``value`` as this parameter's type, or raise a ``BookError`` that says the type.

        Numbers are finite. Sizes and counts, the integers whose default is positive, are positive.

        >>> Parameter("runs", "int", 20).check(5)
        5
        >>> Parameter("runs", "int", 20).check(0)
        Traceback (most recent call last):
        signalbook.errors.BookError: parameter runs must be 1 or more, got 0
        >>> Parameter("widths", "list[float]", [1.0]).check([1, 2])
        [1.0, 2.0]
        """
        inner = re.fullmatch(r"list\[(\w+)\]", self.type)
        if inner and isinstance(value, list | tuple):
            return [self._scalar(item, inner[1], value) for item in value]
        return self._scalar(value, self.type, value)

    def _scalar(self, item: Any, kind: str, value: Any) -> Any:
        if kind == "float" and isinstance(item, int) and not isinstance(item, bool):
            return float(item)
        expected = SCALARS.get(kind)
        if expected is None or type(item) is not expected:
            raise BookError(f"parameter {self.name} must be {self.type}, got {value!r}")
        if isinstance(item, float) and not math.isfinite(item):
            raise BookError(f"parameter {self.name} must be finite, got {value!r}")
        if kind == "int" and isinstance(item, int) and item < 1 and self._is_a_size():
            raise BookError(f"parameter {self.name} must be 1 or more, got {value!r}")
        return item

    def _is_a_size(self) -> bool:
        defaults = self.default if isinstance(self.default, list) else [self.default]
        return self.name != "seed" and all(isinstance(d, int) and d > 0 for d in defaults)


def declared(cell: str) -> dict[str, Parameter]:
    """Return the parameters that a ``parameters`` cell declares.

    >>> declared("n: int = 4\\nwidths: list[int] = [16, 32]")["widths"].default
    [16, 32]
    """
    found: dict[str, Parameter] = {}
    for node in ast.parse(cell).body:
        try:
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
                raise ValueError("not of the form")
            assert node.value is not None
            kind, default = ast.unparse(node.annotation), ast.literal_eval(node.value)
            inner = kind.removeprefix("list[").removesuffix("]")
            if inner not in SCALARS:
                raise ValueError("unknown type")
        except (AssertionError, ValueError) as error:
            raise BookError(
                "a parameters cell holds lines `name: type = literal` with type int, float, bool,"
                f" str or list of one of them; found: {ast.unparse(node)}"
            ) from error
        parameter = Parameter(node.target.id, kind, default)
        found[parameter.name] = Parameter(parameter.name, kind, parameter.check(default))
    return found


def resolve(
    parameters: dict[str, Parameter], values: dict[str, Any], origin: str
) -> dict[str, Any]:
    """Return all parameters with ``values`` put in, each checked; ``origin`` is for the message."""
    if unknown := [name for name in values if name not in parameters]:
        known = ", ".join(f"{p.name}: {p.type}" for p in parameters.values()) or "none"
        raise BookError(f"{origin}: unknown parameter {unknown[0]!r}; there are: {known}")
    try:
        given = {name: parameters[name].check(value) for name, value in values.items()}
    except BookError as error:
        raise BookError(f"{origin}: {error}") from error
    return {name: p.default for name, p in parameters.items()} | given


def parse_assignments(text: str) -> dict[str, Any]:
    """Read ``name=value`` words, as the command line gives them.

    >>> parse_assignments("runs=5 widths=[16,32] law=uniform")
    {'runs': 5, 'widths': [16, 32], 'law': 'uniform'}
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BookError(f"parameters cannot be read, {str(error).lower()}: {text}") from error
    values: dict[str, Any] = {}
    for word in words:
        name, equals, literal = word.partition("=")
        if not equals or not name.isidentifier():
            raise BookError(f"parameters are given as name=value words, got {word!r}")
        if name in values:
            raise BookError(f"parameter {name} is given twice, as {values[name]!r} and {literal!r}")
        try:
            values[name] = ast.literal_eval(literal)
        except (ValueError, SyntaxError):
            values[name] = literal
    return values


@dataclass(frozen=True)
class Change:
    """A value that a profile puts in place of the document's, and why."""

    value: Any
    reason: str


def read_profile(path: Path) -> dict[str, Change]:
    """Read a profile: lines ``name: value  # reason``; a missing file changes nothing.

    It is plain YAML, so that ``papermill -f`` takes it too; the reason is the comment on the line
    and may not be missing.
    """
    if not path.is_file():
        return {}
    changes = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        try:
            name, change = _change(line.decode())
        except (ValueError, yaml.YAMLError) as error:
            raise BookError(
                f"{path.name} line {number}: expected `name: value  # reason`, text in UTF-8 whose"
                f" quotes and brackets close on the line: {line.decode(errors='replace')}"
            ) from error
        changes[name] = change
    return changes


def _change(line: str) -> tuple[str, Change]:
    """Read a line of a profile; what YAML ends a value with decides where the reason begins.

    >>> _change('law: "a # b"  # for short')
    ('law', Change(value='a # b', reason='for short'))
    """
    name, _, text = line.partition(": ")
    value = yaml.compose(text, yaml.SafeLoader)
    reason = re.fullmatch(r"\s+#\s*(\S.*)", text[value.end_mark.index :] if value else "")
    if reason is None or not name.isidentifier():
        raise ValueError(line)
    return name, Change(yaml.safe_load(text[: value.end_mark.index]), reason[1])
