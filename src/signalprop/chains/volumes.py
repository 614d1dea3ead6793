"""Singular values of deep products of random matrices, beyond what rounding leaves of a product."""

from __future__ import annotations

import numpy as np
import torch

from signalprop._arrays import unit_scale
from signalprop.chains.engines import draws
from signalprop.chains.measurement import Measurement
from signalprop.random import Stream, as_stream
from signalprop.weights import Law, as_law

__all__ = ["log_volumes"]


def log_volumes(
    width: int,
    depth: int,
    runs: int = 1,
    seed: int | Stream = 0,
    *,
    weights: Law | str = "gaussian",
) -> Measurement:
    """Return the log squared length and area of products of matrices, ``(runs, depth + 1, 2)``.

    Of ``S_l = W_l ... W_1``, square with fresh weights, these are ``e_1 = sum_i s_i`` and ``e_2 =
    sum_{i<j} s_i s_j`` for the squared singular values s. In floating point the product itself
    has rank one after some tens of layers; these logarithms keep their digits at any depth.

    Why it is right: ``e_2`` is the sum of the squared 2 x 2 minors (Cauchy and Binet). The
    matrices of minors multiply as the matrices themselves do, and both products are rescaled at
    every layer. The minors cost ``O(width^6)`` a layer: for small widths.

    >>> values = log_volumes(3, 500).values
    >>> values.shape
    (1, 501, 2)
    >>> bool(-500 < values[0, -1, 1] - 2 * values[0, -1, 0] < -150)  # about log(s_2 / s_1)
    True
    """
    if width < 2 or depth < 0 or runs < 1:
        raise ValueError(
            f"width >= 2, depth >= 0 and runs >= 1 are needed, got {width}, {depth} and {runs}"
        )
    product = torch.eye(width, dtype=torch.float64).repeat(runs, 1, 1)
    minors = _minors(product)
    generators = as_stream(seed).child("weights").runs(runs)
    shape = (width, width)
    logs = torch.stack([_log_square(product), _log_square(minors)], dim=-1)
    values = [logs]
    for w in draws(as_law(weights), generators, shape, shape, depth, product):
        product, minors = _unit(product), _unit(minors)
        w, log_scale = _tamed(w)
        product, minors = w @ product, _minors(w) @ minors
        logs = logs + torch.stack([_log_square(product), _log_square(minors)], dim=-1)
        logs = logs + torch.stack([2 * log_scale, 4 * log_scale], dim=-1)
        values.append(logs)
    return Measurement(torch.stack(values, dim=1).numpy(), np.arange(depth + 1), "log volume")


def _minors(matrix: torch.Tensor) -> torch.Tensor:
    """Return the 2 x 2 minors ``(..., m, m)``, a row or column for each pair of rows or columns."""
    i, j = torch.triu_indices(matrix.shape[-1], matrix.shape[-1], offset=1)
    top, bottom = matrix[..., i, :], matrix[..., j, :]
    return top[..., i] * bottom[..., j] - top[..., j] * bottom[..., i]


def _tamed(w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the weights over a scale at which squared minors are floats, and its logarithm."""
    unit, scale = unit_scale(w)
    tame = (scale > 2.0**-200) & (scale < 2.0**200)
    return torch.where(tame, w, unit), torch.where(tame, 0, scale.log()).flatten()


def _unit(matrix: torch.Tensor) -> torch.Tensor:
    norm = torch.linalg.matrix_norm(matrix, keepdim=True)
    unit: torch.Tensor = matrix / norm.where(norm > 0, 1)
    return unit


def _log_square(matrix: torch.Tensor) -> torch.Tensor:
    log: torch.Tensor = 2 * torch.linalg.matrix_norm(matrix).log()
    return log
