"""The layers of a path with their weights, forward and backward, redrawn from their streams."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd import forward_ad

from signalprop.chains.drawn import Drawn, Matrix
from signalprop.chains.path import Path

__all__ = ["Replay", "ReplayedLayer"]

Factors = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class ReplayedLayer:
    """One layer of some runs: what enters, ``(runs, n, d)``, and its matrices, with their biases.

    There is one, or as many as the branch of the chain multiplies by, in that order.

    >>> from signalprop import Chain
    >>> path = Chain(3).run(torch.ones(2, 3), depth=2, engine="direct")
    >>> first, second = Replay(path).forward()
    >>> torch.allclose(first.leaving(), second.entering)
    True
    """

    path: Path
    number: int
    entering: torch.Tensor
    matrices: tuple[Matrix, ...]

    @property
    def weight(self) -> torch.Tensor:
        """The weights ``(runs, width, d)`` of the only matrix."""
        (matrix,) = self.matrices
        return matrix.weight

    def leaving(self) -> torch.Tensor:
        """Return what leaves the layer, ``(runs, n, width)``."""
        return self._apply(self.entering, [])

    def push(self, tangents: torch.Tensor) -> torch.Tensor:
        """Return the Jacobian of the layer times ``tangents`` ``(runs, k, n, d)``.

        In forward mode. The k tangents of a run stand as k runs with the same weights, because
        layers take leading dimensions apart.
        """
        runs, count = tangents.shape[:2]
        entering = self.entering.repeat_interleave(count, 0)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(entering, tangents.flatten(0, 1))  # type: ignore[no-untyped-call]
            leaving = self._apply(dual, [])
            value, tangent = forward_ad.unpack_dual(leaving)  # type: ignore[no-untyped-call]
        result = torch.zeros_like(value) if tangent is None else tangent
        return result.reshape(runs, count, *result.shape[1:])

    @torch.enable_grad()
    def pull(self, cotangents: torch.Tensor) -> torch.Tensor:
        """Return the transposed Jacobian times ``cotangents`` ``(runs, k, n, width)``."""
        runs, count = cotangents.shape[:2]
        entering = self.entering.repeat_interleave(count, 0).requires_grad_()
        leaving = self._apply(entering, [])
        (result,) = _pulled(leaving, [entering], cotangents.flatten(0, 1))
        return result.reshape(runs, count, *result.shape[1:])

    @torch.enable_grad()
    def pull_one(self, cotangent: torch.Tensor) -> tuple[torch.Tensor, list[Factors]]:
        """Return the gradient by the input, and the two factors of that by each weight matrix.

        ``cotangent`` ``(runs, n, width)`` is the gradient by the output. The gradient by the
        weights is ``b^T a``, with what entered the product ``a`` ``(runs, rows, d)``.
        """
        entering = self.entering.detach().requires_grad_()
        seen: list[Factors] = []
        leaving = self._apply(entering, seen)
        after = [z for z, _ in seen]
        by_input, *by_products = _pulled(leaving, [entering, *after], cotangent)
        runs = len(entering)
        return by_input, [
            (b.reshape(runs, -1, b.shape[-1]), a.detach().reshape(runs, -1, a.shape[-1]))
            for b, (_, a) in zip(by_products, seen, strict=True)
        ]

    def _apply(self, h: torch.Tensor, seen: list[Factors]) -> torch.Tensor:
        matrices = iter(self.matrices)

        def product(a: torch.Tensor, *_: Any) -> torch.Tensor:
            z = next(matrices).times(a)
            seen.append((z, a))
            return z

        return next(self.path.chain.steps(h, product, self.number))


class Replay:
    """The layers of the runs ``group`` of a path, one by one, in either direction.

    The weights are those of ``path``: run r redraws its matrices from its own stream. Backward,
    representations and states of the generators are kept at every ``sqrt(depth)``-th layer, and
    what lies between is computed again, so that memory grows with the root of the depth.

    >>> from signalprop import Chain
    >>> path = Chain(3).run(torch.ones(2, 3), depth=10, runs=2, engine="direct")
    >>> [step.number for step in Replay(path).backward()]
    [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    """

    def __init__(self, path: Path, group: slice = slice(None)) -> None:
        if path.engine != "direct":
            raise ValueError(
                "path must have been run with engine='direct' to know its weights, got "
                f"{path.engine!r}: write net.run(..., engine='direct')"
            )
        self.path, self.group = path, group

    def forward(self) -> Iterator[ReplayedLayer]:
        """Yield the layers from the first to the last."""
        fresh = self.path.drawn(self.group)
        return self._steps(self.path.start[self.group], fresh, 1, self.path.depth)

    def backward(self) -> Iterator[ReplayedLayer]:
        """Yield the layers from the last to the first."""
        depth = self.path.depth
        stride = max(1, math.isqrt(depth))
        fresh = self.path.drawn(self.group)
        generators = [*fresh.generators, *fresh.for_biases]
        marks: list[tuple[int, torch.Tensor, list[Any]]] = []
        h = self.path.start[self.group]
        for first in range(1, depth + 1, stride):
            marks.append((first, h, [g.bit_generator.state for g in generators]))
            for step in self._steps(h, fresh, first, min(depth, first + stride - 1)):
                h = step.leaving()
        for first, h, states in reversed(marks):
            for generator, state in zip(generators, states, strict=True):
                generator.bit_generator.state = state
            yield from reversed(list(self._steps(h, fresh, first, min(depth, first + stride - 1))))

    def final(self) -> torch.Tensor:
        """Return the representations after the last layer, ``(runs, n, width)``."""
        h = self.path.start[self.group]
        for step in self.forward():
            h = step.leaving()
        return h

    def _steps(
        self, h: torch.Tensor, fresh: Drawn, first: int, last: int
    ) -> Iterator[ReplayedLayer]:
        chain = self.path.chain
        for number in range(first, last + 1):
            entering, matrices = h, list[Matrix]()

            def product(a: torch.Tensor, *options: Any, to: list[Matrix] = matrices) -> Any:
                z = fresh(a, *options or (chain.width,))
                to.append(fresh.last)
                return z

            try:
                h = next(chain.steps(h, product, number))
            except ValueError as error:
                error.add_note(f"in layer {number} of the chain")
                raise
            if not bool(torch.isfinite(h.sum())):
                raise ValueError(
                    f"the chain is no longer finite by layer {number}: put FrobeniusNorm() among "
                    "its layers if the overall scale does not matter"
                )
            yield ReplayedLayer(self.path, number, entering, tuple(matrices))


def _pulled(
    leaving: torch.Tensor, inputs: list[torch.Tensor], cotangent: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    if not leaving.requires_grad:  # a layer of steps has no gradient at all
        return tuple(torch.zeros_like(x) for x in inputs)
    return torch.autograd.grad(
        leaving, inputs, cotangent, allow_unused=True, materialize_grads=True
    )
