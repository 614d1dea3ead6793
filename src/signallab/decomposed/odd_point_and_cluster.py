"""Where recentring and ReLU lead a batch: DEC, Section III, first paragraph, and Figure 3.

Wide networks turn Gram matrices ``(n, n)`` of batches into one another, without any chance
(:func:`signalprop.theory.dec_infinite_width_map`). Angles are in degrees.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "LAYERS",
    "batches",
    "collapse",
    "end_state",
    "ends",
    "escaped",
    "last_layers",
    "multiplier",
    "networks",
    "shape",
    "threshold",
    "wide",
]

LAYERS: Sequence[Any] = (sp.Recenter(), torch.relu)


def batches(kind: str, n: int, runs: int, stream: Stream, features: int = 100) -> Floats:
    """Return ``(runs, n, k)``: n Gaussian points of ``features`` entries, or n images of CIFAR-10.

    Images are drawn from the first 5000 of the training set, pixels in [0, 1].

    >>> batches("Gaussian", 3, 2, Stream(0), features=7).shape
    (2, 3, 7)
    """
    if kind not in ("Gaussian", "CIFAR-10"):
        raise ValueError(f"kind must be Gaussian or CIFAR-10, got {kind!r}")
    draws = stream.child(kind, n).runs(runs)
    if kind == "Gaussian":
        return np.stack([rng.standard_normal((n, features)) for rng in draws])
    images = sp.data.load("cifar10", count=5000)[0].flatten(1).double().numpy()
    return np.stack([images[rng.choice(len(images), n, replace=False)] for rng in draws])


def shape(gram: Floats) -> dict[str, Floats]:
    """What a batch with this Gram matrix ``(..., n, n)`` looks like from its longest point.

    ``odd`` is the index of that point; ``with odd`` and ``least with odd`` are the median and least
    of its angles with the others, ``among others`` and ``widest among others`` median and largest
    angle between these, ``norm ratio`` its norm over their median norm. Arrays of shape ``(...)``.

    >>> found = shape(np.diag([9.0, 1.0, 1.0]))
    >>> int(found["odd"]), float(found["norm ratio"]), round(float(found["with odd"]))
    (0, 3.0, 90)
    """
    n = gram.shape[-1]
    lengths = np.sqrt(np.diagonal(gram, axis1=-2, axis2=-1))
    odd = lengths.argmax(axis=-1)
    order = np.argsort(np.arange(n) != odd[..., None], axis=-1, kind="stable")  # odd point first
    unit = gram / (lengths[..., :, None] * lengths[..., None, :])
    angles = np.degrees(np.arccos(np.clip(unit, -1, 1)))
    angles = np.take_along_axis(angles, order[..., None], axis=-2)
    angles = np.take_along_axis(angles, order[..., None, :], axis=-1)
    i, j = np.triu_indices(n - 1, 1)
    others = angles[..., 1:, 1:][..., i, j]
    lengths = np.take_along_axis(lengths, order, axis=-1)
    return {
        "odd": odd,
        "with odd": np.median(angles[..., 0, 1:], axis=-1),
        "least with odd": angles[..., 0, 1:].min(axis=-1),
        "among others": np.median(others, axis=-1),
        "widest among others": others.max(axis=-1),
        "norm ratio": lengths[..., 0] / np.median(lengths[..., 1:], axis=-1),
    }


def wide(gram: Floats, depth: int, every: int = 0) -> tuple[Floats, pd.DataFrame]:
    """Send Gram matrices ``(runs, n, n)`` through ``depth`` layers of infinite width.

    Return them behind the last one, and their :func:`shape` at every ``every``-th layer (none if
    0), with columns run and layer.
    """
    frames = [_frame(gram, 0)] if every else []
    for layer in range(1, depth + 1):
        gram = np.asarray(theory.dec_infinite_width_map(torch.as_tensor(gram)))
        if every and layer % every == 0:
            frames.append(_frame(gram, layer))
    return gram, pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def networks(x: Floats, width: int, depth: int, stream: Stream, every: int) -> pd.DataFrame:
    """Return the :func:`shape` of batches ``(runs, n, k)`` by run and layer, in random networks."""
    path = sp.Chain(width, sp.he(), LAYERS).run(x, depth, len(x), stream)
    grams = path.measure(lambda h: h @ h.mT, every)
    frames = [_frame(grams.values[:, k], int(layer)) for k, layer in enumerate(grams.layers)]
    return pd.concat(frames, ignore_index=True)


def last_layers(x: Floats, width: int, depth: int, stream: Stream) -> dict[str, Floats]:
    """Return points ``(runs, n, width)`` behind the last layer, angles before it and after it.

    Angles are ``(runs, n, n)``; the longest point behind the last layer is ``odd`` ``(runs,)``.
    """
    path = sp.Chain(width, sp.he(), LAYERS).run(x, depth, len(x), stream)
    before, after = path.states([depth - 1, depth]).unbind(dim=1)
    return {
        "points": after.numpy(),
        "odd": after.norm(dim=-1).argmax(dim=-1).numpy(),
        "before": torch.rad2deg(sp.angles(before)).numpy(),
        "after": torch.rad2deg(sp.angles(after)).numpy(),
    }


@functools.cache
def end_state(n: int, odd: bool) -> Floats:
    """Return the Gram matrix ``(n, n)`` to which the infinite-width map leads.

    From n orthogonal points of one length (which takes a layer), or with ``odd`` from nearly the
    invariant representation of DEC, Definition 12: point 0 of norm 1, the others 1/(n - 1). It
    takes about n layers to forget more, and 15 n + 300 are run.

    >>> round(float(shape(end_state(10, odd=True))["norm ratio"]), 2)
    7.41
    """
    gram = np.eye(n)
    if odd:
        gram = (np.ones((n, n)) + 0.01 * np.eye(n)) / (n - 1) ** 2
        gram[0], gram[:, 0], gram[0, 0] = 0, 0, 1
    state: Floats = wide(gram[None], 15 * n + 300)[0][0]
    return state


def ends(gram: Floats, states: Sequence[bool] = (True, False), words: str = "") -> Case:
    """How far, in degrees, batches ``(runs, n, n)`` are from the nearest end state, and 0.1.

    The largest difference of :func:`shape`'s angles to one of the ``states`` (odd or not); an array
    on either side, as nothing is random here.
    """
    angles = ("with odd", "least with odd", "among others", "widest among others")
    n = gram.shape[-1]
    found = shape(gram)
    gaps = []
    for odd in states:
        state = shape(end_state(n, odd))
        gaps.append(np.max([np.abs(found[a] - state[a]) for a in angles], axis=0))
    left = np.min(gaps, axis=0)
    return Case(left, np.full_like(left, 0.1), words=f"{words}, n = {n}")


def escaped(gram: Floats, words: str = "") -> Case:
    """Median norm of the others over that of the odd point, and 1/(0.6 (n - 1)), ``(runs,)``."""
    left = 1 / shape(gram)["norm ratio"]
    n = gram.shape[-1]
    return Case(left, np.full_like(left, 1 / (0.6 * (n - 1))), words=f"{words}, n = {n}")


def collapse(n: int, factor: float = 3.0, power: float = 1.0) -> Case:
    """The angle within the cluster of the odd end state, and ``factor * 180 / n^power`` degrees.

    >>> case = collapse(20)
    >>> case.left < case.right
    True
    """
    left = shape(end_state(n, odd=True))["among others"]
    return Case(float(left), factor * 180 / n**power, words=f"n = {n}, infinite width")


def multiplier(n: int, layers: int = 10) -> float:
    """By how much a layer multiplies the excess length of one point of the symmetric end state.

    After ``layers`` layers from a start with a millionth more.

    >>> 0.9 < multiplier(10) < 1
    True
    """
    gram = np.eye(n)
    gram[0, 0] = 1 + 1e-6
    _, path = wide(gram[None], layers, 1)
    excess = path["norm ratio"].to_numpy() - 1
    return float(excess[-1] / excess[-2])


def threshold(n: int, lengths: Floats, depth: int) -> float:
    """The first of ``lengths`` from which one point of n orthogonal ones escapes; NaN if none does.

    The other points have length 1. Escaped is what is longer than (n - 1)/2 of them at ``depth``.
    """
    gram = np.tile(np.eye(n), (len(lengths), 1, 1))
    gram[:, 0, 0] = np.square(lengths)
    escaped = shape(wide(gram, depth)[0])["norm ratio"] > (n - 1) / 2
    return float(lengths[escaped].min()) if escaped.any() else float("nan")


def _frame(gram: Floats, layer: int) -> pd.DataFrame:
    found: Mapping[str, Floats] = shape(gram)
    n = gram.shape[-1]
    names = {"run": np.arange(len(gram)), "layer": layer, "n": n}
    return pd.DataFrame({**names, **found, "of n - 1": found["norm ratio"] / (n - 1)})
