"""What a chapter's numbers depend on, and one digest of it all.

The digest covers code cells, parameter values, the sources of every module of the project that the
code imports (directly or not), the constraints, the data sets and the record, but no prose. The key
file is rewritten only when its content changes: to the engine an untouched file is up to date.
"""

from __future__ import annotations

import ast
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import signalprop.data
from signalbook.errors import BookError
from signalbook.files import write
from signalbook.parameters import read_profile, resolve
from signalbook.project import Project
from signalbook.source import Source

__all__ = ["code_digest", "imported", "key", "values", "write_keys"]

PACKAGES = ("signalprop", "signalbook")

SITE_SOURCES = (
    "_*.yml",
    "*.md",
    "*.bib",
    "pages/**/*",
    "assets/**/*",
    "chapters/**/*.md",
    "profiles/**/*.yml",
    "records/**/*.json",
    "src/**/*.py",
    "src/**/*.toml",
    "src/**/*.j2",
)


def write_keys(project: Project, profile: str) -> None:
    """Bring every chapter's key file and the site's up to date, and say which chapters are stale.

    Files of chapters that are gone are removed.
    """
    for chapter in project.chapters:
        write(project.key(chapter), json.dumps(key(project, chapter, profile), indent=1))
    write(project.build / "keys" / "site.txt", _site_digest(project))
    write(project.build / "plan.json", json.dumps(_stale(project)))
    for place in (project.key, project.executed, project.failure):
        folder = place("x").parent
        kept = {place(chapter) for chapter in project.chapters}
        for path in set(folder.rglob("*.*")) - kept - {folder / "site.txt"}:
            path.unlink()


def _stale(project: Project) -> list[str]:
    """The chapters whose notebook is missing or older than their key."""

    def written(path: Path) -> int:
        return path.stat().st_mtime_ns if path.is_file() else 0

    return [c for c in project.chapters if written(project.executed(c)) < written(project.key(c))]


def _site_digest(project: Project) -> str:
    """Digest everything but the runs that the pages are made from."""
    paths = [path for name in SITE_SOURCES for path in project.root.glob(name) if path.is_file()]
    contents = [
        f"{path.relative_to(project.root)}\0".encode() + path.read_bytes() for path in paths
    ]
    return hashlib.sha256(b"\0".join(sorted(contents))).hexdigest()


def key(project: Project, chapter: str, profile: str) -> dict[str, Any]:
    """Return everything that the numbers of a chapter depend on, as digests and values."""
    source = Source(project.source(chapter))
    record = project.record(chapter)
    return {
        "profile": profile,
        "parameters": values(project, source, chapter, profile),
        "code": code_digest(project, source),
        "constraints": _digest((project.root / "constraints.txt").read_text()),
        "data": {name: signalprop.data.digest(name) for name in source.data},
        "reads": {name: _read(project, chapter, name) for name in source.reads},
        "record": _digest(record.read_text()) if record.is_file() else None,
    }


def _read(project: Project, chapter: str, name: str) -> str:
    path = project.root / name
    if not path.is_file():
        raise BookError(f"{chapter} reads {name}, which is not there")
    return _digest(path.read_text())


def values(project: Project, source: Source, chapter: str, profile: str) -> dict[str, Any]:
    """Return the parameter values of a chapter under a profile."""
    path = project.profile(profile, chapter)
    changes = {name: change.value for name, change in read_profile(path).items()}
    return resolve(source.parameters, changes, str(path.relative_to(project.root)))


def code_digest(project: Project, source: Source) -> str:
    """Digest a chapter's code cells and the project's modules that they import.

    The default values in the parameters cell count through the values that they lead to, so that a
    digest of the code alone stays the same under every profile.
    """
    cells = [c.source for c in source.code if "parameters" not in c.metadata.get("tags", [])]
    modules = imported("\n".join(_without_magics(cell) for cell in cells), project.root / "src")
    texts = [path.read_text() for path in modules]
    return _digest("\0".join([*cells, *texts]))


def imported(code: str, source_root: Path) -> list[Path]:
    """Return the files of the project's own modules that ``code`` uses, transitively, sorted.

    A package's ``__init__`` that only re-exports is looked through, name by name: a chapter that
    uses ``sp.Chain`` does not depend on the training code that the same import brings along.
    """
    found: set[Path] = set()
    waiting = _used_names(code, "")
    while waiting:
        for path in _resolve(waiting.pop(), source_root):
            if path not in found:
                found.add(path)
                waiting |= _used_by(path, path.stat().st_mtime_ns, _package(path, source_root))
    return sorted(found)


@cache
def _used_by(path: Path, _mtime: int, package: str) -> frozenset[str]:
    return frozenset(_used_names(path.read_text(), package))


def _used_names(code: str, package: str) -> set[str]:
    """Every dotted name of our packages that ``code`` imports, or reaches through an import."""
    tree = ast.parse(code)
    names: set[str] = set()
    aliases: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname or "." not in alias.name:
                    aliases[alias.asname or alias.name] = alias.name
                else:
                    names.add(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            for alias in node.names:
                names.add(f"{base}.{alias.name}")
                aliases[alias.asname or alias.name] = f"{base}.{alias.name}"
    chains = (_chain(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    names |= {".".join([aliases[c[0]], *c[1:]]) for c in chains if c and c[0] in aliases}
    return {name for name in names if name.split(".")[0] in PACKAGES}


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])


def _chain(node: ast.expr) -> list[str]:
    """``a.b.c`` as ["a", "b", "c"]; [] for anything that is not a chain of names."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute) and (head := _chain(node.value)):
        return [*head, node.attr]
    return []


def _resolve(name: str, source_root: Path) -> list[Path]:
    """The files that a dotted name leads to, through re-exports."""
    parts, folder = name.split("."), source_root
    files: list[Path] = []
    for position, part in enumerate(parts):
        module, package = folder / f"{part}.py", folder / part / "__init__.py"
        if module.is_file():
            return [*files, module]
        if not package.is_file():
            return files
        rest = parts[position + 1 :]
        exports, pure = _exports(package, ".".join(parts[: position + 1]), rest[:1], source_root)
        files += [] if pure else [package]
        if rest and rest[0] in exports:
            return files + _resolve(".".join([exports[rest[0]], *rest[1:]]), source_root)
        folder = folder / part
    return files


def _exports(
    path: Path, package: str, wanted: list[str], source_root: Path
) -> tuple[dict[str, str], bool]:
    """The names that an ``__init__`` takes from elsewhere, and whether it does nothing else.

    What a star brings is found by looking for the ``wanted`` name in the module behind it.
    """
    exports: dict[str, str] = {}
    pure = True
    stub = path.with_suffix(".pyi")  # the names of a package that loads them when asked for
    path = stub if stub.is_file() else path
    for node in _body(path, path.stat().st_mtime_ns):
        if isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            names = {alias.asname or alias.name: alias.name for alias in node.names}
            if "*" in names:
                module = source_root.joinpath(*base.split(".")).with_suffix(".py").read_text()
                names = {name: name for name in wanted if f'"{name}"' in module}
            exports |= {name: f"{base}.{target}" for name, target in names.items()}
        elif not isinstance(node, ast.Import | ast.Expr | ast.Assign | ast.AnnAssign):
            pure = False
    # A submodule that is re-exported, or exports its own name, is found as a file.
    own = {
        name for name, target in exports.items() if f"{target}.".startswith(f"{package}.{name}.")
    }
    return {name: target for name, target in exports.items() if name not in own}, pure


@cache
def _body(path: Path, _mtime: int) -> list[ast.stmt]:
    return ast.parse(path.read_text()).body


def _package(path: Path, source_root: Path) -> str:
    return ".".join(path.relative_to(source_root).parent.parts)


def _without_magics(cell: str) -> str:
    return "\n".join(line for line in cell.splitlines() if not line.lstrip().startswith(("%", "!")))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
