"""One layer of the chain of ORTH: contraction and noise (Thm. 5, Lemmas 4, 6, 7, App. B.1).

A *spectrum* is a tuple of the n squared singular values of a representation of Frobenius norm 1,
decreasing, with sum 1. What one layer makes of a batch depends on nothing else: rotating samples or
features changes nothing in law, and normalization undoes a factor. ``vhat = 1/n - smallest`` is the
Lyapunov function of the proof. ``math.inf`` as a width stands for the limit, in which the next Gram
matrix is its mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop.random import Stream

__all__ = [
    "contraction_curve",
    "lemma_4",
    "lemma_6",
    "lemma_7",
    "next_grams",
    "noise_by_batch",
    "points",
    "stability",
    "stability_points",
    "theorem_5",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Spectrum = tuple[float, ...]
Constant = Callable[[int], float]

NEARLY_FLAT = 1e-3  # by how much the smallest of the nearly equal entries falls short, relative


def next_grams(spectrum: Spectrum, width: int, draws: int, stream: Stream) -> Floats:
    """Return Gram matrices one layer after a batch with this spectrum, ``(draws, n, n)``.

    In the singular basis ``W H`` has the rows ``w o sigma`` with standard Gaussian w (ORTH Eq. 12;
    the variance of the weights does not matter), which the layer normalizes.

    >>> c = next_grams((0.9, 0.1), width=8, draws=3, stream=Stream(0))
    >>> c.shape, c.trace(axis1=1, axis2=2).round(12).tolist()
    ((3, 2, 2), [1.0, 1.0, 1.0])
    """
    sigma = np.sqrt(np.array(spectrum))[:, None]
    w = stream.numpy("layer", len(spectrum), width).standard_normal((draws, len(spectrum), width))
    normalize = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")
    return np.asarray(sp.gram(normalize(torch.from_numpy(sigma * w))))


def points(
    batches: Iterable[int], multiples: Iterable[int], wide: int, count: int, stream: Stream
) -> list[dict[str, Any]]:
    """Return points for :func:`theorem_5`: spectra, widths and squared norms of H.

    For every n: ``count`` varied spectra and a nearly flat one, of norm 1, at widths of
    ``multiples`` of n, ``wide`` and infinity; and, at the finite widths, orthogonal samples whose
    squared norm is 1.5, and n (as that of the first n unit vectors).

    >>> some = points([2], [1], 8, 4, Stream(0))
    >>> len(some), some[13]
    (18, {'spectrum': (0.5, 0.5), 'width': 8, 'squared_norm': 2})
    """
    found: list[dict[str, Any]] = []
    for n in batches:
        widths = [*(m * n for m in multiples), wide]
        flat = (1 / n,) * n
        spectra = [*map(tuple, sp.spectra.varied(n, count, stream).tolist()), _nearly_flat(n)]
        places: list[tuple[Spectrum, float, float]]
        places = [(s, d, 1) for s, d in product(spectra, widths)]
        places += [(flat, d, norm) for norm in (1.5, n) for d in widths]
        # Not the flat one: both sides would be 0 in the limit, and rounding would decide.
        places += [(s, math.inf, 1) for s in spectra if s != flat]
        found += [{"spectrum": s, "width": d, "squared_norm": norm} for s, d, norm in places]
    return found


def theorem_5(
    spectrum: Spectrum,
    width: float,
    squared_norm: float = 1,
    *,
    draws: int,
    stream: Stream,
    by_norm: bool = False,
    constant: Constant = lambda n: 2 / 3,
    noise: Constant = lambda n: 1.0,
) -> Case:
    """Return ORTH Thm. 5 for an H with ``squared_norm`` times this spectrum: vhat after a layer.

    As printed vhat is ``1/n - sigma_n(H)^2``; ``by_norm`` divides the square by that of the norm.
    ``constant`` and ``noise`` stand for the printed 2/3 and 1, each as a function of n.

    >>> case = theorem_5((0.5, 0.5), 64, 2, draws=100, stream=Stream(0))
    >>> bool(case.left.mean() > case.right)
    True
    """
    n = len(spectrum)
    vhat = 1 / n - spectrum[-1] * (1 if by_norm else squared_norm)
    return Case(
        left=_vhat_after(spectrum, width, draws, stream),
        right=float(theory.orth_theorem_5(vhat, n, width, constant(n), noise(n))),
        hypotheses={"the width is at least the number of samples": width >= n},
        words=f"{n} samples, width {width:g}, squared singular values "
        f"{', '.join(f'{squared_norm * s:.4g}' for s in spectrum)}",
    )


def lemma_7(
    spectrum: Spectrum,
    width: int,
    *,
    draws: int,
    stream: Stream,
    constant: Callable[[int, float], float] = lambda n, spread: 1.0,
) -> Case:
    """Return ORTH Lemma 7: the squared distance of vhat from ``1/n - p_n``, against ``1/width``.

    ``constant`` stands for the printed 1, as a function of n and of ``1 - sum p_i^2``.

    >>> case = lemma_7((0.5, 0.5), 16, draws=100, stream=Stream(0))
    >>> bool(case.left.mean() < case.right / 2)
    True
    """
    n = len(spectrum)
    vhat = _vhat_after(spectrum, width, draws, stream)
    p = theory.expected_spectrum(spectrum)
    spread = float(theory.one_step_variance(spectrum, 1))
    return Case(
        left=(vhat - (1 / n - p[-1])) ** 2,
        right=constant(n, spread) / width,
        hypotheses={"p_n is the smallest": p[-1] == p.min()},
        words=f"{n} samples, width {width}, smallest squared singular value {spectrum[-1]:.3g}",
    )


def lemma_4(
    samples: int, *, count: int, stream: Stream, constant: Constant = lambda n: 2.0 * n
) -> Case:
    """Return ORTH Lemma 4 for many spectra: the gap against ``constant(n)`` times vhat.

    Among them are spectra whose entries but the first are equal, the extremal ones of its proof.

    >>> case = lemma_4(3, count=10, stream=Stream(0))
    >>> bool((case.left <= case.right).all())
    True
    """
    n = samples
    smallest = np.linspace(0, 1 / n, 50, endpoint=False)
    extremal = np.repeat(smallest[:, None], n, axis=1)
    extremal[:, 0] = 1 - (n - 1) * smallest
    s = np.concatenate([sp.spectra.varied(n, count, stream.child("lemma 4")), extremal])
    vhat = 1 / n - s.min(axis=1)
    resolved = vhat > 1e-6  # nearer to 0 both sides are rounding
    gap = theory.gap_of_spectrum(s[resolved])
    return Case(gap, constant(n) * vhat[resolved], words=f"{n} samples")


def lemma_6(spectrum: Spectrum, width: int, *, draws: int, stream: Stream) -> Case:
    """Return ORTH Lemma 6: ``||C - diag(p)||_F^2`` for the next Gram matrices C, against 1/width.

    >>> case = lemma_6((0.5, 0.5), 16, draws=1000, stream=Stream(0))
    >>> float((16 * case.left.mean()).round(1))
    0.5
    """
    c = next_grams(spectrum, width, draws, stream)
    mean = np.diag(theory.expected_spectrum(spectrum))
    return Case(
        left=((c - mean) ** 2).sum(axis=(1, 2)),
        right=1 / width,
        words=f"{len(spectrum)} samples, width {width}",
    )


def noise_by_batch(batches: Iterable[int], width: int, draws: int, stream: Stream) -> pd.DataFrame:
    """Return ``samples, run, noise``: ``sqrt(width)`` vhat one layer after orthogonal samples.

    Without noise vhat would stay 0.

    >>> noise_by_batch([2], 8, 2, Stream(0)).columns.tolist()
    ['samples', 'run', 'noise']
    """
    parts = [
        pd.DataFrame(
            {
                "samples": n,
                "run": range(draws),
                "noise": math.sqrt(width) * _vhat_after((1 / n,) * n, width, draws, stream),
            }
        )
        for n in batches
    ]
    return pd.concat(parts, ignore_index=True)


def contraction_curve(
    samples: int, widths: Iterable[float], count: int, draws: int, stream: Stream
) -> pd.DataFrame:
    """Return vhat before and after a layer for spectra whose entries but the last are equal.

    Columns ``width, before, after, standard error, bound``, the bound that of ORTH Thm. 5.

    >>> curve = contraction_curve(4, [math.inf], 3, 1, Stream(0))
    >>> bool((curve["after"] < curve["before"]).all())
    True
    """
    n, rows = samples, []
    for smallest, width in product(np.linspace(1e-4, 0.98, count) / n, widths):
        spectrum = (*[float(1 - smallest) / (n - 1)] * (n - 1), float(smallest))
        case = theorem_5(spectrum, width, draws=draws, stream=stream)
        after = np.atleast_1d(case.left)
        error = after.std(ddof=1) / np.sqrt(draws) if len(after) > 1 else 0.0
        rows.append((width, 1 / n - smallest, after.mean(), error, case.right))
    return pd.DataFrame(rows, columns=["width", "before", "after", "standard error", "bound"])


def stability(
    start: str,
    samples: int,
    width: int,
    layers: int,
    *,
    deepest: int,
    runs: int,
    stream: Stream,
    bound: Callable[[float, int, int, int], float] | None = None,
) -> Case:
    """Return ORTH App. B.1: the mean of ``vhat (1/n - vhat)`` over layers 1..``layers``.

    ``start`` is one of :data:`STARTS`. The right side is the printed one, with
    ``1/n - sigma_n(H_0)^2``; ``bound(vhat, layers, n, width)`` takes its place, and then vhat is
    divided by the squared norm of the input. All layers up to ``deepest`` come from the same runs.

    >>> sizes = {"samples": 2, "width": 16, "layers": 3}
    >>> case = stability("first unit vectors", **sizes, deepest=3, runs=5, stream=Stream(0))
    >>> case.left.shape, round(case.right, 12)
    ((5,), 0.125)
    """
    summands, raw, by_norm = _stability_runs(start, samples, width, deepest, runs, stream)
    right = (
        theory.orth_stability(raw, layers, width)
        if bound is None
        else bound(by_norm, layers, samples, width)
    )
    return Case(
        left=summands[:, :layers].mean(axis=1),
        right=float(right),
        words=f"{samples} samples, {start}, width {width}, "
        f"{layers} layer{'s' if layers > 1 else ''}",
    )


def stability_points(
    sizes: Iterable[tuple[int, int, int]], depths: Iterable[int], runs: int
) -> list[dict[str, Any]]:
    """Return points for :func:`stability`: all inputs; ``sizes`` are (samples, width, deepest).

    >>> some = stability_points([(2, 16, 5)], [1, 5, 10], runs=3)
    >>> len(some), some[-1]["start"], some[-1]["layers"]
    (8, 'independent N(0, 1) entries', 5)
    """
    return [
        {
            "start": start,
            "samples": n,
            "width": d,
            "layers": layers,
            "deepest": deepest,
            "runs": runs,
        }
        for (n, d, deepest), start, layers in product(sizes, STARTS, depths)
        if layers <= deepest
    ]


#: Inputs by name: functions of the number of samples. The first two have norm 1.
STARTS: dict[str, Callable[[int], sp.inputs.Input]] = {
    "orthogonal of norm 1": lambda n: sp.inputs.diagonal([n**-0.5] * n),
    "nearly rank one of norm 1": lambda n: sp.inputs.diagonal([1.0] + [1e-6] * (n - 1)),
    "first unit vectors": sp.inputs.orthogonal_samples,
    "independent N(0, 1) entries": sp.inputs.gaussian_samples,
}


@cache
def _vhat_after(spectrum: Spectrum, width: float, draws: int, stream: Stream) -> Any:
    """``1/n - sigma_n^2`` one layer on, ``(draws,)``; a number at infinite width."""
    n = len(spectrum)
    if width == math.inf:
        return 1 / n - float(theory.expected_spectrum(spectrum)[-1])
    return 1 / n - np.linalg.eigvalsh(next_grams(spectrum, int(width), draws, stream))[:, 0]


@cache
def _stability_runs(
    start: str, samples: int, width: int, depth: int, runs: int, stream: Stream
) -> tuple[Floats, float, float]:
    """The summands ``(runs, depth)``, and the mean vhat of the input, as printed and by norm."""
    if start not in STARTS:
        raise ValueError(f"start must be one of {', '.join(STARTS)}, got {start!r}")
    normalize = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")
    seed = stream.child("stability", start, samples, width)
    path = sp.Chain(width, layers=[normalize]).run(STARTS[start](samples), depth, runs, seed)
    vhat = path.measure(sp.lyapunov_gap).values
    squares = torch.linalg.svdvals(path.states([0])[:, 0]).square().numpy()
    raw = float((1 / samples - squares[:, -1]).mean())
    return vhat[:, 1:] * (1 / samples - vhat[:, 1:]), raw, float(vhat[:, 0].mean())


def _nearly_flat(n: int) -> Spectrum:
    smallest = (1 - NEARLY_FLAT) / n
    return (*[(1 - smallest) / (n - 1)] * (n - 1), smallest)
