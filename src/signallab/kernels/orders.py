"""Statements of KER about all kernel maps, proved for every order of the power series at once.

A kernel map ``kappa(rho) = sum_k a_k rho^k`` has weights that are not negative and sum to 1. So a
statement that is linear in the weights holds for all activations if it holds for the powers
``rho^k``. For these computer algebra proves identities in which the order k is a symbol. Each
function returns the identities of one statement; its docstring says how the statement follows.

Throughout ``h_k = (1 - rho^k) / (1 - rho) = 1 + rho + ... + rho^(k - 1)``, with ``h_0 = 0``.
"""

from __future__ import annotations

import sympy

from signalprop.certify import Identity, prove_identity

__all__ = [
    "below_zero",
    "between_zero_and_the_fixed_point",
    "first_hermite_polynomials",
    "fixed_by_depth",
    "geometric_fall",
    "growth_of_the_inverse_distance",
    "larger_growth",
    "odds_shrink",
    "one_attractor",
    "recurrence_of_hermite",
    "repaired_case_4",
]

j, k = sympy.symbols("j k", integer=True, positive=True)
rho, r, x, m = sympy.symbols("rho r x m", positive=True)


def odds_shrink() -> list[Identity]:
    r"""KER Theorem 5.8: a layer divides ``rho / (1 - rho)`` by ``2 - kappa'(0)`` at least.

    With ``a_0 = 0``, ``kappa = rho g`` and ``1 - kappa = (1 - rho) h``, the claim for rho in [0, 1)
    is ``h - (2 - a_1) g >= 0``. As ``h_k - rho^(k - 1) = h_(k - 1)`` and the weights from order 2
    on sum to ``1 - a_1``, this is ``sum_(k >= 2) a_k (h_(k - 1) - g) >= 0``. And ``h_(k - 1) >= 1``
    by the recursion from ``h_1 = 1``, while ``g`` is an average of numbers that are at most 1.

    >>> len(odds_shrink())
    2
    """
    return [prove_identity(_sum(k) - rho ** (k - 1), _sum(k - 1)), _recursion()]


def one_attractor() -> list[Identity]:
    r"""KER Theorem 5.11: all cosines go to one point, which is in [0, 1], if some order bends.

    *On [0, 1):* ``kappa(rho) - rho = sum_k a_k (rho^k - rho)``, and ``rho^k - rho = (1 - rho)
    (1 - h_k)``. By the recursion, differentiated, ``h_k`` increases strictly for ``k >= 2``. So
    ``1 - sum_k a_k h_k`` falls strictly: ``kappa(rho) - rho`` is positive up to one point ``rho*``
    and negative beyond, where either part may be empty. As ``kappa`` does not fall and maps [0, 1)
    to itself or all of it to 1, the cosines move to ``rho*`` and do not pass it; 1 repels if
    ``rho* < 1``. *On (-1, 0):* ``rho^k - rho > 0`` for every order but 1, by the two identities for
    even and odd orders at ``-r``. Cosines rise, until they leave or reach the only fixed point
    there may be at the end, 0; and -1 does not attract.

    >>> len(one_attractor())
    5
    """
    slope = prove_identity(_sum(k + 1).diff(rho), _sum(k) + rho * _sum(k).diff(rho))
    powers = prove_identity(rho**k - rho, (1 - rho) * (1 - _sum(k)))
    return [_recursion(), slope, powers, *_below_zero()]


def geometric_fall() -> list[Identity]:
    """KER Theorem 5.11, case 2: ``|1 - kappa(rho)| <= kappa'(1) |1 - rho|``.

    ``1 - rho^k = (1 - rho) h_k``, and ``|h_k| <= k`` on [-1, 1] by the recursion; ``sum_k k a_k``
    is ``kappa'(1)``.

    >>> len(geometric_fall())
    2
    """
    return [prove_identity(1 - rho**k, (1 - rho) * _sum(k)), _recursion()]


def growth_of_the_inverse_distance() -> list[Identity]:
    """KER Theorem 5.11, case 3: ``1 / (1 - rho)`` grows by ``sum_(k >= 2) a_k`` a layer at least.

    As ``sum_k k a_k = sum_k a_k = 1``, ``kappa(rho) - rho = (1 - rho)^2 sum_(k >= 2) a_k g_k`` with
    ``g_k = (k - h_k) / (1 - rho)``. From ``g_2 = 1`` on ``g_k`` does not fall with k, as ``h_k`` is
    not negative on [-1, 1). With g for the last sum a layer takes the distance x to ``x (1 - x
    g)``, whose inverse is ``1/x + g/(1 - x g)``.

    >>> len(growth_of_the_inverse_distance())
    4
    """
    return [
        prove_identity(rho**k - 1 - k * (rho - 1), (1 - rho) ** 2 * _second(k)),
        prove_identity(_second(k + 1), _second(k) + _sum(k)),
        prove_identity(_second(2), sympy.S.One),
        prove_identity(1 / (x * (1 - x * m)), 1 / x + m / (1 - x * m)),
    ]


def larger_growth() -> list[Identity]:
    """The growth of case 3 with ``kappa(0)`` from acute angles, and half of it from obtuse ones.

    On [0, 1) even ``h_k >= 1``, so that ``g_k >= k - 1``; and ``sum_(k >= 2) (k - 1) a_k = a_0``,
    as ``sum_k (k - 1) a_k = 0``. Below 0 ``1 - rho^k <= 1 - rho`` for ``k >= 1``, hence a layer
    takes the distance x to at most ``x (1 - a_0)``, whose inverse is at least ``(1 + a_0)/x``; and
    x is at most 2.

    >>> len(larger_growth())
    8
    """
    inverse = prove_identity(1 / (x * (1 - m)), (1 + m) / x + m**2 / (x * (1 - m)))
    return [*growth_of_the_inverse_distance(), _recursion(), *_below_zero(), inverse]


def between_zero_and_the_fixed_point() -> list[Identity]:
    """KER, proof of Theorem 5.11, display (d): ``rho* - kappa(rho) <= kappa'(rho*) (rho* - rho)``.

    For ``rho = r q`` with ``r = rho*`` and q in [0, 1] (here the symbol rho): ``r^k - (r q)^k =
    r^(k - 1) (r - r q) h_k(q)``, and ``0 <= h_k <= k``.

    >>> len(between_zero_and_the_fixed_point())
    2
    """
    left = r**k - r**k * rho**k
    return [prove_identity(left, r ** (k - 1) * (r - r * rho) * _sum(k)), _recursion()]


def repaired_case_4() -> list[Identity]:
    """KER Theorem 5.11, cases 1 and 4, mended: a layer multiplies W by ``1/(2 - m)`` at most.

    ``W = |rho - p| max(1, (1 - p)/(1 - |rho|))`` with p the fixed point below 1, and m the slope
    there. *Above p:* about p the map has a series with weights that are not negative; in the
    variable ``x = (rho - p)/(1 - p)`` they sum to 1 and the first is m, so that :func:`odds_shrink`
    says it, as ``x/(1 - x) = (rho - p)/(1 - rho)``. *From 0 to p* the distance shrinks by m, and
    ``m <= 1/(2 - m)``. *Below 0, at -r:* ``kappa(-r) >= 2 kappa(0) - kappa(r)``, as powers at -r
    and r sum to 0 or to more. From ``kappa(0)`` on ``k p^(k - 1) r`` exceeds ``r^k`` for ``r <=
    p``; that gives ``p - kappa(0) <= m p`` and, up to p, ``m (p + r)`` for the distance. For ``r >
    p`` it is at most ``2 m p + (s - p)`` with ``s = kappa(r)``, or the first case goes on; divided
    by what is at least ``1 - s``, and so ``1 - r``, the two terms are at most the rate times ``2
    p/(1 - r)`` and ``(r - p)/(1 - r)``, which sum to the potential of -r.

    >>> len(repaired_case_4())
    10
    """
    p = sympy.Symbol("p", positive=True)
    share = (rho - p) / (1 - p)
    q = rho  # r = p q, with q in [0, 1]
    return [
        *odds_shrink(),
        prove_identity(share / (1 - share), (rho - p) / (1 - rho)),
        *between_zero_and_the_fixed_point(),
        prove_identity(1 / (2 - m) - m, (1 - m) ** 2 / (2 - m)),
        prove_identity((-r) ** (2 * j) + r ** (2 * j), 2 * r ** (2 * j)),
        prove_identity((-r) ** (2 * j + 1) + r ** (2 * j + 1), sympy.S.Zero),
        prove_identity(k * p ** (k - 1) * (p * q) - p**k * q**k, p**k * q * (k - q ** (k - 1))),
        prove_identity(2 * p / (1 - r) + (r - p) / (1 - r), (p + r) / (1 - r)),
    ]


def below_zero() -> list[Identity]:
    """KER, proof of Theorem 5.11, display (e): ``1 - kappa(0)`` times nearer from below 0.

    Let ``m = kappa(0)`` and ``x = rho*``, where ``m <= x <= 1``. For ``k >= 1`` the power
    ``(-r)^k`` lies between ``-r`` and ``r``, and so ``kappa(-r)`` between ``m - (1 - m) r`` and
    ``m + (1 - m) r``. The distance of either end from x is less than ``(1 - m) (r + x)`` by a sum
    of products that are not negative.

    >>> len(below_zero())
    4
    """
    allowed, low, high = (1 - m) * (r + x), m - (1 - m) * r, m + (1 - m) * r
    return [
        *_below_zero(),
        prove_identity(allowed - (x - low), m * (1 - x)),
        prove_identity(allowed - (high - x), (x - m) + (1 - m) * x),
    ]


def first_hermite_polynomials() -> list[Identity]:
    """KER Table 5.1: ``He_k`` and ``he_k = He_k / sqrt(k!)`` for k = 0..4, from the definition.

    >>> len(first_hermite_polynomials())
    10
    """
    y = sympy.Symbol("y", real=True)
    printed = [sympy.S.One, y, y**2 - 1, y**3 - 3 * y, y**4 - 6 * y**2 + 3]
    factors = [1, 1, 1 / sympy.sqrt(2), 1 / sympy.sqrt(6), 1 / sympy.sqrt(24)]
    found = []
    for order, (he, factor) in enumerate(zip(printed, factors, strict=True)):
        derived = (-1) ** order * sympy.exp(y**2 / 2) * sympy.exp(-(y**2) / 2).diff(y, order)
        found.append(prove_identity(derived, he))
        normalized = derived / sympy.sqrt(sympy.factorial(order))
        found.append(prove_identity(normalized, factor * he))
    return found


def recurrence_of_hermite() -> list[Identity]:
    """KER Definition 5.4: ``he_(k + 1) = (y he_k - sqrt(k) he_(k - 1)) / sqrt(k + 1)``, for all k.

    By Taylor's series the definition has the generating function ``exp(y^2/2 - (y - t)^2/2) =
    exp(y t - t^2/2) = G``, with ``He_k t^k / k!``. ``dG/dt = (y - t) G`` says ``He_(k + 1) = y He_k
    - k He_(k - 1)``; divide by ``sqrt((k + 1)!)``. It begins with ``He_0 = 1``, the value of G at
    0, and ``He_1 = y``, its slope.

    >>> len(recurrence_of_hermite())
    5
    """
    y, t, now, before, f = sympy.symbols("y t a b f", positive=True)  # f = (k - 1)!
    generating = sympy.exp(y * t - t**2 / 2)
    integers = y * sympy.sqrt(k * f) * now - k * sympy.sqrt(f) * before
    normalized = (y * now - sympy.sqrt(k) * before) / sympy.sqrt(k + 1)
    return [
        prove_identity(y**2 / 2 - (y - t) ** 2 / 2, y * t - t**2 / 2),
        prove_identity(generating.diff(t), (y - t) * generating),
        prove_identity(integers / sympy.sqrt((k + 1) * k * f), normalized),
        prove_identity(generating.subs(t, 0), sympy.S.One),
        prove_identity(generating.diff(t).subs(t, 0), y),
    ]


def fixed_by_depth() -> list[Identity]:
    """KER Remark 5.13: the identity fixes all cosines, the cube and any odd activation -1 and 1.

    ``x^3 = He_3 + 3 He_1`` has the squares 6 and 9, so that ``15 kappa = 9 rho + 6 rho^3``, and
    ``kappa(rho) - rho`` has the factors ``rho - 1`` and ``rho + 1``. The map of an odd activation
    has odd orders only, with ``(-rho)^(2 j + 1) = -rho^(2 j + 1)``; so ``kappa(-1) = -kappa(1)``.
    The identity is ``He_1``, with ``kappa = rho``.

    >>> len(fixed_by_depth())
    3
    """
    y = sympy.Symbol("y", real=True)
    kappa = (9 * rho + 6 * rho**3) / 15
    return [
        prove_identity(y**3, (y**3 - 3 * y) + 3 * y),
        prove_identity(kappa - rho, sympy.Rational(2, 5) * rho * (rho - 1) * (rho + 1)),
        prove_identity((-rho) ** (2 * j + 1), -(rho ** (2 * j + 1))),
    ]


def _sum(order: sympy.Expr) -> sympy.Expr:
    return (1 - rho**order) / (1 - rho)


def _second(order: sympy.Expr | int) -> sympy.Expr:
    return (order - _sum(sympy.sympify(order))) / (1 - rho)


def _recursion() -> Identity:
    return prove_identity(_sum(k + 1), 1 + rho * _sum(k))


def _below_zero() -> list[Identity]:
    """``(-r)^k + r`` for even and for odd k: positive for r in (0, 1) unless k is 1."""
    even, odd = (-r) ** (2 * j), (-r) ** (2 * j + 1)
    return [
        prove_identity(even + r, r * (1 + r ** (2 * j - 1))),
        prove_identity(odd + r, r * (1 - r ** (2 * j))),
    ]
