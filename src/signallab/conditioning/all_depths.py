"""Statements of COND about every number of layers: one layer by algebra, and induction.

Each function returns the identities of one statement; its docstring says how the statement follows.
Throughout s is the dual of a normalized activation, ``q(r) = (1 - mu) r + mu r^2`` the parabola
above it, and ``L_0`` the least number with ``delta (1 + mu/2)^L_0 >= 1/2``. What holds for all
matrices rests besides on Gershgorin's discs, or on Schur's theorem on entrywise products.
"""

from __future__ import annotations

import sympy

from signallab.conditioning import identities
from signallab.slopes import from_zero
from signalprop.certify import Identity, prove_identity

__all__ = [
    "best_tangent_kernel",
    "bound_falls",
    "chain_of_the_tangent_kernel",
    "chains_of_the_floor",
    "decay",
    "diagonal_of_the_tangent_kernel",
    "discs",
    "discs_of_the_tangent_kernel",
    "floor",
    "loss_of_the_index",
    "loss_of_the_tangent_index",
    "other_lengths",
    "potentials",
    "slopes",
    "tangent_condition",
    "tangent_floor",
    "tangent_kernel",
    "tangent_potentials",
]

k, n = sympy.symbols("k n", integer=True, positive=True)
r, mu, delta, d, b, p = sympy.symbols("r mu delta d b p", positive=True)
logarithm, half_depth, wait = sympy.symbols("l h w", positive=True)  # l = -log(1 - mu/2)
up, down = 1 + mu / 2, 1 - mu / 2


def decay() -> list[Identity]:
    """COND Lemma 22 and Theorem 3: ``|s^(L)(rho)| <= q^(L)(1 - delta) <= B(L, delta)`` for all L.

    A layer takes a correlation of size r to one of size ``q(r)`` at most, by Lemma 21, and q rises;
    so sizes stay below the iterates of q. These stay below B: as long as ``d = delta up^k`` is at
    most 1/2, the first line takes ``1 - d`` to ``1 - delta up^(k + 1)``. After L_0 layers d is 1/2
    or more, and from there on the second line takes ``down^k / 2`` to ``down^(k + 1) / 2``.

    >>> len(decay())
    11
    """
    parabola = (1 - mu) * r + mu * r**2
    return [
        *identities.mirrored(),
        *identities.two_lines(),
        prove_identity(parabola.diff(r), (1 - mu) + 2 * mu * r),
        prove_identity(1 - up * (delta * up**k), 1 - delta * up ** (k + 1)),
        prove_identity(down * (down**k / 2), down ** (k + 1) / 2),
    ]


def bound_falls() -> list[Identity]:
    """COND, definition of B: it does not rise with the depth, from the first layer on.

    Within a branch ``delta up^k`` grows and ``down^k`` falls. Between them: if ``L_0 >= 1``, then
    ``delta up^L_0 < up/2``, so that the first branch ends above ``1 - up/2``, and that is
    ``down/2``, with which the second begins.

    >>> len(bound_falls())
    3
    """
    return [
        prove_identity(up ** (k + 1) - up**k, mu / 2 * up**k),
        prove_identity(down**k - down ** (k + 1), mu / 2 * down**k),
        prove_identity(1 - up / 2, down / 2),
    ]


def floor() -> list[Identity]:
    """COND Lemma 23 and Theorem 7: ``K^(.k) = (K - delta)^(.k) + (1 - (1 - delta)^k)``.

    Off the diagonal both sides are the k-th powers of the entries of K, on it they are 1. By
    Schur the first matrix on the right is positive semi-definite. Summed over the orders the second
    is ``f(1) - f(1 - delta)``; with :func:`decay` it is ``1 - B`` at least.

    >>> len(floor())
    12
    """
    return [prove_identity((1 - delta) ** k + (1 - (1 - delta) ** k), sympy.S.One), *decay()]


def discs() -> list[Identity]:
    """COND Corollary 4 and its proof: ``(n - 1) B <= 1/2``, and ``kappa <= 1 + 4 (n - 1) B``.

    With ``l = -log(1 - mu/2)`` and ``L - L_0 >= log(n)/l`` the power ``exp(-l (L - L_0))`` in B is
    at most 1/n; for n = 1 there are no discs. ``(1 + x)/(1 - x) <= 1 + 4x`` for x in [0, 1/2]. The
    print has ``L_1`` for ``L_0`` in the exponent and n for ``n - 1``, which only raises the bound.

    >>> len(discs())
    14
    """
    return [*_reach(n, sympy.Rational(1, 2)), *decay()]


def loss_of_the_index() -> list[Identity]:
    """COND Corollary 4 as printed, less 1, is more than n times what its proof gives.

    With ``p = 1 - mu/2`` their quotient is ``n/(n - 1)`` times ``p^-(L_1 - L_0)``, which is at
    least n, as ``L_1 - L_0 >= log(n)/l``.

    >>> len(loss_of_the_index())
    2
    """
    depth = sympy.Symbol("L", positive=True)
    printed, proved = 2 * n * p ** (depth - wait), 2 * (n - 1) * p**depth
    return [
        prove_identity(printed / proved, n / (n - 1) * p**-wait),
        prove_identity(logarithm * (sympy.log(n) / logarithm), sympy.log(n)),
    ]


def chains_of_the_floor() -> list[Identity]:
    """COND Corollary 8 and both chains of its proof, for every L.

    Discs and floor give ``kappa - 1 <= n b/(1 - b)`` with ``b = B``. *Up to L_0:* ``b = 1 - d``
    with ``d = delta up^L``, and ``n (1 - d)/d`` is less than ``n/d`` by n. *Beyond:* ``b = p/2``
    with the power ``p <= 1`` of ``1 - mu/2``. The second link leaves ``n p (1 - p)/(2 - p)``, the
    third rests on ``up down <= 1``, and the last on ``delta up^L_0 <= 1``: if ``L_0 >= 1`` it is
    less than ``up/2``, which is below 1 by ``(2 - mu)/4``.

    >>> len(chains_of_the_floor())
    17
    """
    return [
        prove_identity((1 + (n - 1) * b) / (1 - b) - 1, n * b / (1 - b)),
        prove_identity(n / d - n * (1 - d) / (1 - (1 - d)), n),
        prove_identity(n * p - (n / 2) * p / (1 - p / 2), n * p * (1 - p) / (2 - p)),
        prove_identity(1 - up * down, mu**2 / 4),
        prove_identity(1 - up / 2, (2 - mu) / 4),
        *floor(),
    ]


def potentials() -> list[Identity]:
    """COND Corollary 8, sharper: ``b/(1 - b)`` falls by ``1/(1 + mu)`` a layer, at least.

    The parabola takes b to ``q = b (1 - mu (1 - b))``, whose potential is less than that by ``mu^2
    b`` over positive numbers; and ``x/(1 - x)`` rises with x. It begins at ``(1 - delta)/delta``.

    >>> len(potentials())
    2
    """
    q = b * (1 - mu * (1 - b))
    left = b / (1 - b) / (1 + mu) - q / (1 - q)
    return [
        prove_identity(left, mu**2 * b / ((1 + mu) * (1 + mu * b))),
        prove_identity((1 - delta) / (1 - (1 - delta)), 1 / delta - 1),
    ]


def other_lengths() -> list[Identity]:
    """COND Theorem 42 with its waiting time rounded up: ``B`` of ``mu/2`` from there on.

    By Theorem 37 distances of squared norms from 1 shrink by ``1 - alpha <= exp(-alpha)`` a layer,
    so that after ``log(4 M/mu)/alpha`` layers they are at most ``mu/4``, and stay so. Until then no
    correlation grows in size (Lemma 41). From then on the coefficients of both inputs are ``3
    mu/4`` at least, and so ``mu/2``; and a layer takes a size r to ``r (1 - mu/2 (1 - r^2))`` at
    most, which is below the parabola of :func:`decay` with ``mu/2`` for mu.

    >>> len(other_lengths())
    37
    """
    alpha, most = sympy.symbols("alpha M", positive=True)
    waited = most * sympy.exp(-alpha * (sympy.log(4 * most / mu) / alpha))
    return [
        *identities.norms_come_to_one(),
        *from_zero(sympy.exp(-alpha) - (1 - alpha), alpha, 1 - sympy.exp(-alpha)),
        prove_identity(waited, mu / 4),
        *identities.coefficient_near_norm_one(),
        prove_identity(3 * mu / 4 - mu / 2, mu / 4),
        *identities.odd_layer(),
        *decay(),
    ]


def slopes() -> list[Identity]:
    """COND Lemma 26, and with ``2 mu / (1 + mu)`` for mu: slopes of the dual.

    With ``S = sum_(i >= 2) i a_i^2``, at least ``2 mu``, the slope at 1 is ``1 - mu + S``. As
    ``r - r^(i - 1)`` is not negative for ``i >= 2``, the ratio of slopes is at most ``1 - S/(1 - mu
    + S) (1 - r)``. A negative correlation has no larger slope than its mirror image.

    >>> len(slopes())
    4
    """
    total = sympy.Symbol("S", positive=True)
    share, sharper = total / (1 - mu + total), 2 * mu / (1 + mu)
    over = (1 - mu) * (total - 2 * mu) / ((1 + mu) * (1 - mu + total))
    return [
        prove_identity(r - r ** (k + 1), r * (1 - r**k)),
        prove_identity((1 - mu + total * r) / (1 - mu + total), 1 - share * (1 - r)),
        prove_identity(share - sharper, over),
        prove_identity(sharper - mu, mu * (1 - mu) / (1 + mu)),
    ]


def diagonal_of_the_tangent_kernel() -> list[Identity]:
    """COND, proof of Theorem 27: ``sum_(h = 1)^(L + 1) x^(L + 1 - h) = (x^(L + 1) - 1)/(x - 1)``.

    For L = 0 it is 1; a layer more multiplies the sum by the slope x at 1 and adds 1.

    >>> len(diagonal_of_the_tangent_kernel())
    2
    """

    def total(layers: sympy.Expr) -> sympy.Expr:
        return (p ** (layers + 1) - 1) / (p - 1)

    first = prove_identity(total(sympy.S.Zero), sympy.S.One)
    return [first, prove_identity(total(k + 1), 1 + p * total(k))]


def tangent_kernel() -> list[Identity]:
    """COND Theorem 5: entries over the diagonal are at most ``B(L)``, and so ``2 B(L/2)``.

    The ratio is an average over h of ``s^(h - 1)(rho)`` times ratios of slopes (Eq. 7, mended). By
    Lemma 26 the size b after a layer brings the factor ``1 - mu (1 - b)``; and ``b (1 - mu (1 -
    b)) = q(b)``. As both factors rise with b, each product is at most the L-th iterate of q, which
    is at most B(L). With ``p = 1 - mu/2``, beyond ``2 L_0`` B(L) is ``p^(L - L_0)/2``, that is
    ``2 B(L/2)`` times ``p^(L/2)/2``. At ``L = 2 L_0 >= 2`` one has ``2 B(L_0) > p >= B(L)``. With
    B in the place of the iterates each product is at most B(L) too, as q takes B to the next. With
    the printed index the factors have the next B, which is no larger from layer 1 on; and at layer
    0, if ``B(1) > B(0)``, then both are at most 1/2 and ``p B(0)`` is at most B(1).

    >>> len(tangent_kernel())
    18
    """
    return [
        prove_identity(b * (1 - mu * (1 - b)), (1 - mu) * b + mu * b**2),
        prove_identity(p ** (2 * half_depth - wait), p ** (half_depth - wait) * p**half_depth),
        prove_identity(2 * (1 - up / 2), down),
        *slopes(),
        *decay(),
    ]


def best_tangent_kernel() -> list[Identity]:
    """COND Theorem 5, sharper: no relative entry exceeds that of the quadratic, at any depth.

    With the iterates of q for the sizes and the sharper slopes of Lemma 26, at most ``1 - m (1 -
    b)`` for ``m = 2 mu / (1 + mu)``, term h is at most a ``U_h``. From h to h + 1 a factor of ``1 -
    m (1 - b)`` is lost and b becomes ``b (1 - mu (1 - b))``: U does not fall. The weights of the
    average are powers of the slope x at 1, ``x^(L + 1 - h)``. Of two slopes ``x > y`` the average
    by x less that by y sums over pairs of terms, k apart; each pair contributes, over positive
    numbers, ``(x^k - y^k)(U_h - U_(h + k))``, which is not positive. So it is largest for the least
    slope, ``1 + mu``. The quadratic has that slope, and is equal to its bounds. As all ``U_h`` are
    at most the last, the L-th iterate of q, the average is at most B(L).

    >>> len(best_tangent_kernel())
    24
    """
    m = 2 * mu / (1 + mu)
    total, slope, least = sympy.symbols("S x y", positive=True)
    early, late = sympy.symbols("U V", positive=True)
    pair = slope**k * (early - late) + least**k * (late - early)
    return [
        *tangent_kernel(),
        prove_identity(b * (1 - mu * (1 - b)) - b * (1 - m * (1 - b)), b * (m - mu) * (1 - b)),
        prove_identity(m - mu, mu * (1 - mu) / (1 + mu)),
        prove_identity(pair, (slope**k - least**k) * (early - late)),
        prove_identity((1 - mu + total) - (1 + mu), total - 2 * mu),
        prove_identity(1 + mu, (1 - mu) + 2 * mu),
        prove_identity((1 - mu + 2 * mu * b) / (1 + mu), 1 - m * (1 - b)),
    ]


def tangent_floor() -> list[Identity]:
    """COND Theorem 9: ``lambda_min >= (1 - 2 B(L/2))`` times the diagonal, at every depth.

    By Lemma 23, order by order as in :func:`floor`, it is at least 1 less the largest relative
    entry, and so less ``B(L)``. From ``2 L_0`` on that is :func:`tangent_kernel`. Before, ``2
    B(L/2) = 2 - 2 delta up^(L/2)`` is at least 1 up to ``L = 2 L_0 - 2``. At ``2 L_0 - 1`` it
    exceeds ``2 - sqrt(up)``, and so 1/2, as up is at most 3/2; B is no more if ``L_0 > 1``. If
    ``L_0 = 1``, then with ``x^2 = up`` and ``delta < 1/2`` it exceeds ``B(1) = 1 - delta x^2``, as
    ``x (2 - x) <= 1``.

    >>> len(tangent_floor())
    21
    """
    x = sympy.Symbol("x", positive=True)
    room = 2 - 2 * delta * x - (1 - delta * x**2)
    return [
        *floor()[:1],
        *tangent_kernel(),
        prove_identity(room, 1 - delta * x * (2 - x)),
        prove_identity(1 - x * (2 - x), (1 - x) ** 2),
    ]


def discs_of_the_tangent_kernel() -> list[Identity]:
    """COND, proof of Corollary 28: ``2 (n - 1) B(L/2) <= 1/2`` for ``L >= L_2``.

    ``2 B(L/2)`` is ``exp(-l (L/2 - L_0))``, and ``L/2 - L_0 >= log(2n)/l``.

    >>> len(discs_of_the_tangent_kernel())
    3
    """
    return _reach(2 * n, sympy.S.One)


def tangent_condition() -> list[Identity]:
    """COND Corollary 6, and with ``L_1`` and ``B(L)`` in its place, by discs as in Corollary 4.

    Relative entries are at most ``2 B(L/2)`` and ``B(L)``. The print has ``L_2`` for ``L_0`` in the
    exponent and n for ``n - 1``, which only raises the bound.

    >>> len(tangent_condition())
    24
    """
    half = sympy.Rational(1, 2)
    return [*_reach(n, half), *_reach(2 * n, sympy.S.One), *tangent_kernel()]


def loss_of_the_tangent_index() -> list[Identity]:
    """COND Corollary 6 as printed, less 1, is more than ``4 n^2`` times what its proof gives.

    With ``p = 1 - mu/2`` their quotient is ``n/(n - 1)`` times ``p^-(L_2 - L_0)``, and ``L_2 - L_0
    >= 2 log(2n)/l``, which raises ``1/p = exp(l)`` to ``4 n^2``.

    >>> len(loss_of_the_tangent_index())
    2
    """
    printed, proved = 4 * n * p ** (half_depth - wait), 4 * (n - 1) * p**half_depth
    return [
        prove_identity(printed / proved, n / (n - 1) * p**-wait),
        prove_identity(logarithm * (2 * sympy.log(2 * n) / logarithm), 2 * sympy.log(2 * n)),
    ]


def tangent_potentials() -> list[Identity]:
    """COND Corollary 10, at every depth: ``kappa - 1 <= n (1/delta - 1) (1 + mu)^-L``.

    Discs and floor give ``n b/(1 - b)`` with the L-th iterate b of the parabola, as relative
    entries are no larger. Its potential is that of :func:`potentials`, and ``2 (1 + mu/2)^(-L/2)``
    is larger than ``(1 + mu)^-L``, as ``1 + mu`` exceeds ``1 + mu/2``.

    >>> len(tangent_potentials())
    23
    """
    excess = prove_identity((1 + (n - 1) * b) / (1 - b) - 1, n * b / (1 - b))
    return [excess, *floor()[:1], *tangent_kernel(), *potentials(), _more_per_layer()]


def chain_of_the_tangent_kernel() -> list[Identity]:
    """COND, proof of Corollary 28, part 2, for ``delta <= 1/4``: its four links.

    ``p = down^(L/2 - L_0)``, with ``2 B(L/2) = p``. The first link is that of the discs, ``2 n p``
    exceeds the second term by ``n p (1 - 2p)/(1 - p)``, and ``p <= 1/2`` as the half of the proof,
    which holds for these delta: ``down^L_0 <= up^-L_0 <= 2 delta``. The others are those of
    :func:`chains_of_the_floor`.

    >>> len(chain_of_the_tangent_kernel())
    4
    """
    return [
        prove_identity((1 + (n - 1) * p) / (1 - p) - 1, n * p / (1 - p)),
        prove_identity(2 * n * p - n * p / (1 - p), n * p * (1 - 2 * p) / (1 - p)),
        prove_identity(1 - up * down, mu**2 / 4),
        prove_identity(1 - up / 2, (2 - mu) / 4),
    ]


def _more_per_layer() -> Identity:
    return prove_identity((1 + mu) - up, mu / 2)


def _reach(points: sympy.Expr, entry: sympy.Expr) -> list[Identity]:
    """Discs reach to 1/2 at most, less ``1/(2n)``; and ``(1 + x)/(1 - x) <= 1 + 4x`` up to there.

    Their radius x is n - 1 times ``entry exp(-l wait)`` with ``wait >= log(points)/l``.
    """
    half = sympy.Rational(1, 2)
    return [
        prove_identity(-logarithm * (sympy.log(points) / logarithm), -sympy.log(points)),
        prove_identity(half - (n - 1) * entry / points, 1 / (2 * n)),
        prove_identity(1 + 4 * p - (1 + p) / (1 - p), 2 * p * (1 - 2 * p) / (1 - p)),
    ]
