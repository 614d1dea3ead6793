"""The empirical neural tangent kernel of any module, layer by layer.

The kernel is ``J J^T`` with J the Jacobian of outputs by parameters. It is a sum over parameters,
so that each layer adds a part of its own, and the Jacobian of the whole network is never held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["empirical_ntk"]


def __dir__() -> list[str]:
    """Complete with the names that are meant to be used, not with what is imported here."""
    return __all__


GRAPH = 6  # a forward pass holds about so many times the inputs and outputs of its layers
MIXED = 1e-3  # relative difference of an output alone and in a batch that is not rounding


def empirical_ntk(
    model: nn.Module,
    x: Tensor,
    outputs: Literal["mean", "all"] = "mean",
    budget: float = 1e9,
) -> Tensor:
    """Return ``J J^T`` of the model at a batch: ``(n, n)``, or ``(n, n, c, c)`` of all outputs.

    ``x`` is ``(n, ...)``, whatever the model takes; its outputs ``(n, ...)`` are c numbers each.
    ``outputs="mean"`` averages over the c outputs (the trace over c), ``"all"`` keeps each pair.
    Parameters that do not require gradients do not count.

    Why it is right: the gradient of a Linear layer's weight is a sum over positions of
    ``delta h^T``, with h the layer's input and delta the gradient at its output. So for one
    position its part of the kernel is the product of the Gram matrices of h and of delta, and no
    gradient is formed. For sequences and Conv2d, with patches for h, the gradients of a few output
    channels are formed at a time. All other parameters (of normalizations, embeddings, recurrent
    layers, and of convolutions in one or three dimensions, in groups or with another padding than
    zeros) go through ``torch.func``, one tensor at a time, whose Jacobian ``(n, outputs, entries)``
    is held whole, whatever the budget. The kernel is that of Jacot, Gabriel and Hongler (2018).

    ``budget`` is in bytes: what is held besides the model, the inputs and the kernel stays about
    below it. For that the model is passed through with few samples and for few layers at a time;
    where one layer or one sample alone is more, it is what one takes.

    A model that mixes its samples (batch normalization in training mode) or draws (dropout) has no
    kernel of pairs: ``ValueError``; call ``model.eval()``.

    >>> model = nn.Linear(2, 1)
    >>> empirical_ntk(model, torch.tensor([[1.0, 0.0], [1.0, 2.0]])).tolist()      # x . y + 1
    [[2.0, 2.0], [2.0, 6.0]]
    """
    if outputs not in ("mean", "all"):
        raise ValueError(f'outputs must be "mean" or "all", got {outputs!r}')
    if not budget > 0:
        raise ValueError(f"budget must be positive, got {budget}")
    if x.ndim == 0 or not len(x):
        raise ValueError(f"x must be a batch (n, ...), got shape {tuple(x.shape)}")
    alone = _output_of_one(model, x)
    sizes = _simple_layers(model, x[:1])
    wanted = [[k] for k in range(alone.numel())]
    if outputs == "all":
        wanted = [list(range(alone.numel()))]
    rows = len(x), len(wanted[0])
    kernel = alone.new_zeros(*rows, *rows)
    for units in wanted:
        for group in _groups(sizes, len(x) * len(units), budget / 2):
            chunk = _fitting(budget / 2 / GRAPH, sum(sizes.values()), len(x))
            for layer, (h, delta) in _capture(model, x, group, units, chunk).items():
                _add_layer(kernel, layer, h, delta, budget / 2)
        for jacobian in _other_jacobians(model, x, sizes, units, budget):
            kernel += _gram(jacobian)
    return kernel[:, 0, :, 0] / len(wanted) if outputs == "mean" else kernel.transpose(1, 2)


def _fitting(budget: float, each: int, most: int) -> int:
    """Return how many of ``most`` things of a size are within the budget, but at least one."""
    return max(1, int(min(budget / max(1, each), most)))


def _output_of_one(model: nn.Module, x: Tensor) -> Tensor:
    """Return the outputs for the first sample, which must not depend on the others."""
    for name, module in model.named_modules():
        if module.training and isinstance(module, nn.modules.batchnorm._BatchNorm):
            raise ValueError(f"{name} mixes the samples in training mode: call model.eval() first")
    with torch.no_grad():
        alone, beside = model(x[:1]), model(x[:2])[:1]
    if not isinstance(alone, Tensor) or not alone.is_floating_point() or alone.shape[:1] != (1,):
        raise ValueError("model must return one tensor of floats, of shape (n, ...)")
    if not bool((alone - beside).abs().max() <= MIXED * alone.abs().max()):
        raise ValueError(
            "the output for a sample must not depend on the others, nor be drawn: call model.eval()"
        )
    return alone.flatten()


def _simple_layers(model: nn.Module, sample: Tensor) -> dict[nn.Module, int]:
    """Return the Linear and Conv2d layers that a pass calls once, with bytes held for a sample.

    Subclasses (parametrized weights among them) may do anything, and a parameter with two owners
    has gradients of both: these are not simple.
    """
    owners: dict[int, int] = {}
    for module in model.modules():
        for parameter in module.parameters(recurse=False):
            owners[id(parameter)] = owners.get(id(parameter), 0) + 1
    candidates = [
        module
        for module in model.modules()
        if (type(module) is nn.Linear or (type(module) is nn.Conv2d and _is_plain(module)))
        and all(owners[id(p)] == 1 and p.requires_grad for p in module.parameters())
    ]
    calls: list[tuple[nn.Module, int]] = []

    def count(module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
        held = sum(t.numel() * t.element_size() for t in (inputs[0], output))
        calls.append((module, held))

    hooks = [module.register_forward_hook(count) for module in candidates]
    try:
        with torch.no_grad():
            model(sample)
    finally:
        for hook in hooks:
            hook.remove()
    called = [module for module, _ in calls]
    return {module: held for module, held in calls if called.count(module) == 1}


def _is_plain(layer: nn.Conv2d) -> bool:
    return (
        layer.groups == 1 and layer.padding_mode == "zeros" and not isinstance(layer.padding, str)
    )


def _groups(sizes: dict[nn.Module, int], rows: int, budget: float) -> Iterator[list[nn.Module]]:
    """Yield the layers in groups whose inputs and gradients fit into the budget together."""
    group: list[nn.Module] = []
    held = 0
    for layer, size in sizes.items():
        if group and (held + size) * rows > budget:
            yield group
            group, held = [], 0
        group.append(layer)
        held += size
    if group:
        yield group


def _capture(
    model: nn.Module, x: Tensor, group: list[nn.Module], units: Sequence[int], chunk: int
) -> dict[nn.Module, tuple[Tensor, Tensor]]:
    """Return the inputs ``(n, ...)`` of layers and the gradients of units at their outputs.

    The gradients are ``(n, units, ...)``: the sum over samples has the gradient of each, as no
    sample sees another.
    """
    seen: dict[nn.Module, tuple[Tensor, Tensor]] = {}

    def keep(module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> Tensor:
        seen[module] = inputs[0].detach().clone(), output
        return output.clone()  # what follows may work in place

    parts: dict[nn.Module, list[tuple[Tensor, Tensor]]] = {layer: [] for layer in group}
    hooks = [layer.register_forward_hook(keep) for layer in group]
    try:
        for start in range(0, len(x), chunk):
            with torch.enable_grad():
                y = model(x[start : start + chunk]).flatten(1)
            ends = [seen[layer][1] for layer in group]
            gradients = [
                torch.autograd.grad(
                    y[:, k].sum(),
                    ends,
                    retain_graph=True,
                    allow_unused=True,
                    materialize_grads=True,
                )
                for k in units
            ]
            for layer, of_units in zip(group, zip(*gradients, strict=True), strict=True):
                parts[layer].append((seen[layer][0], torch.stack(of_units, dim=1)))
    finally:
        for hook in hooks:
            hook.remove()
    return {
        layer: (torch.cat([h for h, _ in pieces]), torch.cat([d for _, d in pieces]))
        for layer, pieces in parts.items()
    }


def _add_layer(kernel: Tensor, layer: nn.Module, h: Tensor, delta: Tensor, budget: float) -> None:
    """Add the part of one layer to the kernel ``(n, units, n, units)``."""
    if isinstance(layer, nn.Conv2d):
        delta = delta.flatten(3).transpose(2, 3)
    else:
        h = h.reshape(len(h), -1, h.shape[-1])
        delta = delta.reshape(*delta.shape[:2], h.shape[1], -1)
    assert isinstance(layer, nn.Conv2d | nn.Linear)
    if layer.bias is not None:
        kernel += _gram(delta.sum(2))
    if isinstance(layer, nn.Linear) and h.shape[1] == 1:
        inputs = h[:, 0] @ h[:, 0].T
        kernel += _gram(delta) * inputs[:, None, :, None]
        return
    fan_in = layer.weight[0].numel()
    row = fan_in * delta.element_size()
    channels = _fitting(budget / 2, row * len(h) * delta.shape[1], delta.shape[-1])
    samples = _fitting(budget / 2, row * delta.shape[2], len(h))
    for first in range(0, delta.shape[-1], channels):
        some = delta[..., first : first + channels]
        gradients = [
            torch.einsum(
                "nuto,nti->nuoi", some[i : i + samples], _patches(layer, h[i : i + samples])
            )
            for i in range(0, len(h), samples)
        ]
        kernel += _gram(torch.cat(gradients))


def _patches(layer: nn.Linear | nn.Conv2d, h: Tensor) -> Tensor:
    """Return what the weights are multiplied with: ``(n, positions, fan in)``."""
    if isinstance(layer, nn.Linear):
        return h
    assert isinstance(layer.padding, tuple)  # plain layers have no other
    unfolded = F.unfold(h, layer.kernel_size, layer.dilation, layer.padding, layer.stride)
    return unfolded.transpose(1, 2)


def _gram(rows: Tensor) -> Tensor:
    """Return the products of all rows ``(n, units, ...)``: ``(n, units, n, units)``."""
    flat = rows.flatten(2).flatten(0, 1)
    return (flat @ flat.T).reshape(*rows.shape[:2], *rows.shape[:2])


def _other_jacobians(
    model: nn.Module,
    x: Tensor,
    simple: dict[nn.Module, int],
    units: Sequence[int],
    budget: float,
) -> Iterator[Tensor]:
    """Yield the Jacobians ``(n, units, ...)`` by each parameter that no simple layer owns."""
    done = {id(p) for layer in simple for p in layer.parameters()}
    # detached: a graph by the other parameters would be held as long as the kernel
    everything = {name: p.detach() for name, p in model.named_parameters()}
    buffers = dict(model.named_buffers())
    chosen = torch.tensor(list(units), device=x.device)
    for name, parameter in model.named_parameters():
        if id(parameter) in done or not parameter.requires_grad:
            continue

        def one(value: Tensor, sample: Tensor, name: str = name) -> Tensor:
            state = {**everything, **buffers, name: value}
            y: Tensor = torch.func.functional_call(model, state, (sample[None],))
            return y.flatten()[chosen]

        per_sample = parameter.numel() * parameter.element_size() * len(units)
        size = _fitting(budget / 2, per_sample, len(x))
        each = torch.func.vmap(torch.func.jacrev(one), (None, 0), chunk_size=size)
        yield each(parameter.detach(), x)
