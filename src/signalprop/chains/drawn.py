"""Products by matrices of any size and law, drawn when a layer asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from signalprop.chains.engines import choose_engine, root
from signalprop.weights import Draw, Law, as_law, gaussian

__all__ = ["Branch", "Dense", "Drawn", "Matrix"]


@dataclass(frozen=True)
class Dense:
    """A fresh matrix at each call: what a branch of a chain multiplies with.

    ``dense(a)`` of ``(..., n, d)`` is ``a W^T`` plus the chain's bias, ``(..., n, width)``, with
    the width of the layer. ``dense(a, 256)`` has another width, ``dense(a, weights=law)`` another
    law than the chain's. Each run has matrices of its own, which act on all rows of that run.

    >>> from signalprop import Chain
    >>> shapes = []
    >>> def branch(h, dense):
    ...     hidden = torch.relu(dense(h, 64))
    ...     shapes.append(tuple(hidden.shape))
    ...     return dense(hidden)
    >>> path = Chain(16, branch=branch, residual=1.0).run(torch.ones(3, 16), depth=1, runs=2)
    >>> path.final().shape, shapes
    (torch.Size([2, 3, 16]), [(2, 3, 64)])
    """

    product: Callable[[torch.Tensor, int, Law | None], torch.Tensor]
    width: int

    def __call__(
        self,
        a: torch.Tensor,
        width: int | None = None,
        weights: Law | str | Draw | None = None,
    ) -> torch.Tensor:
        """Return ``a W^T + b`` with a matrix of its own."""
        if width is not None and width < 1:
            raise ValueError(f"width must be at least 1, got {width!r}")
        law = None if weights is None else as_law(weights)
        return self.product(a, width or self.width, law)


Branch = Callable[[torch.Tensor, Dense], torch.Tensor]


@dataclass(frozen=True)
class Matrix:
    """The weights ``(runs, out, in)`` of one product, and its biases ``(runs, out)`` if any.

    >>> Matrix(torch.eye(2)[None], torch.ones(1, 2)).times(torch.zeros(1, 3, 2)).unique()
    tensor([1.])
    """

    weight: torch.Tensor
    bias: torch.Tensor | None

    def times(self, a: torch.Tensor) -> torch.Tensor:
        """Return ``a W^T + b`` for ``a`` ``(k runs, ..., d)``, of k copies of each run."""
        z = _rows(a, len(self.weight)) @ self.weight.mT
        return _with_bias(z, self.bias).reshape(*a.shape[:-1], -1)


class Drawn:
    """Fresh products, one after the other: each draws what it needs from the runs' generators.

    Weights come from ``generators``, biases from ``for_biases``: without a bias a chain has the
    same weights. With the engine ``"reduced"`` only ``a W^T`` is drawn, from its law given ``a``.

    >>> from signalprop.random import Stream
    >>> product = Drawn(gaussian(), gaussian(0.1), Stream(0).runs(2), Stream(1).runs(2))
    >>> product(torch.ones(2, 3, 4), 5).shape, product.last.weight.shape
    (torch.Size([2, 3, 5]), torch.Size([2, 5, 4]))
    """

    def __init__(
        self,
        law: Law,
        bias: Law | None,
        generators: Sequence[np.random.Generator],
        for_biases: Sequence[np.random.Generator],
        engine: str = "direct",
    ) -> None:
        self.law, self.bias = law, bias
        self.generators, self.for_biases, self.engine = generators, for_biases, engine
        self.last: Matrix

    def __call__(self, a: torch.Tensor, width: int, weights: Law | None = None) -> torch.Tensor:
        """Return ``a W^T + b``, ``(runs, ..., width)`` for ``(runs, ..., d)``."""
        law = self.law if weights is None else weights
        inputs = a.shape[-1]
        if self.engine == "reduced":
            z = self._reduced(_rows(a, len(self.generators)), width, law)
            return _with_bias(z, self._biases(a, width)).reshape(*a.shape[:-1], -1)
        weight = law.sample(width, inputs, self.generators).to(a)
        self.last = Matrix(weight, self._biases(a, width))
        return self.last.times(a)

    def _reduced(self, rows: torch.Tensor, width: int, law: Law) -> torch.Tensor:
        n, d = rows.shape[-2:]
        choose_engine(self.engine, law, width, n)
        normal = gaussian(variance=1.0).sample(min(n, d), width, self.generators)
        return root(rows, law.variance(d, width)).mT @ normal.to(rows)

    def _biases(self, a: torch.Tensor, width: int) -> torch.Tensor | None:
        if self.bias is None:
            return None
        law = self.bias
        if isinstance(law.spread, str):  # a rule counts the inputs of the layer, not of a column
            law = replace(law, spread=law.variance(a.shape[-1], width))
        return law.sample(width, 1, self.for_biases)[..., 0].to(a)


def _rows(a: torch.Tensor, runs: int) -> torch.Tensor:
    """Return all rows of each run, ``(runs, rows, d)``."""
    if a.ndim < 3 or len(a) % runs or 0 in a.shape:
        raise ValueError(
            f"a branch must keep the {runs} runs as the first dimension, got {tuple(a.shape)}"
        )
    return a.reshape(runs, -1, a.shape[-1])


def _with_bias(z: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    return z if bias is None else z + bias[:, None]
