r"""Kernels of all sines ``sin(g x + a)``, in ball arithmetic: three variables of a closed form.

Gaussian integrals give ``E sin(g X + a) sin(g Y + a) = (w' cosh(t rho) + w sinh(t rho)) exp(-t)``
for X, Y of correlation rho, with ``t = g^2``, ``w = cos(a)^2`` and ``w' = sin(a)^2 = 1 - w``. So
gain, share w of the odd part, and correlation are three variables of one closed form. Divided by
its value at 1 it is a kernel map of case 1 for ``w = 1``, and of the cases 2 to 4 for other shares.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import acb, arb

import signalprop as sp
from signalprop.certify import Proof, prove_positive

__all__ = [
    "GAINS",
    "bend",
    "distance_to_the_diagonal",
    "in_doubles",
    "prove_the_attractor",
    "prove_the_odds",
    "room_of_the_odds",
]

#: The gains from a half to two.
GAINS = (0.5, 2.0)
ORDER = 30  # of the series in t that are summed
BOX = [GAINS, (0.0, 1.0), (0.0, 1.0)]  # gain, share of the odd part, correlation or its size


def room_of_the_odds(gain: arb, share: arb, rho: arb) -> arb:
    """Return what a layer leaves of KER Theorem 5.8, for the sine less its mean, rho in [0, 1].

    With ``1 - kappa = (1 - rho) h`` and ``kappa = rho g`` a layer divides ``rho / (1 - rho)`` by
    ``2 - kappa'(0)`` at least if the room ``h - (2 - kappa'(0)) g`` is not negative. Near gain 0 it
    is a small difference of large numbers. But it is ``rho R + (1 - rho) Q P``, where no term is
    negative: ``P = h - g = (1 - g) / (1 - rho)`` is ``sum_k a_k h_(k - 1)`` over orders from 2 on,
    ``Q = 1 - a_1``, and ``rho R = P - Q`` with ``R = sum_k a_k h_(k - 2)``, ``h_k = 1 + .. +
    rho^(k - 1)``.

    >>> bool(room_of_the_odds(arb(1), arb(0.5), arb(0.5)) > 0)
    True
    """
    t, even = gain**2, 1 - share
    total = even * t**2 / 2 * _ratio(t / 2) ** 2 + share * t * _ratio(t)
    parts = zip(_sums(t.lower(), rho.lower()), _sums(t.upper(), rho.upper()), strict=True)
    p, q, rest = (
        even * low[0].union(high[0]) + share * low[1].union(high[1]) for low, high in parts
    )
    return (rho * rest + (1 - rho) * q / total * p) / total


def bend(gain: arb, share: arb, rho: arb) -> arb:
    """Return the slope of ``h = (1 - kappa(rho)) / (1 - rho)`` on [0, 1], mean included.

    ``kappa(rho) - rho = (1 - rho)(1 - h)``, so that where h increases the map crosses the diagonal
    at most once before 1, and from above.

    >>> bool(bend(arb(1), arb(0.5), arb(0.5)) > 0)
    True
    """
    t, even = gain**2, 1 - share
    up, down = t * (1 + rho) / 2, t * (1 - rho) / 2
    rising = (even * up.cosh() + share * up.sinh()) * _ratio(down)
    falling = (even * up.sinh() + share * up.cosh()) * down * _slope(down)
    return t**2 / 2 * (rising - falling) / _total(t, share)


def distance_to_the_diagonal(gain: arb, share: arb, r: arb) -> arb:
    """Return a lower bound of ``(kappa(-r) + r) / (r (1 - r))`` for r in [0, 1].

    Of the even part ``cosh(t r) + r cosh(t)`` the first term is enough, as ``r (1 - r) < 1``; the
    odd part is ``r sinh(t) - sinh(t r)``.

    >>> bool(distance_to_the_diagonal(arb(1), arb(0.5), arb(0.5)) > 0)
    True
    """
    t = gain**2
    odd = share * t * _difference(t, r)
    return ((1 - share) * (t * r).cosh() + odd) / _total(t, share)


def in_doubles(gain: float, share: float, *, mean: bool = True) -> sp.KernelMap:
    """Return the kernel map of a sine by its weights ``t^k / k!``, with or without its mean.

    >>> round(float(in_doubles(1.0, 1.0)(0.5)), 9)    # sinh(1/2) / sinh(1)
    0.443409442
    """
    orders = np.arange(1, ORDER + 1)
    weights = np.concatenate([[float(mean)], np.cumprod(gain**2 / orders)])
    weights *= np.where(np.arange(ORDER + 1) % 2, share, 1 - share)
    return sp.KernelMap.from_series(weights / weights.sum())


def prove_the_odds(budget: int = 100_000) -> Proof:
    """Prove Theorem 5.8, and with it Corollary 5.10 with ``|rho_0|``, for all these sines.

    >>> prove_the_odds().margin > 0
    True
    """
    return prove_positive(room_of_the_odds, BOX, budget)


def prove_the_attractor(budget: int = 100_000) -> tuple[Proof, Proof]:
    """Prove KER Theorem 5.11 for all these sines: on [0, 1], and below 0.

    On [0, 1] by :func:`bend`. Below 0 the map lies above the diagonal, except at -1, so that no
    cosine stays there.

    >>> all(proof.margin > 0 for proof in prove_the_attractor())
    True
    """
    parts: tuple[Callable[..., arb], ...] = (bend, distance_to_the_diagonal)
    first, second = (prove_positive(part, BOX, budget) for part in parts)
    return first, second


def _total(t: arb, share: arb) -> arb:
    return (1 - share) * t.cosh() + share * t.sinh()


def _sums(t: arb, rho: arb) -> list[list[arb]]:
    """Return ``P, Q, R`` of :func:`room_of_the_odds`, times ``kappa(1)``, of even and odd orders.

    Sums over k from 2 on of ``t^k / k!`` times ``h_(k - 1)``, 1, ``h_(k - 2)``: none falls with t
    or rho. Beyond the order each is at most the sum of ``k t^k / k!``, hence ``t^(order + 1) e^t /
    order!``.
    """
    tail = arb(0).union(t ** (ORDER + 1) * t.exp() / math.factorial(ORDER))
    found = [[tail, tail] for _ in range(3)]
    weight, before, now = t, arb(0), arb(1)
    for k in range(2, ORDER + 1):
        weight = weight * t / k
        for sums, factor in zip(found, (now, arb(1), before), strict=True):
            sums[k % 2] += weight * factor
        before, now = now, 1 + rho * now
    return found


def _ratio(x: arb) -> arb:
    """``sinh(x) / x``, even and rising with ``|x|``: from its values at both ends."""
    ends = [acb(0, end).sinc().real for end in (abs(x).lower(), abs(x).upper())]
    return ends[0].union(ends[1])


def _slope(x: arb) -> arb:
    """The derivative of ``sinh(x) / x`` divided by x: even, and rising with ``|x|``."""
    ends = [_slope_at(end) for end in (abs(x).lower(), abs(x).upper())]
    return ends[0].union(ends[1])


def _slope_at(x: arb) -> arb:
    """``(cosh(x) - sinh(x) / x) / x^2``; near 0 by its series ``sum_n 2n x^(2n - 2) / (2n + 1)!``.

    For ``x <= 1/8`` the terms from the fourth on are less than a tenth of the third.
    """
    if x > 0.125:
        return (x.cosh() - x.sinh() / x) / x**2
    first = arb(1) / 3 + x**2 / 30 + x**4 / 840
    return first.union(first + x**4 / 8400)


def _difference(t: arb, r: arb) -> arb:
    """``(s(t) - s(t r)) / (1 - r)`` with ``s(x) = sinh(x) / x``: away from 1 directly, else by a
    slope ``t s'`` between ``t r`` and t, as ``s'`` rises."""
    if r < 0.5:
        return (_ratio(t) - _ratio(t * r)) / (1 - r)
    slope = t * r * _slope(t * r)
    return t * slope.union(t * _slope(t))
