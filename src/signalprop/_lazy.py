"""Names that a package takes from its modules, loaded when they are first asked for (SPEC 1).

So ``import signalprop`` costs next to nothing, and a program loads the modules that it uses and no
others. The names stand in the stub ``__init__.pyi``, which type checkers read too: one list.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["reexports"]


def reexports(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for the ``__init__.py`` at ``file``.

    Each ``from .module import name as name`` of the stub beside it is a name of the package, and
    each ``from . import module as module`` a module.

    >>> import signalprop
    >>> "Chain" in dir(signalprop), signalprop.stats.__name__
    (True, 'signalprop.stats')
    """
    origins = _origins(Path(file).with_suffix(".pyi"))

    def get(name: str) -> Any:
        if name not in origins:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if origins[name] == ".":
            return importlib.import_module(f".{name}", package)
        value = getattr(importlib.import_module(origins[name], package), name)
        setattr(sys.modules[package], name, value)  # asked for once
        return value

    return get, lambda: sorted(origins), sorted(origins)


def _origins(stub: Path) -> dict[str, str]:
    """Return the module behind each name, relative to the package; "." if the name is a module."""
    statements = ast.parse(stub.read_text(encoding="utf-8")).body
    imports = [s for s in statements if isinstance(s, ast.ImportFrom)]
    return {alias.name: "." * s.level + (s.module or "") for s in imports for alias in s.names}
