r"""Rates of the kernels of all sines ``sin(g x)``, in ball arithmetic.

For the activation ``sin(g x)``, divided by its root mean square, Gaussian integrals give the kernel
map ``kappa(rho) = sinh(t rho) / sinh(t)`` with ``t = g^2``. So gain and correlation are two
variables of one closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import acb, arb

from signalprop.certify import Proof, prove_positive

__all__ = ["GAINS", "of_case_1", "of_theorem_5_8", "prove_all_gains", "room", "room_of_case_1"]

#: The gains from a half to three.
GAINS = (0.5, 3.0)
#: The inverse of a rate, from t.
Inverse = Callable[[arb], arb]


def of_theorem_5_8(t: arb) -> arb:
    """Return ``2 - kappa'(0)`` of KER Theorem 5.8, as ``kappa'(0) = t / sinh t``.

    >>> of_theorem_5_8(arb(0)).contains(1)
    True
    """
    return 2 - 1 / _ratio(t)


def of_case_1(t: arb) -> arb:
    """Return ``kappa'(1)``, the inverse of the rate printed in KER Theorem 5.11, case 1.

    >>> of_case_1(arb(0)).contains(1)
    True
    """
    return t.cosh() / _ratio(t)


def room(inverse: Inverse) -> Callable[[arb, arb], arb]:
    r"""Return what a layer leaves of a rate, as a function of gain and correlation in [0, 1].

    A layer divides the odds ``rho / (1 - rho)`` by ``r`` at least if ``h - r g >= 0``, where
    ``kappa = rho g`` and ``1 - kappa = (1 - rho) h``. With ``s(x) = sinh(x) / x`` both are entire:
    ``g = s(t rho) / s(t)`` and ``h = cosh(t (1 + rho) / 2) s(t (1 - rho) / 2) / s(t)``. The room is
    taken times ``s(t)``.

    >>> bool(room(of_theorem_5_8)(arb(1), arb(0.5)) > 0)
    True
    """

    def function(gain: arb, rho: arb) -> arb:
        t = gain**2
        above = (t * (1 + rho) / 2).cosh() * _ratio(t * (1 - rho) / 2)
        return above - inverse(t) * _ratio(t * rho)

    return function


def room_of_case_1(gain: arb, rho: arb) -> arb:
    """Return ``log (h / (g kappa'(1)))``, which has the sign of ``room(of_case_1)``, on a box.

    Sharper than that: the value at the centre of the box, and slopes over the box times its widths;
    or the direct enclosure, where that is smaller.

    >>> bool(room_of_case_1(arb(2), arb(0.5)) > 0), bool(room_of_case_1(arb(0.5), arb(0.5)) < 0)
    (True, True)
    """
    direct = _log_room(gain**2, rho)
    t, centre = gain**2, (gain.mid() ** 2, rho.mid())
    up, down = t * (1 + rho) / 2, t * (1 - rho) / 2
    slope_t = (1 + rho) / 2 * up.tanh() + (1 - rho) / 2 * _langevin(down)
    slope_t += _langevin(t) - t.tanh() - rho * _langevin(t * rho)
    slope_rho = t / 2 * (up.tanh() - _langevin(down)) - t * _langevin(t * rho)
    moved = _log_room(*centre) + slope_t * (t - centre[0]) + slope_rho * (rho - centre[1])
    return direct.intersection(moved)


def _log_room(t: arb, rho: arb) -> arb:
    above = (t * (1 + rho) / 2).cosh() * _ratio(t * (1 - rho) / 2)
    return (above * _ratio(t)).log() - (_ratio(t * rho) * t.cosh()).log()


def _langevin(x: arb) -> arb:
    """``coth(x) - 1/x``, the logarithmic slope of ``sinh(x) / x``: it rises, and is odd."""
    ends = [_langevin_at(end) for end in (x.lower(), x.upper())]
    return ends[0].union(ends[1])


def _langevin_at(x: arb) -> arb:
    if abs(x) > 0.001:
        return x.coth() - 1 / x
    return (x / 3).union(x / 3 - x**3 / 45)  # its series alternates


def prove_all_gains(budget: int = 20_000) -> Proof:
    """Prove the rate of KER Theorem 5.8 for all sines of these gains and all correlations.

    Negative correlations need no proof, as the map is odd.
    """
    sides = [(Fraction(GAINS[0]), Fraction(GAINS[1])), (Fraction(0), Fraction(1))]
    return prove_positive(room(of_theorem_5_8), sides, budget)


def _ratio(x: arb) -> arb:
    """``sinh(x) / x``, which rises with ``|x|``: from its values at the ends of the ball."""
    far = abs(x).upper()
    near = abs(x).lower()
    low, high = (acb(0, end).sinc().real for end in (near, far))
    return low.union(high)
