"""Displays of ISO that are algebra, proved for all numbers of samples and all lengths.

Of n samples with lengths a only three sums enter: ``first`` and ``second``, of the lengths and of
their squares, and the product of the squares. Each docstring says how the display follows.
"""

from __future__ import annotations

import sympy

from signallab.slopes import from_zero
from signalprop.certify import Identity, prove_identity

__all__ = [
    "determinants",
    "exact_gain",
    "printed_gain",
    "scale",
    "two_means",
    "two_vectors",
    "variance_of_the_lengths",
]

n, d, a, b = sympy.symbols("n d a b", positive=True)
first, second, product = sympy.symbols("S_1 S_2 P", positive=True)
volume = sympy.Symbol("Delta", positive=True)  # the determinant of the normalized Gram matrix
mean = first / n


def two_means() -> list[Identity]:
    """The geometric mean is at most the arithmetic one, for any number of values.

    ``h(x) = x - 1 - log x`` has the slope ``(x - 1) / x``: it falls to 0 at 1 and rises. Its sum
    over the values, divided by their mean, is n times the logarithm of the ratio of the two means.
    A value of 0 makes the geometric mean 0.

    >>> len(two_means())
    2
    """
    x = sympy.Symbol("x", positive=True)
    return from_zero(x - 1 - sympy.log(x), x, (x - 1) / x, at=1)


def scale() -> Identity:
    """ISO Lemma 4.2, item 1, for all n: ``I(c M) = I(M)``; the determinant takes ``c^n``.

    >>> isinstance(scale(), Identity)
    True
    """
    c, trace = sympy.symbols("c t", positive=True)
    after = (c**n * volume) ** (1 / n) / (c * trace / n)
    return prove_identity(after, volume ** (1 / n) / (trace / n))


def determinants() -> Identity:
    """ISO, proof of Theorem 4.3: ``G = D Gt D`` entry by entry, so ``det G = det Gt det(D)^2``.

    What one coordinate contributes to entry i, j, for samples projected to the radius ``sqrt d``.

    >>> isinstance(determinants(), Identity)
    True
    """
    x, y = sympy.symbols("x y")
    root = sympy.sqrt(d)
    projected = (root * x / a) * (root * y / b)
    return prove_identity((a / root) * projected * (b / root), x * y)


def exact_gain() -> list[Identity]:
    """ISO (4.4), (4.5), and (4.6) mended, for all n, all d and all lengths.

    The exact gain is the mean of the squares over the geometric one. (4.4) has the two traces, n
    times d and ``S_2``, and by :func:`determinants` ``det G = det Gt prod(a^2) / d^n``. The last
    identity is the same gain with the radius 1 of the theorem in place of ``sqrt d``.

    >>> len(exact_gain())
    5
    """
    root = 1 / n
    before = volume * product / d**n
    line_4 = second / n * volume**root / (n * d / n * before**root)
    line_5 = (second / n) / d * volume**root / (volume**root * (d**-n * product) ** root)
    line_6 = mean**2 / product**root * (second / n) / mean**2
    unit = second / n * volume**root / (n / n * (volume * product) ** root)
    gain = second / n / product**root
    return [
        determinants(),
        prove_identity(line_4, line_5),
        prove_identity(line_5, line_6),
        prove_identity(line_5, gain),
        prove_identity(unit, gain),
    ]


def variance_of_the_lengths() -> Identity:
    """ISO (4.7) for all n: the mean square over the square of the mean is the printed factor.

    >>> isinstance(variance_of_the_lengths(), Identity)
    True
    """
    variance = (second - 2 * mean * first + n * mean**2) / n
    return prove_identity(1 + variance / mean**2, (second / n) / mean**2)


def printed_gain() -> list[Identity]:
    """ISO Theorem 4.3, and (4.7) with >= for its last sign, for all n, all d and all lengths.

    By :func:`exact_gain` the gain is the printed factor times the square of the mean over that of
    the geometric mean, which is at least 1. Of dependent samples both sides of the theorem are 0.

    >>> len(printed_gain())
    9
    """
    rest = mean**2 / product ** (1 / n)
    factor = (second / n) / mean**2
    left_out = prove_identity(second / n / product ** (1 / n), factor * rest)
    return [*exact_gain(), variance_of_the_lengths(), left_out, *two_means()]


def two_vectors() -> list[Identity]:
    """ISO Figure 4.1: the isometry of two vectors is twice the ratio, and largest for a square.

    With s and c the sine and the cosine of the angle, ``c^2 = 1 - s^2``: the determinant is ``(a b
    s)^2``. At a given angle the ratio falls short of its value at ``a = b`` by a square.

    >>> len(two_vectors())
    3
    """
    s = sympy.Symbol("s", positive=True)
    determinant = a**2 * b**2 - (a * b) ** 2 * (1 - s**2)
    ratio = a * b * s / (a**2 + b**2)
    short = s * (a - b) ** 2 / (a**2 + b**2)
    return [
        prove_identity(determinant, (a * b * s) ** 2),
        prove_identity(a * b * s / ((a**2 + b**2) / 2), 2 * ratio),
        prove_identity(s - 2 * ratio, short),
    ]
