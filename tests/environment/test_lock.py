"""The pins hold for every supported Python and system; to see it, nothing is built."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from environment import NEWEST, OLDEST
from environment.lock import OF_TORCH
from environment.uv import explain, pip_settings, uv_variables

ROOT = Path(__file__).parents[2]
PYTHONS = [f"3.{minor}.0" for minor in range(OLDEST[1], NEWEST[1] + 1)]
SYSTEMS = ["x86_64-manylinux_2_28", "aarch64-manylinux_2_28", "aarch64-apple-darwin"]

#: What comes as source alone, the second on Python 3.14; pyproject.toml says what they need.
SOURCES = ["connection-pool", "immutables"]


def resolve(constraints: Path, python: str, system: str) -> tuple[bool, str]:
    """Resolve from the public index, as pip is told to reach it; skip where it is out of reach."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    ci = os.environ.get("CI") == "true"
    if uv is None:
        assert not ci, "uv is missing"
        pytest.skip("uv is missing")
    listing = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    environ = {**os.environ, **uv_variables(pip_settings(listing.stdout), os.environ)}
    for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX"):
        environ.pop(name, None)
    sources = [f"--no-binary={name}" for name in SOURCES]
    command = [
        uv,
        "pip",
        "compile",
        "pyproject.toml",
        "--all-extras",
        "--no-header",
        "--no-annotate",
    ]
    command += ["--constraint", str(constraints), "--python-version", python]
    command += ["--python-platform", system, "--only-binary", ":all:", *sources]
    run = subprocess.run(
        command,
        # What torch's wheels for macOS are built for.
        env=environ | {"MACOSX_DEPLOYMENT_TARGET": "14.0", "UV_PYTHON_DOWNLOADS": "never"},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    said = explain(run.stderr, python, environ)
    if run.returncode and not ci and said.startswith(("no network", "neither", "the proxy")):
        pytest.skip(f"no index: {said}")
    return run.returncode == 0, run.stdout or said


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_the_pins_resolve(python, system):
    good, said = resolve(ROOT / "constraints.txt", python, system)
    assert good, said
    pins = {line.split(" ;")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()}
    resolved = {line for line in said.splitlines() if not OF_TORCH.match(line)}
    assert resolved <= pins
    assert len(resolved) > 100


def test_a_pin_that_does_not_fit_fails_and_is_named(tmp_path):
    """The pin that once made the set-up endless: it needs Python 3.11.5."""
    text = (ROOT / "constraints.txt").read_text()
    (pin,) = [line for line in text.splitlines() if line.startswith("soupsieve==")]
    (tmp_path / "constraints.txt").write_text(text.replace(pin, "soupsieve==4.1"))
    good, said = resolve(tmp_path / "constraints.txt", "3.11.2", SYSTEMS[0])
    assert not good
    assert "soupsieve==4.1" in said
    assert "3.11.2" in said.splitlines()[0]
