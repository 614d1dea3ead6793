"""Plain gradient descent for networks side by side, and adaptive gradient clipping."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from signalprop._arrays import on_tensors, unit_scale
from signalprop.training.scores import cross_entropy

__all__ = ["adaptive_clip", "clipped_share", "descending"]

FLOOR = 1e-2  # a shorter weight counts as this long, or it could never leave zero
SHORT = 1e-10  # squares of what is longer are far from what vanishes in float32


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
    sizes = gradient.shape[-2:]
    if not ratio > 0 or gradient.shape != weight.shape or len(sizes) < 2 or 0 in sizes:
        raise ValueError(
            "ratio must be positive, gradient and weight (..., out, in) of one shape, got "
            f"{ratio!r}, {tuple(gradient.shape)} and {tuple(weight.shape)}"
        )
    factor, scale = _factor(gradient, weight, ratio)
    return torch.where(factor < scale, gradient / scale * factor, gradient)


def _factor(
    gradient: torch.Tensor, weight: torch.Tensor, ratio: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what ``gradient / scale`` is multiplied by to have the greatest length, and ``scale``.

    So nothing is formed that may be beyond the floats. No factor shortens a gradient of length 0.
    """
    length, scale = _length(gradient)
    own, own_scale = _length(weight)
    some = length.where(length > 0, 1)
    floor = ratio * torch.full_like(some, FLOOR) / some
    factor = torch.maximum(ratio * own / some * own_scale, floor)
    return factor.where(length != 0, math.inf), scale


def _length(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the length of ``x / scale`` and ``scale``: 1 where no square leaves the floats."""
    length = torch.linalg.matrix_norm(x, keepdim=True)
    if bool(((length > SHORT) & length.isfinite()).all()) or not x.numel():
        return length, torch.ones_like(length)
    unit, scale = unit_scale(x)
    return torch.linalg.matrix_norm(unit, keepdim=True), scale


@contextmanager
def descending(model: nn.Module, rates: torch.Tensor, clip: float | None = None) -> Iterator[None]:
    """Let each backward pass through ``model`` take a step of gradient descent.

    Parameters are ``(models, ...)`` and network k goes by ``rates[k]``; what ``rates`` holds at
    the time of the backward pass counts. With ``clip``, every parameter of every network is
    clipped as by `adaptive_clip`. Gradients of ``loss.sum()`` with one loss a network are those of
    each alone.

    Why so: a parameter moves as soon as its gradient is there, while both are in the cache, and
    the gradient is dropped at once. That halves the memory traffic of a step, and so its time.

    >>> model = nn.ParameterList([torch.ones(2)])               # a number for each of two networks
    >>> with descending(model, rates=torch.tensor([0.1, 0.5])):
    ...     (model[0] ** 2).sum().backward()
    >>> model[0].detach()
    tensor([0.8000, 0.0000])
    """
    descend = torch.no_grad()(_descend)
    hooks = [
        parameter.register_post_accumulate_grad_hook(  # type: ignore[no-untyped-call]
            lambda p: descend(p, rates, clip)
        )
        for parameter in model.parameters()
        if parameter.requires_grad
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
        factor = rates * _factor_of_each(gradient, parameter, clip)
    parameter.addcmul_(gradient, factor.reshape(-1, *[1] * (parameter.ndim - 1)), value=-1)


def clipped_share(model: nn.Module, x: torch.Tensor, y: torch.Tensor, ratio: float) -> torch.Tensor:
    """Return for each network ``(models,)`` the share of its parameters that `descending` clips.

    ``x`` ``(models, n, ...)`` and labels ``y`` ``(models, n)`` are the batch whose loss is
    descended. With ``ratio`` bound it is a metric of `train`.

    >>> from signalprop.models import MLP
    >>> net, x = MLP(4, 8, 1, 2, seeds=[0]), torch.ones(1, 3, 4)
    >>> y = torch.zeros(1, 3, dtype=torch.int64)
    >>> clipped_share(net, x, y, ratio=1e-9), clipped_share(net, x, y, ratio=1e9)
    (tensor([1.]), tensor([0.]))
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    with torch.enable_grad():
        gradients = torch.autograd.grad(cross_entropy(model(x), y).sum(), parameters)
    with torch.no_grad():
        factors = [
            _factor_of_each(gradient, parameter, ratio)
            for gradient, parameter in zip(gradients, parameters, strict=True)
        ]
    return (torch.stack(factors) < 1).float().mean(0)


def _factor_of_each(gradient: torch.Tensor, parameter: torch.Tensor, ratio: float) -> torch.Tensor:
    """Return the factor ``(models,)`` for a parameter ``(models, ...)``, whatever its shape."""
    row, weight = (t.flatten(1).unsqueeze(1) for t in (gradient, parameter))
    factor, scale = _factor(row, weight, ratio)
    return (factor / scale).clamp(max=1).flatten()
