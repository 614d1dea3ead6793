"""Training 20 MLPs side by side against one after the other: ratios of throughput in one run."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from itertools import islice

import torch
from torch import nn

from signalprop.layers import BatchNorm
from signalprop.models import MLP
from signalprop.random import Stream
from signalprop.training import batches, cross_entropy, descending

MODELS, DEPTH, WIDTH, BATCH, INPUTS, CLASSES, RATE = 20, 32, 128, 32, 784, 10, 0.01
STEPS, ROUNDS = 5, 5


def run() -> dict[str, float]:
    """Return the milliseconds of one step of all networks, and their ratios, with and without norm.

    ``speedup_limit`` is what the vanilla ratio would be if the batched step were nothing but its
    matrix products. On one thread those take about half of the serial time.
    """
    stream = Stream(0).child("benchmark")
    x = torch.rand(2048, INPUTS, generator=stream.torch("inputs"))
    y = torch.randint(CLASSES, (2048,), generator=stream.torch("labels"))
    result: dict[str, float] = {"threads": torch.get_num_threads(), "models": MODELS}
    for name, norm in {"vanilla": False, "batch_norm": True}.items():
        # In turns, so that both meet the same moods of the machine.
        contenders = {"serial": serial(x, y, norm), "batched": batched(x, y, norm, stream)}
        times: dict[str, list[float]] = {kind: [] for kind in contenders}
        for _ in range(ROUNDS):
            for kind, steps in contenders.items():
                times[kind].append(seconds(steps))
        medians = {kind: statistics.median(values) for kind, values in times.items()}
        for kind, value in medians.items():
            result[f"{name}_{kind}_ms_per_step"] = 1e3 * value / STEPS
        result[f"{name}_speedup"] = medians["serial"] / medians["batched"]
    result["speedup_limit"] = result["vanilla_serial_ms_per_step"] / products_ms()
    return result


def seconds(steps: Callable[[], None]) -> float:
    begin = time.perf_counter()
    steps()
    return time.perf_counter() - begin


def serial(x: torch.Tensor, y: torch.Tensor, norm: bool) -> Callable[[], None]:
    """One ``nn.Sequential`` with ``torch.optim.SGD`` after the other."""
    nets = [reference(norm) for _ in range(MODELS)]
    optimizers = [torch.optim.SGD(net.parameters(), lr=RATE) for net in nets]
    stream = Stream(0)

    def steps() -> None:
        for k, (net, optimizer) in enumerate(zip(nets, optimizers, strict=True)):
            for rows in islice(batches(stream, [k], len(x), BATCH), STEPS):
                optimizer.zero_grad()
                nn.functional.cross_entropy(net(x[rows[0]]), y[rows[0]]).backward()
                optimizer.step()

    return steps


def reference(norm: bool) -> nn.Sequential:
    layers: list[nn.Module] = []
    for size in [INPUTS, *[WIDTH] * (DEPTH - 1)]:
        layers.append(nn.Linear(size, WIDTH))
        if norm:
            layers.append(nn.BatchNorm1d(WIDTH, affine=False, track_running_stats=False))
        layers.append(nn.ReLU())
    return nn.Sequential(*layers, nn.Linear(WIDTH, CLASSES))


def batched(x: torch.Tensor, y: torch.Tensor, norm: bool, stream: Stream) -> Callable[[], None]:
    """The same networks as one module."""
    layers = [BatchNorm(eps=1e-5), torch.relu] if norm else [torch.relu]
    seeds = list(range(MODELS))
    net = MLP(INPUTS, WIDTH, DEPTH, CLASSES, layers, seeds=seeds, stream=stream)
    rates = torch.full((MODELS,), RATE)

    def steps() -> None:
        with descending(net, rates):
            for rows in islice(batches(stream, seeds, len(x), BATCH), STEPS):
                cross_entropy(net(x[rows]), y[rows]).sum().backward()

    return steps


def products_ms() -> float:
    """Return the time of the matrix products of one step alone, as three batched ones a layer."""
    shapes = [(INPUTS, WIDTH)] + [(WIDTH, WIDTH)] * (DEPTH - 1) + [(WIDTH, CLASSES)]
    operands = [
        (torch.randn(MODELS, BATCH, i), torch.randn(MODELS, i, o), torch.randn(MODELS, BATCH, o))
        for i, o in shapes
    ]

    def products() -> None:
        for position, (h, w, g) in enumerate(operands):
            torch.bmm(h, w)
            torch.bmm(h.mT, g)
            if position:
                torch.bmm(g, w.mT)

    return 1e3 * statistics.median(seconds(products) for _ in range(2 * ROUNDS))


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
