"""Signs of functions of one variable, by their value at one point and their slope."""

from __future__ import annotations

import sympy

from signalprop.certify import Identity, prove_identity

__all__ = ["from_zero"]


def from_zero(
    f: sympy.Expr, x: sympy.Symbol, slope: sympy.Expr, at: int | sympy.Expr = 0
) -> list[Identity]:
    """Prove that f is 0 at a point, and that its slope is the given one.

    A slope with the sign of ``x - at`` then makes f positive on both sides, and one that is not
    negative gives f the sign of ``x - at``. The slope alone would prove as much of ``f + 1``.

    >>> x = sympy.Symbol("x", positive=True)
    >>> len(from_zero(x - 1 - sympy.log(x), x, (x - 1) / x, at=1))
    2
    """
    return [prove_identity(f.subs(x, at), sympy.S.Zero), prove_identity(f.diff(x), slope)]
