"""Tangent kernels beside those of neural-tangents: its values into a file, the times of both.

neural-tangents needs older versions of numpy and scipy than the book. It gets an environment of its
own below ``_build``, made once. Times are the least of a few, of the same inputs on the same
machine, each library in its own process; theirs with all cores.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch

import signalprop as sp

HERE = Path(__file__).parent
ENVIRONMENT = HERE.parent / "_build" / "peer"
VALUES = HERE / "peer.json"
NEEDS = ("jax==0.4.30", "jaxlib==0.4.30", "numpy<2.1", "scipy<1.15", "frozendict")
PEER = "neural-tangents==0.6.5"  # itself without what it asks for, which is more than it needs
FEATURES, TURNS = 100, 5
DEPTH, WEIGHT_VARIANCE, BIAS_VARIANCE = 3, 1.5, 0.1


def peer_python() -> Path:
    """Return the interpreter beside neural-tangents, in an environment that is made once."""
    python = ENVIRONMENT / "bin" / "python"
    made = ENVIRONMENT / "made"
    if not made.is_file():
        subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
        install = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, *NEEDS], check=True)
        subprocess.run([*install, "--no-deps", PEER], check=True)
        made.touch()
    return python


def seconds(name: str, n: int) -> float:
    """Return the least time of the tangent kernel of n inputs of unequal lengths.

    In torch, as theirs is in jax: after a product numpy's threads spin, and would hold a core.
    """
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((n, FEATURES)))
    phi = getattr(sp.activations, name.lower())
    times = []
    for _ in range(TURNS):
        begin = time.perf_counter()
        sp.ntk(x @ x.T / FEATURES, phi, DEPTH, WEIGHT_VARIANCE, BIAS_VARIANCE)
        times.append(time.perf_counter() - begin)
    return min(times)


def run() -> dict[str, object]:
    """Store the values of neural-tangents; return the seconds of both and their ratios."""
    told = subprocess.run([peer_python(), HERE / "peer.py"], check=True, capture_output=True)
    peer = json.loads(told.stdout)
    theirs = peer.pop("seconds")
    VALUES.write_text(json.dumps(peer) + "\n")
    times = {
        key: {"n": n, "here": seconds(key, n), "neural-tangents": found}
        for key, (n, found) in theirs.items()
    }
    ratios = {name: t["here"] / t["neural-tangents"] for name, t in times.items()}
    return {
        "versions": peer["versions"],
        "seconds": times,
        "here / neural-tangents": ratios,
        "seconds without a closed form, n = 1,000": seconds("tanh", 1000),
    }


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
