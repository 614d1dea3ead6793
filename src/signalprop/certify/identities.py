"""Displays that are algebra, proved for all values of their symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sympy

__all__ = ["Identity", "NoIdentity", "prove_identity"]


class NoIdentity(ArithmeticError):
    """The two sides are not the same function: ``difference`` is what is left of them.

    >>> import sympy
    >>> n = sympy.Symbol("n")
    >>> try:
    ...     prove_identity(n + 1, n)
    ... except NoIdentity as failure:
    ...     print(failure.difference)
    1
    """

    def __init__(self, difference: sympy.Expr) -> None:
        super().__init__(f"not an identity: the sides differ by {difference}")
        self.difference = difference


@dataclass(frozen=True)
class Identity:
    """That two sides are equal wherever both are defined, for all values of ``symbols``.

    >>> import sympy
    >>> n = sympy.Symbol("n")
    >>> prove_identity((n**2 - 1) / (n - 1), n + 1)
    Identity(symbols=('n',))
    """

    symbols: tuple[str, ...]


def prove_identity(left: sympy.Expr, right: sympy.Expr) -> Identity:
    """Prove ``left = right`` for rational functions of symbols, and of symbolic powers.

    Their difference over a common denominator has a numerator that, multiplied out, is 0 or is not:
    for rational functions this decides. Sums and roots with symbolic bounds are no rational
    functions; write them in closed form first. Powers with a symbolic exponent are opened into
    factors and then count as symbols of their own, which may miss an identity, but proves no false
    one. Floats are refused, since ``n * (1 / 3)`` would pass for ``n / 3``.

    >>> import sympy
    >>> n, d = sympy.symbols("n d", positive=True)
    >>> prove_identity((n + d) ** 2 - (n - d) ** 2, 4 * n * d).symbols
    ('d', 'n')
    >>> prove_identity(n / (n + 1), n / (n - 1))
    Traceback (most recent call last):
    signalprop...NoIdentity: not an identity: the sides differ by -2*n/((n - 1)*(n + 1))
    """
    import sympy  # here, since it takes long to load and not every certificate is algebra

    sides = {"left": sympy.sympify(left), "right": sympy.sympify(right)}
    for name, side in sides.items():
        if side.has(sympy.Float):
            raise ValueError(f"{name} must be exact, without floats, got {side}")
    difference = sides["left"] - sides["right"]
    numerator, denominator = sympy.fraction(sympy.together(sympy.expand_power_exp(difference)))
    if sympy.expand(denominator) == 0:
        raise ValueError("right must be defined somewhere, got a denominator that vanishes")
    if sympy.expand(sympy.expand_power_exp(sympy.expand(numerator))) != 0:
        raise NoIdentity(sympy.factor(difference))
    return Identity(tuple(sorted(str(symbol) for symbol in difference.free_symbols)))
