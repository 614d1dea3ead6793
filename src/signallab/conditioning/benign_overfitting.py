"""Interpolation by the top layer of an infinitely wide network: COND Section 6 and Appendix G."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.reference import ACTIVATIONS, directions, off_diagonal
from signallab.conditioning.zonal import zonal
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "DIMENSION",
    "GAMMA",
    "LABELS",
    "SUPPORT",
    "OnSphere",
    "apart",
    "covariance_norm",
    "excess_risk",
    "lemma_54",
    "lemma_55",
    "on_sphere",
    "prescribed",
    "printed_16",
    "residuals",
    "separations",
    "theorem_16",
    "theorem_16_on_sphere",
]

#: A bound of the excess risk, from n, ``|v*|`` and ``|Sigma|``.
Bound = Callable[[int, float, float], float]

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


@functools.lru_cache(maxsize=8)
def _norm(layers: int) -> float:
    """The norm of Sigma of the finite distribution, exactly."""
    return float(np.linalg.eigvalsh(_kernel(layers))[-1]) / SUPPORT


def printed_16(n: int, norm: float, covariance: float, *, constant: float = 1e6) -> float:
    """COND Theorem 16 as printed, with any ``constant`` for the O.

    >>> printed_16(4, 0.0, 0.1)
    0.0
    """
    return constant * math.log(n / GAMMA) / n * norm**2


def theorem_16(n: int, target: float, runs: int, stream: Stream, bound: Bound = printed_16) -> Case:
    """COND Theorem 16 on the finite distribution: the largest excess risk beside its bound.

    ``bound`` is a function of n, of ``|v*|`` and of ``|Sigma|``.

    >>> case = theorem_16(3, 0.0, 2, sp.Stream(0))
    >>> case.left > case.right == 0
    True
    """
    delta, layers = prescribed(n, 400, stream.child("depth"))
    made = excess_risk(n, layers, target, runs, stream.child("samples"))
    norm, lowest = float(made["norm of v*"].iloc[0]), float(made["smallest eigenvalue"].min())
    covariance = _norm(layers)
    return Case(
        float(made["excess risk"].max()),
        bound(n, norm, covariance),
        {"Delta > 0": delta > 0, **_conclusions(n, lowest, covariance)},
        words=f"n = {n}, {layers} layers",
    )


def _conclusions(n: int, lowest: float, covariance: float) -> dict[str, bool]:
    """What the first half of the theorem, and Lemma 54 mended, give at the prescribed depth."""
    return {
        "smallest eigenvalue 1/2": lowest >= 0.5,
        "|Sigma| <= 7 / 2 n^2": covariance <= theory.cond_lemma_54_sharper(n**2),
    }


@dataclass(frozen=True)
class OnSphere:
    """Samples of the uniform distribution on a sphere, at the depth that Theorem 16 prescribes.

    ``excess`` is the largest excess risk of ``runs`` samples, the upper end of an enclosure of
    relative width ``width``; ``norm`` is ``|v*|`` and ``covariance`` bounds ``|Sigma|`` from below.
    """

    layers: int
    delta: float
    excess: float
    width: float
    norm: float
    covariance: float
    lowest: float
    needle: float


#: What the labels on the sphere follow.
LABELS = ("nothing", "a coordinate", "one needle")


@functools.cache
def on_sphere(n: int, dimension: int, labels: str, runs: int, stream: Stream) -> OnSphere:
    """Return the excess risk of the interpolant of n uniform points, ReLU, without fresh points.

    Labels are fair signs that follow ``"nothing"``, signs whose mean is the first entry of the
    input (``"a coordinate"``), or, with no noise, the kernel of the input and a fixed point
    (``"one needle"``). The mean labels ``f = v* . Phi`` are then 0, an eigenfunction, and a
    feature; with ``alpha = Kbar^{-1} y`` the excess risk ``E (sum_i alpha_i k(x_i . x) - f(x))^2``
    is a quadratic form in ``E k(x_i . x) k(x . x_j)``. Delta is a quantile of 40 samples.

    >>> on_sphere(3, 10, "nothing", 1, sp.Stream(0)).norm
    0.0
    """
    if labels not in LABELS:
        raise ValueError(f"labels must be one of {', '.join(LABELS)}, got {labels!r}")
    delta, layers = _depth_on_sphere(n, dimension, stream.child("depth"))
    kernel = zonal(ACTIVATIONS["ReLU"], layers, dimension)
    pole = np.eye(dimension)[:1]
    slope = float(kernel.eigenvalues[1])
    norm = {"nothing": 0.0, "a coordinate": 1 / math.sqrt(dimension * slope), "one needle": 1.0}
    made = []
    for rng in stream.child("samples").runs(runs):
        x = rng.standard_normal((n, dimension))
        points = np.concatenate([x / np.linalg.norm(x, axis=1, keepdims=True), pole])
        gram = points @ points.T
        whole = np.eye(n + 1) + off_diagonal(gram, ACTIVATIONS["ReLU"], [layers])[0]
        means = {"nothing": 0 * gram[-1], "a coordinate": gram[-1], "one needle": whole[-1]}[labels]
        sample = whole[:n, :n]
        signs = np.where(rng.random(n) < (1 + means[:n]) / 2, 1.0, -1.0)
        alpha = np.linalg.solve(sample, means[:n] if labels == "one needle" else signs)
        form = np.append(alpha, -1.0 if labels == "one needle" else 0.0)
        second, error = kernel.second(gram)
        excess = float(form @ second @ form)
        if labels == "a coordinate":
            excess += 1 / dimension - 2 * slope * float(alpha @ means[:n])
        doubt = float(np.abs(form) @ error @ np.abs(form))
        lowest = float(np.linalg.eigvalsh(sample)[0])
        made.append((excess + doubt, 2 * doubt / (excess + doubt), lowest))
    worst = max(made)
    return OnSphere(
        layers,
        delta,
        worst[0],
        max(width for _, width, _ in made),
        norm[labels],
        float(kernel.eigenvalues.max()),
        min(lowest for *_, lowest in made),
        kernel.needle,
    )


@functools.cache
def _depth_on_sphere(n: int, dimension: int, stream: Stream) -> tuple[float, int]:
    """``Delta(n^2, GAMMA)`` on the sphere, from random samples, and the depth for ReLU."""
    found = separations(n**2, dimension, 40, stream)
    delta = float(np.quantile(found, GAMMA, method="lower"))
    return delta, theory.cond_theorem_16_depth(n**2, delta, _support()[1])


def theorem_16_on_sphere(
    n: int, dimension: int, labels: str, runs: int, stream: Stream, bound: Bound = printed_16
) -> Case:
    """COND Theorem 16 for uniform inputs: the largest excess risk beside its bound.

    >>> case = theorem_16_on_sphere(3, 10, "nothing", 1, sp.Stream(0))
    >>> case.left > case.right == 0
    True
    """
    made = on_sphere(n, dimension, labels, runs, stream)
    return Case(
        made.excess,
        bound(n, made.norm, made.covariance),
        _conclusions(n, made.lowest, made.covariance),
        words=f"n = {n}, {dimension} dimensions, {made.layers} layers, labels follow {labels}",
    )
