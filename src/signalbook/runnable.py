"""A statement at one point as code that a reader can run.

A check gets its statements as functions, and finds the points at which they fail. Here one of them
is written down: imports, what the chapter itself defined, and the call. It works for whatever is
made of functions of a module, ``partial``, functions made by functions, lambdas and functions of a
chapter's cells, with arguments that can be written. What cannot be written gives no code; what is
written has been run, and gave the two sides of the check.
"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import math
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from signalprop.random import Stream

__all__ = ["at_point"]

LONGEST = 40  # lines of code that a page shows
MOST_NUMBERS = 64  # of an array that is written out
WIDTH = 88
KNOWN = ("signalprop", "signallab")  # packages where named things are looked for
PREFIXES = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**", "POSITIONAL_ONLY": ""}
PLAIN = (bool, int, str, type(None))

# Code that is tried may check statements itself, and must not have them written down in turn: where
# it holds the very check that had it written, that would never end.
_trying = ContextVar("trying", default=False)


class _Unwritable(Exception):
    """Something that has no short text."""


def at_point(
    statement: Callable[..., Any],
    point: Mapping[str, Any],
    gives: tuple[float, float],
    sides: Callable[[Any], tuple[float, float]],
    *,
    runs: bool = False,
) -> str:
    """Return code that prints both sides of ``statement(**point)``, or "" where there is none.

    ``sides`` takes the case that a statement returns to the two numbers that a check compares. The
    code has been run, and its case ``gives`` the same. Of ``runs`` the mean is printed.

    >>> print(at_point(math.isqrt, {}, (1, 2), lambda case: case))  # no statement: no case
    <BLANKLINE>
    """
    if _trying.get():
        return ""
    writer = _Writer()
    outside = _trying.set(True)
    try:
        called = writer.call(writer.value(statement), point)
        left = "sum(case.left) / len(case.left)" if runs else "case.left"
        text = writer.text(f"case = {called}\nprint({left}, case.right)")
        if len(text.splitlines()) > LONGEST:
            return ""
        found: dict[str, Any] = {"print": lambda *shown: None, "__name__": "counterexample"}
        exec(compile(text, "<counterexample>", "exec"), found)
        same = np.allclose(sides(found["case"]), gives, 1e-9, 0, True)
    except Exception:
        return ""  # no code is better than code that fails
    finally:
        _trying.reset(outside)
    return text if same else ""


class _Writer:
    """Collects imports and definitions while values are written."""

    def __init__(self) -> None:
        self.imports: dict[str, str] = {}  # lines, by the name that each gives
        self.definitions: dict[str, str] = {}
        self.defining: set[str] = set()

    def text(self, last: str) -> str:
        """The whole: imports, definitions, and the last lines, broken to the width of a page."""
        imports = "\n".join(sorted(self.imports.values()))
        return _formatted("\n\n".join(filter(None, [imports, *self.definitions.values(), last])))

    def call(self, function: str, arguments: Mapping[str, Any]) -> str:
        given = (f"{name}={self.value(value)}" for name, value in arguments.items())
        return f"{function}({', '.join(given)})"

    def value(self, value: Any) -> str:
        """An expression for a value."""
        if isinstance(value, PLAIN):
            return repr(value)
        if isinstance(value, np.generic):
            return self.value(value.item())
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if isinstance(value, Stream):
            return f"{self.named(Stream)}({value.seed}, {value.names!r})"
        if isinstance(value, np.ndarray):
            return self.array(value)
        if type(value) in (list, tuple, dict, set):
            return self.collection(value)
        if isinstance(value, functools.partial):
            return self.partial(value)
        if isinstance(value, MethodType):
            return f"{self.value(value.__self__)}.{value.__name__}"
        if isinstance(value, FunctionType | BuiltinFunctionType | type | ModuleType | np.ufunc):
            return self.function(value)
        if there := _place(value):
            return self.imported(*there)
        if is_dataclass(value):
            given = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
            return self.call(self.named(type(value)), given)
        if type(value).__module__ == "fractions":
            return f"{self.named(type(value))}({value.numerator}, {value.denominator})"
        raise _Unwritable(type(value))

    def array(self, value: np.ndarray[Any, Any]) -> str:
        if value.size > MOST_NUMBERS or value.dtype.kind not in "biuf":
            raise _Unwritable("a large array")
        self.imports["np"] = "import numpy as np"
        return f"np.array({self.value(value.tolist())}, dtype={str(value.dtype)!r})"

    def collection(self, value: Any) -> str:
        if len(value) > MOST_NUMBERS:
            raise _Unwritable("a long list")
        if isinstance(value, dict):
            pairs = (f"{self.value(k)}: {self.value(v)}" for k, v in value.items())
            return f"{{{', '.join(pairs)}}}"
        inside = ", ".join(map(self.value, value))
        if isinstance(value, tuple):
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        return f"[{inside}]" if isinstance(value, list) else f"{{{inside}}}" if value else "set()"

    def partial(self, value: Any) -> str:
        self.imports["partial"] = "from functools import partial"
        given = [self.value(value.func), *map(self.value, value.args)]
        given += [f"{name}={self.value(v)}" for name, v in value.keywords.items()]
        return f"partial({', '.join(given)})"

    def function(self, value: Any) -> str:
        if isinstance(value, ModuleType):
            return self.module(value)
        if isinstance(value, np.ufunc):
            self.imports["np"] = "import numpy as np"
            return f"np.{value.__name__}"
        name, module = value.__qualname__, value.__module__
        maker, local, _ = name.partition(".<locals>.")
        if local:
            return self.made(value, maker, module)
        if module == "__main__":
            return self.defined(value)
        return name if module == "builtins" else self.named(value)

    def module(self, value: ModuleType) -> str:
        short = "np" if value.__name__ == "numpy" else value.__name__.rpartition(".")[2]
        above, _, last = value.__name__.rpartition(".")
        line = f"from {above} import {last}" if above else f"import {last}"
        return self.taken(short, line if short == last else f"{line} as {short}")

    def named(self, value: Any) -> str:
        """A function or a class of a module, by its name there."""
        module, name = value.__module__, value.__qualname__
        if module == "__main__":
            return self.defined(value)
        if "._" not in module and _lookup(module, name) is value:
            return self.imported(module, name)
        if there := _place(value):
            return self.imported(*there)
        raise _Unwritable(f"{module}.{name}")

    def imported(self, module: str, name: str) -> str:
        first = re.split(r"[.\[]", name)[0]
        self.taken(first, f"from {module} import {first}")
        return name

    def taken(self, name: str, line: str) -> str:
        if self.imports.setdefault(name, line) != line:
            raise _Unwritable(f"two things are called {name}")
        return name

    def made(self, value: Any, maker: str, module: str) -> str:
        """A function made by another one: the call of that, as far as what it left tells it."""
        outer = _lookup(module, maker)
        if outer is None:
            raise _Unwritable(maker)
        cells = dict(zip(value.__code__.co_freevars, value.__closure__ or (), strict=True))
        given = []
        for parameter in inspect.signature(outer).parameters.values():
            if parameter.name not in cells:
                if parameter.default is parameter.empty and parameter.kind.name[:3] != "VAR":
                    raise _Unwritable(parameter.name)
                continue
            inside = self.value(cells[parameter.name].cell_contents)
            given.append(PREFIXES.get(parameter.kind.name, f"{parameter.name}=") + inside)
        return f"{self.value(outer)}({', '.join(given)})"

    def defined(self, value: Any) -> str:
        """A function of a chapter's cell: its source, and all that this speaks of."""
        source, name = _source(value), str(value.__name__)
        if name != "<lambda>":
            if name in self.definitions or name in self.defining:
                return name
            self.defining.add(name)
        for used in _globals(value.__code__):
            if used in value.__globals__:
                self.assigned(used, value.__globals__[used])
        if name == "<lambda>":
            return f"({source})"
        self.definitions[name] = source
        return name

    def assigned(self, name: str, value: Any) -> None:
        """A name of a chapter's cell, as an import or as a line of its own."""
        if name in self.definitions or name in self.defining:
            return
        if isinstance(value, ModuleType):
            above, _, last = value.__name__.rpartition(".")
            line = f"from {above} import {last}" if above else f"import {last}"
            self.taken(name, line if name == last else f"{line} as {name}")
            return
        text = self.value(value)
        if text != name:
            self.definitions[name] = f"{name} = {text}"


def _globals(code: CodeType) -> list[str]:
    """The names that a function, or one within it, looks up outside."""
    own = [i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"]
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return list(dict.fromkeys([*own, *(name for c in inner for name in _globals(c))]))


def _lookup(module: str, name: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _place(value: Any) -> tuple[str, str] | None:
    """Where a package of the project keeps this very object: under a name, or in a table."""
    there = [name for name in sys.modules if name.split(".")[0] in KNOWN and "._" not in name]
    for module in sorted(there, key=lambda name: (not name.startswith(KNOWN[0]), len(name), name)):
        for name, held in list(vars(sys.modules[module]).items()):
            if name.startswith("_"):
                continue
            if held is value:
                return module, name
            if isinstance(held, dict):
                for key, inside in held.items():
                    if inside is value and isinstance(key, str):
                        return module, f"{name}[{key!r}]"
    return None


def _source(value: Any) -> str:
    """The source of a function, or of a lambda alone."""
    text = textwrap.dedent(inspect.getsource(value))
    if value.__name__ != "<lambda>":
        return text.strip()
    lines, _ = inspect.findsource(value)
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, ast.Lambda) and node.lineno == value.__code__.co_firstlineno:
            written = ast.unparse(node)
            if eval(written).__code__.co_code == value.__code__.co_code:
                return written
    raise _Unwritable("a lambda")


def _formatted(code: str) -> str:
    """The code broken to the width of a page; as it is where no formatter is at hand."""
    return code if all(len(line) <= WIDTH for line in code.splitlines()) else _broken(code)


def _broken(code: str) -> str:
    """The last call over several lines, an argument each."""
    lines = []
    for line in code.splitlines():
        if len(line) <= WIDTH or not line.startswith("case = "):
            lines.append(line)
            continue
        call = ast.parse(line).body[0].value  # type: ignore[attr-defined]
        head = ast.unparse(call.func)
        given = [*map(ast.unparse, call.args), *map(ast.unparse, call.keywords)]
        lines += [f"case = {head}(", *(f"    {text}," for text in given), ")"]
    return "\n".join(lines)
