"""Rows of two clusters in DEC's tree, and what they make of a batch far down (DEC App. D).

A row holds one number for each of n points, the points ascending. It is *split after m* if the m
smallest points are one cluster and the rest the other; one of the two is at zero. Rows are followed
literally, in fractions; whole trees by :class:`signalprop.clusters.ClusterTree`, in integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from signallab.case import Case
from signalprop import theory
from signalprop.clusters import ClusterTree, gram_angles, gram_norms
from signalprop.random import Stream

__all__ = [
    "BATCHES",
    "angle_bound",
    "angle_formula",
    "batch",
    "branches",
    "children",
    "contribution",
    "domination",
    "equation_39",
    "equation_59",
    "evolution",
    "extremes",
    "far_end",
    "layers_until",
    "left_first",
    "merging",
    "merging_rate",
    "norm_bound",
    "norm_formula",
    "outer_rows",
    "relative_angles",
    "same_cluster",
    "split_shares",
    "stable",
    "zero_first",
]

Row = tuple[Fraction, ...]
Sums = tuple[float, float]

BATCHES = ("squares", "powers of two", "equally spaced", "Gaussian")


def batch(kind: str, n: int, stream: Stream) -> list[Any]:
    """Return n ascending numbers, one of :data:`BATCHES`.

    >>> batch("squares", 4, Stream(0))
    [1, 4, 9, 16]
    """
    if kind == "Gaussian":
        values: list[Any] = np.sort(stream.numpy(f"batch {n}").normal(size=n)).tolist()
        return values
    return [
        {"squares": i * i, "powers of two": 2**i, "equally spaced": i}[kind]
        for i in range(1, n + 1)
    ]


def children(row: Sequence[Fraction]) -> tuple[Row, Row]:
    """Return the positive and the negative transformation of a row (DEC Def. 5), exactly.

    >>> [[int(x) for x in child] for child in children([Fraction(x) for x in (0, 1, 5)])]
    [[0, 0, 3], [2, 1, 0]]
    """
    mean = sum(row, Fraction(0)) / len(row)
    zero = Fraction(0)
    return tuple(max(x - mean, zero) for x in row), tuple(max(mean - x, zero) for x in row)


def branches(zero: int, positive: int, depth: int, *, before: bool = False) -> Case:
    """DEC Eq. 36-38: heights after all ``2**depth`` sequences of transformations, from height 1.

    Left are the heights of the literal rows, below them the sizes of their zero clusters. Right
    is what the document says, ``(n_0/n)^k ((n - n_0)/n)^(T - k)``: k counts the transformations
    after which the zero cluster has n_0 points. ``before`` counts those before which it has.

    >>> case = branches(2, 3, 1)
    >>> case.left.tolist(), case.right.tolist()
    ([[0.4, 0.6], [2.0, 3.0]], [[0.4, 0.6], [2.0, 3.0]])
    """
    n = zero + positive
    rows: list[Row] = [(Fraction(0),) * zero + (Fraction(1),) * positive]
    told = [(0, zero)]  # k, and the size of the zero cluster
    for _ in range(depth):
        rows = [child for row in rows for child in children(row)]
        told = [
            (k + ((now if before else then) == zero), then)
            for k, now in told
            for then in (now, n - now)
        ]
    height = [Fraction(zero, n) ** k * Fraction(positive, n) ** (depth - k) for k, _ in told]
    left = [[float(max(row)) for row in rows], [row.count(Fraction(0)) for row in rows]]
    right = [[float(value) for value in height], [size for _, size in told]]
    return Case(np.array(left), np.array(right, dtype=float), words=f"({zero}, {positive})")


def evolution(row: Sequence[int]) -> pd.DataFrame:
    """Two layers below a row, as DEC's Fig. 7 and 8 draw them: a line for each cluster.

    >>> evolution([0, 0, 1, 1, 1]).query("layer == 1")["height"].tolist()
    [0.0, 0.4, 0.0, 0.6]
    """
    rows: dict[str, Row] = {"": tuple(Fraction(value) for value in row)}
    found = []
    for layer in range(3):
        for path, values in rows.items():
            for height in sorted(set(values)):
                points = [i + 1 for i, value in enumerate(values) if value == height]
                found.append(
                    {
                        "layer": layer,
                        "transformations": path,
                        "height": float(height),
                        "points": " ".join(map(str, points)),
                        "mean": float(sum(values) / len(values)),
                    }
                )
        rows = {
            path + sign: child
            for path, values in rows.items()
            for sign, child in zip("+-", children(values), strict=True)
        }
    return pd.DataFrame(found)


def contribution(
    batch: int,
    size: int,
    layers: int,
    *,
    positive: bool,
    formula: Callable[[int, int, int], Any] = theory.dec_contribution,
) -> Case:
    """DEC Eq. 40: what a row gives to the squared norm of a point in its cluster of ``size``.

    Left is the sum of squares over all ``2**layers`` literal rows. ``positive`` says that the
    cluster is the one at height 1 at the start: the document's formula is the same for both.

    >>> case = contribution(4, 3, 2, positive=True)
    >>> case.left, case.right
    (0.0390625, 0.0390625)
    """
    ours, theirs = Fraction(int(positive)), Fraction(int(not positive))
    rows: list[Row] = [(ours,) * size + (theirs,) * (batch - size)]
    for _ in range(layers):
        rows = [child for row in rows for child in children(row)]
    exact = float(sum((row[0] ** 2 for row in rows), Fraction(0)))
    right = float(formula(batch, size, layers))
    return Case(exact, right, words=f"n = {batch}, {size} points, T = {layers}")


def equation_39(batch: int, size: int, layers: int, *, power: int = 1) -> Case:
    """The sum of DEC Eq. 39 beside its closed form, Eq. 40, both at height 1.

    ``power`` is what T is lessened by in the exponent of the closed form.

    >>> case = equation_39(4, 3, 3)
    >>> case.left == case.right == 25 / 1024
    True
    """
    away, near = Fraction(batch - size, batch), Fraction(size, batch)
    total = sum(
        comb(layers - 1, k) * away ** (2 * (layers - k)) * near ** (2 * k) for k in range(layers)
    )
    closed = away**2 * (away**2 + near**2) ** (layers - power)
    return Case(float(total), float(closed), words=f"n = {batch}, T = {layers}")


def domination(batch: int, split: int = 1) -> Case:
    """The largest growth factor of all splits but ``split`` and n - ``split``, beside theirs.

    >>> case = domination(5)
    >>> case.left < case.right
    True
    """
    others = [m for m in range(1, batch) if m not in (split, batch - split)]
    largest = max((float(theory.dec_growth(batch, m)) for m in others), default=0.0)
    return Case(largest, float(theory.dec_growth(batch, split)), words=f"n = {batch}")


def same_cluster(batch: int, last: int = -1) -> Case:
    """DEC Eq. 41-42: of the splits 1 and n - 1, how many have points i and j in one cluster.

    One number for each pair in {2, ..., n + ``last``}; beside it 2, all of them.

    >>> same_cluster(4).left.tolist(), same_cluster(4, last=0).left.tolist()
    ([2, 2, 2], [2, 2, 1, 2, 1, 2])
    """
    points = range(2, batch + last + 1)
    pairs = [(i, j) for i in points for j in points if i <= j]
    left = [sum((i <= m) == (j <= m) for m in (1, batch - 1)) for i, j in pairs]
    return Case(np.array(left), np.full(len(pairs), 2.0), words=f"n = {batch}")


def stable(values: Sequence[Any]) -> ClusterTree:
    """Return the first layer, 1 or below, whose rows have three clusters at most (DEC's t_0).

    >>> stable([0, 1, 5, 6]).layer
    1
    """
    tree = ClusterTree.start(values).step()
    while tree.most_clusters > 3:
        tree = tree.step()
    return tree


def outer_rows(values: Sequence[Any], later: int = 0) -> Case:
    """At least one row is split after 1 or n - 1, ``later`` layers below the first stable layer.

    >>> outer_rows([0, 1, 5, 6]).right, outer_rows([0, 1, 5, 6], later=3).right
    (0, 2)
    """
    tree = stable(values)
    words = f"{list(values)}, layer {tree.layer + later}"
    count = tree.after(later).count
    return Case(1, int(count[0].sum() + count[-1].sum()), words=words)


def zero_first(energy: Any) -> Sums:
    """Sums S_1, S_2 under the other reading of "composition": first the zero cluster.

    ``energy[m - 1, side]`` as in :class:`ClusterTree`. A zero cluster of one point is the lowest
    (side 0 of split 1) or the highest (side 1 of split n - 1).

    >>> zero_first(np.array([[1, 10], [100, 1000]], dtype=object))
    (1001.0, 110.0)
    """
    return float(energy[0, 0] + energy[-1, 1]), float(energy[0, 1] + energy[-1, 0])


def left_first(energy: Any) -> Sums:
    """Sums S_1, S_2 of squared heights over the rows split after 1 and after n - 1.

    >>> left_first(np.array([[1, 10], [100, 1000]], dtype=object))
    (11.0, 1100.0)
    """
    return float(energy[0].sum()), float(energy[-1].sum())


def norm_formula(
    values: Sequence[Any],
    depth: int,
    layers: int = 1,
    *,
    sums: Callable[[Any], Sums] = left_first,
    growth: Callable[[int, int], Any] = theory.dec_growth,
) -> Case:
    """DEC Eq. 45-47: squared norms of x_1, of all inner points and of x_n, ``layers`` further down.

    Left are quotients, of what the exact tree has and what the document says, right are ones: an
    inner norm is some n^2 times smaller than the largest, and would count for nothing beside it.
    The sums are read off at layer ``depth``.

    >>> case = norm_formula([0, 1, 5], 60)
    >>> bool(abs(case.left - 1).max() < 1e-6)
    True
    """
    n = len(values)
    tree = ClusterTree.start(values).after(depth)
    whole = tree.energy[0].sum() + tree.energy[-1].sum()
    below = tree.after(layers)
    grains = n ** (2 * layers)
    exact = [float(Fraction(int(g), int(whole) * grains)) for g in np.diagonal(below.gram())]
    s1, s2 = sums(_shares(tree.energy, whole))
    first, inner, last = theory.dec_tree_norms(n, s1, s2)
    factor = float(growth(n, 1)) ** (layers - 1)
    printed = np.array([first, *[inner] * (n - 2), last]) * factor
    return Case(np.array(exact) / printed, np.ones(n), words=f"n = {n}")


def _shares(energy: Any, whole: Any) -> Any:
    """Energies relative to ``whole``: integers of any size to doubles."""
    return np.array([[float(Fraction(int(e), int(whole))) for e in row] for row in energy])


def angle_formula(
    values: Sequence[Any],
    depth: int,
    *,
    formula: Callable[[int, float, float], tuple[float, float]] = theory.dec_tree_angles,
) -> Case:
    """DEC Eq. 56, 58: angles of every inner point to x_1 and to x_n, one layer below ``depth``.

    >>> case = angle_formula([0, 1, 5], 60)
    >>> bool(abs(case.left - case.right).max() < 1e-6)
    True
    """
    n = len(values)
    tree = ClusterTree.start(values).after(depth)
    whole = tree.energy[0].sum() + tree.energy[-1].sum()
    angles = gram_angles(tree.step().gram())[1:-1]
    told = formula(n, *left_first(_shares(tree.energy, whole)))
    right = np.repeat(np.array(told)[:, None], n - 2, axis=1)
    return Case(np.array([angles[:, 0], angles[:, -1]]), right, words=f"n = {n}")


def norm_bound(
    batch: int, ratio: float, *, right: Callable[[int], float] = lambda n: 2 / (n - 1) ** 2
) -> Case:
    """DEC Eq. 51-52: the smaller of ``|x_i|^2 / |x_1|^2`` and ``|x_i|^2 / |x_n|^2``, and its bound.

    From Eq. 45-47 with ``S_2 / S_1 = ratio``.

    >>> case = norm_bound(5, 1.0)
    >>> round(case.left * 17, 12), case.right
    (2.0, 0.125)
    """
    first, inner, last = theory.dec_tree_norms(batch, 1.0, ratio)
    return Case(inner / max(first, last), right(batch), words=f"n = {batch}, ratio {ratio:g}")


def angle_bound(
    batch: int,
    ratio: float,
    *,
    left: Callable[[int], float] = lambda n: np.pi / 2 - np.pi / (2 * np.sqrt(2) * (n - 1)),
) -> Case:
    """DEC Eq. 59-60: a bound from below, and the larger of the angles to x_1 and to x_n.

    From Eq. 56 and 58 with ``S_2 / S_1 = ratio``.

    >>> case = angle_bound(5, 1.0)
    >>> round(float(case.left), 4), round(case.right, 4)
    (1.2931, 1.3984)
    """
    angles = theory.dec_tree_angles(batch, 1.0, ratio)
    return Case(left(batch), max(angles), words=f"n = {batch}, ratio {ratio:g}")


def equation_59(batch: int, *, slope: float = np.pi / 2) -> Case:
    """DEC Eq. 59: ``pi/2 - slope / (sqrt(2) (n - 1))`` is at most the arc cosine before it.

    >>> case = equation_59(3)
    >>> case.left < case.right
    True
    """
    x = 1 / (np.sqrt(2) * (batch - 1))
    return Case(float(np.pi / 2 - slope * x), float(np.arccos(x)), words=f"n = {batch}")


def extremes(values: Sequence[Any], depth: int, pair: tuple[int, int] = (0, -1)) -> Case:
    """DEC Theorem 11, item 1: the angles of a pair of points at layers 1 to ``depth``; ``pi/2``.

    >>> extremes([0, 1, 5], 2).left.tolist()
    [1.5707963267948966, 1.5707963267948966]
    """
    tree, found, alive = ClusterTree.start(values), [], True
    for _ in range(depth):
        tree = tree.step()
        gram = tree.gram()[np.ix_(pair, pair)]
        alive = alive and gram[0, 0] > 0 and gram[1, 1] > 0
        found.append(gram_angles(gram)[0, 1])
    hypotheses = {"both vectors differ from zero": bool(alive)}
    return Case(np.array(found), np.full(depth, np.pi / 2), hypotheses, f"n = {len(values)}")


def merging(values: Sequence[Any], depth: int, most: float) -> Case:
    """DEC Theorem 11, item 2: the largest angle (degrees) of two inner points, beside ``most``.

    >>> merging([0, 1, 5, 6], 100, 0.1).left < 0.1
    True
    """
    angles = gram_angles(ClusterTree.start(values).after(depth).gram())[1:-1, 1:-1]
    words = f"n = {len(values)}, layer {depth}"
    return Case(float(np.degrees(angles.max())), most, words=words)


def merging_rate(
    values: Sequence[Any],
    depth: int,
    layers: int,
    *,
    rate: Callable[[int], float] = lambda n: (
        float(np.log(theory.dec_growth(n, 1) / theory.dec_growth(n, 2))) / 2
    ),
) -> Case:
    """The rate a layer at which the angle of points 2 and 3 falls, beside half of ``log(g_1/g_2)``.

    Measured between ``depth`` and ``depth + layers``.

    >>> case = merging_rate([i**2 for i in range(8)], 200, 50)
    >>> bool(abs(case.left / case.right - 1) < 1e-3)
    True
    """
    tree = ClusterTree.start(values).after(depth)
    first, last = (gram_angles(t.gram()[1:3, 1:3])[0, 1] for t in (tree, tree.after(layers)))
    n = len(values)
    return Case(float(np.log(first / last)) / layers, rate(n), words=f"n = {n}")


def split_shares(values: Sequence[Any], depth: int) -> pd.DataFrame:
    """Share of each pattern in the sum of squared heights, layer by layer.

    >>> shares = split_shares([1, 2, 4, 8], 40)
    >>> float(shares.query("layer == 40 and rows == 'split 1 or n - 1'")["share"].iloc[0]) > 0.99
    True
    """
    n, tree, found = len(values), ClusterTree.start(values), []
    for layer in range(1, depth + 1):
        tree = tree.step()
        parts = {f"split {m} or n - {m}": 0 for m in range(1, n // 2 + 1)}
        for m in range(1, n):
            parts[f"split {min(m, n - m)} or n - {min(m, n - m)}"] += int(tree.energy[m - 1].sum())
        parts["three clusters or more"] = sum(
            count * max(value for _, value in row) ** 2 for row, count in tree.rows.items()
        )
        whole = sum(parts.values())
        found += [
            {"layer": layer, "rows": rows, "share": float(Fraction(part, whole))}
            for rows, part in parts.items()
        ]
    return pd.DataFrame(found)


def layers_until(values: Sequence[Any], degrees: float, every: int = 10) -> int:
    """The first multiple of ``every`` at which no angle of inner points exceeds ``degrees``.

    >>> layers_until([0, 1, 5, 6], 1.0)
    50
    """
    tree = ClusterTree.start(values)
    while True:
        tree = tree.after(every)
        if np.degrees(gram_angles(tree.gram())[1:-1, 1:-1].max()) <= degrees:
            return tree.layer


def far_end(values: Sequence[Any], depth: int) -> float:
    """The larger of the norms of the first and the last vector, in units of the inner ones'.

    >>> round(far_end([0, 1, 2, 3], 200) ** 2, 12)
    5.0
    """
    norms = gram_norms(ClusterTree.start(values).after(depth).gram())
    return float(max(norms[0], norms[-1]) / norms[len(values) // 2])


def relative_angles(values: Sequence[Any], layers: Sequence[int]) -> pd.DataFrame:
    """Angles (degrees) at some layers: largest of two inner points, and of point 2 to both ends.

    >>> relative_angles([0, 1, 5, 6], [300])["angle"].round(3).tolist()
    [0.0, 77.079, 77.079]
    """
    tree, found = ClusterTree.start(values), []
    for layer in layers:
        tree = tree.after(layer - tree.layer)
        angles = np.degrees(gram_angles(tree.gram()))
        for name, angle in (
            ("two inner points", angles[1:-1, 1:-1].max()),
            ("inner and first", angles[1, 0]),
            ("inner and last", angles[1, -1]),
        ):
            found.append({"layer": layer, "of": name, "angle": float(angle)})
    return pd.DataFrame(found)
