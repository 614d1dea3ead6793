"""Plain gradient descent for networks side by side, and adaptive gradient clipping."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from signalprop._arrays import on_tensors

__all__ = ["adaptive_clip", "descending"]

FLOOR = 1e-2  # a shorter weight counts as this long, or it could never leave zero


@on_tensors("gradient", "weight")
def adaptive_clip(gradient: torch.Tensor, weight: torch.Tensor, ratio: float) -> torch.Tensor:
    """Shorten gradients ``(..., out, in)`` that are long for their weights, of the same shape.

    The thesis' ORTH Eq. A.21 (Brock et al. 2021, layer-wise): with ``|W|* = max(|W|_F, 1e-2)``, a
    gradient with ``|G|_F >= ratio |W|*`` is scaled to that length, any other is left alone. Both
    cases are one factor, ``min(1, ratio |W|* / |G|_F)``, so the map is continuous at the
    threshold.

    >>> adaptive_clip([[3.0, 4.0]], [[1.0, 0.0]], ratio=0.5)
    array([[0.3, 0.4]])
    """
    if not ratio > 0 or gradient.shape != weight.shape or gradient.ndim < 2:
        raise ValueError(
            "ratio must be positive, gradient and weight (..., out, in) of one shape, got "
            f"{ratio!r}, {tuple(gradient.shape)} and {tuple(weight.shape)}"
        )
    return gradient * _factor(gradient, weight, ratio)


def _factor(gradient: torch.Tensor, weight: torch.Tensor, ratio: float) -> torch.Tensor:
    limit = ratio * torch.linalg.matrix_norm(weight, keepdim=True).clamp(min=FLOOR)
    length = torch.linalg.matrix_norm(gradient, keepdim=True)
    return torch.where(length >= limit, limit / length, 1.0)


@contextmanager
def descending(model: nn.Module, rates: torch.Tensor, clip: float | None = None) -> Iterator[None]:
    """Let each backward pass through ``model`` take a step of gradient descent.

    Parameters are ``(models, ...)`` and network k goes by ``rates[k]``; what ``rates`` holds at
    the time of the backward pass counts. With ``clip``, every parameter of every network is
    clipped as by `adaptive_clip`. Gradients of ``loss.sum()`` with one loss a network are those of
    each alone.

    Why so: a parameter moves as soon as its gradient is there, while both are in the cache, and
    the gradient is dropped at once. That halves the memory traffic of a step, and so its time.
    """
    descend = torch.no_grad()(_descend)
    hooks = [
        parameter.register_post_accumulate_grad_hook(  # type: ignore[no-untyped-call]
            lambda p: descend(p, rates, clip)
        )
        for parameter in model.parameters()
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _descend(parameter: torch.Tensor, rates: torch.Tensor, clip: float | None) -> None:
    gradient, parameter.grad = parameter.grad, None
    assert gradient is not None
    factor = rates
    if clip is not None:
        one_row = [t.flatten(1).unsqueeze(1) for t in (gradient, parameter)]
        factor = rates * _factor(one_row[0], one_row[1], clip).flatten()
    parameter.addcmul_(gradient, factor.reshape(-1, *[1] * (parameter.ndim - 1)), value=-1)
