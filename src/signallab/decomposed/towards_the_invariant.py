"""DEC Theorem 14: what one layer does to a cluster that has not collapsed.

Batches hold points as rows ``(n, k)``, the odd one first. Expected distances are in closed form
(:mod:`signallab.decomposed.cluster_distances`); quadrature and draws stand beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from signallab.case import Case
from signallab.decomposed.cluster_distances import (
    image_distances,
    one_layer,
    spread_and_radius,
    squared_distances,
)
from signallab.decomposed.invariant_representation import expected_relations, relu_moment
from signallab.decomposed.near_invariant import from_mean, images, invariant, moment, spread_out
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.activations import relu
from signalprop.limits import LengthMap
from signalprop.random import Stream

__all__ = [
    "chain",
    "closer",
    "contraction",
    "drawn_distances",
    "dropped",
    "expected_size",
    "gain",
    "integer_batches",
    "kernel",
    "largest_product",
    "meets",
    "next_radius",
    "orthogonal",
    "radius",
    "strict_chain",
    "strict_kernel",
]

Radius = Callable[[Any], Any]


def radius(x: Floats) -> float:
    """``R = |x_1 - nu_c|`` of a batch ``(n, k)``.

    >>> round(radius(invariant(2)), 6)
    1.414214
    """
    return float(np.linalg.norm(x[0] - x[1:].mean(axis=0)))


def gain(x: Floats) -> float:
    """The alpha of DEC Theorem 14 for a batch ``(n, k)``.

    >>> round(gain(invariant(2)), 12)
    2.0
    """
    return float(theory.dec_theorem_14_alpha(len(x), radius(x)))


def _far_and_close(x: Floats) -> dict[str, bool]:
    """The two inequalities among the hypotheses of Theorem 14."""
    n, centre = len(x), x[1:].mean(axis=0)
    away = np.linalg.norm(x[1:] - centre, axis=1).max()
    return {"R > n/(n-1)": bool(radius(x) > n / (n - 1)), "close": bool(away < n**-2.0)}


def meets(n: int, keeps: str = "items 1 to 4", stretch: float = 1.5) -> Case:
    """The inequalities that DEC Theorem 14 asks for: ``[n/(n-1), spread]`` below ``[R, 1/n^2]``.

    ``keeps`` says how much of Definition 12 the batch satisfies: "items 1 to 4", "items 1 to 3"
    (the cluster has a spread) or "nothing" (R is ``stretch`` n/(n-1) as well).

    >>> meets(2).left, meets(2).right.round(6)
    (array([2., 0.]), array([1.414214, 0.25    ]))
    """
    rng = Stream(0).child("meets").numpy(n)
    x = invariant(n)
    if keeps != "items 1 to 4":
        away = stretch * n / (n - 1) if keeps == "nothing" else None
        x = spread_out(n, 0.5 / n**2, rng, 3, away)
    spread = np.linalg.norm(x[1:] - x[1:].mean(axis=0), axis=1).max()
    return Case(np.array([n / (n - 1), spread]), np.array([radius(x), n**-2.0]), words=f"n = {n}")


def expected_size(
    x: Floats,
    width: int,
    item: int,
    power: float = 1.0,
    alpha: Callable[[int, float], Any] = theory.dec_theorem_14_alpha,
) -> Case:
    """DEC Theorem 14, items 1 and 2: ``E |x_1'|^power`` or ``E |nu^|^power``, and what is printed.

    The printed norms are 1 and ``1/(n-1)``; the power of theirs stands on the right.

    >>> x = spread_out(4, 0.01, np.random.default_rng(0), 3, 2.0)
    >>> case = expected_size(x, 1, item=1, power=2.0)
    >>> round(case.left, 12), case.right
    (1.0, 1.0)
    """
    n = len(x)
    size = np.sqrt(alpha(n, radius(x))) * np.linalg.norm(from_mean(x)[0 if item == 1 else n])
    printed = 1.0 if item == 1 else 1 / (n - 1)
    left = float(size**power) * moment(width, power)
    return Case(left, printed**power, _far_and_close(x), f"n = {n}, {width} neurons")


def integer_batches(stream: Stream, count: int) -> list[dict[str, Any]]:
    """Return points of :func:`orthogonal`: integer batches ``x`` (n, k) and matrices ``w`` (d, k).

    Matrices have entries of one size, of sizes 1 to 10^8, or some rows of zeros.

    >>> [item["w"].shape[0] for item in integer_batches(Stream(0), 2)]
    [16, 16]
    """
    found = []
    for i in range(count):
        rng = stream.numpy("integers", i)
        n, k = int(rng.integers(2, 12)), int(rng.integers(1, 6))
        x = rng.integers(-99, 100, size=(n, k)).astype(object)
        w = rng.integers(-99, 100, size=(16, k)).astype(object)
        if i % 3 == 1:
            w = w * 10 ** rng.integers(0, 9, size=(16, 1)).astype(object)
        if i % 3 == 2:
            w[rng.integers(0, 16, size=8)] = 0
        found.append({"x": x, "w": w})
    return found


def orthogonal(x: Any, w: Any, of: str = "the image of nu_c") -> Case:
    """DEC Theorem 14, item 3, in integers: ``x_1' . nu^`` (times n^2 (n-1)) and zero.

    Rivals: "the mean of the images" of the cluster in place of the image of its mean, and "no
    recentring".

    >>> x, w = np.array([[3], [0], [1]], dtype=object), np.array([[1], [-1]], dtype=object)
    >>> orthogonal(x, w).left, orthogonal(x, w, "no recentring").left
    (0.0, 27.0)
    """
    n = len(x)
    total = 0 if of == "no recentring" else x.sum(axis=0)
    centred = n * x - total  # n times the points from their mean
    odd = np.maximum(w @ centred[0], 0)
    if of == "the mean of the images":
        centre = np.maximum(w @ centred[1:].T, 0).sum(axis=1)
    else:
        centre = np.maximum(w @ centred[1:].sum(axis=0), 0)
    return Case(float(odd @ centre), 0.0, words=f"n = {n}")


def largest_product(x: Floats, width: int, runs: int, stream: Stream) -> float:
    """The largest ``x_1' . nu^ / (|x_1'| |nu^|)`` over drawn W, in doubles.

    >>> largest_product(invariant(4), 3, 50, Stream(0)) < 1e-12
    True
    """
    y = images(from_mean(x)[[0, -1]], 1.0, width, runs, stream.numpy("products"))
    sizes = np.linalg.norm(y, axis=2).prod(axis=1)
    return float(((y[:, 0] * y[:, 1]).sum(axis=1) / np.where(sizes > 0, sizes, 1)).max())


def _pairs(x: Floats) -> tuple[Floats, Floats]:
    """Squared distances within the cluster and to nu_c: before, and expected after at 2/d."""
    centred = from_mean(x)
    before = squared_distances(centred)
    after = image_distances(before, np.linalg.norm(centred, axis=1))
    i, j = np.triu_indices(len(x), k=1)
    return before[1:, 1:][i, j], after[1:, 1:][i, j]


def contraction(x: Floats, power: float = 0.0, factor: float = 1.0, close: bool = True) -> Case:
    """DEC Theorem 14, item 4: expected squared distances after a layer and ``alpha^power`` before.

    For all pairs of the cluster and its centre that differ; ``close`` asks for spread below 1/n^2.

    >>> x = spread_out(4, 0.01, np.random.default_rng(0), 3, 2.0)
    >>> case = contraction(x)
    >>> bool((case.left < case.right).all())
    True
    """
    before, after = _pairs(x)
    alpha, there = gain(x), before > 0
    hypotheses = _far_and_close(x)
    if not close:
        del hypotheses["close"]
    right = factor * alpha**power * before[there]
    return Case(alpha * after[there], right, hypotheses, f"n = {len(x)}, R = {radius(x):.3g}")


def drawn_distances(x: Floats, width: int, runs: int, stream: Stream) -> tuple[Floats, Floats]:
    """The same by drawn W: squared distances ``(runs, pairs)`` and their expectations ``(pairs,)``.

    Of the points 2 and 3, and of 2 and nu_c; both over the squared distance before.

    >>> drawn_distances(spread_out(4, 0.01, np.random.default_rng(0), 3), 2, 5, Stream(0))[0].shape
    (5, 2)
    """
    centred, alpha = from_mean(x)[[1, 2, -1]], gain(x)
    y = images(centred, alpha, width, runs, stream.numpy("distances"))
    before = squared_distances(centred)
    after = alpha * image_distances(before, np.linalg.norm(centred, axis=1))
    drawn = ((y[:, :1] - y[:, 1:]) ** 2).sum(axis=2) / before[0, 1:]
    return drawn, after[0, 1:] / before[0, 1:]


def dropped(n: int, stream: Stream) -> pd.DataFrame:
    """Theorem 14 with one hypothesis dropped at a time: what each item gives, a row a batch.

    Squared norms of items 1 and 2 (times ``(n-1)^2``) should be 1, the product 0, the last number
    below 1: the largest ratio of squared distances within the cluster, after over before.

    >>> dropped(5, Stream(0)).shape
    (5, 5)
    """
    far, rng = 1.2 * n / (n - 1), stream.numpy("dropped")
    turn = np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, 1]])
    shift = np.array([3.0, 1.0, 0])
    batches = {
        "all inequalities": spread_out(n, 0.9 / n**2, rng, 3, far),
        "no right angle, any norms": spread_out(n, 0.9 / n**2, rng, 3, far) @ turn + shift,
        "a wide cluster": spread_out(n, 0.5, rng, 3, far),
        "R = n/(n-1)": spread_out(n, 0.9 / n**2, rng, 3, n / (n - 1)),
        "R of Definition 12": spread_out(n, 0.9 / n**2, rng, 3),
    }
    rows = []
    for name, x in batches.items():
        first, second, product = expected_relations(x, gain(x), 1)
        before, after = _pairs(x)
        rows.append((name, first, second, product, float((gain(x) * after / before).max())))
    return pd.DataFrame(rows, columns=["batch", "item 1", "item 2", "item 3", "item 4"])


def next_radius(x: Floats) -> Case:
    """``E |x_1' - nu_c'|^2`` with the gain of Theorem 14, and what its hypothesis asks of it.

    nu_c' is the mean of the new cluster.

    >>> case = next_radius(invariant(3))
    >>> round(case.left, 12), case.right
    (1.25, 2.25)
    """
    n, centred = len(x), x - x.mean(axis=0)
    after = image_distances(squared_distances(centred), np.linalg.norm(centred, axis=1))
    _, apart = spread_and_radius(after)
    return Case(gain(x) * float(apart), (n / (n - 1)) ** 2, words=f"n = {n}")


def closer(x: Floats, mended: bool = False, gain: Radius = theory.dec_theorem_13_alpha) -> Case:
    """Before Theorem 14: is the expected spread over R^2 smaller after a layer than before?

    ``mended``: it is larger, by at most the ``gain`` of Theorem 13.

    >>> case = closer(spread_out(10, 0.001, np.random.default_rng(0), 4))
    >>> bool(case.left > case.right)
    True
    """
    squared, n = squared_distances(x), len(x)
    spread, apart = spread_and_radius(squared)
    before, after = float(spread / apart), float(spread_and_radius(one_layer(squared))[0])
    away = np.sqrt(before) * n**2
    words = f"n = {n}, spread {away:.2g} over n^2"
    if mended:
        return Case(np.array([before, after]), np.array([after, gain(n) * before]), words=words)
    return Case(after, before, words=words)


def kernel(
    x: Any, y: Any, width: int, sigma: float, of: Callable[[Any], Any] = theory.dec_kernel
) -> Case:
    """DEC Eq. 111: ``E ReLU(W x) . ReLU(W y)`` by quadrature in the plane, and K(x, y).

    >>> case = kernel([1.0, 0.0], [1.0, 1.0], 3, 0.5)
    >>> bool(abs(case.left - case.right) < 1e-12)
    True
    """
    a, b = float(np.linalg.norm(x)), float(np.linalg.norm(y))
    rho = float(np.clip(np.dot(x, y) / (a * b), -1, 1))
    left = LengthMap(relu, weight_variance=width * sigma**2).covariance(a**2, b**2, rho)
    return Case(float(left), float(width * sigma**2 * a * b / 2 * of(rho)), words=f"rho {rho:.3g}")


def strict_kernel(x: Any, y: Any, mended: bool = False) -> Case:
    """``K(x, y) > x . y`` at sigma^2 = 2/d, as truth values: is it so, and should it be so?

    Printed: for all x != y; ``mended``: unless one is a non-negative multiple of the other.
    Integer vectors ``(k,)``, so that this is decided exactly.

    >>> strict_kernel(np.array([1, 2]), np.array([2, 4])).left, strict_kernel([1, 0], [0, 1]).left
    (0.0, 1.0)
    """
    x, y = np.asarray(x), np.asarray(y)
    a, b = np.linalg.norm(x), np.linalg.norm(y)
    rho: Any = float(np.clip(x @ y / (a * b), -1, 1)) if a * b else 1.0
    excess = float(theory.dec_kernel(rho)) - rho
    should = not _same_direction(x, y) if mended else not np.array_equal(x, y)
    return Case(float(a * b > 0 and excess > 1e-9), float(should), words=f"x = {x}, y = {y}")


def _same_direction(x: Any, y: Any) -> bool:
    """Whether integer vectors are non-negative multiples of each other, exactly."""
    return bool(x @ y >= 0 and (x @ y) ** 2 == (x @ x) * (y @ y))


def chain(x: Any, of: Callable[[Any], Any] = theory.dec_kernel) -> Case:
    """DEC (112) to (117) at sigma^2 = 2/d for the points 2 and 3: the equations, side by side.

    (112) = (113); (113) = (114), where squared norms become expectations, by quadrature; and (115)
    = (116), where K stands for an expected product, by quadrature in the plane.

    >>> case = chain(np.array([[9, 0], [1, 2], [2, 1]]))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    centred = np.asarray(x - x.mean(axis=0), dtype=float)[1:3]
    (a, b), inner = np.linalg.norm(centred, axis=1), float(centred[0] @ centred[1])
    apart = float(((x[1] - x[2]) ** 2).sum())
    means = 2 * (relu_moment(a, 2) + relu_moment(b, 2))
    rho = float(np.clip(inner / (a * b), -1, 1))
    product = float(LengthMap(relu, weight_variance=2.0).covariance(a**2, b**2, rho))
    left = [apart, a**2 + b**2 - 2 * inner, means - 2 * product]
    right = [a**2 + b**2 - 2 * inner, means - 2 * inner, means - 2 * a * b * float(of(rho))]
    return Case(np.array(left), np.array(right), words=f"n = {len(x)}")


def strict_chain(x: Any, mended: bool = False) -> Case:
    """DEC (112) > (116), and so the first "<" of the last display, as truth values.

    Integer batches ``(n, k)``; points 2 and 3 differ. ``mended``: unless both lie in one direction
    from the mean.

    >>> strict_chain(np.array([[9, 0], [1, 2], [2, 1]])).left
    1.0
    """
    shifted = len(x) * x - x.sum(axis=0)
    lengths = np.linalg.norm(shifted[1:3].astype(float), axis=1)
    apart = ((shifted[1] - shifted[2]).astype(float) ** 2).sum()
    after = image_distances(np.array([[0, apart], [apart, 0]]), lengths)[0, 1]
    should = not _same_direction(shifted[1], shifted[2]) if mended else apart > 0
    return Case(float(after < apart * (1 - 1e-9)), float(should), words=f"n = {len(x)}")
