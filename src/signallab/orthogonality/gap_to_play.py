"""Gaps against depth and width, for the figure to play with: what several starts come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

import signalprop as sp
from signalbook.play import Embedded, digits
from signalprop import theory
from signalprop.random import Stream

__all__ = ["MEASURES", "NORMALIZATIONS", "STARTS", "paths", "played", "theories"]

#: Inputs of n samples, by what a reader chooses.
STARTS: Mapping[str, Callable[[int], sp.inputs.Input]] = {
    "nearly parallel": lambda n: sp.inputs.diagonal([1.0] + [1e-6] * (n - 1)),
    "orthogonal": sp.inputs.orthogonal_samples,
    "random": sp.inputs.gaussian_samples,
}
#: A layer after each matrix. Without batch normalization one factor for all keeps numbers finite.
NORMALIZATIONS: Mapping[str, Any] = {
    "with batch normalization": sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d"),
    "without normalization": sp.FrobeniusNorm(),
}
MEASURES: Mapping[str, Any] = {
    "orthogonality gap": sp.orthogonality_gap,
    "isometry gap": sp.isometry_gap,
}


def paths(
    samples: Iterable[int], widths: Iterable[int], depth: int, runs: int, stream: Stream
) -> pd.DataFrame:
    """Return the mean gaps over runs at layers 0..depth of linear chains, ORTH Eq. 1.

    Columns are ``samples, start, normalization, width, layer`` and the names of `MEASURES`. Every
    combination of samples and width draws weights of its own; starts share them.

    >>> found = paths([2], [64], depth=3, runs=2, stream=Stream(0))
    >>> bool(found.query("start == 'orthogonal' and layer == 0")["orthogonality gap"].max() < 1e-9)
    True
    """
    return pd.concat(
        _path(n, start, normalization, width, depth, runs, stream.child("gaps", n, width))
        for n, width in product(samples, widths)
        for start, normalization in product(STARTS, NORMALIZATIONS)
    )


def _path(
    n: int, start: str, normalization: str, width: int, depth: int, runs: int, stream: Stream
) -> pd.DataFrame:
    net = sp.Chain(width, sp.gaussian(), [NORMALIZATIONS[normalization]])
    found = net.run(STARTS[start](n), depth, runs, stream).measure_many(MEASURES)
    place = {"samples": n, "start": start, "normalization": normalization, "width": width}
    means = {name: found[name].mean() for name in MEASURES}
    return pd.DataFrame({**place, "layer": np.arange(depth + 1), **means})


def theories(n: int, widths: Iterable[int]) -> dict[str, list[float]]:
    """Return the stationary means with batch normalization by width, to leading order.

    The isometry gap is the mean of ``l - 1 - log l`` over the squared singular values relative to
    their mean; near orthogonality it is half the mean square of ``l - 1``, which is n times the
    squared orthogonality gap.

    >>> theories(4, [512])
    {'orthogonality gap': [0.04995], 'isometry gap': [0.005273]}
    """
    width = np.array(list(widths))
    return {
        "orthogonality gap": digits(theory.stationary_gap(n, width)),
        "isometry gap": digits(n / 2 * theory.stationary_gap(n, width, "mean square")),
    }


def played(found: pd.DataFrame) -> Embedded:
    """Return the rows of `paths` as ``assets/gap-explorer.js`` reads them."""
    widths = sorted(int(width) for width in found["width"].unique())
    samples = sorted(int(n) for n in found["samples"].unique())
    place = ["samples", "start", "normalization", "width"]
    return Embedded(
        "gap-explorer-data",
        {
            "widths": widths,
            "theory": {n: theories(n, widths) for n in samples},
            "gaps": {
                "|".join(map(str, key)): {name: digits(part[name]) for name in MEASURES}
                for key, part in found.groupby(place)
            },
        },
    )
