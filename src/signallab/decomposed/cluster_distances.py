"""A cluster beside an odd point, layer after layer: distances followed at infinite width.

A recentred layer sees distances only, and at infinite width it makes new ones of them (DEC Eq. 8 in
closed form). They are followed as such: a Gram matrix in doubles would lose clusters narrower than
1e-8. Batches hold points as rows ``(n, k)``, the odd one first. Spread is the root of the mean
square distance of the cluster from its centre nu_c, always over ``R = |x_1 - nu_c|``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy

from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "followed",
    "image_distances",
    "networks",
    "one_layer",
    "rest",
    "rest_of_many",
    "spread_and_radius",
    "spread_growth",
    "squared_distances",
    "symmetric_step",
]


def image_distances(squared: Any, lengths: Any) -> Any:
    """Return ``E |ReLU(W u) - ReLU(W v)|^2`` at sigma^2 = 2/d, all pairs ``(..., m, m)``.

    ``squared`` are ``|u - v|^2`` and ``lengths`` ``(..., m)`` the norms. With theta the angle of u
    and v, DEC Eq. 111 gives ``(|u| - |v|)^2 + 2 |u| |v| (1 - kappa(cos theta))``, and ``1 - kappa =
    2 sin^2(theta/2) - (sin theta - theta cos theta)/pi``: no large numbers cancel.

    >>> image_distances([[0.0, 2.0], [2.0, 0.0]], [1.0, 1.0]).round(6)  # 2 - 2/pi at a right angle
    array([[0.     , 1.36338],
           [1.36338, 0.     ]])
    """
    squared, lengths = np.asarray(squared), np.asarray(lengths)
    difference = (lengths[..., :, None] - lengths[..., None, :]) ** 2
    product = lengths[..., :, None] * lengths[..., None, :]
    half = np.where(product > 0, squared - difference, 0) / np.where(product > 0, 4 * product, 1)
    half = half.clip(0, 1)  # sin^2(theta/2)
    theta = 2 * np.arcsin(np.sqrt(half))
    series = theta**3 / 3 - theta**5 / 30 + theta**7 / 840
    lost = np.where(theta < 0.05, series, np.sin(theta) - theta * np.cos(theta)) / np.pi
    return difference + 2 * product * (2 * half - lost)


def squared_distances(x: Floats) -> Floats:
    """Return ``|x_i - x_j|^2`` of points ``(n, k)``, without cancellation, ``(n, n)``.

    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[ 0., 25.],
           [25.,  0.]])
    """
    result: Floats = ((x[:, None] - x[None]) ** 2).sum(axis=-1)
    return result


def spread_and_radius(squared: Any) -> tuple[Any, Any]:
    """Return the mean square distance of the cluster from nu_c, and R^2, of squared distances.

    These are ``(..., n, n)``; no points are needed.

    >>> spread, square = spread_and_radius(np.array([[0.0, 4, 4], [4, 0, 4], [4, 4, 0]]))
    >>> float(spread), float(square)
    (1.0, 3.0)
    """
    m = squared.shape[-1] - 1
    spread = squared[..., 1:, 1:].sum(axis=(-2, -1)) / (2 * m**2)
    return spread, squared[..., 0, 1:].mean(axis=-1) - spread


def _lengths(squared: Any) -> Any:
    """Norms from the mean, of squared distances ``(..., n, n)`` alone."""
    means = squared.mean(axis=-1)
    return np.sqrt(means - means.mean(axis=-1, keepdims=True) / 2)


def one_layer(squared: Any) -> Any:
    """Return the squared distances ``(..., n, n)`` after a layer of infinite width, over R^2.

    >>> one_layer(np.ones((3, 3)) - np.eye(3))[0].round(6)  # no point is odd, and none becomes so
    array([0.      , 1.333333, 1.333333])
    """
    result = image_distances(squared, _lengths(squared))
    return result / spread_and_radius(result)[1][..., None, None]


def followed(x: Floats, depth: int) -> Floats:
    """Root of the spread over R, for layers 0 to ``depth`` at infinite width, ``(depth + 1,)``.

    >>> from signallab.decomposed.near_invariant import spread_out
    >>> followed(spread_out(10, 0.001, np.random.default_rng(0), 4), 3).round(5)
    array([0.00062, 0.00069, 0.00076, 0.00084])
    """
    squared = squared_distances(x)
    squared = squared / spread_and_radius(squared)[1]
    found = []
    for _ in range(depth + 1):
        found.append(np.sqrt(spread_and_radius(squared)[0]))
        squared = one_layer(squared)
    return np.array(found)


def symmetric_step(n: int, q: Any) -> Any:
    """One layer on clusters whose points all have the squared distance q, the odd point at 1.

    Such batches stay such, and one number is left of them; ``q`` broadcasts.

    >>> float(symmetric_step(7, 1.0).round(12))  # no point is odd
    1.0
    """
    q = np.asarray(q, dtype=float)
    odd, cluster = (n - 1) / n, (1 + (n - 2) * q) / n
    half = (odd + (n - 1) * cluster) / n / 2
    lengths = np.sqrt(np.stack([odd - half, cluster - half, cluster - half], axis=-1))
    one, zero = np.ones_like(q), np.zeros_like(q)
    rows = [[zero, one, one], [one, zero, q], [one, q, zero]]
    after = image_distances(np.stack([np.stack(row, axis=-1) for row in rows], axis=-2), lengths)
    return after[..., 1, 2] / after[..., 0, 1]


def _relative(n: int, q: Any) -> Any:
    """Root of the spread over R of a cluster of equal distances."""
    spread = (n - 2) * q / (2 * (n - 1))
    return np.sqrt(spread / (1 - spread))


def spread_growth(n: int, spreads: Floats) -> Floats:
    """Factor by which a layer changes the spread of a cluster of equal distances, spread over R.

    ``spreads`` are times n^2; the factor is of spread, not of its square.

    >>> spread_growth(100, np.array([0.001, 1.0, 6.0, 20.0])).round(4)
    array([1.01  , 1.0085, 1.0009, 0.9797])
    """
    square = (spreads / n**2) ** 2
    q = 2 * (n - 1) / (n - 2) * square / (1 + square)
    result: Floats = _relative(n, symmetric_step(n, q)) / _relative(n, q)
    return result


def rest(n: int) -> float:
    """Root of the spread over R at which a layer leaves it, with an odd point; NaN without one.

    >>> round(rest(10), 4), rest(5)
    (0.0689, nan)
    """
    grid = np.concatenate([np.geomspace(n**-5.0, 0.1, 400), np.linspace(0.1, 0.98, 200)])
    change = symmetric_step(n, grid) / grid - 1
    falls = np.flatnonzero((change[:-1] > 0) & (change[1:] <= 0))
    if not len(falls):
        return float("nan")
    at = scipy.optimize.brentq(
        lambda q: float(symmetric_step(n, q)) / q - 1,
        grid[falls[0]],
        grid[falls[0] + 1],
        xtol=1e-18,
        rtol=1e-13,
    )
    return float(_relative(n, at))


def rest_of_many(sizes: list[int], limit: float = 3 * np.pi / np.sqrt(2)) -> pd.DataFrame:
    """Where clusters of n points come to rest: ``n^2`` times spread over R, and the ``limit``.

    Why: a layer makes ``1 + 2/n`` of squared distances, relative to R^2, and the kernel takes
    ``2 theta/(3 pi)`` of it at the angle theta seen from the mean. They balance at theta =
    3 pi/n, from a distance R/n.

    >>> rest_of_many([8, 100])["times n^2"].round(2).tolist()
    [7.51, 6.58]
    """
    found = [rest(n) for n in sizes]
    scaled = [n**2 * value for n, value in zip(sizes, found, strict=True)]
    return pd.DataFrame({"n": sizes, "spread over R": found, "times n^2": scaled, "limit": limit})


def networks(x: Floats, width: int, depth: int, runs: int, stream: Stream) -> pd.DataFrame:
    """Spread over R in networks of finite width: columns layer, run and spread.

    Exact in law: given the outputs ``(d, n)`` of a layer with QR factors Q and R, the next products
    have the law of a Gaussian ``(d, n)`` matrix times R, without d x d weights.

    >>> from signallab.decomposed.near_invariant import spread_out
    >>> networks(spread_out(4, 0.01, np.random.default_rng(0), 3), 8, 2, 3, Stream(0)).shape
    (9, 3)
    """
    rng = stream.numpy("networks", width)
    y = np.broadcast_to(x.T, (runs, *x.T.shape))
    rows = []
    for _ in range(depth + 1):
        centre = y[..., 1:].mean(axis=-1)
        spread = ((y[..., 1:] - centre[..., None]) ** 2).sum(axis=1).mean(axis=-1)
        apart = ((y[..., 0] - centre) ** 2).sum(axis=-1)
        rows.append(np.sqrt(spread / apart))
        centred = (y - y.mean(axis=-1, keepdims=True)) / np.sqrt(apart)[:, None, None]
        factor = np.linalg.qr(centred).R
        z = rng.normal(scale=np.sqrt(2 / width), size=(runs, width, factor.shape[-2])) @ factor
        y = np.maximum(z, 0)
    layers, run = np.indices((depth + 1, runs)).reshape(2, -1)
    return pd.DataFrame({"layer": layers, "run": run, "spread": np.concatenate(rows)})
