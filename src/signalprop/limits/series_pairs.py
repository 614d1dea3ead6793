"""``E f(u) f(v)`` for many pairs of any lengths, when f has kinks anywhere: Hermite series.

With ``c_k(a)`` the Hermite coefficients of ``x -> f(a x)`` it is ``sum_k c_k(a) c_k(b) rho^k``.
Kinks make the coefficients decay slowly, but the powers of ``rho`` do not wait for them: by
Cauchy and Schwarz the terms from K on are at most ``|rho|^K sqrt(E f(u)^2 E f(v)^2)``. So a few
hundred terms serve all pairs but the nearly parallel ones, which take a quadrature each.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from signalprop.activations import Activation
from signalprop.limits.expansions import hermite_functions
from signalprop.limits.lengths import LengthMap, grid_at_length, pair_moments
from signalprop.limits.polar import SIZES, chebyshev, lagrange, points, tail
from signalprop.limits.quadrature import conditional_mean, density, panel_rule, resolve
from signalprop.limits.unequal import power_sum

__all__ = ["SeriesPairs", "coefficients"]

Function = Callable[[Tensor], Tensor]

PARALLEL = 0.95  # correlations beyond which a pair takes a quadrature
AFFORDABLE = 20_000  # of those: a minute or two
SHARP = 1e-12  # what is left of a series, relative to sqrt(E f(u)^2 E f(v)^2)


class SeriesPairs:
    """By Hermite series; see `pairs.Pairs` for what it offers.

    ``reason`` says in words why ``phi`` takes this way, should it be too long.

    >>> from signalprop.activations import relu
    >>> stds = torch.tensor([1.0, 2.0], dtype=torch.float64)
    >>> layer = SeriesPairs(relu, stds, tangent=False, reason="is an example")
    >>> layer.block(0, 2, torch.eye(2, dtype=torch.float64))[0]                  # a b / (2 pi)
    tensor([[0.5000, 0.3183],
            [0.3183, 2.0000]], dtype=torch.float64)
    """

    def __init__(self, phi: Activation, stds: Tensor, tangent: bool, reason: str):
        self.phi, self.stds, self.reason = phi, stds, reason
        self.functions: list[Function] = [phi, phi.derivative] if tangent else [phi]
        self.squares = torch.as_tensor(LengthMap(phi)(stds**2))
        self.diagonals = [self.squares]
        if tangent:
            grid = grid_at_length(phi, float(stds.max()) ** 2)
            zero = torch.zeros_like(stds)
            self.diagonals.append(
                conditional_mean(lambda x: phi.derivative(x) ** 2, zero, stds, grid)
            )
        self.known: dict[tuple[int, int], Tensor] = {}
        self.left = AFFORDABLE * len(self.functions)

    def block(self, start: int, stop: int, rho: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return moments and slopes of the pairs."""
        values = [self._values(which, start, stop, rho) for which in range(len(self.functions))]
        return values[0], values[1] if len(values) > 1 else None

    def _values(self, which: int, start: int, stop: int, rho: Tensor) -> Tensor:
        near = rho.abs() > PARALLEL
        away = torch.where(near, 0.0, rho)
        c = self._coefficients(which, float(away.abs().max()))
        result = power_sum(c[..., start:stop, None, :], c[..., None, start:, :], away)
        self._fill_parallel(which, start, stop, rho, result)
        square = result[..., : stop - start]
        square.copy_(square.triu() + square.triu(1).mT)
        square.diagonal(dim1=-2, dim2=-1).copy_(self.diagonals[which][..., start:stop])
        return result

    def _coefficients(self, which: int, largest: float) -> Tensor:
        """Return as many coefficients ``(..., n, K)`` as correlations up to ``largest`` take."""
        terms = math.log(SHARP) / math.log(largest) if largest > 0 else 1.0
        order = 2 ** max(5, math.ceil(math.log2(terms)))
        if (which, order) not in self.known:
            f = self.functions[which]
            self.known[which, order] = coefficients(self.phi, f, self.stds, order)
        return self.known[which, order]

    def _fill_parallel(
        self, which: int, start: int, stop: int, rho: Tensor, result: Tensor
    ) -> None:
        near = (rho.abs() > PARALLEL).triu(1)
        pairs = int(near.sum())
        if not pairs:
            return
        self.left -= pairs
        if self.left < 0:
            raise ValueError(
                f"{self.phi.name} {self.reason}: inputs of unequal lengths then take a quadrature "
                f"for each pair with a correlation beyond {PARALLEL}, and these are more than "
                f"{AFFORDABLE}. Take inputs of one length, fewer inputs, or fewer layers"
            )
        a = self.stds[..., start:stop, None].expand(rho.shape)[near]
        b = self.stds[..., None, start:].expand(rho.shape)[near]
        result[near] = pair_moments(self.phi, self.functions[which], a, b, rho[near])


def coefficients(phi: Activation, f: Function, stds: Tensor, order: int) -> Tensor:
    """Return ``E f(a X) he_k(X)`` for k < ``order`` and each length a, ``(..., n, order)``.

    ``f`` is ``phi`` or its derivative. For many lengths they are interpolated in ``log a``, in
    which they are smooth.

    >>> from signalprop.activations import relu
    >>> coefficients(relu, relu, torch.ones(1, dtype=torch.float64), 3).round(decimals=4)
    tensor([[0.3989, 0.5000, 0.2821]], dtype=torch.float64)
    """
    zero = stds == 0
    positive = torch.where(zero, float(stds.max()) or 1.0, stds)
    lengths, number = torch.unique(positive, return_inverse=True)
    low, high = float(lengths[0].log()), float(lengths[-1].log())
    for size in SIZES:
        if size >= len(lengths):
            distinct = _coefficients_of(phi, f, lengths, order)
            break
        nodes = torch.exp((low + high) / 2 + (high - low) / 2 * points(size))
        values = _coefficients_of(phi, f, nodes, order)
        if tail(chebyshev(values)) <= SHARP / 10 * float(values.abs().max()):
            distinct = lagrange(nodes.log(), lengths.log()) @ values
            break
    else:
        distinct = _coefficients_of(phi, f, lengths, order)
    result: Tensor = distinct[number]
    constant = torch.zeros(order, dtype=torch.float64)
    constant[0] = f(torch.zeros(1, dtype=torch.float64))[0]
    return torch.where(zero[..., None], constant, result)


def _coefficients_of(phi: Activation, f: Function, lengths: Tensor, order: int) -> Tensor:
    """Return the coefficients ``(N, order)`` by the quadrature of `hermite_coefficients`."""
    longest = float(lengths.max())
    wide = phi.gained(longest)
    reach = resolve(lambda x: wide(x) / torch.sqrt(density(x)), wide.kinks)[1].reach
    knots = grid_at_length(phi, longest**2).knots / lengths[:, None]
    # he_k has about sqrt(k) radians a unit, and a panel carries six of them to rounding
    x, weights = panel_rule(knots, reach, min(2.0, 6 / math.sqrt(order)))
    values = weights / torch.sqrt(density(x)) * f(lengths[:, None] * x)
    rows = hermite_functions(x)
    return torch.stack([(values * next(rows)).sum(-1) for _ in range(order)], dim=-1)
