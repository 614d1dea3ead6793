"""Digests of what a run depends on, which comments, docstrings and layout leave alone.

The kernel that runs a chapter (:mod:`signalbook.witness`) and the engine that asks later whether
the run still stands (:mod:`signalbook.keys`) take them with the functions here.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

__all__ = [
    "PACKAGES",
    "SOURCES",
    "counts",
    "module_file",
    "modules",
    "of_cell",
    "of_file",
    "of_module",
    "of_values",
    "text_digest",
    "versions",
]

#: The project's packages, and the folder that they lie in.
PACKAGES = ("signalprop", "signallab", "signalbook")
SOURCES = Path(__file__).resolve().parents[1]

#: Packages of others whose version can change a number or a picture.
OTHERS = ("numpy", "scipy", "torch", "sympy", "pandas", "matplotlib", "seaborn")

#: Modules and files that a run loads but does not depend on.
UNCOUNTED = (
    # They find places, watch the run and word refusals: no number passes through them.
    *("signalbook", "signalbook.errors", "signalbook.files", "signalbook.project"),
    *("signalbook.fingerprint", "signalbook.witness", "signalbook.longrun"),
    # They show a claim that is decided already; the build draws it anew from its data.
    *("signalbook.cards", "signalbook.inventory"),
    *("signalbook/statements/", "signalbook/templates/box.html.j2"),
    *("signalbook/templates/card.html.j2", "signalbook/templates/closing.html.j2"),
)


def counts(name: str) -> bool:
    """Whether a run depends on the module, or on the file at ``<package>/<path>``.

    >>> counts("signalprop.chains"), counts("signalbook.errors"), counts("numpy.linalg")
    (True, False, False)
    >>> counts("signalbook/templates/table.html.j2"), counts("signalbook/templates/card.html.j2")
    (True, False)
    """
    ours = name.replace(".", "/").split("/")[0] in PACKAGES
    folders = tuple(entry for entry in UNCOUNTED if entry.endswith("/"))
    return ours and name not in UNCOUNTED and not name.startswith(folders)


def of_values(values: Mapping[str, object]) -> str:
    """Digest values of parameters: the name under which a run with them is kept.

    >>> of_values({"runs": 5, "seed": 0}) == of_values({"seed": 0, "runs": 5})
    True
    """
    return text_digest(json.dumps(values, sort_keys=True))[:12]


def text_digest(content: str | bytes) -> str:
    """Return the first half of the SHA-256, in hexadecimal."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:32]


@cache
def of_module(source: bytes) -> str:
    """Digest a module without its comments, docstrings and layout.

    >>> of_module(b"def f(x):\\n    return x") == of_module(b"def f( x ): return x  # the same")
    True
    """
    return text_digest(_shape(_without_docstrings(ast.parse(source))))


def of_cell(source: str) -> str:
    """Digest a code cell; one with magics, which is not Python, as text.

    A string at its top is no docstring but shown, and a semicolon at its end hides what it shows.

    >>> of_cell("f(1)  # now") == of_cell("f( 1 )"), of_cell("f(1)") == of_cell("f(1);")
    (True, False)
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return text_digest(source)
    quiet = False
    if tree.body:
        last = tree.body[-1]
        line = source.split("\n")[(last.end_lineno or 1) - 1].encode()
        quiet = b";" in line[last.end_col_offset :].partition(b"#")[0]
    shown = [_shape(_without_docstrings(statement)) for statement in tree.body]
    return text_digest("\n".join([*shown, str(quiet)]))


def of_file(name: str, content: bytes, loaded: Collection[str]) -> str:
    """Digest a file of a package; of a stub of re-exports, what leads to the modules ``loaded``.

    So a new name in a stub reruns no chapter that does not ask for it.
    """
    if not name.endswith("__init__.pyi"):
        return text_digest(content)
    package = name.removesuffix("/__init__.pyi").replace("/", ".")
    tree = ast.parse(content)
    leading = [_shape(node) for node in tree.body if _leads_to(node, package, loaded)]
    return text_digest("\n".join(leading))


def modules() -> dict[str, Path]:
    """Return the file of every module of the project, by name."""
    paths = (path for package in PACKAGES for path in sorted((SOURCES / package).rglob("*.py")))
    return {_module_name(path): path for path in paths}


def module_file(name: str) -> Path:
    """Return where the module lies, or would lie."""
    place = SOURCES.joinpath(*name.split("."))
    package = place / "__init__.py"
    return package if package.is_file() else place.with_suffix(".py")


def versions(names: Iterable[str] = OTHERS) -> dict[str, str]:
    """Return the versions of Python and of the packages, as they are installed here."""
    found = {"python": platform.python_version()}
    for name in names:
        if name != "python":
            try:
                found[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                continue
    return found


def _module_name(path: Path) -> str:
    parts = path.relative_to(SOURCES).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _leads_to(node: ast.stmt, package: str, loaded: Collection[str]) -> bool:
    """Whether a statement of a stub takes a name from a module that is loaded."""
    if not isinstance(node, ast.ImportFrom):
        return True
    parts = package.split(".")
    base = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])
    return base in loaded if node.module else any(f"{base}.{a.name}" in loaded for a in node.names)


def _without_docstrings(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[isinstance(first.value.value, str) :]
    return tree


def _shape(node: object) -> str:
    """Write a syntax tree out without places, and without empty fields: they differ by version."""
    if isinstance(node, list):
        return f"[{','.join(map(_shape, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
    return f"{type(node).__name__}({','.join(f'{n}={_shape(v)}' for n, v in fields)})"
