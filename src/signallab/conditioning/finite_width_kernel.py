"""How far the kernel of a finite network lies from its limit: COND Lemma 43."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.reference import ACTIVATIONS, directions, off_diagonal
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "BOUNDED",
    "deviations",
    "errors",
    "growth",
    "needed",
    "size",
    "within",
]

#: The normalized activations that are bounded with their first two derivatives.
BOUNDED: Mapping[str, sp.Activation] = {name: ACTIVATIONS[name] for name in ("tanh", "erf", "sine")}


@functools.cache
def size(activation: str) -> float:
    """Return C: the largest value of ``|phi|``, ``|phi'|`` and ``|phi''|``, on a grid of [-20, 20].

    The second derivative is a central difference of the first.

    >>> round(size("sine"), 4)    # 1 / sqrt((1 - e^-2) / 2)
    1.5209
    """
    x, h = np.linspace(-20, 20, 8001), 1e-5
    phi = BOUNDED[activation]
    second = (np.asarray(phi.derivative(x + h)) - np.asarray(phi.derivative(x - h))) / (2 * h)
    return float(max(np.abs(f).max() for f in (np.asarray(phi(x)), phi.derivative(x), second)))


def _inputs(n: int) -> Floats:
    """The Gram matrix of n random directions in 10 dimensions, the first of a fixed set of 40."""
    x = directions(40)[:n]
    gram = x @ x.T
    np.fill_diagonal(gram, 1.0)
    return gram


def deviations(
    activation: str, n: int, width: int, depth: int, runs: int, stream: Stream
) -> Floats:
    """Return ``max_ij |K_ij - Kbar_ij|`` in networks of ``width`` after 1..depth layers.

    ``(runs, depth)``, over all pairs of n inputs and the diagonal. Given the Gram matrix ``G`` of
    what enters a layer, its units are independent Gaussian vectors with covariance ``G``; they are
    drawn as such, which is exact and needs no weight matrices.

    >>> deviations("tanh", 3, 16, 2, 5, sp.Stream(0)).shape
    (5, 2)
    """
    phi, gram = BOUNDED[activation], _inputs(n)
    limit = off_diagonal(gram, phi, range(1, depth + 1)) + np.eye(n)
    rng = stream.numpy()
    found, state = [], np.broadcast_to(gram, (runs, n, n))
    for layer in range(depth):
        values, vectors = np.linalg.eigh(state)
        root = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]
        units = np.asarray(phi(root @ rng.standard_normal((runs, n, width))))
        state = units @ units.swapaxes(-1, -2) / width
        found.append(np.abs(state - limit[layer]).max((-2, -1)))
    return np.stack(found, axis=-1)


def errors(
    n: int, widths: Sequence[int], layers: Sequence[int], runs: int, stream: Stream
) -> pd.DataFrame:
    """Return the largest deviation, run by run: ``activation, layer, width, run, error``.

    >>> len(errors(3, [8, 16], [1, 2], 4, sp.Stream(0)))
    48
    """
    parts = []
    for name in BOUNDED:
        for width in widths:
            found = deviations(name, n, width, max(layers), runs, stream.child(name, n, width))
            parts += [
                pd.DataFrame(
                    {
                        "activation": name,
                        "layer": layer,
                        "width": width,
                        "run": np.arange(runs),
                        "error": found[:, layer - 1],
                    }
                )
                for layer in layers
            ]
    return pd.concat(parts, ignore_index=True)


def within(
    rows: pd.DataFrame, n: int, activation: str, layer: int, width: int, *, scale: float = 1.0
) -> Case:
    """COND Lemma 43 with the constant 1: the worst network's error beside gamma.

    ``m = (4C)^(L+1) log(n) / gamma^2`` solved for gamma; ``scale`` multiplies it.

    >>> rows = pd.DataFrame({"activation": "sine", "layer": 1, "width": 100, "error": [0.1, 0.2]})
    >>> case = within(rows, 10, "sine", 1, 100)
    >>> case.left, round(case.right, 3)
    (0.2, 0.923)
    """
    chosen = _of(rows, activation, layer, width)
    right = scale * float(theory.cond_lemma_43(width, layer, n, size(activation)))
    return Case(float(chosen.max()), right, words=f"{activation}, {layer} layers, width {width}")


def growth(
    rows: pd.DataFrame, activation: str, layer: int, width: int, *, base: float | None = None
) -> Case:
    """Return the errors after ``layer`` layers beside ``base^((L-1)/2)`` times the mean after one.

    ``base`` is ``4C``, if not said. The errors after one layer are those of the same networks, so
    that a network's excess there is taken off, times the same factor: no mean changes, and the
    scatter is that of both sides.

    >>> errors = {"layer": [1, 1, 3, 3], "error": [0.9, 1.1, 2.0, 2.4]}
    >>> rows = pd.DataFrame({"activation": "sine", "width": 9, **errors})
    >>> case = growth(rows, "sine", 3, 9, base=2.0)
    >>> case.left.round(9).tolist(), case.right
    ([2.2, 2.2], 2.0)
    """
    base = 4 * size(activation) if base is None else base
    first, last = (_of(rows, activation, at, width) for at in (1, layer))
    factor = base ** ((layer - 1) / 2)
    right = float(factor * first.mean())
    words = f"{activation}, {layer} layers, width {width}"
    return Case(last - factor * (first - first.mean()), right, words=words)


def _of(rows: pd.DataFrame, activation: str, layer: int, width: int) -> Floats:
    at = (rows["activation"] == activation) & (rows["layer"] == layer) & (rows["width"] == width)
    return np.asarray(rows.loc[at, "error"], dtype=float)


def needed(rows: pd.DataFrame, n: int, gamma: float) -> pd.DataFrame:
    """Return the width for a mean error of ``gamma``, as measured and by Lemma 43.

    Measured at the largest width, and extended by the inverse square root of the width.

    >>> rows = pd.DataFrame({"activation": "sine", "layer": 1, "width": 100, "error": [0.1, 0.3]})
    >>> needed(rows, 10, 0.1)["width, measured"].tolist()
    [400]
    """
    width = int(rows["width"].max())
    means = rows[rows["width"] == width].groupby(["activation", "layer"], sort=False)["error"]
    result = []
    for place, error in means.mean().items():
        name, layer = place
        unit = float(theory.cond_lemma_43(1, layer, n, size(str(name))))
        result.append(
            {
                "activation": name,
                "layers": layer,
                "width, measured": math.ceil(width * (error / gamma) ** 2 - 1e-9),
                "width, by the lemma": (unit / gamma) ** 2,
            }
        )
    return pd.DataFrame(result)
