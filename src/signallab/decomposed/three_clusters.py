"""Rows of three clusters in DEC's tree, and the limits that Theorem 11 bounds (DEC App. E).

A row of three clusters has ``sizes`` (p, r, q), from the lowest points to the highest, and
``heights`` (0, b, c). Rows descend from it in integers (:mod:`.finite_time_stability`), whole
trees in :class:`signalprop.clusters.ClusterTree`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from signallab.case import Case
from signallab.decomposed.finite_time_stability import children
from signallab.decomposed.two_clusters import stable
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.clusters import ClusterTree, gram_angles, gram_norms
from signalprop.random import Stream

__all__ = [
    "all_rows",
    "always",
    "angle_bound",
    "as_many_odd",
    "beside_network",
    "child_composition",
    "circle",
    "cosines",
    "draw",
    "end_norms",
    "equation_61",
    "equation_62",
    "from_85",
    "inner_products",
    "kinds_of_children",
    "middle_sizes",
    "network_ends",
    "norm_bound",
    "norms",
    "of_order_n",
    "persisting",
    "positive_sums",
    "ratio_formula",
    "reaches_outer",
    "small_splits",
    "squared_bound",
    "step_67",
    "step_85",
    "theta",
    "top_after",
    "unless_at_mean",
]

Sizes = tuple[int, int, int]
Heights = tuple[int, int, int]


def all_rows(points: int, height: int) -> list[dict[str, Any]]:
    """Return every row of three clusters with up to ``points`` points and integer heights.

    The lowest cluster is at zero, the highest at ``height`` or below.

    >>> all_rows(3, 2)
    [{'sizes': (1, 1, 1), 'heights': (0, 1, 2)}]
    """
    return [
        {"sizes": (p, m - p, n - m), "heights": (0, b, c)}
        for n in range(3, points + 1)
        for p, m in combinations(range(1, n), 2)
        for b, c in combinations(range(1, height + 1), 2)
    ]


def _row(sizes: Sizes, heights: Heights) -> tuple[int, ...]:
    return tuple(h for size, h in zip(sizes, heights, strict=True) for _ in range(size))


def always(sizes: Sizes, heights: Heights) -> list[int]:
    """Clusters of the two children as DEC's Fig. 8 says it: three and two."""
    return [2, 3]


def unless_at_mean(sizes: Sizes, heights: Heights) -> list[int]:
    """The same, and two each where the middle entry is the mean: ``p b = q (c - b)``."""
    (p, _, q), (_, b, c) = sizes, heights
    return [2, 2] if p * b == q * (c - b) else [2, 3]


def kinds_of_children(
    sizes: Sizes, heights: Heights, *, expected: Callable[[Sizes, Heights], list[int]] = always
) -> Case:
    """DEC Fig. 8: numbers of clusters of the two children of a row of three, and ``expected``.

    >>> kinds_of_children((2, 1, 1), (0, 1, 3)).left.tolist()
    [2, 2]
    """
    found = sorted(len(set(child)) for child in children(_row(sizes, heights)))
    words = f"sizes {sizes}, heights {heights}"
    return Case(np.array(found), np.array(expected(sizes, heights)), words=words)


def middle_sizes(values: Sequence[Any], later: int, place: int = 1) -> Case:
    """DEC App. E: sizes of the middle clusters of all rows of three; one point each.

    >>> middle_sizes([0, 1, 5, 6], 2).left.tolist()
    [1.0, 1.0]
    """
    rows = stable(values).after(later).rows
    sizes = [float(row[place][0]) for row in rows if len(row) == 3]
    return Case(np.array(sizes), np.ones(len(sizes)), words=f"n = {len(values)}")


def persisting(values: Sequence[Any], layers: int, fewer: int = 0) -> Case:
    """Rows of three clusters ``layers`` below t_0, and as many as at t_0, less ``fewer``.

    >>> persisting([0, 1, 2, 3], 2)
    Case(left=0, right=2, hypotheses={}, words='[0, 1, 2, 3], 2 layers on', where={})
    """
    tree = stable(values)
    left, right = (sum(t.rows.values()) for t in (tree.after(layers), tree))
    return Case(left, right - fewer, words=f"{list(values)}, {layers} layers on")


def reaches_outer(
    sizes: Sizes,
    heights: Heights,
    layers: int,
    *,
    single: Callable[[int, int], bool] = lambda p, q: p == 1 or q == 1,
) -> Case:
    """DEC App. E: whether rows split after 1 or n - 1 descend, and whether an end is one point.

    >>> case = reaches_outer((2, 1, 2), (0, 1, 3), 20)
    >>> case.left, case.right
    (0, 0)
    """
    tree = ClusterTree.start(_row(sizes, heights)).after(layers)
    outer = tree.count[0].sum() + tree.count[-1].sum()
    right = int(single(sizes[0], sizes[2]))
    return Case(int(outer > 0), right, words=f"sizes {sizes}, heights {heights}")


def child_composition(sizes: Sizes, heights: Heights, *, by_place: bool = False) -> Case:
    """DEC App. E: "two clusters, with composition (n - 1, 1) or (2, n - 2)", for the child of two.

    Left is how far its first number is from the nearer of n - 1 and 2, right is 0. The first
    number counts the zero cluster, or with ``by_place`` the lower points.

    >>> child_composition((1, 1, 4), (0, 1, 9)).left
    0
    """
    row = _row(sizes, heights)
    (two,) = [child for child in children(row) if len(set(child)) == 2]
    first = two.count(two[0]) if by_place else two.count(0)
    off = min(abs(first - (len(row) - 1)), abs(first - 2))
    return Case(off, 0, words=f"sizes {sizes}, heights {heights}")


def top_after(
    sizes: Sizes,
    heights: Heights,
    layers: int,
    *,
    factor: Callable[[int], float] = lambda n: (n - 1) / n,
) -> Case:
    """DEC App. E: the top of the row that keeps three clusters, relative to c, and its bound.

    The bound is ``factor(n)**layers``; the document's factor is ``(n - 1)/n``.

    >>> case = top_after((3, 1, 1), (0, 4, 5), 1)
    >>> case.left, case.right
    (0.64, 0.8)
    """
    row, n = _row(sizes, heights), sum(sizes)
    for _ in range(layers):
        row = max(children(row), key=lambda child: len(set(child)))
    kept = len(set(row)) == 3
    top = Fraction(max(row), heights[2] * n**layers) if kept else Fraction(0)
    words = f"sizes {sizes}, heights {heights}, T = {layers}"
    return Case(float(top), factor(n) ** layers, words=words)


def equation_61(batch: int, layers: int) -> Fraction:
    """The sum of DEC Eq. 61 at c = 1, exactly.

    >>> equation_61(4, 2)
    Fraction(9, 64)
    """
    n = batch
    u, g = Fraction(n - 1, n) ** 2, Fraction(2, n) ** 2 + Fraction(n - 2, n) ** 2
    total = sum((u**s * g ** (layers - 1 - s) for s in range(1, layers)), Fraction(0))
    return Fraction(n - 2, n) ** 2 * total


def equation_62(
    batch: int, layers: int, *, rest: Callable[[int], int] = lambda n: 2 * n - 7, power: int = 2
) -> Case:
    """DEC Eq. 61 and its bound, Eq. 62, in which ``rest`` is the denominator.

    >>> case = equation_62(3, 2)
    >>> case.left > 0 > case.right
    True
    """
    n = batch
    bound = Fraction(n - 2, n) ** 2 * Fraction((n - 1) ** power, rest(n))
    right = float(bound * Fraction(n - 1, n) ** (2 * (layers - 1)))
    return Case(float(equation_61(n, layers)), right, words=f"n = {n}, T = {layers}")


def small_splits(sizes: Sizes, heights: Heights, layers: int, part: float = 1.0) -> Case:
    """What rows split after 2 or n - 2 give to a point's squared norm, and ``part`` of Eq. 61.

    >>> case = small_splits((1, 1, 2), (0, 1, 9), 2)
    >>> 0 < case.left < case.right
    True
    """
    tree = ClusterTree.start(_row(sizes, heights)).after(layers)
    most = max(max(tree.energy[1]), max(tree.energy[-2]))
    n = sum(sizes)
    words = f"sizes {sizes}, heights {heights}, T = {layers}"
    left = float(most * tree.scale / heights[2] ** 2)
    return Case(left, part * float(equation_61(n, layers)), words=words)


def _sums(low: Heights, high: Heights, batch: int, layers: int) -> tuple[Any, list[float]]:
    """Gram matrix of all that descends in two clusters from two rows, and A, B, C, D one layer up.

    The rows have sizes (1, 1, n - 2) and (n - 2, 1, 1). What the row that keeps three clusters
    gives to the last layer is taken away. In units of the Gram matrix's trace.
    """
    trees = [
        ClusterTree.start(_row((1, 1, batch - 2), low)).after(layers - 1),
        ClusterTree.start(_row((batch - 2, 1, 1), high)).after(layers - 1),
    ]
    gram: Any = 0
    for tree in trees:
        gram = gram + tree.step().gram()
        for row, number in tree.rows.items():
            points = _row(*zip(*row, strict=True))
            gram = gram - sum(number * np.multiply.outer(k, k) for k in _kids(points))
    energy = sum(tree.energy.sum(axis=1) for tree in trees) * batch**2
    whole = int(np.trace(gram))
    sums = [float(Fraction(int(energy[m]), whole)) for m in (0, -1, 1, -2)]
    return np.array([[float(Fraction(int(g), whole)) for g in line] for line in gram]), sums


def _kids(row: tuple[int, ...]) -> list[Any]:
    return [np.array(child, dtype=object) for child in children(row)]


def norms(low: Heights, high: Heights, batch: int, layers: int, *, four: float = 4.0) -> Case:
    """DEC Eq. 63-65: squared norms of points 3 to n - 2, of point 1 and of point n.

    ``four`` is the weight of C and D in the first. Both sides relative to the sum of all squares.

    >>> case = norms((0, 1, 5), (0, 2, 3), 6, 4)
    >>> bool(abs(case.left - case.right).max() < 1e-12)
    True
    """
    gram, (a, b, c, d) = _sums(low, high, batch, layers)
    n, far, next_far = batch, (batch - 1) ** 2, (batch - 2) ** 2
    inner = [(a + b + four * c + four * d) / n**2] * (n - 4)
    ends = [far * a + b + next_far * c + 4 * d, a + far * b + 4 * c + next_far * d]
    squares = np.diagonal(gram)
    left = np.array([*squares[2:-2], squares[0], squares[-1]])
    return Case(left, np.array(inner + [e / n**2 for e in ends]), words=f"n = {n}, T = {layers}")


def inner_products(
    low: Heights, high: Heights, batch: int, layers: int, *, four: float = 4.0
) -> Case:
    """DEC Eq. 81-82: inner products of points 3 to n - 2 with point 1 and with point n.

    >>> case = inner_products((0, 1, 5), (0, 2, 3), 6, 4)
    >>> bool(abs(case.left - case.right).max() < 1e-12)
    True
    """
    gram, (a, b, c, d) = _sums(low, high, batch, layers)
    n = batch
    right = np.repeat([(b + four * d) / n**2, (a + four * c) / n**2], n - 4)
    left = np.concatenate([gram[2:-2, 0], gram[2:-2, -1]])
    return Case(left, right, words=f"n = {n}, T = {layers}")


def positive_sums(values: Sequence[Any], later: int) -> Case:
    """DEC App. E: A, B, C and D are positive ``later`` layers below t_0: one row of each at least.

    >>> positive_sums([0, 1, 2, 3, 4], 0).right
    0
    """
    count = stable(values).after(later).count.sum(axis=1)
    least = int(min(count[m] for m in (0, -1, 1, -2)))
    return Case(1, least, words=f"{list(values)}, {later} layers below the first stable one")


def ratio_formula(
    values: Sequence[Any], depth: int, *, far: Callable[[int], int] = lambda n: n - 1
) -> Case:
    """DEC Eq. 77-78 for every inner point: squared norms relative to those of both ends.

    Left are the ratios in the exact tree over those of the document, right are ones: the two ratios
    of a lopsided batch differ by a factor of n^2, and each is to be right by itself.

    >>> case = ratio_formula([0, 1, 5, 6, 9, 20], 150)
    >>> bool(abs(case.left - 1).max() < 1e-9)
    True
    """
    n, tree = len(values), ClusterTree.start(values).after(depth)
    r = float(Fraction(int(tree.energy[-1].sum()), int(tree.energy[0].sum())))
    squares = gram_norms(tree.step().gram()) ** 2
    told = [(1 + x) / (far(n) ** 2 + x) for x in (r, 1 / r)]
    found = np.array([squares[1:-1] / squares[0], squares[1:-1] / squares[-1]])
    left = found / np.array(told)[:, None]
    return Case(left, np.ones_like(left), words=f"n = {n}")


def step_67(
    batch: int, a: float, b: float, c: float, d: float, *, factor: float = 4.0, last: bool = False
) -> Case:
    """DEC Eq. 66 and its bound, Eq. 67 (``last``: Eq. 69 and 70); ``factor`` is the printed 4.

    >>> case = step_67(6, 1.0, 1.0, 1.0, 1.0)
    >>> round(case.left, 4), round(case.right, 4)
    (0.2174, 0.4706)
    """
    if last:
        a, b, c, d = b, a, d, c
    n = batch
    left = (a + b + 4 * c + 4 * d) / ((n - 1) ** 2 * a + b + (n - 2) ** 2 * c + 4 * d)
    right = factor * (a + b + c + d) / ((n - 2) ** 2 * (a + c) + (b + d))
    return Case(left, right, words=f"n = {n}")


def step_85(batch: int, a: float, b: float, c: float, d: float, *, factor: float = 4.0) -> Case:
    """DEC Eq. 84 and its bound, Eq. 85; ``factor`` is the printed 4.

    >>> case = step_85(6, 1.0, 1.0, 1.0, 1.0)
    >>> case.left < case.right
    True
    """
    n = batch
    first = (n - 1) ** 2 * a + b + (n - 2) ** 2 * c + 4 * d
    left = (b + 4 * d) / np.sqrt((a + b + 4 * c + 4 * d) * first)
    ratio = (a + c) / (b + d)
    right = factor / np.sqrt((ratio + 1) * ((n - 2) ** 2 * ratio + 1))
    return Case(float(left), float(right), words=f"n = {n}")


def from_85(batch: int, *, constant: float = float(np.sqrt(2) * np.pi)) -> Case:
    """``pi/2 - constant/(n - 2)`` of DEC Eq. 87-88, and the angle that Eq. 85 allows.

    Equal sums are the worst case. A cosine of one or more allows every angle.

    >>> case = from_85(20)
    >>> case.left < case.right
    True
    """
    cosine = min(1.0, 4 / np.sqrt(2 * ((batch - 2) ** 2 + 1)))
    left = theory.dec_theorem_11_angle(batch, constant)
    return Case(float(left), float(np.arccos(cosine)), words=f"n = {batch}")


def cosines(values: Sequence[Any], depth: int, *, printed: bool = False) -> Case:
    """DEC Eq. 91-92: cosines of point 2 with both ends; ``printed`` divides the second by |x_1|.

    >>> case = cosines([0, 1, 5, 6, 9, 20], 150)
    >>> bool(abs(case.left - case.right).max() < 1e-9)
    True
    """
    n, tree = len(values), ClusterTree.start(values).after(depth)
    r = float(Fraction(int(tree.energy[-1].sum()), int(tree.energy[0].sum())))
    gram = tree.step().gram()
    norm, angle = gram_norms(gram), gram_angles(gram)
    left = np.cos([angle[1, 0], angle[1, -1]])
    if printed:
        left[1] *= norm[-1] / norm[0]
    right = [1 / np.sqrt((1 + (n - 1) ** 2 / x) * (1 + 1 / x)) for x in (r, 1 / r)]
    return Case(left, np.array(right), words=f"n = {n}")


def _limits(values: Sequence[Any]) -> tuple[Floats, Floats]:
    """Norms ``(n,)`` and angles ``(n, n)`` so far down that they have reached their limits.

    What is left falls like ``(g_2/g_1)^t``: to some 1e-13 of the whole after these many layers.
    """
    return _far_down(tuple(values))


@cache
def _far_down(values: tuple[Any, ...]) -> tuple[Floats, Floats]:
    gram = ClusterTree.start(values).after(max(150, 16 * len(values))).gram()
    return gram_norms(gram), gram_angles(gram)


def _better_end(norm: Floats) -> float:
    """The largest ratio of an inner norm to the longer of both ends."""
    return float(norm[1:-1].max() / max(norm[0], norm[-1]))


def norm_bound(
    values: Sequence[Any], *, right: Callable[[int], float] = theory.dec_theorem_11_norms
) -> Case:
    """DEC Theorem 11, item 3: the largest limit of an inner norm relative to the better end.

    >>> case = norm_bound([0, 1, 5, 6])
    >>> round(case.left**2, 12), float(case.right)
    (0.2, 1.5)
    """
    norm, _ = _limits(values)
    return Case(_better_end(norm), float(right(len(values))), words=f"n = {len(values)}")


def squared_bound(
    values: Sequence[Any], *, right: Callable[[int], float] = lambda n: 8 / (n - 2) ** 2
) -> Case:
    """DEC Eq. 72-73: the same, squared.

    >>> squared_bound([0, 1, 5, 6]).right
    2.0
    """
    norm, _ = _limits(values)
    return Case(_better_end(norm) ** 2, right(len(values)), words=f"n = {len(values)}")


def angle_bound(
    values: Sequence[Any], *, left: Callable[[int], float] = theory.dec_theorem_11_angle
) -> Case:
    """DEC Theorem 11, item 4: the lower bound, and the limit angle of inner points to one end.

    For each inner point the larger of its two angles, and the smallest of these. The upper bound
    ``pi/2`` stands below: left the larger angle, right ``pi/2``.

    >>> case = angle_bound([0, 1, 5, 6])
    >>> bool((case.left <= case.right).all())
    True
    """
    _, angle = _limits(values)
    larger = np.maximum(angle[1:-1, 0], angle[1:-1, -1])
    n = len(values)
    sides = [left(n), larger.max()], [larger.min(), np.pi / 2]
    return Case(np.array(sides[0]), np.array(sides[1]), words=f"n = {n}")


def end_norms(batches: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Limit norms of both ends, in units of an inner norm: a row for each batch.

    ``odd`` counts those that are longer than n/4.

    >>> end_norms([[0, 1, 5, 6]]).round(6).to_dict("records")
    [{'points': 4, 'first': 2.236068, 'last': 2.236068, 'odd': 2}]
    """
    found = []
    for values in batches:
        norm, _ = _limits(values)
        first, last = norm[[0, -1]] / norm[1]
        n = len(values)
        odd = int(first > n / 4) + int(last > n / 4)
        found.append({"points": n, "first": float(first), "last": float(last), "odd": odd})
    return pd.DataFrame(found)


def circle(values: Sequence[Any], *, extra: float = 1.0) -> Case:
    """In the limit the squared norms of both ends add up to ``(n - 1)^2 + 1`` inner ones.

    >>> case = circle([0, 1, 5, 6])
    >>> round(case.left, 9), case.right
    (10.0, 10.0)
    """
    norm, _ = _limits(values)
    left = float((norm[0] ** 2 + norm[-1] ** 2) / norm[1] ** 2)
    n = len(values)
    return Case(left, (n - 1) ** 2 + extra, words=f"n = {n}")


def theta(values: Sequence[Any], *, least: float = 1.0, most: float = 1.0) -> Case:
    """The longer end, in inner norms, lies between ``sqrt(((n - 1)^2 + 1)/2)`` and ``n - 1``.

    ``least`` and ``most`` change the two bounds.

    >>> case = theta([0, 1, 5, 6])
    >>> case.left.round(6).tolist(), case.right.round(6).tolist()
    ([2.236068, 2.236068], [2.236068, 3.0])
    """
    norm, _ = _limits(values)
    ratio, n = 1 / _better_end(norm), len(values)
    sides = [least * np.sqrt(((n - 1) ** 2 + 1) / 2), ratio], [ratio, most * (n - 1)]
    return Case(np.array(sides[0]), np.array(sides[1]), words=f"n = {n}")


def network_ends(batches: Sequence[Sequence[Any]], depth: int) -> pd.DataFrame:
    """Norms of a network of infinite width, in units of their median: both ends, and the longest.

    Gaussian weights, recentring and ReLU, ``depth`` layers; batches of one size.

    >>> network_ends([[0, 1, 5, 6]], 300).round(6).iloc[0].tolist()
    [4.0, 1.0, 1.0, 1.0, 1.0]
    """
    x = np.array(batches, dtype=float)
    x = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    gram: Any = x[:, :, None] * x[:, None, :]
    for _ in range(depth):
        gram = theory.dec_infinite_width_map(gram)
    norm = np.sqrt(np.diagonal(gram, axis1=1, axis2=2))
    norm = norm / np.median(norm, axis=1, keepdims=True)
    ordered = np.sort(norm, axis=1)
    columns = {
        "points": x.shape[1],
        "first": norm[:, 0],
        "last": norm[:, -1],
        "longest": ordered[:, -1],
        "second": ordered[:, -2],
    }
    return pd.DataFrame(columns)


def beside_network(
    drawn: Mapping[tuple[str, int], Sequence[Sequence[Any]]], depth: int
) -> pd.DataFrame:
    """Both ends in the tree and in the network, for batches by law and size: a row for each.

    Norms are in units of the inner ones (of the median in the network). ``odd`` counts ends of the
    tree that are longer than n/4, the last columns say so of the network.

    >>> found = beside_network({("equal gaps", 5): [[0, 1, 2, 3, 4]]}, 300)
    >>> found[["odd", "network two odd", "network none odd"]].values.tolist()
    [[2, False, True]]
    """
    frames = []
    for (law, n), batches in drawn.items():
        tree, network = end_norms(batches), network_ends(batches, depth)
        theirs = {name: f"{name} of network" for name in network if name in tree}
        frame = tree.assign(law=law).join(network.drop(columns="points").rename(columns=theirs))
        frame["network two odd"] = network["second"] > n / 4
        frame["network none odd"] = network["longest"] <= n / 4
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def of_order_n(points: int, longest: float, *, least: float = 0.5, **_: Any) -> Case:
    """The longest vector, in units of the median norm, lies between ``least`` n and n.

    >>> of_order_n(4, 3.0).left.tolist(), of_order_n(4, 3.0).right.tolist()
    ([2.0, 3.0], [3.0, 4.0])
    """
    left, right = [least * points, longest], [longest, float(points)]
    return Case(np.array(left), np.array(right), words=f"n = {points}")


def as_many_odd(points: int, odd: int, longest: float, second: float, **_: Any) -> Case:
    """Vectors of a network that are longer than n/4 median norms, and ``odd``, those of the tree.

    >>> case = as_many_odd(points=8, odd=2, longest=7.0, second=1.0)
    >>> case.left, case.right
    (1, 2)
    """
    return Case(sum(norm > points / 4 for norm in (longest, second)), odd, words=f"n = {points}")


def draw(law: str, n: int, count: int, stream: Stream) -> list[list[float]]:
    """Return ``count`` ascending batches of n numbers, "Gaussian", "uniform" or "log-normal".

    >>> [len(batch) for batch in draw("uniform", 3, 2, Stream(0))]
    [3, 3]
    """
    rng = stream.numpy(f"{law} {n}")
    x = rng.uniform(size=(count, n)) if law == "uniform" else rng.normal(size=(count, n))
    if law == "log-normal":
        x = np.exp(x)
    batches: list[list[float]] = np.sort(x, axis=1).tolist()
    return batches
