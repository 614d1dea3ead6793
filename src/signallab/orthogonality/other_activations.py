"""Where the Gram matrix settles with an activation in front of each layer: ORTH, Appendix F.

The chain is ``Q' = BN(W F(Q))`` with an activation F; BN scales every row to norm ``scale``, 1 in
the paper. Gram matrices are divided by their trace, which for rows of norm 1 is the width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signallab.orthogonality.gap_depth_width import infinite_width
from signalprop.random import Stream

__all__ = ["ACTIVATIONS", "Settled", "descents", "first_term", "log_slopes", "settled"]

Scale = float | Literal["1/sqrt d"]
Start = Literal["independent", "nearly parallel", "equal"]
Floats = np.ndarray[Any, np.dtype[np.float64]]

ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "linear": sp.activations.identity,
    "sin": sp.activations.sin,
    "tanh": sp.activations.tanh,
    "ReLU": sp.activations.relu,
    "sigmoid": sp.activations.sigmoid,
}


@dataclass(frozen=True)
class Settled:
    """Averages over the layers of a settled chain, one number a run, ``(runs,)`` each.

    - ``off_diagonal`` is the mean entry b beside the diagonal of the Gram matrix of trace 1. As
      permuting samples permutes Q, the stationary mean is ``(1/n - b) I + b 1 1^T``;
    - ``deviation`` is the mean distance L from that matrix, with b from all runs;
    - ``gap`` is the mean orthogonality gap V, the distance from ``I / n``.
    """

    off_diagonal: Floats
    deviation: Floats
    gap: Floats


def settled(
    activation: str,
    n: int,
    width: int,
    *,
    layers: int,
    burn_in: int,
    runs: int,
    stream: Stream,
    scale: Scale = 1.0,
    center: bool = False,
    start: Start = "independent",
    device: str = "cpu",
) -> Settled:
    """Return what ``layers`` layers after the first ``burn_in`` show, for each run.

    ``start`` is ``"independent"`` (Gaussian samples), ``"nearly parallel"`` or ``"equal"``; equal
    samples take the engine that draws all weights, as the other one would round them apart. With
    ``center`` BN also subtracts the mean of each row; then b is ``-1/(n(n-1))`` at every layer.

    >>> chain = {"layers": 200, "burn_in": 50, "runs": 2, "stream": Stream(0)}
    >>> linear, relu = (settled(name, 4, 64, **chain) for name in ("linear", "ReLU"))
    >>> bool(abs(linear.off_diagonal).max() < 0.02 < relu.off_diagonal.min())
    True
    """
    inputs: dict[str, Any] = {
        "independent": sp.inputs.gaussian_samples(n),
        "nearly parallel": sp.inputs.nearly_parallel(n),
        "equal": np.ones((n, width)),
    }
    if start not in inputs:
        raise ValueError(f"start must be one of {', '.join(inputs)}, got {start!r}")
    path = _chain(activation, width, scale, center).run(
        inputs[start],
        burn_in + layers,
        runs,
        stream.child(activation, width, start),
        engine="direct" if start == "equal" else "auto",
        device=device,
    )
    grams = path.measure(_gram_of_trace_one).between(burn_in + 1, burn_in + layers).values
    off = (grams.sum(axis=(-2, -1)) - 1) / (n * (n - 1))
    flat, b = np.eye(n) / n, off.mean()
    stationary = (1 - n * b) * flat + b

    def distance(center: Floats) -> Floats:
        found: Floats = np.linalg.norm(grams - center, axis=(-2, -1)).mean(axis=1)
        return found

    return Settled(off.mean(axis=1), distance(stationary), distance(flat))


def descents(
    n: int, width: int, depth: int, runs: int, stream: Stream, *, device: str = "cpu"
) -> pd.DataFrame:
    """Return ``activation, run, layer, orthogonality gap`` from nearly parallel samples.

    >>> frame = descents(3, 32, depth=2, runs=1, stream=Stream(0))
    >>> len(frame), list(frame.columns)
    (15, ['activation', 'run', 'layer', 'orthogonality gap'])
    """
    parts = []
    for name in ACTIVATIONS:
        path = _chain(name, width, 1.0).run(
            sp.inputs.nearly_parallel(n), depth, runs, stream.child("fall", name), device=device
        )
        gaps = path.measure(sp.orthogonality_gap).values
        run, layer = np.indices(gaps.shape)
        columns = {"activation": name, "run": run.ravel(), "layer": layer.ravel()}
        parts.append(pd.DataFrame(columns | {"orthogonality gap": gaps.ravel()}))
    return pd.concat(parts, ignore_index=True)


def log_slopes(widths: list[int], values: Floats) -> Floats:
    """Return the slope of log ``values`` ``(runs, widths)`` in the log of the width, ``(runs,)``.

    >>> log_slopes([1, 4, 16], np.array([[1, 0.5, 0.25]])).round(12).tolist()
    [-0.5]
    """
    slopes: Floats = np.polyfit(np.log(widths), np.log(values).T, 1)[0]
    return slopes


def first_term(rate: Callable[[float], float], constant: float = 1000) -> Callable[..., Case]:
    """Return "the gap at layer ``layers + 1`` is at most ``constant rate(alpha)^layers``".

    That is the first term of ORTH, App. F.2, at infinite width, where the other one vanishes, for
    the odd activation ``F(x) = x``. The input has one strong direction with the given share (see
    `gap_depth_width`); alpha is the smallest singular value of the layers 1..``layers``.

    >>> slow, fast = first_term(lambda a: 1 - a**2), first_term(lambda a: (1 - a) ** 2)
    >>> [bool(s(4, 0.9, 100).left < s(4, 0.9, 100).right) for s in (slow, fast)]
    [True, False]
    """

    def statement(samples: int, share: float, layers: int) -> Case:
        path = infinite_width(samples, "one strong direction", share, layers + 1)
        alpha = float(path["smallest singular value"][1:-1].min())
        return Case(
            float(path["gap"].iloc[-1]),
            constant * rate(alpha) ** layers,
            {r"$0 < \alpha$, $n \alpha^2 \le 1$": 0 < samples * alpha**2 <= 1 + 1e-12},
            rf"infinite width, {samples} samples, $\ell = {layers}$, $\alpha = {alpha:.4f}$",
            {"alpha": alpha},
        )

    return statement


def _chain(activation: str, width: int, scale: Scale, center: bool = False) -> sp.Chain:
    if activation not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise ValueError(f"activation must be one of {known}, got {activation!r}")
    normalize = sp.BatchNorm(center=center, divide="norm", scale=scale)
    return sp.Chain(width, layers=[normalize], before=[ACTIVATIONS[activation]])


def _gram_of_trace_one(x: torch.Tensor) -> torch.Tensor:
    return sp.metrics.gram(sp.layers.frobenius_normalize(x))
