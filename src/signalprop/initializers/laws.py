"""Fill the weights of any torch module from a law, or make those that it has orthogonal."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from signalprop._arrays import as_tensor, unit_scale
from signalprop.models import Linear
from signalprop.random import Stream, as_stream
from signalprop.weights import Law, as_law

__all__ = ["gain_schedule", "initialize_", "orthogonal_", "weighted_layers"]


def weighted_layers(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Yield name and layer for each linear or convolutional layer of ``module``, in order.

    >>> net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))
    >>> [name for name, _ in weighted_layers(net)]
    ['0', '3']
    """
    kinds = (Linear, nn.Linear, nn.Conv2d)
    yield from ((name, layer) for name, layer in module.named_modules() if isinstance(layer, kinds))


@torch.no_grad()
def initialize_(module: nn.Module, law: Law | str, seed: Stream | int, bias: bool = False) -> None:
    """Draw the weights of all linear and convolutional layers of ``module`` from ``law``, in place.

    Biases become 0, or with ``bias`` are drawn from the same law with the variance of the weights.
    A layer draws from the stream's child of its name. For torch's own layers; an `MLP` takes its
    law when it is made.

    >>> net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))
    >>> initialize_(net, "one_sided_uniform", seed=0)       # RANK Fig. 7
    >>> bool((net[0].weight >= 0).all())
    True
    """
    stream = as_stream(seed)
    for name, layer in weighted_layers(module):
        if isinstance(layer, Linear):
            raise ValueError("module must consist of torch's own layers, got a signalprop Linear")
        weight, shift = layer.weight, layer.bias
        assert isinstance(weight, torch.Tensor)
        as_law(law).fill_(weight, stream.child(name, "weight"))
        if isinstance(shift, torch.Tensor):
            shift.zero_()
            if bias:
                # One more row of the same number of inputs has what the bias needs: their variance.
                rows = torch.empty(len(shift), *weight.shape[1:], dtype=weight.dtype)
                shift.copy_(as_law(law).fill_(rows, stream.child(name, "bias")).flatten(1)[:, 0])


@torch.no_grad()
def orthogonal_(module: nn.Module) -> None:
    """Replace each weight ``U diag(s) V^T`` of ``module`` by ``mean(s) U V^T``, in place.

    The baseline of the thesis' ORTH appendix A.5 (i): applied to Xavier weights it gives
    orthogonal ones of about the same size. Kernels count as matrices ``(out, in * pixels)``. For
    Haar orthogonal weights of size 1 use the law `signalprop.weights.orthogonal`. A zero weight
    stays zero.

    >>> layer = nn.Linear(3, 3)
    >>> orthogonal_(layer)
    >>> s = torch.linalg.svdvals(layer.weight.detach())
    >>> torch.allclose(s, s.mean().expand(3))
    True
    """
    for name, layer in weighted_layers(module):
        weight = layer.weight
        assert isinstance(weight, torch.Tensor)
        matrix = as_tensor(weight.flatten(1) if isinstance(layer, nn.Conv2d) else weight, name)
        unit, scale = unit_scale(matrix)
        u, s, vh = torch.linalg.svd(unit, full_matrices=False)
        weight.copy_((s.mean(-1)[..., None, None] * scale * u @ vh).reshape(weight.shape))


def gain_schedule(depth: int, exponent: float) -> torch.Tensor:
    """Return the gains ``alpha_l = (l + 1)^exponent``, l = 0..depth-1, of GRAD's shaped networks.

    The thesis prints no formula (GRAD Eq. 6.11 names ``alpha_l`` only); this is the one of its
    code, where the exponent is -0.4 (GRAD Fig. 6.5).

    >>> gain_schedule(3, -1.0)
    tensor([1.0000, 0.5000, 0.3333], dtype=torch.float64)
    """
    if depth < 0:
        raise ValueError(f"depth must be at least 0, got {depth}")
    gains = torch.arange(1, depth + 1, dtype=torch.float64) ** exponent
    if not bool(torch.isfinite(gains).all()):
        raise ValueError(f"exponent must be one for which all gains are finite, got {exponent!r}")
    return gains
