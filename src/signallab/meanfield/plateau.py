"""The level on which the error of a wide network ends, from the linearized chain.

Near G* the deviation ``E_l = G_l - G*`` follows ``E_{l+1} = DF(E_l) + N_l / sqrt d``: the
derivative of the map of MF Eq. 3.3, and the noise of an average over d neurons. The derivative
acts by one number on two kinds of deviations (see :func:`signalprop.limits.gram_fixed_point`) and
forgets all others, so that the stationary mean square is a sum of geometric series.
"""

from __future__ import annotations

import math

import numpy as np

from signallab.meanfield.gram_recursion import activation
from signallab.meanfield.one_apart import matrix
from signalprop.limits import gram_fixed_point
from signalprop.random import Stream

__all__ = ["plateau"]

STEP = 1e-3  # of the ratio, for a central difference


def plateau(name: str, n: int, depth: float, samples: int, stream: Stream) -> float:
    """Return ``sqrt(d E|G_l - G*|_F^2)`` for wide networks, n >= 3, l = ``depth``, from G*.

    The chain starts at a Gram matrix with the noise of one layer (independent Gaussian inputs);
    ``depth = inf`` is the stationary value. It is infinite where the fixed point repels.

    Why it is right: with ``y = phi(u)`` for a normalized neuron u, the noise is ``N = y y^T - G*``.
    Its part ``M diag(v) M`` is read off the diagonal of MNM, since the diagonal of ``M diag(v) M``
    is ``(1 - 2/n) v`` for v of sum zero; what is left of MNM besides a multiple of M is the part of
    the pairs. A deviation ``M diag(v) M`` becomes ``DF(M diag(v) M)``, whose norm is that of the
    derivative of :func:`signallab.meanfield.one_apart.matrix` in the ratio, where
    ``|v|^2 = n/(n-1) spread^2``. A sum over l layers of ``multiplier^(2k)`` is left.

    >>> round(plateau("relu", 5, 0, 1000, Stream(0)))  # one layer alone
    2
    """
    point, phi = gram_fixed_point(activation(name), n), activation(name)
    z = stream.numpy("plateau", name, n).standard_normal((samples, n))
    centred = z - z.mean(axis=1, keepdims=True)
    y = np.asarray(phi(centred / np.sqrt(np.mean(centred**2, axis=1, keepdims=True))))
    goal = point.matrix()
    noise = float(np.mean(np.sum(y**2, axis=1) ** 2) - np.sum(goal**2))
    recentred = y - y.mean(axis=1, keepdims=True)
    squares = recentred**2
    v = (squares - squares.mean(axis=1, keepdims=True)) / (1 - 2 / n)
    points = float(np.mean(np.sum(v**2, axis=1)))
    trace = squares.sum(axis=1)
    # |MyyM|^2 less its parts along M and M diag(v) M, which are orthogonal to each other.
    pairs = float(np.mean(trace**2 - trace**2 / (n - 1))) - (1 - 2 / n) * points
    change = (matrix(phi, n, 1 + STEP) - matrix(phi, n, 1 - STEP)) / (2 * STEP)
    spread = point.diagonal - point.off_diagonal
    moved = float(np.sum(change**2)) / (n / (n - 1) * spread**2)
    series = _series(point.multiplier_points, depth), _series(point.multiplier_pairs, depth)
    total = noise + points * moved * series[0] + pairs * point.multiplier_pairs**2 * series[1]
    return math.sqrt(total)


def _series(multiplier: float, depth: float) -> float:
    """``sum of multiplier^(2k)`` for k below the depth."""
    square = multiplier**2
    if math.isinf(depth):
        return 1 / (1 - square) if square < 1 else math.inf
    return float(np.sum(square ** np.arange(depth)))
