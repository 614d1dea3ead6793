r"""An infinitely wide layer of ORTH in closed form, and what ball arithmetic proves with it.

The *worst* spectrum with the smallest entry ``s`` has its other entries equal (proof of ORTH
Lemma 8: the logarithm of the integrand of Eq. 15 is a convex symmetric function of the others). Put
``theta = (1/x - 1) / (2 b)`` in Eq. 15, with ``b`` the value of the others: the integral becomes
Euler's for a hypergeometric function of ``z = (1 - u) / (1 - u/n)``, ``u = n s``, and

.. math:: \frac1n - p_n = (1 - r) \Bigl(\frac1n - s\Bigr), \qquad
    r = \frac{2 (1 - z)}{n + 2}\; {}_2F_1\Bigl(\frac32, 2; \frac n2 + 2; z\Bigr) .

For every other spectrum ``r`` is a lower bound. It falls in ``z`` for n >= 2, as all coefficients
of its power series but the first are at most 0: so it rises with ``s``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

import pandas as pd
import sympy
from flint import acb, arb

from signallab.regions import regions
from signalprop.certify import Identity, Proof, prove_identity, prove_positive

__all__ = [
    "convexity",
    "factor_h_2",
    "lemma_4",
    "lemma_6",
    "lemma_7",
    "lemma_8",
    "map_of_theorem_1",
    "rate",
    "room_at_infinite_width",
    "room_of_failure",
    "room_of_lemma_8",
    "room_of_the_best_constant",
    "room_of_theorem_1",
    "tangent",
    "theorem_1_for_two_samples",
]

#: Every batch of two samples or more by ``1/n``, and every worst spectrum by ``z``.
ALL = [(0, 0.5), (0, 1)]
TERMS = 12  # of series with positive terms, of which a part is a lower bound


def rate(samples: int, share: arb) -> arb:
    """Return the ``r`` by which the distance from orthogonality shrinks, ``share = n s`` in [0, 1].

    It rises with the share, so that the ends of the ball enclose it.

    >>> rate(3, arb(1)).overlaps(arb(2) / 5)  # near orthogonality 2 / (n + 2)
    True
    """
    ends = [_rate(samples, end) for end in (share.lower(), share.upper())]
    return ends[0].union(ends[1])


def room_of_lemma_8(inverse: arb, z: arb) -> arb:
    r"""Return a lower bound of ``r / s - 2/3``, which ORTH Lemma 8 says is not negative.

    ``inverse`` is 1/n, taken as a real number: ``r / s = (1 - z/n) sum_k b_k z^(k-1)`` with the
    positive ``b_k`` of :func:`_terms`. So every n is in one closed interval, with its limit.

    >>> bool(room_of_lemma_8(arb(0.25), arb(0.5)) > 0)
    True
    """
    total = sum((b * z ** (k - 1) for k, b in _terms(inverse)), arb(0))
    return (1 - z * inverse) * total - arb(2) / 3


def room_of_the_best_constant(inverse: arb, z: arb) -> arb:
    r"""Return a lower bound of ``(r / s - 2n/(n+2)) n / z``, for the best constant of the lemma.

    Its coefficients ``n (b_(k+1) - b_k / n)`` are positive for n >= 2:
    ``b_(k+1) n / b_k = (k+1)(2k+1) / (k (1 + 2(k+1)/n))``.

    >>> bool(room_of_the_best_constant(arb(0.25), arb(0.5)) > 0)
    True
    """
    total = arb(0)
    for k, b in _terms(inverse):
        grown = arb((k + 1) * (2 * k + 1)) / (k * (1 + 2 * (k + 1) * inverse))
        total += b * (grown - 1) * z ** (k - 1)
    return total


def lemma_8() -> list[Proof]:
    """Prove ORTH Lemma 8 for every n >= 2 and every spectrum, as printed and with 2n/(n+2).

    >>> len(lemma_8())
    2
    """
    return [prove_positive(f, ALL) for f in (room_of_lemma_8, room_of_the_best_constant)]


def room_of_theorem_1(samples: int) -> Callable[[arb], arb]:
    r"""Return ``r sqrt(n) / y - 2/3`` as a function of ``y = alpha sqrt(n)``, in [0, 1].

    Where it is not negative, a layer that obeys ``sigma_n >= alpha`` shrinks the distance from
    orthogonality by ``1 - 2/3 alpha`` at least, which is the display that ORTH Theorem 1 rests on.

    >>> bool(room_of_theorem_1(2)(arb(0.5)) > 0), bool(room_of_theorem_1(9)(arb(0.99)) < 0)
    (True, True)
    """
    return lambda y: rate(samples, y**2) * arb(samples).sqrt() / y - arb(2) / 3


def theorem_1_for_two_samples() -> Proof:
    r"""Prove that for two samples the room of :func:`room_of_theorem_1` is positive on [0, 1].

    With the singular values x < w, ``x^2 + w^2 = 1``, it is ``2 w / (x + w)^2 - 2/3``, by
    ``p_2 = x / (x + w)``.

    >>> theorem_1_for_two_samples().margin > 0
    True
    """

    def room(y: arb) -> arb:
        x = y / arb(2).sqrt()
        w = (1 - x**2).sqrt()
        return 2 * w / (x + w) ** 2 - arb(2) / 3

    return prove_positive(room, [(0, 1)])


def room_at_infinite_width(samples: int) -> Callable[[arb], arb]:
    r"""Return the room of ORTH Theorem 1 at infinite width, over all layers, by ``alpha sqrt(n)``.

    Two over the gap's bound at layer l + 1, ``sqrt(n (n-1)) vhat``, times ``(1 - 2/3 alpha)^l``,
    the least of all l, less 1. The distance ``vhat`` is followed along worst spectra from
    ``s = alpha^2``; both grow with each other, so that no other path is above. From the layer on
    where r reaches ``2/3 alpha`` the quotient rises. Not a number where r never does, or where
    the least is not positive: it is a lower bound, and proves nothing then.

    >>> bool(room_at_infinite_width(3)(arb("0.1")) > 0)
    True
    """
    n, scale = samples, (arb(samples) * (samples - 1)).sqrt()

    def room(y: arb) -> arb:
        wanted = 2 * y.upper() / (3 * arb(n).sqrt())
        if not wanted < arb(2) / (n + 2) or not y > 0:
            return arb("nan")
        share, quotient, least = y.lower() ** 2, arb(2), arb("inf")
        while True:
            at = quotient * n / (scale * (1 - share)) - 1
            if not at > 0 or share >= 1:
                return arb("nan")
            least = least.min(at)
            shrinks = rate(n, share)
            if shrinks > wanted:
                return least
            quotient *= 1 - wanted
            share = (1 - (1 - share) * (1 - shrinks)).lower()

    return room


def room_of_failure(samples: int) -> Callable[[arb], arb]:
    r"""Return ``y - 3 sqrt(n) / (n + 2)``, positive where ``1 - 2/3 alpha < n / (n + 2)``.

    Then, at infinite width, the bound of ORTH Theorem 1 falls faster than the gap does in the end.

    >>> bool(room_of_failure(9)(arb(0.9)) > 0), bool(room_of_failure(3)(arb(1)) > 0)
    (True, False)
    """
    return lambda y: y - 3 * arb(samples).sqrt() / (samples + 2)


def map_of_theorem_1(batches: Iterable[int], size: float) -> pd.DataFrame:
    r"""Return where ORTH Theorem 1 is proved and refuted: intervals of ``alpha sqrt(n)``, per n.

    Columns are ``samples``, ``share from``, ``share to``, ``parts``, the number of intervals with
    this answer in a row, and ``the theorem``. It *holds* at every width and depth where one layer
    shrinks by ``1 - 2/3 alpha`` or more. It *holds at infinite width* where
    :func:`room_at_infinite_width` is positive. It *fails* there, deep enough, where
    :func:`room_of_failure` is positive. Otherwise it is *open*. Intervals without a sign are at
    most ``size`` long.

    >>> found = map_of_theorem_1([2, 9], 0.1)
    >>> sorted(found.query("samples == 9")["the theorem"].unique())
    ['fails', 'holds at infinite width', 'open']
    """
    parts = []
    for n in batches:
        rooms: dict[str, Callable[[arb], arb]] = {
            "holds": room_of_theorem_1(n),
            "fails": room_of_failure(n),
            "holds at infinite width": room_at_infinite_width(n),
        }
        proved = {words: regions(f, {"share": (0, 1)}, size) for words, f in rooms.items()}
        ends = sorted({end for found in proved.values() for end in found["share from"]} | {1.0})
        answers = [
            next((words for words, found in proved.items() if _holds(found, low)), "open")
            for low in ends[:-1]
        ]
        for words, alike in itertools.groupby(range(len(answers)), answers.__getitem__):
            run = list(alike)
            parts.append((n, ends[run[0]], ends[run[-1] + 1], len(run), words))
    columns = ["samples", "share from", "share to", "parts", "the theorem"]
    return pd.DataFrame(parts, columns=columns)


def lemma_4() -> Identity:
    """ORTH Lemma 4 with the best constant, for all n, as an identity of squares.

    ``e_i = s_i - s_n`` are not negative and sum to ``n vhat``; ``V^2 = sum (e_i - vhat)^2``. So
    ``n (n-1) vhat^2 - V^2 = (sum e)^2 - sum e^2``, a sum of products ``e_i e_j``.
    """
    n, vhat, squares = sympy.symbols("n vhat squares")
    total = n * vhat
    gap = squares - 2 * vhat * total + n * vhat**2
    return prove_identity(n * (n - 1) * vhat**2 - gap, total**2 - squares)


def lemma_6() -> list[Identity]:
    r"""ORTH Lemma 6, for all n and d: ``E |C - E C|^2 = (1 - m) / d`` with ``m = sum p_i^2``.

    C is the mean of d independent matrices of norm 1, so that ``E |C|^2 = (d + d (d-1) m) / d^2``.
    With sum 1, ``sum (p_i - 1/n)^2 = m - 1/n``.
    """
    n, d, m = sympy.symbols("n d m")
    noise = (d + d * (d - 1) * m) / d**2 - m
    return [
        prove_identity(1 / d - noise, m / d),
        prove_identity((1 - 1 / n) / d - noise, (m - 2 / n + n / n**2) / d),
    ]


def lemma_7() -> Identity:
    r"""ORTH Lemma 7, its step from the matrix to an eigenvalue, for all n.

    Eigenvalues e_i of a difference of two matrices of trace 1 sum to 0. With ``rest`` the sum of
    the squares of all but the last, ``(1 - 1/n) sum e_i^2 - e_n^2 = ((n-1) rest - e_n^2) / n``,
    not negative by Cauchy and Schwarz: ``e_n`` is, up to sign, the sum of n - 1 others.
    """
    n, rest, last = sympy.symbols("n rest last")
    whole = (1 - 1 / n) * (rest + last**2) - last**2
    return prove_identity(whole, ((n - 1) * rest - last**2) / n)


def tangent() -> list[Identity]:
    r"""ORTH Lemma 8, the tangent of its proof, for all n: antiderivatives in theta, and their ends.

    With ``w = 1 + 2 theta / n``, ``g(0) = w^(-n/2-1)`` and ``g'(0) = 2 theta w^(-n/2-2)``, the
    latter from g itself. The antiderivatives ``-w^(-n/2)`` and ``n^2 / (n+2) w^(-n/2-1) - n
    w^(-n/2)`` vanish at infinity, and are -1 and ``-2n/(n+2)`` at 0.
    """
    n, theta, delta = sympy.symbols("n theta delta", positive=True)
    w = 1 + 2 * theta / n
    at_zero, slope = w ** (-n / 2 - 1), _logarithm(n, theta, delta).diff(delta).subs(delta, 0)
    first = -(w ** (-n / 2))
    second = n**2 / (n + 2) * w ** (-n / 2 - 1) - n * w ** (-n / 2)
    return [
        prove_identity(slope, 2 * theta / w),  # of log g
        prove_identity(first.diff(theta) / at_zero, sympy.S.One),
        prove_identity(second.diff(theta) / at_zero, 2 * theta / w),
        prove_identity(second.subs(theta, 0), -2 * n / (n + 2)),
    ]


def convexity() -> list[Identity]:
    r"""ORTH Lemma 10, for all n, theta and delta: ``(log g)''`` as a sum of squares.

    And ``g g'' / (g')^2 = 1 + (6 + 2 x^2 / (n-1)) / (3 - x)^2`` with ``x = A / B`` the ratio of the
    two brackets, in (0, 1].
    """
    n, theta, delta = sympy.symbols("n theta delta", positive=True)
    low, high = _brackets(n, theta, delta)
    slope = _logarithm(n, theta, delta).diff(delta)
    bend, x = slope.diff(delta), low / high
    return [
        prove_identity(bend, 6 * theta**2 / low**2 + 2 * theta**2 / ((n - 1) * high**2)),
        prove_identity((bend + slope**2) / slope**2, 1 + (6 + 2 * x**2 / (n - 1)) / (3 - x) ** 2),
    ]


def factor_h_2() -> Identity:
    """ORTH, proof of Lemma 10: ``g' = theta h_1 h_2``, for all n, theta and delta.

    ``h_1 = g / (A B)``, with the two brackets A and B of g.
    """
    n, theta, delta = sympy.symbols("n theta delta", positive=True)
    low, high = _brackets(n, theta, delta)
    slope = _logarithm(n, theta, delta).diff(delta)
    printed = 2 + 4 * theta / n + theta * delta * (2 * n + 4) / (n - 1)
    return prove_identity(slope * low * high / theta, printed)


def _rate(samples: int, share: arb) -> arb:
    n = samples
    left = share * (1 - 1 / arb(n)) / (1 - share / n)  # 1 - z, without cancellation near z = 1
    series: arb = acb(1 - left).hypgeom_2f1(acb(3) / 2, 2, acb(n) / 2 + 2).real
    return 2 * left * series / (n + 2)


def _terms(inverse: arb) -> Iterable[tuple[int, arb]]:
    """The first ``b_k = 2 k t_(k-1) / (1 + 2 k / n)``, ``t_k = prod_j (2 j + 1) / (n + 2 j)``."""
    t = arb(1)
    for k in range(1, TERMS + 1):
        yield k, 2 * k * t / (1 + 2 * k * inverse)
        t *= (2 * k + 1) * inverse / (1 + 2 * k * inverse)


def _holds(found: pd.DataFrame, place: float) -> bool:
    """Whether the bound is proved on the interval that holds a place."""
    here = (found["share from"] <= place) & (place < found["share to"])
    return bool((found.loc[here, "the bound"] == "holds").all())


def _brackets(n: sympy.Expr, theta: sympy.Expr, delta: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    return 1 + 2 * theta * (1 / n - delta), 1 + 2 * theta * (1 / n + delta / (n - 1))


def _logarithm(n: sympy.Expr, theta: sympy.Expr, delta: sympy.Expr) -> sympy.Expr:
    """``log g`` of ORTH Lemma 10."""
    low, high = _brackets(n, theta, delta)
    return -sympy.Rational(3, 2) * sympy.log(low) - (n - 1) / 2 * sympy.log(high)
