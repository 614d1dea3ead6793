"""Interpolation by the top layer of an infinitely wide network: COND Section 6 and Appendix G."""

from __future__ import annotations

import functools
import math

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.reference import ACTIVATIONS, directions, off_diagonal
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "DIMENSION",
    "GAMMA",
    "SUPPORT",
    "apart",
    "covariance_norm",
    "excess_risk",
    "lemma_54",
    "lemma_55",
    "prescribed",
    "residuals",
    "separations",
    "theorem_16",
]

#: Points of the finite distribution, and their dimension.
SUPPORT, DIMENSION = 1000, 10
#: The gamma of Theorem 16 there.
GAMMA = 0.4


def separations(m: int, dimension: int, runs: int, stream: Stream) -> Floats:
    """Return ``1 - max |x_i . x_j|`` of m uniform points of the sphere, ``(runs,)``.

    >>> separations(5, 3, 2, sp.Stream(0)).shape
    (2,)
    """
    found = []
    for rng in stream.runs(runs):
        x = rng.standard_normal((m, dimension))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        product = np.abs(x @ x.T)
        np.fill_diagonal(product, 0)
        found.append(1 - product.max())
    return np.array(found)


def apart(m: int, gamma: float, runs: int, stream: Stream, *, factor: float = 1.0) -> Floats:
    """Return whether m uniform points of the sphere in ``R^3`` are far apart, ``(runs,)``.

    There ``|x . y|`` is uniform on [0, 1], so ``delta = 2 gamma / m (m - 1)`` will do by a union
    over the pairs. ``factor`` makes a rival.

    >>> apart(2, 0.25, 3, sp.Stream(0)).dtype
    dtype('bool')
    """
    delta = factor * 2 * gamma / (m * (m - 1))
    return np.asarray(separations(m, 3, runs, stream) >= delta)


def covariance_norm(layers: int) -> float:
    """Return the norm of Sigma for uniform points in ``R^3``, second Hermite polynomial.

    The kernel is ``t^p`` with ``p = 2^layers``; the eigenvalue at spherical harmonics of degree
    k is half the integral of ``t^p P_k(t)`` (Funk and Hecke), largest at degree 0 for even p.

    >>> covariance_norm(0), covariance_norm(1)
    (0.3333333333333333, 0.3333333333333333)
    """
    return 1 / 3 if layers == 0 else 1 / (2.0**layers + 1)


def lemma_54(size: int, gamma: float, bound: float | None = None) -> Case:
    """COND Lemma 54 for uniform points in ``R^3``, second Hermite: the norm of Sigma and its bound.

    At the depth that the lemma asks for, or a little more, since a lower bound of the separation
    is used. ``bound`` times ``1 / N`` takes the place of the printed bound.

    >>> lemma_54(1, 0.25).left > lemma_54(1, 0.25).right
    True
    """
    delta = 1.0 if size == 1 else 2 * gamma / (size * (size - 1))
    layers = theory.cond_theorem_16_depth(size, delta, 1.0)
    right = theory.cond_lemma_54(size) if bound is None else bound / size
    return Case(covariance_norm(layers), right, words=f"N = {size}, {layers} layers")


def lemma_55(dimension: int, n: int, stream: Stream, *, factor: float = 2.0) -> Case:
    """COND Lemma 55 on a random finite distribution: excess risk beside ``factor`` times its parts.

    Feature vectors of unit length, four times as many as ``dimension``, with any labels; of
    these n are the sample.

    >>> case = lemma_55(6, 3, sp.Stream(0))
    >>> case.left <= case.right
    True
    """
    rng = stream.numpy()
    features = rng.standard_normal((4 * dimension, dimension)) * rng.uniform(0.05, 1, dimension)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    labels = rng.uniform(-1, 1, len(features))
    best = np.linalg.lstsq(features, labels, rcond=None)[0]
    x, y = features[:n], labels[:n]
    back = x.T @ np.linalg.inv(x @ x.T)  # X^T K^-1
    found = back @ y
    risks = [float(np.mean((labels - features @ v) ** 2)) for v in (found, best)]
    sigma = features.T @ features / len(features)
    rest, noise = best - back @ (x @ best), back @ (y - x @ best)
    right = factor * float(rest @ sigma @ rest + noise @ sigma @ noise)
    return Case(risks[0] - risks[1], right, {"n <= dimension": n <= dimension})


def residuals(share: float, *, mended: bool = False) -> Case:
    """COND, proof of Theorem 16: the squared residual at one input and its bound.

    The features are constant, and a ``share`` of less than half of the labels is -1, the rest 1; so
    ``v* = 1 - 2 share``. Seen is a sample of one label -1. Bound as printed ``1 + |v*|^2``,
    ``mended`` ``(1 + |v*|)^2``.

    >>> residuals(0.25).left, residuals(0.25).right
    (2.25, 1.25)
    """
    best = 1 - 2 * share
    right = (1 + best) ** 2 if mended else 1 + best**2
    return Case((-1 - best) ** 2, right, {"v* > 0": best > 0}, words=f"a share of {share:g}")


@functools.cache
def _support() -> tuple[Floats, float]:
    """Gram matrix of the finite distribution, and the coefficient of ReLU."""
    x = directions(SUPPORT, DIMENSION)
    return x @ x.T, float(sp.KernelMap(ACTIVATIONS["ReLU"]).nonlinearity)


def prescribed(n: int, runs: int, stream: Stream) -> tuple[float, int]:
    """Return ``Delta(n^2, gamma)`` of the finite distribution, and the depth of Theorem 16.

    By ``runs`` samples of ``n^2`` inputs; two that coincide have separation 0. Depth -1 says that
    Delta is 0 and that no depth will do.

    >>> prescribed(20, 20, sp.Stream(0))
    (0.0, -1)
    """
    gram, mu = _support()
    found = []
    for rng in stream.runs(runs):
        drawn = rng.integers(SUPPORT, size=n**2)
        i, j = np.triu_indices(n**2, 1)
        largest = 1.0 if len(set(drawn)) < n**2 else np.abs(gram[np.ix_(drawn, drawn)][i, j]).max()
        found.append(1 - float(largest))
    delta = float(np.quantile(found, GAMMA, method="lower"))
    return (delta, theory.cond_theorem_16_depth(n**2, delta, mu)) if delta > 0 else (0.0, -1)


@functools.lru_cache(maxsize=4)
def _kernel(layers: int) -> Floats:
    gram, _ = _support()
    return np.asarray(off_diagonal(gram, ACTIVATIONS["ReLU"], [layers])[0] + np.eye(SUPPORT))


def excess_risk(n: int, layers: int, target: float, runs: int, stream: Stream) -> pd.DataFrame:
    """Return excess risk and smallest eigenvalue for samples of the finite distribution.

    Samples of n different inputs. Labels are ``+-1`` with mean ``target`` times the first
    coordinate, clipped to [-1, 1]. All is exact but the draw: ``v*`` interpolates the means on the
    support. Columns: excess risk, smallest eigenvalue, norm of v*.

    >>> excess_risk(3, 20, 0.0, 2, sp.Stream(0))["norm of v*"].tolist()
    [0.0, 0.0]
    """
    kernel = _kernel(layers)
    means = np.clip(target * directions(SUPPORT, DIMENSION)[:, 0], -1, 1)
    norm = math.sqrt(means @ np.linalg.solve(kernel, means))
    rows = []
    for rng in stream.runs(runs):
        drawn = rng.choice(SUPPORT, n, replace=False)
        labels = np.where(rng.random(n) < (1 + means[drawn]) / 2, 1.0, -1.0)
        sample = kernel[np.ix_(drawn, drawn)]
        fitted = kernel[:, drawn] @ np.linalg.solve(sample, labels)
        rows.append(
            {
                "excess risk": float(np.mean((fitted - means) ** 2)),
                "smallest eigenvalue": float(np.linalg.eigvalsh(sample)[0]),
                "norm of v*": norm,
            }
        )
    return pd.DataFrame(rows)


def theorem_16(
    n: int, target: float, runs: int, stream: Stream, *, mended: bool = False, constant: float = 1e6
) -> Case:
    """COND Theorem 16 on the finite distribution: the largest excess risk beside its bound.

    As printed with any ``constant`` for the O. ``mended`` has ``1 + |v*|^2``.

    >>> case = theorem_16(3, 0.0, 2, sp.Stream(0))
    >>> case.left > case.right == 0
    True
    """
    delta, layers = prescribed(n, 400, stream.child("depth"))
    made = excess_risk(n, layers, target, runs, stream.child("samples"))
    norm, lowest = float(made["norm of v*"].iloc[0]), made["smallest eigenvalue"].min()
    printed = constant * math.log(n / GAMMA) / n * norm**2
    right = theory.cond_theorem_16(n, norm) if mended else printed
    return Case(
        float(made["excess risk"].max()),
        right,
        {
            "Delta > 0": delta > 0,
            "smallest eigenvalue 1/2": bool(lowest >= 0.5),
        },
        words=f"n = {n}, {layers} layers",
    )
