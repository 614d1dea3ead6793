"""Invariant laws of chains with batch normalization: RANK Definition 3, Lemmas 6 and 11, Sec. 3.4.

Matrices are the document's ``H`` ``(d, N)``: a row of norm ``sqrt N`` for each unit, a column for
each sample, ``M = H H^T / N``. ``gamma=None`` is a network without skip connections. The chains of
the library have the samples as rows instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import special, stats

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop.random import Stream

__all__ = [
    "ACTIVATIONS",
    "OBSERVABLES",
    "agree_between_runs",
    "averages",
    "closed_classes",
    "commutes_with_order",
    "commutes_with_signs",
    "high_rank_without_full_rank",
    "moment_from_symmetric_start",
    "moments_under_group",
    "one_law",
    "one_sample_law",
    "order_does_not_matter",
    "order_from_symmetric_start",
    "rank_by_start",
    "ratio_by_mean",
    "running_averages",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]

#: Odd ones first, then some that are not.
ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "identity": lambda x: x,
    "tanh": np.tanh,
    "sin": np.sin,
    "relu": lambda x: np.maximum(x, 0),
    "square": np.square,
    "exp": np.exp,
}
LAYERS: dict[str, list[Callable[[torch.Tensor], torch.Tensor]]] = {
    "identity": [],
    "tanh": [torch.tanh],
    "relu": [torch.relu],
}


def layer(h: Floats, w: Floats, gamma: float | None, activation: str) -> Floats:
    """Return ``FBN_gamma(h, w)`` ``(d, N)``, RANK Eq. 5; without the skip connection if None.

    >>> layer(np.ones((1, 2)), np.array([[-3.0]]), None, "identity")
    array([[-1., -1.]])
    """
    moved = w @ ACTIVATIONS[activation](h)
    z = moved if gamma is None else h + gamma * moved
    scaled: Floats = z / np.sqrt(np.mean(z**2, axis=-1, keepdims=True))
    return scaled


def closed_classes(
    activation: str, d: int, n: int, gamma: float | None, stream: Stream, *, draws: int = 20
) -> int:
    """Count sign patterns v such that all ``u v^T``, u of signs, lead to such matrices again.

    v and -v count once. Each pattern is put to ``draws`` random starts u and weights. Classes do
    not meet, and each is finite, so each carries an invariant law of its own.

    >>> closed_classes("tanh", 3, 3, 0.5, Stream(0)), closed_classes("square", 3, 3, 0.5, Stream(0))
    (4, 1)
    """
    draw = stream.numpy("classes", activation, d, n)
    count = 0
    for rest in product((1.0, -1.0), repeat=n - 1):
        v = np.array([1.0, *rest])
        found = [
            layer(np.outer(u, v), _uniform(draw, d), gamma, activation)
            for u in np.sign(draw.normal(size=(draws, d)))
        ]
        count += all(np.allclose(h, np.outer(h[:, 0], v), rtol=0, atol=1e-9) for h in found)
    return count


def one_law(activation: str, d: int, n: int, gamma: float | None, stream: Stream) -> Case:
    """ "There is one invariant law": closed classes, at most one."""
    classes = closed_classes(activation, d, n, gamma, stream)
    return Case(float(classes), 1.0, words=_words(activation, d, n, gamma))


#: Functions of a batch ``(..., N, d)`` of the library, whose averages over the layers are taken.
OBSERVABLES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "r(H)": lambda h: sp.rank_ratio(h),
    "M_12": lambda h: (h[..., 0] * h[..., 1]).mean(-1),
    "M_12 squared": lambda h: (h[..., 0] * h[..., 1]).mean(-1).square(),
    "H_11 squared": lambda h: h[..., 0, 0].square(),
    "H_11 H_12": lambda h: h[..., 0, 0] * h[..., 1, 0],
}


@cache
def averages(
    d: int, gamma: float | None, depth: int, runs: int, batches: int, stream: Stream
) -> Floats:
    """Return averages of all observables over blocks of layers, ``(runs, batches, observables)``.

    Linear networks with ``N = d`` samples; all runs start from one full-rank input and differ in
    their weights. The first fifth of the layers is left out.
    """
    x = stream.numpy("start", d).normal(size=(d, d))
    path = _chain(d, gamma).run(x, depth, runs, stream.child("averages", d, str(gamma)))

    def everything(h: torch.Tensor) -> torch.Tensor:
        return torch.stack([f(h) for f in OBSERVABLES.values()], dim=-1)

    return path.average(everything, batches=batches).blocks


def running_averages(
    d: int, gamma: float | None, depth: int, runs: int, batches: int, stream: Stream
) -> pd.DataFrame:
    """Return ``observable, run, share of the layers, average so far`` of all observables."""
    blocks = averages(d, gamma, depth, runs, batches, stream)
    means = np.cumsum(blocks, axis=1) / np.arange(1, batches + 1)[None, :, None]
    run, batch, which = (index.ravel() for index in np.indices(means.shape))
    return pd.DataFrame(
        {
            "observable": np.array(list(OBSERVABLES))[which],
            "run": run,
            "share of the layers": (batch + 1) / batches,
            "average so far": means.ravel(),
        }
    )


def agree_between_runs(
    gamma: float | None,
    observables: Iterable[str],
    d: int,
    depth: int,
    runs: int,
    batches: int,
    stream: Stream,
    level: float,
) -> Case:
    """ "The averages of all runs have one limit": the largest F statistic, and its quantile.

    One-way analysis of variance of the block averages, split over the observables.
    """
    names = list(observables)
    blocks = averages(d, gamma, depth, runs, batches, stream)
    blocks = blocks[..., [list(OBSERVABLES).index(name) for name in names]]
    between = batches * blocks.mean(axis=1).var(axis=0, ddof=1)
    within = blocks.var(axis=1, ddof=1).mean(axis=0)
    quantile = stats.f.isf(level / len(names), runs - 1, runs * (batches - 1))
    where = "no skip connection" if gamma is None else f"gamma {gamma:.3g}"
    return Case(float(np.max(between / within)), float(quantile), words=f"{where}, width {d}")


def rank_by_start(
    d: int, starts: Iterable[int], gamma: float | None, depth: int, runs: int, stream: Stream
) -> pd.DataFrame:
    """Return ``rank of the input, run, ratio, soft rank``: averages over layers, linear networks.

    An input of rank k is followed in the factor form, ``H = A V^T`` with k orthonormal columns in
    V: A obeys the same recursion, has the same M, and rounding cannot raise its rank above k.
    """
    rows = []
    for k in starts:
        inputs = sp.inputs.gaussian_samples(k)
        path = _chain(d, gamma).run(inputs, depth, runs, stream.child("start rank", d, k))
        both = path.average(lambda h: (sp.rank_ratio(h), sp.soft_rank(h).double()), every=10)
        for run, (ratio, soft) in enumerate(both.value):
            rows.append({"rank of the input": k, "run": run, "ratio": ratio, "soft rank": soft})
    return pd.DataFrame(rows)


def high_rank_without_full_rank(found: pd.DataFrame, d: int, start: int) -> Case:
    """ "Without a full-rank input the rank is not high": mean soft rank of each run, and sqrt d."""
    soft = found.loc[found["rank of the input"] == start, "soft rank"].to_numpy()
    return Case(soft, float(np.sqrt(d)), {"rank(X) < d": start < d}, f"rank(X) = {start}, d = {d}")


def ratio_by_mean(
    widths: Iterable[int],
    means: Iterable[float],
    samples: int,
    depth: int,
    runs: int,
    stream: Stream,
) -> pd.DataFrame:
    """Return ``width, mean of the weights, run, ratio``: the average of r(H), no skip connection.

    The standard deviation of the weights is 1.
    """
    rows = []
    for d, mean in product(widths, means):
        net = sp.Chain(d, sp.uniform(mean=mean), [sp.BatchNorm(center=False)])
        x = sp.inputs.gaussian_samples(samples)
        found = net.run(x, depth, runs, stream.child("mean", d)).average(sp.rank_ratio, every=5)
        for run, ratio in enumerate(found.value):
            rows.append({"width": d, "mean of the weights": mean, "run": run, "ratio": ratio})
    return pd.DataFrame(rows)


def commutes_with_signs(activation: str, d: int, n: int, gamma: float, stream: Stream) -> Case:
    """Eqs. 37-45 on one layer: ``FBN(S H, S W S) = S FBN(H, W)`` for all sign matrices S."""
    h, w = _layer_input(activation, d, n, stream)
    pairs = []
    for signs in product((1.0, -1.0), repeat=d):
        s = np.diag(signs)
        pairs.append(
            (layer(s @ h, s @ w @ s, gamma, activation), s @ layer(h, w, gamma, activation))
        )
    left, right = np.array(pairs).swapaxes(0, 1)
    return Case(left, right, words=_words(activation, d, n, gamma))


def commutes_with_order(
    activation: str, d: int, n: int, gamma: float, stream: Stream, *, both_sides: bool = True
) -> Case:
    """Eqs. 28-36: ``FBN(P H, P W P^T) = P FBN(H, W)`` for all permutation matrices P.

    With ``both_sides=False`` the columns of W stay where they are.
    """
    h, w = _layer_input(activation, d, n, stream)
    pairs = []
    for order in permutations(range(d)):
        p = np.eye(d)[list(order)]
        weights = p @ w @ p.T if both_sides else p @ w
        pairs.append((layer(p @ h, weights, gamma, activation), p @ layer(h, w, gamma, activation)))
    left, right = np.array(pairs).swapaxes(0, 1)
    return Case(left, right, words=_words(activation, d, n, gamma))


def moment_from_symmetric_start(
    activation: str, d: int, n: int, gamma: float, layers: list[int], runs: int, stream: Stream
) -> Floats:
    """Return M_12 ``(runs, layers)`` of independent networks whose inputs have normal entries."""
    net = sp.Chain(
        d, sp.uniform(), [sp.BatchNorm(center=False)], LAYERS[activation], residual=gamma
    )
    draw = stream.child("symmetric", activation)
    states = net.run(sp.inputs.gaussian_samples(n), max(layers), runs, draw).states(layers)
    moments: Floats = OBSERVABLES["M_12"](states).numpy()
    return moments


def order_from_symmetric_start(
    activation: str,
    d: int,
    n: int,
    gamma: float,
    layers: list[int],
    runs: int,
    stream: Stream,
    *,
    twins: bool = False,
) -> Floats:
    """Return ``M_12 - M_34`` ``(runs, layers)`` of networks whose inputs have normal entries.

    The inputs have one law for all orders of their units; with ``twins`` they do not, as the first
    two units are equal.

    >>> order_from_symmetric_start("relu", 4, 3, 1.0, [1, 2], 5, Stream(0)).shape
    (5, 2)
    """
    draw = stream.numpy("order", activation, d, n)
    h = draw.normal(size=(runs, d, n))
    if twins:
        h[:, 1] = h[:, 0]
    found = []
    for at in range(1, max(layers) + 1):
        w = draw.uniform(-np.sqrt(3), np.sqrt(3), (runs, d, d))
        h = layer(h, w, gamma, activation)
        if at in layers:
            found.append(np.mean(h[:, 0] * h[:, 1] - h[:, 2] * h[:, 3], axis=-1))
    return np.stack(found, axis=1)


def moments_under_group(d: int, n: int, each_row: bool, stream: Stream) -> Case:
    """Eq. 8 for a finite law: ``1 + E[M_12]``, and 1.

    The law sits on ``S H`` for one H and equally likely S: all sign matrices if ``each_row``, else
    plus and minus the identity. Under both, each row has the law of its negative.
    """
    h = stream.numpy("group", d, n).normal(size=(d, n))
    h /= np.sqrt(np.mean(h**2, axis=1, keepdims=True))
    group = list(product((1.0, -1.0), repeat=d)) if each_row else [(1.0,) * d, (-1.0,) * d]
    law = np.array(group)[:, :, None] * h
    paired = np.allclose(np.sort(law, axis=0), np.sort(-law, axis=0))
    mean = np.mean([np.mean(m[0] * m[1]) for m in law])
    words = f"d = {d}, N = {n}"
    return Case(float(1 + mean), 1.0, {"each row as likely as its negative": paired}, words)


def one_sample_law(
    activation: str, d: int, gamma: float, *, sizes: tuple[float, ...] = ()
) -> Floats:
    """Return the invariant law of a chain with one sample, ``(2,) * d`` by the signs of the units.

    Index 0 is plus, 1 minus. With N = 1 the rows are signs, and unit i keeps its sign u_i if
    ``gamma sum_j w_ij F(u_j) > -1`` after dividing by u_i; ``sizes`` multiplies the rows of W, by
    default ones. Several invariant laws are a ``ValueError``.

    >>> one_sample_law("tanh", 2, gamma=1.0).ravel()
    array([0.25, 0.25, 0.25, 0.25])
    """
    states = list(product((1.0, -1.0), repeat=d))
    factors = sizes or (1.0,) * d
    transition = np.empty((len(states), len(states)))
    for row, u in zip(transition, states, strict=True):
        reach = np.sqrt(3) * gamma * abs(ACTIVATIONS[activation](np.array(u)))
        keeps = [_sum_above(-1.0, size * reach) for size in factors]
        for k, v in enumerate(states):
            row[k] = np.prod([p if a == b else 1 - p for p, a, b in zip(keeps, u, v, strict=True)])
    return theory.stationary_law(transition).reshape((2,) * d)


def order_does_not_matter(
    activation: str, d: int, gamma: float, *, sizes: tuple[float, ...] = ()
) -> Case:
    """Lemma 11 for one sample: the invariant law with its units in every order, and as it is."""
    law = one_sample_law(activation, d, gamma, sizes=sizes)
    orders = [law.transpose(order) for order in permutations(range(d))]
    words = _words(activation, d, 1, gamma)
    return Case(np.array(orders), np.array([law] * len(orders)), {"one invariant law": True}, words)


def _sum_above(t: float, reach: Floats) -> float:
    """``P(sum_j a_j U_j > t)`` for independent U_j uniform on [-1, 1] and ``a_j = reach_j``.

    Why it is right: the density of the sum is a spline; inclusion and exclusion over the corners
    of the cube gives the volume of a half-space in it.
    """
    a = np.asarray(reach)[np.asarray(reach) > 0]
    if a.size == 0:
        return float(t < 0)
    corners = np.array(list(product((1.0, -1.0), repeat=a.size)))
    heights = np.maximum(t + corners @ a, 0) ** a.size
    below = (corners.prod(axis=1) * heights).sum()
    return float(1 - below / (special.factorial(a.size) * np.prod(2 * a)))


def _chain(d: int, gamma: float | None) -> sp.Chain:
    return sp.Chain(d, sp.uniform(), [sp.BatchNorm(center=False)], residual=gamma)


def _layer_input(activation: str, d: int, n: int, stream: Stream) -> tuple[Floats, Floats]:
    draw = stream.numpy("layer", activation, d, n)
    return draw.normal(size=(d, n)), _uniform(draw, d)


def _uniform(draw: np.random.Generator, d: int) -> Floats:
    return draw.uniform(-np.sqrt(3), np.sqrt(3), (d, d))


def _words(activation: str, d: int, n: int, gamma: float | None) -> str:
    step = "no skip connection" if gamma is None else f"gamma {gamma:.3g}"
    return f"F = {activation}, d = {d}, N = {n}, {step}"
