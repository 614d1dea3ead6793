"""Clusters along the branches of DEC's tree, exactly: Definitions 5 to 9, Theorem 10, Appendix C.

A row holds one number for each of n points. Rows are tuples of integers in units of ``1/n**t`` at
layer t, so that equality of entries, which is what clusters are about, is decided exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signalprop.random import Stream

__all__ = [
    "KNOWN",
    "branch",
    "bundle_layers",
    "bundle",
    "centred",
    "child_properties",
    "children",
    "definition_5",
    "draw",
    "equation_31",
    "equation_32",
    "equation_33",
    "equation_35c",
    "equation_35d",
    "equation_35f",
    "evenly_spaced",
    "fewest_and_most",
    "gaps_kept",
    "inner_gap",
    "layer_bound",
    "lemma_7",
    "longest_stretch",
    "mean_between",
    "non_merging",
    "outlasts",
    "persistent",
    "positive_entries",
    "ratio",
    "second_gap",
    "some_positive",
    "stable_from",
    "survey",
    "theorem_10",
    "third_cluster",
    "two_children",
    "until_stable",
]

Row = tuple[int, ...]
Fractions = tuple[Fraction, ...]
Integers = np.ndarray[Any, np.dtype[np.int64]]
LAWS = ("Gaussian", "uniform", "log-normal")

#: Branches without merging that come near the constants of DEC Appendix C: the first two end with a
#: mean near twice the inner gap over n; then two and three negative steps, with and without pauses.
KNOWN: list[dict[str, tuple[int, ...]]] = [
    {"values": (-8016, 2005, 3005, 3006), "signs": (1, 1)},
    {"values": (-3006, -1001, -1, 4008), "signs": (-1, -1)},
    {"values": (-1071, 2018, 2022, 10455), "signs": (-1, -1, -1)},
    {"values": (480, 2418, 2418, 2479, 2569, 12044), "signs": (-1, -1, -1)},
    {"values": (-735, -260, -169, 7787), "signs": (-1, 1, -1)},
]


def centred(values: Row) -> Row:
    """Return n times the row minus its mean: the same branches, from an input of mean zero.

    >>> centred((0, 1, 5))
    (-6, -3, 9)
    """
    return tuple(len(values) * v - sum(values) for v in values)


def children(row: Row) -> tuple[Row, Row]:
    """Return the positive and the negative transformation of a row (DEC Def. 5), n times as large.

    >>> children((0, 1, 5))
    ((0, 0, 9), (6, 3, 0))
    """
    n, total = len(row), sum(row)
    return tuple(max(n * v - total, 0) for v in row), tuple(max(total - n * v, 0) for v in row)


def branch(values: Row, signs: Sequence[int]) -> list[Fractions]:
    """Return the rows of one branch, layer 0 first: ``signs`` are +1 (positive) and -1.

    >>> [[str(v) for v in row] for row in branch((0, 1, 5), (-1, 1))]
    [['0', '1', '5'], ['2', '1', '0'], ['1', '0', '0']]
    """
    rows = [values]
    for sign in signs:
        rows.append(children(rows[-1])[0 if sign > 0 else 1])
    return [tuple(Fraction(v, len(values) ** t) for v in row) for t, row in enumerate(rows)]


def unstable(values: Row) -> Iterator[list[Row]]:
    """Yield, layer by layer, the rows of more than three clusters, as long as there are any.

    Nothing is lost by dropping the others: a stable row has stable children only (Lemma 7).

    >>> [len(rows) for rows in unstable((1, 4, 9, 16, 25))]
    [1, 1]
    """
    rows = [values]
    while rows := [row for row in rows if len(set(row)) > 3]:
        yield rows
        rows = [child for row in rows for child in children(row)]


def stable_from(values: Row) -> int:
    """Return t_0, the first layer of the tree in which every row has at most three clusters.

    >>> stable_from((1, 4, 9, 16, 25)), stable_from((1, 2, 3))
    (2, 0)
    """
    return sum(1 for _ in unstable(values))


def ratio(values: Row) -> Fraction:
    """Return the range of a row over the smallest difference of two different entries.

    >>> str(ratio((0, 3, 10)))
    '10/3'
    """
    ascending = sorted(set(values))
    return Fraction(ascending[-1] - ascending[0], min(b - a for a, b in pairwise(ascending)))


def layer_bound(n: int, ratio: Fraction | float, survivors: float = 3) -> float:
    """Return a layer by which every row is stable: our bound of DEC's t_0, for n >= 4 points.

    ``3 + log(n ratio / 8) / log(n / (n - 3))`` from n = 6 on. Both children of a row have the same
    mean, which is at most ``1 - p/n`` of the row's with p points above it; three points or more
    survive in an unstable child, and where p < 3 two layers together do it. The mean of an unstable
    row exceeds ``2/n`` of the smallest difference in the input. For n < 6 the largest entry takes
    the part of the mean: each layer leaves less than ``(n - 3)/(n - 2)`` of it.

    >>> round(layer_bound(6, 8.0), 3), layer_bound(4, 8.0)
    (5.585, 5.0)
    """
    if n < 6:
        return 2 + math.log(ratio) / math.log((n - 2) / (n - survivors))
    return 3 + math.log(n * ratio / 8) / math.log(n / (n - survivors))


def draw(stream: Stream, n: int, law: str, count: int) -> list[Row]:
    """Return ``count`` inputs of n different integers: Gaussian, uniform or log-normal, rounded.

    >>> len(set(draw(Stream(0), 5, "uniform", 2)[1]))
    5
    """
    if law not in LAWS:
        raise ValueError(f"law must be one of {', '.join(LAWS)}, got {law!r}")
    rng = stream.numpy(f"{law} {n}")
    rows: list[Row] = []
    while len(rows) < count:
        z = rng.random(n) if law == "uniform" else rng.normal(size=n)
        row = tuple(sorted(int(1e9 * v) for v in (np.exp(z) if law == "log-normal" else z)))
        if len(set(row)) == n:
            rows.append(row)
    return rows


def bundle(n: int, doublings: int) -> Row:
    """Return n - 3 low points and three that differ by ``2**-doublings`` of their height.

    The three stay together for as long as positive transformations leave more than that of it.

    >>> bundle(5, 3)
    (0, 1, 8, 9, 10)
    """
    return (*range(n - 3), *(2**doublings + i for i in range(3)))


def definition_5(values: Row, *, swapped: bool = False, scale: float = 1.0) -> Case:
    """DEC Def. 5: both transformations by the library in double precision, and exactly.

    >>> bool(np.allclose(*(lambda case: (case.left, case.right))(definition_5((0, 1, 5)))))
    True
    """
    x = torch.tensor(values, dtype=torch.float64)[:, None]
    library = [scale * sp.clusters.transform(x, sign).ravel().numpy() for sign in (1.0, -1.0)]
    exact = np.array(children(values), dtype=float) / len(values)
    return Case(np.stack(library), exact[::-1] if swapped else exact)


def child_properties(values: Row, *, centre: Callable[[Row], Fraction] | None = None) -> Case:
    """How often a row and its children break what Definition 5 implies; zero is claimed.

    Order kept and reversed; the difference is x minus its mean (or another ``centre``); each child
    has a zero and a positive entry.

    >>> child_properties((0, 1, 5)).left.tolist()
    [0, 0, 0, 0]
    """
    row, n = tuple(sorted(values)), len(values)
    positive, negative = children(row)
    middle = Fraction(sum(row), n) if centre is None else centre(row)
    broken = [
        sum(b < a for a, b in pairwise(positive)) + sum(b > a for a, b in pairwise(negative)),
        sum(p - q != n * (v - middle) for p, q, v in zip(positive, negative, row, strict=True)),
        sum(min(child) != 0 for child in (positive, negative)),
        sum(max(child) == 0 for child in (positive, negative)),
    ]
    return Case(np.array(broken), np.zeros(4), {"x is not constant": len(set(row)) > 1})


def third_cluster(values: Row, layers: int, *, exact: bool = True) -> Case:
    """DEC Def. 6 after ``layers``: entries of the branch that keeps most, and the library's count.

    Where both children have equally many the positive one is followed. ``exact=False`` follows it
    in double precision, with the signs that are right.

    >>> third_cluster((1, 4, 9), 300).left, third_cluster((1, 4, 9), 300, exact=False).left
    (3, 2)
    """
    row, floats = values, torch.tensor(values, dtype=torch.float64)[:, None]
    for _ in range(layers):
        positive, negative = children(row)
        keep = len(set(positive)) >= len(set(negative))
        row = positive if keep else negative
        floats = sp.clusters.transform(floats, 1.0 if keep else -1.0)
    found = len(set(row)) if exact else len(set(floats.ravel().tolist()))
    tree = sp.clusters.ClusterTree.start(values).after(layers)
    return Case(found, tree.most_clusters, words=f"layer {layers}")


def lemma_7(
    stream: Stream, n: int, count: int, of: str, *, by_place: bool = False, fewer: int = 0
) -> Case:
    """DEC Lemma 7 for ``count`` random integer rows of n: clusters after and before a function.

    ``of`` is "positive", "negative" or "a table" (ten random values). ``by_place`` lets the
    function depend on the place, ``fewer`` claims so many fewer clusters.

    >>> case = lemma_7(Stream(0), 4, 50, "a table")
    >>> bool((case.left <= case.right).all())
    True
    """
    rng = stream.numpy(f"rows {n}")
    x = rng.integers(0, 10, size=(count, n))
    if of == "a table":
        y = np.take_along_axis(rng.integers(0, 10, size=(count, 10)), x, axis=1)
    else:
        y = np.maximum((n * x - x.sum(axis=1, keepdims=True)) * (1 if of == "positive" else -1), 0)
    if by_place:
        y = y + np.arange(n)
    return Case(_counts(y), _counts(x) - fewer, words=f"n = {n}, {of}")


def two_children(stream: Stream, n: int, count: int, *, hits: int = 1) -> Case:
    """Clusters of both children together: ``c(x) + 2``, less one if the mean is an entry of x.

    >>> case = two_children(Stream(0), 4, 50)
    >>> bool((case.left == case.right).all())
    True
    """
    x = stream.numpy(f"rows {n}").integers(0, 10, size=(count, n))
    x = x[x.min(axis=1) < x.max(axis=1)]
    centred = n * x - x.sum(axis=1, keepdims=True)
    both = _counts(np.maximum(centred, 0)) + _counts(np.maximum(-centred, 0))
    return Case(both, _counts(x) + 2 - hits * (centred == 0).any(axis=1), words=f"n = {n}")


def _counts(rows: Integers) -> Integers:
    ascending = np.sort(rows, axis=1)
    result: Integers = 1 + (np.diff(ascending, axis=1) != 0).sum(axis=1)
    return result


def fewest_and_most(values: Row, layers: int, fewest: int = 2, most: int = 3) -> Case:
    """DEC Def. 8 and the text before it: clusters of the rows of layer ``layers``, two to three.

    All rows are followed one by one, equal ones once: ``fewest`` and the largest number found,
    beside the smallest found and ``most``.

    >>> case = fewest_and_most((1, 4, 9, 16, 25), 5)
    >>> case.left.tolist(), case.right.tolist()
    ([2, 3], [2, 3])
    """
    rows = {values}
    for _ in range(layers):
        rows = {_reduced(child) for row in rows for child in children(row)}
    counts = [len(set(row)) for row in rows]
    return Case(np.array([fewest, max(counts)]), np.array([min(counts), most]), {}, str(values))


def _reduced(row: Row) -> Row:
    divisor = math.gcd(*row) or 1
    return tuple(v // divisor for v in row)


def longest_stretch(
    values: Row, bound: Callable[[int, Fraction], float] = layer_bound, *, strictly: bool = True
) -> Case:
    """DEC Def. 9: the most layers that an unstable row takes until all rows below have fewer.

    ``strictly=False`` reads "more clustered" as no more clusters, which is so from the start.

    >>> longest_stretch((0, 1000, 1001, 1002)).left
    5
    """
    rows, longest = [(values, 0)], 0
    while rows := [(row, age) for row, age in rows if len(set(row)) > 3]:
        longest = max(longest, *(age for _, age in rows))
        rows = [
            (child, age + 1 if len(set(child)) == len(set(row)) else 0)
            for row, age in rows
            for child in children(row)
        ]
    left = longest + 1 if strictly else 0
    return Case(left, bound(len(values), ratio(values)), words=f"n = {len(values)}")


def theorem_10(
    values: Row, bound: Callable[[int, Fraction], float] = layer_bound, most: int = 3
) -> Case:
    """DEC Theorem 10: most clusters of any row in the layer of ``bound``, beside 3.

    >>> theorem_10((1, 4, 9, 16, 25)).left
    3
    """
    due = math.ceil(bound(len(values), ratio(values)))
    clusters = 3
    for layer, rows in enumerate(unstable(values)):
        if layer == due:
            clusters = max(len(set(row)) for row in rows)
    return Case(clusters, most, {"entries are distinct": len(set(values)) == len(values)})


def until_stable(
    values: Row,
    bound: Callable[[int, Fraction], float] = layer_bound,
    *,
    ties: bool = False,
) -> Case:
    """Theorem 10 with a number: t_0 and its bound from the number of points and the ratio.

    ``ties`` drops the hypothesis that all entries are distinct.

    >>> case = until_stable((0, 1000, 1001, 1002))
    >>> case.left, round(case.right, 2)
    (5, 11.97)
    """
    distinct = {} if ties else {"entries are distinct": len(set(values)) == len(values)}
    right = bound(len(values), ratio(values))
    return Case(stable_from(values), right, distinct, f"n = {len(values)}")


def outlasts(n: int, doublings: int, factor: float = 1.0) -> Case:
    """A lower bound of t_0 for :func:`bundle`: ``doublings log 2 / log(n / (n - 3))``, and t_0.

    >>> case = outlasts(6, 20)
    >>> case.left, case.right
    (20.0, 20)
    """
    left = factor * doublings * math.log(2) / math.log(n / (n - 3))
    return Case(round(left, 9), stable_from(bundle(n, doublings)), words=f"n = {n}")


def bundle_layers(sizes: Sequence[int], doublings: Sequence[int]) -> pd.DataFrame:
    """t_0 of bundles and its bound, against the range over the smallest difference.

    >>> bundle_layers([6], [10])["layers"].round(2).tolist()
    [10.0, 12.59]
    """
    rows = []
    for n in sizes:
        for m in doublings:
            size = ratio(bundle(n, m))
            shared: dict[str, Any] = {"range over smallest difference": float(size)}
            for which, layers in (
                ("first stable layer", stable_from(bundle(n, m))),
                ("our bound", layer_bound(n, size)),
            ):
                rows.append(shared | {"layers": layers, "of": f"{n} points: {which}"})
    return pd.DataFrame(rows)


def survey(stream: Stream, sizes: Sequence[int], inputs: int) -> pd.DataFrame:
    """The first stable layer of random inputs: mean and largest, for each size and law.

    >>> len(survey(Stream(0), [5], 3))
    3
    """
    rows = []
    for n in sizes:
        for law in LAWS:
            layers = [stable_from(row) for row in draw(stream, n, law, inputs)]
            rows.append(
                {
                    "points": n,
                    "inputs": law,
                    "mean first stable layer": float(np.mean(layers)),
                    "largest": max(layers),
                }
            )
    return pd.DataFrame(rows)


def evenly_spaced(sizes: Sequence[int]) -> pd.DataFrame:
    """Rows of three clusters for equally spaced inputs, in the first stable layer and 100 later.

    >>> evenly_spaced([4])["rows of three clusters"].tolist()
    [2]
    """
    rows = []
    for n in sizes:
        values = tuple(range(n))
        first = stable_from(values)
        tree = sp.clusters.ClusterTree.start(values).after(first)
        rows.append(
            {
                "points": n,
                "first stable layer": first,
                "rows of three clusters": sum(tree.rows.values()),
                "100 layers later": sum(tree.after(100).rows.values()),
            }
        )
    return pd.DataFrame(rows)


def persistent(values: Row, more: int = 0, offset: int = 2) -> Case:
    """The rows of three clusters, ``more`` layers after t_0 (library), and ``n - offset``.

    >>> persistent((1, 4, 9, 16, 25)).left
    3
    """
    tree = sp.clusters.ClusterTree.start(values).after(stable_from(values) + more)
    return Case(sum(tree.rows.values()), len(values) - offset, words=f"{values}, {more} layers on")


def non_merging(stream: Stream, tries: int, layers: int = 5) -> list[dict[str, tuple[int, ...]]]:
    """Return branches that keep more than three clusters: points (values, signs) for the proof.

    Inputs are random: some low points, two or more close together above them, one or more on top.
    All branches without merging are taken that end in a negative step after an earlier one, or have
    only positive steps, two at least.

    >>> found = non_merging(Stream(0), 40)
    >>> {len(set(point["values"])) > 3 for point in found}
    {True}
    """
    rng, found = stream.numpy("non-merging"), []
    for _ in range(tries):
        n = int(rng.integers(4, 9))
        k = int(rng.integers(4, n + 1))
        close = 100 * rng.integers(1, 40) + np.sort(rng.choice(200, size=k - 2, replace=False))
        distinct = [0, *close.tolist(), int(close[-1] + rng.integers(1, rng.choice([100, 10_000])))]
        more = rng.choice(distinct, size=n - k).tolist()
        shift = int(rng.integers(-2000, 2000))
        values = tuple(sorted(v + shift for v in distinct + more))
        found += [{"values": values, "signs": signs} for signs in _kept(values, layers)]
    return found


def _kept(values: Row, layers: int) -> list[tuple[int, ...]]:
    """The sequences of signs along which no clusters merge, of the two kinds that are wanted."""
    reached: list[tuple[tuple[int, ...], Row]] = [((), values)]
    wanted = []
    for _ in range(layers):
        reached = [
            ((*signs, sign), child)
            for signs, row in reached
            for sign, child in zip((1, -1), children(row), strict=True)
            if len(set(child)) == len(set(values))
        ]
        wanted += [
            signs
            for signs, _ in reached
            if (signs[-1] < 0 and signs.count(-1) > 1) or (len(signs) > 1 and -1 not in signs)
        ]
    return wanted


def _stretch(values: Row, signs: Sequence[int]) -> tuple[list[Fractions], dict[str, bool]]:
    rows = branch(values, signs)
    counts = {len(set(row)) for row in rows}
    kept = counts == {len(set(values))} and min(counts) > 3
    return rows, {"more than three clusters, none of which merge": kept}


def _mean(row: Fractions) -> Fraction:
    return sum(row, Fraction(0)) / len(row)


def _positive(row: Fractions) -> int:
    return sum(v > 0 for v in row)


def second_gap(row: Fractions, place: int = 2) -> Fraction:
    """Return ``c_3 - c_2`` (DEC Eq. 30), or the difference after another ``place``.

    >>> str(second_gap((Fraction(0), Fraction(1), Fraction(4), Fraction(6))))
    '3'
    """
    clusters = sorted(set(row))
    return clusters[place] - clusters[place - 1]


def inner_gap(row: Fractions, drop: int = 1) -> Fraction:
    """Return the smallest difference of neighbouring clusters, without the lowest and the highest.

    ``drop=0`` leaves only the lowest out.

    >>> str(inner_gap((Fraction(0), Fraction(1), Fraction(4), Fraction(6))))
    '3'
    """
    gaps = [b - a for a, b in pairwise(sorted(set(row)))]
    return min(gaps[1 : len(gaps) - drop])


def equation_31(
    values: Row, signs: Sequence[int], gap: Callable[[Fractions], Fraction] = second_gap
) -> Case:
    """DEC Eq. 31, positive steps: the ``gap`` and n_t at the last layer and at layer 1.

    >>> case = equation_31((0, 20, 21, 22), (1, 1))
    >>> case.left.tolist(), case.right.tolist()
    ([1.0, 3.0], [1.0, 3.0])
    """
    rows, kept = _stretch(values, signs)
    last, early = (np.array([float(gap(row)), _positive(row)]) for row in (rows[-1], rows[1]))
    return Case(last, early, kept | {"positive steps only": -1 not in signs})


def equation_32(
    values: Row,
    signs: Sequence[int],
    factor: int = 1,
    gap: Callable[[Fractions], Fraction] = second_gap,
) -> Case:
    """DEC Eq. 32 at the last layer: ``factor * Delta / n`` and the mean.

    Delta is the ``gap`` of layer 1: ``c_3 - c_2``, as printed, or the smallest inner one.

    >>> case = equation_32((0, 20, 21, 22), (1, 1))
    >>> case.left, case.right
    (0.25, 0.984375)
    """
    rows, kept = _stretch(values, signs)
    delta = gap(rows[1])
    return Case(float(factor * delta / len(values)), float(_mean(rows[-1])), kept)


def equation_33(values: Row, signs: Sequence[int], off: int = 0) -> Case:
    """DEC Eq. 33: the mean of the last layer beside ``1 - n_t/n`` of that before, a positive step.

    ``off`` is added to n_t.

    >>> case = equation_33((0, 20, 21, 22), (1, 1))
    >>> case.left, case.right
    (0.984375, 0.984375)
    """
    rows, kept = _stretch(values, signs)
    share = 1 - Fraction(_positive(rows[-2]) + off, len(values))
    kept |= {"a positive step from layer 1 or below": signs[-1] > 0 and len(signs) > 1}
    return Case(float(_mean(rows[-1])), float(share * _mean(rows[-2])), kept)


def _negative_steps(signs: Sequence[int]) -> tuple[int, int]:
    """t_1 and t_2 of DEC Eq. 34: the last negative step (the last of all) and that before."""
    *_, first, second = [t for t, sign in enumerate(signs, 1) if sign < 0]
    return first, second


def equation_35c(values: Row, signs: Sequence[int], off: int = 0) -> Case:
    """DEC Eq. 35a-c: the mean at t_2 beside ``(1 - n_t/n)(max - mean)`` of the layer before.

    >>> case = equation_35c((0, 33, 34, 103), (-1, -1))
    >>> case.left == case.right
    True
    """
    rows, kept = _stretch(values, signs)
    _, t2 = _negative_steps(signs)
    share = 1 - Fraction(_positive(rows[t2]) + off, len(values))
    before = rows[t2 - 1]
    return Case(float(_mean(rows[t2])), float(share * (max(before) - _mean(before))), kept)


def equation_35d(
    values: Row, signs: Sequence[int], *, strict: bool = True, reverse: bool = False
) -> Case:
    """DEC Eq. 35d: is ``max - mean`` at ``t_2 - 1`` smaller than at t_1? 0 if so, else 1.

    >>> equation_35d((0, 33, 34, 103), (-1, -1)).left
    1
    """
    rows, kept = _stretch(values, signs)
    t1, t2 = _negative_steps(signs)
    late, early = (max(rows[t]) - _mean(rows[t]) for t in (t2 - 1, t1))
    if reverse:
        late, early = early, late
    false = late >= early if strict else late > early
    return Case(int(false), 0, kept, f"{values}, negative steps {t1} and {t2}")


def positive_entries(values: Row, signs: Sequence[int]) -> Case:
    """DEC Eq. 31 with negative steps: n_t at the last layer and at layer 1.

    >>> case = positive_entries((0, 0, 2721, 2776, 10715), (-1, -1))
    >>> case.left, case.right
    (3, 4)
    """
    rows, kept = _stretch(values, signs)
    return Case(_positive(rows[-1]), _positive(rows[1]), kept)


def some_positive(values: Row, signs: Sequence[int], least: int = 3) -> Case:
    """What remains of it: ``least`` and the smallest n_t of all layers from 1 on.

    >>> case = some_positive((0, 0, 2721, 2776, 10715), (-1, -1))
    >>> case.left, case.right
    (3, 3)
    """
    rows, kept = _stretch(values, signs)
    return Case(least, min(_positive(row) for row in rows[1:]), kept)


def mean_between(values: Row, signs: Sequence[int], factor: float = 1.0) -> Case:
    """What chains DEC Eq. 35: the mean at ``t_2 - 1`` beside that at t_1, times ``factor``.

    >>> case = mean_between((-735, -260, -169, 7787), (-1, 1, -1))
    >>> case.left < case.right
    True
    """
    rows, kept = _stretch(values, signs)
    t1, t2 = _negative_steps(signs)
    return Case(float(_mean(rows[t2 - 1])), factor * float(_mean(rows[t1])), kept)


def equation_35f(
    values: Row, signs: Sequence[int], points: float = 2, *, from_layer_1: bool = False
) -> Case:
    """DEC Eq. 35a-f: the mean at t_2 beside ``1 - 2/n`` of that at ``t_1 - 1``.

    ``points`` stands for the 2; ``from_layer_1`` asks for ``t_1 >= 2``.

    >>> case = equation_35f((-3, 0, 1, 3), (-1, -1))
    >>> case.left > case.right
    True
    """
    rows, kept = _stretch(values, signs)
    t1, t2 = _negative_steps(signs)
    if from_layer_1:
        kept |= {"t_1 is at least 2": t1 > 1}
    right = (1 - Fraction(points) / len(values)) * _mean(rows[t1 - 1])
    words = f"{values}, negative steps {t1} and {t2}"
    return Case(float(_mean(rows[t2])), float(right), kept, words)


def gaps_kept(
    values: Row, signs: Sequence[int], gap: Callable[[Fractions], Fraction] = second_gap
) -> Case:
    """DEC Eq. 31 with negative steps: Delta at the last layer and at layer 1.

    >>> case = gaps_kept((480, 2418, 2479, 2569, 12044), (-1, -1))
    >>> case.left, case.right
    (61.0, 90.0)
    """
    rows, kept = _stretch(values, signs)
    last, early = (float(gap(row)) for row in (rows[-1], rows[1]))
    return Case(last, early, kept, f"{values}, signs {tuple(signs)}")
