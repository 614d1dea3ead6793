"""What leads to DEC's tree model, and what it leaves out: Section III up to Definition 5, Figure 4.

Batches hold points as rows ``(n, k)``, the columns of DEC's X. The tree itself is
:mod:`signalprop.clusters`; here stand random projections of a batch, the limit of infinite width,
several input features, and who escapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import scipy
import torch

import signalprop as sp
from signallab.case import Case
from signallab.decomposed.finite_time_stability import branch
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.clusters import ClusterTree, gram_angles, gram_norms
from signalprop.limits.gram_maps import recentred_gram_map
from signalprop.random import Stream

__all__ = [
    "common_extremes",
    "effects",
    "equation_8",
    "escaping",
    "exchangeable",
    "figure_4",
    "few_zeroed",
    "gram_of_layer",
    "in_networks",
    "kappa",
    "limit_errors",
    "limit_grams",
    "merged_tree",
    "odd_among_extremes",
    "odd_points_of_features",
    "odd_points_of_networks",
    "on_the_sphere",
    "predictors",
    "printed_tree",
    "return_factor",
    "return_rate",
    "rows_of_tree",
    "sampled_grams",
    "share_zeroed",
    "sign_alternative",
    "symmetric_angle",
    "theorem_11_for_features",
    "waits",
    "who_escapes",
    "without_recentring",
]

Projections = tuple[Floats, Floats, Floats]


def projected(stream: Stream, n: int, far: float, count: int) -> Projections:
    """Return recentred projections of x_1 and nu ``(count,)`` and of the others ``(count, n-1)``.

    Each with a batch and a w of its own, in ten dimensions: the others are standard Gaussian, x_1
    is Gaussian too and ``far`` times as far out.
    """
    rng = stream.numpy(f"projections {n} {far}")
    w, first = rng.normal(size=(2, count, 10))
    cluster = rng.normal(size=(count, n - 1, 10))
    rest = np.einsum("cnk,ck->cn", cluster, w)
    odd, centre = far * np.einsum("ck,ck->c", first, w), rest.mean(axis=1)
    mean = np.concatenate([odd[:, None], rest], axis=1).mean(axis=1)
    return odd - mean, centre - mean, rest - mean[:, None]


def sign_alternative(
    stream: Stream, n: int, far: float, count: int, factor: float | None = None
) -> Case:
    """DEC Sec. III, item 2: ``w x_1 - mu`` is ``-(n - 1)`` (or ``-factor``) times ``w nu - mu``.

    >>> case = sign_alternative(Stream(0), 5, 3.0, 10)
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    odd, centre, _ = projected(stream, n, far, count)
    return Case(odd, -(n - 1 if factor is None else factor) * centre, words=f"far {far:g}")


def few_zeroed(stream: Stream, n: int, far: float, count: int, sign: float = 1.0) -> Case:
    """DEC Sec. III, items 2, 3: the share of the cluster that ReLU sends to zero, and a half.

    Over projections where ``w nu - mu`` has the ``sign``; one number a projection.

    >>> case = few_zeroed(Stream(0), 5, 30.0, 200)
    >>> bool(case.left.mean() < case.right)
    True
    """
    _, centre, rest = projected(stream, n, far, count)
    return Case((rest[sign * centre > 0] < 0).mean(axis=1), 0.5, words=f"x_1 {far:g} times as far")


def share_zeroed(n: int, far: float) -> float:
    """Return the expected share of the cluster sent to zero where ``w nu - mu < 0``.

    Right because, in units of the length of w, a point of the cluster minus nu and ``w (x_1 - nu)``
    are independent Gaussians of variances ``1 - 1/(n-1)`` and ``far^2 + 1/(n-1)``, and the point is
    sent to zero if it is below the n-th part of the second, a positive one.

    >>> round(share_zeroed(2, 1.0), 12), round(share_zeroed(50, 1e9), 6)
    (1.0, 1.0)
    """
    away = np.sqrt(far**2 + 1 / (n - 1)) / n
    return float(0.5 + np.arctan2(away, np.sqrt(1 - 1 / (n - 1))) / np.pi)


def effects(stream: Stream, n: int, fars: Sequence[float], count: int) -> pd.DataFrame:
    """What a projection does, for both signs of ``w nu - mu`` and several distances of x_1.

    Shares of the cluster's points sent to zero, of its spread that is left and of the sum of
    squares of the neuron that is lost.

    >>> len(effects(Stream(0), 5, [3.0], 50))
    2
    """
    rows = []
    for far in fars:
        odd, centre, rest = projected(stream, n, far, count)
        for sign, words in ((-1, "below 0"), (1, "above 0")):
            on = sign * centre > 0
            before = np.concatenate([odd[on, None], rest[on]], axis=1)
            after = np.maximum(before, 0)
            rows.append(
                {
                    "x_1 is farther by": far,
                    "w nu - mu": words,
                    "cluster sent to 0": (rest[on] < 0).mean(),
                    "spread left": after[:, 1:].std(axis=1).mean() / rest[on].std(axis=1).mean(),
                    "squares lost": 1 - (after**2).sum() / (before**2).sum(),
                }
            )
    return pd.DataFrame(rows)


def equation_8(stream: Stream, n: int, k: int, *, recentred: bool = True) -> Case:
    """DEC Eq. 8 for a Gaussian batch: the library's closed form, and an integral over the angle.

    The plane of two centred points holds all that counts: a Gaussian vector in it has a mean square
    length of 2 and a direction that is uniform. ``recentred=False`` leaves the mean in the library.

    >>> case = equation_8(Stream(0), 3, 4)
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    x = stream.numpy(f"equation 8 {n} {k}").normal(size=(n, k)) + 0.5
    centred = x - x.mean(axis=0)
    gram = torch.from_numpy(x @ x.T)
    closed = recentred_gram_map(gram, theory.dec_kernel) if recentred else without_recentring(gram)
    right = [[_angular_mean(a, b) for b in centred] for a in centred]
    return Case(closed.numpy() / 2, np.array(right), words=f"n = {n}, k = {k}")


def without_recentring(gram: torch.Tensor) -> torch.Tensor:
    """Return the next Gram matrix of a recursion that forgets the mean: a rival.

    >>> float(without_recentring(torch.eye(2, dtype=torch.float64))[0, 1].round(decimals=3))
    0.318
    """
    norms = gram.diagonal(dim1=-2, dim2=-1).sqrt()
    scale = norms[..., None] * norms[..., None, :]
    result: torch.Tensor = scale * theory.dec_kernel((gram / scale).clamp(-1, 1))
    return result


def _angular_mean(a: Floats, b: Floats) -> float:
    lengths = np.linalg.norm(a), np.linalg.norm(b)
    apart = np.arccos(np.clip(a @ b / (lengths[0] * lengths[1]), -1, 1))
    # Both cosines are positive between apart - pi/2 and pi/2, if a lies at 0 and b at ``apart``.
    both = scipy.integrate.quad(
        lambda u: np.cos(u) * np.cos(u - apart), apart - np.pi / 2, np.pi / 2
    )
    return float(2 * lengths[0] * lengths[1] * both[0] / (2 * np.pi))


def kappa(rho: float) -> float:
    """Return DEC's kernel of ReLU (Eq. 111) at one cosine.

    >>> round(kappa(0.0), 6)
    0.31831
    """
    return float(theory.dec_kernel(torch.tensor(rho, dtype=torch.float64)))


def limit_grams(gram: Floats, depth: int) -> Floats:
    """Return Gram matrices of layers 0 to ``depth`` at infinite width, ``(depth + 1, ..., n, n)``.

    From layer 1 on the largest diagonal entry is 1.

    >>> limit_grams(np.eye(2), 1).shape
    (2, 2, 2)
    """
    path = [torch.from_numpy(gram)]
    for _ in range(depth):
        path.append(theory.dec_infinite_width_map(path[-1]))
    result: Floats = torch.stack(path).numpy()
    return result


def _network(width: int) -> sp.Chain:
    # The Frobenius norm multiplies all points by one number, which changes no shape.
    return sp.Chain(width, layers=[sp.Recenter(), torch.relu, sp.FrobeniusNorm()])


def limit_errors(
    x: Floats,
    widths: Sequence[int],
    layers: Sequence[int],
    runs: int,
    stream: Stream,
    step: Callable[[torch.Tensor], torch.Tensor] = theory.dec_infinite_width_map,
) -> pd.DataFrame:
    """Largest entrywise distance of networks' Gram matrices from the recursion of infinite width.

    Both divided by their largest diagonal entry; a row for each width, layer and run. ``step`` is
    one layer of the recursion.

    >>> frame = limit_errors(np.eye(4), [50], [1, 2], 3, Stream(0))
    >>> frame.shape
    (6, 4)
    """
    gram, limit = torch.from_numpy(x @ x.T), {}
    for layer in range(1, max(layers) + 1):
        gram = step(gram)
        limit[layer] = (gram / gram.max()).numpy()
    rows = []
    for width in widths:
        path = _network(width).run(x, max(layers), runs, stream.child(str(width)))
        grams = np.asarray(path.measure(_scaled_gram).values)
        for layer in layers:
            off = np.abs(grams[:, layer] - limit[layer]).max(axis=(1, 2))
            rows += [
                {"width": width, "layer": layer, "run": run, "largest difference": float(value)}
                for run, value in enumerate(off)
            ]
    return pd.DataFrame(rows)


def _scaled_gram(h: torch.Tensor) -> torch.Tensor:
    gram = h @ h.mT
    return gram / gram.diagonal(dim1=-2, dim2=-1).amax(dim=-1)[..., None, None]


def sampled_grams(x: Floats, width: int, depth: int, runs: int, stream: Stream) -> Floats:
    """Return off-diagonal Gram entries ``(runs, n(n-1)/2)`` of narrow networks at ``depth``.

    Weights have variance 2/d, in the first layer as well, so that ReLU keeps mean squares.

    >>> sampled_grams(np.eye(3), 5, 2, 4, Stream(0)).shape
    (4, 3)
    """
    rng = stream.numpy("narrow networks")
    h = np.broadcast_to(x, (runs, *x.shape))
    for _ in range(depth):
        w = rng.normal(scale=np.sqrt(2 / width), size=(runs, h.shape[2], width))
        z = h @ w
        h = np.maximum(z - z.mean(axis=1, keepdims=True), 0)
    above = np.triu_indices(len(x), 1)
    result: Floats = (h @ h.transpose(0, 2, 1))[:, above[0], above[1]]
    return result


def gram_of_layer(x: Floats, depth: int) -> Floats:
    """Return the off-diagonal entries of the recursion at ``depth``, ``(n(n-1)/2,)``, not scaled.

    >>> gram_of_layer(np.eye(2), 1).round(12) + 0.0
    array([0.])
    """
    gram = torch.from_numpy(x @ x.T)
    for _ in range(depth):
        gram = recentred_gram_map(gram, theory.dec_kernel)
    result: Floats = gram.numpy()[np.triu_indices(len(x), 1)]
    return result


def on_the_sphere(stream: Stream, d: int, factor: float | None = None) -> Case:
    """DEC Sec. III: the mean over the sphere times d (or ``factor``), and over Gaussian weights.

    For d = 2, 3, of ``ReLU(w x) ReLU(w y)`` with random x and y; the sphere is summed on a grid.

    >>> case = on_the_sphere(Stream(0), 2)
    >>> bool(np.isclose(case.left, case.right, rtol=1e-4))
    True
    """
    x, y = stream.numpy(f"sphere {d}").normal(size=(2, d))
    turn = 2 * np.pi * (np.arange(1000) + 0.5) / 1000
    points = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    if d == 3:
        heights = (np.arange(1000) + 0.5) / 500 - 1  # uniform: a sphere's zones have equal areas
        flat = np.sqrt(1 - heights**2)[:, None, None] * points
        high = np.broadcast_to(heights[:, None, None], (1000, 1000, 1))
        points = np.concatenate([flat, high], axis=2)
    mean = (np.maximum(points @ x, 0) * np.maximum(points @ y, 0)).mean()
    lengths = np.linalg.norm(x) * np.linalg.norm(y)
    gaussian = lengths * kappa(float(x @ y / lengths)) / 2
    return Case(float((d if factor is None else factor) * mean), gaussian, words=f"d = {d}")


def printed_tree(values: Sequence[int], depth: int, *, center: bool = True) -> Floats:
    """Return ``X^(depth)`` of DEC Eq. 10 ``(2^depth, n)``, by products with the matrix of Eq. 9.

    >>> printed_tree([0, 1, 5], 1)
    array([[0., 0., 3.],
           [2., 1., 0.]])
    """
    x = np.array([values], dtype=float)
    for _ in range(depth):
        eye = np.eye(len(x))
        centre = x.mean(axis=1, keepdims=True) if center else 0
        x = np.maximum(np.concatenate([eye, -eye]) @ (x - centre), 0)
    return x


def merged_tree(values: Sequence[int], depth: int, *, center: bool = True, lag: int = 0) -> Case:
    """DEC Eq. 10: the Gram matrix of the printed tree, and of the exact one with equal rows merged.

    ``lag`` takes the exact tree so many layers later.

    >>> case = merged_tree([0, 1, 5], 4)
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    x = printed_tree(values, depth, center=center)
    tree = ClusterTree.start(values).after(depth + lag)
    return Case(x.T @ x, (tree.gram() * tree.scale).astype(float), words=f"layer {depth}")


def odd_points_of_features(x: Any, depth: int) -> pd.DataFrame:
    """The trees of each feature of integer points ``(n, d)``: who is odd, and the two extremes.

    >>> odd_points_of_features(np.array([[0, 9], [1, 0], [7, 1]]), 30)["odd point"].tolist()
    [2, 0]
    """
    rows = []
    for feature in np.asarray(x).T:
        norms = gram_norms(ClusterTree.start(feature.tolist()).after(depth).gram())
        rows.append(
            {
                "odd point": int(norms.argmax()),
                "smallest entry": int(feature.argmin()),
                "largest entry": int(feature.argmax()),
            }
        )
    return pd.DataFrame(rows)


def odd_among_extremes(
    x: Any, depth: int, ends: Sequence[str] = ("smallest entry", "largest entry")
) -> Case:
    """DEC Sec. III: is the odd point of each feature's tree one of its ``ends``? Ones are claimed.

    >>> odd_among_extremes(np.array([[0, 9], [1, 0], [7, 1]]), 30).left.tolist()
    [1, 1]
    """
    found = odd_points_of_features(x, depth)
    among = np.any([found["odd point"] == found[end] for end in ends], axis=0)
    return Case(among.astype(int), np.ones(len(found), dtype=int))


def exchangeable(n: int, layers: int, shape: str = "exchangeable", farther: float = 1.0) -> Case:
    """Squared norms after ``layers`` at infinite width of a symmetric batch, beside ones.

    ``shape`` is "exchangeable" (all inner products equal) or "polygon" (equally spaced on a
    circle); one point is ``farther`` out by that factor.

    >>> exchangeable(5, 10).left.round(12).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    turn = 2 * np.pi * np.arange(n) / n
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    x = np.eye(n) if shape == "exchangeable" else circle
    x = x * np.where(np.arange(n) == 0, farther, 1.0)[:, None]
    end = limit_grams(x @ x.T, layers)[-1]
    return Case(np.diagonal(end).copy(), np.ones(n), words=f"{shape}, n = {n}")


def symmetric_angle(n: int, layers: int, cosine: float | None = None) -> Case:
    """The angle between points of an exchangeable batch, and ``arccos kappa(-1/(n-1))``.

    ``cosine`` takes the place of ``-1/(n-1)``.

    >>> case = symmetric_angle(3, 5)
    >>> bool(np.isclose(case.left, case.right))
    True
    """
    end = limit_grams(np.eye(n), layers)[-1]
    rho = -1 / (n - 1) if cosine is None else cosine
    return Case(float(np.arccos(end[0, 1])), float(np.arccos(kappa(rho))))


def return_rate(n: int) -> float:
    """Return the factor by which small differences of norms shrink in a layer, at infinite width.

    ``(n - 2)/(n - 1) + n kappa' / ((n - 1)^2 (1 - kappa))`` with kappa and its derivative at
    ``-1/(n - 1)``: below one for every n, so the symmetric batch attracts its neighbours.

    Why it is right: recentring leaves of a small change ``a_i + a_j`` of the Gram matrix nothing,
    so that only the diagonal counts. With changes ``a_i`` there of an exchangeable matrix, the next
    diagonal changes by ``(1 - 2/n) a_i``, entries off it by b ``(a_i + a_j)``,
    ``b = (1 - 2/n) kappa / 2 - kappa' / (2 n - 2)``; and ``(1 - 2/n) - 2 b`` is divided by what one
    layer leaves of the whole, ``(1 - 1/n)(1 - kappa)``.

    >>> round(return_rate(10), 3)
    0.967
    """
    rho = -1 / (n - 1)
    slope = (np.pi - np.arccos(rho)) / np.pi
    return float((n - 2) / (n - 1) + n * slope / ((n - 1) ** 2 * (1 - kappa(rho))))


def return_factor(
    n: int, stream: Stream, rate: Callable[[int], float] = return_rate, size: float = 1e-4
) -> Case:
    """The factor per layer of a small disturbance of the symmetric batch, and its ``rate``.

    Measured on the largest difference of squared norms, from layer 20 to 30.

    >>> case = return_factor(10, Stream(0))
    >>> abs(case.left - case.right) < 1e-4
    True
    """
    noise = size * stream.numpy(f"disturbance {n}").normal(size=(n, n))
    path = limit_grams(np.eye(n) + noise + noise.T, 30)
    spread = np.ptp(np.diagonal(path, axis1=1, axis2=2), axis=1)
    return Case(float((spread[30] / spread[20]) ** 0.1), rate(n), words=f"n = {n}")


def waits(n: int, width: int, depth: int, runs: int, stream: Stream) -> pd.DataFrame:
    """Networks that start from an exchangeable batch: first layer with an odd point, and which.

    Odd is a point whose norm exceeds ``n/2`` times the median; a run without one gets ``depth``.

    >>> waits(10, 50, 100, 2, Stream(0)).columns.tolist()
    ['points', 'width', 'layer', 'odd point']
    """
    path = _network(width).run(np.eye(n), depth, runs, stream.child(f"{n} {width}"))
    found = np.asarray(path.measure(_norms).values)
    far = found.max(axis=2) > n / 2 * np.median(found, axis=2)
    layer = np.where(far.any(axis=1), far.argmax(axis=1), depth)
    odd = found[np.arange(runs), layer].argmax(axis=1)
    return pd.DataFrame({"points": n, "width": width, "layer": layer, "odd point": odd})


def _norms(h: torch.Tensor) -> torch.Tensor:
    norms: torch.Tensor = h.norm(dim=-1)
    return norms


def escaping(gram: torch.Tensor, depth: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return which point of Gram matrices ``(batches, n, n)`` escapes, and in which layer.

    At infinite width; it has when its norm exceeds ``n/2`` times the median. -1 and ``depth`` where
    none does in ``depth`` layers.

    >>> x = torch.tensor([[[0.0, 3.0], [1.0, 0.0], [0.0, 0.1], [0.2, 0.0], [0.1, 0.1], [0.0, 0.0]]])
    >>> escaping(x @ x.mT, 100)[0].tolist()
    [0]
    """
    n = gram.shape[-1]
    who = torch.full((len(gram),), -1)
    when = torch.full((len(gram),), depth)
    left = torch.arange(len(gram))
    for layer in range(1, depth + 1):
        gram = theory.dec_infinite_width_map(gram)
        norms = gram.diagonal(dim1=1, dim2=2).sqrt()
        largest, at = norms.max(dim=1)
        out = largest > n / 2 * norms.median(dim=1).values
        who[left[out]], when[left[out]] = at[out], layer
        left, gram = left[~out], gram[~out]
        if not len(left):
            break
    return who, when


def predictors(x: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return, for batches ``(batches, n, k)``, the point that each of three rules names.

    The largest norm; the farthest from the batch mean; the direction from the mean that is least
    like those of the other points.

    >>> x = torch.tensor([[[5.0, 5.0], [6.0, 6.0], [4.0, 6.5], [0.0, 1.0]]])
    >>> {rule: at.tolist() for rule, at in predictors(x).items()}
    {'largest norm': [1], 'farthest from the mean': [3], 'loneliest direction': [3]}
    """
    centred = x - x.mean(dim=1, keepdim=True)
    unit = centred / centred.norm(dim=2, keepdim=True)
    return {
        "largest norm": x.norm(dim=2).argmax(dim=1),
        "farthest from the mean": centred.norm(dim=2).argmax(dim=1),
        "loneliest direction": (unit @ unit.mT).sum(dim=2).argmin(dim=1),
    }


def who_escapes(batches: Mapping[str, torch.Tensor], depth: int) -> pd.DataFrame:
    """Which rules name the point that escapes at infinite width: a row for each batch.

    ``batches`` maps names to ``(batches, n, k)``, of which fifty at a time are taken in float64.

    >>> x = torch.tensor([[[0.0, 3.0], [1.0, 0.0], [0.0, 0.1], [0.2, 0.0], [0.1, 0.1], [0.0, 0.0]]])
    >>> who_escapes({"six": x}, 100)["largest norm"].tolist()
    [True]
    """
    frames = []
    parts = [(name, b[i : i + 50]) for name, b in batches.items() for i in range(0, len(b), 50)]
    for name, part in parts:
        x = part.double()
        who, when = escaping(x @ x.mT, depth)
        hits = {rule: (who == at).numpy() for rule, at in predictors(x).items()}
        found = {"data": name, "escaped": (who >= 0).numpy(), "layer": when.numpy()}
        frames.append(pd.DataFrame(found | hits))
    return pd.concat(frames, ignore_index=True)


def odd_points_of_networks(x: torch.Tensor, width: int, depth: int, stream: Stream) -> Floats:
    """Return the point of largest norm in layer ``depth`` of one network a batch, ``(batches,)``.

    ``x`` is ``(batches, n, k)``, of which twenty at a time are taken in float64.

    >>> odd_points_of_networks(torch.eye(4)[None], 20, 3, Stream(0)).shape
    (1,)
    """
    found = []
    for i in range(0, len(x), 20):
        part = x[i : i + 20].double()
        # Gaussian weights see the Gram matrix alone: n features of the same will do.
        root = torch.linalg.qr(part.mT).R.mT
        path = _network(width).run(root, depth, len(part), stream.child(f"batches from {i}"))
        found.append(np.asarray(path.measure(_norms).values)[:, -1].argmax(axis=1))
    return np.concatenate(found)


def in_networks(x: torch.Tensor, widths: Sequence[int], depth: int, stream: Stream) -> pd.DataFrame:
    """Which rules name the odd point of networks: a row for each width and batch.

    ``x`` is ``(batches, n, k)``, in [0, 1]; the last rule is the largest norm among the negatives
    ``1 - x``, which make the same networks.

    >>> in_networks(torch.rand(2, 5, 4), [20], 3, Stream(0)).columns.tolist()[-1]
    'largest norm of the negatives'
    """
    rules = predictors(x)
    rules["largest norm of the negatives"] = predictors(1 - x)["largest norm"]
    frames = []
    for width in widths:
        odd = odd_points_of_networks(x, width, depth, stream.child(f"width {width}"))
        hits = {rule: odd == at.numpy() for rule, at in rules.items()}
        frames.append(pd.DataFrame({"width": width, **hits}))
    return pd.concat(frames, ignore_index=True)


def common_extremes(stream: Stream, n: int, d: int) -> Any:
    """Return integer points ``(n, d)``: in every feature the first is smallest, the last largest.

    >>> x = common_extremes(Stream(0), 5, 3)
    >>> bool((x[0] < x[1:]).all() and (x[-1] > x[:-1]).all())
    True
    """
    rng = stream.numpy(f"extremes {n} {d}")
    inner = rng.permuted(np.arange(1, 10 * n), axis=0)[: n - 2]
    x = np.stack([rng.permutation(inner * rng.integers(1, 9)) for _ in range(d)], axis=1)
    low, high = x.min(axis=0), x.max(axis=0)
    ends = rng.integers(1, 20 * n, size=(2, d))
    return np.concatenate([[low - ends[0]], x, [high + ends[1]]])


def theorem_11_for_features(x: Any, depth: int, *, flip: bool = False, shift: int = 0) -> Case:
    """DEC Theorem 11 for points ``(n, d)``: four quantities at ``depth`` and their bounds.

    Inner product of the ends; largest angle between inner points, below 0.1 degrees; norm of an
    inner point over that of the better end; and what item 4 takes off a right angle. Every other
    feature is turned around with ``flip``; each is moved on by ``shift`` points more than the one
    before, which breaks the hypothesis.

    >>> case = theorem_11_for_features(common_extremes(Stream(0), 5, 2), 100)
    >>> bool((case.left <= case.right).all())
    True
    """
    x = np.array(x)
    extremes = bool((x[0] < x[1:]).all() and (x[-1] > x[:-1]).all())
    n, d = x.shape
    if flip:
        x[:, 1::2] *= -1
    x = np.stack([np.roll(x[:, j], j * shift) for j in range(d)], axis=1)
    trees = [ClusterTree.start(feature.tolist()).after(depth) for feature in x.T]
    gram = np.sum([tree.gram() for tree in trees], axis=0)
    norms, angles = gram_norms(gram), gram_angles(gram)
    inner = slice(1, n - 1)
    ratio = norms[inner] / max(norms[0], norms[-1])
    away = np.pi / 2 - np.maximum(angles[inner, 0], angles[inner, -1])
    product = float(gram[0, -1] / max(np.diagonal(gram)))
    left = [product, np.degrees(angles[inner, inner].max()), ratio.max(), away.max()]
    item_4 = np.pi / 2 - theory.dec_theorem_11_angle(n)
    right = [0.0, 0.1, theory.dec_theorem_11_norms(n), item_4]
    hypotheses = {"one point is largest and one smallest in every feature": extremes}
    return Case(np.array(left), np.array(right), hypotheses, f"n = {n}, d = {d}")


def rows_of_tree(values: Sequence[int], layers: int) -> pd.DataFrame:
    """The neurons of layers 0 to ``layers`` as DEC Figure 4 draws them: a row for each point.

    Columns: layer, neuron (the positive children first, Eq. 9), point, value, mean, clusters.

    >>> rows_of_tree([0, 1, 5], 1)["value"].tolist()
    [0.0, 1.0, 5.0, 0.0, 0.0, 3.0, 2.0, 1.0, 0.0]
    """
    rows = []
    for layer in range(layers + 1):
        for neuron, signs in enumerate(product((1, -1), repeat=layer)):
            # Eq. 9 puts all positive children first: the last sign is the leading digit.
            row = branch(tuple(values), signs[::-1])[-1]
            shared = {"mean": float(sum(row, Fraction(0)) / len(row)), "clusters": len(set(row))}
            rows += [
                {"layer": layer, "neuron": neuron, "point": i + 1, "value": float(v), **shared}
                for i, v in enumerate(row)
            ]
    return pd.DataFrame(rows)


def figure_4(values: Sequence[int], layer: int, signs: Iterable[int] = (1, -1)) -> Case:
    """The neurons drawn in a layer of Figure 4, and those of DEC Eq. 9 and 10; clusters too.

    ``signs`` are the two children's. The clusters of all neurons are counted by the exact tree.

    >>> case = figure_4([1, 4, 9, 16, 25], 2)
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    drawn = rows_of_tree(values, layer).query("layer == @layer")
    first, second = signs
    x = np.array([values], dtype=float)
    for _ in range(layer):
        centred = x - x.mean(axis=1, keepdims=True)
        x = np.maximum(np.concatenate([first * centred, second * centred]), 0)
    tree = ClusterTree.start(list(values)).after(layer)
    clusters = 2 * tree.count.sum() + sum(k * len(row) for row, k in tree.rows.items())
    left = np.append(drawn["value"].to_numpy(), drawn["clusters"].sum() / len(values))
    return Case(left, np.append(x.ravel(), float(clusters)), words=f"layer {layer}")
