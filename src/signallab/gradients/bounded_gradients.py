"""Gradients that do not grow with depth: GRAD Theorem 6.5, Figures 6.2 and 6.3, Lemma C.12.

Networks are those of :mod:`~signallab.gradients.deep_networks` with the norm of Eq. 6.4 and no
activation; there a batch ``X_0`` is ``(n, features)``, with a row a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from sympy import Matrix

import signalprop as sp
from signallab.case import Case
from signallab.gradients.deep_networks import (
    Network,
    Setting,
    Weights,
    draw,
    log_gradients,
    slopes,
    states,
)
from signallab.gradients.expected_isometry import gap, haar, unit_rows
from signallab.gradients.rotated_chain import Descent, descent, extreme, with_spectrum
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "NETWORK",
    "by_chain_rule",
    "chain",
    "changes_with_depth",
    "descents",
    "first_gradients",
    "from_a_large_identity",
    "gaussian_batch",
    "gradients_near_degeneracy",
    "headline",
    "isometry_exactly",
    "last_gaps",
    "log_norms",
    "log_slopes_of_an_entry",
    "nearly_repeated",
    "networks",
    "of_unequal_lengths",
    "pathwise_total",
    "repeated_columns",
    "sharper_bound",
    "sharper_total",
    "shorter_samples",
    "slow_total",
    "table_of_largest",
    "table_of_lengths",
    "table_of_shapes",
    "table_of_sums",
    "theorem",
    "tidy",
    "told_apart",
    "total",
]

Point = dict[str, Any]

#: The network of the theory: batch normalization without mean, and no activation.
NETWORK = Network(norm="simplified")


def sharper_total(d: int, psi: float) -> float:
    """Return ``d psi (1 + sqrt(40 (d + 2))) / 2 + 3 (d + 2) / 4``, a bound on the same sum.

    Why it is right: let m be the least squared length of a row of ``H_k``, ``u = -log m`` and
    ``g = m - 1 - log m``. The gap falls by the mean of ``a^2 - 1 - log a^2`` over the rows, so the
    g of all layers sum to ``d psi`` at most, whatever the rotations. As ``u <= g + sqrt(2 g)``, the
    first S layers have ``sum u <= d psi + sqrt(2 S d psi)`` (Cauchy and Schwarz), with
    ``E S <= 20 d (d + 2) psi``. After that ``u / 2 <= sqrt(d psi_k)``, and these sum to
    ``3 (d + 2) / 4`` on average. The log norm of a layer is u / 2.

    >>> sharper_total(2, 0.0)
    3.0
    """
    return float(d * psi * (1 + np.sqrt(40 * (d + 2))) / 2 + 0.75 * (d + 2))


def sharper_bound(d: int, psi: float) -> float:
    """Return a bound on ``E log |dLoss / dW_l|`` for the mean cross entropy: `sharper_total` more.

    The gradient in the logits is at most ``sqrt(2 / n)`` long, and ``X_l``, normalized, has norm
    ``sqrt d`` at most. For ``l = 0`` scale ``X_0`` to ``tr X_0 X_0^T = d``: it changes nothing.

    >>> round(sharper_bound(2, 0.0) - sharper_total(2, 0.0), 6)  # log sqrt 2
    0.346574
    """
    return float(np.log(2) / 2 + sharper_total(d, psi))


def pathwise_total(d: int, psi: float, depth: int) -> float:
    """Return ``(d psi + sqrt(2 L d psi)) / 2``: a bound on the sum for all rotations whatsoever.

    >>> pathwise_total(2, 1.0, 4)
    3.0
    """
    return float((d * psi + np.sqrt(2 * depth * d * psi)) / 2)


def slow_total(psi: float, depth: int) -> float:
    """Return the sum of log norms in the plane for rotations that spend the gap evenly.

    Why it is right: with squared lengths ``1 ± e`` the gap falls by ``-log(1 - e^2) / 2``, and the
    log norm is ``-log(1 - e) / 2``; any e up to the correlation of the rows can be had.

    >>> bool(slow_total(1.0, 400) / slow_total(1.0, 100) > 1.9)
    True
    """
    e = np.sqrt(-np.expm1(-2 * psi / depth))
    return float(-depth * np.log1p(-e) / 2)


def total(
    path: Descent, depth: int, bound: Callable[[int, float, int], float], words: str = ""
) -> Case:
    """GRAD Lemma C.12: ``sum_{k=1}^L log |J_BN(H_k)|``, one number a run, and a bound on its mean.

    >>> path = Descent(np.ones((2, 4)), np.log(np.full((2, 3, 2), 0.5)))
    >>> total(path, 2, lambda d, psi, depth: 9.0).left.round(3).tolist()
    [1.386, 1.386]
    """
    d, psi = path.log_lengths.shape[-1], float(path.gaps[0, 0])
    sums = path.log_norms[:, 1 : depth + 1].sum(axis=1)
    return Case(sums, bound(d, psi, depth), words=f"{words}, L = {depth}")


def descents(sizes: Sequence[int], runs: int, stream: Stream) -> Iterator[Point]:
    """Return points for :func:`total`: chains from Gaussian and from nearly degenerate inputs.

    Each is run until the gap is small, and looked at after 10 layers and at the end.

    >>> [point["words"] for point in descents([2], 2, Stream(0))][:2]
    ['d = 2, Gaussian', 'd = 2, Gaussian']
    """
    for d in sizes:
        inner = stream.child("sums", d)
        starts = {f"gap {psi:g}": extreme(d, psi) for psi in (0.01, 0.5, min(4.0, 40 / d))}
        inputs = {name: with_spectrum(v, inner) for name, v in starts.items()}
        gaussian = unit_rows(inner.numpy("Gaussian").normal(size=(d, d)))
        for name, x in {"Gaussian": gaussian, **inputs}.items():
            layers = int(12 * d + 30 + d * (d + 2) * gap(x) / 2)
            path = descent(x, layers, runs, inner.child(name))
            for depth in (10, layers - 1):
                yield {"path": path, "depth": depth, "words": f"d = {d}, {name}"}


def table_of_sums(sizes: Sequence[int], runs: int, stream: Stream) -> pd.DataFrame:
    """Return the mean of the sum of all log norms from a Gaussian batch, beside both bounds.

    >>> list(table_of_sums([2], 2, Stream(0)))
    ['width', 'gap', 'measured sum', 'bound here', 'd⁵ (gap³ + 1)']
    """
    rows = []
    for d in sizes:
        x = unit_rows(stream.numpy("growth", d).normal(size=(d, d)))
        path = descent(x, 12 * d, runs, stream.child("growth", d))
        psi = float(path.gaps[0, 0])
        measured = float(path.log_norms[:, 1:].sum(axis=1).mean())
        rows.append((d, psi, measured, sharper_total(d, psi), theory.grad_theorem_6_5(d, psi)))
    names = ["width", "gap", "measured sum", "bound here", "d⁵ (gap³ + 1)"]
    return pd.DataFrame(rows, columns=names)


def gaussian_batch(d: int, n: int, stream: Stream) -> torch.Tensor:
    """Return ``(n, d)`` independent Gaussian numbers.

    >>> gaussian_batch(3, 2, Stream(0)).shape
    torch.Size([2, 3])
    """
    return torch.from_numpy(stream.numpy("batch", d, n).normal(size=(n, d)))


def nearly_repeated(d: int, distinct: int, distance: float, stream: Stream) -> torch.Tensor:
    """Return d samples ``(d, d)`` in ``distinct`` groups, ``distance`` times a Gaussian apart.

    >>> nearly_repeated(4, 2, 0.0, Stream(0)).unique(dim=0).shape
    torch.Size([2, 4])
    """
    draw_ = stream.numpy("repeated", d)
    centres = draw_.normal(size=(distinct, d))[np.arange(d) % distinct]
    return torch.from_numpy(centres + distance * draw_.normal(size=(d, d)))


def log_norms(
    setting: Setting,
    depths: Sequence[int],
    layers: Sequence[int],
    law: sp.Law | None = None,
    repeats: int = 1,
) -> Floats:
    """Return log norms of gradients ``(runs, depths, layers)``; orthogonal weights or a ``law``.

    Everything is computed in the precision of the batch, of which every sample is shown ``repeats``
    times. Why it is right to compute it once: with r copies a row is sqrt r times as long, so what
    BN returns is divided by that. The next BN does not see it, the head does.

    >>> x = torch.eye(2, dtype=torch.float64)
    >>> log_norms(Setting(x, torch.tensor([0, 1]), 2, 3, Stream(0)), [2, 4], [1]).shape
    (3, 2, 1)
    """
    inputs = setting.x.shape[1]
    found = []
    for run in range(setting.runs):
        w = draw(setting.stream, run, max(depths), setting.width, inputs, law)
        w = replace(w, head=w.head.to(setting.x.dtype) / repeats**0.5)
        found.append(log_gradients(NETWORK, w, setting.x, setting.labels, depths, layers))
    return np.array(found)


def gradients_near_degeneracy(
    sizes: Sequence[int], runs: int, depths: Sequence[int], layers: Sequence[int], stream: Stream
) -> Iterator[Point]:
    """Return points for :func:`theorem`: a Gaussian batch and two that nearly repeat two samples.

    A depth has points for those of the ``layers`` that it has.

    >>> points = list(gradients_near_degeneracy([3], 2, [1, 4], [0, 1], Stream(0)))
    >>> len(points), points[0]["logs"].shape
    (9, (2,))
    """
    for d in sizes:
        inner = stream.child("theorem", d)
        inputs = {"Gaussian": gaussian_batch(d, d, inner)}
        for distance in (1e-6, 1e-12):
            inputs[f"{distance:g} apart"] = nearly_repeated(d, 2, distance, inner)
        for name, x in inputs.items():
            labels = torch.arange(d) % 10
            logs = log_norms(Setting(x, labels, d, runs, inner.child(name)), depths, layers)
            for row, depth in enumerate(depths):
                for k, layer in enumerate(layers):
                    if layer >= depth:
                        continue
                    yield {
                        "logs": logs[:, row, k],
                        "d": d,
                        "psi": float(gap(x.numpy())),
                        "words": f"d = {d}, {name}, L = {depth}, layer {layer}",
                    }


def changes_with_depth(
    sizes: Sequence[int], depths: tuple[int, int], runs: int, stream: Stream
) -> Floats:
    """Return by how much log gradients of the second layer differ at two ``depths``.

    One column a width, ``(runs, sizes)``; batches are Gaussian and square.

    >>> changes_with_depth([3, 4], (5, 9), 2, Stream(0)).shape
    (2, 2)
    """
    changes = []
    for d in sizes:
        inner = stream.child("headline", d)
        setting = Setting(gaussian_batch(d, d, inner), torch.arange(d) % 10, d, runs, inner)
        first, last = log_norms(setting, depths, [1])[..., 0].T
        changes.append(last - first)
    return np.stack(changes, axis=1)


def of_unequal_lengths(d: int, length: float) -> Floats:
    """Return ``diag(1, 1, e, ..., e)`` ``(d, d)``: all samples but two have length e.

    Columns of such different size keep their digits: rotations work on each by itself, and a row is
    divided by one number.

    >>> of_unequal_lengths(3, 0.5).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.5]]
    """
    return np.diag([1.0] * 2 + [length] * (d - 2))


def log_slopes_of_an_entry(batches: Floats, depth: int, runs: int, stream: Stream) -> Floats:
    """Return ``log |d(X_L)_11 / dW_0|`` ``(batches, runs)`` from ``X_0`` in ``(batches, d, d)``.

    By the chain rule. The loss is the first entry of the last representation, which changes by no
    more than that does. All batches of a run meet the same weights.

    >>> log_slopes_of_an_entry(np.eye(3)[None], 4, 2, Stream(0)).shape
    (1, 2)
    """
    first = before = batches[:, None]
    path = []
    for layer in range(depth):
        w = haar(batches.shape[-1], runs, stream.child("entry", layer))
        h = w @ before
        lengths = np.linalg.norm(h, axis=-1, keepdims=True)
        before = h / lengths
        path.append((w, before, lengths))
    back, scale = np.zeros_like(before), np.zeros(before.shape[:2])
    back[..., 0, 0] = 1
    of_first: Floats = scale
    for w, after, lengths in reversed(path):
        back = (back - (back * after).sum(axis=-1, keepdims=True) * after) / lengths
        of_first = scale + np.log(np.linalg.norm(back @ first.mT, axis=(-2, -1)))
        size = np.linalg.norm(back, axis=(-2, -1), keepdims=True)
        back, scale = w.mT @ (back / size), scale + np.log(size[..., 0, 0])
    return of_first


def shorter_samples(
    sizes: Sequence[int], lengths: tuple[float, float], depth: int, runs: int, stream: Stream
) -> Iterator[Point]:
    """Return points for :func:`headline`: batches :func:`of_unequal_lengths`, of two ``lengths``.

    >>> (point,) = shorter_samples([3], (0.1, 0.01), 4, 2, Stream(0))
    >>> [float(round(psi, 2)) for psi in point["gaps"]], point["far"].shape
    ([1.13, 2.66], (2,))
    """
    for d in sizes:
        batches = np.stack([of_unequal_lengths(d, e) for e in lengths])
        near, far = log_slopes_of_an_entry(batches, depth, runs, stream.child("lengths", d))
        yield {
            "d": d,
            "near": near,
            "far": far,
            "gaps": tuple(float(psi) for psi in gap(batches)),
            "words": f"X₀ = diag(1, 1, e, …, e), e = {lengths[1]:g} after {lengths[0]:g}",
        }


def headline(
    d: int,
    near: Floats,
    far: Floats,
    gaps: tuple[float, float],
    words: str = "",
    power: float = 0,
) -> Case:
    """GRAD Eq. 6.2: log gradients, a number a run, from two batches of width d and their gaps.

    A constant times ``psi^power + 1`` that is used up by the ``near`` batch, but for 1, has to do
    for the ``far`` one too. With power 0 it is a constant of the width alone.

    >>> case = headline(2, np.array([1.0, 2.0]), np.array([4.0, 4.0]), (1.0, 3.0), power=1)
    >>> case.left.tolist(), case.right
    ([2.0, 0.0], 2.0)
    """
    grows = (gaps[1] ** power + 1) / (gaps[0] ** power + 1)
    independent = {"samples are linearly independent": bool(max(gaps) < np.inf)}
    return Case(far - grows * near, grows, independent, f"d = {d}, {words}")


def table_of_lengths(points: Sequence[Point]) -> pd.DataFrame:
    """Return the mean log gradients of ``points``, those of :func:`shorter_samples`.

    >>> point = {"near": np.array([1.0, 2]), "far": np.array([4.0, 6]), "gaps": (0.5, 2.0)}
    >>> table_of_lengths([{**point, "d": 3}])["mean log gradient"].tolist()
    [1.5, 5.0]
    """
    rows = [
        (point["d"], psi, logs.mean(), logs.std(ddof=1) / np.sqrt(len(logs)))
        for point in points
        for psi, logs in zip(point["gaps"], (point["near"], point["far"]), strict=True)
    ]
    return pd.DataFrame(rows, columns=["width", "gap", "mean log gradient", "standard error"])


def table_of_largest(points: Sequence[Point]) -> pd.DataFrame:
    """Return, for each batch, the largest mean of log gradients over depths and layers, and bounds.

    ``points`` are those of :func:`gradients_near_degeneracy`.

    >>> points = [{"logs": np.array(each), "d": 2, "psi": 1.0} for each in ([1, 2], [4, 5])]
    >>> table_of_largest(points).iloc[0, 2:4].tolist()
    [4.5, 0.5]
    """
    rows: dict[tuple[int, float], tuple[float, ...]] = {}
    for point in points:
        logs, d, psi = point["logs"], point["d"], point["psi"]
        error = logs.std(ddof=1) / np.sqrt(len(logs))
        bounds = sharper_bound(d, psi), theory.grad_theorem_6_5(d, psi)
        rows[d, psi] = max((float(logs.mean()), float(error), *bounds), rows.get((d, psi), ()))
    names = ["width", "gap", "largest mean", "standard error", "bound here", "d⁵ (gap³ + 1)"]
    return pd.DataFrame([(*key, *row) for key, row in rows.items()], columns=names)


def first_gradients(
    setting: Setting, depths: Sequence[int], repeats: int = 1, law: sp.Law | None = None
) -> Floats:
    """Return log gradients of the first square layer ``(runs, depths)``.

    Arguments are those of :func:`log_norms`.

    >>> x = torch.eye(2, dtype=torch.float64)
    >>> first_gradients(Setting(x, torch.tensor([0, 1]), 4, 3, Stream(0)), [2, 5], 2).shape
    (3, 2)
    """
    return log_norms(setting, depths, [1], law, repeats)[..., 0]


def told_apart(setting: Setting, depths: Sequence[int]) -> Floats:
    """Return how far two copies of the batch, shown together, are apart ``(depths,)``.

    It is the norm of the difference of their representations, in one network. Copies are equal, so
    this is rounding, and what the network makes of it.

    >>> x = torch.eye(3, dtype=torch.float64)
    >>> told_apart(Setting(x, torch.arange(3), 6, 1, Stream(0)), [1, 2]).shape
    (2,)
    """
    w = draw(setting.stream, 0, max(depths), setting.width, setting.x.shape[1])
    halves = [end.chunk(2) for end in states(NETWORK, w, setting.x.repeat(2, 1), depths)]
    return np.array([float((a - b).norm()) for a, b in halves])


def table_of_shapes(
    setting: Setting, shapes: Sequence[tuple[int, int]], depths: Sequence[int]
) -> pd.DataFrame:
    """Return the growth a layer of log gradients for each width and number of images.

    >>> x = torch.randn(3, 5, dtype=torch.float64)
    >>> batch = Setting(x, torch.arange(3), 2, 2, Stream(0))
    >>> table_of_shapes(batch, [(4, 3), (2, 2)], [3, 6])["images"].tolist()
    [3, 2]
    """
    rows = []
    for d, n in shapes:
        part = replace(setting, x=setting.x[:n], labels=setting.labels[:n], width=d)
        speed = slopes(depths, first_gradients(part, depths))
        rows.append((d, n, speed.mean(), speed.std(ddof=1) / np.sqrt(setting.runs)))
    return pd.DataFrame(rows, columns=["width", "images", "growth a layer", "standard error"])


def tidy(found: Mapping[str, Floats], by: str, depths: Sequence[int]) -> pd.DataFrame:
    """Return a row for each run and depth of log gradients ``(runs, depths)``.

    >>> tidy({"a": np.zeros((2, 3))}, "batch", [1, 2, 4]).shape
    (6, 3)
    """
    parts = [
        pd.DataFrame({by: name, "depth": depth, "log gradient norm": logs[:, k]})
        for name, logs in found.items()
        for k, depth in enumerate(depths)
    ]
    return pd.concat(parts, ignore_index=True)


def last_gaps(setting: Setting, depth: int, law: sp.Law | None = None) -> Floats:
    """Return the isometry gap after ``depth`` layers ``(runs,)``; orthogonal weights or a ``law``.

    >>> x = torch.eye(3, dtype=torch.float64)
    >>> bool((last_gaps(Setting(x, torch.arange(3), 3, 2, Stream(0)), 4) < 1e-12).all())
    True
    """
    inputs = setting.x.shape[1]
    found = []
    for run in range(setting.runs):
        w = draw(setting.stream, run, depth, setting.width, inputs, law)
        (end,) = states(NETWORK, w, setting.x, [depth])
        found.append(float(sp.isometry_gap(end)))
    return np.array(found)


def theorem(
    logs: Floats, d: int, psi: float, bound: Callable[[int, float], float], words: str = ""
) -> Case:
    """GRAD Theorem 6.5: ``log |dLoss / dW_l|``, one number a run, and a bound on its mean.

    Both sides are lifted by 10, as logarithms may be negative.

    >>> float(theorem(np.array([1.0, 2.0]), 2, 1.0, theory.grad_theorem_6_5).right)
    74.0
    """
    return Case(logs + 10, bound(d, psi) + 10, {"X_0 has full rank": bool(psi < np.inf)}, words)


def from_a_large_identity(
    d: int, depth: int, runs: int, stream: Stream, normalize: bool = True
) -> Case:
    """GRAD Theorem 6.5 with C = 1 for ``X_0 = c I``, whose gap is 0, and ``log c = d^5 + 20``.

    The loss is the first entry of the logits ``W_L X_L``, the gradient that in ``W_0``. For L = 0
    it is the first sample, of length c. ``normalize`` tells whether layers do. Both sides are
    lifted by 10.

    >>> case = from_a_large_identity(2, 0, 2, Stream(0))
    >>> case.left.tolist(), case.right
    ([62.0, 62.0], 42.0)
    """
    logs = []
    for run in range(runs):
        weights = torch.from_numpy(haar(d, depth + 1, stream.child("identity", run)))
        first = weights[0].clone().requires_grad_()
        h = first @ torch.eye(d, dtype=torch.float64) * np.exp(d**5 + 20.0)
        for w in weights[1:]:
            h = w @ (h / h.norm(dim=1, keepdim=True) if normalize else h)
        (gradient,) = torch.autograd.grad(h[0, 0], first)
        logs.append(float(gradient.norm().log()) + 10)
    bound = float(theory.grad_theorem_6_5(d, 0.0)) + 10
    words = f"d = {d}, L = {depth}, X₀ = cI"
    return Case(np.array(logs), bound, {"X_0 has full rank": True}, words)


def _forward(
    x: torch.Tensor, labels: torch.Tensor, weights: Weights
) -> tuple[list[torch.Tensor], torch.Tensor]:
    """``X_0, ..., X_L`` as ``(d, n)``, and the gradient of the loss in ``X_L``'s logits."""
    ends = states(NETWORK, weights, x, range(1, weights.depth + 1))
    path = [end.mT for end in (x, *ends)]
    targets = torch.nn.functional.one_hot(labels, len(weights.head)).T
    flow = (torch.softmax(weights.head @ path[-1], 0) - targets) / len(labels)
    return path, flow


def networks(
    d: int, depth: int, count: int, stream: Stream, distance: float | None = None
) -> Iterator[Point]:
    """Return points for :func:`by_chain_rule` and :func:`chain`, with Gaussian batches.

    With a ``distance`` their samples nearly repeat two, as in :func:`nearly_repeated`.

    >>> len(list(networks(3, 2, 4, Stream(0))))
    4
    """
    for run in range(count):
        inner = stream.child("chain", run)
        if distance is None:
            x, kind = gaussian_batch(d, d, inner), "Gaussian"
        else:
            x, kind = nearly_repeated(d, 2, distance, inner), f"{distance:g} apart"
        yield {
            "x": x,
            "labels": torch.arange(d) % 10,
            "weights": draw(stream.child("chain"), run, depth, d, d),
            "words": f"{kind}, network {run}",
        }


def by_chain_rule(
    x: torch.Tensor, labels: torch.Tensor, weights: Weights, words: str = "", project: bool = True
) -> Case:
    """GRAD (C.78): log norms of all gradients, by the chain rule by hand, and by autograd.

    ``project`` tells whether the Jacobian of batch normalization removes the part along a row.

    >>> x = torch.tensor([[1.0, 2.0], [0.0, 1.0]], dtype=torch.float64)
    >>> case = by_chain_rule(x, torch.tensor([0, 1]), draw(Stream(0), 0, 3, 2, 2))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    path, flow = _forward(x, labels, weights)
    back = weights.head.mT @ flow
    logs = []
    for w, before, after in zip(weights.hidden[::-1], path[-2::-1], path[:0:-1], strict=True):
        along = (back * after).sum(dim=1, keepdim=True) * after if project else 0.0
        back = (back - along) / torch.linalg.vector_norm(w @ before, dim=1, keepdim=True)
        logs.append(float((back @ before.mT).norm().log()))
        back = w.mT @ back
    depth = weights.depth
    auto = log_gradients(NETWORK, weights, x, labels, [depth], range(depth))[0]
    return Case(np.array(logs[::-1]), auto, words=words)


def chain(
    x: torch.Tensor,
    labels: torch.Tensor,
    weights: Weights,
    factor: Callable[[int], float],
    words: str = "",
    skip: int = 0,
) -> Case:
    """GRAD (C.79), (C.80): norms of gradients for l = 1, 2, ... and the product of their factors.

    These are the norm of the gradient in the logits, of ``J_BN(H_k)`` for k from ``l + skip`` up
    to the last layer, and ``factor(d)`` for ``dH_l / dW_l``.

    >>> x = torch.tensor([[1.0, 2.0], [0.0, 1.0]], dtype=torch.float64)
    >>> case = chain(x, torch.tensor([0, 1]), draw(Stream(0), 0, 3, 2, 2), np.sqrt)
    >>> bool((case.left <= case.right).all())
    True
    """
    path, flow = _forward(x, labels, weights)
    depth, d = len(weights.hidden), len(path[-1])
    lengths = [
        torch.linalg.vector_norm(w @ before, dim=1).min()
        for w, before in zip(weights.hidden, path[:-1], strict=True)
    ]
    norms = -np.log(np.array(lengths))
    ahead = np.array([norms[layer + skip :].sum() for layer in range(1, depth)])
    auto = log_gradients(NETWORK, weights, x, labels, [depth], range(1, depth))[0]
    bound = float(flow.norm()) * factor(d) * np.exp(ahead)
    return Case(np.exp(auto), bound, words=words)


def repeated_columns(d: int, count: int, stream: Stream) -> Iterator[Point]:
    """Return points for :func:`isometry_exactly`: integer matrices whose last sample is a repeat.

    >>> [row[2] - row[0] for row in next(repeated_columns(3, 1, Stream(0)))["x"]]
    [0, 0, 0]
    """
    for k in range(count):
        x = stream.numpy("integers", k).integers(-5, 6, size=(d, d))
        x[:, -1] = x[:, k % (d - 1)]
        yield {"x": x.tolist(), "words": f"matrix {k}"}


def isometry_exactly(x: Any, words: str = "", changed: int = 0) -> Case:
    """GRAD Remark 6.6: the isometry ``e^-psi`` of a square integer matrix, and 0.

    Its determinant is taken in integers. The isometry is 0 if and only if psi is infinite.
    ``changed`` is added to the last entry.

    >>> isometry_exactly([[1, 2], [2, 4]]).left
    0.0
    """
    matrix = Matrix(x)
    matrix[-1, -1] += changed
    d = matrix.shape[0]
    root = float(abs(matrix.det())) ** (2 / d)
    return Case(root / (float((matrix * matrix.T).trace()) / d), 0.0, words=words)
