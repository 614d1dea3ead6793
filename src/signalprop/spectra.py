"""Spectra to try a bound on: random ones, and the ends of what is possible."""

from __future__ import annotations

import numpy as np

from signalprop._arrays import Floats
from signalprop.random import Stream, as_stream

__all__ = ["varied"]


def __dir__() -> list[str]:
    """Complete with the names that are meant to be used, not with what is imported here."""
    return __all__


TINY = 1e-8  # the smallest entry of a nearly degenerate spectrum


def varied(n: int, count: int, seed: int | Stream = 0) -> Floats:
    """Return ``count >= 4`` spectra ``(count, n)``: n decreasing entries, none negative, sum 1.

    The first four are the flat one, the nearly rank-one one, the one that lacks its last entry but
    is flat otherwise, and a geometric one. The rest are Dirichlet draws with concentrations spread
    evenly, in the logarithm, from 0.1 (a few entries have it all) to 100 (nearly flat).

    >>> varied(2, 6).shape, varied(2, 6)[:3].round(4).tolist()
    ((6, 2), [[0.5, 0.5], [1.0, 0.0], [1.0, 0.0]])
    """
    if n < 1 or count < 4:
        raise ValueError(f"n must be at least 1 and count at least 4, got {n} and {count}")
    extremes = np.ones((4, n))
    extremes[1, 1:] = TINY
    extremes[2, 1:][-1:] = 0.0
    extremes[3] = 0.3 ** np.arange(n)
    generator = as_stream(seed).numpy("spectra", n)
    draws = [generator.dirichlet(np.full(n, a)) for a in np.geomspace(0.1, 100, count - 4)]
    spectra = np.concatenate([extremes, np.reshape(draws, (-1, n))])
    spectra /= spectra.sum(axis=1, keepdims=True)
    return -np.sort(-spectra, axis=1)
