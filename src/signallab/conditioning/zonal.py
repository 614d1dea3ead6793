"""Kernels of inner products under the uniform law on a sphere: expectations without sampling.

A kernel ``k(x . y)`` has the spherical harmonics as eigenfunctions (Funk and Hecke):

    lambda_j = E k(t) Q_j(t),    k(t) = sum_j lambda_j N_j Q_j(t),

where t is an entry of a uniform unit vector, ``Q_j`` the Gegenbauer polynomial with ``Q_j(1) = 1``
and ``N_j`` the number of harmonics of degree j. Deep kernels are a low polynomial and a needle at
``t = 1``, far too narrow for the series; so the series is cut and the rest is bounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

import signalprop as sp
from signalprop._arrays import Floats
from signalprop.activations import Activation

__all__ = ["Zonal", "harmonics", "zonal"]

#: Degrees of the series that are kept.
DEGREES = 16
#: The smallest angle of the rule, its panels and the nodes of each.
SMALLEST, PANELS, NODES = 1e-22, 120, 16


def harmonics(dimension: int, degree: int) -> int:
    """Return the number of spherical harmonics of a degree, on the unit sphere of ``R^dimension``.

    >>> [harmonics(3, j) for j in range(4)], [harmonics(10, j) for j in range(3)]
    ([1, 3, 5, 7], [1, 10, 54])
    """
    lower = math.comb(dimension + degree - 3, degree - 2) if degree > 1 else 0
    return math.comb(dimension + degree - 1, degree) - lower


def _gegenbauer(degree: int, dimension: int, t: Floats) -> Floats:
    index = dimension / 2 - 1
    scale = special.eval_gegenbauer(degree, index, 1.0)
    return np.asarray(special.eval_gegenbauer(degree, index, t) / scale)


def _rule(dimension: int) -> tuple[Floats, Floats, Floats]:
    """Angles to the nearer pole, inner products and weights; panels of equal width in the log."""
    x, w = np.polynomial.legendre.leggauss(NODES)
    edges = np.linspace(math.log(SMALLEST), math.log(math.pi / 2), PANELS + 1)
    half = np.diff(edges)[:, None] / 2
    angle = np.exp(edges[:-1, None] + half * (1 + x)).ravel()
    weight = (half * w).ravel() * angle * np.sin(angle) ** (dimension - 2)
    weight = np.concatenate([weight, weight])
    t = np.concatenate([np.cos(angle), -np.cos(angle)])
    return np.concatenate([angle, angle]), t, weight / weight.sum()


def _values(phi: Activation, layers: int, angle: Floats, t: Floats) -> Floats:
    """``k(t)`` after ``layers``, to relative accuracy near 0 and in the distance from 1.

    Near 1 the distance ``1 - k`` is iterated, and k itself once that exceeds 1/2.
    """
    kernel = sp.KernelMap(phi)
    rho, delta = t.copy(), np.where(t > 0, 2 * np.sin(angle / 2) ** 2, 1 - t)
    for _ in range(layers):
        near = delta < 0.5
        away = np.asarray(kernel.complement(np.where(near, delta, 0.5)))
        plain = np.asarray(kernel(np.where(near, 0.0, rho)))
        rho, delta = np.where(near, 1 - away, plain), np.where(near, away, 1 - plain)
    return rho


@dataclass(frozen=True)
class Zonal:
    """A kernel of inner products on the sphere: its lowest eigenvalues and what is left over.

    ``eigenvalues`` are those of degrees 0, 1, ...; ``square`` is ``E k(t)^2`` and ``needle`` the
    share of the sphere on which ``k > 1/2``. With g the rest of the series: ``rest`` is ``E g^2``,
    ``mean`` is ``E |g|``, and ``peak`` holds ``max |g|`` over all angles from ``angle`` on.
    """

    dimension: int
    eigenvalues: Floats
    square: float
    needle: float
    rest: float
    mean: float
    angle: Floats
    peak: Floats

    def second(self, gram: Floats) -> tuple[Floats, Floats]:
        """Return ``E k(x_i . x) k(x . x_j)`` for a Gram matrix of points, and bounds of its error.

        The series has ``lambda_j^2`` for ``lambda_j``. What is cut off adds ``E g^2`` on the
        diagonal. Elsewhere it adds at most that (Cauchy and Schwarz), and at most
        ``2 E|g| max |g|`` with the maximum over angles from half the angle of the two points on:
        where x is nearer to the one, it is at least so far from the other.

        >>> one = zonal(sp.activations.hermite(2), 1, 3)         # k = t^2, E t^4 = 1/5
        >>> one.second(np.eye(1))[0].round(12)
        array([[0.2]])
        """
        found = sum(
            value**2 * harmonics(self.dimension, j) * _gegenbauer(j, self.dimension, gram)
            for j, value in enumerate(self.eigenvalues)
        )
        half = np.arccos(np.clip(gram, -1, 1)) / 2
        first = np.searchsorted(self.angle, half, side="right") - 1
        error = np.minimum(self.rest, 2 * self.mean * self.peak[np.clip(first, 0, None)])
        np.fill_diagonal(error, 0)
        return np.asarray(found) + self.rest * np.eye(len(gram)), error


def zonal(phi: Activation, layers: int, dimension: int) -> Zonal:
    """Return the infinite-width kernel after ``layers`` of a normalized activation, as a zonal one.

    By a rule that resolves needles down to angles of 1e-20. It sees no needle at ``t = -1``, so the
    activation must not be odd or even, if the network is deep.

    >>> zonal(sp.activations.hermite(2), 2, 3).eigenvalues[:3].round(12)    # of t^4
    array([0.2       , 0.        , 0.11428571])
    """
    angle, t, weight = _rule(dimension)
    values = _values(phi, layers, angle, t)
    polynomials = [_gegenbauer(j, dimension, t) for j in range(DEGREES)]
    eigenvalues = np.array([float(weight @ (values * q)) for q in polynomials])
    rest = values - sum(
        value * harmonics(dimension, j) * q
        for j, (value, q) in enumerate(zip(eigenvalues, polynomials, strict=True))
    )
    theta = np.where(t > 0, angle, math.pi - angle)
    order = np.argsort(theta)
    peak = np.maximum.accumulate(np.abs(rest[order])[::-1])[::-1]
    return Zonal(
        dimension,
        eigenvalues,
        float(weight @ values**2),
        float(weight @ (values > 0.5)),
        float(weight @ rest**2),
        float(weight @ np.abs(rest)),
        theta[order],
        np.asarray(peak),
    )
