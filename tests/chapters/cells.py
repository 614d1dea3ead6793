"""The code cells of a chapter as text, and how much a reader is asked to read."""

import ast
import re
from dataclasses import dataclass

CELL = re.compile(
    r"(?P<head>^```\{code-cell\}[^\n]*\n(?P<options>---\n.*?\n---\n|(?::[^\n]*\n)*))"
    r"(?P<code>.*?)^```$",
    re.M | re.S,
)
IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Shape:
    """Statements of code, lines of the largest shown cell, words of prose.

    Parameters, imports and the drawing of figures are not counted.
    """

    statements: int
    largest: int
    words: int


def shape(text: str) -> Shape:
    """Measure a chapter."""
    statements, largest = 0, 0
    for cell in CELL.finditer(text):
        code, options = cell["code"], cell["options"]
        if "parameters" in options or "figures.show" in code:
            continue
        nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)]
        statements += sum(not isinstance(node, IMPORTS) for node in nodes)
        imported = {
            line
            for node in nodes
            if isinstance(node, IMPORTS)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        shown = [
            line
            for number, line in enumerate(code.splitlines(), 1)
            if line.strip() and number not in imported
        ]
        if not re.search(r"remove-cell|hide-input", options):
            largest = max(largest, len(shown))
    prose = CELL.sub("", text.split("---\n", 2)[-1])
    return Shape(statements, largest, len(prose.split()))
