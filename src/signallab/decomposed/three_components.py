"""Recentring, rescaling and ReLU, alone and together: DEC, Introduction, Section II, Figure 1.

Batches are ``(n, k)``, a row a point, except in :func:`literal`, which has the document's columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "PARTS",
    "batch_of",
    "by_layer",
    "deviations",
    "floor",
    "literal",
    "moments",
    "moved_by_another",
    "once",
    "orthonormal",
    "panel_two",
    "rank_deficient",
    "slopes",
    "subtracted",
    "torch_layers",
]

#: The four parts of DEC, Figure 1: what follows each product, and the law of the weights.
PARTS: Mapping[str, Mapping[str, Any]] = {
    "I. ReLU": {"weights": "he", "layers": [torch.relu]},
    "II. recentring": {"layers": [sp.Recenter()]},
    "III. recentring, ReLU": {"weights": "he", "layers": [sp.Recenter(), torch.relu]},
    "IV. rescaling": {"layers": [sp.BatchNorm(center=False)]},
}


def batch_of(n: int, features: int, mean: float = 0.5) -> sp.inputs.Input:
    """Return an input of n Gaussian points with ``features`` entries of this mean, variance 1.

    >>> batch_of(3, 5)(7, 2, Stream(0)).shape
    torch.Size([2, 3, 5])
    """

    def draw(width: int, runs: int, stream: Stream) -> torch.Tensor:
        x = [mean + rng.standard_normal((n, features)) for rng in stream.child("x").runs(runs)]
        return torch.from_numpy(np.stack(x))

    return draw


def by_layer(
    part: str, x: sp.inputs.Input, width: int, depth: int, runs: int, stream: Stream
) -> pd.DataFrame:
    """Return run, layer, angles between points (least, median, largest), rank and norm ratio.

    Angles in degrees; the norm ratio is that of the longest point to the median of all. The input,
    layer 0, is left out.
    """
    path = sp.Chain(width, **PARTS[part]).run(x, depth, runs, stream)
    found = path.measure_many({"angles": _spread, "norm ratio": _ratio, "rank": sp.rank})
    run, layer = np.indices((runs, depth)).reshape(2, -1)
    values = {name: measured.values[:, 1:] for name, measured in found.items()}
    angles = dict(zip(("least", "median", "largest"), values.pop("angles").T, strict=True))
    columns = {f"{name} angle": a.T.ravel() for name, a in angles.items()}
    columns |= {name: v.ravel() for name, v in values.items()}
    return pd.DataFrame({"part": part, "run": run, "layer": layer + 1, **columns})


def literal(x: Floats, weights: Sequence[Floats], *, ddof: int = 0, center: bool = True) -> Floats:
    """DEC Eq. 1 to 4 as printed: ``x`` is ``(k, n)``, a column a point, F is ReLU.

    ``ddof=1`` divides the squares by n - 1, ``center=False`` subtracts nothing in Eq. 3.

    >>> literal(np.array([[1.0, 5.0]]), [np.eye(1)])
    array([[0., 1.]])
    """
    for w in weights:
        z = w @ x
        mean = z.mean(axis=1, keepdims=True)
        sigma = np.sqrt(((z - mean) ** 2).sum(axis=1, keepdims=True) / (z.shape[1] - ddof))
        x = np.maximum((z - mean if center else z) / sigma, 0)
    return x


def torch_layers(n: int, width: int, depth: int, stream: Stream, **options: Any) -> Case:
    """The last layer of DEC Eq. 1 to 4 beside torch's own layer, in training mode, eps = 1e-14.

    >>> case = torch_layers(5, 4, 3, Stream(0))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    x, weights = _drawn(n, width, width, depth, stream)
    layer = torch.nn.BatchNorm1d(width, eps=1e-14, affine=False, track_running_stats=False)
    h = torch.from_numpy(x)
    for w in weights:
        h = torch.relu(layer(h @ torch.from_numpy(w).mT))
    left = literal(x.T, weights, **options).T
    return Case(left, h.numpy(), words=f"n = {n}, {depth} layers of width {width}")


def moments(
    n: int,
    width: int,
    depth: int,
    steps: int,
    stream: Stream,
    norm: Callable[[torch.Tensor], torch.Tensor] | None = None,
) -> Case:
    """First moment of 1 + z and second of z, for each neuron's normalized preactivation z, and 1.

    After ``steps`` of gradient descent on random labels (cross entropy, rate 0.01), in float64.
    Both moments are 1 if and only if the mean is 0 and the variance 1. Shape (2, depth * width).

    >>> case = moments(5, 4, 3, 2, Stream(0))
    >>> case.left.shape, bool(np.allclose(case.left, case.right))
    ((2, 12), True)
    """
    norm = norm or sp.BatchNorm()
    net = sp.MLP(
        width, width, depth, 2, [norm, torch.relu], bias="none", stream=stream, dtype=torch.float64
    )
    rng = stream.numpy("data")
    x = torch.from_numpy(rng.standard_normal((n, width)))
    labels = torch.from_numpy(rng.integers(0, 2, n))
    parameters = list(net.parameters())
    for _ in range(steps):
        loss = torch.nn.functional.cross_entropy(net(x), labels)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.add_(gradient, alpha=-0.01)
    found = []
    with torch.no_grad():
        for block in net.hidden.children():
            z = norm(next(block.children())(x))
            found.append(torch.stack([(1 + z).mean(0), z.square().mean(0)]))
            x = torch.relu(z)
    left = torch.cat(found, dim=1).numpy()
    return Case(left, np.ones_like(left), words=f"n = {n}, width {width}, after {steps} steps")


def moved_by_another(
    n: int, width: int, depth: int, stream: Stream, *, normalized: bool = True
) -> float:
    """How far the last layer's outputs for points 2..n move, relatively, if point 1 is another one.

    >>> moved_by_another(5, 4, 3, Stream(0), normalized=False)
    0.0
    """
    x, weights = _drawn(n, width, width, depth, stream)
    other = x.copy()
    other[0] = stream.numpy("another").standard_normal(width)
    if normalized:
        one, two = (literal(batch.T, weights)[:, 1:] for batch in (x, other))
    else:
        one, two = x.T[:, 1:], other.T[:, 1:]
        for w in weights:
            one, two = np.maximum(w @ one, 0), np.maximum(w @ two, 0)
    return float(np.linalg.norm(two - one) / np.linalg.norm(one))


def deviations(
    width: int,
    n: int,
    depth: int,
    runs: int,
    stream: Stream,
    *,
    orthonormal: bool = False,
    every: int = 1,
) -> Floats:
    """Mean ``|off-diagonal entry|`` of ``X^T X / d`` by layer, linear chains that only rescale.

    Shape ``(runs, layers)``, layers 0, every, 2 every, ...; features have root mean square 1. The
    chain starts from points with cosines of 0.9, or from an ``orthonormal`` batch.
    """
    start = (
        sp.inputs.with_correlation(0.0, n) if orthonormal else sp.inputs.with_correlation(0.9, n)
    )
    path = sp.Chain(width, **PARTS["IV. rescaling"]).run(start, depth, runs, stream.child(width))
    values: Floats = path.measure(_off_diagonal, every).values
    return values


def slopes(levels: Mapping[int, Floats]) -> Floats:
    """Return the slope of log level against log width, run by run: ``levels`` by width, (runs,).

    >>> slopes({1: np.array([2.0]), 4: np.array([1.0])})
    array([-0.5])
    """
    logs = np.log(np.stack(list(levels.values())))
    slope: Floats = np.polyfit(np.log(list(levels)), logs, 1)[0]
    return slope


def rank_deficient(
    rank: int, n: int, width: int, layers: Sequence[int], stream: Stream, dtype: torch.dtype
) -> pd.DataFrame:
    """What n points that span ``rank`` dimensions become in one chain that only rescales.

    Columns layer, rank (numerical: singular values above the rounding of the type) and the least
    singular value over the largest. The batch itself is drawn in float64.
    """
    rng = stream.numpy("x")
    x = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, width))
    chain = sp.Chain(width, **PARTS["IV. rescaling"])
    path = chain.run(x[None], max(layers), 1, stream, engine="direct", dtype=dtype)
    states = path.states(list(layers))[0]
    values = torch.linalg.svdvals(states)
    return pd.DataFrame(
        {
            "layer": list(layers),
            "rank": sp.rank(states).tolist(),
            "least / largest": (values[:, -1] / values[:, 0]).tolist(),
        }
    )


def floor(width: int, n: int) -> float:
    """Root mean square of an off-diagonal entry of ``X^T X / d`` at great depth, small entries.

    Our own: a layer multiplies an entry by ``n/(n+2)`` and adds noise of variance ``n/((n+2) d)``;
    what it adds and what is lost balance at the variance ``n (n+2) / (4 (n+1) d)``.

    >>> round(floor(100, 2), 6)
    0.08165
    """
    return float(np.sqrt(n * (n + 2) / (4 * (n + 1) * width)))


def orthonormal(
    width: int,
    n: int,
    begin: str,
    runs: int,
    stream: Stream,
    depth: int = 200,
    bound: Callable[[int, int], float] = floor,
) -> Case:
    """The mean of ``|off-diagonal entry|`` in the second half of ``depth`` layers, and a bound.

    One number a run. It begins with "correlated" points, or "orthonormal" ones and one layer.
    """
    ideal = begin == "orthonormal"
    by_depth = deviations(width, n, 1 if ideal else depth, runs, stream, orthonormal=ideal)
    left = by_depth[:, 1 if ideal else 1 + depth // 2 :].mean(axis=1)
    words = f"{n} points, width {width}, {'one layer after' if ideal else f'{depth} layers from'} "
    return Case(left, bound(width, n), words=f"{words}{begin} points")


def once(
    n: int,
    features: int,
    width: int,
    depth: int,
    stream: Stream,
    *,
    center: bool = True,
    bias: float = 0.0,
    kept: float = 0.0,
) -> Case:
    """DEC Sec. II: recentring at every layer beside the product of all weights on X - mean.

    ``bias`` is the size of random biases that are added in every layer of the left side, and
    ``kept`` times them on the right; ``center=False`` applies the right side's product to X itself.

    >>> case = once(4, 3, 5, 6, Stream(0))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    x, weights = _drawn(n, features, width, depth, stream)
    shifts = bias * stream.numpy("biases").standard_normal((depth, width))
    left, right = x, x - x.mean(axis=0) if center else x
    for w, shift in zip(weights, shifts, strict=True):
        left = left @ w.T + shift
        left = left - left.mean(axis=0)
        right = right @ w.T + kept * shift
    words = f"n = {n}, {features} features, {depth} layers of width {width}"
    return Case(left, right, words=words)


def subtracted(
    n: int, features: int, width: int, depth: int, stream: Stream, *, first: bool = False
) -> Case:
    """The largest mean that recentring takes off after the first layer, beside rounding, 1e-12.

    Relative to the largest entry of its layer; with ``first``, in the first layer.

    >>> case = subtracted(4, 3, 5, 6, Stream(0))
    >>> case.left < case.right
    True
    """
    x, weights = _drawn(n, features, width, depth, stream)
    taken = []
    for w in weights:
        z = x @ w.T
        taken.append(np.abs(z.mean(axis=0)).max() / np.abs(z).max())
        x = z - z.mean(axis=0)
    left = taken[0] if first else max(taken[1:])
    words = f"n = {n}, {features} features, {depth} layers of width {width}"
    return Case(float(left), 1e-12, words=words)


def panel_two(
    x: sp.inputs.Input, width: int, depth: int, runs: int, stream: Stream, *, center: bool = True
) -> Case:
    """Angles at the last layer with recentring at every layer, and in a plain chain from X - mean.

    ``center=False`` starts the plain chain from X. The weights are the same on both sides.
    """
    start = x(width, runs, stream)
    plain = start - start.mean(dim=1, keepdim=True) if center else start
    sides = [
        sp.Chain(width, layers=layers).run(begin, depth, runs, stream, engine="direct").final()
        for layers, begin in ((PARTS["II. recentring"]["layers"], start), ([], plain))
    ]
    left, right = (np.asarray(sp.angles(h)) for h in sides)
    return Case(left, right, words=f"width {width}, layer {depth}")


def _drawn(
    n: int, features: int, width: int, depth: int, stream: Stream
) -> tuple[Floats, list[Floats]]:
    """Gaussian points ``(n, features)`` and weights with rows of length about 1."""
    rng = stream.numpy("batch and weights")
    x = rng.standard_normal((n, features))
    sizes = [features, *[width] * depth]
    return x, [rng.standard_normal((width, k)) / np.sqrt(k) for k in sizes[:-1]]


def _spread(h: torch.Tensor) -> torch.Tensor:
    """Least, median and largest angle between the points, in degrees: ``(..., 3)``."""
    i, j = np.triu_indices(h.shape[-2], 1)
    angles = torch.rad2deg(sp.angles(h)[..., i, j])
    return torch.stack([angles.amin(-1), angles.quantile(0.5, dim=-1), angles.amax(-1)], dim=-1)


def _ratio(h: torch.Tensor) -> torch.Tensor:
    lengths = h.norm(dim=-1)
    ratio: torch.Tensor = lengths.amax(-1) / lengths.quantile(0.5, dim=-1)
    return ratio


def _off_diagonal(h: torch.Tensor) -> torch.Tensor:
    n, width = h.shape[-2:]
    gram = (h @ h.mT / width).abs()
    off = gram.sum((-2, -1)) - gram.diagonal(dim1=-2, dim2=-1).sum(-1)
    return off / (n * (n - 1))
