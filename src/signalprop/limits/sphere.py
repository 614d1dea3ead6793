"""Expectations over two entries of a batch-normalized Gaussian vector, by quadrature.

If h has n exchangeable Gaussian entries, ``u = sqrt(n) M h / |M h|`` with ``M = I - 11^T/n`` is
uniform on the sphere of radius sqrt(n) in the (n - 1)-dimensional space of vectors of sum zero:
the vertices of a simplex, turned at random. Two entries of it depend on u through its projection
on a plane only, with radius r and angle w independent of each other:

    u_1 = sqrt(n - 1) r cos(w),   u_2 = sqrt(n - 1) r cos(w - w_0),   cos(w_0) = -1/(n - 1),

w uniform and ``P(r^2 > q) = (1 - q)^((n - 3)/2)`` for n >= 4; r = 1 for n = 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from signalprop._arrays import Floats, as_row

__all__ = ["PairRule", "pair_rule"]

TINY = 1e-100  # a kink that is nearer to 0 is at 0: one cannot divide by its radius
TAIL = 1e-32  # probability of the radii left out, far below rounding even times |u|^8


class PairRule(NamedTuple):
    """Nodes (first, second) and weights: ``E f(u_1, u_2) = (weights * f(first, second)).sum()``.

    >>> u, v, weights = pair_rule(2)                            # u = (1, -1) or (-1, 1)
    >>> float((weights * u * v).sum())
    -1.0
    """

    first: Tensor
    second: Tensor
    weights: Tensor


def pair_rule(batch: int, kinks: Sequence[float] = (), order: int = 48) -> PairRule:
    """Return a quadrature rule for two entries of a normalized batch of n = ``batch`` >= 2.

    It is accurate to about 1e-13 for functions smooth between ``kinks`` of either entry,
    jumps and kinks there included. Why: for a given radius every arc between two kinks has
    its own Gauss-Legendre rule of ``order`` nodes; radii are split where arcs appear or vanish,
    and a cubic change of variable in each panel turns the square roots that live at its ends
    (also those of the law of r) into analytic functions.

    >>> u, v, w = pair_rule(5)
    >>> round(float((w * u * u).sum()), 12), round(float((w * u * v).sum()), 12)
    (1.0, -0.25)
    """
    if batch < 2:
        raise ValueError(f"batch must be at least 2 for batch normalization, got {batch}")
    if order < 1:
        raise ValueError(f"order must be at least 1, got {order}")
    points = as_row(kinks, "kinks").tolist()
    if batch == 2:  # u = (1, -1) or (-1, 1)
        ends = torch.tensor([1.0, -1.0], dtype=torch.float64)
        return PairRule(ends, -ends, torch.full_like(ends, 0.5))
    # 0 is always among them: four arcs or more resolve any function that varies on the scale 1.
    # No circle reaches one beyond 1: how far it is does not matter, and its square must be finite.
    clipped = np.clip([0.0, *points] / np.sqrt(batch - 1), -2, 2)
    breaks = np.unique(np.where(np.abs(clipped) < TINY, 0.0, clipped))
    angle = np.arccos(-1 / (batch - 1))
    radius, radius_weight = _radii(batch, breaks, order)
    arc, arc_weight = _arcs(radius, breaks, angle, order)
    scale = np.sqrt(batch - 1) * radius[:, None]
    nodes = (scale * np.cos(arc), scale * np.cos(arc - angle), radius_weight[:, None] * arc_weight)
    return PairRule(*(torch.from_numpy(part.ravel()) for part in nodes))


def _radii(batch: int, breaks: Floats, order: int) -> tuple[Floats, Floats]:
    if batch == 3:
        return np.ones(1), np.ones(1)
    cosine = -1 / (batch - 1)
    b, c = breaks[:, None], breaks
    crossings = np.sqrt((b**2 + c**2 - 2 * b * c * cosine) / (1 - cosine**2))  # of u_1=b, u_2=c
    largest = np.sqrt(-np.expm1(2 / (batch - 3) * np.log(TAIL)))
    inner = np.concatenate([np.abs(breaks), crossings.ravel()])
    edges = np.unique(np.concatenate([[0.0, largest], inner[(inner > 0) & (inner < largest)]]))
    radius, weight = _panels(edges, order)
    # P(r^2 > q) = (1 - q)^((n - 3)/2) has this density in r.
    density = (batch - 3) * radius * (1 - radius**2) ** ((batch - 5) / 2)
    return radius, weight * density


def _panels(edges: Floats, order: int) -> tuple[Floats, Floats]:
    """Return Gauss-Legendre in v on every panel, x = a + (b - a) v^2 (3 - 2 v)."""
    v, weight = _unit_rule(order)
    start, length = edges[:-1, None], np.diff(edges)[:, None]
    nodes = start + length * v**2 * (3 - 2 * v)
    return nodes.ravel(), (length * weight * 6 * v * (1 - v)).ravel()


def _arcs(radius: Floats, breaks: Floats, angle: float, order: int) -> tuple[Floats, Floats]:
    # A kink that a circle does not reach cuts it at angle 0 or pi, which does no harm.
    cuts = np.arccos(np.clip(breaks / radius[:, None], -1, 1))
    cuts = np.concatenate([cuts, -cuts, angle + cuts, angle - cuts], axis=1) % (2 * np.pi)
    cuts.sort(axis=1)
    cuts = np.concatenate([cuts, cuts[:, :1] + 2 * np.pi], axis=1)
    v, weight = _unit_rule(order)
    lengths = np.diff(cuts, axis=1)[..., None]
    nodes = cuts[:, :-1, None] + lengths * v
    weights = lengths * weight / (2 * np.pi)
    return nodes.reshape(len(radius), -1), weights.reshape(len(radius), -1)


@cache
def _unit_rule(order: int) -> tuple[Floats, Floats]:
    x, weight = np.polynomial.legendre.leggauss(order)
    return (x + 1) / 2, weight / 2
