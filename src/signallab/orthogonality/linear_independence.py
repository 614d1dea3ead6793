"""Do samples stay linearly independent? ORTH, Assumption A1, and Figure 2.3 of the thesis.

The chain is ORTH Eq. 1. Everything here is about the smallest of the n singular values of a layer,
0 if the width is below n. A *share* is a fraction of the smallest singular value of the input.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signallab.orthogonality.gap_depth_width import chain
from signalprop.random import Stream

__all__ = [
    "chance_of_failure",
    "failures",
    "gaussian_inputs",
    "held_at_most",
    "input_is_above",
    "input_is_above_in_the_mean",
    "lowest_by_depth",
    "median_along",
    "one_layer",
    "passes",
    "smallest_along",
    "smallest_width",
    "smallest_widths",
    "still_above",
    "white",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]
ORTHOGONAL = sp.inputs.diagonal([0.5**0.5] * 2)  # two orthogonal samples of unit norm together


def smallest_along(
    samples: int,
    width: int,
    depth: int,
    runs: int,
    stream: Stream,
    start: sp.inputs.Input | None = None,
) -> Floats:
    """Return the n-th singular values ``(runs, layers 0..depth)``.

    The input has independent Gaussian entries, scaled to unit Frobenius norm, unless ``start`` is
    given.

    >>> values = smallest_along(2, 64, depth=3, runs=5, stream=Stream(0))
    >>> values.shape, bool((values <= 0.5**0.5).all())
    ((5, 4), True)
    """
    path = chain(width).run(
        start or _unit_gaussian(samples), depth, runs, stream.child(samples, width)
    )
    return path.measure(_smallest).values


def lowest_by_depth(
    sizes: Iterable[tuple[int, int]], depths: Iterable[int], runs: int, stream: Stream
) -> pd.DataFrame:
    """Return the law over runs of the minimum over layers 1..depth, a row for each size and depth.

    Columns: ``samples, width, layers, least, 5 %, median, 1/sqrt n``; the last is the most that a
    smallest singular value can be, as the n squares sum to 1.
    """
    depths = list(depths)
    rows = []
    for n, width in sizes:
        values = smallest_along(n, width, max(depths), runs, stream.child("lowest"))
        for depth in depths:
            low = values[:, 1 : depth + 1].min(axis=1)
            law = {"least": low.min(), "5 %": np.quantile(low, 0.05), "median": np.median(low)}
            size = {"samples": n, "width": width, "layers": depth}
            rows.append({**size, **law, "1/sqrt n": n**-0.5})
    return pd.DataFrame(rows)


def one_layer(width: int, draws: int, stream: Stream) -> Floats:
    """Return the smallest singular values ``(draws,)`` a layer after two orthogonal samples."""
    return smallest_along(2, width, 1, draws, stream.child("one layer"), ORTHOGONAL)[:, 1]


def chance_of_failure(alpha: Any, width: Any, *, rows: int = 1, wider: float = 1) -> Any:
    """Return a lower bound on ``P(sigma_2(H_{l+1}) <= alpha | H_l)``, whatever H_l; 2 samples.

    It is ``(2/pi arcsin(alpha sqrt(d/(d-1))))^(d-1)``, not in the paper. ``rows=2`` makes the
    exponent d - 2, ``wider`` multiplies the angle: rivals.

    Why it is right: let the rows of H_{l+1} have the angles ``theta_i``. A unit vector orthogonal
    to the first row shows that ``sigma_2^2 <= mean of sin(theta_i - theta_1)^2``, a mean of d terms
    of which the first is 0. So it suffices that the other d - 1 rows lie within ``delta`` of the
    line of the first, ``sin(delta)^2 = alpha^2 d/(d-1)``. Given the first row this has the
    probability ``p^(d-1)``, and by Jensen's inequality the mean of that is at least the mean of p
    to the power d - 1. Twice the angle of a row has a wrapped Cauchy law (Gaussian rows, normalized
    in the plane), hence so has the difference of two, around 0; it is closest to uniform if H_l is
    orthogonal, and then ``p = 2 delta / pi``.

    >>> round(float(chance_of_failure(0.5**0.5, 2)), 12)
    1.0
    """
    sine = np.minimum(np.asarray(alpha) * np.sqrt(width / (width - 1)), 1)
    return np.minimum(wider * 2 / np.pi * np.arcsin(sine), 1) ** (width - rows)


def still_above(
    widths: Iterable[int], depth: int, runs: int, alpha: float, stream: Stream
) -> pd.DataFrame:
    """Return ``width, layer, fraction of runs``: none of layers 1..layer below alpha.

    Two samples, orthogonal at the input; sixty layers, spaced evenly in the logarithm.
    """
    layers = np.unique(np.geomspace(1, depth, 60).astype(int))
    return pd.concat(
        pd.DataFrame({"width": width, "layer": layers, "fraction of runs": fraction[layers - 1]})
        for width in widths
        for fraction in [(_lowest(width, depth, runs, stream) >= alpha).mean(axis=0)]
    )


def failures(
    width: int, alpha: float, layers: int, *, depth: int, runs: int, stream: Stream
) -> Case:
    """Return ``A1(alpha, layers)`` as printed, two samples: no run falls below alpha.

    ``left`` is 1 for a run that does. The runs are those of :func:`still_above`.
    """
    fell = _lowest(width, depth, runs, stream)[:, layers - 1] < alpha
    enough = {r"$d \ge n^2$": width >= 4, r"$0 < \alpha \le 1/\sqrt n$": 0 < alpha <= 0.5**0.5}
    return Case(fell.astype(float), 0.0, enough, _place(width, alpha, layers))


def held_at_most(chance: Callable[[float, int], Any]) -> Callable[..., Case]:
    """Return the statement ``P(A1(alpha, layers)) <= (1 - chance(alpha, d))^layers``, two samples.

    Points as those of :func:`failures`.
    """

    def statement(
        width: int, alpha: float, layers: int, *, depth: int, runs: int, stream: Stream
    ) -> Case:
        held = _lowest(width, depth, runs, stream)[:, layers - 1] >= alpha
        right = float((1 - chance(alpha, width)) ** layers)
        return Case(held.astype(float), right, words=_place(width, alpha, layers))

    return statement


def passes(
    samples: int, width: int, *, depth: int, runs: int, share: float, stream: Stream
) -> bool:
    """Return whether every layer of every run has at least ``share`` times its input's value.

    That is a white pixel of thesis Figure 2.3.

    >>> size = {"depth": 20, "runs": 3, "share": 0.1, "stream": Stream(0)}
    >>> passes(2, 64, **size), passes(8, 8, **size)
    (True, False)
    """
    values = smallest_along(samples, width, depth, runs, stream)
    return bool((values[:, 1:] >= share * values[:, :1]).all())


def smallest_width(samples: int, **pixel: Any) -> int:
    """Return the smallest width that passes, to 5 %, by bisection; ``pixel`` as for :func:`passes`.

    >>> smallest_width(2, depth=20, runs=3, share=0.1, stream=Stream(0)) < 20
    True
    """
    below, above = samples, max(samples + 1, samples**2 // 4)
    while not passes(samples, above, **pixel):
        below, above = above, 2 * above
    while above - below > max(1, 0.05 * above):
        middle = min(max(round((below * above) ** 0.5), below + 1), above - 1)
        if passes(samples, middle, **pixel):
            above = middle
        else:
            below = middle
    return above


def smallest_widths(
    batches: Iterable[int], repeats: int, *, stream: Stream, **pixel: Any
) -> pd.DataFrame:
    """Return ``samples, repeat, smallest width``, each found by a bisection of its own."""
    return pd.DataFrame(
        [
            {"samples": n, "repeat": r, "smallest width": smallest_width(n, stream=draw, **pixel)}
            for r in range(repeats)
            for draw in [stream.child("bisection", r)]
            for n in batches
        ]
    )


def white(curve: Callable[[int], float]) -> Callable[..., Case]:
    """Return the statement that the pixels on a curve are white, run by run.

    Points are ``samples, run`` and the ``depth, runs, share, stream`` of :func:`passes`; the width
    is ``curve(samples)``, rounded up. ``left`` is the share of the input's smallest singular value,
    ``right`` the smallest over all layers. The assumption asks for a positive alpha, hence for
    independent inputs.

    >>> case = white(lambda n: n)(5, 0, depth=30, runs=2, share=0.1, stream=Stream(0))
    >>> bool(case.left > case.right)
    True
    """

    def statement(
        samples: int, run: int, *, depth: int, runs: int, share: float, stream: Stream
    ) -> Case:
        width = math.ceil(curve(samples))
        first, *later = _pixel(samples, width, depth, runs, stream)[run]
        words = f"{samples} samples at width {width}, run {run}"
        return Case(share * first, min(later), {r"$d \ge n$": width >= samples}, words)

    return statement


def gaussian_inputs(samples: int, width: int, runs: int, stream: Stream) -> Floats:
    """Return the smallest singular values ``(runs,)`` of matrices of standard Gaussian entries."""
    x = stream.numpy("inputs", samples, width).standard_normal((runs, samples, width))
    return np.asarray(np.linalg.svd(x, compute_uv=False)[:, -1], dtype=np.float64)


def input_is_above(samples: int, width: int, *, runs: int, stream: Stream) -> Case:
    """Return "the smallest singular value of H_0 is greater than sqrt d - sqrt n", as printed.

    ``left`` is 1 for a matrix where it is not; Gaussian entries.
    """
    values = gaussian_inputs(samples, width, runs, stream)
    below = (values <= np.sqrt(width) - np.sqrt(samples)).astype(float)
    words = f"$n = {samples}$, $d = {width}$: the fraction of matrices where it is not"
    return Case(below, 0.0, words=words)


def input_is_above_in_the_mean(taken: Callable[[int], float]) -> Callable[..., Case]:
    """Return "the mean of the smallest singular value is at least sqrt d - taken(n)".

    Points as those of :func:`input_is_above`; true for the root (Gordon, see Davidson and Szarek
    2001, Theorem II.13).
    """

    def statement(samples: int, width: int, *, runs: int, stream: Stream) -> Case:
        values = gaussian_inputs(samples, width, runs, stream)
        return Case(np.sqrt(width) - taken(samples) - values, 0.0, words=f"{samples}, {width}")

    return statement


def median_along(
    batches: Iterable[int], times: int, layers: Iterable[int], runs: int, stream: Stream
) -> pd.DataFrame:
    """Return the median over runs of the smallest singular value, a column for each layer asked.

    The width is ``times`` the number of samples.
    """
    layers = list(layers)
    rows = []
    for n in batches:
        values = smallest_along(n, times * n, max(layers), runs, stream.child("narrow"))
        medians = {f"layer {k}": float(np.median(values[:, k])) for k in layers}
        rows.append({"samples": n, "width": times * n, **medians})
    return pd.DataFrame(rows)


def _smallest(h: torch.Tensor) -> torch.Tensor:
    values: torch.Tensor = torch.linalg.eigvalsh(sp.gram(h))[..., 0]
    return values.clamp(min=0).sqrt()


def _unit_gaussian(n: int) -> sp.inputs.Input:
    entries = sp.inputs.gaussian_samples(n)
    return lambda *size: sp.FrobeniusNorm()(entries(*size))


@cache
def _pixel(samples: int, width: int, depth: int, runs: int, stream: Stream) -> Floats:
    return smallest_along(samples, width, depth, runs, stream.child("pixel"))


@cache
def _lowest(width: int, depth: int, runs: int, stream: Stream) -> Floats:
    """The running minimum over layers 1.., ``(runs, depth)``, from two orthogonal samples."""
    values = smallest_along(2, width, depth, runs, stream.child("survival"), ORTHOGONAL)
    lowest: Floats = np.minimum.accumulate(values[:, 1:], axis=1)
    return lowest


def _place(width: int, alpha: float, layers: int) -> str:
    return rf"two orthogonal samples, width {width}, $\alpha = {alpha:.3g}$, $\ell = {layers}$"
