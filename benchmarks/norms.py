"""RMS norm beside torch's: forward, and forward with backward, on one thread.

Processor time, in turns in one process; of several turns the fastest of either side counts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import torch

from signalprop.layers import RMSNorm

SIZES = ((32, 128), (128, 512), (512, 1024))
TURNS, NUMBERS = 60, 2_000_000  # numbers normalized in a turn


def run() -> dict[str, object]:
    """Return the ratios, here / torch, by size, for ``eps`` as in torch and for none."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return {
            name: {f"{n} x {d}": ratios(n, d, eps) for n, d in SIZES}
            for name, eps in {"eps = 1e-5": 1e-5, "eps = 0": 0.0}.items()
        }
    finally:
        torch.set_num_threads(threads)


def ratios(n: int, d: int, eps: float) -> dict[str, float]:
    x = torch.randn(n, d)
    leaf, gradient = x.clone().requires_grad_(), torch.randn(n, d)
    ours, torchs = RMSNorm(eps=eps), torch.nn.RMSNorm(d, eps=eps, elementwise_affine=False)

    def forward(layer: torch.nn.Module) -> Callable[[], object]:
        return lambda: layer(x)

    def backward(layer: torch.nn.Module) -> Callable[[], object]:
        return lambda: torch.autograd.grad(layer(leaf), leaf, gradient)

    repeats = max(3, NUMBERS // (n * d + 10_000))
    found = {}
    for name, pass_ in {"forward": forward, "with backward": backward}.items():
        here, there = pass_(ours), pass_(torchs)
        turns = [(seconds(here, repeats), seconds(there, repeats)) for _ in range(TURNS)]
        found[name] = round(min(t[0] for t in turns) / min(t[1] for t in turns), 2)
    return found


def seconds(work: Callable[[], object], repeats: int) -> float:
    begin = time.process_time()
    for _ in range(repeats):
        work()
    return time.process_time() - begin


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
