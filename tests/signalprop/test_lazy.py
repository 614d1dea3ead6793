import ast
import importlib
import pkgutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import signalprop

ROOT = Path(signalprop.__file__).parent
STUBS = sorted(path.relative_to(ROOT).parent for path in ROOT.rglob("*.pyi"))


def loaded_by(code):
    """The modules that a fresh interpreter has after the code."""
    program = f"import sys\n{code}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def package(folder):
    return importlib.import_module(".".join(["signalprop", *folder.parts]))


@pytest.mark.parametrize("folder", STUBS, ids=str)
def test_every_name_of_a_stub_is_there_and_is_what_its_module_has(folder):
    module = package(folder)
    names = {
        alias.name: statement
        for statement in ast.parse((ROOT / folder / "__init__.pyi").read_text()).body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert sorted(names) == module.__all__ == dir(module)
    assert len(names) > 1
    for name, statement in names.items():
        origin = importlib.import_module(
            "." * statement.level + (statement.module or name), module.__name__
        )
        assert getattr(module, name) is (getattr(origin, name) if statement.module else origin)


@pytest.mark.parametrize("folder", STUBS, ids=str)
def test_no_name_of_a_package_is_hidden_by_a_module_of_that_name(folder):
    """To import ``p.angles`` sets the attribute ``angles`` of p, whatever p says it is."""
    module = package(folder)
    modules = {info.name for info in pkgutil.iter_modules(module.__path__)}
    assert all(
        getattr(module, name).__name__.endswith(f".{name}") for name in modules & set(dir(module))
    )


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="'signalprop' has no attribute 'Chian'"):
        signalprop.Chian  # noqa: B018


def test_to_import_the_library_loads_nothing_else():
    assert {m for m in loaded_by("import signalprop") if m.startswith("signalprop.")} == {
        "signalprop._lazy"
    }
    assert not {"torch", "numpy", "scipy"} & loaded_by("import signalprop")


@pytest.mark.slow
def test_a_program_loads_the_modules_that_it_uses_and_no_others():
    used = loaded_by("import signalprop as sp\nsp.theory.orth_theorem_1(0.1, 2, 4, 8)")
    assert {m for m in used if m.startswith("signalprop.theory")} == {
        "signalprop.theory",
        "signalprop.theory._formula",
        "signalprop.theory.orthogonality",
        "signalprop.theory.orthogonality.main_theorem",
    }
    used = loaded_by("import signalprop as sp\nsp.KernelMap(sp.activations.tanh)")
    assert "signalprop.limits.maps" in used
    assert not {"signalprop.training", "signalprop.limits.networks", "scipy.optimize"} & used


def test_completion_shows_what_is_meant_to_be_used():
    for name in (
        "activations",
        "callables",
        "clusters",
        "inputs",
        "probing",
        "random",
        "spectra",
        "sweeps",
        "tangent",
        "weights",
    ):
        module = importlib.import_module(f"signalprop.{name}")
        assert dir(module) == sorted(module.__all__)


def test_each_name_has_one_room():
    """Modules, functions and classes; a folder of ``theory`` is named after its document."""
    rooms = defaultdict(set)  # a function with overloads stands in one room
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0] == "theory" and parts[-1] == "__init__":
            continue
        name = parts[-2:-1] if parts[-1] == "__init__" else parts[-1:]
        rooms["".join(name)].add(parts)
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                rooms[node.name].add(parts)
    assert len(rooms) > 200
    twice = {name: where for name, where in rooms.items() if len(where) > 1 and name[:1] != "_"}
    assert twice == {}


def test_no_import_is_circular():
    """At run time; what only types need does not count."""
    graph = {}
    for path in ROOT.rglob("*.py"):
        parts = ["signalprop", *path.relative_to(ROOT).with_suffix("").parts]
        graph[".".join(parts)] = {
            target
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("signalprop.")
            for target in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        }
    graph = {module: {t for t in targets if t in graph} for module, targets in graph.items()}
    assert sum(map(len, graph.values())) > 100
    while leaves := {module for module, targets in graph.items() if not targets}:
        graph = {m: targets - leaves for m, targets in graph.items() if m not in leaves}
    assert graph == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "package"),
    [
        # torch's compiler, seconds of work, for the derivative of a product
        (
            "from signalprop import activations as A, KernelMap\n"
            "for phi in (A.softplus, A.gelu.normalized().gained(2.0)):\n"
            "    phi.derivative(0.5), KernelMap(phi.normalized()).iterate_complement(0.5, 3)",
            "torch._dynamo",
        ),
        ("from signalprop.certify import Identity, Proof", "sympy"),
    ],
)
def test_what_is_slow_to_load_is_left_to_those_who_need_it(code, package):
    assert package not in loaded_by(code)
