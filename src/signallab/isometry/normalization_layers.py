"""Isometry before and after the normalization layers in use: ISO Section 4.3.

Samples are rows, ``(..., n, d)``. Normalizing multiplies the matrix of samples by a diagonal matrix
from the left, recentring by a projection from the right; Theorem 4.3 knows the first only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signalprop import layers, theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "batches",
    "bound",
    "broken_features",
    "during_training",
    "features",
    "features_bound",
    "gains_with_offset",
    "layer_gains",
    "shares",
    "trained",
    "with_epsilon",
]

Layer = Callable[[Any], Any]
Factor = Callable[[Any], Any]

#: Sizes (coordinates, samples) at which both corollaries are tried.
SIZES = ((2, 2), (3, 2), (10, 2), (10, 5), (10, 9), (100, 10), (100, 50), (100, 99))


def batches(stream: Stream, draws: int) -> dict[str, Floats]:
    """Return Gaussian samples ``(draws, n, d)`` by name, and two basis vectors, alone.

    >>> list(batches(Stream(0), 1))[:3]
    ['two basis vectors of the plane', 'd = 2, n = 2', 'd = 3, n = 2']
    """
    found: dict[str, Floats] = {"two basis vectors of the plane": np.eye(2)[None]}
    for d, n in SIZES:
        found[f"d = {d}, n = {n}"] = stream.numpy("batch", d, n).normal(size=(draws, n, d))
    return found


def bound(
    x: Any,
    words: str,
    layer: Layer = layers.layer_norm,
    factor: Factor = theory.iso_theorem_4_3,
    center: bool = False,
) -> Case:
    """ISO Corollary 4.4 at ``x`` ``(draws, n, d)``: ``I(G) factor(lengths) <= I(G~)``.

    ``center`` first takes from each sample the mean of its coordinates.

    >>> case = bound(np.eye(2)[None], "a basis")
    >>> case.left, case.right
    (array([1.]), array([0.]))
    """
    x = layers.recenter(x, dim=-1) if center else x
    lengths = np.linalg.norm(x, axis=-1)
    return Case(
        sp.isometry(x) * factor(lengths),
        sp.isometry(layer(x)),
        {"no sample is zero": bool((lengths > 0).all())},
        words=words,
    )


def shares(found: dict[str, Floats]) -> pd.DataFrame:
    """Return, for each batch, the share of draws that break Corollary 4.4 or lose isometry.

    >>> shares({"a basis": np.eye(2)[None]}).iloc[0, 1:].astype(float).tolist()
    [0.0, 1.0, 1.0, 0.0]
    """
    rows = []
    for name, x in found.items():
        plain, layer = bound(x, name, layers.rms_norm), bound(x, name)
        before = sp.isometry(x)
        centred = bound(x, name, center=True)
        rows.append(
            {
                "batch": name,
                "RMS breaks it": _broken(plain),
                "LN breaks it": _broken(layer),
                "LN loses isometry": float(np.mean(layer.right < before)),
                "LN of centred samples breaks it": _broken(centred),
            }
        )
    return pd.DataFrame(rows)


def features(stream: Stream, draws: int) -> dict[str, Floats]:
    """Return features ``(draws, d, n)`` over a batch, by name: rows are features, columns samples.

    >>> features(Stream(0), 2)["orthonormal features, d = 2, n = 4"].shape
    (1, 2, 4)
    """
    found: dict[str, Floats] = {}
    for d, n in ((2, 4), (5, 100)):
        found[f"orthonormal features, d = {d}, n = {n}"] = np.eye(d, n)[None]
    draw = stream.numpy("features")
    for d in range(2, 6):
        for n in (d, d + 1, 2 * d, 20 * d):
            scale = np.exp(draw.normal(size=(draws, d, 1)))
            found[f"Gaussian, d = {d}, n = {n}"] = scale * draw.normal(size=(draws, d, n))
    found["a feature far from 0"] = draw.normal(size=(draws, 3, 12)) + np.array([[5], [0], [0]])
    return found


def features_bound(
    x: Any,
    words: str,
    mean: str = "1/n",
    layer: str = "plain",
    center: bool = False,
    times: float = 1.0,
) -> Case:
    """ISO Corollary 4.5 at features ``(draws, d, n)``: ``I(C) factor <= I(C~)``.

    ``mean`` says how the mean of the d lengths is normalized, ``times`` multiplies the variance.
    The ``layer`` normalizes each feature, "with mean reduction" after taking away its mean over the
    batch; ``center`` takes that mean away before, so that C is the covariance.

    >>> case = features_bound(np.eye(2, 4)[None], "orthonormal features")
    >>> case.left, case.right
    (array([2.]), array([1.]))
    """
    x = layers.recenter(x, dim=-1) if center else x
    lengths = np.linalg.norm(x, axis=-1)
    if mean == "1/n":
        factor = theory.iso_corollary_4_5(lengths, x.shape[-1])
    else:
        factor = theory.iso_theorem_4_3(lengths)
    after = layers.layer_norm(x) if layer == "with mean reduction" else layers.rms_norm(x)
    return Case(
        sp.isometry(x) * (1 + times * (factor - 1)),
        sp.isometry(after),
        {"no feature is zero": bool((lengths > 0).all())},
        words=words,
    )


def broken_features(found: dict[str, Floats]) -> pd.DataFrame:
    """Return the share of draws at which Corollary 4.5 fails: two means by two layers.

    >>> broken_features({"orthonormal": np.eye(2, 4)[None]}).iloc[0, 1:].astype(float).tolist()
    [1.0, 0.0, 1.0, 1.0]
    """
    return pd.DataFrame(
        {"batch": name}
        | {
            f"{layer}, mean {mean}": _broken(features_bound(x, name, mean, layer))
            for layer in ("plain", "with mean reduction")
            for mean in ("1/n", "1/d")
        }
        for name, x in found.items()
    )


def gains_with_offset(
    n: int, d: int, offsets: Sequence[float], draws: int, stream: Stream
) -> pd.DataFrame:
    """Return layer, offset, draw and gain ``I(G~) / I(G)`` of Gaussian samples plus an offset.

    The same number is added to all coordinates of all samples. ``formula`` is the gain in closed
    form: that of recentring (for LN) times that of equal lengths.

    >>> frame = gains_with_offset(2, 4, [0.0, 1.0], 3, Stream(0))
    >>> bool(np.allclose(frame["gain"], frame["formula"]))
    True
    """
    noise = stream.numpy("offset", n, d).normal(size=(draws, n, d))
    frames = []
    for offset in offsets:
        x: Any = noise + offset
        for name, layer in (("RMS norm", layers.rms_norm), ("layer norm", layers.layer_norm)):
            centred = layers.recenter(x, dim=-1) if name == "layer norm" else x
            formula = theory.iso_normalization_gain(np.linalg.norm(centred, axis=-1))
            if name == "layer norm":
                formula = formula * theory.iso_recentring_gain(x)
            columns = {"gain": sp.isometry(layer(x)) / sp.isometry(x), "formula": formula}
            frame = pd.DataFrame({"draw": range(draws), **columns})
            frames.append(frame.assign(layer=name, offset=offset))
    return pd.concat(frames, ignore_index=True)


def with_epsilon(x: Floats, sizes: Sequence[float], eps: float) -> pd.DataFrame:
    """Return what RMS normalization gains that divides by ``sqrt(mean square + eps)``, one row a
    size.

    The samples ``x`` ``(draws, n, d)`` are multiplied by the size. The least gain over the draws
    stands alone, and over the printed one, which does not depend on the size.

    >>> found = with_epsilon(np.diag([1.0, 3.0])[None], [100.0, 0.01], eps=1.0)
    >>> found["over the printed one"].round(3).tolist()  # 4/3 without eps, 4/5 without a gain
    [1.333, 0.8]
    """
    rows = []
    for size in sizes:
        case = bound(size * x, "", partial(layers.rms_norm, eps=eps))
        gain = case.right / sp.isometry(x)
        over = case.right / case.left
        rows.append({"size": size, "least gain": gain.min(), "over the printed one": over.min()})
    return pd.DataFrame(rows)


@torch.no_grad()
def layer_gains(net: Any, x: torch.Tensor, _: Any = None) -> torch.Tensor:
    """Return isometry before, after and the printed factor, ``(models, depth, 3)``, of each layer.

    Each block of the network is a product, a normalization, and an activation. The batch ``x`` must
    have at most as many samples as the network is wide.
    """
    rows = []
    for block in net.hidden:
        before = block[0](x).double()
        factor = theory.iso_theorem_4_3(before.norm(dim=-1))
        rows.append(torch.stack([sp.isometry(before), sp.isometry(block[1](before)), factor], -1))
        x = block(x)
    return torch.stack(rows, dim=1)


def trained(
    images: torch.Tensor,
    labels: torch.Tensor,
    norm: Callable[[], Layer],
    *,
    width: int,
    depth: int,
    batch: int,
    rate: float,
    epochs: int,
    runs: int,
    stream: Stream,
) -> pd.DataFrame:
    """Train ReLU networks with a norm before each activation; a row a run, epoch and layer.

    Columns are isometry ``before`` and ``after`` the norm, the printed ``factor``, and the
    ``loss``, all on the first ``batch`` images.
    """

    def build(seeds: list[int]) -> sp.MLP:
        sizes = (images.shape[1], width, depth, 10)
        return sp.MLP(*sizes, lambda _: [norm(), torch.relu], seeds=seeds, stream=stream)

    steps = len(images) // batch
    history = sp.training.train(
        [sp.training.grid("network", build, range(runs), (rate,))],
        images,
        labels,
        sp.training.Recipe(epochs * steps, batch, record_every=steps),
        probe=(images[:batch], labels[:batch]),
        metrics={"loss": sp.training.METRICS["loss"], "isometry": layer_gains},
        seed=stream,
    )["network"]
    values = np.asarray(history.values["isometry"])
    epoch, run, layer = np.indices(values.shape[:3]).reshape(3, -1)
    before, after, factor = values.reshape(-1, 3).T
    loss = np.asarray(history.values["loss"])[epoch, run]
    columns = {"before": before, "after": after, "factor": factor, "loss": loss}
    return pd.DataFrame({"run": run, "epoch": epoch, "layer": layer + 1, **columns})


def during_training(frame: pd.DataFrame, run: int, epoch: int, times: float = 1.0) -> Case:
    """ISO Corollary 4.4 at all layers of one network after one epoch (rows of :func:`trained`).

    ``times`` multiplies the variance.
    """
    part = frame[(frame["run"] == run) & (frame["epoch"] == epoch)]
    factor = 1 + times * (part["factor"] - 1)
    words = f"run {run}, epoch {epoch}"
    return Case((part["before"] * factor).to_numpy(), part["after"].to_numpy(), words=words)


def _broken(case: Case) -> float:
    """The share of entries where left exceeds right by more than rounding.

    The isometry of dependent samples is 0, and comes out below 1e-12 of that of others.
    """
    return float(np.mean(case.left > case.right * (1 + 1e-9) + 1e-12))
