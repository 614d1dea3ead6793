"""Engine and jobs end with the build that started them, also where it was killed."""

from __future__ import annotations

import os
import socket
import threading
import time

import psutil

__all__ = ["environment", "follow"]

BUILD = "SIGNALBOOK_BUILD"


def environment() -> dict[str, str]:
    """Return what a build puts into the environment of all that it starts."""
    return {BUILD: f"{socket.gethostname()}:{os.getpid()}"}


def follow() -> None:
    """End this process once its build is gone.

    Nothing happens where no build started it, nor on another machine of a cluster: there the check
    before a notebook is put in place must do.
    """
    host, _, number = os.environ.get(BUILD, "").rpartition(":")
    if host == socket.gethostname():
        threading.Thread(target=_wait, args=(int(number),), daemon=True).start()


def _wait(number: int) -> None:
    try:
        build = psutil.Process(number)
        while build.is_running() and build.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.3)
    except psutil.NoSuchProcess:
        pass
    os._exit(1)
