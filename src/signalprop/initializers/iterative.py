"""Iterative orthogonalization: weights that undo what earlier layers did to a batch (ORTH 5.2)."""

from __future__ import annotations

import math

import torch
from torch import nn

from signalprop._arrays import on_tensors
from signalprop.initializers.laws import weighted_layers
from signalprop.models import unfold_rows

__all__ = ["iterative_orthogonalization_", "orthogonalizing_weight"]

FACTORS = ("slice", "polar")
SCALINGS = ("printed", "measured")


@on_tensors("h")
def orthogonalizing_weight(
    h: torch.Tensor,
    outputs: int | None = None,
    *,
    power: float = 0.5,
    factor: str = "polar",
    scale: str = "printed",
) -> torch.Tensor:
    """Return the weight ``(..., outputs, d)`` of ORTH Eq. 6 for inputs ``h`` ``(..., n, d)``.

    ``W = V' S^-p U^T / ||S^(1-p)||_F``, where ``h^T = U S V^T``, and printed are p = 1/2 and
    outputs = d (the default). The text leaves open:

    - ``power`` p: with 1/2 the singular values of ``W h^T`` are the roots of those of h, with 1
      they are equal (the code that the authors published has either).
    - ``factor`` V', "an orthogonal matrix obtained by slicing V": ``"slice"`` takes the first rows
      of V literally, and is not orthogonal unless n = d; ``"polar"`` is the orthogonal matrix next
      to it.
    - ``scale``: ``"printed"`` divides by the norm that ``W h^T`` has if V' is orthogonal and
      square, ``"measured"`` by the norm that it has.

    Why it is right: with V' orthogonal the product is ``V' S^(1-p) V^T``, of singular values
    ``sigma^(1-p)`` and unit Frobenius norm, which for p in (0, 1] are closer to equal than
    ``sigma``.

    Needs n >= d and n >= outputs. Singular values below ``n eps`` times the largest count as zero,
    and their directions get weight zero (pseudo-inverse). A zero batch: ``ValueError``.

    >>> h = torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> product = h @ orthogonalizing_weight(h, power=1.0).T
    >>> product.T @ product
    tensor([[0.5000, 0.0000],
            [0.0000, 0.5000]])
    """
    if factor not in FACTORS or scale not in SCALINGS:
        raise ValueError(
            f"factor must be one of {', '.join(FACTORS)} and scale one of {', '.join(SCALINGS)}, "
            f"got {factor!r} and {scale!r}"
        )
    if not math.isfinite(power):
        raise ValueError(f"power must be finite, got {power!r}")
    n, d = h.shape[-2:] if h.ndim > 1 else (0, 0)
    outputs = d if outputs is None else outputs
    if not n >= max(d, outputs) >= min(d, outputs) >= 1:
        raise ValueError(
            f"h must be (..., n, d) with n >= d and n >= outputs = {outputs}, got {tuple(h.shape)}"
        )
    v, s, u_transposed = torch.linalg.svd(h, full_matrices=False)
    if bool((s[..., 0] == 0).any()):
        raise ValueError("h must not be zero: a zero batch has nothing to orthogonalize")
    inverse = torch.where(s > n * torch.finfo(h.dtype).eps * s[..., :1], s, torch.inf) ** -power
    rows = v[..., :outputs, :]
    left = _polar(rows) if factor == "polar" else rows
    weight = left * inverse[..., None, :] @ u_transposed
    norm = torch.linalg.vector_norm(s * inverse, dim=-1)[..., None, None]
    if scale == "measured":
        norm = torch.linalg.matrix_norm(h @ weight.mT, keepdim=True)
    result: torch.Tensor = weight / norm
    if not bool(torch.isfinite(result).all()):
        raise ValueError(f"the weight is beyond the largest {h.dtype}: scale h first")
    return result


def _polar(matrix: torch.Tensor) -> torch.Tensor:
    u, _, vh = torch.linalg.svd(matrix, full_matrices=False)
    result: torch.Tensor = u @ vh
    return result


def iterative_orthogonalization_(
    module: nn.Module,
    inputs: torch.Tensor,
    *,
    power: float = 0.5,
    factor: str = "polar",
    scale: str = "printed",
) -> None:
    """Set the weights of ``module``, from the first layer to the last, by ORTH Eq. 6, in place.

    One forward pass of ``inputs`` does it: each layer gets, just before it is applied, the
    `orthogonalizing_weight` for the batch that reaches it, and bias 0. A convolution is treated as
    the product that it is (ORTH Eq. 21): the batch is the patches that it sees. Only linear layers
    with as many outputs as inputs and convolutions with as many channels out as in take part, as
    the printed formula is for square weights; the first and last layer mostly keep what they have.

    >>> from signalprop import Stream, orthogonality_gap
    >>> from signalprop.models import MLP
    >>> x = torch.randn(48, 16, generator=Stream(0).torch())
    >>> net = MLP(16, 16, 30, 10, weights="he", bias="zero")
    >>> before = orthogonality_gap(net.features(x))
    >>> iterative_orthogonalization_(net, x)
    >>> bool(orthogonality_gap(net.features(x)) < before)
    True
    """

    def assign(layer: nn.Module, arguments: tuple[torch.Tensor]) -> None:
        weight, bias, rows = layer.weight, layer.bias, arguments[0]
        assert isinstance(weight, torch.Tensor)
        outputs = weight.shape[0 if isinstance(layer, nn.Conv2d) else -2]
        if isinstance(layer, nn.Conv2d):
            rows = _patches(layer, rows)
        value = orthogonalizing_weight(rows, outputs, power=power, factor=factor, scale=scale)
        weight.copy_(value.reshape(weight.shape) if weight.ndim == 4 else value)
        if isinstance(bias, torch.Tensor):
            bias.zero_()

    square = [layer for _, layer in weighted_layers(module) if _is_square(layer)]
    hooks = [layer.register_forward_pre_hook(assign) for layer in square]
    training = module.training
    try:
        with torch.no_grad():
            module.eval()(inputs)
    finally:
        module.train(training)
        for hook in hooks:
            hook.remove()


def _is_square(layer: nn.Module) -> bool:
    if isinstance(layer, nn.Conv2d):
        return layer.in_channels == layer.out_channels and layer.groups == 1
    weight = layer.weight
    assert isinstance(weight, torch.Tensor)
    return weight.shape[-1] == weight.shape[-2]


def _patches(layer: nn.Conv2d, images: torch.Tensor) -> torch.Tensor:
    kernel, padding, stride = layer.kernel_size[0], layer.padding, layer.stride[0]
    square = layer.kernel_size == (kernel, kernel) and layer.stride == (stride, stride)
    if isinstance(padding, str) or not square or layer.dilation != (1, 1):
        raise ValueError(f"module must have square kernels with numbers as padding, got {layer}")
    return unfold_rows(images, kernel, padding[0], stride)
