"""Displays of MF that are algebra, proved for all batches n, all widths d and all matrices.

Each function returns the identities of one display; its docstring says how the display follows.
"""

from __future__ import annotations

import sympy

from signallab.slopes import from_zero
from signalprop.certify import Identity, prove_identity

__all__ = [
    "change_of_variables",
    "choice_of_the_radius",
    "fixed_point_of_linear_networks",
    "growth",
    "laws_do_not_move_apart",
    "normalized_neurons",
    "rate_and_triangle",
    "symmetric_matrices",
    "wishart_step",
]

n, d, t, epsilon = sympy.symbols("n d t epsilon", positive=True)
B = sympy.Symbol("B", positive=True)

#: The matrix ``p I + q 1 1^T`` by its two numbers.
Symmetric = tuple[sympy.Expr, sympy.Expr]
CENTRING: Symmetric = (sympy.S.One, -1 / n)


def normalized_neurons() -> list[Identity]:
    """MF Eq. 3.1 for all n: a normalized neuron has mean 0 and mean square 1 over the batch.

    By the sums of its n values and of their squares.

    >>> len(normalized_neurons())
    2
    """
    first, second = sympy.symbols("S_1 S_2")
    mean = first / n
    variance = second / n - mean**2
    squares = second - 2 * mean * first + n * mean**2
    return [
        prove_identity(first - n * mean, sympy.S.Zero),
        prove_identity(squares / variance / n, sympy.S.One),
    ]


def symmetric_matrices() -> list[Identity]:
    """MF Eq. 3.3 at matrices that no exchange of samples changes: where the recursion rests.

    ``M (a I + b 1 1^T) M = a M`` for all n, a and b. So the recentred vector has one direction in
    law, whatever the matrix, and all of these go to one and the same in a layer.

    >>> len(symmetric_matrices())
    2
    """
    a, b = sympy.symbols("a b")
    found = _times(_times(CENTRING, (a, b)), CENTRING)
    return [prove_identity(entry, a * half) for entry, half in zip(found, CENTRING, strict=True)]


def fixed_point_of_linear_networks() -> list[Identity]:
    """MF Corollary 3.1, mended, for all n: ``n M / (n - 1)``, and it is singular.

    It is a multiple of M, and its trace is n as normalized rows have norm ``sqrt n``: entries are 1
    and ``-1/(n - 1)``, and the vector of ones goes to 0.

    >>> len(fixed_point_of_linear_networks())
    3
    """
    diagonal, off = (n / (n - 1) * entry for entry in (sum(CENTRING), CENTRING[1]))
    return [
        prove_identity(diagonal, sympy.S.One),
        prove_identity(off, -1 / (n - 1)),
        prove_identity(diagonal + (n - 1) * off, sympy.S.Zero),
    ]


def growth() -> list[Identity]:
    """MF, after Theorem 3.2: ``|phi(x)| <= |x|`` on the whole line; for SELU with its slope at -0.

    ``x - tanh x`` is 0 at 0 and never falls. SiLU and GELU are x times a number from 0 to 1, ReLU
    x times 0 or 1. ELU and SELU are lines for ``x > 0``, and for ``x = -y < 0`` negative multiples
    of ``1 - e^-y``. It is at most y: the difference is 0 at 0, and its slope is not negative.

    >>> len(growth())
    5
    """
    x, y = sympy.Symbol("x", real=True), sympy.Symbol("y", positive=True)
    share = 1 / (1 + sympy.exp(-x))  # SiLU over x
    return [
        *from_zero(x - sympy.tanh(x), x, sympy.tanh(x) ** 2),
        prove_identity(1 - share, share * sympy.exp(-x)),
        *from_zero(y - (1 - sympy.exp(-y)), y, 1 - sympy.exp(-y)),
    ]


def wishart_step() -> list[Identity]:
    """MF Figure 3.1 without normalization: the moments of a product of Wishart matrices.

    A layer takes G to ``sum_r x_r x_r^T / d`` over d rows of law ``N(0, G)``. With s and t the
    trace of ``G^2`` and the square of the trace, ``E (x.x)^2`` sums ``l m`` over pairs of different
    eigenvalues, t - s together, and ``3 l^2``. The traces after the layer sum over pairs of rows,
    d of which are equal: of the others ``(x.y)^2`` has the mean s, and ``(x.x)(y.y)`` has t.

    >>> len(wishart_step())
    4
    """
    s, g = sympy.symbols("s g", real=True)
    square = sympy.Symbol("t")
    density = sympy.exp(-(g**2) / 2) / sympy.sqrt(2 * sympy.pi)
    second, fourth = (
        sympy.integrate(g**power * density, (g, -sympy.oo, sympy.oo)) for power in (2, 4)
    )
    same = second**2 * (square - s) + fourth * s
    return [
        prove_identity(second, sympy.S.One),
        prove_identity(same, square + 2 * s),
        prove_identity((d * (d - 1) * s + d * same) / d**2, (1 + 1 / d) * s + square / d),
        prove_identity((d * (d - 1) * square + d * same) / d**2, square + 2 * s / d),
    ]


def rate_and_triangle() -> Identity:
    """MF (3.8), and (B.34) to (B.35), for every chain: what the rate leaves of a distance D.

    ``|T mu - mu| >= |mu - pi| - |T mu - pi|``, of which the last is at most ``(1 - alpha) D``.

    >>> rate_and_triangle().symbols
    ('D', 'alpha')
    """
    distance, alpha = sympy.symbols("D alpha", positive=True)
    return prove_identity(distance - (1 - alpha) * distance, alpha * distance)


def laws_do_not_move_apart() -> list[Identity]:
    """MF (3.4): no kernel moves two laws apart in total variation; one state at a time.

    At a state one law exceeds the other by ``plus`` or falls short by ``minus``. Both sum to the
    distance D, as laws have one mass. An event has after a step the probability f from that state,
    between 0 and 1: what ``f (plus - minus)`` leaves to ``plus``, and to ``-minus``, has no
    negative term. So the sum over the states is between -D and D, for each event. With f 1 where
    ``plus`` is, and 0 elsewhere, it is D, which is why D is the distance. For laws that are no sums
    the same holds of their densities beside the sum of both.

    >>> len(laws_do_not_move_apart())
    3
    """
    f, plus, minus = sympy.symbols("f plus minus", positive=True)
    moved = f * (plus - minus)
    return [
        prove_identity(plus - moved, (1 - f) * plus + f * minus),
        prove_identity(minus + moved, f * plus + (1 - f) * minus),
        prove_identity(moved.subs({f: 1, minus: 0}), plus),
    ]


def change_of_variables() -> list[Identity]:
    """MF (B.11) to (B.13), (B.14) mended, and (B.24) to (B.26): exponents and powers of t.

    >>> len(change_of_variables())
    3
    """
    line_11 = (d * t**2 / 2) / (4 * n**2 * B**2 + 2 * B * n * t / 3)
    line_13 = d * t**2 / (8 * n**2 * B**2 * (1 + t / (6 * n * B)))
    line_14 = t**2 / (1 + sympy.sqrt(2) * t / (3 * sympy.sqrt(d)))
    moved = line_13.subs(t, t * sympy.sqrt(8) * B * n / sympy.sqrt(d))
    return [
        prove_identity(line_11, line_13),
        prove_identity(moved, line_14),
        prove_identity((1 / t).subs(t, t**2), t**-2),
    ]


def choice_of_the_radius() -> Identity:
    """MF (B.44) to (B.45), mended: ``t^2 = ln(2 / (3 epsilon^2))`` makes both terms alike.

    The last term is an exponential of a logarithm.

    >>> choice_of_the_radius().symbols
    ('epsilon',)
    """
    square = sympy.log(2 / (3 * epsilon**2))
    both = 3 * square * epsilon**2 / 2 + sympy.exp(-square)
    return prove_identity(both, 3 * epsilon**2 / 2 * (1 + square))


def _times(left: Symmetric, right: Symmetric) -> Symmetric:
    """The product; ``1 1^T`` times itself is n times it."""
    (p, q), (r, s) = left, right
    return p * r, p * s + q * r + n * q * s
