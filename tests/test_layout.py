"""The tests mirror the sources: whoever changes a module knows where its tests are."""

import ast
from pathlib import Path

import pytest

from tests.mutants import SAME, mutants
from tests.mutants import test_of as mirror

ROOT = Path(__file__).parents[1]
MODULES = [path for path in sorted((ROOT / "src").rglob("*.py")) if path.name != "__init__.py"]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_module_has_its_test_file(module):
    file = mirror(module)
    assert file.is_file(), f"write {file.relative_to(ROOT)}"
    names = [
        n.name for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.FunctionDef)
    ]
    assert any(name.startswith("test_") for name in names), f"{file.name} holds no test"


def test_names_of_test_files_lose_the_underscores_of_their_modules():
    for module, file in {"a/_b.py": "a/test_b.py", "__main__.py": "test_main.py"}.items():
        assert mirror(ROOT / "src" / module) == ROOT / "tests" / file


def test_slips_known_to_change_nothing_are_those_of_the_code_of_today():
    known = [line.split("  # ") for line in SAME.read_text().splitlines()]
    assert all(len(line) == 2 for line in known), "each line ends in its reason"
    files = {name.split(": ")[0] for name, _ in known}
    slips = {mutant.name for file in files for mutant in mutants(ROOT / file)}
    assert {name for name, _ in known} <= slips
