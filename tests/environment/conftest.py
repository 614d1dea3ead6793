"""A checkout of its own for each test, with programs that do as they are told.

A real virtual environment with a real pip takes seconds; the tests of the order of things have
stand-ins for both, and for uv: a set-up that only writes down what it would have done.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

VENV = """
import os, pathlib, sys, time
venv = pathlib.Path(sys.argv[-1])
time.sleep(0.2)
(venv / "bin").mkdir(parents=True, exist_ok=True)
time.sleep(0.2)
(venv / "pyvenv.cfg").write_text(f"home = {os.path.dirname(sys.executable)}")
(venv / "bin" / "python").symlink_to(sys.executable)
"""

#: Installs one package, and has one setting.
PIP = """
import os, pathlib, sys, time
if sys.argv[1:] == ["config", "list"]:
    print("global.find-links='/wheels'")
elif sys.argv[-1].startswith("uv=="):
    time.sleep(0.2)
    uv = pathlib.Path(sys.executable).with_name("uv")
    uv.write_text(os.environ["FAKE_UV_TEXT"])
    uv.chmod(0o755)
"""

#: Writes down what it is called with; `answer` beside the log says how it ends.
UV = """#!/bin/sh
exec "$(dirname "$0")/python" - "$@" <<'END'
import os, pathlib, sys, time
folder = pathlib.Path(os.environ["FAKE_UV"])
dry = "--dry-run" in sys.argv
with (folder / "log").open("a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
if dry and sys.argv[-1].startswith("torch=="):
    print(" + " + sys.argv[-1])
    sys.exit(0)
answer = folder / ("answer" if dry else "install")
if answer.exists():
    text = answer.read_text()
    if text.startswith("sleep"):
        (folder / "asleep").touch()
        while answer.exists():
            time.sleep(0.05)
    else:
        sys.exit(text)
END
"""


class Checkout:
    """A folder with the set-up in it and two pins."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.fake = root.parent / "fake"
        self.fake.mkdir()
        root.mkdir()
        shutil.copytree(ROOT / "environment", root / "environment")
        (root / "pyproject.toml").write_text('[project]\nname = "a"\n')
        (root / "constraints.txt").write_text("torch==2.0\nuv==1.0 ; sys_platform != 'win32'\n")
        unset = ("PIP_", "UV_", "TORCH_INDEX", "PYTHON")
        self.environ = {n: text for n, text in os.environ.items() if not n.startswith(unset)}
        self.environ["FAKE_UV"] = str(self.fake)

    def pretend(self) -> None:
        """Put stand-ins in the place of Python's venv and pip."""
        for name, text in [("venv", VENV), ("ensurepip", ""), ("pip", PIP)]:
            (self.fake / f"{name}.py").write_text(text)
        self.environ |= {"PYTHONPATH": str(self.fake), "FAKE_UV_TEXT": UV}

    def start(self, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "environment", *arguments],
            cwd=self.root,
            env=self.environ | environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str, **environ: str) -> tuple[int, str]:
        process = self.start(*arguments, **environ)
        said, _ = process.communicate(timeout=120)
        assert "Traceback" not in said, said
        return process.returncode, said

    def calls(self) -> list[str]:
        """Return what uv was called with since the last time."""
        log = self.fake / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines

    def installations(self) -> int:
        return sum("--editable" in call and "--dry-run" not in call for call in self.calls())


@pytest.fixture
def real(tmp_path) -> Checkout:
    """Python's own venv and pip, and uv from a folder."""
    checkout = Checkout(tmp_path / "a folder")
    index = tmp_path / "index"
    index.mkdir()
    script = zipfile.ZipInfo("uv-1.0.data/scripts/uv")
    script.external_attr = 0o100755 << 16
    info = "uv-1.0.dist-info"
    with zipfile.ZipFile(index / "uv-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(script, UV)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: uv\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    checkout.environ |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)}
    return checkout


@pytest.fixture
def checkout(tmp_path) -> Checkout:
    made = Checkout(tmp_path / "a folder")
    made.pretend()
    return made
