"""The recipe of a random chain: what one layer does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from signalprop._arrays import Array
from signalprop.chains.path import Path
from signalprop.inputs import Input
from signalprop.layers._checks import apply_in_turn, require_layers, require_pure
from signalprop.random import Stream
from signalprop.weights import Draw, Law, as_law, gaussian

if TYPE_CHECKING:
    from signalprop.jacobians import PathJacobian

__all__ = ["Chain"]

BatchLayer = Callable[[torch.Tensor], Any]


@dataclass(frozen=True)
class Chain:
    """A random network of constant ``width``, fresh weights at every layer and no biases.

    A chain of depth L has L layers, and so L weight matrices; layer 0 is the input.

    One layer maps ``h`` ``(..., n, width)`` to ``layers(W before(h))``, or with a number
    ``residual`` to ``layers(h + residual * W before(h))``, where W acts on every sample.
    ``layers`` and ``before`` are sequences of functions of ``(..., n, d)`` tensors applied in
    order (modules of `signalprop.layers`, activations, your own); they must not change their
    argument in place, nor be random themselves. ``residual`` may also be a function of the layer,
    1, 2, ..., to a number: a schedule of strengths. ``weights`` is a law, its name, or a function
    ``(out, in, generator)`` to a matrix ``(out, in)``: a law of your own, see `weights.own`.

    No gradients pass through `run`, and an input that requires them is refused: `jacobian` and
    `Path.gradient_norms` are the derivatives of a chain. The documents' chains:

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
    weights: Law | str | Draw = field(default_factory=gaussian)
    layers: Sequence[BatchLayer] = ()
    before: Sequence[BatchLayer] = ()
    residual: float | Callable[[int], float] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.width, bool) or not isinstance(self.width, int | np.integer):
            raise ValueError(f"width must be a positive integer, got {self.width!r}")
        if self.width < 1:
            raise ValueError(f"width must be a positive integer, got {self.width!r}")
        if not callable(self.residual):
            _require_strength(self.residual)
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
        dtype: torch.dtype | str = torch.float64,
    ) -> Path:
        """Return the path of ``runs`` independent networks, which is computed when it is asked.

        ``x`` is an array ``(n, d)`` or ``(runs, n, d)``, or one of `signalprop.inputs`. The first
        weight matrix takes whatever number of features ``x`` has. Run r draws from streams of its
        own, so its numbers do not depend on ``runs``. The engines:

        - ``"direct"`` draws every weight matrix: any law, ``O(width^2 n)`` a layer
        - ``"reduced"`` draws only the products, of the same law, ``O(width n^2)``: Gaussian weights
        - ``"auto"`` takes the reduced one for Gaussian weights and ``2 n <= width``

        The two give different numbers of one law. Weights are drawn on the CPU in float64, then
        moved to ``device`` and ``dtype`` (``torch.float32`` or ``"float32"``).
        """
        return Path.begin(self, x, depth, runs, seed, engine, device, dtype)

    def jacobian(
        self, x: Input | Array, depth: int, runs: int = 1, seed: int | Stream = 0, **options: Any
    ) -> PathJacobian:
        """Return the derivative of the layer ``depth`` in the input, of ``runs`` networks.

        They are the networks that `run` gives with ``engine="direct"``; ``options`` are its device
        and dtype. See `jacobians.PathJacobian`.

        >>> from signalprop import inputs
        >>> net = Chain(10, "orthogonal")
        >>> net.jacobian(inputs.gaussian_samples(1), depth=20, runs=8).singular_values().shape
        (8, 10)
        """
        from signalprop.jacobians import PathJacobian

        return PathJacobian(self.run(x, depth, runs, seed, engine="direct", **options))

    def steps(
        self, h: torch.Tensor, product: Callable[[torch.Tensor], torch.Tensor], first: int = 1
    ) -> Iterator[torch.Tensor]:
        """Yield ``h`` after the layers ``first``, ``first + 1``, ...

        ``product`` multiplies by fresh weights.
        """
        for layer in itertools.count(first):
            z = product(apply_in_turn(self.before, h))
            if self.residual is not None:
                z = torch.add(h, z, alpha=self._strength(layer))
            h = apply_in_turn(self.layers, z)
            yield h

    def _strength(self, layer: int) -> float:
        if not callable(self.residual):
            return self.residual or 0.0
        return _require_strength(self.residual(layer), f" at layer {layer}")


def _require_strength(residual: float | None, where: str = "") -> float:
    fits = residual is None or (isinstance(residual, Real) and math.isfinite(residual))
    if not fits or (residual is None and where):
        raise ValueError(f"residual must be None or a finite number{where}, got {residual!r}")
    return residual or 0.0
