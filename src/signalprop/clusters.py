"""The tree model of DEC (Section III): recentring and ReLU with weights [I; -I], followed exactly.

Every neuron (a row of DEC's matrices: one number for each of the n points of the batch) has two
children, ``ReLU(x - mean)`` and ``ReLU(mean - x)``, so that layer t has 2^t neurons. They can be
followed to any depth because few of them differ in more than a factor:

- Both maps keep the order of the points, up to reversal: a neuron is a sequence of clusters of
  neighbouring points, and one cluster of every child is at zero.
- A neuron with k clusters has children with a + 1 and b + 1 clusters, a + b <= k. So the sum over
  all neurons of (clusters - 2) never grows: beyond two clusters there are at most n - 2 neurons.
- A neuron with two clusters is known by the place m of the split, the side that is positive and
  its height, and both children split at m again. Only counts and sums of squared heights of equal
  (m, side) enter Gram matrices.

All numbers are integers, in units of 1/n^t at layer t: whether two points share a cluster is a
question of equality, and double precision answers it wrongly from some fifty layers down: the one
child that keeps three clusters depends on ever finer digits of the start.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
import torch

from signalprop._arrays import on_tensors

__all__ = ["ClusterTree", "gram_angles", "gram_norms", "literal_tree", "transform"]


def __dir__() -> list[str]:
    """Complete with the names that are meant to be used, not with what is imported here."""
    return __all__


Integers = np.ndarray[Any, np.dtype[np.object_]]
Row = tuple[tuple[int, int], ...]  # runs (size, value) of equal neighbours, points ascending


@dataclass(frozen=True, eq=False)
class ClusterTree:
    """One layer of the tree that grows from ``values``, one number for each point of a batch.

    ``rows`` counts the neurons of three clusters or more by their pattern ((size, value), ...);
    ``count[m - 1, side]`` and ``energy[m - 1, side]`` are the number and the sum of squared
    heights of those of two clusters split after the m smallest points, where side 0 has the upper
    n - m points positive, side 1 the lower m. A value v stands for ``v * unit / n**layer``, an
    energy for ``unit**2 / n**(2 * layer)`` times it.

    >>> tree = ClusterTree.start([1, 4, 9, 16, 25]).after(1000)
    >>> tree.most_clusters, tree.count.sum() + sum(tree.rows.values()) == 2**1000
    (3, True)
    >>> norms = gram_norms(tree.gram())
    >>> (norms / norms[1]).round(6)
    array([1.92685 , 1.      , 1.      , 1.      , 3.645168])
    """

    order: tuple[int, ...]
    layer: int
    unit: Fraction
    rows: Counter[Row]
    count: Integers
    energy: Integers

    @classmethod
    def start(cls, values: Iterable[Any]) -> ClusterTree:
        """Return layer 0: one neuron with these values (integers, fractions or floats, exactly)."""
        numbers, unit = _integers(values)
        order = tuple(sorted(range(len(numbers)), key=numbers.__getitem__))
        row = _merge([(1, numbers[i]) for i in order])
        if len(row) < 2:
            raise ValueError("values must hold at least two different numbers: ReLU(x - mean) = 0")
        nothing = np.full((len(numbers) - 1, 2), 0, dtype=object)
        return cls(order, 0, unit, Counter([row]), nothing, nothing)

    @property
    def batch(self) -> int:
        """Number n of points."""
        return len(self.order)

    @property
    def most_clusters(self) -> int:
        """Largest number of clusters of any neuron of this layer."""
        return max((len(row) for row in self.rows), default=2)

    @property
    def scale(self) -> Fraction:
        """What one unit of :meth:`gram` is worth: ``unit**2 / n**(2 * layer)``."""
        grains: int = self.batch ** (2 * self.layer)
        return self.unit * self.unit / grains

    def step(self) -> ClusterTree:
        """Return the next layer: every neuron replaced by its two children (DEC Eq. 10)."""
        shrink = _shrinkage(self.batch) ** 2
        energy = self.energy.sum(axis=1, keepdims=True) * shrink
        count = self.count.sum(axis=1, keepdims=True) * np.ones_like(shrink)
        rows: Counter[Row] = Counter()
        for row, number in self.rows.items():
            for child in _children(row, self.batch):
                if len(child) > 2:
                    rows[child] += number
                    continue
                (size, low), (_, high) = child
                side = int(low > high)
                count[size - 1, side] += number
                energy[size - 1, side] += number * max(low, high) ** 2
        return ClusterTree(self.order, self.layer + 1, self.unit, rows, count, energy)

    def after(self, depth: int) -> ClusterTree:
        """Return the layer ``depth`` further down."""
        if depth < 0:
            raise ValueError(f"depth must not be negative, got {depth}")
        tree = self
        for _ in range(depth):
            tree = tree.step()
        return tree

    def gram(self) -> Integers:
        """Return the Gram matrix of the points over all neurons, in units of :attr:`scale`.

        It is an (n, n) array of exact integers. Those of trees grown from several input features
        add up (for integer inputs; otherwise each has a scale of its own).

        >>> ClusterTree.start([0, 1, 5]).step().gram()
        array([[36, 18, 0],
               [18, 9, 0],
               [0, 0, 81]], dtype=object)
        """
        # The matrix is a sum of constant blocks: mark their corners, then sum along both axes.
        n = self.batch
        marks = np.full((n + 1, n + 1), 0, dtype=object)
        for m in range(1, n):
            upper, lower = self.energy[m - 1]
            _mark_block(marks, (m, n), (m, n), upper)
            _mark_block(marks, (0, m), (0, m), lower)
        for row, number in self.rows.items():
            ends = np.cumsum([0] + [size for size, _ in row]).tolist()
            spans = list(itertools.pairwise(ends))
            for (_, a), span_a in zip(row, spans, strict=True):
                for (_, b), span_b in zip(row, spans, strict=True):
                    _mark_block(marks, span_a, span_b, number * a * b)
        blocks = marks.cumsum(axis=0).cumsum(axis=1)[:n, :n]
        place = np.argsort(self.order)
        return blocks[np.ix_(place, place)]


def gram_norms(gram: Integers) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the norms of the points of an integer Gram matrix relative to the largest one.

    Each is right to rounding, whatever the size of the integers: Python divides them exactly.

    >>> gram_norms(np.array([[10**400, 0], [0, 4 * 10**400]], dtype=object))
    array([0.5, 1. ])
    """
    squares = np.diagonal(_exact(gram))
    if not max(squares):
        raise ValueError("gram must have a point that is not zero")
    return np.array([math.sqrt(square / max(squares)) for square in squares])


def gram_angles(gram: Integers) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the (n, n) angles between the points of an integer Gram matrix (DEC Eq. 11).

    Small ones are as right as large ones: the squared sine ``1 - g_ij^2 / (g_ii g_jj)`` is formed
    in integers and rounded once (it underflows for angles below 1e-160). An angle with a zero
    vector is taken as pi/2.

    >>> float(gram_angles(np.array([[1, 10**100], [10**100, 10**200 + 1]], dtype=object))[0, 1])
    1e-100
    """
    gram = _exact(gram)
    n = len(gram)
    angles = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            whole = gram[i, i] * gram[j, j]
            square = gram[i, j] ** 2
            sine = math.sqrt((whole - square) / whole) if whole else 1.0
            cosine = math.sqrt(square / whole) if whole else 0.0
            if gram[i, j] < 0:
                cosine = -cosine
            angles[i, j] = angles[j, i] = math.atan2(sine, cosine)
    return angles


@on_tensors("x")
def transform(x: torch.Tensor, sign: torch.Tensor | float = 1.0) -> torch.Tensor:
    """Return DEC's positive (sign 1) or negative (sign -1) transformation of x (DEC Def. 5).

    ``x`` is (..., n, d); ``sign`` broadcasts against it, say (d,) with one sign for each neuron.
    The difference of the two is ``x - mean``, and at least one of them is zero at every point.

    >>> transform(np.array([[1.0], [2.0], [6.0]]), -1).ravel()
    array([2., 1., 0.])
    """
    _require_batch(x)
    return torch.relu(sign * (x - x.mean(dim=-2, keepdim=True)))


@on_tensors("x")
def literal_tree(x: torch.Tensor, depth: int) -> torch.Tensor:
    """Return layer ``depth`` of the tree as it is printed (DEC Eq. 10), every neuron of it.

    ``x`` is (..., n, d), the result (..., n, d 2^depth): for more than some fifteen layers
    use :class:`ClusterTree`, which also counts clusters exactly.

    >>> literal_tree(np.array([[1.0], [2.0], [6.0]]), 1)
    array([[0., 2.],
           [0., 1.],
           [3., 0.]])
    """
    _require_batch(x)
    if depth < 0:
        raise ValueError(f"depth must not be negative, got {depth}")
    for _ in range(depth):
        x = torch.cat([transform(x, 1.0), transform(x, -1.0)], dim=-1)
    return x


def _require_batch(x: torch.Tensor) -> None:
    if x.ndim < 2:
        raise ValueError(f"x must be (..., n, d), got shape {tuple(x.shape)}")


def _exact(gram: Any) -> Integers:
    """Return a Gram matrix in Python's own numbers, of which none is the largest."""
    exact = np.array(gram.tolist() if hasattr(gram, "tolist") else gram, dtype=object)
    shape = exact.shape
    if len(shape) != 2 or shape[0] != shape[1] or not exact.size:
        raise ValueError(f"gram must be (n, n) with n >= 1, got shape {shape}")
    if not all(isinstance(entry, Rational) for entry in exact.flat):
        raise ValueError("gram must hold integers: others are not exact")
    squares = np.diagonal(exact)
    if min(squares) < 0 or (exact**2 > np.outer(squares, squares)).any():
        raise ValueError("gram must be positive semi-definite")
    return exact


def _integers(values: Iterable[Any]) -> tuple[list[int], Fraction]:
    """Return integers and the unit by which they are the given numbers, exactly."""
    listed = values.tolist() if isinstance(values, np.ndarray | torch.Tensor) else list(values)
    try:
        fractions = [Fraction(value) for value in listed]
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"values must be a vector of finite real numbers: {error}") from error
    common = math.lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * common) for fraction in fractions], Fraction(1, common)


def _shrinkage(n: int) -> Integers:
    """Return n times the factor by which heights shrink, for (m, side): the points left at zero."""
    lower = np.arange(1, n, dtype=object)
    return np.stack([lower, n - lower], axis=1)


def _children(row: Row, n: int) -> tuple[Row, Row]:
    total = sum(size * value for size, value in row)
    centred = [(size, n * value - total) for size, value in row]
    return (
        _merge([(size, max(value, 0)) for size, value in centred]),
        _merge([(size, max(-value, 0)) for size, value in centred]),
    )


def _merge(runs: list[tuple[int, int]]) -> Row:
    merged: list[tuple[int, int]] = []
    for size, value in runs:
        if merged and merged[-1][1] == value:
            merged[-1] = (merged[-1][0] + size, value)
        else:
            merged.append((size, value))
    return tuple(merged)


def _mark_block(
    marks: Integers, rows: tuple[int, int], columns: tuple[int, int], value: int
) -> None:
    (top, bottom), (left, right) = rows, columns
    marks[top, left] += value
    marks[bottom, right] += value
    marks[top, right] -= value
    marks[bottom, left] -= value
