"""Rank against depth, RANK Figures 1 and 3: the rank, the numerical rank, and what rounding does.

Chains are linear. ``gamma=None`` is a network without skip connections. Matrices in many digits and
those of `eigenvalue_paths` are the document's ``(d, N)``; the chains of the library have the
samples as rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signallab.rank.many_digits import batch_norm_path, elimination_rank, exactly
from signallab.rank.rank_two import rank_one
from signalprop.random import Stream

__all__ = [
    "READINGS",
    "STARTS",
    "above_vanilla",
    "at_level",
    "decided_alike",
    "eigenvalue_paths",
    "exact_rank",
    "gap_closes",
    "layer_of_rank_one",
    "layer_of_rank_two",
    "numerical_ranks",
    "second_value_paths",
    "smallest_eigenvalue",
    "vanilla_rank",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]

THRESHOLD = 1e-9  # of the document, relative to the largest singular value

#: The largest eigenvalue by layer, low and high: read from the image that the authors stored with a
#: later version of Figure 3 (one run, Gaussian weights), to about 30 % on its logarithmic axis.
READINGS = {10: (25.0, 25.0), 20: (11.0, 15.0), 40: (11.0, 15.0), 100: (11.0, 15.0)}
NETWORKS: dict[str, Any] = {
    "batch norm": sp.BatchNorm(center=False),
    "none": sp.FrobeniusNorm(),  # keeps the chain finite, and changes no direction
}


def numerical_ranks(
    width: int,
    gammas: Iterable[float | None],
    depth: int,
    every: int,
    runs: int,
    stream: Stream,
    *,
    device: str = "cpu",
) -> pd.DataFrame:
    """Return ``normalization, gamma, run, layer, rank``: singular values above 1e-9 of the largest.

    Input and weights of a run are the same with and without normalization.
    """
    frames = []
    for gamma in gammas:
        for name, layer in NETWORKS.items():
            net = sp.Chain(width, sp.uniform(), [layer], residual=gamma)
            path = net.run(
                sp.inputs.gaussian_samples(width), depth, runs, stream.child("ranks"), device=device
            )
            found = path.measure(lambda h: sp.rank(h, rtol=THRESHOLD), every)
            run, at = (index.ravel() for index in np.indices(found.values.shape))
            place = {"normalization": name, "gamma": _step(gamma), "run": run}
            place["layer"] = np.asarray(found.layers)[at]
            frames.append(pd.DataFrame({**place, "rank": found.values.ravel()}))
    return pd.concat(frames, ignore_index=True)


def vanilla_rank(found: pd.DataFrame, gamma: str, *, normalization: str = "none") -> Case:
    """ "The rank becomes one": the numerical rank of each run at the last layer, and one."""
    part = found[(found["gamma"] == gamma) & (found["normalization"] == normalization)]
    last = part[part["layer"] == part["layer"].max()]
    return Case(last["rank"].to_numpy(float), 1.0, words=f"{gamma}, no normalization")


def above_vanilla(found: pd.DataFrame, gamma: str, first: int, *, times: float = 1.0) -> Case:
    """Rank without normalization plus one, and ``times`` that with it: all runs and layers."""
    part = found[(found["gamma"] == gamma) & (found["layer"] >= first)]
    sides = part.pivot(index=["run", "layer"], columns="normalization", values="rank")
    left, right = sides["none"].to_numpy(float) + 1, times * sides["batch norm"].to_numpy(float)
    return Case(left, right, words=gamma)


def at_level(
    found: pd.DataFrame,
    first: int,
    run: int,
    *,
    level: float = 9.5,
    normalization: str = "batch norm",
) -> Case:
    """Figure 1's level, 9 to 10 read to 0.3: how far a run is off 9.5, and 0.8.

    Of the run without skip connection counts the mean numerical rank from layer ``first`` on.

    >>> columns = {"gamma": "no skip connection", "normalization": "batch norm", "run": 0}
    >>> found = pd.DataFrame({**columns, "layer": [0, 1, 2], "rank": [32.0, 9.0, 10.0]})
    >>> at_level(found, 1, 0).left, at_level(found, 1, 0, level=10.5).left
    (0.0, 1.0)
    """
    chain = (found["gamma"] == _step(None)) & (found["normalization"] == normalization)
    part = found[chain & (found["layer"] >= first) & (found["run"] == run)]
    words = f"no skip connection, {normalization}, run {run}, from layer {first}"
    return Case(abs(float(part["rank"].mean()) - level), 0.8, words=words)


def layer_of_rank_one(found: pd.DataFrame) -> pd.DataFrame:
    """Return ``gamma, first layer``: where the rank without normalization is first one.

    Of the layers recorded, in the mean over the runs.

    >>> columns = {"gamma": "gamma 1", "normalization": "none", "run": [0, 0, 1, 1]}
    >>> found = pd.DataFrame({**columns, "layer": [1, 2, 1, 2], "rank": [1, 1, 2, 1]})
    >>> layer_of_rank_one(found)["first layer"].tolist()
    [1.5]
    """
    seen = found[(found["normalization"] == "none") & (found["rank"] == 1)]
    first = seen.groupby(["gamma", "run"], sort=False)["layer"].min()
    mean = first.groupby("gamma", sort=False).mean()
    return mean.reset_index().rename(columns={"layer": "first layer"})


def exact_rank(
    normalized: bool, d: int, gamma: float | None, depth: int, digits: int, stream: Stream
) -> Case:
    """The rank after ``depth`` layers of a linear network, in many digits, and d.

    The input has full rank. Scaling the rows does not change the rank, nor does scaling them all
    alike: without normalization the same chain is followed with one scale for all rows.
    """
    draw = stream.numpy("exact", d)
    h, weights = exactly(draw.normal(size=(d, d))), _weights(draw, depth, d)
    last = list(_path(normalized, h, weights, gamma, digits))[-1]
    rank = elimination_rank(last, digits)
    return Case(float(rank), float(d), words=f"{_named(normalized)}, d = {d}, {_step(gamma)}")


def decided_alike(
    normalized: bool,
    d: int,
    gamma: float | None,
    depth: int,
    digits: int,
    stream: Stream,
    *,
    threshold: float = THRESHOLD,
) -> Case:
    """Numerical ranks at every tenth layer, in double precision and in ``digits`` digits."""
    draw = stream.numpy("exact", d)
    x, weights = draw.normal(size=(d, d)), _weights(draw, depth, d)
    h, doubles = x, []
    for w in weights:
        z = w @ h if gamma is None else h + gamma * w @ h
        scale = np.sqrt(np.mean(z**2, axis=1, keepdims=True)) if normalized else np.linalg.norm(z)
        h = z / scale
        doubles.append(h)
    many = list(_path(normalized, exactly(x), weights, gamma, digits))
    in_doubles = [
        int((s > threshold * s[0]).sum())
        for s in (np.linalg.svd(h, compute_uv=False) for h in doubles[9::10])
    ]
    in_digits = [_count_above(h, threshold, digits) for h in many[9::10]]
    words = f"{_named(normalized)}, d = {d}, {_step(gamma)}"
    return Case(np.array(in_doubles, float), np.array(in_digits, float), words=words)


def second_value_paths(
    d: int, depth: int, digits: Iterable[int], stream: Stream, *, every: int = 1
) -> pd.DataFrame:
    """Return ``digits, layer, second over first singular value`` from one input of rank one.

    Batch normalization, no skip connection. Exactly, the ratio is zero at every layer.
    """
    draw = stream.numpy("second value", d)
    x, weights = rank_one(d, d, False, stream), _weights(draw, depth, d)
    factors = exactly(x[:, :1]), exactly(x[:1] / x[0, 0])
    frames = []
    for precision in digits:
        with mpmath.workdps(precision):
            h = factors[0] @ factors[1]
        path = batch_norm_path(h, weights, None, "identity", precision)
        ratios = [_second_over_first(m, precision) for m in path][every - 1 :: every]
        layers = np.arange(every, depth + 1, every)
        column = {"second over first singular value": ratios}
        frames.append(pd.DataFrame({"digits": precision, "layer": layers, **column}))
    return pd.concat(frames, ignore_index=True)


def layer_of_rank_two(found: pd.DataFrame, above: float = 1e-3) -> pd.DataFrame:
    """Return ``digits, first layer`` at which the ratio of singular values exceeds ``above``."""
    seen = found[found["second over first singular value"] > above]
    first = seen.groupby("digits")["layer"].min()
    return first.reset_index().rename(columns={"layer": "first layer"})


#: Inputs ``(width, runs, stream) -> (runs, N, width)`` whose features are nearly one vector.
STARTS: dict[str, Callable[[int], sp.inputs.Input]] = {
    "constant, noise 1e-5": lambda n: sp.inputs.collinear_features(n, 1e-5),
    "constant, noise 1e-3": lambda n: sp.inputs.collinear_features(n, 1e-3),
    "constant, noise 1e-8": lambda n: sp.inputs.collinear_features(n, 1e-8),
    "one random feature, noise 1e-5": lambda n: _one_feature(n, 1e-5),
}


def eigenvalue_paths(
    start: str,
    width: int,
    depth: int,
    runs: int,
    stream: Stream,
    *,
    gamma: float | None = 1.0,
    form: str = "H",
    normalization: str = "batch norm",
) -> Floats:
    """Return all eigenvalues of M, largest first, ``(runs, depth + 1, width)``, ``N = width``.

    Layer 0 is the input with its rows scaled to ``sqrt N``. ``form="H"`` follows the
    representations, ``"M"`` the recursion ``M -> D (I + gamma W) M (I + gamma W)^T D`` of their
    moments. The two are equal but for rounding: in M an eigenvalue is known to 1e-16 of the
    largest, in H its square root is. A run whose M has lost a positive diagonal to rounding is
    NaN from there on.
    """
    x = STARTS[start](width)(width, runs, stream.child("start", start))
    x = sp.BatchNorm(center=False)(x)
    draw = stream.child("paths", start)
    if form == "H":
        net = sp.Chain(width, sp.uniform(), [NETWORKS[normalization]], residual=gamma)
        path = net.run(x, depth, runs, draw)
        values = path.measure(sp.metrics.second_moment_eigenvalues).values
        if normalization == "none":
            values = values / values.sum(axis=-1, keepdims=True) * width
        return values
    h = x.numpy()
    m = np.einsum("rni,rnj->rij", h, h) / width
    found, broken = [np.linalg.eigvalsh(m)[:, ::-1]], np.zeros(runs, dtype=bool)
    generators = [draw.child("weights").numpy(run) for run in range(runs)]
    for _ in range(depth):
        w = np.stack([_weights(g, 1, width)[0] for g in generators])
        a = w if gamma is None else np.eye(width) + gamma * w
        m = a @ m @ a.swapaxes(-1, -2)
        squares = np.diagonal(m, axis1=-2, axis2=-1)
        broken |= (squares <= 0).any(axis=-1)
        m[broken] = np.eye(width)
        scale = np.sqrt(np.diagonal(m, axis1=-2, axis2=-1))
        m = m / scale[:, :, None] / scale[:, None, :]
        found.append(np.where(broken[:, None], np.nan, np.linalg.eigvalsh(m)[:, ::-1]))
    return np.stack(found, axis=1)


def gap_closes(
    start: str,
    width: int,
    depth: int,
    layer: int,
    runs: int,
    stream: Stream,
    *,
    to: int = 2,
    normalization: str = "batch norm",
    by: float = 100.0,
) -> Case:
    """``log(lambda_1 / lambda_to)`` at ``layer`` of each run; ``log(least at layer 0 / by)``."""
    values = eigenvalue_paths(start, width, depth, runs, stream, normalization=normalization)
    gap = np.log(values[..., 0] / values[..., to - 1])
    words = f"{start}, eigenvalues 1 and {to}, layer {layer}"
    return Case(gap[:, layer], float(gap[:, 0].min() - np.log(by)), words=words)


def smallest_eigenvalue(
    start: str,
    width: int,
    depth: int,
    runs: int,
    stream: Stream,
    *,
    which: int = -1,
    level: float = 1e-6,
) -> Case:
    """``lambda_min`` of each run at the last layer, and ``level``; ``which`` takes another one."""
    values = eigenvalue_paths(start, width, depth, runs, stream)[:, -1, which]
    return Case(values, level, words=f"{start}, layer {depth}")


def _one_feature(n: int, eps: float) -> sp.inputs.Input:
    """Every feature is the same random vector over the samples, plus ``eps`` times noise."""
    noise = sp.inputs.gaussian_samples(n)

    def draw(width: int, runs: int, stream: Stream) -> torch.Tensor:
        shared = noise(1, runs, stream.child("shared"))
        return shared + eps * noise(width, runs, stream.child("noise"))

    return draw


def _path(
    normalized: bool, h: Any, weights: Floats, gamma: float | None, digits: int
) -> Iterable[Any]:
    if normalized:
        yield from batch_norm_path(h, weights, gamma, "identity", digits)
        return
    with mpmath.workdps(digits):
        for w in weights:
            moved = exactly(w) @ h
            h = moved if gamma is None else h + mpmath.mpf(gamma) * moved
            yield h


def _second_over_first(h: Any, digits: int) -> float:
    """sigma_2 / sigma_1 of a matrix of rank about one: root of e_2 / e_1^2, in thrice the digits.

    e_2, the sum of the products of two squared singular values, cancels in its own digits.
    """
    with mpmath.workdps(3 * digits + 20):
        gram = h @ h.T
        trace, square = gram.trace(), (gram * gram).sum()
        return float(mpmath.sqrt(abs(trace * trace - square) / 2) / trace)


def _count_above(h: Any, threshold: float, digits: int) -> int:
    with mpmath.workdps(digits):
        values = list(mpmath.svd_r(mpmath.matrix(h.tolist()), compute_uv=False))
        return sum(bool(s > threshold * values[0]) for s in values)


def _weights(draw: np.random.Generator, depth: int, d: int) -> Floats:
    return draw.uniform(-np.sqrt(3), np.sqrt(3), (depth, d, d))


def _step(gamma: float | None) -> str:
    return "no skip connection" if gamma is None else f"gamma {gamma:.3g}"


def _named(normalized: bool) -> str:
    return "batch norm" if normalized else "no normalization"
