"""The chain of ORTH and its orthogonality gap, as the printed formulas have them.

Matrices are as in the document: ``(d, n)``, a column for each sample. The gap here is the printed
formula, entry by entry, so that what is said of it can fail; :func:`signalprop.orthogonality_gap`
cuts off rounding at the ends of its range. A *spectrum* holds the n squared singular values,
decreasing, with sum 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signallab.orthogonality.gap_depth_width import chain
from signalprop.random import Stream

__all__ = [
    "INPUTS",
    "exceeds_lyapunov",
    "far_from_parallel",
    "gap",
    "gap_not_normalized",
    "gap_of_two",
    "gap_with_and_without_mean",
    "has_inverse",
    "invariant",
    "matrix",
    "norm_along",
    "points",
    "shapes",
    "squared_gap",
    "unit_norm",
    "whitened",
    "whitening",
    "whitens",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Spectrum = tuple[float, ...]

#: Inputs (d, n) made of a width and a generator, by name.
INPUTS: dict[str, Callable[[int, np.random.Generator], Floats]] = {
    "four Gaussian samples": lambda d, rng: rng.standard_normal((d, 4)),
    "the same, a million times as long": lambda d, rng: 1e6 * rng.standard_normal((d, 4)),
    "one sample": lambda d, rng: rng.standard_normal((d, 1)),
    "four equal samples": lambda d, rng: np.repeat(rng.standard_normal((d, 1)), 4, axis=1),
    "one sample and three zeros": lambda d, rng: rng.standard_normal((d, 4)) * [1, 0, 0, 0],
    "as many samples as features": lambda d, rng: rng.standard_normal((d, d)),
    "more samples than features": lambda d, rng: rng.standard_normal((d, 2 * d)),
}


def norm_along(start: str, width: int, depth: int, runs: int, stream: Stream) -> Floats:
    """Return the Frobenius norms ``(runs, layers 0..depth)`` from an input of :data:`INPUTS`.

    >>> norms = norm_along("one sample", 8, depth=2, runs=1, stream=Stream(0))
    >>> norms[0, 1:].round(12).tolist()
    [1.0, 1.0]
    """
    x = INPUTS[start](width, stream.numpy("input")).T
    path = chain(width).run(x, depth, runs, stream.child(start))
    return path.measure(torch.linalg.matrix_norm).values


def unit_norm(first: int, expected: Callable[[int], float] = lambda d: 1.0) -> Callable[..., Case]:
    """Return "all layers from ``first`` on have unit Frobenius norm"; another norm is a rival.

    Points are ``start, width, depth, runs, stream``.
    """

    def statement(start: str, width: int, depth: int, runs: int, stream: Stream) -> Case:
        norms = norm_along(start, width, depth, runs, stream)[:, first:]
        words = f"{start}, width {width}, layers {first} to {depth}"
        return Case(norms, np.full_like(norms, expected(width)), words=words)

    return statement


def whitened(m: Floats, power: float = -0.5) -> Floats:
    """Return ``(M M^T)^power M`` with zero for the powers of eigenvalues that are zero.

    For ``power=-1/2`` and full rank n its columns are orthonormal: it is ``U V^T`` if ``M = U S
    V^T``.

    >>> whitened(np.array([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]])).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    values, vectors = np.linalg.eigh(m @ m.T)
    kept = values > values.max() * len(m) * np.finfo(float).eps
    root = vectors[:, kept] * values[kept] ** power @ vectors[:, kept].T
    result: Floats = root @ m
    return result


def whitening(batches: Iterable[int], width: int, stream: Stream) -> pd.DataFrame:
    """Return the gap before and after BN and whitening of Gaussian matrices, a row for each n.

    Columns: ``samples, rank of M M^T, gap of M, gap after BN, gap after whitening``.
    """
    layer = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")
    rows = []
    for n in batches:
        m = _gaussian(n, width, stream)
        after_bn = layer(torch.from_numpy(m.T.copy())).numpy().T
        gaps = {"gap of M": gap(m), "gap after BN": gap(after_bn)}
        gaps["gap after whitening"] = gap(whitened(m))
        rank = int(np.linalg.matrix_rank(m @ m.T))
        rows.append({"samples": n, "rank of M M^T": rank, **gaps})
    return pd.DataFrame(rows)


def has_inverse(samples: int, width: int, stream: Stream) -> Case:
    """Return "M M^T has an inverse": its rank is at least the width; Gaussian M with n <= d."""
    m = _gaussian(samples, width, stream)
    return Case(
        float(width),
        float(np.linalg.matrix_rank(m @ m.T)),
        {r"$n \le d$": samples <= width},
        f"$n = {samples}$, $d = {width}$: $MM^\\top$ is {width} by {width}, and its rank is on the "
        "right",
    )


def whitens(change: Callable[[Floats], Floats]) -> Callable[..., Case]:
    """Return "``change(M)`` has orthogonal samples of equal norms", by its Gram matrix.

    Points as those of :func:`has_inverse`.
    """

    def statement(samples: int, width: int, stream: Stream) -> Case:
        h = change(_gaussian(samples, width, stream))
        gram = h.T @ h / (h**2).sum()
        return Case(gram, np.eye(samples) / samples, {r"$n \le d$": samples <= width})

    return statement


def gap(h: Floats) -> float:
    """Return the orthogonality gap of ``h`` (d, n), ORTH Eq. 2 as printed.

    >>> round(gap(np.array([[1.0, 1.0], [0.0, 0.0]])) ** 2, 12)
    0.5
    """
    eye = np.eye(h.shape[1])
    return float(np.linalg.norm(h.T @ h / np.linalg.norm(h) ** 2 - eye / np.linalg.norm(eye) ** 2))


def gap_not_normalized(h: Floats) -> float:
    """Return ``||H^T H - I/n||_F``: the gap without the division by the norm, a rival."""
    n = h.shape[1]
    return float(np.linalg.norm(h.T @ h - np.eye(n) / n))


def matrix(spectrum: Spectrum, width: int, stream: Stream) -> Floats:
    """Return a matrix ``(width, n)`` with this spectrum and random singular vectors.

    >>> h = matrix((0.75, 0.25), 5, Stream(0))
    >>> (np.linalg.svd(h, compute_uv=False) ** 2).round(12).tolist()
    [0.75, 0.25]
    """
    n = len(spectrum)
    rng = stream.numpy("matrix", n, width)
    left, right = (np.linalg.qr(rng.standard_normal((k, n)))[0] for k in (width, n))
    h: Floats = left * np.sqrt(spectrum) @ right.T
    return h


def points(sizes: Iterable[tuple[int, int]], count: int, stream: Stream) -> list[dict[str, Any]]:
    """Return points ``spectrum, width, stream`` for sizes (n, d): ``count`` varied spectra each.

    >>> len(points([(2, 4), (3, 3)], 5, Stream(0)))
    10
    """
    return [
        {"spectrum": tuple(s), "width": d, "stream": stream.child("points", k)}
        for n, d in sizes
        for k, s in enumerate(sp.spectra.varied(n, count, stream).tolist())
    ]


def squared_gap(power: float = 2, less: float = 1) -> Callable[..., Case]:
    """Return ``V^2 + less/n = sum_i s_i^power`` of points; true are 1 and 2, others are rivals."""

    def statement(spectrum: Spectrum, width: int, stream: Stream) -> Case:
        v = gap(matrix(spectrum, width, stream))
        right = float((np.array(spectrum) ** power).sum())
        return Case(v**2 + less / len(spectrum), right, words=_words(spectrum, width))

    return statement


def far_from_parallel(factor: float) -> Callable[..., Case]:
    """Return ``V^2 + factor s_1 s_2 <= (n-1)/n``; true for 2, with equality for two samples."""

    def statement(spectrum: Spectrum, width: int, stream: Stream) -> Case:
        n = len(spectrum)
        v = gap(matrix(spectrum, width, stream))
        left = v**2 + factor * spectrum[0] * spectrum[1]
        return Case(left, (n - 1) / n, words=_words(spectrum, width))

    return statement


def exceeds_lyapunov(factor: Callable[[int], float]) -> Callable[..., Case]:
    """Return ``factor(n) Vhat <= V`` for unit norm, ``Vhat = 1/n - sigma_n^2`` (ORTH Eq. 11).

    True for ``sqrt(n/(n-1))``, with equality if all but the smallest singular value are equal.
    """

    def statement(spectrum: Spectrum, width: int, stream: Stream) -> Case:
        n = len(spectrum)
        h = matrix(spectrum, width, stream)
        vhat = 1 / n - np.linalg.svd(h, compute_uv=False)[-1] ** 2
        # Rounding at orthogonality, where both are 0, is below 1e-12.
        return Case(
            factor(n) * vhat,
            gap(h) + 1e-12,
            {"unit norm": abs(float((h**2).sum()) - 1) < 1e-9},
            _words(spectrum, width),
        )

    return statement


def invariant(
    measure: Callable[[Floats], float] = gap, *, rotated: bool = True
) -> Callable[..., Case]:
    """Return "``measure`` stays when H is scaled by 7 and its features are rotated".

    ``rotated=False`` mixes the features by a Gaussian matrix instead, a rival.
    """

    def statement(spectrum: Spectrum, width: int, stream: Stream) -> Case:
        h = matrix(spectrum, width, stream)
        mix = stream.numpy("mix", width).standard_normal((width, width))
        moved = 7 * (np.linalg.qr(mix)[0] if rotated else mix) @ h
        # 1 is added to both, as the gap may be 0 and differences are relative.
        return Case(1 + measure(moved), 1 + measure(h), words=_words(spectrum, width))

    return statement


def gap_of_two(ratios: Iterable[float], angles: Iterable[float]) -> pd.DataFrame:
    """Return ``norms, angle in degrees, orthogonality gap`` of two samples in the plane.

    >>> gap_of_two([1], [90])["orthogonality gap"].round(12).tolist()
    [0.0]
    """
    rows = []
    for ratio, angle in product(ratios, angles):
        turn = np.deg2rad(angle)
        h = np.array([[1.0, ratio * np.cos(turn)], [0.0, ratio * np.sin(turn)]])
        place = {"norms": f"1 and {ratio}", "angle in degrees": angle}
        rows.append({**place, "orthogonality gap": gap(h)})
    return pd.DataFrame(rows)


def gap_with_and_without_mean(
    samples: int, width: int, depth: int, runs: int, stream: Stream
) -> pd.DataFrame:
    """Return ``batch normalization, run, layer, orthogonality gap``, mean taken off or not.

    Both start from one strong direction, diag(1, 1e-3, ..., 1e-3).
    """
    frames = []
    for name, center in {"mean left in": False, "mean taken off": True}.items():
        layer = sp.BatchNorm(center=center, divide="norm", scale="1/sqrt d")
        start = sp.inputs.diagonal([1.0] + [1e-3] * (samples - 1))
        path = sp.Chain(width, layers=[layer]).run(start, depth, runs, stream.child(name))
        values = path.measure(sp.orthogonality_gap).values
        run, at = np.indices(values.shape)
        place = {"batch normalization": name, "run": run.ravel(), "layer": at.ravel()}
        frames.append(pd.DataFrame({**place, "orthogonality gap": values.ravel()}))
    return pd.concat(frames, ignore_index=True)


def shapes(n: int, d: int, k: int, stream: Stream) -> pd.DataFrame:
    """Return the symbols of ORTH Table 2 and Eqs. 7 and 8: ``symbol, printed, here``, as shapes."""
    x = _gaussian(n, d, stream)
    h = chain(d).run(x.T, 1, 1, stream).final()[0].numpy().T
    v, w = stream.numpy("vectors").standard_normal((2, k))
    bn = sp.BatchNorm(center=False, divide="norm")(torch.from_numpy(h.T.copy())).numpy().T
    rows = [
        ("X, the input", (d, n), x),
        ("H_l, a layer", (d, n), h),
        ("BN(M)", (d, n), bn),
        ("sigma_i(M), all of them", (min(n, d),), np.linalg.svd(h, compute_uv=False)),
        ("I_k", (k, k), np.eye(k)),
        ("1_k", (k,), np.ones(k)),
        ("v o w", (k,), v * w),
        ("v^(x2)", (k, k), np.outer(v, v)),
    ]
    named = [(symbol, str(printed), str(here.shape)) for symbol, printed, here in rows]
    return pd.DataFrame(named, columns=["symbol", "type in print", "here"])


@cache
def _gaussian(n: int, d: int, stream: Stream) -> Floats:
    return stream.numpy("gaussian", n, d).standard_normal((d, n))


def _words(spectrum: Spectrum, width: int) -> str:
    shown = ", ".join(f"{s:.4g}" for s in spectrum[:4]) + (", ..." if len(spectrum) > 4 else "")
    return f"squared singular values {shown}, width {width}"
