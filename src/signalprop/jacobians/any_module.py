"""The Jacobian of any torch module: whole where it is small, as products where it is large."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import torch
from torch import nn

from signalprop._arrays import Array, Floats, as_tensor
from signalprop.chains.path import Path
from signalprop.jacobians.paths import PathJacobian
from signalprop.random import Stream, as_stream

__all__ = ["ModuleJacobian", "jacobian"]

Model = Callable[[torch.Tensor], torch.Tensor]

EXACT = 1024  # inputs or outputs up to which the matrix is formed
ROWS_AT_ONCE = 256
EXTRA = 8
ROUNDS = 100
SETTLED = 1e-4


@overload
def jacobian(model: Path) -> PathJacobian: ...
@overload
def jacobian(model: Model, x: Array, *, coupled: bool = ...) -> ModuleJacobian: ...
def jacobian(
    model: Model | Path, x: Array | None = None, *, coupled: bool = False
) -> ModuleJacobian | PathJacobian:
    """Return the Jacobian of ``model`` at ``x`` ``(n, ...)``, or that of a chain's path.

    ``model`` is any ``nn.Module`` or function that maps n samples to n outputs, of any shape. It is
    taken in the mode that it is in; its buffers (running averages) stay as they are.

    Each sample has a Jacobian of its own, as long as samples do not know of each other; this is
    looked at, and a model that couples them (batch normalization in training mode) is refused. With
    ``coupled=True`` the batch counts as one input of all its entries, and there is one Jacobian.

    >>> layer = nn.Linear(3, 2)
    >>> j = jacobian(layer, torch.ones(5, 3))
    >>> j.shape, torch.allclose(j.matrix()[4], layer.weight)
    ((2, 3), True)
    """
    if isinstance(model, Path):
        return PathJacobian(model)
    if not callable(model) or x is None:
        raise ValueError(f"model must be a module or a function, with an x, got {model!r}, {x!r}")
    if isinstance(getattr(model, "models", None), int):
        raise ValueError("model must be a single network, got several side by side: take one")
    start = as_tensor(x, "x").detach()
    if isinstance(model, nn.Module):
        weights = next(model.parameters(), start)
        start = start.to(weights.device, weights.dtype)
    if start.ndim < 2 or 0 in start.shape:
        raise ValueError(f"x must be (n, ...) with n >= 1 samples, got shape {tuple(start.shape)}")
    return ModuleJacobian(model, start, coupled)


@dataclass(frozen=True)
class ModuleJacobian:
    """The derivative of a model's output in its input, for each sample or for the batch.

    ``shape`` is (outputs, inputs) of one Jacobian; there is one for each of n samples, or a single
    one of the batch if ``coupled``. Made by `jacobian`.

    >>> sines = ModuleJacobian(torch.sin, torch.zeros(1, 4, dtype=torch.float64), coupled=False)
    >>> sines.singular_values()
    array([[1., 1., 1., 1.]])
    """

    model: Model
    x: torch.Tensor
    coupled: bool

    def __post_init__(self) -> None:
        with torch.no_grad():
            y = self._output(self.x)
            if y.ndim == 0 or len(y) != len(self.x):
                raise ValueError(
                    f"model must map {len(self.x)} samples to as many outputs, got shape "
                    f"{tuple(y.shape)}"
                )
            if not self.coupled and len(self.x) > 1 and not self._apart(y):
                raise ValueError(
                    "model couples the samples of a batch, or is random (batch normalization and "
                    "dropout, until .eval()): give coupled=True for the Jacobian of the whole batch"
                )

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of outputs and inputs of one Jacobian."""
        with torch.no_grad():
            outputs = self._output(self.x).numel()
        parts = 1 if self.coupled else len(self.x)
        return outputs // parts, self.x.numel() // parts

    def matrix(self) -> torch.Tensor:
        """Return the Jacobians, ``(n, outputs, inputs)``, ``(1, ...)`` if coupled."""
        outputs, inputs = self.shape
        unit = torch.eye(outputs, dtype=self.x.dtype, device=self.x.device)
        parts = self.x.numel() // inputs
        blocks = torch.split(unit, ROWS_AT_ONCE)
        rows = [self.transposed(block.expand(parts, -1, -1)) for block in blocks]
        return torch.cat(rows, dim=1)

    def times(self, tangents: torch.Tensor) -> torch.Tensor:
        """Return the Jacobians times ``tangents`` ``(parts, k, inputs)``: ``(parts, k, outputs)``.

        The transposed product is linear in its cotangent; its derivative is this one.
        """
        with torch.enable_grad():
            x = self.x.clone().requires_grad_()
            y = self._output(x)
            u = torch.zeros_like(y).requires_grad_()
            if not y.requires_grad:
                return tangents.new_zeros(*tangents.shape[:2], self.shape[0])
            (pulled,) = torch.autograd.grad(y, x, u, create_graph=True, materialize_grads=True)
            each = tangents.transpose(0, 1).reshape(-1, *x.shape)
            (result,) = torch.autograd.grad(
                pulled, u, each, is_grads_batched=True, allow_unused=True, materialize_grads=True
            )
        return self._by_part(result)

    def transposed(self, cotangents: torch.Tensor) -> torch.Tensor:
        """Return the transposed Jacobians times ``(parts, k, outputs)``: ``(parts, k, inputs)``."""
        with torch.enable_grad():
            x = self.x.clone().requires_grad_()
            y = self._output(x)
            each = cotangents.transpose(0, 1).reshape(-1, *y.shape)
            if not y.requires_grad:
                return cotangents.new_zeros(*cotangents.shape[:2], self.shape[1])
            (result,) = torch.autograd.grad(
                y, x, each, is_grads_batched=True, allow_unused=True, materialize_grads=True
            )
        return self._by_part(result)

    def singular_values(self, count: int | None = None, seed: int | Stream = 0) -> Floats:
        """Return the singular values, ``(n, k)``, largest first; ``(1, k)`` if coupled.

        All of them, exactly, while a Jacobian has at most 1,024 inputs or outputs. Beyond, the
        ``count`` largest by subspace iteration from a random start (Halko, Martinsson and Tropp
        2011), until none changes by more than 1e-4 of itself.
        """
        most = min(self.shape)
        if count is not None and not 1 <= count <= most:
            raise ValueError(f"count must lie in 1..{most}, got {count}")
        if most <= EXACT:
            values = torch.linalg.svdvals(self.matrix())[:, :count]
        elif count is None:
            raise ValueError(
                f"count must say how many of the {most} singular values are wanted: only up to "
                f"{EXACT} are all of them found"
            )
        else:
            values = self._largest(count, as_stream(seed))
        return np.asarray(values.detach().cpu().double().numpy())

    def _largest(self, count: int, stream: Stream) -> torch.Tensor:
        inputs = self.shape[1]
        parts, columns = self.x.numel() // inputs, min(count + EXTRA, *self.shape)
        draws = stream.numpy("frame").standard_normal((parts, columns, inputs))
        frame = _orthonormal(torch.from_numpy(draws).to(self.x))
        before = self.x.new_zeros(parts, count)
        for _ in range(ROUNDS):
            image = self.times(frame)
            now: torch.Tensor = torch.linalg.svdvals(image)[:, :count]
            if torch.allclose(now, before, rtol=SETTLED, atol=0):
                return now
            before = now
            frame = _orthonormal(self.transposed(_orthonormal(image)))
        warnings.warn(
            f"the {count} largest singular values have not settled to {SETTLED:g} in {ROUNDS} "
            "rounds: they are too close to the next ones; ask for fewer or for more",
            stacklevel=4,
        )
        return before

    def _output(self, x: torch.Tensor) -> torch.Tensor:
        if not isinstance(self.model, nn.Module):
            return self.model(x)
        buffers: dict[str, Any] = {name: b.clone() for name, b in self.model.named_buffers()}
        result: torch.Tensor = torch.func.functional_call(self.model, buffers, (x,))
        return result

    def _by_part(self, products: torch.Tensor) -> torch.Tensor:
        """Return ``(k, n, ...)`` as ``(parts, k, entries)``."""
        count = len(products)
        if self.coupled:
            return products.reshape(1, count, -1)
        return products.reshape(count, len(self.x), -1).transpose(0, 1)

    def _apart(self, y: torch.Tensor) -> bool:
        """Whether other samples behind the first leave its output as it was."""
        others = torch.cat([self.x[:1], self.x[1:].flip(0) * 0.5])
        changed = self._output(others)[0]
        slack = 1e3 * torch.finfo(y.dtype).eps * float(y.abs().max() + 1)
        return bool((changed - y[0]).abs().max() <= slack)


def _orthonormal(rows: torch.Tensor) -> torch.Tensor:
    frame: torch.Tensor = torch.linalg.qr(rows.mT).Q.mT
    return frame
