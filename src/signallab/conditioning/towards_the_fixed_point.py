"""Lemmas 31 to 36 and Theorem 11 of COND for all activations, by algebra order by order.

The dual ``s(r) = sum_k a_k r^k`` has weights that are not negative and sum to 1, so that ``s(1) =
1``. What is linear in the weights holds if it holds for each power. Here p is the smallest fixed
point in [0, 1], m the coefficient of non-affinity (the sum of the weights from order 2 on), ``a =
s(0)`` and ``beta = m (1 - p)/2``. Each function returns the identities of one statement; its
docstring says how the statement follows.
"""

from __future__ import annotations

import sympy
from flint import arb

from signallab.conditioning import identities
from signallab.kernels import orders
from signallab.slopes import from_zero
from signalprop.certify import Identity, prove_identity

__all__ = [
    "above",
    "bends_upwards",
    "below_the_diagonal",
    "critical_depth",
    "geometric_rate",
    "lemma_35",
    "lemma_35_at_one",
    "negative",
    "rate_in_the_end",
    "sharper_lemma_35",
    "slope_near_one",
    "slope_there",
    "without_the_logarithm",
]

j, k = sympy.symbols("j k", integer=True, positive=True)
r, p, m, a, x, delta, alpha = sympy.symbols("r p m a x delta alpha", positive=True)
half = sympy.Rational(1, 2)
beta = m * (1 - p) / 2


def bends_upwards() -> list[Identity]:
    """COND Lemma 31: on [0, 1] no power falls or bends downwards.

    >>> len(bends_upwards())
    2
    """
    first, second = k * r ** (k - 1), k * (k - 1) * r ** (k - 2)
    return [prove_identity((r**k).diff(r), first), prove_identity(first.diff(r), second)]


def below_the_diagonal() -> list[Identity]:
    """COND Lemma 32: ``r - s(r) >= m (r - p)(1 - r)`` between two fixed points, p and 1.

    At ``r = l + (1 - l) p`` order k contributes ``T_k = l + (1 - l) p^k - r^k`` to the left side,
    since p and 1 are fixed. ``T_0 = T_1 = 0``, ``T_2 = l (1 - l)(1 - p)^2``, and ``T_(k + 1) - T_k
    = (1 - l)(1 - p)(r^k - p^k)`` is not negative. In the variable r ``T_2`` is ``(r - p)(1 - r)``.
    It is positive between p and 1, so that there is no third fixed point.

    >>> len(below_the_diagonal())
    6
    """
    share = sympy.Symbol("l", positive=True)
    at = share + (1 - share) * p

    def term(order: sympy.Expr) -> sympy.Expr:
        return share + (1 - share) * p**order - at**order

    parabola = share * (1 - share) * (1 - p) ** 2
    return [
        prove_identity(term(sympy.S.Zero), sympy.S.Zero),
        prove_identity(term(sympy.S.One), sympy.S.Zero),
        prove_identity(term(sympy.Integer(2)), parabola),
        prove_identity(term(k + 1) - term(k), (1 - share) * (1 - p) * (at**k - p**k)),
        prove_identity(at - p, share * (1 - p)),
        prove_identity(parabola.subs(share, (r - p) / (1 - p)), (r - p) * (1 - r)),
    ]


def slope_there() -> list[Identity]:
    """COND Lemma 33: ``s'(p) <= 1 - m (1 - p)``; and ``s'(1) <= 1`` if p is 1.

    Both sides of Lemma 32 vanish at p, so that their slopes there compare: ``1 - s'(p)`` and ``m
    (1 - p)``. If ``p = 1``, then ``s(r) > r`` below 1, hence ``(1 - s(r))/(1 - r) < 1``, which
    tends to the slope.

    >>> len(slope_there())
    7
    """
    at_p = (m * (r - p) * (1 - r)).diff(r).subs(r, p)
    return [*below_the_diagonal(), prove_identity(at_p, m * (1 - p))]


def above() -> list[Identity]:
    """COND Lemma 34, first and second range: two lines above ``r`` less the parabola of Lemma 32.

    ``r - beta (1 - r)`` is above it from ``(1 + p)/2`` on, ``r - beta (r - p)`` from p up to there.

    >>> len(above())
    8
    """
    parabola, middle = m * (r - p) * (1 - r), (1 + p) / 2
    return [
        *below_the_diagonal(),
        prove_identity(parabola - beta * (1 - r), m * (1 - r) * (r - middle)),
        prove_identity(parabola - beta * (r - p), m * (r - p) * (middle - r)),
    ]


def negative() -> list[Identity]:
    """COND Lemma 34, last range: ``1 - s(-r) <= (1 - a)(1 + r)``, hence ``s(-r) >= -r + a``.

    Order 0 contributes nothing to the left side, and any other at most ``1 + r``, since ``(-r)^k +
    r`` is not negative. The difference of the two bounds is ``a r``.

    >>> len(negative())
    3
    """
    even, odd = (-r) ** (2 * j), (-r) ** (2 * j + 1)
    return [
        prove_identity(even + r, r * (1 + r ** (2 * j - 1))),
        prove_identity(odd + r, r * (1 - r ** (2 * j))),
        prove_identity((1 + r) - a - (1 - a) * (1 + r), a * r),
    ]


def lemma_35() -> list[Identity]:
    """COND Lemma 35, for ``p < 1`` and ``a > 0``.

    *Above p:* the size of a correlation is at most the path of its own size r. In the first range
    a layer multiplies ``1 - r`` by ``1 + beta`` at least, so that the first number of layers leads
    to ``(1 + p)/2`` or below; there the second range takes the distance to p down by ``1 - beta``.
    *Below p:* negative correlations rise by a at least, so that the second number of layers leads
    to 0 or above; there the third range takes the distance, at most p, down by ``s'(p)``. Both
    distances begin below ``(1 + p)/2``.

    >>> len(lemma_35())
    20
    """
    first = r - beta * (1 - r)
    second = r - beta * (r - p)
    return [
        *above(),
        *identities.mirrored(),
        *orders.between_zero_and_the_fixed_point(),
        *negative(),
        prove_identity(1 - first, (1 + beta) * (1 - r)),
        prove_identity(second - p, (1 - beta) * (r - p)),
        prove_identity((1 + p) / 2 - p, (1 - p) / 2),
    ]


def lemma_35_at_one() -> list[Identity]:
    """COND Lemma 35, ``p = 1``: as printed the distance is at most 1; in truth it falls by s'(1).

    Negative correlations have the distance ``1 + r``, which a layer shrinks by ``1 - a``. From 0 on
    it is at most 1, and ``1 - s(r) <= s'(1)(1 - r)``.

    >>> len(lemma_35_at_one())
    5
    """
    return [*negative(), *orders.geometric_fall()]


def sharper_lemma_35() -> list[Identity]:
    """COND Lemma 35, two-sided: ``(r - p)/(1 - r)`` falls by ``1/(1 + m (1 - p))`` a layer.

    By Lemma 32 a layer multiplies ``r - p`` by ``1 - m (1 - r)`` at most, and ``1 - r`` by ``1 + m
    (r - p)`` at least. The quotient of the two is at most ``1/(1 + m (1 - p))``, by a square. It
    begins at ``(1 - p)/delta - 1`` at most, and ``1 - r <= 1 - p``. *Below p* negative correlations
    leave as in :func:`negative`, and from 0 on the third range counts.

    >>> len(sharper_lemma_35())
    18
    """
    room = 1 + m * (r - p) - (1 - m * (1 - r)) * (1 + m * (1 - p))
    parabola = m * (r - p) * (1 - r)
    return [
        *below_the_diagonal(),
        *identities.mirrored(),
        *orders.between_zero_and_the_fixed_point(),
        *negative(),
        prove_identity(r - parabola - p, (r - p) * (1 - m * (1 - r))),
        prove_identity(room, m**2 * (1 - r) * (1 - p)),
        prove_identity((1 - delta - p) / delta, (1 - p) / delta - 1),
    ]


def slope_near_one() -> list[Identity]:
    """COND, proof of Lemma 36: ``1 - s'(1 - alpha) >= alpha mu >= 2 alpha m`` if ``s'(1) = 1``.

    Order i contributes ``i a_i (1 - (1 - alpha)^(i - 1))``, nothing if i is 1, and at least ``i a_i
    alpha`` from 2 on, as ``1 - r^k = (1 - r) h_k`` with ``h_k >= 1``. With ``s'(1) = 1`` ``sum_(i
    >= 2) i a_i`` is ``mu = 1 - a_1``, and at least 2 m.

    >>> len(slope_near_one())
    2
    """
    return orders.geometric_fall()


def without_the_logarithm() -> list[Identity]:
    """COND Lemma 36, sharper: ``1 - s^(L)(r) <= 1/(a L)`` for all r in [-1, 1] and ``L >= 1``.

    From 0 on the inverse of the distance grows by a at least, in each layer. Negative correlations
    have at first a distance of at most 2, which each layer multiplies by ``1 - a <= exp(-a)``: when
    they leave in layer l, the inverse is at least ``exp(a l)/2 >= a l``, because ``e^x >= 1 + x +
    x^2/2 >= 2x``.

    >>> len(without_the_logarithm())
    12
    """
    room = prove_identity(1 + x + x**2 / 2 - 2 * x, ((1 - x) ** 2 + 1) / 2)
    return [*orders.larger_growth(), *negative(), room]


def critical_depth() -> list[Identity]:
    """COND Lemma 36: its number of layers is larger than ``1/(a eps)``, which is enough.

    With ``x = eps mu/2`` it is ``log(2/eps) / -log(1 - x)``, and ``-log(1 - x) <= x/(1 - x)``: the
    difference is 0 at 0 and rises. As ``i - 1 >= i/2`` from order 2 on, ``a = sum_i (i - 1) a_i``
    is at least mu/2, and so ``1/(a eps) <= 1/x``. What is left is ``(1 - x) log(2/eps) >= 1`` for
    ``eps <= 1/2``, where ``x <= 1/4``: ``(3/4) log 4 > 1``. With m for mu the depth is larger.

    >>> len(critical_depth())
    15
    """
    if not 3 * arb(4).log() / 4 > 1:
        raise ArithmeticError("(3/4) log 4 must exceed 1")
    return [
        *without_the_logarithm(),
        *from_zero(x / (1 - x) + sympy.log(1 - x), x, x / (1 - x) ** 2),
        prove_identity((k - 1) - k * half, (k - 2) * half),
    ]


def geometric_rate() -> list[Identity]:
    """COND Theorem 11: ``|s^(L)(r) - p| <= c^L / delta`` for ``|r| <= 1 - delta``, ``p < 1``.

    With ``c = 1/(2 - s'(p))``, below 1 by Lemma 33. By ``f`` the slope s'(p) is meant.

    *Above p:* ``s(r) - p = (r - p) g``, and ``u = (1 - g)/(1 - r)`` does not fall with r: of order
    k, g is ``g_k = (r^k - p^k)/(r - p)`` and u is ``u_k``, with ``g_(k + 1) = r g_k + p^k`` and
    ``u_(k + 1) = u_k + g_k``. So ``u >= (1 - f)/(1 - p)``, its value at p. Then ``(1 - s(r))/(1 -
    r)`` exceeds ``(2 - f) g`` by ``(1 - f)^2 (1 - r)/(1 - p)`` at least: ``(r - p)/(1 - r)`` falls
    by c. It begins at ``(1 - p)/delta - 1``, and ``r - p`` is no larger.

    *In [-p, p]:* the third range from 0 on. Below, ``a >= p (1 - f)``, and the map is at most
    ``t = a + (p - a) r/p`` at r, hence at least ``2a - t`` at -r: the distance to p falls by ``f
    <= c``.

    *Beyond, at -r with r > p:* above p ``1/(1 - s(r))`` is at most ``1/D = (1 - c)/(1 - p) + c/(1 -
    r)``, and ``s(-r) >= 2a - s(r)``. Let ``w = 1/(1 - r) - 1/(1 + p)``. The next distance from p is
    at most ``2 f p + (1 - p - D)``, which is at most ``c w``. If the next correlation is below -p,
    then ``1 - |s| >= D + 2a``, and that is at least ``1/((1 - c)/(1 + p) + c/(1 - r))``, as ``2a >=
    2p (1 - c)``: w falls by c too. If it is above p, it is no larger than the path of its mirror
    image, for which the first case counts. At the start w is less than ``1/delta``, and distances
    are at most ``2 - delta``, which is no more.

    >>> len(geometric_rate())
    26
    """
    f, g, u, c, s = sympy.symbols("f g u c s", positive=True)
    g_k, g_next = ((r**i - p**i) / (r - p) for i in (k, k + 1))
    u_k, u_next = ((v.subs(r, 1) - v) / (1 - r) for v in (g_k, g_next))
    least = (1 - f) / (1 - p)
    room = 1 + (r - p) * u - (2 - f) * (1 - (1 - r) * u)
    line = a + (p - a) * r / p
    near, far = (1 / ((1 - c) / (1 + sign * p) + c / (1 - r)) for sign in (-1, 1))
    excess = c * (1 / (1 - r) - 1 / (1 - p))
    return [
        *slope_there(),
        *identities.mirrored(),
        *orders.between_zero_and_the_fixed_point(),
        prove_identity(g_next, r * g_k + p**k),
        prove_identity(u_next, u_k + g_k),
        prove_identity(((1 - p) - (r - p) * g) / (1 - r), 1 + (r - p) * (1 - g) / (1 - r)),
        prove_identity(room, u * ((1 - p) + (1 - f) * (1 - r)) - (1 - f)),
        prove_identity(room.subs(u, least), (1 - f) ** 2 * (1 - r) / (1 - p)),
        prove_identity((s - p) / (1 - s), (1 - p) / (1 - s) - 1),
        prove_identity(1 / (2 - f) - f, (1 - f) ** 2 / (2 - f)),
        prove_identity(p - (2 * a - line), (p - a) / p * (p + r)),
        prove_identity((1 - p) - near, near * (1 - p) * excess),
        prove_identity(c / (1 - p) - c / (1 + p), 2 * p * c / ((1 - p) * (1 + p))),
        prove_identity(far - near, near * far * (1 - c) * 2 * p / ((1 - p) * (1 + p))),
        prove_identity((1 - 1 / (2 - f)) * (2 - f), 1 - f),
        prove_identity(1 / delta - (2 - delta), (1 - delta) ** 2 / delta),
    ]


def rate_in_the_end() -> list[Identity]:
    """COND Theorem 11: late layers multiply the distance to p by the slope there, ``f = s'(p)``.

    *``p < 1``.* A layer multiplies ``r - p`` by g, and neither g nor ``u = (1 - g)/(1 - r)`` falls
    with r on [0, 1], as in :func:`geometric_rate`. So g lies between f and ``f + (1 - f)(r - p)/(1
    - p)``, which is what u at p makes of it. Negative correlations leave, as in :func:`negative`,
    unless p is 0; then order k contributes ``r^(k - 1)`` to ``g - f``, at most r in size from 2 on.

    *``p = 1``.* A layer multiplies ``1 - r`` by ``sum_k a_k h_k`` with ``h_k = (1 - r^k)/(1 - r)``.
    This is at most k, and less than that by ``(1 - r) k (k - 1)/2`` at most: so up to any order the
    sum tends to that of the slope, and what is beyond the order is as small as one likes.

    As the correlation tends to p, which :func:`signallab.kernels.orders.one_attractor` says, the
    factor tends to the slope.

    >>> len(rate_in_the_end())
    9
    """
    f = sympy.Symbol("f", positive=True)
    g_k, g_next = ((r**i - p**i) / (r - p) for i in (k, k + 1))
    u_k, u_next = ((v.subs(r, 1) - v) / (1 - r) for v in (g_k, g_next))
    h_k, h_next = ((1 - r**i) / (1 - r) for i in (k, k + 1))
    short, short_next = (
        (1 - r) * i * (i - 1) / 2 - (i - h) for i, h in ((k, h_k), (k + 1, h_next))
    )
    return [
        prove_identity(g_k.subs(k, 1), sympy.S.One),
        prove_identity(g_next, r * g_k + p**k),
        prove_identity(u_k.subs(k, 1), sympy.S.Zero),
        prove_identity(u_next, u_k + g_k),
        prove_identity((1 - f) - (1 - f) / (1 - p) * (1 - r), (1 - f) * (r - p) / (1 - p)),
        prove_identity(r - r ** (k + 1), r * (1 - r**k)),
        prove_identity(h_next, h_k + r**k),
        prove_identity(short.subs(k, 1), sympy.S.Zero),
        prove_identity(short_next - short, (1 - r) * (k - h_k)),
    ]
