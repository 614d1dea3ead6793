"""Gradients of a loss by the weights of a deep random chain, as logarithms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from signalprop.chains.measurement import Measurement
from signalprop.chains.path import Path
from signalprop.jacobians.replay import Replay

__all__ = ["log_gradient_norms"]

Loss = Callable[[torch.Tensor], torch.Tensor]


def log_gradient_norms(path: Path, loss: Loss) -> Measurement:
    """Return the logarithm of the gradient's norm by the weights of each layer, ``(runs, depth)``.

    ``loss`` maps the last representations ``(m, n, width)`` of m runs to m losses ``(m,)``. The
    norm is the Frobenius norm, of all matrices of a branch together and without biases; the layers
    are counted from 1. A gradient of zero is minus infinity.

    At any depth: a gradient that grows by a factor at each layer leaves the range of floats after a
    few hundred. Here what is passed back is divided by its largest entry at each layer and the
    logarithm of that is kept. The weights are drawn again from their streams, `Replay`, so memory
    grows with the root of the depth.

    >>> from signalprop import BatchNorm, Chain, inputs
    >>> net = Chain(32, layers=[BatchNorm(center=False), torch.relu])
    >>> path = net.run(inputs.gaussian_samples(4), depth=1000, engine="direct")
    >>> norms = log_gradient_norms(path, lambda h: h.square().sum((1, 2)))
    >>> norms.values.shape, bool(np.isfinite(norms.values).all())
    ((1, 1000), True)
    """
    runs = [_logs(Replay(path, group), loss) for group in path._groups()]
    values = torch.cat(runs).cpu().double().numpy()
    return Measurement(values, np.arange(1, path.depth + 1), "log gradient norm")


def _logs(replay: Replay, loss: Loss) -> torch.Tensor:
    gradient, scale = _scaled(_gradient(loss, replay.final()))
    logs = []
    for step in replay.backward():
        by_input, factors = step.pull_one(gradient)
        norms = torch.stack([_log_norm(after, before) for after, before in factors])
        logs.append(scale + (norms[0] if len(norms) == 1 else torch.logsumexp(2 * norms, 0) / 2))
        gradient, more = _scaled(by_input)
        scale = scale + more
    empty = gradient.new_zeros(len(gradient), 0)
    return torch.stack(logs[::-1], dim=1) if logs else empty


@torch.enable_grad()
def _gradient(loss: Loss, final: torch.Tensor) -> torch.Tensor:
    h = final.detach().requires_grad_()
    losses = loss(h)
    if not isinstance(losses, torch.Tensor) or losses.shape != h.shape[:1]:
        shape = tuple(getattr(losses, "shape", ()))
        raise ValueError(
            f"loss must map (m, n, width) to (m,), one number a run: for m = {len(h)} it gave "
            f"{shape}; write h.square().sum((1, 2)), say"
        )
    if not losses.requires_grad:
        raise ValueError("loss must depend on the representations in a differentiable way")
    (gradient,) = torch.autograd.grad(losses.sum(), h)
    if not bool(torch.isfinite(gradient).all()):
        raise ValueError("loss must have a finite gradient: divide the representations first")
    return gradient


def _scaled(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ``x`` ``(runs, n, d)`` over its largest entry, and the logarithm of it ``(runs,)``."""
    largest = x.abs().amax((1, 2))
    unit = x / torch.where(largest > 0, largest, 1)[:, None, None]
    return unit, largest.log()


def _log_norm(after: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """Return ``log |after^T before|_F`` for each run."""
    (a, log_a), (b, log_b) = _scaled(after), _scaled(before)
    norm = torch.linalg.matrix_norm(a.mT @ b)
    return torch.where(norm > 0, log_a + log_b + norm.log(), -torch.inf)
