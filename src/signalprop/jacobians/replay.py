"""The layers of a path with their weights, forward and backward, redrawn from their streams."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd import forward_ad

from signalprop.chains.path import Path

__all__ = ["Replay", "ReplayedLayer"]


@dataclass(frozen=True)
class ReplayedLayer:
    """One layer of some runs: what enters, ``(runs, n, d)``, and its weights ``(runs, width, d)``.

    >>> from signalprop import Chain
    >>> path = Chain(3).run(torch.ones(2, 3), depth=2, engine="direct")
    >>> first, second = Replay(path).forward()
    >>> torch.allclose(first.leaving(), second.entering)
    True
    """

    path: Path
    number: int
    entering: torch.Tensor
    weight: torch.Tensor

    def leaving(self) -> torch.Tensor:
        """Return what leaves the layer, ``(runs, n, width)``."""
        return self._apply(self.entering, self.weight, {})

    def push(self, tangents: torch.Tensor) -> torch.Tensor:
        """Return the Jacobian of the layer times ``tangents`` ``(runs, k, n, d)``.

        In forward mode. The k tangents of a run stand as k runs with the same weights, because
        layers take leading dimensions apart.
        """
        runs, count = tangents.shape[:2]
        entering = self.entering.repeat_interleave(count, 0)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(entering, tangents.flatten(0, 1))  # type: ignore[no-untyped-call]
            leaving = self._apply(dual, self.weight, {})
            value, tangent = forward_ad.unpack_dual(leaving)  # type: ignore[no-untyped-call]
        result = torch.zeros_like(value) if tangent is None else tangent
        return result.reshape(runs, count, *result.shape[1:])

    @torch.enable_grad()
    def pull(self, cotangents: torch.Tensor) -> torch.Tensor:
        """Return the transposed Jacobian times ``cotangents`` ``(runs, k, n, width)``."""
        runs, count = cotangents.shape[:2]
        entering = self.entering.repeat_interleave(count, 0).requires_grad_()
        leaving = self._apply(entering, self.weight, {})
        (result,) = _pulled(leaving, [entering], cotangents.flatten(0, 1))
        return result.reshape(runs, count, *result.shape[1:])

    @torch.enable_grad()
    def pull_one(self, cotangent: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the gradient by the input, and the two factors ``(b, a)`` of that by the weights.

        ``cotangent`` ``(runs, n, width)`` is the gradient by the output. The gradient by the
        weights is ``b^T a``, with what entered the product ``a`` ``(runs, n, d)``.
        """
        entering = self.entering.detach().requires_grad_()
        seen: dict[str, torch.Tensor] = {}
        leaving = self._apply(entering, self.weight, seen)
        by_input, by_product = _pulled(leaving, [entering, seen["after"]], cotangent)
        return by_input, by_product, seen["before"].detach()

    def _apply(
        self, h: torch.Tensor, weight: torch.Tensor, seen: dict[str, torch.Tensor]
    ) -> torch.Tensor:
        def product(a: torch.Tensor) -> torch.Tensor:
            together = a.reshape(len(weight), -1, a.shape[-1])  # all rows of a run
            z = (together @ weight.mT).reshape(*a.shape[:-1], -1)
            seen.update(before=a, after=z)
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
        generators = self._generators()
        return self._steps(self.path.start[self.group], generators, 1, self.path.depth)

    def backward(self) -> Iterator[ReplayedLayer]:
        """Yield the layers from the last to the first."""
        depth = self.path.depth
        stride = max(1, math.isqrt(depth))
        generators = self._generators()
        marks: list[tuple[int, torch.Tensor, list[Any]]] = []
        h = self.path.start[self.group]
        for first in range(1, depth + 1, stride):
            marks.append((first, h, [g.bit_generator.state for g in generators]))
            for step in self._steps(h, generators, first, min(depth, first + stride - 1)):
                h = step.leaving()
        for first, h, states in reversed(marks):
            for generator, state in zip(generators, states, strict=True):
                generator.bit_generator.state = state
            yield from reversed(
                list(self._steps(h, generators, first, min(depth, first + stride - 1)))
            )

    def final(self) -> torch.Tensor:
        """Return the representations after the last layer, ``(runs, n, width)``."""
        h = self.path.start[self.group]
        for step in self.forward():
            h = step.leaving()
        return h

    def _generators(self) -> list[Any]:
        weights = self.path.stream.child("weights")
        return [weights.numpy(run) for run in range(self.path.runs)[self.group]]

    def _steps(
        self, h: torch.Tensor, generators: list[Any], first: int, last: int
    ) -> Iterator[ReplayedLayer]:
        chain = self.path.chain
        for number in range(first, last + 1):
            weight = chain.law.sample(chain.width, h.shape[-1], generators).to(h)
            step = ReplayedLayer(self.path, number, h, weight)
            try:
                h = step.leaving()
            except ValueError as error:
                error.add_note(f"in layer {number} of the chain")
                raise
            if not bool(torch.isfinite(h.sum())):
                raise ValueError(
                    f"the chain is no longer finite by layer {number}: put FrobeniusNorm() among "
                    "its layers if the overall scale does not matter"
                )
            yield step


def _pulled(
    leaving: torch.Tensor, inputs: list[torch.Tensor], cotangent: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    if not leaving.requires_grad:  # a layer of steps has no gradient at all
        return tuple(torch.zeros_like(x) for x in inputs)
    return torch.autograd.grad(
        leaving, inputs, cotangent, allow_unused=True, materialize_grads=True
    )
