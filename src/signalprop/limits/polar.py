"""``E f(u) f(v)`` for all pairs of a batch: a quadrature in polar coordinates, interpolated.

The standard Gaussians behind ``u = a X`` and ``v = b Y`` are ``X = r cos(t)``, ``Y = r cos(t - w)``
with ``w`` the angle whose cosine is their correlation. A kink of f at 0 is then a ray, an end of
two of four arcs, so that Gauss-Legendre in ``r`` and on each arc converges geometrically at every
angle: no layer gets thin as w goes to 0. What comes out is smooth in ``log a``, ``log b`` and
``w``, and a Chebyshev interpolant in these three serves a million pairs with products of matrices.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.fft import dct
from torch import Tensor

__all__ = [
    "PairInterpolant",
    "Rule",
    "chebyshev",
    "clenshaw",
    "interpolate_pairs",
    "lagrange",
    "points",
    "rule_for",
    "tail",
]

Function = Callable[[Tensor], Tensor]

SHARP = 1e-12  # accuracy of the quadrature, relative to sqrt(E f(u)^2 E f(v)^2)
TAIL = 1e-12  # of the last Chebyshev coefficients of the interpolant, relative to the same
PROMISED = 1e-10  # what a comparison with the quadrature must not exceed
NODES = (16, 24, 32, 48, 64, 96, 128, 192, 256)  # of the quadrature, in the radius and on an arc
SIZES = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)  # of the interpolant, in each direction
ANGLES = (0.0, 0.2, 1.5, 3.0)  # where sizes are chosen
CHECKS = (1e-3, 1e-2, 0.1, 0.4, 1.1, 2.0, 3.1)  # where the result is compared


@dataclass(frozen=True)
class Rule:
    """How many nodes the polar quadrature takes: in the radius up to ``reach``, and on each arc.

    >>> rule = Rule(radii=32, arc=32, reach=9.5)
    >>> a = torch.tensor([1.0, 2.0], dtype=torch.float64)
    >>> rule.products(torch.relu, a, angle=0.0)                          # a b / 2
    tensor([[0.5000, 1.0000],
            [1.0000, 2.0000]], dtype=torch.float64)
    """

    radii: int
    arc: int
    reach: float

    def products(self, f: Function, a: Tensor, angle: float) -> Tensor:
        """Return ``E f(a_p X) f(a_q Y)`` for all pairs of ``a`` ``(P,)`` at one angle: ``(P, P)``.

        The reflection that exchanges X and Y maps the nodes to themselves, so that one evaluation
        serves both.
        """
        first, weight = self._nodes(angle)
        values = f(a[:, None, None] * first)
        mirrored = values[..., _mirror(self.arc)]
        return (values * weight).flatten(1) @ mirrored.flatten(1).mT

    def _nodes(self, angle: float) -> tuple[Tensor, Tensor]:
        """Return ``r cos(t)`` ``(radii, 4 arc)`` and the weights."""
        r, dr = _legendre(self.radii, 0.0, self.reach)
        quarter = math.pi / 2
        ends = (-quarter, angle - quarter, quarter, angle + quarter, 3 * quarter)
        arcs = [_legendre(self.arc, low, high) for low, high in itertools.pairwise(ends)]
        t, dt = (torch.cat(parts) for parts in zip(*arcs, strict=True))
        radial = dr * r * torch.exp(-r * r / 2) / (2 * math.pi)
        return r[:, None] * torch.cos(t), radial[:, None] * dt


def _mirror(arc: int) -> Tensor:
    """Return where ``t -> angle - t`` sends the nodes: arcs 0 and 2 change places, 1 and 3 turn."""
    nodes = torch.arange(4 * arc).reshape(4, arc).flip(-1)
    return nodes[[2, 1, 0, 3]].flatten()


@functools.lru_cache(maxsize=32)
def _leggauss(size: int) -> tuple[Tensor, Tensor]:
    x, w = np.polynomial.legendre.leggauss(size)
    return torch.from_numpy(x), torch.from_numpy(w)


def _legendre(size: int, low: float, high: float) -> tuple[Tensor, Tensor]:
    x, w = _leggauss(size)
    half = (high - low) / 2
    return (high + low) / 2 + half * x, half * w


@dataclass(frozen=True, eq=False)
class PairInterpolant:
    """``E f(a X) f(b Y)`` for the lengths it was made for and all angles.

    ``basis`` ``(lengths, P)`` holds the polynomials of ``log a`` at each length, ``coefficients``
    ``(M, P, P)`` the Chebyshev series in the angle on ``[0, pi]``.

    >>> a = torch.tensor([1.0, 2.0], dtype=torch.float64)
    >>> pairs = interpolate_pairs(torch.relu, a, reach=9.5)
    >>> both, angle = torch.arange(2), torch.zeros(2, 2, dtype=torch.float64)
    >>> pairs(both, both, angle)
    tensor([[0.5000, 1.0000],
            [1.0000, 2.0000]], dtype=torch.float64)
    """

    basis: Tensor
    coefficients: Tensor

    def __call__(self, rows: Tensor, columns: Tensor, angle: Tensor) -> Tensor:
        """Return the values at angles ``(..., r, c)``, by Clenshaw's recurrence.

        ``rows`` ``(..., r)`` and ``columns`` ``(..., c)`` number the lengths.
        """
        left = self.basis[rows]
        right = self.basis[columns].mT.contiguous()
        return clenshaw((left @ matrix @ right for matrix in self.coefficients.flip(0)), angle)


def interpolate_pairs(f: Function, lengths: Tensor, reach: float) -> PairInterpolant:
    """Return an interpolant for all pairs of ``lengths`` ``(N,)``, distinct and positive.

    ``f`` takes and gives float64 tensors; it is smooth but for kinks or jumps at 0. ``reach`` is
    the radius from which ``f(a r)^2`` times the Gaussian density of the largest length a is
    negligible. Errors are at most 1e-10 of ``sqrt(E f(u)^2 E f(v)^2)``, checked at 448 pairs of
    lengths and angle. What is not resolved (f too steep, lengths too far apart) is a
    ``ValueError``.

    >>> a = torch.tensor([0.5, 3.0], dtype=torch.float64)
    >>> interpolate_pairs(torch.tanh, a, reach=9.5).basis.shape
    torch.Size([2, 2])
    """
    low, high = lengths.min(), lengths.max()
    few = torch.stack([low, torch.sqrt(low * high), high])
    rule = rule_for(f, few, reach)
    nodes = _length_nodes(f, rule, few, len(lengths))
    if nodes is None:
        nodes, basis = lengths, torch.eye(len(lengths), dtype=torch.float64)
    else:
        basis = lagrange(nodes.log(), lengths.log())
    coefficients = _over_angles(f, rule, nodes, _angles_enough(f, rule, few))
    sizes = _root_moments(f, rule, lengths)
    result = PairInterpolant(sizes[:, None] * basis, coefficients)
    _compare(result, f, rule, lengths, sizes)
    return result


def rule_for(f: Function, lengths: Tensor, reach: float) -> Rule:
    """Return the cheapest rule that has converged at some angles, for these lengths.

    >>> rule_for(torch.relu, torch.ones(1, dtype=torch.float64), reach=9.5)
    Rule(radii=24, arc=16, reach=9.5)
    """

    def values(radii: int, arc: int) -> Tensor:
        return _table(f, Rule(radii, arc, reach), lengths, ANGLES)

    for size, finer in itertools.pairwise(NODES):
        reference = values(finer, finer)
        if bool(((values(size, size) - reference).abs() <= SHARP).all()):
            break
    else:
        raise ValueError(f"{NODES[-1]} nodes do not resolve it")

    def suffices(radii: int, arc: int) -> bool:
        return bool(((values(radii, arc) - reference).abs() <= SHARP).all())

    arc = next(n for n in NODES if suffices(size, n))
    return Rule(next(n for n in NODES if suffices(n, arc)), arc, reach)


def _root_moments(f: Function, rule: Rule, lengths: Tensor) -> Tensor:
    """Return ``sqrt(E f(a X)^2)`` for each length."""
    x, dx = _legendre(rule.radii, 0.0, rule.reach)
    weight = dx * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    squares = f(lengths[:, None] * x) ** 2 + f(-lengths[:, None] * x) ** 2
    return torch.sqrt(squares @ weight)


def _table(f: Function, rule: Rule, lengths: Tensor, angles: Sequence[float]) -> Tensor:
    """Return ``E f(u) f(v) / sqrt(E f(u)^2 E f(v)^2)``, ``(angles, lengths, lengths)``."""
    sizes = _root_moments(f, rule, lengths)
    products = torch.stack([rule.products(f, lengths, angle) for angle in angles])
    return products / (sizes[:, None] * sizes)


def _over_angles(f: Function, rule: Rule, lengths: Tensor, size: int) -> Tensor:
    """Return the Chebyshev coefficients of the table in the angle on ``[0, pi]``."""
    return chebyshev(_table(f, rule, lengths, ((points(size) + 1) * (math.pi / 2)).tolist()))


def _angles_enough(f: Function, rule: Rule, few: Tensor) -> int:
    """Return how many Chebyshev points in the angle it takes for a few lengths."""
    for size in SIZES:
        if tail(_over_angles(f, rule, few, size)) <= TAIL:
            return size
    raise ValueError(f"{SIZES[-1]} Chebyshev points in the angle do not reach {TAIL:g}")


def _length_nodes(f: Function, rule: Rule, few: Tensor, enough: int) -> Tensor | None:
    """Return as many Chebyshev points in ``log a`` as it takes; None if that is ``enough``."""
    low, _, high = few.log().tolist()
    for size in SIZES:
        if size >= enough:
            return None
        nodes = torch.exp((low + high) / 2 + (high - low) / 2 * points(size))
        table = _table(f, rule, torch.cat([nodes, few]), ANGLES)[:, :size, size:]
        if tail(chebyshev(table.transpose(0, 1))) <= TAIL:
            return nodes
    raise ValueError(f"{SIZES[-1]} Chebyshev points in the length do not reach {TAIL:g}")


def clenshaw(coefficients: Iterable[Tensor], angle: Tensor) -> Tensor:
    """Return a Chebyshev series on ``[0, pi]``, from its coefficients, the last first.

    >>> clenshaw(torch.tensor([2.0, 1.0]), torch.tensor([0.0, math.pi / 2]))      # 1 + 2x
    tensor([-1.,  1.])
    """
    y = angle * (4 / math.pi) - 2
    ahead, now = torch.zeros_like(angle), torch.zeros_like(angle)
    for coefficient in coefficients:
        ahead, now = now, torch.sub(coefficient, ahead).addcmul_(y, now)
    return torch.addcmul(now, y, ahead, value=-0.5)


def points(size: int) -> Tensor:
    """Return the Chebyshev points of the first kind in [-1, 1], from right to left.

    >>> points(2)
    tensor([ 0.7071, -0.7071], dtype=torch.float64)
    """
    return torch.from_numpy(np.cos((np.arange(size) + 0.5) * math.pi / size))


def chebyshev(values: Tensor) -> Tensor:
    """Return the Chebyshev coefficients along the first dimension of values at the points.

    >>> chebyshev(points(3) ** 2)                                         # x^2 = (1 + T_2) / 2
    tensor([0.5000, 0.0000, 0.5000], dtype=torch.float64)
    """
    coefficients = dct(values.numpy(), type=2, axis=0) / len(values)
    coefficients[0] /= 2
    return torch.from_numpy(coefficients)


def tail(coefficients: Tensor) -> float:
    """Return the size of the last eighth of the coefficients along the first dimension.

    >>> tail(torch.tensor([1.0, -0.5, 0.25]))
    0.5
    """
    last = max(2, len(coefficients) // 8)
    return float(coefficients[-last:].abs().max())


def lagrange(nodes: Tensor, x: Tensor) -> Tensor:
    """Return the Lagrange polynomials of Chebyshev points at x, ``(len(x), len(nodes))``.

    The barycentric form, which is stable at these points (Berrut and Trefethen 2004).

    >>> lagrange(points(2), points(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    turn = (torch.arange(len(nodes), dtype=torch.float64) + 0.5) * math.pi / len(nodes)
    weights = torch.sin(turn) * (-1.0) ** torch.arange(len(nodes))
    away = x[:, None] - nodes
    terms = weights / torch.where(away == 0, 1.0, away)
    terms = torch.where((away == 0).any(-1, keepdim=True), (away == 0).to(terms), terms)
    return terms / terms.sum(-1, keepdim=True)


def _compare(
    interpolant: PairInterpolant, f: Function, rule: Rule, lengths: Tensor, sizes: Tensor
) -> None:
    """Refuse an interpolant that is not the quadrature, at lengths and angles of its own."""
    some = torch.linspace(0, len(lengths) - 1, min(8, len(lengths))).long()
    some = lengths.argsort()[some]
    scale = sizes[some, None] * sizes[some]
    for angle in CHECKS:
        direct = rule.products(f, lengths[some], angle)
        ours = interpolant(some, some, torch.full_like(direct, angle))
        error = float(((direct - ours).abs() / scale).max())
        if not error <= PROMISED:
            raise ValueError(f"an error of {error:.1e} at an angle of {angle:g}")
