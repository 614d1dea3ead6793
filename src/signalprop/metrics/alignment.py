"""Gradients: how long they are, and whether those of different samples point the same way."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from signalprop._arrays import on_tensors
from signalprop.metrics._checks import require_representable
from signalprop.metrics.cosines import mean_absolute_cosine

__all__ = [
    "alignment_by_layer",
    "gradient_alignment",
    "gradient_norms",
    "per_sample_gradients",
    "side_by_side",
]


def gradient_norms(module: nn.Module, loss: torch.Tensor) -> dict[str, Any]:
    """Return the Frobenius norm of the gradient of ``loss`` for each weight matrix of ``module``.

    Keys are parameter names, in the module's order; vectors (biases, scales) are left out. A weight
    that the loss does not depend on has gradient zero. ``.grad`` fields stay as they are.

    A norm is a float. Networks side by side (`MLP` with seeds, `Stacked`) have one each, so an
    array ``(models,)``, for their losses ``(models,)`` or the sum of these.

    >>> layer = nn.Linear(2, 1, bias=False, dtype=torch.float64)
    >>> gradient_norms(layer, layer(torch.tensor([[3.0, 4.0]], dtype=torch.float64)).sum())
    {'weight': 5.0}
    """
    models = side_by_side(module)
    if loss.ndim and loss.shape != (models,):
        raise ValueError(f"loss must be a scalar, got shape {tuple(loss.shape)}")
    leading = 0 if models is None else 1
    named = {name: p for name, p in module.named_parameters() if p.ndim >= 2 + leading}
    gradients = _gradients(loss.sum(), list(named.values()))
    norms = [torch.linalg.vector_norm(g.flatten(leading), dim=-1) for g in gradients]
    return {
        name: norm.cpu().numpy()[()] if leading else float(norm)
        for name, norm in zip(named, norms, strict=True)
    }


def _gradients(loss: torch.Tensor, weights: list[nn.Parameter]) -> tuple[torch.Tensor, ...]:
    if not loss.requires_grad:
        raise ValueError("the loss must be computed from the weights of module, with gradients")
    if not weights:
        return ()
    return torch.autograd.grad(
        loss, weights, retain_graph=True, allow_unused=True, materialize_grads=True
    )


def side_by_side(module: nn.Module) -> int | None:
    """Return how many networks the parameters of ``module`` are of, None for a single one.

    >>> side_by_side(nn.Linear(2, 1)) is None
    True
    """
    counts = (getattr(part, "models", None) for part in module.modules())
    return next((count for count in counts if isinstance(count, int)), None)


@on_tensors("hidden", "output_gradients")
def per_sample_gradients(hidden: torch.Tensor, output_gradients: torch.Tensor) -> torch.Tensor:
    """Return each sample's gradient of the last layer's weights, neuron by neuron.

    ``hidden`` ``(..., n, d)`` enters the last layer, ``output_gradients`` ``(..., n, c)`` holds
    each sample's loss gradient with respect to the c outputs. The result is ``(..., c, n, d)``:
    for every neuron a batch whose rows are gradients, ready for :func:`gradient_alignment`.

    Why it is right: the outputs are ``hidden @ W.T``, so neuron k's row of W has the gradient
    ``output_gradients[i, k] * hidden[i]`` from sample i (RANK Eq. 12).

    >>> per_sample_gradients([[1.0, 2.0]], [[3.0]])
    array([[[3., 6.]]])
    """
    if hidden.ndim < 2 or hidden.shape[:-1] != output_gradients.shape[:-1]:
        raise ValueError(
            "hidden (..., n, d) and output_gradients (..., n, c) must agree in all dimensions but "
            f"the last, got {tuple(hidden.shape)} and {tuple(output_gradients.shape)}"
        )
    result = output_gradients.mT[..., None] * hidden[..., None, :, :]
    require_representable(result, "a gradient")
    return result


@on_tensors("gradients")
def gradient_alignment(gradients: torch.Tensor) -> torch.Tensor:
    """Return the mean ``|cos|`` between the per-sample gradients ``(..., n, p)``, RANK Fig. 8.

    1 if all samples push the weights along one line, about ``sqrt(2 / (pi p))`` for random
    directions. A zero gradient has no direction: ``ValueError``.

    >>> float(gradient_alignment([[1.0, 0.0], [-2.0, 0.0]]))
    1.0
    """
    return mean_absolute_cosine(gradients)


def alignment_by_layer(module: nn.Module, losses: torch.Tensor) -> dict[str, float]:
    """Return for each weight of ``module`` how well the gradients of the samples align.

    ``losses`` ``(n,)`` holds one loss a sample, computed from the weights of ``module`` in one
    batch: with batch normalization each of them depends on the whole batch, and its gradient does.
    Keys are the names of weight matrices and kernels, in order; a row of a weight (for a kernel:
    all that leads to one output channel) is a neuron. The value is the mean of ``|cos|`` between
    the gradients of two samples for one neuron, over all neurons and pairs. A gradient of zero has
    no direction, so its pairs do not count; NaN if none is left. ``.grad`` fields stay as they are.

    For the last layer it is the mean of `gradient_alignment` over its neurons (RANK Eqs. 12, 13,
    Fig. 8). Why neuron by neuron: samples with equal inputs to a layer have gradients that are
    collinear in each row, and yet not as whole matrices if their errors differ.

    >>> layer = nn.Linear(2, 1, bias=False)
    >>> outputs = layer(torch.tensor([[1.0, 0.0], [-2.0, 0.0], [3.0, 4.0]])).squeeze()
    >>> {name: round(value, 6) for name, value in alignment_by_layer(layer, outputs).items()}
    {'weight': 0.733333}
    """
    if losses.ndim != 1 or len(losses) < 2:
        raise ValueError(f"losses must be (n,) with n >= 2, got shape {tuple(losses.shape)}")
    named = {name: p for name, p in module.named_parameters() if p.ndim >= 2}
    of_samples = [_gradients(loss, list(named.values())) for loss in losses]
    return {
        name: _mean_alignment(torch.stack([gradient.flatten(1) for gradient in each], dim=1))
        for name, each in zip(named, zip(*of_samples, strict=True), strict=True)
    }


def _mean_alignment(gradients: torch.Tensor) -> float:
    """Return the mean of ``|cos|`` over neurons and pairs of ``(neurons, n, p)``, without zeros."""
    largest = gradients.abs().amax(-1, keepdim=True)
    there = (largest > 0).double().flatten(1)
    scaled = gradients / largest.where(largest > 0, 1)
    units = scaled / torch.linalg.vector_norm(scaled, dim=-1, keepdim=True).clamp(min=1)
    cosines = (units @ units.mT).abs().clamp(max=1).double().triu(diagonal=1)
    pairs = (there[:, :, None] * there[:, None, :]).triu(diagonal=1).sum()
    return float(cosines.sum() / pairs) if pairs else float("nan")
