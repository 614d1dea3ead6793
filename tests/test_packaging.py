"""What the project says of itself in several files agrees, and the code keeps to its own rules."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import jsonschema
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import signalprop
from environment import NEWEST, OLDEST, lock
from signalbook.project import Project

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA_NAMES = {"pytorch": "torch"}


def requirements() -> dict[str, Requirement]:
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    found = [Requirement(text) for texts in lists for text in texts]
    return {r.name: r for r in found if r.name != "signalprop"}


def constraints() -> dict[str, str]:
    """The pins that hold for this Python and system."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    here = [pin for pin in pins if pin.marker is None or pin.marker.evaluate()]
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in here}


def test_the_environment_for_conda_is_made_from_the_same_source():
    """`make lock` writes it; here it is written again and compared."""
    texts = [(ROOT / name).read_text() for name in ("pyproject.toml", "constraints.txt")]
    text = (ROOT / "environment.yml").read_text()
    assert text == lock.conda(*texts)
    dependencies = yaml.safe_load(text)["dependencies"]
    (pip,) = [entry["pip"] for entry in dependencies if isinstance(entry, dict)]
    names = {re.match(r"[\w-]+", entry)[0] for entry in [*dependencies[:-1], *pip[:-1]]}
    assert {CONDA_NAMES.get(name, name) for name in names} == {*requirements(), "python", "pip"}


@pytest.mark.parametrize("requirement", requirements().values(), ids=str)
def test_the_constraints_satisfy_the_requirements(requirement):
    assert requirement.specifier.contains(constraints()[requirement.name], prereleases=True)


def test_the_constraints_can_be_installed_anywhere():
    """No build for one machine, no address, and nothing that one build of torch alone asks for."""
    assert not [name for name, version in constraints().items() if Version(version).local]
    assert not re.search(
        r"://|^-|^(nvidia|cuda|triton)", (ROOT / "constraints.txt").read_text(), re.M
    )


def test_the_library_needs_numpy_scipy_and_torch_alone():
    assert {Requirement(text).name for text in PROJECT["dependencies"]} == {
        "numpy",
        "scipy",
        "torch",
    }


def test_the_python_version_is_the_same_everywhere():
    minors = [f"3.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]
    assert PROJECT["requires-python"] == f">={minors[0]}"
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert named == minors
    assert f"python>={minors[0]},<3.{NEWEST[1] + 1}" in (ROOT / "environment.yml").read_text()
    assert f"Python {minors[0]} to {minors[-1]}" in (ROOT / "README.md").read_text()
    workflow = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text())
    assert workflow["jobs"]["library"]["strategy"]["matrix"]["python"] == minors


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert PROJECT["version"] == citation["version"] == signalprop.__version__
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    shown = config["sphinx"]["config"]["html_theme_options"]["extra_footer"]
    assert shown == f"<p>Version {PROJECT['version']}</p>"
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text()


NAMED = {"type": "object", "required": ["name"]}
PERSON = {"type": "object", "required": ["family-names", "given-names"]}
AUTHORS = {"type": "array", "minItems": 1, "items": {"anyOf": [NAMED, PERSON]}}
ADDRESS = {"type": "string", "pattern": "^https://"}
WORK = {
    "type": "object",
    "required": ["authors", "title", "type"],
    "properties": {
        "authors": AUTHORS,
        "institution": NAMED,
        "thesis-type": {"type": "string"},
        "title": {"type": "string"},
        "type": {"enum": ["article", "conference-paper", "thesis"]},
        "url": ADDRESS,
        "year": {"type": "integer"},
    },
    "additionalProperties": False,
}
#: What the format allows of what the file uses; by its whole schema too it was valid, once by hand.
CITATION = {
    "type": "object",
    "required": ["authors", "cff-version", "message", "title"],
    "properties": {
        "authors": AUTHORS,
        "cff-version": {"const": "1.2.0"},
        "keywords": {"type": "array", "uniqueItems": True, "items": {"type": "string"}},
        "license": {"const": "MIT"},
        "message": {"type": "string"},
        "references": {"type": "array", "minItems": 1, "items": WORK},
        "title": {"type": "string"},
        "type": {"enum": ["software", "dataset"]},
        "version": {"type": "string"},
    },
    "additionalProperties": False,
}


def test_the_citation_keeps_to_its_format():
    jsonschema.validate(yaml.safe_load((ROOT / "CITATION.cff").read_text()), CITATION)


def targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):(?!=)", (ROOT / "Makefile").read_text(), re.M))


def test_make_help_lists_every_target():
    run = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = set(re.findall(r"^ +make ([a-z-]+)", run.stdout, re.M))
    assert listed == targets()
    assert {
        "book",
        "test",
        "test-site",
        "chapter",
        "paper",
        "vouch",
        "serve",
        "bench",
        "clean",
        "setup",
        "lock",
    } <= listed


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "pages/executing.md"])
def test_the_commands_that_are_named_exist(name):
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", (ROOT / name).read_text(), re.M))
    assert {"book", "test"} <= named <= targets()


def test_the_page_on_slurm_shows_the_profile_and_commands_that_exist():
    page = (ROOT / "pages" / "slurm.md").read_text()
    assert f"```yaml\n{(ROOT / 'profiles' / 'slurm' / 'config.yaml').read_text()}```" in page
    assert {"book", "paper", "sweep"} <= set(re.findall(r"(?:^|`)make ([a-z-]+)", page, re.M))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", page, re.M)) <= targets()
    assert "slurmctld slurmd slurm-client munge" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README.md", "pages/executing.md"])
def test_the_example_of_the_library_runs(name):
    text = (ROOT / name).read_text()
    (code,) = re.findall(r"```python\n(import signalprop as sp\n.*?)```", text, re.S)
    code += "assert gap.values.shape == (20, 51)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def public_modules() -> list[str]:
    """The modules of the library that hold names of their own, packages apart."""
    found = pkgutil.walk_packages(signalprop.__path__, "signalprop.")
    return [info.name for info in found if not info.ispkg and "._" not in info.name]


def test_every_public_name_of_the_library_is_in_the_reference_once():
    """A page shows a module by itself, or the package that gathers its names."""
    texts = [path.read_text() for path in (ROOT / "pages" / "api").glob("*.md")]
    shown = re.findall(r"automodule:: (signalprop\S+)\n +:members:", "\n".join(texts))
    gathered = Counter(name for module in shown for name in public_names(module))
    assert {name: count for name, count in gathered.items() if count > 1} == {}
    rooms = [info.name for info in pkgutil.iter_modules(signalprop.__path__, "signalprop.")]
    assert len(gathered) > 200
    assert set(public_names(*(name for name in rooms if "._" not in name))) <= set(gathered)


def public_names(*modules: str) -> dict[str, object]:
    """The functions and classes that modules of the library define and have in ``__all__``."""
    found = {}
    for module in map(importlib.import_module, modules):
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            if inspect.isroutine(value) or inspect.isclass(value):
                found[f"{value.__module__}.{name}"] = value
    return {name: value for name, value in found.items() if name.startswith("signalprop.")}


def test_every_public_name_of_the_library_has_an_example():
    """They run as doctests with the other tests."""
    names = public_names(*public_modules())
    assert {"signalprop.weights.gaussian", "signalprop.chains.path.Path"} <= set(names)
    assert [name for name, value in names.items() if ">>>" not in (value.__doc__ or "")] == []


def test_every_page_of_the_reference_is_in_the_table_of_contents():
    pages = {f"pages/api/{path.stem}" for path in (ROOT / "pages" / "api").glob("*.md")}
    assert pages == {page for page in Project(ROOT).pages if page.startswith("pages/api/")}


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "src", "tests", "benchmarks", "environment"],
        ["ruff", "format", "--check", "src", "tests", "benchmarks", "environment"],
        ["mypy"],
    ],
    ids=["ruff", "format", "mypy"],
)
@pytest.mark.slow
def test_the_code_keeps_to_its_rules(command):
    run = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
