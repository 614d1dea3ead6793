"""What every statistic asks of its input, and the pieces they share."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from signalprop._arrays import Floats, as_tensor

__all__ = ["check_level", "floats", "positive_floats", "t_quantile", "to_unit"]


def floats(values: object, name: str, ndim: tuple[int, ...] | None = None) -> Floats:
    """Return ``values`` (numpy or torch, any device) as finite float64, or say which is not."""
    array = as_tensor(values, name).detach().cpu().numpy().astype(np.float64)
    if ndim is not None and array.ndim not in ndim:
        allowed = " or ".join(map(str, ndim))
        raise ValueError(f"{name} must have {allowed} dimensions, got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    return array


def positive_floats(values: object, name: str, ndim: tuple[int, ...] | None = None) -> Floats:
    """Return :func:`floats` that have a logarithm."""
    array = floats(values, name, ndim)
    if array.min() <= 0:
        raise ValueError(
            f"{name} must be positive to have a logarithm, got {array.min()}; "
            "cut the curve before it reaches zero"
        )
    return array


def to_unit(values: Floats, axis: int | None = None) -> tuple[Floats, Any]:
    """Return ``values`` over a power of two, and it: all below 2 in size, so that squares exist.

    Nothing is rounded. With ``axis`` each entry of the others has a power of its own.
    """
    _, exponent = np.frexp(np.abs(values).max(axis=axis))
    scale = np.ldexp(1.0, exponent - 1)
    return values / scale, scale


def check_level(level: float) -> None:
    """Raise unless ``level`` is a confidence level, strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")


def t_quantile(level: float, freedom: int) -> float:
    """Return q with P(abs(T) <= q) = level for Student's T, so that intervals are mean +- q s."""
    check_level(level)
    return float(stats.t.isf((1 - level) / 2, freedom))
