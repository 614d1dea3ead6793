"""Kernel maps as power series in ball arithmetic, with what the series leaves out enclosed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flint import arb

from signalprop.activations import Activation
from signalprop.certify.functions import (
    Number,
    ball,
    derivative,
    function,
    hermite_coefficient,
    mean_square,
)

__all__ = ["PowerSeries", "iterates", "kernel"]


@dataclass(frozen=True)
class PowerSeries:
    """``sum_k a_k rho^k`` with ``a_k >= 0``, known up to an order; the others are known by sums.

    ``tail`` encloses the sum of the ``a_k`` beyond the order and ``slope_tail`` that of the
    ``k a_k``: None where it is infinite or not known. For ``|rho| <= 1`` no more is needed: what
    lies beyond order K is at most ``tail |rho|^(K + 1)``, and not negative where rho is not.

    >>> half = PowerSeries((arb(0.5),), tail=arb(0.5), slope_tail=arb(2))
    >>> half(0.5).contains(0.6), half(0.5).contains(0.8), half.total.contains(1)
    (True, False, True)
    """

    coefficients: tuple[arb, ...]
    tail: arb = field(default_factory=arb)
    slope_tail: arb | None = field(default_factory=arb)

    def __call__(self, rho: Number) -> arb:
        """Return an enclosure of the sum over the ball rho, which must lie in [-1, 1].

        >>> PowerSeries((arb(0), arb("0.5"), arb("0.5")))(0.5).overlaps(arb(3) / 8)
        True
        """
        at = _correlation(rho)
        return _horner(self.coefficients, at) + self.tail * _power(at, len(self.coefficients))

    @property
    def total(self) -> arb:
        """The value at 1, sharper than a call: the sum of all coefficients."""
        return sum(self.coefficients, self.tail)

    def slope(self, rho: Number) -> arb:
        """Return an enclosure of the derivative over the ball rho.

        >>> PowerSeries((arb(0), arb("0.5"), arb("0.5"))).slope(1).overlaps(arb(3) / 2)
        True
        """
        if self.slope_tail is None:
            raise ValueError("slope_tail must be known for a derivative, got None")
        at = _correlation(rho)
        terms = [k * a for k, a in enumerate(self.coefficients)][1:]
        return _horner(terms, at) + self.slope_tail * _power(at, len(terms))

    def quotient(self, rho: Number) -> arb:
        """Return ``(kappa(1) - kappa(rho)) / (1 - rho)``, without dividing by what may be 0.

        It is ``sum_k a_k (1 + rho + ... + rho^(k - 1))``, increasing on [0, 1] up to kappa'(1).

        >>> PowerSeries((arb(0), arb("0.5"), arb("0.5"))).quotient(1).overlaps(arb(3) / 2)
        True
        """
        at = _correlation(rho)
        total, sums = arb(0), arb(0)
        for a in self.coefficients:
            total, sums = total + a * sums, sums * at + 1
        if self.tail.is_zero():
            return total
        if self.slope_tail is None:
            raise ValueError("slope_tail must be known where there is a tail, got None")
        # the first order + 1 terms of those beyond, or for any sign of rho the two ends of a sum
        # that alternates; at most k terms of at most 1
        most = abs(at).upper()
        least = sums if at >= 0 else (1 - most) / (1 + most)
        return total + (self.tail * least).nonnegative_part().union(self.slope_tail)

    def scaled(self, factor: arb) -> PowerSeries:
        """Return the series times a positive factor."""
        slope_tail = None if self.slope_tail is None else factor * self.slope_tail
        coefficients = tuple(factor * a for a in self.coefficients)
        return PowerSeries(coefficients, factor * self.tail, slope_tail)

    def stable(self) -> PowerSeries:
        """Return ``kappa / kappa(1)``: the activation divided by the root of its second moment.

        >>> PowerSeries((arb(1), arb(3))).stable()(1).contains(1)
        True
        """
        return self.scaled(1 / self.total)

    def centred(self) -> PowerSeries:
        """Return the series without its constant: the activation less its mean."""
        return PowerSeries((arb(0), *self.coefficients[1:]), self.tail, self.slope_tail)


def kernel(phi: Activation, order: int = 40) -> PowerSeries:
    r"""Return the kernel map ``E phi(X) phi(Y)`` of correlated Gaussians as a series of balls.

    Its coefficients are the squares of those of Hermite (Mehler's formula). By Parseval the
    squares beyond the order sum to ``E phi(X)^2`` less those known, and k times the squares to
    ``E phi'(X)^2`` less those known: integrals of one dimension, proven enclosures too.

    >>> from signalprop.activations import relu
    >>> kappa = kernel(relu, order=20)
    >>> kappa(0).overlaps(1 / (2 * arb.pi())), kappa(1).contains(0.5), kappa.slope(1).contains(0.5)
    (True, True, True)
    """
    if order < 1:
        raise ValueError(f"order must be at least 1, got {order}")
    f = function(phi)
    coefficients = [hermite_coefficient(f, k) for k in range(order + 1)]
    squares = tuple(c * c for c in coefficients)  # ``c**2`` is NaN for a ball centred at 0
    tail = (mean_square(f) - sum(squares, arb(0))).nonnegative_part()
    try:
        steepness = mean_square(derivative(phi))
    except ValueError:  # a jump: the derivative of the kernel has no bound
        return PowerSeries(squares, tail, None)
    known = sum((k * square for k, square in enumerate(squares)), arb(0))
    return PowerSeries(squares, tail, (steepness - known).nonnegative_part())


def iterates(kappa: PowerSeries, rho: Number, layers: int) -> list[arb]:
    """Return enclosures of ``rho, kappa(rho), kappa(kappa(rho)), ...``: the input and each layer.

    >>> len(iterates(PowerSeries((arb("0.5"), arb("0.5"))), 0, 3))
    4
    """
    if layers < 0:
        raise ValueError(f"layers must be at least 0, got {layers}")
    path = [_correlation(rho)]
    for _ in range(layers):
        path.append(kappa(path[-1]).min(arb(1)).max(arb(-1)))  # kappa maps [-1, 1] into itself
    return path


def _correlation(rho: Number) -> arb:
    at = ball(rho)
    if not abs(at).lower() <= 1 or abs(at).upper() > arb(1) + arb(2) ** -20:
        raise ValueError(f"rho must lie in [-1, 1], got {rho}")
    return at


def _horner(coefficients: Sequence[arb], at: arb) -> arb:
    total = arb(0)
    for a in reversed(coefficients):
        total = total * at + a
    return total


def _power(at: arb, order: int) -> arb:
    """Enclose ``s^k`` for every k >= order and every s in the ball: the factor of a tail."""
    most = abs(at).upper() ** order
    return arb(0).union(most) if at >= 0 else (-most).union(most)
