"""The wheel: it builds, the index would take it, and in an empty environment the README runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from environment.uv import pip_settings, uv_variables

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).parent / "uv"
PYTHON = Path("bin") / "python"

pytestmark = pytest.mark.slow


def run(*command: object, **options) -> subprocess.CompletedProcess:
    listing = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    environ = {**os.environ, **uv_variables(pip_settings(listing.stdout), os.environ)}
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, env=environ, **options)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in files.stdout.decode().split("\0"):
        if name.startswith(("src/", "pyproject", "README", "LICENSE")) and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    built = run(UV, "build", "--wheel", "--out-dir", folder, source)
    if built.returncode and os.environ.get("CI") != "true":
        pytest.skip(f"the wheel cannot be built here: {built.stderr.strip()[-300:]}")
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


def test_it_has_all_that_the_packages_read(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    read = [p for p in (ROOT / "src").rglob("*.*") if p.suffix in (".toml", ".j2", ".js", ".typed")]
    assert len(read) > 20
    assert {path.relative_to(ROOT / "src").as_posix() for path in read} <= names


def test_the_index_would_take_it(wheel):
    checked = run(sys.executable, "-m", "twine", "check", "--strict", wheel)
    assert checked.returncode == 0, checked.stdout
    assert "PASSED" in checked.stdout


def test_in_an_empty_environment_the_example_of_the_readme_runs(wheel, tmp_path):
    """With the versions of this one, from uv's cache: nothing is fetched again."""
    empty = tmp_path / "empty"
    assert run(UV, "venv", "--python", sys.executable, empty).returncode == 0
    needs = [f"{name}=={version(name)}" for name in ("numpy", "scipy", "torch")]
    installed = run(UV, "pip", "install", "--offline", "--python", empty / PYTHON, *needs, wheel)
    if installed.returncode and "offline" in installed.stderr:
        pytest.skip("the packages are not in uv's cache")
    assert installed.returncode == 0, installed.stderr
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    alone = {"PATH": os.environ["PATH"]}
    command = [empty / PYTHON, "-c", code]
    said = subprocess.run(command, capture_output=True, text=True, env=alone, cwd=tmp_path)
    assert said.stdout.strip() == "(20, 51)", said.stderr
