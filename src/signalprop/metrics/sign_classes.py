"""The sign classes that data cut weight space into, and the smallest of them (DEC Def. 1)."""

from __future__ import annotations

import numpy as np
import torch

from signalprop._arrays import on_tensors
from signalprop.random import Stream, as_stream

__all__ = ["gamma", "sign_class_volumes"]


@on_tensors("x")
def gamma(x: torch.Tensor, samples: int = 100_000, seed: int | Stream = 0) -> torch.Tensor:
    """Return the smallest positive volume of a sign class of the data ``x`` ``(n, k)``, DEC Def. 1.

    Exact for ``k <= 2``. Above, it is the smallest frequency among the classes that were seen in
    the sample: a class rarer than ``1 / samples`` is likely to be missed, and the result is then
    too large.

    >>> round(float(gamma([[1.0, 0.0], [0.0, 1.0]])), 12)
    0.25
    """
    return _volumes(x, samples, seed).min()


@on_tensors("x")
def sign_class_volumes(
    x: torch.Tensor, samples: int = 100_000, seed: int | Stream = 0
) -> torch.Tensor:
    """Return the volumes of the sign classes of the data ``x`` ``(n, k)``, DEC Def. 1, ascending.

    Weights w and w' are in one class if ``w x_i`` and ``w' x_i`` have the same sign for all samples
    i; the volume of a class is its probability under ``w ~ N(0, I_k)``. Volumes sum to 1. Exact
    for ``k <= 2``, frequencies in ``samples`` draws above (see :func:`gamma`).

    Why it is right: in the plane the lines ``w x_i = 0`` cut the circle of directions, on which w
    is uniform, into arcs, and different arcs have different signs.

    >>> sign_class_volumes([[1.0, 0.0], [1.0, 1.0]])
    array([0.125, 0.125, 0.375, 0.375])
    """
    return _volumes(x, samples, seed)


def _volumes(x: torch.Tensor, samples: int, seed: int | Stream) -> torch.Tensor:
    if x.ndim != 2 or 0 in x.shape:
        raise ValueError(f"x must be (n, k) with n, k >= 1, got shape {tuple(x.shape)}")
    points = x.detach().cpu().numpy().astype(np.float64)
    points = points[np.any(points != 0, axis=1)]  # a zero sample has the same sign for every w
    points = np.ldexp(points, -np.frexp(np.abs(points).max(axis=1, keepdims=True, initial=0))[1])
    if len(points) == 0:
        volumes = np.ones(1)
    elif x.shape[1] == 1:
        volumes = np.array([0.5, 0.5])
    elif x.shape[1] == 2:
        volumes = _arcs(points)
    else:
        volumes = _frequencies(points, samples, as_stream(seed))
    return torch.from_numpy(np.sort(volumes)).to(x)


def _arcs(points: np.ndarray) -> np.ndarray:
    # A line and its opposite normal are one cut, so angles count modulo pi and arcs come in pairs.
    cuts = np.sort(np.arctan2(points[:, 1], points[:, 0]) % np.pi)
    lengths = np.diff(cuts, append=cuts[0] + np.pi) / (2 * np.pi)
    rounding = 4 * np.finfo(np.float64).eps
    return np.repeat(lengths[lengths > rounding], 2)


def _frequencies(points: np.ndarray, samples: int, stream: Stream) -> np.ndarray:
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples}")
    weights = stream.numpy("sign classes").standard_normal((samples, points.shape[1]))
    signs = np.packbits(weights @ points.T > 0, axis=1)
    return np.unique(signs, axis=0, return_counts=True)[1] / samples
