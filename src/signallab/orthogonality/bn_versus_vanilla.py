"""Two samples on their way through random linear networks: ORTH, Figure 1.

Layer 1 is the input, as in the authors' notebook. Paths have shape ``(runs, layers)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signalprop.random import Stream

__all__ = ["NETWORKS", "STARTS", "change_of_log_sine", "cosines", "readings", "table_of_paths"]

Network = Literal["with BN", "without BN", "BN with mean reduction", "each sample normalized"]
Start = Literal["nearly parallel", "orthogonal"]
Floats = np.ndarray[Any, np.dtype[np.float64]]

#: What stands behind each product of weights. Cosines do not depend on the overall scale, so the
#: network without BN is divided by its Frobenius norm, which keeps it from overflowing.
NETWORKS: dict[Network, sp.BatchNorm | sp.FrobeniusNorm | sp.RMSNorm] = {
    "with BN": sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d"),
    "without BN": sp.FrobeniusNorm(),
    "BN with mean reduction": sp.BatchNorm(),
    "each sample normalized": sp.RMSNorm(),
}
#: The authors' inputs: e_1 and 0.999 e_1 + 0.001 e_2, and e_1 and e_2.
STARTS: dict[Start, Any] = {
    "nearly parallel": sp.inputs.nearly_parallel(2, 1e-3),
    "orthogonal": sp.inputs.orthogonal_samples(2),
}


def cosines(
    network: Network,
    start: Start,
    width: int,
    layers: int,
    runs: int,
    stream: Stream,
    *,
    device: str = "cpu",
) -> Floats:
    """Return ``|cos|`` of the angle between the two samples, ``(runs, layers)``.

    >>> path = cosines("with BN", "nearly parallel", 64, layers=20, runs=2, stream=Stream(0))
    >>> path.shape, bool((path[:, 0] > 0.999).all()), bool((path[:, -1] < 0.5).all())
    ((2, 20), True, True)
    """
    metric = sp.mean_absolute_cosine
    return _walk(network, start, width, layers, runs, stream, metric, device)


def change_of_log_sine(
    width: int, layers: int, runs: int, stream: Stream, *, device: str = "cpu"
) -> Floats:
    """Return the change of ``log sin^2`` of the angle, a layer, without BN, ``(runs,)``.

    It starts from orthogonal samples; the mean over all layers. Its expectation is the negative of
    :func:`signalprop.theory.vanilla_collapse_rate`.
    """

    def log_sine_squared(x: torch.Tensor) -> torch.Tensor:
        return 2 * torch.log(torch.sin(sp.angles(x)[..., 0, 1]))

    draw = (width, layers, runs, stream, log_sine_squared, device)
    path = _walk("without BN", "orthogonal", *draw)
    change: Floats = (path[:, -1] - path[:, 0]) / (layers - 1)
    return change


def readings(path: Floats, layers: list[int], plateau: tuple[int, int] | None = None) -> Floats:
    """Return a path at the chosen layers and, as a last column, its mean over a plateau.

    The ends of the plateau are included, as in :func:`signallab.orthogonality.gap_depth_width`.

    >>> readings(np.array([[1.0, 2, 3, 5]]), [2], plateau=(3, 4)).tolist()
    [[2.0, 4.0]]
    """
    chosen = path[:, np.array(layers) - 1]
    if plateau is None:
        return chosen
    first, last = plateau
    return np.column_stack([chosen, path[:, first - 1 : last].mean(axis=1)])


def table_of_paths(paths: Mapping[str, Floats]) -> pd.DataFrame:
    """Return ``network, run, layer, absolute cosine``, a row for each.

    >>> table_of_paths({"with BN": np.array([[1.0, 0.5]])}).values.tolist()
    [['with BN', 0, 1, 1.0], ['with BN', 0, 2, 0.5]]
    """
    parts = []
    for name, path in paths.items():
        run, layer = np.indices(path.shape)
        columns = {"network": name, "run": run.ravel(), "layer": layer.ravel() + 1}
        parts.append(pd.DataFrame(columns | {"absolute cosine": path.ravel()}))
    return pd.concat(parts, ignore_index=True)


def _walk(
    network: Network,
    start: Start,
    width: int,
    layers: int,
    runs: int,
    stream: Stream,
    metric: Callable[[torch.Tensor], torch.Tensor],
    device: str,
) -> Floats:
    if network not in NETWORKS:
        raise ValueError(f"network must be one of {get_args(Network)}, got {network!r}")
    if start not in STARTS:
        raise ValueError(f"start must be one of {get_args(Start)}, got {start!r}")
    chain = sp.Chain(width, sp.gaussian(), layers=[NETWORKS[network]])
    draws = stream.child(network, start, width)
    path = chain.run(STARTS[start], layers - 1, runs, draws, device=device)
    values: Floats = path.measure(metric).values
    return values
