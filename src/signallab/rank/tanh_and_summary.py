"""tanh networks and the summary of RANK: Figure 4 and Table 1.

``gamma=None`` is a network without skip connections; the batch is as large as the width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signalprop.random import Stream

__all__ = [
    "collapsed",
    "depth_for",
    "exponents",
    "figure_4",
    "growth",
    "running_means",
    "scaling",
    "without_batch_norm",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]
BatchLayer = Callable[[torch.Tensor], torch.Tensor]

BEFORE: dict[str, list[BatchLayer]] = {"linear": [], "tanh": [torch.tanh]}
MEASURES = ("ratio", "soft rank", "numerical rank")


def depth_for(width: int, gamma: float | None, base: int) -> int:
    """Return ``base`` layers, or as many more as small steps need to forget the input.

    A layer moves the moments by about ``gamma^2 width``, where that is less than 1.

    >>> depth_for(16, None, 100), depth_for(4, 0.1, 100)
    (100, 2500)
    """
    return base if gamma is None else round(base * max(1.0, 1 / (gamma**2 * width)))


def scaling(
    activations: Iterable[str],
    gammas: Iterable[float | None],
    widths: Iterable[int],
    base: int,
    runs: int,
    stream: Stream,
) -> pd.DataFrame:
    """Return ``activation, gamma, width, run, ratio, soft rank``: averages over layers, with BN.

    The first quarter of the layers is left out.
    """
    frames = []
    for activation in activations:
        for gamma in gammas:
            for width in widths:
                net = sp.Chain(
                    width,
                    sp.uniform(),
                    [sp.BatchNorm(center=False)],
                    BEFORE[activation],
                    residual=gamma,
                )
                depth = depth_for(width, gamma, base)
                x = sp.inputs.gaussian_samples(width)
                path = net.run(x, depth, runs, stream.child("scaling", activation, width))
                every = max(1, depth // 100)
                found = path.average(_two, skip=depth // 4, every=every, batches=5).value
                place = {"activation": activation, "gamma": _step(gamma), "width": width}
                columns = dict(zip(MEASURES, found.T, strict=False))
                frames.append(pd.DataFrame({**place, "run": range(runs), **columns}))
    return pd.concat(frames, ignore_index=True)


def exponents(found: pd.DataFrame, measure: str, first: int = 0) -> pd.DataFrame:
    """Return ``activation, gamma, run, exponent`` of ``measure`` in the width, from ``first`` on.

    The least-squares slope of log against log, run by run.

    >>> frame = pd.DataFrame({"activation": "tanh", "gamma": "1", "run": 0, "width": [2, 4, 8],
    ...                       "ratio": [3.0, 6.0, 12.0]})
    >>> exponents(frame, "ratio")["exponent"].round(9).tolist()
    [1.0]
    """
    rows = []
    wide = found[found["width"] >= first]
    for (activation, gamma, run), part in wide.groupby(["activation", "gamma", "run"], sort=False):
        slope = np.polyfit(np.log(part["width"]), np.log(part[measure]), 1)[0]
        rows.append({"activation": activation, "gamma": gamma, "run": run, "exponent": slope})
    return pd.DataFrame(rows)


def growth(found: pd.DataFrame, activation: str, gamma: str, *, measure: str, least: float) -> Case:
    """ "It grows at least like width^least": minus the exponent of each run, and minus least."""
    slopes = exponents(found, measure)
    part = slopes[(slopes["activation"] == activation) & (slopes["gamma"] == gamma)]
    return Case(-part["exponent"].to_numpy(), -least, words=f"{activation}, {gamma}")


def running_means(
    width: int,
    gammas: Iterable[float | None],
    depths: Iterable[int],
    runs: int,
    stream: Stream,
    *,
    normalized: bool = True,
) -> pd.DataFrame:
    """Return ``gamma, depth, run, mean ratio``: the average of r(H) over the first L layers, tanh.

    ``normalized=False`` is a *linear* network without batch normalization, the rival.
    """
    depths = list(depths)
    frames = []
    for gamma in gammas:
        layer = sp.BatchNorm(center=False) if normalized else sp.FrobeniusNorm()
        before = BEFORE["tanh" if normalized else "linear"]
        net = sp.Chain(width, sp.uniform(), [layer], before, residual=gamma)
        x = sp.inputs.gaussian_samples(width)
        path = net.run(x, max(depths), runs, stream.child("running", str(gamma)))
        values = path.measure(sp.rank_ratio).values[:, 1:]
        means = np.cumsum(values, axis=1) / np.arange(1, max(depths) + 1)
        for depth in depths:
            columns = {"run": range(runs), "mean ratio": means[:, depth - 1]}
            frames.append(pd.DataFrame({"gamma": _step(gamma), "depth": depth, **columns}))
    return pd.concat(frames, ignore_index=True)


def figure_4(
    reading: str,
    gamma: str,
    by_width: pd.DataFrame,
    by_depth: pd.DataFrame,
    *,
    times: float = 1.0,
) -> Case:
    """Figure 4 in both readings of its axis, as "at least": negated, one number a run.

    ``reading="width"``: r(H) grows like ``sqrt(width)`` or faster. ``reading="depth"``: the average
    over the first L layers stays at 2 or above, at the largest L. ``times`` multiplies the exponent
    and the 2.
    """
    if reading == "width":
        return growth(by_width, "tanh", gamma, measure="ratio", least=0.5 * times)
    last = by_depth[(by_depth["depth"] == by_depth["depth"].max()) & (by_depth["gamma"] == gamma)]
    words = f"tanh, {gamma}, running mean"
    return Case(-last["mean ratio"].to_numpy(), -2.0 * times, words=words)


def without_batch_norm(
    width: int,
    activations: Iterable[str],
    gammas: Iterable[float | None],
    variances: Iterable[float | str],
    depth: int,
    runs: int,
    stream: Stream,
) -> pd.DataFrame:
    """Return ``activation, variance, gamma, run`` and three ranks of the last layer, without BN.

    The soft rank is that of the matrix with its rows scaled to norm ``sqrt N``, as batch
    normalization would; the numerical rank counts singular values above 1e-9 of the largest.
    """
    frames = []
    for activation in activations:
        for gamma in gammas:
            for variance in variances:
                keep = [sp.FrobeniusNorm()] if activation == "linear" else []
                net = sp.Chain(
                    width, sp.uniform(variance), keep, BEFORE[activation], residual=gamma
                )
                x = sp.inputs.gaussian_samples(width)
                last = net.run(x, depth, runs, stream.child("plain", str(variance))).final()
                rows = sp.BatchNorm(center=False)(last)
                ranks = sp.rank_ratio(last), sp.soft_rank(rows), sp.rank(last, rtol=1e-9)
                place = {"activation": activation, "variance": str(variance)}
                columns = {name: v.numpy() for name, v in zip(MEASURES, ranks, strict=True)}
                columns |= {"run": np.arange(runs)}
                frames.append(pd.DataFrame({**place, "gamma": _step(gamma), **columns}))
    return pd.concat(frames, ignore_index=True)


def collapsed(
    found: pd.DataFrame, activation: str, gamma: str, variance: str, *, measure: str = "soft rank"
) -> Case:
    """ "The soft rank is one in deep layers": that of each run, and one."""
    part = found[
        (found["activation"] == activation)
        & (found["gamma"] == gamma)
        & (found["variance"] == variance)
    ]
    words = f"{activation}, {gamma}, weights of variance {variance}"
    return Case(part[measure].to_numpy(float), 1.0, words=words)


def _two(h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return sp.rank_ratio(h), sp.soft_rank(h).to(h.dtype)


def _step(gamma: float | None) -> str:
    return "no skip connection" if gamma is None else f"gamma {gamma:.3g}"
