"""How close a random layer's output is to a Gaussian matrix: ORTH, Lemma 2, Cor. 3 and Table 1.

``W`` is d x d with independent ``N(0, 1/d)`` entries and ``H`` is d x n of unit Frobenius norm, so
that its *spectrum*, the n squared singular values, sums to 1. Distances are squared Wasserstein-2
distances of the law of ``W H`` from that of ``G / sqrt n``, where the d x n matrix G has entries
like those of W. Shapes and shares of inputs are those of :mod:`.gap_depth_width`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signallab.orthogonality import gap_depth_width
from signallab.orthogonality.gap_depth_width import Shape, chain
from signalprop import theory
from signalprop.random import Stream

__all__ = [
    "bound",
    "contrast",
    "corollary_3",
    "coupled",
    "enclosure",
    "exact",
    "exponents",
    "infinite_width",
    "largest_shares",
    "lemma_2",
    "lemma_2_sharp",
    "lemma_from_gap",
    "representation",
    "scaled_constant",
    "sharpened",
    "width_to_see",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]


def representation(samples: int, width: int, stream: Stream) -> Floats:
    """Return a Gaussian batch ``(samples, width)`` of unit Frobenius norm.

    >>> round(float(np.linalg.norm(representation(2, 5, Stream(0)))), 12)
    1.0
    """
    h: Floats = stream.numpy("representation", samples, width).standard_normal((samples, width))
    return h / np.linalg.norm(h)


def exact(samples: int, width: int, stream: Stream, *, power: float = 1) -> Case:
    """Return ``sum (sigma_i^power - n^(-power/2))^2`` beside the distance of the Gaussian laws.

    Given H, the d rows of ``W H`` are independent ``N(0, H^T H / d)`` and those of ``G / sqrt n``
    are ``N(0, I / (n d))``. The right side is d times the distance of two such rows, from matrix
    roots of covariances (Bures); it knows nothing of singular values of H.
    """
    h = representation(samples, width, stream)
    sigma = np.linalg.svd(h, compute_uv=False)
    rows = theory.gaussian_wasserstein(h @ h.T / width, np.eye(samples) / (samples * width))
    return Case(
        float(((sigma**power - samples ** (-power / 2)) ** 2).sum()),
        float(width * rows),
        {r"$\lVert H \rVert_F = 1$": bool(np.isclose((sigma**2).sum(), 1))},
        f"{samples} samples, width {width}",
    )


def coupled(samples: int, width: int, runs: int, stream: Stream) -> Floats:
    """Return ``||W H - G/sqrt n||_F^2`` under the coupling of the proof of Lemma 2, ``(runs,)``.

    With ``H = U diag(sigma) V^T`` the proof couples ``W U = G V``.

    >>> coupled(2, 5, 3, Stream(0)).shape
    (3,)
    """
    h = representation(samples, width, stream)
    v, sigma, _ = np.linalg.svd(h, full_matrices=False)
    g = stream.numpy("coupling", samples, width).standard_normal((runs, width, samples))
    product = g @ v * sigma @ v.T  # W H = W U diag(sigma) V^T
    squares: Floats = ((product - g / np.sqrt(samples)) ** 2).sum(axis=(1, 2)) / width
    return squares


def lemma_from_gap(gap: Any, n: int, *, factor: float = 1, power: float = 0.5) -> Any:
    """Return ``2 - 2 (1 + factor n gap^2)^-power``: the sharp form of ORTH Lemma 2 given H.

    Not in the paper. Why it is right: with ``t_i = n sigma_i^2``, of mean 1, the distance is
    ``2 - 2 mean(sqrt t)`` and ``mean(t^2) = 1 + n V^2``. Hoelder's inequality for ``t = t^(1/3)
    t^(2/3)`` is ``1 = mean(t) <= mean(sqrt t)^(2/3) mean(t^2)^(1/3)``. It is an equality if all
    sigma_i which are not 0 are equal.

    >>> round(float(lemma_from_gap(np.sqrt(0.5), 2)), 6)  # rank one: 2 - sqrt 2
    0.585786
    """
    # 2 - 2 / sqrt(1 + y) without cancellation
    return -2 * np.expm1(-power * np.log1p(factor * n * np.asarray(gap) ** 2))


def lemma_2(right: Callable[[Any, int], Any]) -> Callable[..., Case]:
    """Return the statement "the distance is at most ``right(gap, n)``", spectrum by spectrum.

    A point is ``samples, count, stream``: count spectra from nearly flat to rank one.
    """

    def statement(samples: int, count: int, stream: Stream) -> Case:
        spectra = _spectra(samples, count, stream)
        return Case(
            theory.wasserstein_to_gaussian(spectra),
            right(theory.gap_of_spectrum(spectra), samples),
            {r"$\lVert H \rVert_F = 1$": bool(np.allclose(spectra.sum(axis=1), 1))},
            f"{samples} samples",
        )

    return statement


def lemma_2_sharp(gap: Any, n: int) -> Any:
    """Return the sharp form, :func:`lemma_from_gap` with its own constants."""
    return lemma_from_gap(gap, n)


def largest_shares(samples: Iterable[int], count: int, stream: Stream) -> pd.DataFrame:
    """Return how much of each bound in terms of the gap the distance reaches, a row for each n.

    >>> shares = largest_shares([2], 50, Stream(0))
    >>> round(float(shares["of the sharp form"].iloc[0]), 12)
    1.0
    """
    rows = []
    for n in samples:
        spectra = _spectra(n, count, stream)
        distance, gap = theory.wasserstein_to_gaussian(spectra), theory.gap_of_spectrum(spectra)
        bounds = {
            "of 2nV": theory.orth_lemma_2(gap, n),
            "of √n V": np.sqrt(n) * gap,
            "of nV²": n * gap**2,
            "of the sharp form": lemma_2_sharp(gap, n),
        }
        rows.append({"samples": n} | {name: (distance / b).max() for name, b in bounds.items()})
    return pd.DataFrame(rows)


def infinite_width(samples: int, shape: Shape, share: float, depth: int) -> pd.DataFrame:
    """Return ``layer, distance, smallest singular value`` at infinite width, layers 0..depth.

    Nothing is random there: the distance is a sum over the deterministic spectrum. It keeps its
    digits when it is small, as it is computed from deviations from 1/n.

    >>> infinite_width(2, "one weak direction", 0.2, 2)["distance"].round(4).tolist()
    [0.2111, 0.0681, 0.0184]
    """
    path = gap_depth_width.infinite_width(samples, shape, share, depth)
    distance = _distance(samples, shape, path["gap"].to_numpy())
    return path.assign(distance=distance)[["layer", "distance", "smallest singular value"]]


def bound(
    alpha: Any,
    layers: Any,
    n: int,
    d: Any,
    *,
    power: float = 1,
    factor: float = 2 / 3,
    later: int = 0,
) -> Any:
    """Return ORTH Cor. 3, as printed unless the options make a rival of it.

    It is Lemma 2 of :func:`.gap_depth_width.bound`, with the exponent ``layers + later``.

    >>> float(bound(0.5, 0, 4, 36**2)) == float(theory.orth_corollary_3(0.5, 0, 4, 36**2))
    True
    """
    exponent = np.asarray(layers) + later
    return 2 * n * gap_depth_width.bound(alpha, exponent, n, d, power=power, factor=factor)


def sharpened(alpha: Any, layers: Any, n: int, d: Any, **rival: Any) -> Any:
    """Return a sharper form of ORTH Cor. 3, not in the paper; its second term is of order 1/d.

    ``n (n-1) / (alpha + 1/sqrt n)^2`` times the square of :func:`.gap_depth_width.lyapunov_bound`
    at the layer before, whose options it takes.

    Why it is right: under A1 each denominator ``(sigma_i + 1/sqrt n)^2`` of the proof of Lemma 2 is
    at least ``(alpha + 1/sqrt n)^2``, and ``V <= sqrt(n(n-1)) Vhat`` (Lemma 4, sharp). So ``E
    Vhat^2`` is wanted, the square of that bound.

    >>> round(float(sharpened(alpha=0.5, layers=1, n=4, d=np.inf)), 12)  # orthogonal
    0.0
    """
    vhat = gap_depth_width.lyapunov_bound(alpha, np.asarray(layers) - 1, n, d, **rival)
    return n * (n - 1) * (vhat / (np.asarray(alpha) + n**-0.5)) ** 2


def corollary_3(right: Callable[..., Any]) -> Callable[..., Case]:
    """Return the statement "the distance of layer ``layers`` is at most ``right``" of points.

    ``right(alpha, layers, n, d)`` is the bound, points are those of
    :func:`.gap_depth_width.theorem_1`. alpha is the smallest singular value on layers 1..l (in all
    runs). At finite width the left side has a number a run, the distance given ``H_l``, whose mean
    is what the proof bounds.
    """

    def statement(
        samples: int, shape: Shape, share: float, layers: int, width: float = np.inf, **draw: Any
    ) -> Case:
        if np.isinf(width):
            path = infinite_width(samples, shape, share, layers)
            distance = path["distance"].iloc[-1]
            smallest = path["smallest singular value"].to_numpy()[1:]
        else:
            distances, squares = _simulated(samples, shape, share, int(width), **draw)
            distance, smallest = distances[:, layers], np.sqrt(squares[:, 1 : layers + 1])
        alpha, hypotheses = gap_depth_width.assumed(samples, smallest)
        size = "infinite width" if np.isinf(width) else f"width {width}"
        return Case(
            distance,
            float(right(alpha, layers, samples, width)),
            hypotheses,
            f"{size}, {samples} samples, {shape}, smallest squared singular value {share:.4g}/n at "
            rf"the input, $\ell = {layers}$, $\alpha = {alpha:.4f}$",
            {"alpha": alpha},
        )

    return statement


def width_to_see(samples: int, shape: Shape, share: float, layers: int) -> float:
    """Return the width from which ORTH Cor. 3 as printed, noise term included, fails at a point.

    At width d the right side has its second term, and the distance (not squared) may be smaller
    than at infinite width: by ``sqrt(n) (n + 2) / (4 sqrt d)``, half of sqrt n times the allowance
    of :func:`.gap_depth_width.width_to_see`, to first order in the noise. It is infinite where
    nothing fails.
    """
    case = corollary_3(theory.orth_corollary_3)(samples, shape, share, layers)
    excess = case.left - case.right
    if excess <= 0:
        return np.inf
    second = theory.orth_corollary_3(case.where["alpha"], layers, samples, 1.0) - case.right
    allowance = np.sqrt(samples) * (samples + 2) / 4
    # the smaller root x = 1/sqrt d of (sqrt left - allowance x)^2 = right + second x
    slope = 2 * np.sqrt(case.left) * allowance + second
    x = 2 * excess / (slope + np.sqrt(slope**2 - 4 * allowance**2 * excess))
    return float(x**-2)


def enclosure(
    samples: Iterable[int],
    widths: Iterable[int],
    layers: int,
    runs: int,
    groups: int,
    stream: Stream,
) -> pd.DataFrame:
    """Return bounds of the distance after ``layers`` layers, from groups of runs.

    Columns ``samples, width, group, from above, from below``, orthogonal inputs. The law of ``W H``
    is a mixture over H, whose distance has no closed form. From above: the mean of the distance
    given H. From below: ordered singular values move no more than their matrix, so it is at least
    ``||E sigma(W H) - E sigma(G / sqrt n)||^2``. ``W H`` has the singular values of
    ``G diag(sigma)`` in law; with one G for both means their difference has little noise, and the
    noise that is left is subtracted.

    >>> bounds = enclosure([2], [32], layers=5, runs=40, groups=2, stream=Stream(0))
    >>> bool((bounds["from below"] < bounds["from above"]).all())
    True
    """
    frames = []
    for n in samples:
        for width in widths:
            draw = stream.child("enclosure", n, width)
            start = sp.inputs.orthogonal_samples(n)
            path = chain(width).run(start, layers, runs, draw)
            spectra = path.measure(_spectrum_of, every=layers).values[:, -1]
            wishart, sigma = _wishart(runs, width, n, draw), np.sqrt(spectra)
            squares = np.linalg.eigvalsh([sigma[:, None] * wishart * sigma[..., None], wishart / n])
            shift = np.subtract(*np.sqrt(squares)).reshape(groups, -1, n)
            noise = shift.var(axis=1, ddof=1).sum(axis=-1) / shift.shape[1]
            above = theory.wasserstein_to_gaussian(spectra).reshape(groups, -1).mean(axis=1)
            frames.append(
                pd.DataFrame(
                    {
                        **{"samples": n, "width": width, "group": np.arange(groups)},
                        "from above": above,
                        "from below": (shift.mean(axis=1) ** 2).sum(axis=-1) - noise,
                    }
                )
            )
    return pd.concat(frames, ignore_index=True)


def exponents(values: pd.DataFrame, column: str) -> Floats:
    """Return the fitted exponent of ``column`` in the width, one for each ``group``.

    Rows of a group at one width are averaged first.

    >>> rows = pd.DataFrame({"width": [1, 2, 4], "group": 0, "distance": [1, 0.5, 0.25]})
    >>> exponents(rows, "distance").round(9).tolist()
    [-1.0]
    """
    table = np.log(values.pivot_table(index="width", columns="group", values=column))
    slopes: Floats = np.polyfit(np.log(table.index.to_numpy(float)), table.to_numpy(), 1)[0]
    return slopes


def scaled_constant(bounds: pd.DataFrame) -> Floats:
    """Return ``d E W^2`` at large d, from above, ``(groups, numbers of samples)``.

    From the two largest widths, one twice the other: ``2 a(2d) - a(d)`` with ``a(d) = d E W^2``
    leaves no term of the relative order 1/d.
    """
    half, full = sorted(bounds["width"].unique())[-2:]
    if full != 2 * half:
        raise ValueError(f"the largest width must be twice the next, got {half} and {full}")
    table = bounds.pivot(index="group", columns=["width", "samples"], values="from above")
    constants: Floats = (2 * full * table[full] - half * table[half]).to_numpy()
    return constants


def contrast(
    widths: Iterable[int],
    depths: Sequence[int],
    runs: int,
    stream: Stream,
    *,
    normalized: bool,
    samples: int = 4,
) -> pd.DataFrame:
    """Return ``width, layer, run, group, distance``: the distance given H at some depths.

    Linear networks with batch normalization or without, from orthogonal samples of total norm 1.
    Runs are dealt to twenty groups.

    >>> rows = contrast([16], [1, 3], 2, Stream(0), normalized=False)
    >>> rows["layer"].tolist()
    [1, 1, 3, 3]
    """
    frames = []
    for width in widths:
        net = chain(width) if normalized else sp.Chain(width)
        draw = stream.child("contrast", width, int(normalized))
        start = np.eye(samples, width) / np.sqrt(samples)
        values = net.run(start, max(depths), runs, draw).measure(_distance_given).values
        for layer in depths:
            run = np.arange(runs)
            place = {"width": width, "layer": layer, "run": run, "group": run % 20}
            frames.append(pd.DataFrame({**place, "distance": values[:, layer]}))
    return pd.concat(frames, ignore_index=True)


def _distance_given(h: torch.Tensor) -> Any:
    """The distance given H, which may have another norm than 1."""
    return theory.wasserstein_to_gaussian(_spectrum_of(h))


def _spectrum_of(h: torch.Tensor) -> Floats:
    """The squared singular values ``(..., n)`` of batches ``(..., n, d)``."""
    squares: Floats = torch.linalg.eigvalsh(h @ h.mT).clamp(min=0).numpy()
    return squares


def _wishart(runs: int, width: int, n: int, stream: Stream) -> Floats:
    """``G^T G`` for Gaussian G ``(width, n)`` of variance 1/width, ``(runs, n, n)``; run by run."""
    g, found = np.empty((width, n)), np.empty((runs, n, n))
    rng = stream.numpy("G")
    for run in found:
        rng.standard_normal(out=g)
        run[...] = g.T @ g / width
    return found


def _spectra(n: int, count: int, stream: Stream) -> Floats:
    """Random spectra and those that lack 1 to n - 1 directions but are flat otherwise."""
    kept = np.tri(n)[:-1]
    lacking = kept / kept.sum(axis=1, keepdims=True)
    # the first of the varied ones is flat: no distance and no gap
    spectra: Floats = np.concatenate([sp.spectra.varied(n, count, stream)[1:], lacking])
    return spectra


def _distance(n: int, shape: Shape, gap: Any) -> Any:
    """The distance for the two shapes, from the gap."""
    one = gap * np.sqrt((n - 1) / n) * (-1 if shape == "one weak direction" else 1)
    deviations = np.stack([one, -one / (n - 1)], axis=-1)  # of squares from 1/n: once, n - 1 times
    terms = (deviations / (np.sqrt(np.maximum(1 / n + deviations, 0)) + n**-0.5)) ** 2
    return terms @ np.array([1, n - 1])


@cache
def _simulated(
    samples: int,
    shape: Shape,
    share: float,
    width: int,
    *,
    depth: int,
    runs: int,
    stream: Stream,
) -> tuple[Floats, Floats]:
    """The distances given H and the smallest squares ``(runs, layers 0..depth)``."""
    start = gap_depth_width.start(samples, shape, share)
    draw = stream.child("corollary 3", samples, shape, repr(share), width)
    path = chain(width).run(start, depth, runs, draw)
    measured = path.measure_many({"distance": _distance_given, "lyapunov": sp.lyapunov_gap})
    return measured["distance"].values, 1 / samples - measured["lyapunov"].values
