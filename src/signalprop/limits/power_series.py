"""Power series made to order: weights ``c_k^2`` that sum to 1, to attack a statement.

Every non-negative sequence is the series of the kernel map of some activation (KER Corollary 5.7),
so what is said of all kernel maps must hold for each of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from signalprop.random import Stream, as_stream

__all__ = ["pair_series", "random_series", "with_constant"]

Weights = np.ndarray[Any, np.dtype[np.float64]]

# From few orders to all of like weight; with less than 0.3 some rows would be linear to rounding.
CONCENTRATIONS = (0.3, 0.5, 1.0)


def random_series(count: int, largest: int, seed: int | Stream) -> Weights:
    """Return Dirichlet weights on the orders ``1..K``, with K uniform in ``3..largest``.

    ``(count, largest + 1)``, each row summing to 1. The concentration is 0.3, 0.5 or 1 with equal
    probability; the smaller it is, the fewer orders carry the weight.

    >>> w = random_series(5, 40, seed=0)
    >>> w.shape, bool(np.allclose(w.sum(1), 1)), float(w[:, 0].max())
    ((5, 41), True, 0.0)
    """
    if largest < 3:
        raise ValueError(f"largest must be at least 3, got {largest}")
    if count < 0:
        raise ValueError(f"count must be at least 0, got {count}")
    rng = as_stream(seed).numpy()
    active = np.arange(largest + 1) <= rng.integers(3, largest + 1, count)[:, None]
    concentration = rng.choice(CONCENTRATIONS, count)[:, None]
    # independent gamma variables, divided by their sum, are Dirichlet
    weights = rng.standard_gamma(np.broadcast_to(concentration, active.shape)) * active
    weights[:, 0] = 0.0
    return np.asarray(weights / weights.sum(1, keepdims=True))


def pair_series(orders: Sequence[int], shares: Sequence[float]) -> Weights:
    """Return every series on two of ``orders``, the lower with each of ``shares`` in (0, 1).

    >>> pair_series([1, 3], [0.9])
    array([[0. , 0.9, 0. , 0.1]])
    """
    if any(not 0 < share < 1 for share in shares):
        raise ValueError(f"shares must lie strictly between 0 and 1, got {list(shares)}")
    if not orders or min(orders) < 0:
        raise ValueError(f"orders must be at least one, none below 0, got {list(orders)}")
    pairs = [(j, k) for j in orders for k in orders if j < k]
    weights = np.zeros((len(pairs), len(shares), max(orders) + 1))
    for row, (low, high) in zip(weights, pairs, strict=True):
        row[:, low], row[:, high] = shares, 1 - np.asarray(shares)
    return weights.reshape(-1, max(orders) + 1)


def with_constant(weights: Weights, slope: Weights | float) -> Weights:
    """Return the series with as much weight at order 0 as makes ``kappa'(1)`` equal ``slope``.

    With ``weights`` w on the orders from 1 and mean order ``m = sum k w_k``, the share ``slope/m``
    of them is kept; ``slope`` must not exceed ``m``. Slope 1 is the critical case.

    >>> with_constant(pair_series([2, 4], [0.5]), 1.0).round(4)
    array([[0.6667, 0.    , 0.1667, 0.    , 0.1667]])
    """
    if weights[..., 0].any():
        raise ValueError("weights must have none at order 0, which is what is added")
    kept = np.asarray(slope) / (weights @ np.arange(weights.shape[-1]))
    if not bool(np.all((kept >= 0) & (kept <= 1))):
        raise ValueError("slope must lie between 0 and the mean order of each series")
    mixed = weights * kept[..., None]
    mixed[..., 0] = 1 - kept
    return np.asarray(mixed)
