"""What kernel maps cost: building and evaluating, against direct quadrature; and their accuracy."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import numpy as np
import torch

from signalprop.activations import exp, gelu, relu
from signalprop.limits.expansions import hermite_coefficients
from signalprop.limits.interpolated import interpolate
from signalprop.limits.maps import KernelMap
from signalprop.limits.quadrature import bivariate_expectation


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the least time of a few runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def run() -> dict[str, float]:
    """Return timings in seconds, ratios to the slower way, and the largest relative errors."""
    points = torch.linspace(-1, 1, 1_000_000, dtype=torch.float64)
    build = seconds(lambda: interpolate(gelu))
    k = KernelMap(gelu)
    evaluate = seconds(lambda: k(points))
    few = np.concatenate([np.linspace(-1, 1, 41), 1 - np.geomspace(1e-12, 1e-2, 11)])
    direct = bivariate_expectation(few, gelu)
    direct_each = seconds(lambda: bivariate_expectation(few, gelu)) / few.size
    delta = torch.logspace(-14, 0, 57, dtype=torch.float64)
    closed, numeric = exp.kernel(1.0), interpolate(exp)  # type: ignore[misc]
    complement = numeric.complement(delta) / closed.complement(delta) - 1
    relu_map = KernelMap(relu.normalized())
    return {
        "gelu_build_seconds": build,
        "gelu_million_seconds": evaluate,
        "gelu_build_and_million_seconds": build + evaluate,
        "gelu_speedup_over_direct": direct_each * 1e6 / (build + evaluate),
        "gelu_error_against_direct": float(np.abs(k(few) / direct - 1).max()),
        "exp_complement_error": float(complement.abs().max()),
        "relu_million_seconds": seconds(lambda: relu_map(points)),
        "relu_layers_per_second": 1000 / seconds(lambda: relu_map.iterate_complement(0.5, 1000)),
        "hermite_1000_seconds": seconds(lambda: hermite_coefficients(relu, 1000)),
    }


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
