"""Every set-up ends right: the first, the second, the interrupted, the moved, two at once."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # it starts interpreters, kernels, builds


def wait_for(path: Path) -> None:
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end, f"{path.name} does not come"
        time.sleep(0.02)


def change_record(root: Path, **values: object) -> None:
    path = root / ".venv" / "environment.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_a_real_environment(real):
    code, said = real.run()
    assert code == 0, said
    assert "torch 2.0 from the folder of wheels" in said
    assert [call for call in real.calls() if "--editable" in call] == [
        "pip install --no-index --dry-run --constraint constraints.txt --editable .[test]",
        "pip install --no-index --constraint constraints.txt --editable .[test]",
    ]
    python = real.root / ".venv" / "bin" / "python"
    run = subprocess.run([python, "-m", "pip", "list"], capture_output=True, text=True, check=True)
    assert "uv  " in run.stdout
    assert real.run() == (0, "")


def test_the_first_set_up_installs_and_the_next_does_nothing(checkout):
    code, said = checkout.run()
    assert code == 0, said
    assert "making .venv with Python 3." in said
    assert "torch 2.0 from the folder of wheels" in said
    assert (checkout.root / ".venv" / "bin" / "python").exists()
    call = [call for call in checkout.calls() if "--editable" in call][-1]
    assert call == "pip install --constraint constraints.txt --editable .[test]"
    assert checkout.run() == (0, "")
    assert checkout.calls() == []

    # Changed pins: installed again into the same environment.
    (checkout.root / "constraints.txt").write_text("torch==2.1\nuv==1.0\n")
    code, said = checkout.run()
    assert (code, checkout.installations()) == (0, 1)
    assert "making" not in said

    # Another index for torch: taken from there alone, and not asked for again.
    code, said = checkout.run(TORCH_INDEX="https://example.org/whl")
    assert code == 0, said
    (call,) = [call for call in checkout.calls() if "--reinstall" in call and "--dry" not in call]
    assert call.endswith("--no-deps --default-index https://example.org/whl torch==2.1")
    assert checkout.run(TORCH_INDEX="https://example.org/whl") == checkout.run() == (0, "")


def test_what_was_killed_is_taken_up_and_what_it_called_is_waited_for(checkout):
    (checkout.fake / "install").write_text("sleep")
    first = checkout.start()
    wait_for(checkout.fake / "asleep")
    first.kill()  # its uv lives on, and holds the lock
    first.wait()
    second = checkout.start()
    time.sleep(1)
    assert second.poll() is None
    (checkout.fake / "install").unlink()
    said, _ = second.communicate(timeout=60)
    assert second.returncode == 0, said
    assert "another set-up is at work in this folder: waiting for it" in said
    assert "making" not in said
    assert checkout.installations() == 2


def test_of_two_set_ups_at_once_one_works(checkout):
    both = [checkout.start(), checkout.start()]
    said = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert checkout.installations() == 1


@pytest.mark.parametrize("moment", [0.1, 0.2, 0.4, 0.6, 0.8, 1.0])
def test_a_set_up_killed_at_any_moment_leaves_nothing_that_stops_the_next(checkout, moment):
    process = checkout.start()
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    code, said = checkout.run()
    assert code == 0, said
    assert checkout.run() == (0, "")


def test_an_environment_that_cannot_be_kept_is_made_anew(checkout):
    assert checkout.run()[0] == 0
    moved = checkout.root.with_name("elsewhere")
    shutil.copytree(checkout.root, moved, symlinks=True)
    old, checkout.root = checkout.root, moved
    code, said = checkout.run()
    assert (code, f"making .venv anew: it was made in {old}\n" in said) == (0, True), said

    change_record(moved, version="3.9")
    code, said = checkout.run()
    assert code == 0
    assert "making .venv anew: it was made by Python 3.9, which is now 3." in said

    python = moved / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python")
    code, said = checkout.run()
    assert code == 0
    assert "making .venv anew: its Python (" in said
    assert ") is gone" in said

    (moved / ".venv" / "environment.json").unlink()
    code, said = checkout.run()
    assert code == 0
    assert "making .venv anew: it was not made by this set-up" in said
    assert checkout.run() == (0, "")
    assert not (moved / ".venv.old").exists()


def test_a_folder_of_somebody_else_is_left_alone(checkout):
    (checkout.root / ".venv").mkdir()
    (checkout.root / ".venv" / "thesis.tex").touch()
    code, said = checkout.run()
    assert code == 1
    assert said.strip().endswith(".venv is no virtual environment: move it away")
    assert (checkout.root / ".venv" / "thesis.tex").exists()


def test_without_ensurepip_and_pip_it_says_what_to_install(checkout):
    for name in ("ensurepip", "pip"):
        (checkout.fake / f"{name}.py").write_text("raise ImportError(__name__)")
    code, said = checkout.run()
    assert code == 1
    assert (
        "cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv" in said
    )


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({}, "error: uv: no network: the index of packages is out of reach"),
        ({"HTTPS_PROXY": "http://me:secret@127.0.0.1:9"}, "error: uv: the proxy does not let"),
    ],
    ids=["network", "proxy"],
)
def test_an_index_out_of_reach(real, environ, message):
    for name in [*real.environ]:
        if name.startswith("PIP_") or name.lower().endswith("_proxy"):
            del real.environ[name]
    address = "https://127.0.0.1:9/simple"
    code, said = real.run(PIP_INDEX_URL=address, PIP_CONFIG_FILE=os.devnull, **environ)
    assert code == 1
    (line,) = [line for line in said.splitlines() if line.startswith("error")]
    assert line.startswith(message)
    assert "secret" not in said


FAILURES = {
    "error: No solution found\n  cause: soupsieve==4.1 needs Python>=3.11.5": "the pins cannot be "
    "had for Python 3.",
    "error: Failed to fetch\n  cause: dns error": "no network: ",
    "error: failed to write\n  cause: No space left on device": "the disk is full",
    "error: failed to open: Permission denied (os error 13)": "no permission to write",
    "error: Failed to build `b==1`\n  command 'gcc' failed": "a package does not build; is a C ",
}


@pytest.mark.parametrize("from_uv", FAILURES)
def test_what_uv_says_comes_with_one_line_that_explains_it(checkout, from_uv):
    (checkout.fake / "answer").write_text(from_uv)
    code, said = checkout.run()
    assert code == 1
    (line,) = [line for line in said.splitlines() if line.startswith("error")]
    assert line.startswith(f"error: {FAILURES[from_uv]}")
    assert from_uv.splitlines()[-1].strip() in said

    (checkout.fake / "answer").unlink()
    assert checkout.run()[0] == 0


def test_an_installation_that_fails_is_taken_up(checkout):
    (checkout.fake / "install").write_text("error: Connection reset")
    code, said = checkout.run()
    assert code == 1
    assert said.strip().endswith("error: uv says why above; `make setup` takes it up again")
    (checkout.fake / "install").unlink()
    code, said = checkout.run()
    assert code == 0
    assert "making" not in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_to_write(checkout):
    checkout.root.chmod(0o500)
    try:
        code, said = checkout.run()
    finally:
        checkout.root.chmod(0o700)
    assert code == 1
    assert said.startswith("error: no permission for ")
    assert said.count("\n") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_full_disk(real):
    disk = real.root.with_name("disk")
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        shutil.copytree(real.root, disk, dirs_exist_ok=True)
        real.root = disk
        code, said = real.run()
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
    assert code == 1
    (line,) = [line for line in said.splitlines() if line.startswith("error")]
    assert re.search(rf"the disk is full or nearly so: \d MB are left for {disk}/.venv$", line)
