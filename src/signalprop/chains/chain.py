"""The recipe of a random chain: what one layer does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from signalprop._arrays import Array
from signalprop.chains.path import Path
from signalprop.inputs import Input
from signalprop.layers._checks import apply_in_turn, require_layers, require_pure
from signalprop.random import Stream
from signalprop.weights import Law, as_law, gaussian

__all__ = ["Chain"]

BatchLayer = Callable[[torch.Tensor], Any]


@dataclass(frozen=True)
class Chain:
    """A random network of constant ``width``, fresh weights at every layer and no biases.

    One layer maps ``h`` ``(..., n, width)`` to ``layers(W before(h))``, or with a number
    ``residual`` to ``layers(h + residual * W before(h))``, where W acts on every sample.
    ``layers`` and ``before`` are sequences of functions of ``(..., n, d)`` tensors applied in
    order (modules of `signalprop.layers`, activations, your own); they must not change their
    argument in place, nor be random themselves. No gradients pass: an input that requires them is
    refused, and `signalprop.MLP` is the network to differentiate. The documents' chains:

    - ORTH Eq. 1: ``Chain(d, layers=[BatchNorm(center=False, divide="norm", scale="1/sqrt d")])``
    - RANK Eq. 5: ``Chain(d, uniform(), [BatchNorm(center=False)], before=[F], residual=gamma)``
    - MF Eq. 3.1: ``Chain(d, before=[BatchNorm(), phi])``
    - GRAD Eq. 6.3: ``Chain(d, orthogonal(), layers=[BatchNorm(center=False, divide="norm")])``

    Linearly dependent samples stay so only up to rounding, which batch normalization amplifies
    layer by layer: in float64 a rank-one batch has rank two after some tens of layers.

    >>> from signalprop import BatchNorm, inputs, orthogonality_gap
    >>> net = Chain(width=512, layers=[BatchNorm(center=False)])
    >>> path = net.run(inputs.nearly_parallel(n=4), depth=50, runs=3, seed=0)
    >>> gap = path.measure(orthogonality_gap)
    >>> gap.values.shape, bool((gap.values[:, -1] < 0.1).all())
    ((3, 51), True)
    """

    width: int
    weights: Law | str = field(default_factory=gaussian)
    layers: Sequence[BatchLayer] = ()
    before: Sequence[BatchLayer] = ()
    residual: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.width, bool) or not isinstance(self.width, int | np.integer):
            raise ValueError(f"width must be a positive integer, got {self.width!r}")
        if self.width < 1:
            raise ValueError(f"width must be a positive integer, got {self.width!r}")
        if self.residual is not None and not math.isfinite(self.residual):
            raise ValueError(f"residual must be None or a finite number, got {self.residual!r}")
        for name in ("layers", "before"):
            require_layers(getattr(self, name), name)
            require_pure(getattr(self, name), name)
        as_law(self.weights)

    @property
    def law(self) -> Law:
        """The law of the weights."""
        return as_law(self.weights)

    def run(
        self,
        x: Input | Array,
        depth: int,
        runs: int = 1,
        seed: int | Stream = 0,
        *,
        engine: str = "auto",
        device: str | torch.device = "cpu",
        dtype: torch.dtype = torch.float64,
    ) -> Path:
        """Return the path of ``runs`` independent networks, which is computed when it is asked.

        ``x`` is an array ``(n, d)`` or ``(runs, n, d)``, or one of `signalprop.inputs`. The first
        weight matrix takes whatever number of features ``x`` has. Run r draws from streams of its
        own, so its numbers do not depend on ``runs``. The engines:

        - ``"direct"`` draws every weight matrix: any law, ``O(width^2 n)`` a layer
        - ``"reduced"`` draws only the products, of the same law, ``O(width n^2)``: Gaussian weights
        - ``"auto"`` takes the reduced one for Gaussian weights and ``2 n <= width``

        The two give different numbers of one law. Weights are drawn on the CPU in float64, then
        moved to ``device`` and ``dtype``.
        """
        return Path.begin(self, x, depth, runs, seed, engine, torch.device(device), dtype)

    def steps(
        self, h: torch.Tensor, product: Callable[[torch.Tensor], torch.Tensor]
    ) -> Iterator[torch.Tensor]:
        """Yield ``h`` after one layer, two layers, ...; ``product`` multiplies by fresh weights."""
        while True:
            z = product(apply_in_turn(self.before, h))
            if self.residual is not None:
                z = torch.add(h, z, alpha=self.residual)
            h = apply_in_turn(self.layers, z)
            yield h
