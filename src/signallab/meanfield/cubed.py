"""A fixed point of MF Eq. 3.3 that repels, in balls: the cube, and six samples, one of them long.

``phi(x) = x^3`` where ``|x| <= sqrt(n - 1)``, as every normalized entry is, and ``(n - 1) x``
beyond, so that ``|phi(x)| <= (n - 1) |x|``. With one sample apart the recursion is a map of one
number, the ratio (:mod:`signallab.meanfield.one_apart`, which has the same map in doubles). For the
cube its integrals are over one variable.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy
from flint import acb, arb

from signalprop.certify import Counterexample, ball, exceeds, prove_identity, prove_positive

__all__ = ["condition", "elasticity", "entries", "next_ratio", "repelled", "shares"]

SAMPLES = 6
BEND = SAMPLES - 1  # the square of where the cube ends, and the slope of the line beyond it
RATIO = 4  # at which the chain starts
FORGOTTEN = (2, 32)  # ratios whose paths have one limit
TRAPPED = 8  # from here to the end of these, the map of the logarithm contracts
#: Of integrals over a box, which are no sharper than the box: a tolerance, and where to give up.
COARSE: Mapping[str, Any] = {"rel_tol": 1e-4, "abs_tol": 1e-4, "eval_limit": 300}


def shares(ratio: arb, power: int, n: int = SAMPLES) -> list[arb]:
    """Return ``E a^(2k) c^(2 power - 2k)`` for k from 0 to ``power``, with ``a^2 + c^2 = 1``.

    a is the share of the direction e in the normalized neuron: ``a = sqrt(ratio) x / L`` and ``c =
    sqrt(1 - x^2) / L`` with ``L^2 = 1 - x^2 + ratio x^2``, where x has on (-1, 1) a density
    proportional to ``(1 - x^2)^((n - 4)/2)``. Here n is even, which makes all this rational.
    In ``c^2 = (1 - x^2) / (1 + (ratio - 1) x^2)`` a ratio that is a box occurs once, so that little
    is lost.

    >>> second = shares(arb(1), 1)[1]      # of a coordinate on the sphere in five dimensions
    >>> second.contains(0.2), float(second.rad()) < 1e-9
    (True, True)
    """
    if n % 2 or n < 4:
        raise ValueError(f"n must be even and at least 4, got {n}")

    def term(k: int, x: acb, _: bool) -> acb:
        rest = 1 - x * x
        across = rest / (1 + (ratio - 1) * x * x)
        found: acb = rest ** (n // 2 - 2) * (1 - across) ** k * across ** (power - k)
        return found

    how = {} if ratio.is_exact() else COARSE
    mass = acb.integral(lambda x, _: (1 - x * x) ** (n // 2 - 2), 0, 1)
    return [
        (acb.integral(functools.partial(term, k), 0, 1, **how) / mass).real
        for k in range(power + 1)
    ]


def entries(n: int = SAMPLES) -> dict[str, list[Fraction]]:
    """Return the entries of the next Gram matrix as sums over the shares of power 3.

    Sample 1 has the entry ``sqrt(n - 1) a``, another ``s c t - a / sqrt(n - 1)`` with ``s^2 = n/(n
    - 1)`` and its entry t in a normalized batch of n - 1: ``sqrt m`` times a coordinate on a sphere
    in ``m = n - 2`` dimensions. Odd powers of t have no mean; two of the t have the cosine -1/m.

    >>> entries()["first square"]
    [Fraction(0, 1), Fraction(0, 1), Fraction(0, 1), Fraction(125, 1)]
    """
    none = Fraction(0)
    return {
        "first square": [none, none, none, Fraction((n - 1) ** 3)],
        "first other": [none, none, Fraction(-3 * n), Fraction(-1)],
        "other square": _products(n, Fraction(1)),
        "others": _products(n, Fraction(-1, n - 2)),
    }


def next_ratio(ratio: arb, n: int = SAMPLES) -> arb:
    """Return the ratio after a layer.

    >>> next_ratio(arb(1)).contains(1)
    True
    """
    found = shares(ratio, 3, n)
    above, below = (_sum(row, found) for row in _ratio(n))
    return above / below


def elasticity(ratio: arb, n: int = SAMPLES) -> arb:
    """Return the slope of the logarithm of the next ratio in the logarithm of the ratio.

    With ``q = d/d log ratio`` a share of power 3 has ``q E a^(2k) c^(6 - 2k) = k E a^(2k) c^(8 -
    2k) - (3 - k) E a^(2k + 2) c^(6 - 2k)``, as ``q log a^2 = c^2`` and ``q log c^2 = -a^2``.

    >>> at_one = elasticity(arb(1))
    >>> at_one.overlaps(arb(15) / 13), bool(at_one > 1)
    (True, True)
    """
    four = shares(ratio, 4, n)
    three = [four[k] + four[k + 1] for k in range(4)]
    slopes = [k * four[k] - (3 - k) * four[k + 1] for k in range(4)]
    above, below = (_sum(row, slopes) / _sum(row, three) for row in _ratio(n))
    return above - below


def condition(n: int = SAMPLES) -> Fraction:
    """Return the condition number of G*, exactly: it has one entry on and one off the diagonal.

    >>> condition()
    Fraction(117, 40)
    """
    square, product = _symmetric(n)
    both = square + (n - 1) * product, square - product
    return max(both) / min(both)


def repelled(
    kappa: bool = True, alpha: Fraction = Fraction(1, 20), depth: int = 200
) -> Counterexample:
    """MF Theorem 3.2 at infinite width, ``|G_l - G*| <= kappa start (1 - alpha)^(l/2)``; Eq. 3.9.

    Eq. 3.9, without ``kappa``, has the constant ``2 start``; start is the distance at layer 0. The
    ratio never falls below that of the start: the map of ratios rises, its value at 4 exceeds 4,
    that at 32 is less than 32. The entry of sample 1 rises with the ratio, as ``q E a^6 = 3 E
    a^6 c^2``. So no layer is nearer to G* than that entry is at the start.

    >>> bool(repelled().left > 15), bool(repelled().right < 0.3)
    (True, True)
    """
    n, start = SAMPLES, shares(arb(RATIO), 3)
    square, product = _symmetric(n)
    found = {name: _sum(row, start) for name, row in entries(n).items()}
    least = found["first square"] - ball(square)
    off = [  # how often an entry is in the matrix, and how far it is from that of G*
        (1, least),
        (2 * (n - 1), found["first other"] - ball(product)),
        (n - 1, found["other square"] - ball(square)),
        ((n - 1) * (n - 2), found["others"] - ball(product)),
    ]
    distance = sum((often * value * value for often, value in off), arb(0)).sqrt()
    factor, times = (ball(condition(n)), "") if kappa else (arb(2), "twice ")
    right = factor * distance * ball(1 - alpha) ** (depth // 2)
    at = (
        f"φ(x) = x³ for |x| ≤ √{BEND} and {BEND}x beyond, n = {n}, infinite width, from ratio "
        f"{RATIO}; every layer is as far from G* as left at least, right is the bound at layer "
        f"{depth} with α = {alpha} and {times}the distance at the start for its constant"
    )
    return exceeds(least, right, at=at, given=_hypotheses())


@functools.cache
def _hypotheses() -> dict[str, bool]:
    """What is supposed of the chain, each proved; a proof that fails raises.

    Ratios from 2 to 8 grow by a factor above 1 in each layer, so that all come to [8, 32], which
    the map keeps; there the logarithm of the next ratio is a contraction.
    """
    low, high = FORGOTTEN
    prove_positive(elasticity, [(low, high)])
    prove_positive(lambda ratio: next_ratio(ratio) / ratio - 1, [(low, TRAPPED)])
    prove_positive(lambda ratio: 1 - elasticity(ratio), [(TRAPPED, high)])
    kept = next_ratio(arb(RATIO)) > RATIO and next_ratio(arb(high)) < high
    x = sympy.Symbol("x")
    prove_identity(BEND * x - x**3, x * (BEND - x**2))  # not negative for x up to the bend
    one_limit = f"the start is forgotten: all ratios from {low} to {high} have one limit"
    return {
        f"|φ(x)| ≤ {BEND} |x|": BEND > 0,
        "G* repels: an eigenvalue exceeds 1": bool(elasticity(arb(1)) > 1),
        f"G* is not degenerate: κ = {condition()}": condition() > 0,
        one_limit: bool(kept),
    }


def _symmetric(n: int) -> tuple[Fraction, Fraction]:
    """The entries of G*: ``E u^6`` and ``E u^3 v^3`` of two entries of a normalized neuron.

    These are ``sqrt(n - 1)`` times coordinates on a sphere in ``n - 1`` dimensions, of cosine
    ``-1/(n - 1)``.
    """
    return _third_powers(n - 1, Fraction(1)), _third_powers(n - 1, Fraction(-1, n - 1))


def _third_powers(m: int, q: Fraction) -> Fraction:
    """``E t^3 u^3`` for coordinates of cosine q on a sphere of radius sqrt m in m dimensions."""
    return m**2 * (9 * q + 6 * q**3) / ((m + 2) * (m + 4))


def _products(n: int, q: Fraction) -> list[Fraction]:
    """``E (s c t - p a)^3 (s c u - p a)^3`` by shares: ``p^2 = 1/(n - 1)``, t and u of cosine q.

    Only even powers of s and p enter.
    """
    m, s_square, p_square = n - 2, Fraction(n, n - 1), Fraction(1, n - 1)
    two_by_two, one_by_three = m * (1 + 2 * q**2) / (m + 2), 3 * m * q / (m + 2)
    return [
        s_square**3 * _third_powers(m, q),
        s_square**2 * p_square * (9 * two_by_two + 6 * one_by_three),
        s_square * p_square**2 * (9 * q + 6),
        p_square**3,
    ]


@functools.cache
def _ratio(n: int) -> tuple[list[Fraction], list[Fraction]]:
    """Numerator and denominator of the next ratio, by shares: the two eigenvalues."""
    rows = zip(*entries(n).values(), strict=True)
    both = [
        (((n - 1) * (first - 2 * mixed) + other + (n - 2) * others) / n, other - others)
        for first, mixed, other, others in rows
    ]
    return [above for above, _ in both], [below for _, below in both]


def _sum(row: Sequence[Fraction], values: Sequence[arb]) -> arb:
    return sum((ball(x) * value for x, value in zip(row, values, strict=True)), arb(0))
