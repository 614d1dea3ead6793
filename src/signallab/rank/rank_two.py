"""Odd activations and rank two: RANK Theorem 5, Lemmas 7, 20 and 21.

Matrices are the document's ``H`` ``(d, N)``: a row of norm ``sqrt N`` for each unit, a column for
each sample, ``M = H H^T / N``. A start of rank one is ``u v^T`` with signs ``u``; its samples are
*balanced* if all ``|v_j|`` are equal, which makes its entries signs too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signallab.rank.many_digits import batch_norm_path, elimination_rank, exactly
from signalprop import theory
from signalprop.random import Stream

__all__ = [
    "ACTIVATIONS",
    "average_is_a_sign",
    "bound_of_lemma_20",
    "change_of_moments",
    "extreme_layers",
    "fixed_matrices",
    "keeps_its_rank",
    "layer",
    "moment_path",
    "moments_stay",
    "rank_one",
    "ratio_path",
    "rise_of_rank",
    "signs_kept",
    "uniqueness",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Function = Callable[[Any], Any]

#: Odd functions, with the B of ``|F(x)| <= B |x|``.
ACTIVATIONS: dict[str, tuple[Function, float]] = {
    "identity": (lambda x: x, 1.0),
    "tanh": (np.tanh, 1.0),
    "sin": (np.sin, 1.0),
    "doubling": (lambda x: 2 * x, 2.0),
}
#: The same as layers of a chain.
LAYERS: dict[str, list[Callable[[torch.Tensor], torch.Tensor]]] = {
    "identity": [],
    "tanh": [torch.tanh],
    "sin": [torch.sin],
}
DIGITS = 60


def layer(h: Floats, w: Floats, gamma: float, activation: str) -> Floats:
    """Return ``FBN_gamma(h, w)`` ``(..., d, N)``, RANK Eq. 5.

    >>> layer(np.ones((1, 2)), np.array([[-3.0]]), 1.0, "identity")
    array([[-1., -1.]])
    """
    z = h + gamma * w @ ACTIVATIONS[activation][0](h)
    scaled: Floats = z / np.sqrt(np.mean(z**2, axis=-1, keepdims=True))
    return scaled


def rank_one(d: int, n: int, balanced: bool, stream: Stream) -> Floats:
    """Return ``u v^T`` ``(d, n)`` with random signs u, and v of signs or of normal entries.

    >>> h = rank_one(3, 4, True, Stream(0))
    >>> np.unique(abs(h))
    array([1.])
    """
    draw = stream.numpy("rank one", d, n)
    u, v = np.sign(draw.normal(size=d)), draw.normal(size=n)
    v = np.sign(v) if balanced else v * np.sqrt(n) / np.linalg.norm(v)
    return np.outer(u, v)


def fixed_matrices(activation: str, d: int, n: int, gamma: float) -> int:
    """Count the ``u v^T`` with signs u and v that no weight matrix moves.

    The entries of W F(H) are largest where all weights are ``sqrt 3`` in size, with signs that add
    up; so the worst weights for each unit decide, one layer with them.

    >>> fixed_matrices("identity", 2, 2, gamma=0.05), fixed_matrices("identity", 2, 2, gamma=0.5)
    (8, 0)
    """
    count = 0
    for entries in product((1.0, -1.0), repeat=d + n - 1):
        u, v = np.array(entries[:d]), np.array([1.0, *entries[d:]])
        h = np.outer(u, v)
        sign = np.sign(ACTIVATIONS[activation][0](1.0))
        against = -np.sqrt(3) * sign * np.outer(u, u)  # pushes every unit to the other sign
        count += np.array_equal(np.sign(layer(h, against, gamma, activation)), h)
    return count


def uniqueness(activation: str, d: int, n: int) -> Case:
    """ "There is one invariant law" at the largest gamma of Theorem 5: laws at most one.

    ``left`` counts laws that sit on a single matrix which no weights move.
    """
    b = ACTIVATIONS[activation][1]
    laws = fixed_matrices(activation, d, n, float(theory.rank_theorem_5_step(d, b)))
    return Case(float(laws), 1.0, words=_words(activation, d, n))


def keeps_its_rank(
    activation: str, d: int, n: int, start: int, gamma: float, depth: int, stream: Stream
) -> Case:
    """ "The rank never falls below that of the input": the rank of X, and the least rank met.

    In 60 digits, from a random input of rank ``start``.
    """
    ranks = _ranks(activation, d, n, start, False, gamma, depth, stream)
    words = f"{_words(activation, d, n)}, start of rank {start}, gamma {gamma:.3g}"
    return Case(float(start), float(min(ranks)), {"rank(X) >= 2": start >= 2}, words)


def rise_of_rank(
    activation: str, d: int, n: int, balanced: bool, depth: int, stream: Stream
) -> Case:
    """Footnote 12, "the rank never rises": the largest rank met, from rank one, against one."""
    gamma = _largest_step(activation, d)
    ranks = _ranks(activation, d, n, 1, balanced, gamma, depth, stream)
    return Case(float(max(ranks)), 1.0, words=f"{_words(activation, d, n)}, {_kind(balanced)}")


@cache
def _ranks(
    activation: str,
    d: int,
    n: int,
    start: int,
    balanced: bool,
    gamma: float,
    depth: int,
    stream: Stream,
) -> tuple[int, ...]:
    draw = stream.numpy("rank", activation, d, n, start)
    if start == 1:
        h = exactly(rank_one(d, n, balanced, stream))
    else:  # multiplied in many digits: a product of doubles, once rounded, has full rank
        with mpmath.workdps(DIGITS):
            h = exactly(draw.normal(size=(d, start))) @ exactly(draw.normal(size=(start, n)))
    path = batch_norm_path(h, _uniform(draw, depth, d), gamma, activation, DIGITS)
    return tuple(elimination_rank(m, DIGITS) for m in path)


def moments_stay(
    activation: str,
    d: int,
    n: int,
    balanced: bool,
    depth: int,
    stream: Stream,
    *,
    times_step: float = 1.0,
) -> Case:
    """Lemma 21, "M does not change": M after ``depth`` layers, and M at the start of rank one.

    ``times_step`` multiplies the largest gamma of Theorem 5.
    """
    path = _doubles(activation, d, n, balanced, depth, stream, times_step)
    moments = np.stack([h @ h.T / h.shape[1] for h in path])
    words = f"{_words(activation, d, n)}, {_kind(balanced)}"
    return Case(moments[-1].ravel(), moments[0].ravel(), words=words)


def average_is_a_sign(
    activation: str,
    d: int,
    n: int,
    balanced: bool,
    depth: int,
    stream: Stream,
    *,
    times_step: float = 1.0,
) -> Case:
    """Lemma 7: ``|average of M_12 over the layers|`` from rank one, and 1."""
    curve = moment_path(activation, d, n, balanced, depth, stream, times_step=times_step)
    words = f"{_words(activation, d, n)}, {_kind(balanced)}, {depth} layers"
    return Case(float(abs(curve.mean())), 1.0, words=words)


def moment_path(
    activation: str,
    d: int,
    n: int,
    balanced: bool,
    depth: int,
    stream: Stream,
    *,
    times_step: float = 1.0,
) -> Floats:
    """Return ``M_12`` ``(depth + 1,)`` at every layer from a start of rank one."""
    path = _doubles(activation, d, n, balanced, depth, stream, times_step)
    return np.array([np.mean(h[0] * h[1]) for h in path])


def _doubles(
    activation: str, d: int, n: int, balanced: bool, depth: int, stream: Stream, times_step: float
) -> list[Floats]:
    """The path in doubles; a linear chain keeps v, so only its factor u ``(d, 1)`` is followed.

    With the whole matrix, rounding would raise the rank in time: see the chapter on float64.
    """
    h = rank_one(d, n, balanced, stream)
    if activation in ("identity", "doubling"):
        h = h[:, :1] / abs(h[:, :1])
    gamma = times_step * _largest_step(activation, d)
    weights = _uniform(stream.numpy("moments", activation, d, n), depth, d)
    path = [h]
    for w in weights:
        path.append(layer(path[-1], w, gamma, activation))
    return path


def ratio_path(
    d: int, activations: Iterable[str], depth: int, runs: int, stream: Stream, *, every: int
) -> pd.DataFrame:
    """Return ``activation, run, layer, second over first singular value`` from a full-rank input.

    Width and batch are d, gamma is the largest of Theorem 5.
    """
    frames = []
    for activation in activations:
        net = sp.Chain(
            d,
            sp.uniform(),
            [sp.BatchNorm(center=False)],
            LAYERS[activation],
            residual=_largest_step(activation, d),
        )
        path = net.run(sp.inputs.gaussian_samples(d), depth, runs, stream.child("ratio", d))
        found = path.measure(_second_over_first, every)
        run, at = np.indices(found.values.shape)
        place = {"activation": activation, "run": run.ravel()}
        place["layer"] = np.asarray(found.layers)[at.ravel()]
        frames.append(
            pd.DataFrame({**place, "second over first singular value": found.values.ravel()})
        )
    return pd.concat(frames, ignore_index=True)


def _second_over_first(h: torch.Tensor) -> torch.Tensor:
    values: torch.Tensor = torch.linalg.svdvals(h)
    return values[..., 1] / values[..., 0]


def change_of_moments(
    h: Floats, w: Floats, gamma: float, activation: str, *, k: str = "F(H) H^T"
) -> Case:
    """Eq. 95: ``M(H + gamma W F(H)) - M(H)``, and the display with ``K`` times N read as ``k``.

    >>> case = change_of_moments(np.ones((1, 2)), np.array([[1.0]]), 1.0, "identity")
    >>> case.left, case.right
    (array([[3.]]), array([[3.]]))
    """
    f = ACTIVATIONS[activation][0](h)
    n = h.shape[1]
    z = h + gamma * w @ f
    readings = {"F(H) H^T": f @ h.T / n, "H F(H)^T": h @ f.T / n}
    cross = gamma * w @ readings[k]
    square = gamma**2 * w @ (f @ f.T / n) @ w.T
    left = z @ z.T / n - h @ h.T / n
    words = f"{_words(activation, *h.shape)}, gamma {gamma:.3g}"
    return Case(left, cross + cross.T + square, words=words)


def bound_of_lemma_20(
    h: Floats,
    w: Floats,
    gamma: float,
    activation: str,
    *,
    bound: Callable[..., Any] = theory.rank_lemma_20,
) -> Case:
    """Lemma 20: the largest change of an entry of M, and the bound."""
    f, b = ACTIVATIONS[activation]
    n = h.shape[1]
    z = h + gamma * w @ f(h)
    change = abs(z @ z.T / n - h @ h.T / n).max()
    hypotheses = {
        "weights between -sqrt 3 and sqrt 3": bool(abs(w).max() <= np.sqrt(3) * (1 + 1e-12)),
        "rows of norm sqrt N": bool(np.allclose(np.mean(h**2, axis=1), 1)),
    }
    words = f"{_words(activation, *h.shape)}, gamma {gamma:.3g}"
    return Case(float(change), float(bound(h.shape[0], gamma, b)), hypotheses, words)


def extreme_layers(stream: Stream, draws: int) -> list[dict[str, Any]]:
    """Return points ``h, w, gamma, activation``: random ones, and weights all ``sqrt 3`` in size.

    For matrices of signs of rank one those weights add up, which is the worst that they can do.
    """
    points: list[dict[str, Any]] = []
    for activation, d, n in product(ACTIVATIONS, (1, 2, 5), (1, 3, 8)):
        draw = stream.numpy("layers", activation, d, n)
        for k in range(draws):
            gamma = (0.2, 1.0, 5.0)[k % 3] * _largest_step(activation, d)
            h = draw.normal(size=(d, n))
            h /= np.sqrt(np.mean(h**2, axis=1, keepdims=True))
            w = np.sqrt(3) * np.sign(draw.normal(size=(d, d)))
            if k % 2:
                w = draw.uniform(-np.sqrt(3), np.sqrt(3), (d, d))
            points.append({"h": h, "w": w, "gamma": gamma, "activation": activation})
        u, v = np.sign(draw.normal(size=d)), np.sign(draw.normal(size=n))
        w = np.sqrt(3) * np.outer(u, u)
        points += [
            {"h": np.outer(u, v), "w": w, "gamma": times / d, "activation": activation}
            for times in (0.01, 0.125, 1.0)
        ]
    return points


def signs_kept(d: int, activation: str, *, times: float = 1.0) -> Case:
    """ "At gamma = 1/(8Bd) the bound of Lemma 20 is at most 1/2"; ``times`` multiplies gamma."""
    b = ACTIVATIONS[activation][1]
    gamma = times * theory.rank_theorem_5_step(d, b)
    return Case(float(theory.rank_lemma_20(d, gamma, b)), 0.5, words=f"width {d}, {activation}")


def _largest_step(activation: str, d: int) -> float:
    return float(theory.rank_theorem_5_step(d, ACTIVATIONS[activation][1]))


def _uniform(draw: np.random.Generator, depth: int, d: int) -> Floats:
    return draw.uniform(-np.sqrt(3), np.sqrt(3), (depth, d, d))


def _kind(balanced: bool) -> str:
    return "a start of rank one, " + ("balanced" if balanced else "unbalanced")


def _words(activation: str, d: int, n: int) -> str:
    return f"F = {activation}, d = {d}, N = {n}"
