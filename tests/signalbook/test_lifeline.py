"""A job ends with its build, and lives where no build started it."""

import os
import subprocess
import sys

import pytest

from signalbook import lifeline

JOB = """
import time
from signalbook import lifeline
lifeline.follow()
print("follows", flush=True)
time.sleep(float(__import__("sys").argv[1]))
print("ends by itself", flush=True)
"""


def job(seconds, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", JOB, str(seconds)],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_it_ends_once_its_build_is_gone():
    build = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    host = lifeline.environment()[lifeline.BUILD].rpartition(":")[0]
    process = job(300, **{lifeline.BUILD: f"{host}:{build.pid}"})
    assert process.stdout.readline() == "follows\n"
    assert process.poll() is None
    build.communicate(b"\n")
    assert process.wait(60) == 1
    assert process.stdout.read() == ""


@pytest.mark.parametrize("build", ["", "another-machine:1", None])
def test_elsewhere_and_alone_it_lives(build):
    own = lifeline.environment() if build is None else {lifeline.BUILD: build}
    said, _ = job(0.7, **own).communicate(timeout=60)
    assert said.endswith("ends by itself\n")
