"""Have two samples one law? Tests with p-values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.spatial.distance import cdist

from signalprop._arrays import Floats
from signalprop.random import Stream, as_stream
from signalprop.stats._sample import floats

__all__ = ["TwoSample", "energy_test", "projected_ks_test"]


class TwoSample(NamedTuple):
    """The statistic of a test and its p-value: P(a statistic at least so large | one law)."""

    statistic: float
    p_value: float


def projected_ks_test(
    a: object, b: object, projections: int = 16, seed: int | Stream = 0
) -> TwoSample:
    """Test that two samples of vectors, shapes (runs, d), have one law, by random projections.

    Both samples are projected on ``projections`` random directions (a law is known by its
    projections: Cramer and Wold) and on their norm; the smallest Kolmogorov-Smirnov p-value is
    multiplied by the number of looks. By the union bound the result is a valid p-value, and
    unlike a permutation test it can be as small as 1e-6 and far below.

    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(400, 3))
    >>> projected_ks_test(x[:200], x[200:]).p_value > 1e-3
    True
    >>> projected_ks_test(x[:200], x[200:] * [1, 1, 3]).p_value < 1e-6
    True
    """
    a, b = _vectors(a, b)
    if projections < 1:
        raise ValueError(f"projections must be at least 1, got {projections}")
    scale = np.concatenate([a, b]).std(axis=0)
    directions = as_stream(seed).numpy("projections").normal(size=(a.shape[1], projections))
    directions /= np.where(scale > 0, scale, 1)[:, None]
    pairs = [*zip((a @ directions).T, (b @ directions).T, strict=True)]
    pairs.append((np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)))
    best = min((stats.ks_2samp(x, y) for x, y in pairs), key=lambda look: look.pvalue)
    return TwoSample(float(best.statistic), min(1.0, len(pairs) * float(best.pvalue)))


def energy_test(a: object, b: object, permutations: int = 999, seed: int | Stream = 0) -> TwoSample:
    """Permutation test on the energy distance that two samples, shapes (runs, d), have one law.

    The statistic is ``2 E|A - B| - E|A - A'| - E|B - B'|``, which is zero for one law only. Its
    p-value is exact (under one law all ways to split the pooled sample are equally likely), but
    never below ``1 / (permutations + 1)``: to reject at 1e-6 use :func:`projected_ks_test`.
    Memory grows with the square of the pooled runs.

    >>> energy_test([[0.0], [1.0], [2.0]] * 5, [[5.0], [6.0], [7.0]] * 5).p_value
    0.001
    """
    a, b = _vectors(a, b)
    if permutations < 1:
        raise ValueError(f"permutations must be at least 1, got {permutations}")
    pooled = np.concatenate([a, b])
    distances = cdist(pooled, pooled)
    weights = np.repeat([1 / len(a), -1 / len(b)], [len(a), len(b)])
    shuffled = (
        as_stream(seed).numpy("permutations").permuted(np.tile(weights, (permutations, 1)), axis=1)
    )
    energies = -((shuffled @ distances) * shuffled).sum(axis=1)
    energy = -float(weights @ distances @ weights)
    # Ties count against rejection; the tolerance keeps equal splits equal after rounding.
    as_large = int((energies >= energy - 1e-12 * distances.max()).sum())
    return TwoSample(energy, (1 + as_large) / (1 + permutations))


def _vectors(a: object, b: object) -> tuple[Floats, Floats]:
    a, b = floats(a, "a", (2,)), floats(b, "b", (2,))
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"a and b must have equal dimension, got shapes {a.shape} and {b.shape}")
    return a, b
