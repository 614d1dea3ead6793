"""Experiments of the chapter on certificates: one layer of a centred kernel, proved and refuted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction

import pandas as pd
import sympy
from flint import arb

from signalprop.activations import Activation
from signalprop.certify import (
    Number,
    PowerSeries,
    Refuted,
    ball,
    iterates,
    kernel,
    prove_positive,
)

__all__ = ["bands", "centred", "cubic_room", "odds_after", "proofs", "refutation", "room"]

#: The inverse of a rate, from a kernel.
Inverse = Callable[[PowerSeries], arb]


def centred(phi: Activation, order: int) -> PowerSeries:
    """Return the kernel of an activation less its mean, divided by its deviation.

    >>> from signalprop.activations import relu
    >>> bool(centred(relu, 5)(0) == 0), centred(relu, 5).total.contains(1)
    (True, True)
    """
    return kernel(phi, order).centred().stable()


def room(kappa: PowerSeries, inverse: Inverse) -> Callable[[arb], arb]:
    r"""Return what one layer leaves between its two sides, as a function of rho in [0, 1].

    A layer divides the odds ``rho / (1 - rho)`` by at least ``r`` if and only if
    ``r kappa / (1 - kappa) <= rho / (1 - rho)``. Both sides vanish at 0 and grow without end at 1;
    with ``kappa = rho g(rho)`` and ``1 - kappa = (1 - rho) h(rho)`` it says ``r g <= h``, which is
    finite on the whole interval. The room is ``h - r g``.

    >>> cubic = PowerSeries((arb(0), arb(0.5), arb(0), arb(0.5)))
    >>> room(cubic, lambda kappa: arb(1))(arb(0)).contains(0.5)
    True
    """
    g = PowerSeries(kappa.coefficients[1:], kappa.tail)
    r = inverse(kappa)
    return lambda rho: kappa.quotient(rho) - r * g(rho)


def proofs(
    kernels: Mapping[str, PowerSeries], inverse: Inverse, budget: int = 20_000
) -> pd.DataFrame:
    """Prove that a layer divides the odds as claimed, for each kernel and all rho in [0, 1].

    >>> cubic = {"cubic": PowerSeries((arb(0), arb(0.5), arb(0), arb(0.5)))}
    >>> proofs(cubic, lambda kappa: 2 - kappa.coefficients[1])["intervals"].item() < 50
    True
    """
    rows = []
    for name, kappa in kernels.items():
        proof = prove_positive(room(kappa, inverse), [(0, 1)], budget)
        rate = 1 / inverse(kappa)
        told = {"intervals": proof.boxes, "least room": proof.margin}
        rows.append({"activation": name, "rate": float(rate), **told})
    return pd.DataFrame(rows)


def refutation(kappa: PowerSeries, inverse: Inverse) -> Fraction:
    """Return an exact rho at which a layer does not divide the odds as claimed, proven so.

    >>> cubic = PowerSeries((arb(0), arb(0.75), arb(0), arb(0.25)))
    >>> 0 < refutation(cubic, lambda kappa: kappa.slope(1)) < 1
    True
    """
    try:
        prove_positive(room(kappa, inverse), [(0, 1)])
    except Refuted as failure:
        return failure.point[0]
    raise ValueError("inverse must be a rate that fails: the inequality was proved")


def odds_after(kappa: PowerSeries, rho: Number, layers: int, inverse: arb) -> tuple[arb, arb]:
    """Return enclosures of the odds after some layers, and of those that a rate allows.

    >>> left, right = odds_after(PowerSeries((arb(0), arb(1))), Fraction(1, 2), 3, arb(1))
    >>> left.contains(1), right.contains(1)
    (True, True)
    """
    last, first = iterates(kappa, rho, layers)[-1], ball(rho)
    return last / (1 - last), first / (1 - first) / inverse**layers


def bands(kappa: PowerSeries, inverse: Inverse, parts: int) -> pd.DataFrame:
    """Return enclosures of the room over equal parts of [0, 1]: one row a part.

    >>> cubic = PowerSeries((arb(0), arb(0.5), arb(0), arb(0.5)))
    >>> len(bands(cubic, lambda kappa: arb(1), 4))
    4
    """
    f = room(kappa, inverse)
    ends = [Fraction(i, parts) for i in range(parts + 1)]
    values = [f(ball(a).union(ball(b))) for a, b in itertools.pairwise(ends)]
    return pd.DataFrame(
        {
            "correlation from": list(map(float, ends[:-1])),
            "correlation to": list(map(float, ends[1:])),
            "room at least": [float(value.lower()) for value in values],
            "room at most": [float(value.upper()) for value in values],
        }
    )


def cubic_room() -> tuple[sympy.Expr, sympy.Expr]:
    r"""Return the room of ``(1 - a) rho + a rho^3`` at the rate ``1 / kappa'(1)``, and its factors.

    Both from the definition of :func:`room`, by polynomial division, for all a and rho.

    >>> print(cubic_room()[1])
    -a*(rho - 1)*(2*a*rho + 2*a - 1)
    """
    a, rho = sympy.symbols("a rho")
    kappa = (1 - a) * rho + a * rho**3
    g, h = sympy.cancel(kappa / rho), sympy.cancel((1 - kappa) / (1 - rho))
    found = h - kappa.diff(rho).subs(rho, 1) * g
    return found, sympy.factor(found)
