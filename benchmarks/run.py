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
import training

RECORD = Path(__file__).parents[1] / "records" / "benchmarks.json"


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
        "results": results,
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(results, indent=1))
    print(f"written to {RECORD}")


if __name__ == "__main__":
    main()
