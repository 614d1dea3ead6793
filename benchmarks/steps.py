"""What a step of COND's experiments takes at the document's width: ``records/steps.json``.

Run ``.venv/bin/python benchmarks/steps.py`` on one thread. Fully connected networks are measured at
two small depths, since a step grows by the same time with every layer; residual ones at full depth
with a part of the batch. Time is that of the processor, so that other programs do not count.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import torch

import signalprop as sp
from signallab.conditioning import training_fully_connected, training_residual
from signallab.conditioning.image_training import Data
from signalprop.random import Stream

WIDTH, BATCH, CLASSES = 3000, 128, 10
FILE = Path(__file__).parents[1] / "records" / "steps.json"


def images(count: int) -> Data:
    x = torch.randn(count, 3, 32, 32, generator=Stream(0).torch("images"))
    labels = torch.arange(count) % CLASSES
    return Data(x, labels, x, labels)


def seconds(net: torch.nn.Module, data: Data, rounds: int) -> float:
    """The least time of a step: the first one also warms up."""
    times = []
    with sp.training.descending(net, torch.tensor([1e-6])):
        for _ in range(rounds):
            begun = time.process_time()
            logits = net(data.x.expand(1, *data.x.shape))[0]
            torch.nn.functional.cross_entropy(logits, data.labels).backward()
            times.append(time.process_time() - begun)
    return min(times)


def fully_connected(depths: tuple[int, ...] = (32, 64)) -> list[dict[str, object]]:
    data = images(BATCH)
    build = training_fully_connected.builder(data, WIDTH, Stream(0))
    shallow, deep = (seconds(build("NormReLU", d, [0]), data, 3) for d in (2, 4))
    layer = (deep - shallow) / 2
    return [_row("fully connected", d, shallow + (d - 2) * layer) for d in depths]


def residual(depths: tuple[int, ...] = (32, 110), part: int = 16) -> list[dict[str, object]]:
    data = images(part)
    build: Callable[..., torch.nn.Module] = training_residual.builder(16, Stream(0))
    found = {d: seconds(build("batch norm", d, [0]), data, 2) for d in depths}
    return [_row("ResNet", d, each * BATCH / part) for d, each in found.items()]


def _row(network: str, depth: int, each: float) -> dict[str, object]:
    return {"network": network, "depth": depth, "seconds a step": round(each, 2)}


def main() -> None:
    torch.set_num_threads(1)
    record = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "torch": torch.__version__,
        "width": WIDTH,
        "batch": BATCH,
        "steps": fully_connected() + residual(),
    }
    FILE.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
