"""The symmetric fixed point G* of the mean-field Gram recursion with batch normalization."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from signalprop._arrays import unit_scale
from signalprop.limits.sphere import PairRule, pair_rule

__all__ = ["GramFixedPoint", "gram_fixed_point"]

ZERO = 1e-11  # eigenvalues of G* below this share of the largest are zero to our accuracy
TINY = 1e-290  # smaller squares lose their digits


@dataclass(frozen=True)
class GramFixedPoint:
    """G* = (diagonal - off_diagonal) I + off_diagonal 11^T, and how its neighbours come back.

    ``multiplier_points`` and ``multiplier_pairs`` are the eigenvalues of the derivative of the
    Gram map at G* (of one layer, that is), see :func:`gram_fixed_point`.

    >>> point = gram_fixed_point(lambda u: u, batch=2)
    >>> point.matrix(), point.condition_number
    (array([[ 1., -1.],
            [-1.,  1.]]), inf)
    """

    batch: int
    diagonal: float
    off_diagonal: float
    multiplier_points: float
    multiplier_pairs: float

    def matrix(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return G* as an (n, n) array."""
        identity = np.eye(self.batch)
        return self.diagonal * identity + self.off_diagonal * (1 - identity)

    @property
    def eigenvalues(self) -> tuple[float, float]:
        """Eigenvalues of G*: on the vector of ones, and (n - 1 times) on those of sum zero."""
        ones = self.diagonal + (self.batch - 1) * self.off_diagonal
        contrasts = self.diagonal - self.off_diagonal
        zero = ZERO * max(ones, contrasts)
        return (ones if ones > zero else 0.0, contrasts if contrasts > zero else 0.0)

    @property
    def condition_number(self) -> float:
        """Largest over smallest eigenvalue of G*; infinite if it is singular."""
        smallest, largest = sorted(self.eigenvalues)
        return largest / smallest if smallest > 0 else math.inf

    @property
    def multipliers(self) -> list[tuple[float, int]]:
        """Eigenvalues of the derivative on symmetric matrices, each with its multiplicity."""
        n = self.batch
        if n == 2:
            return [(0.0, 3)]
        pairs = [(self.multiplier_pairs, n * (n - 3) // 2)] if n > 3 else []
        return [(self.multiplier_points, n - 1), *pairs, (0.0, n + 1)]

    @property
    def contraction(self) -> float:
        """Factor by which small deviations from G* shrink in a layer, in the end (> 1: grow)."""
        return max(abs(value) for value, _ in self.multipliers)


def gram_fixed_point(
    phi: Callable[[Tensor], Tensor], batch: int, kinks: Sequence[float] | None = None
) -> GramFixedPoint:
    """Return the permutation-symmetric fixed point of MF Eq. 3.3 for a batch of n >= 2.

    ``phi`` is an :class:`~signalprop.activations.Activation` or any elementwise function of
    float64 tensors with its ``kinks``, jumps among them. Entries are good to about 1e-12.

    Why it exists and is unique: for any ``G = a I + b 11^T``, a > 0, the law of the normalized
    vector u is uniform on a sphere, whatever a and b. So the map sends *every* exchangeable G to
    this one matrix, ``G*_ij = E phi(u_i) phi(u_j)``: a two-dimensional integral.

    Its derivative: only the part E of a perturbation on the vectors of sum zero, without its
    trace, changes the law of u, by the factor ``1 + (n - 1) u^T E u / (2 a n)``, a = diagonal -
    off_diagonal. Permutations commute with the map, and such E fall into two irreducible kinds:
    ``multiplier_points`` belongs to ``M diag(v) M`` (n - 1 dimensions, n >= 3), single points
    moving away; ``multiplier_pairs`` to matrices of zero diagonal and row sums (n (n - 3)/2
    dimensions, n >= 4), pairs doing so. The other n + 1 dimensions are forgotten in one layer.

    >>> linear = gram_fixed_point(lambda u: u, batch=4)
    >>> round(linear.diagonal, 12), round(linear.off_diagonal, 12), linear.condition_number
    (1.0, -0.333333333333, inf)
    >>> round(linear.contraction, 12)  # (n - 1)/(n + 1)
    0.6
    """
    if kinks is None:
        kinks = getattr(phi, "kinks", ())
    rule = pair_rule(batch, kinks)
    (first, second), scale = unit_scale(torch.stack([phi(rule.first), phi(rule.second)]))
    square, product = rule.weights * first**2, rule.weights * first * second
    diagonal, off_diagonal = float(square.sum()), float(product.sum())
    spread = diagonal - off_diagonal
    if not math.isfinite(spread):
        raise ValueError(f"phi must have finite moments on |u| <= sqrt({batch - 1})")
    if spread <= ZERO * diagonal:
        raise ValueError(f"phi is constant on normalized batches of {batch}: all points coincide")
    worth = float(scale * scale)
    if not TINY <= diagonal * worth < math.inf:
        raise ValueError(f"phi must have squares within float64, got values up to {float(scale)}")
    points, pairs = _multipliers(rule, square / spread, product / spread, batch)
    return GramFixedPoint(batch, diagonal * worth, off_diagonal * worth, points, pairs)


def _multipliers(rule: PairRule, square: Tensor, product: Tensor, n: int) -> tuple[float, float]:
    """Integrate the change of the law of u against phi_1^2 and phi_1 phi_2.

    The other entries of u enter through their conditional means given u_1 and u_2, which follow
    from the sum 0 and the sum of squares n. With x = u_1/sqrt(n), y = u_2/sqrt(n):
    """
    if n == 2:
        return 0.0, 0.0
    x, y = rule.first / math.sqrt(n), rule.second / math.sqrt(n)
    own = (square * (x**2 - (1 - x**2) / (n - 1))).sum()
    other = (product * (x**2 - (1 - x**2 - y**2) / (n - 2))).sum()
    points = float((n - 1) / 2 * (own - 2 * other))
    if n == 3:
        return points, 0.0
    third = -(x + y) / (n - 2)
    third_fourth = ((x + y) ** 2 - (1 - x**2 - y**2)) / ((n - 2) * (n - 3))
    pairs = float((n - 1) * (product * (x * y - (x + y) * third + third_fourth)).sum())
    return points, pairs
