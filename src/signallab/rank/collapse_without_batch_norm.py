"""Linear networks without batch normalization: RANK Lemmas 4 and 10, Definitions 4 to 6, Example 9.

``B_l = (I + gamma W_l) ... (I + gamma W_1)`` acts on an input ``X`` ``(d, N)``; ``gamma=None`` is
``W_l ... W_1``. Matrices are the document's, ``(d, N)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop.random import Stream
from signalprop.weights import Law

__all__ = [
    "INPUTS",
    "LAWS",
    "contracts",
    "distance_from_union",
    "gaussian_gap",
    "general_position",
    "grows",
    "growth",
    "input_limit_rank",
    "keeps_ratio",
    "log_ratio_paths",
    "product_limit_rank",
    "ratio_by_depth",
    "settles_down",
    "steps",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]

SWAP = np.array([[0.0, 1.0], [1.0, 0.0]])
THRESHOLD = 1e-9


def log_ratio_paths(
    d: int,
    gamma: float | None,
    depth: int,
    runs: int,
    stream: Stream,
    *,
    weights: Law | None = None,
) -> Floats:
    """Return the growth of ``log(sigma_1 / sigma_2)`` of B_l, summed up to each layer.

    ``(runs, depth)``, by orthogonalizing two columns anew in every layer (Benettin). The first
    grows at the rate of sigma_1, the area of the two at that of the product ``sigma_1 sigma_2``,
    and neither is lost to rounding, as it is in the product of the matrices itself.

    >>> float(log_ratio_paths(2, None, 3, 1, Stream(0), weights=sp.orthogonal()).max().round(9))
    0.0
    """
    law = weights or sp.uniform()
    draw = stream.child("growth", d, str(gamma), str(law))
    generators = draw.runs(runs)
    first, second = (np.tile(np.eye(d)[k], (runs, 1)) for k in (0, 1))
    path = np.empty((runs, depth))
    for layer in range(depth):
        w = law.sample(d, d, generators).numpy()
        moved = [np.einsum("rij,rj->ri", w, v) for v in (first, second)]
        if gamma is not None:
            moved = [v + gamma * m for v, m in zip((first, second), moved, strict=True)]
        first, length = _unit(moved[0])
        along = np.einsum("ri,ri->r", first, moved[1])
        second, rest = _unit(moved[1] - along[:, None] * first)
        path[:, layer] = np.log(length / rest)
    summed: Floats = np.cumsum(path, axis=1)
    return summed


def growth(
    d: int,
    gamma: float | None,
    depth: int,
    runs: int,
    stream: Stream,
    *,
    weights: Law | None = None,
) -> Floats:
    """Return the rate a layer of ``log(sigma_1 / sigma_2)``, ``(runs,)``, past the first fifth."""
    path = log_ratio_paths(d, gamma, depth, runs, stream, weights=weights)
    skip = depth // 5
    rate: Floats = (path[:, -1] - path[:, skip - 1]) / (depth - skip)
    return rate


def grows(
    d: int, gamma: float | None, depth: int, runs: int, stream: Stream, *, least: float = 0.0
) -> Case:
    """ "The gap grows exponentially": minus the rate of each run, and minus ``least``."""
    rates = growth(d, gamma, depth, runs, stream)
    return Case(-rates, -least, words=f"width {d}, {_step(gamma)}")


#: Bounded inputs ``(d, generator) -> (d, N)``.
INPUTS: dict[str, Callable[[int, np.random.Generator], Floats]] = {
    "normal entries": lambda d, rng: rng.normal(size=(d, d)),
    "one column that is not zero": lambda d, rng: np.outer(rng.normal(size=d), np.eye(d)[0]),
    "rank one": lambda d, rng: np.outer(rng.normal(size=d), rng.normal(size=d)),
    "zero": lambda d, rng: np.zeros((d, d)),
}


def input_limit_rank(input: str, d: int, gamma: float, depth: int, stream: Stream) -> Case:
    """Lemma 4: the rank of ``B_l X / ||B_l||`` in a deep layer, and one.

    Counted are singular values above 1e-9; the matrix ``B_l / ||B_l||`` has norm 1.
    """
    x = INPUTS[input](d, stream.numpy("input", d))
    b = _last(_products(_residual(d, gamma, stream.numpy("collapse", d)), d, depth))
    words = f"input {input}, d = {d}, gamma {gamma:.3g}, layer {depth}"
    return Case(
        float(_count(b @ x)), 1.0, {"X is bounded": True, "0 < gamma < 1": 0 < gamma < 1}, words
    )


#: Laws of square matrices, as endless draws ``(d, generator) -> matrices``.
LAWS: dict[str, Callable[[int, np.random.Generator], Iterator[Floats]]] = {
    "Gaussian": lambda d, rng: _repeat(lambda: rng.normal(size=(d, d))),
    "residual, gamma 0.5": lambda d, rng: _residual(d, 0.5, rng),
    "Gaussian or zero": lambda d, rng: _repeat(
        lambda: rng.normal(size=(d, d)) * (rng.random() > 0.1)
    ),
    "swaps of random size": lambda d, rng: _repeat(
        lambda: np.kron(np.eye(d // 2), SWAP) * rng.normal()
    ),
    "orthogonal": lambda d, rng: _repeat(lambda: np.linalg.qr(rng.normal(size=(d, d)))[0]),
}


def product_limit_rank(law: str, d: int, depth: int, stream: Stream) -> Case:
    """Lemma 10: the rank of ``B_n / ||B_n||`` (zero, if B_n is zero), and one."""
    b = _last(_products(LAWS[law](d, stream.numpy("law", law, d)), d, depth))
    return Case(float(_count(b)), 1.0, words=f"{law}, d = {d}, {depth} factors")


def steps(d: int, gamma: float, depth: int, runs: int, stream: Stream) -> pd.DataFrame:
    """Return ``object, run, layer, step``: how far a layer moves what might converge.

    - ``the matrix``: ``||H_{l+1} - H_l||``, of spectral norm 1 each, the smaller for plus and minus
    - ``its row space``, ``its column space``: the sine of the angle by which the first right and
      left singular vector turn
    """
    rows = []
    for run in range(runs):
        draw = stream.numpy("steps", d, run)
        x = draw.normal(size=(d, d))
        before: tuple[Floats, ...] | None = None
        for layer, b in enumerate(_products(_residual(d, gamma, draw), d, depth), start=1):
            u, s, vt = np.linalg.svd(b @ x)
            now = (b @ x / s[0], vt[0], u[:, 0])
            if before is not None:
                matrix = min(np.linalg.norm(now[0] - sign * before[0], 2) for sign in (1, -1))
                pairs = zip(now[1:], before[1:], strict=True)
                turned = [np.linalg.norm(p - (p @ q) * q) for p, q in pairs]
                names = ("the matrix", "its row space", "its column space")
                for name, step in zip(names, (matrix, *turned), strict=True):
                    rows.append({"object": name, "run": run, "layer": layer, "step": float(step)})
            before = now
    return pd.DataFrame(rows)


def settles_down(found: pd.DataFrame, object: str = "the matrix") -> Case:
    """ "It converges": mean step in the last quarter of the layers, and a hundredth of the first.

    One number a run; ``right`` is the least over the runs.
    """
    part = found[found["object"] == object]
    last = part["layer"].max()
    mean = [
        part[mask].groupby("run")["step"].mean().to_numpy()
        for mask in (part["layer"] > 0.75 * last, part["layer"] <= 0.25 * last)
    ]
    return Case(mean[0], float(mean[1].min() / 100), words=f"{object}, {last} layers")


def ratio_by_depth(
    d: int, depths: Iterable[int], power: float | None, runs: int, stream: Stream
) -> pd.DataFrame:
    """Return ``depth, step, run, ratio``: r(H_L) with ``gamma = L^-power``; 1/2 if None.

    The input is the identity.
    """
    rows = []
    named = {1.0: "one over the depth", 0.5: "one over its root", None: "one half"}[power]
    for depth in depths:
        gamma = 0.5 if power is None else depth**-power
        for run in range(runs):
            draw = stream.numpy("ratio", d, depth, run)
            h = _last(_products(_residual(d, gamma, draw), d, depth))
            ratio = float(sp.rank_ratio(torch.from_numpy(h.T)))
            rows.append({"depth": depth, "step": named, "run": run, "ratio": ratio})
    return pd.DataFrame(rows)


def keeps_ratio(found: pd.DataFrame, step: str, depth: int, least: float) -> Case:
    """ "The rank does not collapse": minus r of each run, and minus ``least``."""
    part = found[(found["step"] == step) & (found["depth"] == depth)]
    return Case(-part["ratio"].to_numpy(), -least, words=f"gamma {step}, {depth} layers")


def contracts(
    gamma: float, power: int, *, rate: Callable[[float], float] = lambda gamma: 1 + gamma
) -> Case:
    """Definition 4: ``sigma_2/sigma_1`` of ``(I + gamma e_1 e_1^T)^n`` and ``rate(gamma)^-n``."""
    a = np.eye(3)
    a[0, 0] += gamma
    values = np.linalg.svd(np.linalg.matrix_power(a, power), compute_uv=False)
    words = f"gamma {gamma:.3g}, power {power}"
    return Case(float(values[1] / values[0]), rate(gamma) ** -power, words=words)


def distance_from_union(
    matrices: Floats, lines: Floats, *, without: int | None = None, tolerance: float = 1e-12
) -> Case:
    """Definition 5 for lines: the farthest image of a line from the union, and the tolerance.

    ``matrices`` ``(m, d, d)``, ``lines`` ``(k, d)`` of unit vectors; distance is the sine of the
    angle to the nearest line. ``without`` leaves one line out of the union.
    """
    kept = lines if without is None else np.delete(lines, without, axis=0)
    images = np.einsum("mij,kj->mki", matrices, kept)
    images /= np.linalg.norm(images, axis=-1, keepdims=True)
    along = np.einsum("mki,li->mkl", images, kept)
    off = np.linalg.norm(images[:, :, None] - along[..., None] * kept, axis=-1)
    words = f"{len(kept)} lines, {len(matrices)} matrices"
    return Case(float(off.min(axis=-1).max()), tolerance, words=words)


def general_position(
    d: int, gamma: float, count: int, stream: Stream, *, swaps: bool = False
) -> Case:
    """Definition 6 by Eqs. 26, 27: the least rank of d of the images ``M_alpha v``, and d.

    If any d of the images of one vector are independent, a union of k proper subspaces holds at
    most ``k (d - 1)`` of them: no finite union holds all. With ``swaps`` the images are those of
    Example 9 instead, in each pair of coordinates.
    """
    draw = stream.numpy("position", d)
    v = draw.normal(size=d)
    v /= np.linalg.norm(v)
    images = v + gamma / d * draw.uniform(-1, 1, (count, d))
    if swaps:
        t = np.kron(np.eye(d // 2), SWAP)
        images = np.stack([np.linalg.matrix_power(t, k) @ v for k in range(count)])
    chosen = [images[draw.choice(count, d, replace=False)] for _ in range(count)]
    ranks = [np.linalg.matrix_rank(rows) for rows in chosen]
    return Case(float(min(ranks)), float(d), words=f"d = {d}, {count} images")


def gaussian_gap(d: Any) -> Any:
    """Return ``(digamma(d/2) - digamma((d-1)/2)) / 2``: the gap of Gaussian products, RANK [For13].

    Half of :func:`signalprop.theory.vanilla_collapse_rate`, which is for squares.
    """
    return theory.vanilla_collapse_rate(d) / 2


def _residual(d: int, gamma: float, rng: np.random.Generator) -> Iterator[Floats]:
    return _repeat(lambda: np.eye(d) + gamma * rng.uniform(-np.sqrt(3), np.sqrt(3), (d, d)))


def _repeat(draw: Callable[[], Floats]) -> Iterator[Floats]:
    while True:
        yield draw()


def _products(factors: Iterator[Floats], d: int, depth: int) -> Iterator[Floats]:
    """Yield ``B_l / ||B_l||``, or zero once B_l is zero."""
    b = np.eye(d)
    for _, factor in zip(range(depth), factors, strict=False):
        b = factor @ b
        norm = np.linalg.norm(b, 2)
        b = b / norm if norm else b
        yield b


def _last(products: Iterator[Floats]) -> Floats:
    for b in products:
        last = b
    return last


def _count(h: Floats) -> int:
    return int((np.linalg.svd(h, compute_uv=False) > THRESHOLD).sum())


def _unit(vectors: Floats) -> tuple[Floats, Floats]:
    length = np.linalg.norm(vectors, axis=-1)
    return vectors / length[:, None], length


def _step(gamma: float | None) -> str:
    return "no skip connection" if gamma is None else f"gamma {gamma:.3g}"
