"""What a kernel really ran: the first thing that is loaded in it, asked once more at the end.

From here on the kernel takes the project's modules from a snapshot of the sources, made now: an
edit during the run neither mixes two versions nor goes unnoticed. Bytecode caches, which trust the
time and size of a file, are not used. The files that the modules read are noted as they are opened.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from signalbook.fingerprint import (
    OTHERS,
    PACKAGES,
    SOURCES,
    counts,
    modules,
    of_file,
    of_module,
    versions,
)

__all__ = ["MIME", "Testimony", "library", "library_now", "watch"]

MIME = "application/vnd.signalbook.testimony+json"

_snapshot: dict[str, tuple[Path, bytes]] = {}
_loaded: dict[str, bytes] = {}
_read: dict[str, bytes] = {}


def watch() -> None:
    """Take the snapshot and begin to note. Called once, by the engine, before the first cell."""
    _snapshot.update({name: (path, path.read_bytes()) for name, path in modules().items()})
    sys.meta_path.insert(0, _Finder())
    sys.addaudithook(_note)


class Testimony:
    """Shown as the last cell of a chapter: what ran, as data for the engine."""

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        assert _snapshot, "nobody watched this kernel"
        code = {name: of_module(source) for name, source in _loaded.items() if counts(name)}
        files = {name: of_file(name, content, code) for name, content in _read.items()}
        there = [name for name in OTHERS if name in sys.modules]
        return {MIME: {"modules": code, "files": files, "versions": versions(there)}}


def library() -> dict[str, str]:
    """Digests of the modules of the library and of the experiments that this kernel has loaded.

    Long runs ask every other second, so no folder is searched for it.
    """
    return library_now(name for name in list(sys.modules) if name.split(".")[0] in PACKAGES)


def library_now(names: Iterable[str]) -> dict[str, str]:
    """Digests of those modules as this kernel sees them, or would if it loaded them."""
    seen = _snapshot or {name: (path, path.read_bytes()) for name, path in modules().items()}
    return {
        name: of_module(seen[name][1])
        for name in sorted(names)
        if name in seen and not name.startswith("signalbook")
    }


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        source = _loaded[fullname] = _snapshot[fullname][1]
        return self.source_to_code(source, self.get_filename(fullname))


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _snapshot:
            return None
        file = str(_snapshot[fullname][0])
        return spec_from_file_location(fullname, file, loader=_Loader(fullname, file))


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    """Keep what the project's packages read beside their code, as it was when they read it."""
    if event != "open" or not isinstance(arguments[0], str):
        return
    name = arguments[0].removeprefix(f"{SOURCES}{os.sep}")
    if name == arguments[0] or name.split(os.sep)[0] not in PACKAGES:
        return
    name = name.replace(os.sep, "/")
    if not name.endswith((".py", ".pyc")) and counts(name) and name not in _read:
        _read[name] = b""  # opened here once more: noted already
        path = Path(arguments[0])
        if path.is_file():
            _read[name] = path.read_bytes()
