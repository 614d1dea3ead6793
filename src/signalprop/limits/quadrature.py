"""Gaussian expectations to rounding error, with kinks and jumps on the edges of panels."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from signalprop._arrays import Array, as_row, on_tensors
from signalprop._threads import threads_for

__all__ = ["Grid", "bivariate_expectation", "gaussian_expectation", "panel_rule", "resolve"]

Function = Callable[[Tensor], Tensor]

NODES, WEIGHTS = (torch.from_numpy(a) for a in np.polynomial.legendre.leggauss(20))
WIDTH = 2.0  # of a panel that nothing splits: 20 nodes carry the density there to rounding
FARTHEST = 38.0  # the density underflows soon after
STEEP = 16.0  # up to here halving the panels finds what there is
FINEST = 50  # halvings around 0 and the kinks: less than 1e-15 of the density lies closer
LAYER = torch.tensor([-8.0, -5.0, -3.0, -1.5, 0.0, 1.5, 3.0, 5.0, 8.0], dtype=torch.float64)


class Grid(NamedTuple):
    """Where to split integrals of a function: panels of ``WIDTH`` and these points resolve it.

    ``kinks`` are the points where it is not smooth; ``knots`` those and what else it takes;
    beyond ``reach`` it is negligible under the Gaussian density.

    >>> _, grid = resolve(torch.abs, [0.0])
    >>> grid.kinks, grid.reach
    (tensor([0.], dtype=torch.float64), 9.5)
    """

    kinks: Tensor
    knots: Tensor
    reach: float

    def scaled(self, factor: float) -> Grid:
        """Return the grid with all points multiplied by ``factor`` (reach is in units of X)."""
        return Grid(self.kinks * factor, self.knots * factor, self.reach)

    def within(self, reaches: float) -> Grid:
        """Return the grid without points farther out than so many times its reach."""
        kinks, knots = (p[p.abs() <= reaches * self.reach] for p in (self.kinks, self.knots))
        return Grid(kinks, knots, self.reach)

    def joined(self, other: Grid) -> Grid:
        """Return the grid that resolves what either does."""
        kinks = _distinct(self.kinks, other.kinks)
        knots = _distinct(self.knots, other.knots)
        return Grid(kinks, knots, max(self.reach, other.reach))


def _distinct(one: Tensor, other: Tensor) -> Tensor:
    return torch.from_numpy(np.unique(torch.cat([one, other]).numpy()))


def density(x: Tensor) -> Tensor:
    """Return the standard Gaussian density at ``x``."""
    return torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def panel_rule(splits: Tensor, reach: float, width: float = WIDTH) -> tuple[Tensor, Tensor]:
    """Return nodes and weights ``(..., N)`` with ``sum(weights * f(nodes)) = E f(X)``.

    Composite Gauss-Legendre on ``[-reach, reach]``: panels no wider than ``width``, and an edge at
    each of ``splits`` ``(..., s)`` that falls inside. The weights carry the Gaussian density.

    >>> x, w = panel_rule(torch.zeros(0, dtype=torch.float64), 10.0)
    >>> abs(float((w * x**4).sum()) - 3) < 1e-13
    True
    """
    panels = math.ceil(2 * reach / width)
    grid = torch.linspace(-reach, reach, panels + 1, dtype=torch.float64)
    inside = splits.clamp(-reach, reach)
    return _rule(torch.cat([grid.expand(*splits.shape[:-1], -1), inside], dim=-1).sort().values)


def _rule(edges: Tensor) -> tuple[Tensor, Tensor]:
    centre = (edges[..., 1:] + edges[..., :-1])[..., None] / 2
    half = (edges[..., 1:] - edges[..., :-1])[..., None] / 2
    nodes = (centre + half * NODES).flatten(-2)
    return nodes, (half * WEIGHTS).flatten(-2) * density(nodes)


def gaussian_expectation(f: Function, kinks: Sequence[float] = ()) -> float:
    """Return ``E f(X)`` for ``X ~ N(0, 1)``, to about 1e-15 of ``E |f(X)|``.

    ``f`` maps a float64 tensor to one of the same shape and is smooth between ``kinks``.
    Right because Gauss-Legendre converges geometrically on panels where ``f`` is analytic, and the
    panels are halved where that changes anything. A divergent expectation, or a kink that
    ``kinks`` does not name, is a ``ValueError``.

    >>> abs(gaussian_expectation(torch.abs, [0.0]) - math.sqrt(2 / math.pi)) < 1e-15
    True
    """
    return resolve(f, kinks)[0]


@threads_for(0)
def resolve(f: Function, kinks: Sequence[float] = (), steepness: float = 1.0) -> tuple[float, Grid]:
    """Return ``E f(X)`` and the grid that resolves it.

    ``f`` and ``kinks`` are those of `gaussian_expectation`, which tells why this is right.
    Who knows how steep ``f`` is says so by ``steepness``, as in ``f(x) = g(steepness x)`` with a
    ``g`` that changes over units: then the grid closes in on 0 and the kinks by halves. Else
    that is found by a look at whether it changes the value.

    >>> value, grid = resolve(torch.cos)
    >>> abs(value - math.exp(-1 / 2)) < 1e-14, grid.reach
    (True, 9.5)
    """
    points = as_row(kinks, "kinks")
    reach = _reach(f)
    if steepness > STEEP:
        closing = _closing_in(points, math.ceil(math.log2(steepness)) + 3)
        value, knots = _refine(f, torch.cat([points, closing]), reach)
        return value, Grid(points, knots, reach)
    value, knots = _refine(f, points, reach)
    closing = _layers(f, points, knots, reach)
    if len(closing):
        value, knots = _refine(f, torch.cat([points, closing]), reach)
    return value, Grid(points, knots, reach)


def _refine(f: Function, knots: Tensor, reach: float) -> tuple[float, Tensor]:
    """Halve the panels between ``knots`` until that changes nothing: the integral, all knots."""
    grid = torch.linspace(-reach, reach, math.ceil(2 * reach / WIDTH) + 1, dtype=torch.float64)
    ends = knots  # of the panels that were halved: where one is missing, two panels are one again
    for _ in range(14):
        edges = torch.cat([grid, knots.clamp(-reach, reach)]).sort().values
        middles = (edges[1:] + edges[:-1]) / 2
        whole = _panel_sums(f, edges)
        halves = _panel_sums(f, torch.cat([edges, middles]).sort().values)
        change = (whole - halves.reshape(-1, 2).sum(-1)).abs()
        unresolved = change > 1e-15 * halves.abs().sum()
        if not unresolved.any():
            return float(halves.sum()), _distinct(knots, ends)
        knots = torch.cat([knots, middles[unresolved]])
        ends = torch.cat([ends, edges[:-1][unresolved], edges[1:][unresolved]])
    at = float(middles[change.argmax()])
    raise ValueError(f"f is not smooth near x = {at:.6g}: name its kinks, and jumps, in kinks")


def _closing_in(kinks: Tensor, halvings: int) -> Tensor:
    """Return 0 and the kinks, with points beside them at distances 1, 1/2, ..., 2^-halvings."""
    centres = torch.cat([torch.zeros(1, dtype=torch.float64), kinks])
    steps = 2.0 ** -torch.arange(halvings + 1, dtype=torch.float64)
    return (centres[:, None] + torch.cat([-steps, torch.zeros(1), steps])).flatten()


def _layers(f: Function, kinks: Tensor, knots: Tensor, reach: float) -> Tensor:
    """Return the points of a closing grid if panels between ``knots`` do not resolve ``f``.

    They may step over what is narrow, or have had an edge at a kink by luck: what counts is that
    panels at other places, as inner integrals have them, give the same value.
    """
    grid = torch.linspace(-reach, reach, math.ceil(2 * reach / WIDTH) + 1, dtype=torch.float64)
    shifted = torch.cat([grid[:1], grid[1:-1] + 0.37 * WIDTH, grid[-1:]])

    def sums(*points: Tensor) -> Tensor:
        return _panel_sums(f, torch.cat([knots, *points]).clamp(-reach, reach).sort().values)

    finest = sums(grid, _closing_in(kinks, FINEST))
    mass = finest.abs().sum()

    def resolves(points: Tensor, rounding: float) -> bool:
        return bool((sums(shifted, points).sum() - finest.sum()).abs() <= rounding * mass)

    if resolves(kinks, 1e-14):
        return torch.zeros(0, dtype=torch.float64)
    enough = (h for h in range(FINEST) if resolves(_closing_in(kinks, h), 1e-15))
    return _closing_in(kinks, min(FINEST, next(enough, FINEST) + 4))


def _panel_sums(f: Function, edges: Tensor) -> Tensor:
    nodes, weights = _rule(edges)
    return (weights * f(nodes)).reshape(-1, len(NODES)).sum(-1)


def _reach(f: Function) -> float:
    """Return a reach of at least 9.5 beyond which ``|f|`` times the density is negligible."""
    x = torch.arange(0.0, FARTHEST + 0.01, 0.125, dtype=torch.float64)
    mass = torch.maximum(f(x).abs(), f(-x).abs()) * density(x)
    # what overflows comes after the last finite value: harmless if that is negligible already
    mass = mass[: int(torch.isfinite(mass).cumprod(0).sum())]
    significant = torch.nonzero(mass > 1e-18 * mass.max()) if len(mass) else mass
    last = int(significant.max()) if len(significant) else 0
    if last + 8 > len(mass):
        raise ValueError(
            f"f must have a Gaussian expectation, but |f| times the density does not decay by "
            f"|x| = {FARTHEST:g}: E f(X) is infinite, or beyond double precision"
        )
    return max(9.5, math.ceil(2 * float(x[last]) + 0.25) / 2)


def conditional_mean(f: Function, mean: Tensor, std: Tensor, grid: Grid) -> Tensor:
    """Return ``E f(mean + std Z)`` for each entry of ``mean`` and ``std`` (one shape).

    The panels in ``z`` are split where ``mean + std z`` meets a knot of ``f``; the grid must
    resolve ``f`` on panels of ``WIDTH`` times the largest ``std``, or 1 if that is smaller.
    """
    positive = std.clamp(min=torch.finfo(torch.float64).tiny)[..., None]
    z, weights = panel_rule((grid.knots - mean[..., None]) / positive, grid.reach)
    return (weights * f(mean[..., None] + std[..., None] * z)).sum(-1)


def product_on_circle(f: Function, g: Function, cosine: float, sine: float, grid: Grid) -> float:
    """Return ``E f(X) g(cosine X + sine Z)`` with independent standard ``X, Z``.

    The inner expectation over ``Z`` is smooth in ``X`` but for layers of width ``sine / cosine``
    where ``cosine X`` meets a kink of ``g``: the outer panels are graded there.
    """
    layers = (grid.kinks[:, None] + sine * LAYER).flatten()
    x, weights = panel_rule(
        torch.cat([grid.knots, torch.cat([grid.knots, layers]) / (cosine or 1e-300)]), grid.reach
    )
    inner = conditional_mean(g, cosine * x, torch.full_like(x, sine), grid)
    return float((weights * f(x) * inner).sum())


def _squared(f: Function) -> Function:
    return lambda x: f(x) ** 2


@on_tensors("rho")
@threads_for(0)
def bivariate_expectation(
    rho: Array,
    f: Function,
    g: Function | None = None,
    kinks: Sequence[float] = (),
) -> Array:
    """Return ``E f(X) g(Y)`` for standard Gaussians of correlation ``rho``; ``g`` is ``f`` if None.

    One two-dimensional quadrature an entry of ``rho`` (a few milliseconds), exact to about 1e-14
    of ``sqrt(E f^2 E g^2)`` on all of ``[-1, 1]``. Right because ``Y = rho X + sqrt(1 - rho^2) Z``
    and both integrals are split wherever ``f`` or ``g`` is not smooth. For many ``rho`` use
    :class:`signalprop.limits.maps.KernelMap`.

    >>> value = bivariate_expectation(0.5, torch.sign, kinks=[0.0])
    >>> bool(abs(value - 2 / math.pi * math.asin(0.5)) < 1e-14)
    True
    """
    assert isinstance(rho, torch.Tensor)
    if bool((rho.abs() > 1).any()):
        raise ValueError(f"rho must lie in [-1, 1], got {float(rho.abs().max())} in size")
    pair = (f, f if g is None else g)
    # the square alone would hide a layer in which f is small, where g may be large
    forms = [form for h in pair for form in (h, _squared(h))]
    grid = functools.reduce(Grid.joined, (resolve(form, kinks)[1] for form in forms))
    r = rho.to(torch.float64)
    sines = torch.sqrt((1 - r) * (1 + r))
    values = [
        product_on_circle(*pair, c, s, grid)
        for c, s in zip(r.flatten().tolist(), sines.flatten().tolist(), strict=True)
    ]
    return torch.tensor(values, dtype=torch.float64, device=rho.device).reshape(rho.shape)
