"""Hermite polynomials, expansions of activations, and Mehler's formula (KER, Section 5.2).

Statements are functions of points that give both sides; each side has a source of its own: symbolic
differentiation, rational arithmetic, Gauss quadrature, or the library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import sympy

import signalprop as sp
from signallab.case import Case
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.limits.expansions import hermite_coefficients, hermite_polynomials

__all__ = [
    "ACTIVATIONS",
    "PRINTED",
    "closed_coefficients",
    "definition",
    "exact_sum",
    "expansion",
    "largest_term",
    "mehler_series",
    "missing_after",
    "moments",
    "orthogonality",
    "partial_sums",
    "product_moment",
    "rational_values",
    "recurrence",
    "squared_coefficients",
    "table_5_1",
    "tail",
]

TERMS = 600  # of Mehler's series
X = sympy.Symbol("x")

#: KER Table 5.1 as printed: He_k, and the factor of he_k.
PRINTED: Sequence[tuple[str, str]] = (
    ("1", "1"),
    ("x", "1"),
    ("x**2 - 1", "1/sqrt(2)"),
    ("x**3 - 3*x", "1/sqrt(6)"),
    ("x**4 - 6*x**2 + 3", "1/sqrt(24)"),
)

#: Activations with the jump of their derivative at 0, which decides how their coefficients decay.
ACTIVATIONS: Mapping[str, Activation] = {
    name: getattr(sp.activations, name) for name in ("tanh", "relu", "exp", "gelu", "selu")
}


@cache
def definition(k: int, width: Fraction = Fraction(1, 2), sign: int = -1) -> sympy.Poly:
    """Return He_k as KER Definition 5.4 has it, by differentiation.

    ``width`` is the factor of x^2 in the exponent (1 gives the polynomials of physics), ``sign``
    what is raised to the power k.

    >>> definition(3)
    Poly(x**3 - 3*x, x, domain='ZZ')
    """
    bell = sympy.exp(-sympy.Rational(width) * X**2)
    ratio = sympy.simplify(sympy.Integer(sign) ** k * sympy.diff(bell, X, k) / bell)
    return sympy.Poly(sympy.expand(ratio), X)


def rational_values(x: Fraction, order: int) -> list[float]:
    """Return he_0(x), ..., he_order(x) from exact rational arithmetic, rounded once at the end."""
    before, now, values = Fraction(0), Fraction(1), []
    for k in range(order + 1):
        values.append(math.copysign(math.sqrt(now**2 / math.factorial(k)), now))
        before, now = now, x * now - k * before
    return values


def recurrence(order: int, of: Callable[[int], sympy.Poly] = definition) -> Callable[..., Case]:
    """The three-term recurrence gives he_0, ..., he_order of the definition at ``x``.

    Both sides are multiplied by exp(-x^2/4), which makes the polynomials of the order of 1.
    """

    def statement(x: Fraction) -> Case:
        damping = math.exp(-(float(x) ** 2) / 4)
        exact = [
            float(of(k).eval(sympy.Rational(x))) / math.sqrt(math.factorial(k))
            for k in range(order + 1)
        ]
        left = hermite_polynomials(np.array([float(x)]), order)[0]
        return Case(left * damping, np.array(exact) * damping, words=f"x = {x}")

    return statement


def table_5_1(of: Callable[[int], sympy.Poly] = definition) -> Callable[..., Case]:
    """Row k of KER Table 5.1, both columns, against the definition: coefficients, lowest first."""

    def statement(k: int) -> Case:
        printed, factor = (sympy.sympify(text) for text in PRINTED[k])
        columns = [
            (sympy.Poly(printed, X), of(k)),
            (
                sympy.Poly(factor * printed, X),
                sympy.Poly(of(k).as_expr() / sympy.sqrt(sympy.factorial(k)), X),
            ),
        ]
        left, right = (np.concatenate([_padded(pair[i]) for pair in columns]) for i in (0, 1))
        return Case(left, right, words=f"row {k}")

    return statement


def _padded(polynomial: sympy.Poly) -> Floats:
    coefficients = [float(c) for c in reversed(polynomial.all_coeffs())]
    return np.array(coefficients + [0.0] * (len(PRINTED) - len(coefficients)))


def product_moment(k: int, n: int) -> int:
    """Return E He_k(X) He_n(X) exactly, from E X^2m = (2m - 1)!!.

    >>> product_moment(3, 3), product_moment(2, 4)
    (6, 0)
    """
    terms = (definition(k) * definition(n)).terms()
    return int(sum(c * sympy.factorial2(n - 1) for (n,), c in terms if n % 2 == 0))


def orthogonality(norm: Callable[[int], float] = math.factorial) -> Callable[..., Case]:
    """KER Eq. 5.5: E He_k He_l is ``norm(k)`` (k!, as printed) if k = l, and 0 otherwise."""

    def statement(k: int, n: int) -> Case:
        right = float(norm(k)) if k == n else 0.0
        return Case(float(product_moment(k, n)), right, words=f"k = {k}, l = {n}")

    return statement


def expansion(name: str, order: int) -> Floats:
    """Return the Hermite coefficients ``(order + 1,)`` of one of :data:`ACTIVATIONS`."""
    return np.asarray(hermite_coefficients(ACTIVATIONS[name], order))


def closed_coefficients(name: str, order: int) -> Floats:
    """Return ``|c_k|`` in closed form for ``exp`` and ``relu``.

    ``c_k^2`` is e/k! for the exponential (differentiate k times under the expectation); for ReLU it
    is 1/(2 pi) at 0, 1/4 at 1, and ((k-3)!!)^2 / (2 pi k!) at even k, 0 at odd.

    >>> float(closed_coefficients("relu", 2)[2] ** 2 * 4 * np.pi).__round__(12)
    1.0
    """
    if name == "exp":
        return np.array([math.sqrt(math.e / math.factorial(k)) for k in range(order + 1)])
    squares = [0.25 if k == 1 else 0.0 for k in range(order + 1)]
    for k in range(0, order + 1, 2):
        odd = math.prod(range(1, k - 2, 2))
        squares[k] = odd**2 / math.factorial(k) / (2 * math.pi)
    return np.sqrt(squares)


def squared_coefficients(order: int, least: float) -> pd.DataFrame:
    """Return activation, order and squared coefficient, from order 1 on and above ``least``."""
    frames = [
        pd.DataFrame({"activation": name, "order": range(order + 1), "squared coefficient": c**2})
        for name in ACTIVATIONS
        for c in [expansion(name, order)]
    ]
    rows = pd.concat(frames, ignore_index=True)
    return rows[(rows["squared coefficient"] > least) & (rows["order"] > 0)]


def missing_after(name: str, order: int) -> float:
    """Return E phi^2 minus the squares of the coefficients up to ``order``."""
    return float(ACTIVATIONS[name].second_moment - (expansion(name, order) ** 2).sum())


def jump_of_slope(name: str) -> float:
    """Return the jump of the derivative at 0, exactly 0 for the smooth activations."""
    if name not in ("relu", "selu"):
        return 0.0
    slope = ACTIVATIONS[name].derivative
    return float(slope(1e-12) - slope(-1e-12))


def tail(order: int, share: float = 1.0) -> Callable[..., Case]:
    """What an expansion misses after ``order`` is the tail of its kink, up to the next order in
    1/K.

    ``|missing - share tail| <= (10 / K) tail + rounding``: the next term is smaller by 1/K, with a
    factor of a few units, of which 10 are allowed.
    """

    def statement(name: str) -> Case:
        predicted = float(sp.theory.hermite_tail(order, [0.0, jump_of_slope(name)]))
        off = abs(missing_after(name, order) - share * predicted)
        return Case(off, 10 / order * predicted + 1e-12, words=f"{name}, order {order}")

    return statement


def moments(order: int, right: Callable[[float, int], Floats] | None = None) -> Callable[..., Case]:
    """KER Lemma 5.6: E he_n(X) he_k(Y) is rho^n if n = k, else 0, for all n, k up to ``order``.

    The left side is a product of Gauss rules in X and in the independent part of Y, exact for
    polynomials of these orders. ``right`` is another claim, of rho and the order.
    """
    claimed = right or (lambda rho, size: np.diag(rho ** np.arange(size + 1)))

    def statement(rho: float) -> Case:
        nodes, weights = np.polynomial.hermite_e.hermegauss(order + 1)
        weights = weights / math.sqrt(2 * math.pi)
        first = hermite_polynomials(nodes, order)
        y = rho * nodes[:, None] + math.sqrt(1 - rho**2) * nodes
        second = hermite_polynomials(y, order)
        left = np.einsum("a,b,an,abk->nk", weights, weights, first, second)
        return Case(left, claimed(rho, order), words=f"correlation {rho:g}")

    return statement


def partial_sums(x: float, y: float, rho: float, terms: int) -> Floats:
    """Return the partial sums ``(terms,)`` of sum_m rho^m he_m(x) he_m(y)."""
    values = hermite_polynomials(np.array([x, y]), terms - 1)
    return np.asarray(np.cumsum(values[0] * values[1] * rho ** np.arange(terms)))


def mehler_series(
    power: Callable[[float], float] = lambda rho: rho, terms: int = TERMS
) -> Callable[..., Case]:
    """Mehler's formula: the ratio of densities is the sum of power(rho)^m he_m(x) he_m(y).

    Right is ``power(rho) = rho``; the display in the proof of KER Lemma 5.6 has 1.
    """

    def statement(x: float, y: float, rho: float) -> Case:
        left = float(sp.theory.mehler_kernel(x, y, rho))
        right = float(partial_sums(x, y, power(rho), terms)[-1])
        words = f"$x = {x:g}$, $y = {y:g}$, $\\rho = {rho:g}$, {terms} terms of the sum"
        return Case(left, right, words=words)

    return statement


def largest_term(x: float, y: float, rho: float, terms: int = TERMS) -> float:
    """Return the size of the largest term of Mehler's series, beside which a small sum cancels.

    >>> largest_term(0.0, 0.0, 0.5)
    1.0
    """
    steps = np.diff(partial_sums(x, y, rho, terms), prepend=0.0)
    return float(np.abs(steps).max())


def exact_sum(x: Fraction, y: Fraction, rho: Fraction, terms: int = TERMS) -> float:
    """Return the sum of Mehler's series in fractions, rounded once, at the end.

    >>> round(exact_sum(Fraction(0), Fraction(0), Fraction(3, 5)), 12)
    1.25
    """
    total, weight = Fraction(0), Fraction(1)
    before, now = (Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))
    for m in range(terms):
        total += now[0] * now[1] * weight  # He_m(x) He_m(y) rho^m / m!
        before, now = now, (x * now[0] - m * before[0], y * now[1] - m * before[1])
        weight *= rho / (m + 1)
    return float(total)
