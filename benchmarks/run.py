"""Run every benchmark, or those named, and store the numbers with the machine that made them.

``make bench`` calls it; the page on speed draws ``records/benchmarks.json``. Of benchmarks that are
not run the numbers of the last time stay, with their date.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from statistics import geometric_mean

sys.path.insert(0, str(Path(__file__).parent))

import chains
import kernels
import norms
import tangents
import torch
import training

MODULES = {module.__name__: module for module in (tangents, chains, kernels, training, norms)}
RECORD = Path(__file__).parents[1] / "records" / "benchmarks.json"


def targets(results: dict[str, dict]) -> list[dict[str, object]]:
    """The measurements that have a target, each with it; ``at least`` says which side is good."""
    chains, kernels, training = (results[name] for name in ("chains", "kernels", "training"))
    figure = chains["ORTH Fig. 2b, reduced engine"]
    share, ranks = "share of the flops of matmul", "minutes with the soft rank of every 10th layer"
    engine = "direct engine, width 256, products on "  # by the threads of the run that is stored
    direct = {
        name.removeprefix(engine): found[share]["elapsed"]
        for name, found in chains.items()
        if name.startswith(engine)
    }
    million = chains["RANK Fig. 2, width 64, a million layers"][ranks]["elapsed"]
    rows = [
        *(tangent_rows(results["tangents"]) if "tangents" in results else []),
        (
            "chain, plain loop / reduced, width 512",
            figure["speedup by width"]["512"]["elapsed"],
            100,
            True,
        ),
        (
            "chain, plain loop / reduced, ORTH Fig. 2b",
            figure["speedup of the figure"]["elapsed"],
            40,
            True,
        ),
        (
            "chain, memory at width 65,536 in GB",
            chains["width 65,536"]["peak memory in GB"],
            1.0,
            False,
        ),
        *(
            (f"chain, bare products / direct, {on}", found, 0.7, True)
            for on, found in direct.items()
        ),
        ("chain, a million layers at width 64 in minutes", million, 10, False),
        (
            "kernel map, 10^6 points of GELU in seconds",
            kernels["gelu_build_and_million_seconds"],
            1.0,
            False,
        ),
        ("kernel map, relative error of GELU", kernels["gelu_error_against_direct"], 1e-10, False),
        ("training 20 MLPs, in turn / together", training["vanilla_speedup"], 3, True),
        ("the same with batch normalization", training["batch_norm_speedup"], 3, True),
        *(norm_rows(results["norms"]) if "norms" in results else []),
    ]
    return [
        {"what": what, "measured": measured, "target": target, "at least": at_least}
        for what, measured, target, at_least in rows
    ]


def tangent_rows(tangents: dict) -> list[tuple[str, float, float, bool]]:
    """The rows of the tangent kernels: a ratio where both libraries have a closed form."""
    ratios, times = tangents["here / neural-tangents"], tangents["seconds"]
    closed = [
        (f"tangent kernel of {times[name]['n']} inputs, {name}, here / neural-tangents", ratio)
        for name, ratio in ratios.items()
        if name != "tanh"
    ]
    slowest = tangents["seconds without a closed form, n = 1,000"]
    return [
        *((what, ratio, 2, False) for what, ratio in closed),
        ("tangent kernel of 1000 inputs, tanh, in seconds", slowest, 10, False),
    ]


def norm_rows(norms: dict) -> list[tuple[str, float, float, bool]]:
    """The rows of RMS norm: the geometric mean over the sizes, with the ``eps`` of torch."""
    sizes = norms["eps = 1e-5"].values()
    return [
        (
            f"RMS norm, {name}, here / torch's",
            round(geometric_mean(size[name] for size in sizes), 2),
            1,
            False,
        )
        for name in ("forward", "with backward")
    ]


def main(names: list[str]) -> None:
    if unknown := [name for name in names if name not in MODULES]:
        raise SystemExit(f"there is no benchmark {unknown[0]!r}; there are: {', '.join(MODULES)}")
    before = json.loads(RECORD.read_text()) if names else {}
    results, dates = before.get("results", {}), before.get("dates", {})
    dates = {name: dates.get(name, before["date"]) for name in results}
    load = before.get("load", {})
    for number, name in enumerate(names or MODULES, 1):
        module = MODULES[name]
        print(f"[{number}/{len(names or MODULES)}] {module.__doc__.splitlines()[0]}", flush=True)
        load[name] = round(os.getloadavg()[0], 1)
        results[name] = json.loads(json.dumps(module.run()))  # as the next partial run reads it
        dates[name] = datetime.date.today().isoformat()
    results = {name: results[name] for name in MODULES if name in results}
    record = {
        "date": max(dates.values()),
        "dates": dates,
        "load": load,  # of the machine when the benchmark began
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("numpy", "scipy", "torch")},
        "threads": torch.get_num_threads(),
        "targets": targets(results),
        "results": results,
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(results, indent=1))
    print(f"written to {RECORD}")


if __name__ == "__main__":
    main(sys.argv[1:])
