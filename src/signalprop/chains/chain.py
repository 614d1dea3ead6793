"""The recipe of a random chain: what one layer does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from signalprop._arrays import Array
from signalprop._identity import recipe_digest
from signalprop.chains.drawn import Branch, Dense
from signalprop.chains.path import Path
from signalprop.inputs import Input
from signalprop.layers._checks import apply_in_turn, require_layers, require_pure
from signalprop.random import Stream
from signalprop.weights import Draw, Law, as_law, gaussian

if TYPE_CHECKING:
    from signalprop.jacobians import PathJacobian

__all__ = ["Chain"]

BatchLayer = Callable[[torch.Tensor], Any]


@dataclass(frozen=True, repr=False, eq=False)
class Chain:
    """A random network of ``depth`` layers, each with fresh weights; layer 0 is the input.

    ``depth`` counts layers, and each has one weight matrix, where no ``branch`` has several. A
    layer takes ``h`` ``(..., n, d)`` to

    - ``layers(W before(h) + b)``, or with a ``residual``
    - ``layers(h + residual * (W before(h) + b))``,

    where W acts on every sample: what comes before the matrix, the matrix, what comes after it.

    - ``width`` is the number of features of all layers. ``widths`` in its place is the list of
      those of the layers 1, 2, ..., or a function of the layer.
    - ``weights`` is a law, its name, or a function ``(out, in, generator)`` to a matrix
      ``(out, in)``: a law of your own, see `weights.own`.
    - ``layers`` and ``before`` are sequences of functions of ``(..., n, d)`` tensors applied in
      order (modules of `signalprop.layers`, activations, your own); they must not change their
      argument in place, nor be random themselves.
    - ``residual`` is a number, or a function of the layer to a number: a schedule of strengths.
    - ``bias`` is the law of the entries of b (a rule such as ``"1/d"`` counts the inputs of the
      layer); there is none if it is not said. The weights are the same with and without it.
    - ``branch`` stands in place of ``W .. + b``: a function ``(h, dense)`` in which each call
      ``dense(a)`` multiplies by a matrix of its own, see `Dense`. Of a list of branches the layers
      take one after the other, again and again.

    >>> from signalprop import BatchNorm, LayerNorm, inputs, orthogonality_gap
    >>> def attention(h, dense):
    ...     q, k, v = dense(h), dense(h), dense(h)
    ...     return dense(torch.softmax(q @ k.mT / h.shape[-1] ** 0.5, dim=-1) @ v)
    >>> def mlp(h, dense):
    ...     return dense(torch.relu(dense(h, 4 * h.shape[-1])), weights="he")
    >>> net = Chain(32, before=[LayerNorm()], branch=[attention, mlp], residual=1.0)
    >>> net.run(inputs.gaussian_samples(5), depth=12, runs=3).final().shape
    torch.Size([3, 5, 32])

    No gradients pass through `run`, and an input that requires them is refused: `jacobian` and
    `Path.gradient_norms` are the derivatives of a chain. The documents' chains:

    - ORTH Eq. 1: ``Chain(d, layers=[BatchNorm(center=False, divide="norm", scale="1/sqrt d")])``
    - RANK Eq. 5: ``Chain(d, uniform(), [BatchNorm(center=False)], before=[F], residual=gamma)``
    - MF Eq. 3.1: ``Chain(d, before=[BatchNorm(), phi])``
    - GRAD Eq. 6.3: ``Chain(d, orthogonal(), layers=[BatchNorm(center=False, divide="norm")])``

    Linearly dependent samples stay so only up to rounding, which batch normalization amplifies
    layer by layer: in float64 a rank-one batch has rank two after some tens of layers.

    >>> net = Chain(width=512, layers=[BatchNorm(center=False)])
    >>> path = net.run(inputs.nearly_parallel(n=4), depth=50, runs=3, seed=0)
    >>> gap = path.measure(orthogonality_gap)
    >>> gap.values.shape, bool((gap.values[:, -1] < 0.1).all())
    ((3, 51), True)
    """

    width: int = 0  # 0 where they vary
    weights: Law | str | Draw = field(default_factory=gaussian)
    layers: Sequence[BatchLayer] = ()
    before: Sequence[BatchLayer] = ()
    residual: float | Callable[[int], float] | None = None
    widths: Sequence[int] | Callable[[int], int] | None = None
    bias: Law | str | Draw | None = None
    branch: Branch | Sequence[Branch] | None = None

    def __post_init__(self) -> None:
        if self.widths is None:
            _require_width(self.width, "width")
        elif self.width:
            raise ValueError(f"give width or widths, not both, got {self.width} and {self.widths}")
        elif not callable(self.widths):
            if isinstance(self.widths, str) or not len(self.widths):
                raise ValueError(f"widths must be a list or a function, got {self.widths!r}")
            for width in self.widths:
                _require_width(width, "widths")
        if not callable(self.residual):
            _require_strength(self.residual)
        for name in ("layers", "before"):
            require_layers(getattr(self, name), name)
            require_pure(getattr(self, name), name)
        if self.branch is not None and not callable(self.branch):
            require_layers(self.branch, "branch")
            if not len(self.branch):
                raise ValueError("branch must be a function or a list of them, got none")
        as_law(self.weights)
        if isinstance(self.bias, int | float):
            raise ValueError(
                f"bias must be a law or None, got {self.bias!r}: "
                f"sp.gaussian({self.bias!r}) has that variance"
            )
        if self.bias is not None:
            as_law(self.bias, "bias")

    def __repr__(self) -> str:
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        said = [
            f"{name}={_words(value)}"
            for name, value in given.items()
            if value is not None and value not in (0, (), gaussian())
        ]
        return f"Chain({', '.join(said)})"

    @property
    def identity(self) -> str:
        """A digest of all that the chain is made of: its laws, layers, functions and their options.

        Two chains of one identity are the same recipe; `training.checkpoint.run_identity` takes a
        chain, so that what was saved of one is not taken up by another. Functions count by their
        code, modules by their options and parameters, wherever they lie in memory.

        >>> from signalprop import BatchNorm
        >>> Chain(8, layers=[BatchNorm(), torch.relu]) == Chain(8, layers=[BatchNorm(), torch.relu])
        True
        >>> Chain(8, layers=[torch.relu]) == Chain(8, layers=[torch.tanh])
        False
        """
        return recipe_digest({f.name: getattr(self, f.name) for f in fields(self)})

    def __eq__(self, other: object) -> bool:
        """Whether the other chain has the same `identity`."""
        return self.identity == other.identity if isinstance(other, Chain) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.identity)

    @property
    def law(self) -> Law:
        """The law of the weights."""
        return as_law(self.weights)

    @property
    def is_plain(self) -> bool:
        """Whether each layer has one matrix, of one size, and no bias."""
        return self.widths is None and self.bias is None and self.branch is None

    def width_at(self, layer: int) -> int:
        """Return the number of features of layer 1, 2, ...

        >>> Chain(widths=[64, 32]).width_at(2), Chain(widths=lambda layer: 10 * layer).width_at(2)
        (32, 20)
        """
        if self.widths is None:
            return self.width
        if callable(self.widths):
            return _require_width(self.widths(layer), f"widths at layer {layer}")
        return self.widths[layer - 1]

    def depth_of(self, depth: int | None) -> int:
        """Return ``depth``, or the number of the widths where none is given; refuse more.

        >>> Chain(widths=[64, 32]).depth_of(None)
        2
        """
        listed = None if self.widths is None or callable(self.widths) else len(self.widths)
        if depth is None and listed is None:
            raise ValueError("depth must be given: it follows from a list of widths only")
        if depth is None or (listed is not None and depth > listed):
            if depth is not None:
                raise ValueError(f"depth must be at most {listed}, as many as widths, got {depth}")
            assert listed is not None
            return listed
        return depth

    def run(
        self,
        x: Input | Array,
        depth: int | None = None,
        runs: int = 1,
        seed: int | Stream = 0,
        *,
        engine: str = "auto",
        device: str | torch.device = "cpu",
        dtype: torch.dtype | str = torch.float64,
    ) -> Path:
        """Return the path of ``runs`` independent networks, which is computed when it is asked.

        ``x`` is an array ``(n, d)`` or ``(runs, n, d)``, or one of `signalprop.inputs`, with as
        many features as the first layer. The first weight matrix takes whatever number of features
        ``x`` has. ``depth`` may be left out for a list of widths: all of them. Run r draws from
        streams of its own, so its numbers do not depend on ``runs``. The engines:

        - ``"direct"`` draws every weight matrix: any law, ``O(width^2 n)`` a layer
        - ``"reduced"`` draws only the products, of the same law, ``O(width n^2)``: Gaussian weights
        - ``"auto"`` takes the reduced one for Gaussian weights and ``2 n <= width``, not for
          branches

        The two give different numbers of one law. Weights are drawn on the CPU in float64, then
        moved to ``device`` and ``dtype`` (``torch.float32`` or ``"float32"``).
        """
        return Path.begin(self, x, self.depth_of(depth), runs, seed, engine, device, dtype)

    def jacobian(
        self,
        x: Input | Array,
        depth: int | None = None,
        runs: int = 1,
        seed: int | Stream = 0,
        **options: Any,
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
        self, h: torch.Tensor, product: Callable[..., torch.Tensor], first: int = 1
    ) -> Iterator[torch.Tensor]:
        """Yield ``h`` after the layers ``first``, ``first + 1``, ...

        ``product`` multiplies by fresh weights, ``product(a)`` if the chain `is_plain`, else
        ``product(a, width, law)`` with None for the chain's law.
        """
        for layer in itertools.count(first):
            a = apply_in_turn(self.before, h)
            z = product(a) if self.is_plain else self._branch(layer, a, product)
            if self.residual is not None:
                if z.shape != h.shape:
                    raise ValueError(
                        f"what is added must have the shape of the skip, {tuple(h.shape)}, got "
                        f"{tuple(z.shape)}: a residual chain has one width"
                    )
                z = torch.add(h, z, alpha=self._strength(layer))
            h = apply_in_turn(self.layers, z)
            yield h

    def _branch(
        self, layer: int, a: torch.Tensor, product: Callable[..., torch.Tensor]
    ) -> torch.Tensor:
        dense = Dense(product, self.width_at(layer))
        if self.branch is None:
            return dense(a)
        branches = (self.branch,) if callable(self.branch) else self.branch
        return branches[(layer - 1) % len(branches)](a, dense)

    def _strength(self, layer: int) -> float:
        if not callable(self.residual):
            return self.residual or 0.0
        return _require_strength(self.residual(layer), f" at layer {layer}")


def _require_width(width: object, name: str) -> int:
    whole = isinstance(width, int | np.integer) and not isinstance(width, bool)
    if not whole or int(width) < 1:  # type: ignore[call-overload]
        raise ValueError(f"{name} must be a positive integer, got {width!r}")
    return int(width)  # type: ignore[call-overload, no-any-return]


def _require_strength(residual: float | None, where: str = "") -> float:
    fits = residual is None or (isinstance(residual, Real) and math.isfinite(residual))
    if not fits or (residual is None and where):
        raise ValueError(f"residual must be None or a finite number{where}, got {residual!r}")
    return residual or 0.0


def _words(value: Any) -> str:
    """Return what the reader wrote: functions by their names."""
    if isinstance(value, list | tuple | nn.ModuleList | nn.Sequential):
        return f"[{', '.join(map(_words, value))}]"
    if isinstance(value, nn.Module) or not callable(value):
        return repr(value)
    return str(getattr(value, "name", None) or getattr(value, "__name__", repr(value)))
