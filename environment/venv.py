"""The virtual environment: is it right, and if not, make it so.

A record inside it says by which Python and in which folder it was made, and, last of all, which
pins were installed: what was interrupted is taken up again, what was moved or copied is made anew.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from environment import NEWEST, OLDEST, SetupError, torch
from environment.uv import Uv, cache, explain, full, pip_settings, uv_variables, writable

__all__ = ["bootstrap", "ensure", "locked"]

RECORD = "environment.json"


def ensure(root: Path, torch_index: str = "", this_python: bool = False) -> None:
    """Return when the environment is right; say so only if something had to be done."""
    if _is_right(root, torch_index, this_python):
        return
    with locked(root) as lock:
        if not _is_right(root, torch_index, this_python):  # another set-up may have done it
            start = time.monotonic()
            _install(root, bootstrap(root, lock, this_python), torch_index)
            print(f"the environment is ready ({time.monotonic() - start:.0f} s)")


@contextlib.contextmanager
def locked(root: Path) -> Iterator[int]:
    """Hold the lock of the checkout; wait for another set-up, if there is one.

    The programs that the set-up calls inherit it: killed, the set-up leaves none of them at work
    beside its successor.
    """
    with (root / ".venv.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another set-up is at work in this folder: waiting for it", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def bootstrap(root: Path, lock: int, this_python: bool = False) -> Uv:
    """Make the virtual environment with uv in it, unless it is there and sound."""
    venv, record = root / ".venv", _record(root)
    if fault := _fault(root, this_python):
        print(f"making .venv anew: {fault}", flush=True)
        # Moved away in one step: what is half removed would be taken for somebody else's.
        os.replace(venv, root / ".venv.old")
    shutil.rmtree(root / ".venv.old", ignore_errors=True)
    if fault or "python" not in record:
        base = str(getattr(sys, "_base_executable", sys.executable))
        version = ".".join(map(str, sys.version_info[:2]))
        print(f"making .venv with Python {version} ({base})", flush=True)
        record = {"root": str(root.resolve()), "version": version}
        _write(root, record)
        _make(venv, base, lock)
        record["python"] = base
        _write(root, record)
    variables = _variables(venv)
    pin = pinned(root, "uv")
    if record.get("uv") != pin or not (venv / "bin" / "uv").is_file():
        command = ["-m", "pip", "install", "--retries", "1", f"uv=={pin}"]
        good, said = _call(lock, _python(venv), *command)
        if not good:
            raise SetupError(f"uv: {explain(said, f'Python {_version(venv)}', variables)}")
        _write(root, {**record, "uv": pin})
    return Uv(venv, variables, lock)


def pinned(root: Path, package: str) -> str:
    """Return the pinned version of a package."""
    (version,) = re.findall(rf"^{package}==([^\s;]+)", (root / "constraints.txt").read_text(), re.M)
    return str(version)


def _is_right(root: Path, torch_index: str, this_python: bool) -> bool:
    record = _record(root)
    return (
        record.get("installed") == _wanted(root)
        and torch_index in ("", record.get("torch_index"))
        and not _fault(root, this_python)
    )


def _install(root: Path, uv: Uv, torch_index: str) -> None:
    """Install the pins. They are resolved first, so that what does not fit fails at once."""
    record, python = _record(root), f"Python {_version(uv.venv)}"
    record.pop("installed", None)
    _write(root, record)
    pin = pinned(root, "torch")
    options: list[str] = []
    if torch_index and torch_index != record.get("torch_index"):
        torch.install_from(uv, pin, torch_index, python)
        _write(root, record := {**record, "torch_index": torch_index})
    else:
        options, line = torch.choose(uv, pin)
        print(line, flush=True)
    arguments = [*options, "--constraint", "constraints.txt", "--editable", ".[test]"]
    good, said = uv.check("install", "--dry-run", *arguments)
    if not good:
        raise SetupError(explain(said, python, uv.variables))
    uv.show("install", *arguments)
    _write(root, {**record, "installed": _wanted(root)})


def _fault(root: Path, this_python: bool) -> str:
    """Return why the environment that is there cannot be kept; nothing if it can, or if none is."""
    venv, record = root / ".venv", _record(root)
    if not record:
        if (venv / "pyvenv.cfg").is_file():
            return "it was not made by this set-up"
        if os.path.lexists(venv) and not (venv.is_dir() and not any(venv.iterdir())):
            raise SetupError(f"{venv} is no virtual environment: move it away")
        return ""
    if record.get("root") != str(root.resolve()):
        return f"it was made in {record.get('root')}"
    if "python" not in record:
        return "making it was interrupted"
    version = _version(venv)
    if not version:
        return f"its Python ({record['python']}) is gone"
    minor = tuple(map(int, version.split(".")[:2]))
    if not OLDEST <= minor <= NEWEST or not version.startswith(f"{record['version']}."):
        return f"it was made by Python {record['version']}, which is now {version}"
    if this_python and minor != sys.version_info[:2]:
        return f"it was made by Python {record['version']}"
    return ""


def _make(venv: Path, base: str, lock: int) -> None:
    """Make a virtual environment with pip in it."""
    # Debian keeps ensurepip, which brings pip, in a package of its own; its pip can stand in.
    whole = _call(lock, base, "-c", "import venv, ensurepip")[0]
    options = [] if whole else ["--without-pip"]
    good, said = _call(lock, base, "-m", "venv", *options, str(venv))
    if good and not whole:
        good, said = _call(lock, base, "-m", "pip", "--python", _python(venv), "install", "pip")
    if not good:
        if why := full(2**26, venv):
            raise SetupError(why)
        hint = "" if whole else "; on Debian and Ubuntu: apt install python3-venv"
        last = (said.splitlines() or [""])[-1]
        raise SetupError(f"{base} cannot make a virtual environment{hint}\n  {last}")


def _python(venv: Path) -> str:
    return str(venv / "bin" / "python")


def _call(lock: int, *command: str) -> tuple[bool, str]:
    run = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        pass_fds=[lock],
    )
    return run.returncode == 0, run.stdout


def _variables(venv: Path) -> dict[str, str]:
    """Return the environment of uv, with pip's configuration passed on."""
    command = [_python(venv), "-m", "pip", "config", "list"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise SetupError(f"pip's configuration cannot be read: {run.stderr.strip()}")
    found = {**os.environ, **uv_variables(pip_settings(run.stdout), os.environ)}
    found |= {"VIRTUAL_ENV": str(venv), "UV_PYTHON_DOWNLOADS": "never"}
    return found if writable(cache(found)) else found | {"UV_NO_CACHE": "1"}


def _version(venv: Path) -> str:
    """Return the version of the environment's Python, or nothing if it does not run."""
    command = [_python(venv), "-c", "import platform; print(platform.python_version())"]
    with contextlib.suppress(OSError):
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return run.stdout.strip()
    return ""


def _wanted(root: Path) -> str:
    """Digest what says which packages are wanted."""
    texts = [(root / name).read_bytes() for name in ("pyproject.toml", "constraints.txt")]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def _record(root: Path) -> dict[str, Any]:
    try:
        found = json.loads((root / ".venv" / RECORD).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(root: Path, record: dict[str, Any]) -> None:
    path = root / ".venv" / RECORD
    path.parent.mkdir(exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(record, indent=1))
    os.replace(new, path)
