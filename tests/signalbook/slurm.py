"""A Slurm of one node, this machine, in a folder of its own: for tests, and gone after them."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "srun", "setpriv")

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=8000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP
"""


#: Where commands look by themselves: in a job Snakemake's plugin takes SLURM_CONF away.
USUAL = Path("/etc/slurm/slurm.conf")
#: What a link of these tests leads to, by which one that a killed test left is known.
OURS = "slurm-of-signalprop-tests.conf"


def missing() -> str:
    """Why no Slurm can be started here, or "" if one can."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    if lacking := [name for name in PROGRAMS if shutil.which(name, path=path) is None]:
        return f"there is no Slurm here, {', '.join(lacking)} not found"
    if USUAL.exists() and not _ours():
        return f"this machine has a Slurm of its own, by {USUAL}"
    if os.getuid() != 0:
        return f"only root may write {USUAL}"
    return ""


def _ours() -> bool:
    return USUAL.is_symlink() and USUAL.readlink().name == OURS


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other test on this machine has a Slurm: there is one ``USUAL`` for all."""
    with (Path(tempfile.gettempdir()) / "slurm-of-signalprop-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def slurm(folder: Path) -> Iterator[dict[str, str]]:
    """Run munged, slurmctld and slurmd; yield the environment in which its commands find it.

    To be called ``alone``, where nothing is ``missing``: a link that stands then was left by a test
    that was killed.
    """
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    ports = [_free_port() for _ in range(2)]
    host, user = socket.gethostname().partition(".")[0], _user()
    configuration = folder / OURS
    configuration.write_text(CONFIGURATION.format(host=host, ports=ports, folder=folder, user=user))
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    environment = {
        "SLURM_CONF": str(configuration),
        "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
    }
    files = {"key-file": key, "socket": folder / "munge.socket"}
    files |= {f"{name}-file": folder / f"munge.{name}" for name in ("pid", "log", "seed")}
    munged = ["munged", "--foreground", "--force"]
    munged += [f"--{name}={path}" for name, path in files.items()]
    with ExitStack() as stack:
        USUAL.parent.mkdir(exist_ok=True)
        if USUAL.is_symlink():  # ours, or it leads nowhere: see `missing`
            USUAL.unlink()
        USUAL.symlink_to(configuration)
        stack.callback(USUAL.unlink)
        stack.enter_context(_running(munged, folder, environment))
        _until(lambda: (folder / "munge.socket").exists(), folder)
        stack.enter_context(_running(["slurmctld", "-D"], folder, environment))
        stack.enter_context(_running(["slurmd", "-D", "-N", host], folder, environment))
        _until(lambda: "idle" in _said(["sinfo", "-h", "-o", "%t"], environment), folder)
        yield environment
        _said(["scancel", "--full", f"--user={user}"], environment)


@contextmanager
def _running(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[None]:
    with (folder / f"{command[0]}.log").open("w") as log:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *command],  # it ends with a test that is killed
            env=os.environ | environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            if process.poll() is None:
                process.kill()
                process.wait()


def _said(command: list[str], environment: dict[str, str]) -> str:
    run = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    return run.stdout


def _until(condition, folder: Path, seconds: float = 120) -> None:  # type: ignore[no-untyped-def]
    ends = time.monotonic() + seconds
    while not condition():
        logs = "\n".join(path.read_text()[-2000:] for path in folder.glob("*.log"))
        assert time.monotonic() < ends, logs
        time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name
