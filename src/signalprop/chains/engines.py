"""The two ways to multiply by fresh random weights: draw them, or draw only the product."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from signalprop.weights import Law, gaussian

__all__ = ["ENGINES", "Draws", "choose_engine", "direct", "reduced"]

Product = Callable[[torch.Tensor], torch.Tensor]

# Entries drawn or kept at a time, 1 MB: large enough to hide the calls, small enough for cache.
BLOCK = 2**17


class Draws:
    """Successive matrices of one law for each of several runs, drawn many layers at a time.

    Every run reads its own generator in order, so the block size leaves no trace in the numbers.
    """

    def __init__(self, law: Law, generators: Sequence[np.random.Generator]) -> None:
        self._law, self._generators = law, generators
        self._buffer: np.ndarray[Any, np.dtype[np.float64]] | None = None
        self._block = torch.empty(0)
        self._used = 0

    def next(self, outputs: int, inputs: int, like: torch.Tensor) -> torch.Tensor:
        """Return the next ``(runs, outputs, inputs)``, valid until the next call."""
        if self._buffer is None:
            self._fill(1, outputs, inputs, like)  # alone: the input may have another width
        elif self._used == self._block.shape[1] or self._block.shape[2:] != (outputs, inputs):
            layers = BLOCK // (len(self._generators) * outputs * inputs)
            self._fill(max(1, layers), outputs, inputs, like)
        self._used += 1
        return self._block[:, self._used - 1]

    def _fill(self, layers: int, outputs: int, inputs: int, like: torch.Tensor) -> None:
        shape = (len(self._generators), layers, outputs, inputs)
        if self._buffer is None or self._buffer.shape != shape:
            self._buffer = np.empty(shape)
        for run, generator in zip(self._buffer, self._generators, strict=True):
            self._law.fill(run, generator)
        self._block = torch.from_numpy(self._buffer).to(like)
        self._used = 0


def direct(law: Law, width: int, generators: Sequence[np.random.Generator]) -> Product:
    """Return ``a -> a W^T`` with explicit fresh weights: any law."""
    draws = Draws(law, generators)
    return lambda a: a @ draws.next(width, a.shape[-1], like=a).mT


def reduced(law: Law, width: int, generators: Sequence[np.random.Generator]) -> Product:
    """Return a sample of ``a W^T`` given ``a`` without drawing W: centered Gaussian weights only.

    Why it is right: the rows of ``W a^T`` are independent ``N(0, variance * a a^T)``. With ``a^T =
    Q R`` the same is true of ``Z R``, Z having independent Gaussian entries. R comes from ``a`` by
    Householder reflections, not from ``a a^T`` by Cholesky, so that neither linear dependence nor
    a wide range of singular values costs accuracy.
    """
    draws = Draws(gaussian(variance=1.0), generators)

    def product(a: torch.Tensor) -> torch.Tensor:
        root: torch.Tensor = torch.linalg.qr(a.mT, mode="r").R
        root = root * math.sqrt(law.variance(a.shape[-1], width))
        return root.mT @ draws.next(root.shape[-2], width, like=a)

    return product


ENGINES = {"direct": direct, "reduced": reduced}


def choose_engine(engine: str, law: Law, width: int, n: int) -> str:
    """Return the name of the engine to use; refuse one that does not fit, with the reason."""
    if engine == "auto":
        return "reduced" if law.is_gaussian and 2 * n <= width else "direct"
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of auto, {', '.join(ENGINES)}, got {engine!r}")
    if engine == "reduced" and not law.is_gaussian:
        raise ValueError(
            "engine 'reduced' needs centered Gaussian weights, whose products W H have independent "
            f"Gaussian rows given H; got {law!r}: use engine 'direct'"
        )
    return engine
