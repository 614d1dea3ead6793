"""Random chains: the reduced engine against a plain loop, the direct one against bare products.

Each number is a ratio of two timings taken in turns in one process, so that the speed and the load
of the machine cancel; of several turns the fastest of either side counts. ``elapsed`` is what a
user waits, with the second thread that draws ahead; ``cpu`` counts the work of all threads.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch

import signalprop as sp

N, RUNS, LAYERS = 4, 20, 500  # ORTH Fig. 2b
WIDTHS = (16, 32, 64, 128, 256, 512)
START = sp.inputs.diagonal([1.0, 1e-6, 1e-6, 1e-6])


CLOCKS = {"elapsed": time.perf_counter, "cpu": time.process_time}


def seconds(work: Callable[[], object]) -> np.ndarray:
    """Return the time on each clock."""
    begin = [clock() for clock in CLOCKS.values()]
    work()
    return np.array([clock() for clock in CLOCKS.values()]) - begin


def in_turns(first: Callable[[], object], second: Callable[[], object], turns: int) -> np.ndarray:
    """Return the fastest times, (sides, clocks)."""
    return np.min([[seconds(first), seconds(second)] for _ in range(turns)], axis=0)


def by_clock(values: np.ndarray, digits: int) -> dict[str, float]:
    return {name: round(float(v), digits) for name, v in zip(CLOCKS, values, strict=True)}


def plain_loop(width: int, layers: int, runs: int) -> None:
    """One d x d matrix drawn for each layer and run, as one would write it in numpy."""
    generator = np.random.default_rng(0)
    for _ in range(runs):
        h = np.diag([1.0, 1e-6, 1e-6, 1e-6])
        h = np.concatenate([h, np.zeros((width - N, N))])
        for _ in range(layers):
            z = generator.standard_normal((width, width)) / np.sqrt(width) @ h
            h = z / np.linalg.norm(z, axis=1, keepdims=True) / np.sqrt(width)
            np.linalg.norm(h.T @ h / np.linalg.norm(h) ** 2 - np.eye(N) / N)


def reduced(width: int, layers: int) -> None:
    net = sp.Chain(width, layers=[sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")])
    net.run(START, layers, RUNS, engine="reduced").measure(sp.orthogonality_gap)


def figure_2b() -> dict[str, object]:
    """The plain loop is timed on few runs and layers and scaled up: it is linear in both."""
    times = {}
    for width in WIDTHS:
        layers = max(5, 200_000 // width**2)
        few = partial(plain_loop, width, layers, runs=2)
        slow, fast = in_turns(few, partial(reduced, width, LAYERS), turns=5)
        times[width] = slow * (LAYERS / layers) * (RUNS / 2), fast
    plain, ours = np.sum(list(times.values()), axis=0)
    return {
        "speedup by width": {width: by_clock(a / b, 1) for width, (a, b) in times.items()},
        "speedup of the figure": by_clock(plain / ours, 1),
        "seconds for the figure": by_clock(ours, 2),
    }


def direct_engine(width: int = 256, layers: int = 300) -> dict[str, object]:
    """Uniform weights, linear, batch norm, n = d: time against the bare products, and its bound.

    The products of a layer, the normalization and the drawing are also timed apart. A core that
    draws does nothing else: on one, ahead of time on an idle second core, the share is at most that
    of products among products and normalization; where the products take all cores, at most
    that of their work in the whole.
    """
    norm, law = sp.BatchNorm(center=False), sp.uniform()
    path = sp.Chain(width, law, [norm]).run(sp.inputs.gaussian_samples(width), layers)
    h, w = torch.randn(2, 1, width, width, dtype=torch.float64)
    out = torch.empty_like(h)
    drawn, generator = np.empty((16, width, width)), np.random.default_rng(0)

    def products() -> None:
        for _ in range(layers):
            torch.matmul(h, w.mT, out=out)

    def normalized() -> None:
        for _ in range(layers):
            norm(h)

    def drawing() -> None:
        for done in range(0, layers, len(drawn)):
            law.fill(drawn[: layers - done], generator)

    ours, bare = in_turns(path.final, products, turns=5)
    parts = np.array([bare, *in_turns(normalized, drawing, turns=5)])
    elapsed, work = parts.T
    idle = torch.get_num_threads() < (os.cpu_count() or 1)
    beside = elapsed[0] / max(elapsed[0] + elapsed[1], elapsed[2])
    names = ("products", "normalization", "drawing", "the engine")
    return {
        "share of the flops of matmul": by_clock(bare / ours, 2),
        "bound of the share": round(float(beside if idle else work[0] / work.sum()), 2),
        "milliseconds a layer": {
            name: by_clock(times / layers * 1e3, 3)
            for name, times in zip(names, [*parts, ours], strict=True)
        },
    }


def million_layers(width: int = 64, layers: int = 20_000) -> dict[str, object]:
    """RANK Fig. 2 at one width, extrapolated to its million layers."""
    net = sp.Chain(width, sp.uniform(), [sp.BatchNorm(center=False)])
    path = net.run(sp.inputs.gaussian_samples(width), layers)
    chain, ranks = in_turns(path.final, partial(path.average, sp.soft_rank, every=10), turns=2) * (
        10**6 / layers / 60
    )
    return {
        "minutes for the chain": by_clock(chain, 2),
        "minutes with the soft rank of every 10th layer": by_clock(ranks, 2),
    }


WIDE = """
import resource, signalprop as sp
net = sp.Chain(65_536, layers=[sp.BatchNorm(center=False)])
net.run(sp.inputs.orthogonal_samples(4), depth=10, runs=20).measure(sp.orthogonality_gap)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def widest() -> dict[str, object]:
    """Peak memory of a process of its own at width 65,536, n = 4, 20 runs."""
    printed = subprocess.run([sys.executable, "-c", WIDE], capture_output=True, check=True).stdout
    unit = 1 if sys.platform == "darwin" else 1024
    return {"peak memory in GB": round(int(printed) * unit / 1e9, 2)}


def run() -> dict[str, object]:
    """Return all the measurements, by name.

    Products run on one thread, as in the chapters of the book; the engine's own thread draws
    beside it. With products on all cores there is no idle core left to draw on.
    """
    cores = torch.get_num_threads()
    all_cores = direct_engine()
    torch.set_num_threads(1)
    try:
        return {
            "ORTH Fig. 2b, reduced engine": figure_2b(),
            "direct engine, width 256, products on one thread": direct_engine(),
            f"direct engine, width 256, products on {cores} threads": all_cores,
            "RANK Fig. 2, width 64, a million layers": million_layers(),
            "width 65,536": widest(),
        }
    finally:
        torch.set_num_threads(cores)


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
