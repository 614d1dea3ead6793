"""Write the pins: constraints.txt and environment.yml, both from pyproject.toml."""

from __future__ import annotations

import os
import re
import tempfile
import tomllib
from pathlib import Path

from environment import NEWEST, OLDEST, SetupError
from environment.uv import explain
from environment.venv import bootstrap, locked

__all__ = ["conda", "requirements", "universal", "write"]

#: Each build of torch names its own; as pins they would fit one build alone.
OF_TORCH = re.compile(r"(nvidia-|cuda-|triton)")

#: Names that differ on conda's channels, and packages that only the index has.
CONDA_NAMES = {"torch": "pytorch"}
INDEX_ONLY = {"playwright", "sphinx-mathjax-offline"}

HEADER = """\
# The environment for conda, with the versions of constraints.txt; `make lock` writes both. It is
# not solved here: a test compares it with pyproject.toml. `conda env create -f environment.yml`
"""


def write(root: Path, this_python: bool = False) -> None:
    """Resolve for every supported Python and system at once; keep the pins that still fit."""
    constraints = root / "constraints.txt"
    with locked(root) as lock, tempfile.TemporaryDirectory() as folder:
        uv = bootstrap(root, lock, this_python)
        new = Path(folder) / "constraints.txt"
        new.write_text(constraints.read_text())
        # The public versions, for all systems: no folder or further index of this machine.
        alone = dict.fromkeys(["UV_FIND_LINKS", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_NO_INDEX"])
        good, said = uv.check(*universal(), "--output-file", str(new), **alone)
        if not good:
            raise SetupError(explain(said, "every supported Python", uv.variables))
        lines = new.read_text().splitlines(keepends=True)
        text = "".join(line for line in lines if not OF_TORCH.match(line))
        environment = conda((root / "pyproject.toml").read_text(), text)
        for path, content in [(constraints, text), (root / "environment.yml", environment)]:
            half = path.with_suffix(".new")
            half.write_text(content)
            os.replace(half, path)
    print("wrote constraints.txt and environment.yml")


def universal() -> list[str]:
    """Return the arguments of uv that resolve for all at once, with as few versions as will do."""
    return [
        *("compile", "--universal", "--python-version", f"{OLDEST[0]}.{OLDEST[1]}.0"),
        *("--all-extras", "--fork-strategy", "fewest", "--no-annotate", "--only-binary", ":all:"),
        *("--no-binary", "connection-pool", "--custom-compile-command", "make lock"),
        "pyproject.toml",
    ]


def requirements(pyproject: str) -> list[str]:
    """Return the names of all packages that the project asks for.

    >>> requirements('[project]\\nname = "a"\\ndependencies = ["b>=1", "a[c]", "d-e==2"]')
    ['b', 'd-e']
    """
    project = tomllib.loads(pyproject)["project"]
    lists = [project["dependencies"], *project.get("optional-dependencies", {}).values()]
    names = {re.match(r"[\w.-]+", text)[0] for texts in lists for text in texts}  # type: ignore
    return sorted(names - {project["name"]})


def conda(pyproject: str, constraints: str) -> str:
    """Return the text of environment.yml for the same versions."""

    def version(name: str) -> str:
        found = re.findall(rf"^{name}==([^\s;]+)", constraints, re.M)
        if len(found) != 1:
            raise SetupError(f"{name} has {len(found)} pins, and environment.yml can hold one")
        return str(found[0])

    names = requirements(pyproject)
    lines = [
        "name: signalprop",
        "channels:",
        "  - conda-forge",
        "  - bioconda",
        "dependencies:",
        f"  - python>={OLDEST[0]}.{OLDEST[1]},<{NEWEST[0]}.{NEWEST[1] + 1}",
        "  - pip",
        *(f"  - {CONDA_NAMES.get(n, n)}={version(n)}" for n in names if n not in INDEX_ONLY),
        "  - pip:",
        *(f"      - {name}=={version(name)}" for name in names if name in INDEX_ONLY),
        "      - -e .",
    ]
    return HEADER + "\n".join(lines) + "\n"
