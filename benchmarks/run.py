"""Run every benchmark and store the numbers with the machine that made them.

``make bench`` calls it; the page on speed draws ``records/benchmarks.json``.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import chains
import kernels
import torch
import training

RECORD = Path(__file__).parents[1] / "records" / "benchmarks.json"


def targets(results: dict[str, dict]) -> list[dict[str, object]]:
    """The measurements that have a target, each with it; ``at least`` says which side is good."""
    chains, kernels, training = (results[name] for name in ("chains", "kernels", "training"))
    figure = chains["ORTH Fig. 2b, reduced engine"]
    rows = [
        (
            "reduced engine against a plain loop, width 512",
            figure["speedup by width"][512]["elapsed"],
            100,
            True,
        ),
        (
            "the whole of ORTH Fig. 2b against a plain loop",
            figure["speedup of the figure"]["elapsed"],
            40,
            True,
        ),
        ("memory at width 65,536, in GB", chains["width 65,536"]["peak memory in GB"], 1.0, False),
        (
            "direct engine, share of the speed of bare products",
            chains["direct engine, width 256"]["share of the flops of matmul"]["elapsed"],
            0.7,
            True,
        ),
        (
            "a million layers at width 64, in minutes",
            chains["RANK Fig. 2, width 64, a million layers"][
                "minutes with the soft rank of every 10th layer"
            ]["elapsed"],
            10,
            False,
        ),
        (
            "GELU kernel map on a million points, in seconds",
            kernels["gelu_build_and_million_seconds"],
            1.0,
            False,
        ),
        ("its relative error", kernels["gelu_error_against_direct"], 1e-10, False),
        ("20 MLPs side by side against one after the other", training["vanilla_speedup"], 3, True),
        ("the same with batch normalization", training["batch_norm_speedup"], 3, True),
    ]
    return [
        {"what": what, "measured": measured, "target": target, "at least": at_least}
        for what, measured, target, at_least in rows
    ]


def main() -> None:
    results = {}
    for number, module in enumerate((chains, kernels, training), 1):
        print(f"[{number}/3] {module.__doc__.splitlines()[0]}", flush=True)
        results[module.__name__] = module.run()
    record = {
        "date": datetime.date.today().isoformat(),
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
    main()
