"""Deep networks without gains: what non-linearities and mean reduction do. GRAD, Section C.7."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from signallab.gradients.deep_networks import Network, Setting, over_runs
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = ["narrow"]


def narrow(
    x: torch.Tensor,
    labels: torch.Tensor,
    widths: Sequence[int],
    extra: int,
    depths: tuple[int, int],
    runs: int,
    stream: Stream,
) -> dict[int, Floats]:
    """Return how the log gradient norm grows between two depths, ``(runs,)`` by width.

    Linear networks with standard batch normalization; width d takes the first ``d + extra`` images
    of ``x`` ``(n, features)``. The gradient is that in the first square matrix.
    """
    found = {}
    for d in widths:
        batch = x[: d + extra], labels[: d + extra]
        setting = Setting(*batch, d, runs, stream.child(d))
        logs = over_runs(setting, {d: Network("identity")}, depths, [1])[d][:, :, 0]
        found[d] = logs[:, 1] - logs[:, 0]
    return found
