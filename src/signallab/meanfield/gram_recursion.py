"""The Gram matrices of a network with batch normalization, and their recursion at infinite width.

A batch is ``(n, d)``, one row a sample, the transpose of the document's. ``phi`` is an activation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signallab.meanfield.one_apart import entries
from signalprop import theory
from signalprop.activations import Activation
from signalprop.limits import gram_fixed_point
from signalprop.random import Stream

__all__ = [
    "activation",
    "chain",
    "deviation",
    "error_by_layer",
    "fixed_point_twice",
    "gram_of",
    "growth",
    "linear_fixed_point",
    "linear_limit",
    "next_gram",
    "normalized",
    "recursion",
    "relu_entries",
    "snapshots",
    "three_points",
    "whitened_rows",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Phi = Callable[[torch.Tensor], torch.Tensor]

ANGLES = 4096  # of the trapezoidal rule for three points


def activation(name: str) -> Activation:
    """Return an activation of the library by its name.

    >>> activation("relu").name
    'relu'
    """
    found: Activation = getattr(sp.activations, name)
    return found


def chain(name: str, width: int) -> sp.Chain:
    """Return the chain of MF Eq. 3.1: ``h -> W phi(BN(h))``, Gaussian weights of variance 1/d.

    >>> chain("relu", 8).width
    8
    """
    return sp.Chain(width, before=[sp.BatchNorm(), activation(name)])


def gram_of(name: str) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the function from batches ``(..., n, d)`` to Gram matrices ``(..., n, n)``, Eq. 3.2.

    >>> h = torch.tensor([[1.0, 2.0], [3.0, 0.0]], dtype=torch.float64)
    >>> gram_of("relu")(h)
    tensor([[0.5000, 0.0000],
            [0.0000, 0.5000]], dtype=torch.float64)
    """
    phi = activation(name)

    def gram(h: torch.Tensor) -> torch.Tensor:
        y = phi(sp.BatchNorm()(h))
        product: torch.Tensor = y @ y.mT / h.shape[-1]
        return product

    return gram


def deviation(name: str, target: Floats) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the function from batches ``(..., n, d)`` to ``|G - target|_F``.

    >>> h = torch.tensor([[1.0, 2.0], [3.0, 0.0]], dtype=torch.float64)
    >>> deviation("relu", np.eye(2))(h)
    tensor(0.7071, dtype=torch.float64)
    """
    gram, goal = gram_of(name), torch.from_numpy(target)

    def distance(h: torch.Tensor) -> torch.Tensor:
        norm: torch.Tensor = torch.linalg.matrix_norm(gram(h) - goal)
        return norm

    return distance


def normalized(
    n: int,
    width: int,
    stream: Stream,
    norm: Callable[[torch.Tensor], torch.Tensor] | None = None,
) -> Case:
    """Mean and mean square of every neuron over the batch after BN, which are 0 and 1.

    >>> normalized(3, 5, Stream(0)).left.shape
    (2, 5)
    """
    h = 3 + torch.from_numpy(stream.numpy("normalized", n, width).normal(size=(n, width)))
    y = (norm or sp.BatchNorm())(h)
    left = torch.stack([y.mean(0), y.square().mean(0)]).numpy()
    right = np.stack([np.zeros(width), np.ones(width)])
    return Case(left, right, words=f"{n} samples, width {width}")


def whitened_rows(
    name: str, n: int, width: int, runs: int, stream: Stream, center: bool = True
) -> Floats:
    """Neurons of ``h_1`` given ``h_0``, whitened by G_0: all entries are standard normal numbers.

    One input, weights drawn ``runs`` times by the direct engine. The whitening matrix comes from
    numpy formulas of its own. ``center=False`` leaves the mean in.

    >>> whitened_rows("relu", 3, 10, 2, Stream(0)).shape
    (60,)
    """
    x = stream.numpy("input", n, width).normal(size=(n, width))
    h = chain(name, width).run(x, 1, runs, stream.child("rows"), engine="direct").final().numpy()
    centred = x - x.mean(0) * center
    y = np.asarray(activation(name)(centred / np.sqrt(np.mean(centred**2, 0))))
    root = np.linalg.cholesky(y @ y.T / width)
    numbers: Floats = np.linalg.solve(root, h).ravel()
    return numbers


def three_points(gram: Floats, phi: Phi, center: bool = True) -> Floats:
    """Return the next Gram matrix of three points, MF Eq. 3.3, by an integral over an angle.

    Why it is right: the recentred vector lies in a plane, and the direction of a Gaussian vector
    with covariance S has the density ``det(S)^(-1/2) / (t^T S^-1 t)`` over ``2 pi`` there. The
    trapezoidal rule on a circle is exact to rounding for smooth ``phi``, and good to ``ANGLES^-2``
    with kinks. ``center=False`` is batch normalization without recentring, for exchangeable
    ``gram`` of unit diagonal and no correlation only, where the direction is uniform in space.

    >>> three_points(np.eye(3), lambda u: u).round(12)
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    basis = np.array([[1, -1, 0], [1, 1, -2]]).T / np.sqrt([2, 6])
    angle = 2 * np.pi * (np.arange(ANGLES) + 0.5) / ANGLES
    t = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    s = basis.T @ gram @ basis
    density = np.linalg.det(s) ** -0.5 / np.sum(t @ np.linalg.inv(s) * t, axis=-1) / ANGLES
    y = phi(torch.from_numpy(np.sqrt(3) * t @ basis.T)).numpy()
    result: Floats = (y * density[:, None]).T @ y
    return result


def next_gram(name: str, width: int, runs: int, stream: Stream) -> tuple[Floats, Floats, Floats]:
    """Return G_1 of many networks from one lopsided G_0, its mean by Eq. 3.3, and G_0.

    Three samples; the six different entries of each matrix: ``(runs, 6)``, ``(6,)`` and ``(6,)``.

    >>> [part.shape for part in next_gram("relu", 10, 4, Stream(0))]
    [(4, 6), (6,), (6,)]
    """
    x = stream.numpy("lopsided").normal(size=(3, width)) * [[1.0], [0.3], [2.0]]
    upper = np.triu_indices(3)
    grams = chain(name, width).run(x, 1, runs, stream.child("next")).measure(gram_of(name)).values
    expected = three_points(grams[0, 0], activation(name))
    return grams[:, 1][:, *upper], expected[upper], grams[0, 0][upper]


def recursion(name: str, grams: dict[str, Floats], depth: int) -> pd.DataFrame:
    """Return ``start, layer, distance``: the recursion of three points and its distance to G*.

    >>> recursion("tanh", {"lopsided": np.diag([1.0, 1.0, 9.0])}, 2)["layer"].tolist()
    [0, 1, 2]
    """
    goal = gram_fixed_point(activation(name), 3).matrix()
    rows = []
    for start, gram in grams.items():
        for layer in range(depth + 1):
            distance = float(np.linalg.norm(gram - goal))
            rows.append({"start": start, "layer": layer, "distance": distance})
            gram = three_points(gram, activation(name))
    return pd.DataFrame(rows)


def relu_entries(n: int, correlation: Callable[[int], float] | None = None) -> tuple[float, float]:
    """Return diagonal and off-diagonal entry of G* for ReLU, in closed form.

    Why it is right: ReLU is homogeneous, so that u may be replaced by a Gaussian vector of the same
    covariance, which has the correlation ``-1/(n-1)``; then it is the kernel of order one.

    >>> [round(value, 6) for value in relu_entries(2)]
    [0.5, 0.0]
    """
    rho = -1 / (n - 1) if correlation is None else correlation(n)
    angle = math.acos(rho)
    return 0.5, (math.sin(angle) + (math.pi - angle) * rho) / (2 * math.pi)


def fixed_point_twice(name: str, n: int, second: Phi | None = None) -> Case:
    """G* of the library's quadrature against another route: both different entries.

    Identity and ReLU have closed forms, three points an integral over an angle, all others the
    rule of :mod:`signallab.meanfield.one_apart`, which splits off a direction first. ``second``
    takes the place of the activation in the other route.

    >>> case = fixed_point_twice("identity", 4)
    >>> case.left.round(12), case.right
    (array([ 1.        , -0.33333333]), array([ 1.        , -0.33333333]))
    """
    point = gram_fixed_point(activation(name), n)
    phi = second or activation(name)
    if name == "identity" and second is None:
        other = (1.0, -1 / (n - 1))
    elif name == "relu" and second is None:
        other = relu_entries(n)
    elif n == 3:
        gram = three_points(np.eye(3), phi)
        other = (gram[0, 0], gram[0, 1])
    else:
        found = entries(phi, n, 1.0)
        other = (found.first_square, found.first_other)
    left = np.array([point.diagonal, point.off_diagonal])
    return Case(left, np.array(other), words=f"{name}, {n} samples")


def error_by_layer(
    name: str,
    x: Any,
    n: int,
    widths: Sequence[int],
    depth: int,
    runs: int,
    stream: Stream,
    target: Floats | None = None,
) -> pd.DataFrame:
    """Return ``width, run, layer, error``: ``|G_l - G*|_F`` along networks; ``target`` for G*.

    >>> frame = error_by_layer("relu", sp.inputs.gaussian_samples(3), 3, [20], 2, 4, Stream(0))
    >>> len(frame), list(frame)
    (12, ['width', 'run', 'layer', 'error'])
    """
    goal = gram_fixed_point(activation(name), n).matrix() if target is None else target
    frames = []
    for width in widths:
        path = chain(name, width).run(x, depth, runs, stream.child(name, n, width))
        error = path.measure(deviation(name, goal)).values
        run, layer = np.indices(error.shape).reshape(2, -1)
        columns = {"width": width, "run": run, "layer": layer, "error": error.ravel()}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def snapshots(
    name: str, n: int, widths: Sequence[int], depth: int, layers: int, stream: Stream
) -> dict[int, tuple[Floats, Floats]]:
    """Return for each width two simulated fixed points: one layer, and the mean over ``layers``.

    The one layer is the last of one network of ``depth`` layers; the mean is over the ``layers``
    that follow in the same network.

    >>> {width: len(pair) for width, pair in snapshots("relu", 3, [9], 2, 4, Stream(0)).items()}
    {9: 2}
    """
    found = {}
    for width in widths:
        draw = stream.child("snapshot", name, n, width)
        path = chain(name, width).run(sp.inputs.gaussian_samples(n), depth + layers, seed=draw)
        grams = path.measure(gram_of(name)).values[0]
        found[width] = (grams[depth], grams[depth + 1 :].mean(0))
    return found


def linear_fixed_point(n: int, matrix: Callable[[int], Floats]) -> Case:
    """The fixed point for linear activation against a matrix that it is said to be.

    >>> case = linear_fixed_point(2, np.eye)
    >>> case.left
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    point = gram_fixed_point(activation("identity"), n)
    return Case(point.matrix(), matrix(n), words=f"{n} samples")


def linear_limit(spectrum: tuple[float, ...], depth: int, near: float = 1e-6) -> Case:
    """Distance from flatness after ``depth`` layers at infinite width, against ``near``.

    For linear activation only the n - 1 eigenvalues of ``M G M`` on the vectors of sum zero matter,
    ``spectrum``; G* has them all equal. Each layer maps them as ORTH Eq. 13 does.

    >>> linear_limit((0.9, 0.1), 30).left < 1e-6
    True
    """
    path = theory.infinite_width_path(np.array(spectrum), depth)
    distance = float(np.abs(path[-1] - 1 / len(spectrum)).max())
    words = f"{len(spectrum) + 1} samples, recentred eigenvalues {spectrum}, layer {depth}"
    return Case(distance, near, words=words)


def growth(name: str, bound: float) -> Case:
    """The largest ``|phi(x)/x|`` for ``1e-6 <= |x| <= 1e3``, against a bound said to hold.

    >>> growth("relu", 1.0).left
    1.0
    """
    x = np.geomspace(1e-6, 1e3, 9001)
    x = np.concatenate([-x, x])
    with np.errstate(over="ignore"):
        largest = float(np.max(np.abs(activation(name)(x) / x)))
    return Case(largest, bound, words=name)
