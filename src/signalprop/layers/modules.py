"""The normalization layers as modules, for chains and for any torch model."""

from __future__ import annotations

import math
from typing import Never

import torch
from torch import nn

from signalprop.activations import norm_relu
from signalprop.layers import _tensors

__all__ = [
    "BatchNorm",
    "BatchNorm2d",
    "FrobeniusNorm",
    "LayerNorm",
    "NormReLU",
    "RMSNorm",
    "Recenter",
    "Residual",
]


class BatchNorm(nn.Module):
    """Batch normalization of ``(n, d)`` or ``(runs, n, d)`` over n; options as in `batch_norm`.

    No affine parameters, no running averages: training and evaluation do the same. Only dimension
    -2 is averaged over, so a leading dimension is a batch of networks, not a longer batch. More
    dimensions are refused, as for images that would average over their height: `BatchNorm2d`.

    With ``eps = 0``, which the documents have, a dead feature (zero over the batch, or constant if
    ``center``) is an error, where torch's norm gives 0 with its 1e-5. The choice is yours:
    ``BatchNorm(eps=1e-5)`` gives 0 too.

    >>> BatchNorm()(torch.tensor([[1.0], [5.0]]))
    tensor([[-1.],
            [ 1.]])
    """

    def __init__(
        self,
        *sizes: Never,
        center: bool = True,
        divide: str = "rms",
        scale: float | str = 1.0,
        eps: float = 0.0,
    ) -> None:
        _refuse_sizes(self, sizes)
        super().__init__()
        _tensors.require_options(divide, scale, eps, center)
        self.center, self.divide, self.scale, self.eps = center, divide, scale, eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the normalized ``x``."""
        _require_batch(x, "BatchNorm")
        return _tensors.batch_norm(
            x, center=self.center, divide=self.divide, scale=self.scale, eps=self.eps
        )

    def extra_repr(self) -> str:
        """Return the options."""
        return f"center={self.center}, divide={self.divide!r}, scale={self.scale!r}, eps={self.eps}"


class BatchNorm2d(BatchNorm):
    """Batch normalization of images ``(N, C, H, W)``: each channel over samples and pixels.

    >>> BatchNorm2d()(torch.arange(4.0).reshape(4, 1, 1, 1)).mean().item()
    0.0
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the normalized ``x``: one row for each pixel, one column for each channel."""
        _require_images(x)
        pixels = x.movedim(1, -1)
        normalized = super().forward(pixels.flatten(0, 2))
        return normalized.reshape(pixels.shape).movedim(-1, 1)


class LayerNorm(nn.Module):
    """Layer normalization of ``(..., n, d)`` over d, see `layer_norm`; d need not be given.

    With ``eps = 0`` a constant sample is an error, where torch's norm gives 0 with its 1e-5; so
    does ``LayerNorm(eps=1e-5)``.

    >>> LayerNorm()(torch.tensor([[1.0, 5.0]]))
    tensor([[-1.,  1.]])
    """

    def __init__(self, *sizes: Never, eps: float = 0.0) -> None:
        _refuse_sizes(self, sizes)
        super().__init__()
        _tensors.require_options(eps=eps)
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the normalized ``x``."""
        return _tensors.layer_norm(x, eps=self.eps)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"eps={self.eps}"


class RMSNorm(LayerNorm):
    """Root-mean-square normalization of ``(..., n, d)`` over d, see `rms_norm`.

    With ``eps = 0`` a zero sample is an error, where torch's norm gives 0; so does any ``eps > 0``.

    >>> RMSNorm()(torch.tensor([[1.0, 7.0]]))
    tensor([[0.2000, 1.4000]])
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the normalized ``x``."""
        return _tensors.rms_norm(x, eps=self.eps)


class Recenter(nn.Module):
    """Take the batch mean off each feature and do nothing else, see `recenter` (the RC of DEC).

    >>> Recenter()(torch.tensor([[1.0], [3.0]]))
    tensor([[-1.],
            [ 1.]])
    """

    def __init__(self, *sizes: Never) -> None:
        _refuse_sizes(self, sizes)
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the centered ``x``, ``(n, d)`` or ``(runs, n, d)``."""
        _require_batch(x, "Recenter")
        return _tensors.recenter(x)


class FrobeniusNorm(nn.Module):
    """Scale the whole batch to Frobenius norm 1, see `frobenius_normalize`.

    >>> FrobeniusNorm()(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """

    def __init__(self, *sizes: Never) -> None:
        _refuse_sizes(self, sizes)
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the scaled ``x``."""
        return _tensors.frobenius_normalize(x)


class NormReLU(nn.Module):
    """The shifted and standardized ReLU of COND Eq. 4, see `activations.norm_relu`.

    >>> NormReLU()(torch.zeros(1)).item() > 0
    False
    """

    def __init__(self, *numbers: Never, threshold: float = -1.5975) -> None:
        _refuse_unnamed("NormReLU(threshold", numbers)
        super().__init__()
        self.threshold = threshold
        self.activation = norm_relu(threshold)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the activation of every entry of ``x``."""
        return self.activation(x)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"threshold={self.threshold}"


class Residual(nn.Module):
    """Add a branch to its input: ``x + gamma * branch(x)``.

    >>> Residual(nn.Identity(), gamma=0.5)(torch.tensor([2.0]))
    tensor([3.])
    """

    def __init__(self, branch: nn.Module, *numbers: Never, gamma: float = 1.0) -> None:
        _refuse_unnamed("Residual(branch, gamma", numbers)
        super().__init__()
        if not isinstance(branch, nn.Module):
            raise ValueError(f"branch must be a module, got {branch!r}")
        if isinstance(gamma, bool | str) or not math.isfinite(gamma):
            raise ValueError(f"gamma must be a finite number, got {gamma!r}")
        self.branch, self.gamma = branch, gamma

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return ``x + gamma * branch(x)``."""
        return torch.add(x, self.branch(x), alpha=self.gamma)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"gamma={self.gamma}"


def _refuse_sizes(layer: nn.Module, sizes: tuple[object, ...]) -> None:
    """Say what to write for torch's ``LayerNorm(64)``."""
    if sizes:
        kind, given = type(layer).__name__, ", ".join(map(repr, sizes))
        raise TypeError(
            f"{kind} reads the number of features off its input, got {kind}({given}): write "
            f"{kind}(); options, where there are some, go by name, as in BatchNorm(eps=1e-5)"
        )


def _refuse_unnamed(call: str, numbers: tuple[object, ...]) -> None:
    if numbers:
        raise TypeError(f"options go by name, got {numbers[0]!r}: write {call}={numbers[0]!r})")


def _require_images(x: object) -> None:
    if isinstance(x, torch.Tensor) and x.ndim != 4:
        raise ValueError(f"x must be (N, C, H, W), got shape {tuple(x.shape)}")


def _require_batch(x: object, name: str) -> None:
    """Refuse images and sequences, whose dimension -2 holds no samples."""
    if isinstance(x, torch.Tensor) and x.ndim > 3:
        raise ValueError(
            f"{name} averages over dimension -2 of (n, d) or (runs, n, d), got shape "
            f"{tuple(x.shape)}: take BatchNorm2d for images (N, C, H, W), or flatten the leading "
            "dimensions"
        )
