"""No public name of the library goes unasked: each stands in a test of this folder."""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import signalprop as sp

HERE = Path(__file__).parent
RESULT = "a result, whose values the tests of what makes it look at"
VALUE = "a type of arguments, which does nothing"

#: Packages and modules whose names are public, but for the formulas, which are found by themselves.
PUBLIC = [name for _, name, _ in pkgutil.iter_modules(sp.__path__, "signalprop.")]
PUBLIC = [name for name in PUBLIC if "._" not in name and name != "signalprop.theory"]

UNASKED = {
    "Basin": RESULT,
    "ConvergenceRate": RESULT,
    "Counterexample": RESULT,
    "DecayRate": RESULT,
    "FixedPoint": RESULT,
    "Function": RESULT,
    "GramFixedPoint": RESULT,
    "Identity": RESULT,
    "ModuleJacobian": RESULT,
    "PairRule": RESULT,
    "Path": RESULT,
    "PathJacobian": RESULT,
    "Probe": RESULT,
    "Proof": RESULT,
    "SequentialEstimate": RESULT,
    "Slope": RESULT,
    "Law": RESULT,
    "Exact": VALUE,
    "Input": VALUE,
    "Number": VALUE,
    "METRICS": "what `measure` and `train` take if nothing is said",
}


def public() -> dict[str, Any]:
    """Return what the packages offer by name: functions, classes and values, no modules."""
    pytest.importorskip("flint")
    modules = [sp, *map(importlib.import_module, PUBLIC)]
    named = {name: getattr(module, name) for module in modules for name in module.__all__}
    return {name: value for name, value in named.items() if not inspect.ismodule(value)}


def asked_of(path: Path) -> Iterator[Any]:
    """Yield what a test module uses, by a name or as a member of what it imports."""
    module = importlib.import_module(f"{__package__}.{path.stem}")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from (getattr(importlib.import_module(node.module), a.name) for a in node.names)
        if isinstance(node, ast.Attribute):
            owner = vars(module).get(getattr(node.value, "id", ""))
            if isinstance(owner, ModuleType):
                yield getattr(owner, node.attr)
    for values in vars(module).values():  # lists that a loop has made
        yield from values.values() if isinstance(values, dict) else ()


def test_every_public_name_is_asked():
    tests = [path for path in HERE.glob("test_*.py") if path.name != Path(__file__).name]
    asked = {id(value) for path in tests for value in asked_of(path)}
    unasked = {name for name, value in public().items() if id(value) not in asked}
    assert sorted(unasked) == sorted(UNASKED), "put a new function on a list of these tests"
