"""ResNets of basic blocks for small images (He, Zhang, Ren and Sun 2016, 4.2), and Fixup."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

__all__ = ["CifarResNet", "fixup_"]

STAGES = 3  # of n blocks with two convolutions each, between a first convolution and the head
Norm = Callable[[int], nn.Module]
Activation = Callable[[], nn.Module]


class CifarResNet(nn.Module):
    """The network of ``depth = 6n + 2`` layers on images ``(N, 3, height, width)``: 20, 32, 110.

    A 3 x 3 convolution, three stages of n blocks with ``width``, twice and four times as many
    channels, the mean over pixels, a linear head. The second and the third stage halve height and
    width. A block is ``phi(x + norm(conv(phi(norm(conv(x))))))``; where shapes change, ``x`` loses
    every other pixel and gets channels of zeros, which has no parameters (option A of the paper).

    ``norm`` makes the normalization for a number of channels, None for none; ``activation`` makes
    phi. With ``fixup`` a block has the scalars of Zhang, Dauphin and Ma (2019): a bias before each
    convolution and each activation, and a factor on its branch; see `fixup_` for the weights. The
    gradients of these scalars are ``scalar_rate`` times what they would be, so that in plain
    descent they learn at this multiple of the rate: 0.1 in the code of the authors.

    >>> net = CifarResNet(8, width=4)
    >>> net(torch.rand(2, 3, 8, 8)).shape, net.features(torch.rand(2, 3, 8, 8)).shape
    (torch.Size([2, 10]), torch.Size([2, 16]))
    """

    def __init__(
        self,
        depth: int = 32,
        *,
        width: int = 16,
        outputs: int = 10,
        norm: Norm | None = nn.BatchNorm2d,
        activation: Activation = nn.ReLU,
        fixup: bool = False,
        scalar_rate: float = 1.0,
    ) -> None:
        super().__init__()
        if depth < 8 or (depth - 2) % 6:
            raise ValueError(f"depth must be 6n + 2 with n >= 1 (8, 14, 20, ...), got {depth}")
        if width < 1 or outputs < 1:
            raise ValueError(f"width and outputs must be at least 1, got {width} and {outputs}")
        if fixup and norm is not None:
            raise ValueError("fixup takes the place of a normalization: give norm=None")
        scalars = scalar_rate if fixup else None
        self.stem = nn.Sequential(_convolution(3, width, 1), _norm(norm, width), _Bias(scalars))
        self.stem.append(activation())
        blocks, channels = [], width
        for stage in range(STAGES):
            for block in range((depth - 2) // (2 * STAGES)):
                stride = 2 if stage and not block else 1
                wide = width * 2**stage
                blocks.append(_Block(channels, wide, stride, norm, activation, scalars))
                channels = wide
        self.blocks = nn.Sequential(*blocks)
        self.before_head = _Bias(scalars)
        self.head = nn.Linear(channels, outputs)

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """Return what the head sees, the mean over pixels ``(N, 4 width)``."""
        result: torch.Tensor = self.before_head(self.blocks(self.stem(x)).mean((-2, -1)))
        return result

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs ``(N, outputs)``."""
        result: torch.Tensor = self.head(self.features(x))
        return result


@torch.no_grad()
def fixup_(net: CifarResNet, generator: torch.Generator | None = None) -> CifarResNet:
    """Set the weights of Fixup: with B blocks, branches begin at zero and grow as a B-th part each.

    The first convolution of a block has He's Gaussian weights, of variance 2 over fan-in, times
    ``B^(-1/2)``: the power is ``-1/(2k - 2)`` for k convolutions a branch. The second one and the
    head are zero, biases 0 and factors 1. Returns ``net``, which must have been made for it.

    >>> net = fixup_(CifarResNet(8, width=4, norm=None, fixup=True))
    >>> bool((net(torch.rand(2, 3, 8, 8)) == 0).all())
    True
    """
    if not isinstance(net, CifarResNet) or net.before_head.value is None:
        raise ValueError(f"net must be a CifarResNet with fixup=True, got {type(net).__name__}")
    first, *others = (part for part in net.modules() if isinstance(part, nn.Conv2d))
    _he_(first, 1.0, generator)
    for one, second in zip(others[::2], others[1::2], strict=True):
        _he_(one, len(net.blocks) ** -0.5, generator)
        second.weight.zero_()
    net.head.weight.zero_()
    net.head.bias.zero_()
    return net


class _Block(nn.Module):
    """Two convolutions beside a shortcut without parameters."""

    def __init__(
        self,
        channels: int,
        wide: int,
        stride: int,
        norm: Norm | None,
        activation: Activation,
        scalars: float | None,
    ) -> None:
        super().__init__()
        self.branch = nn.Sequential(
            *(_Bias(scalars), _convolution(channels, wide, stride), _norm(norm, wide)),
            *(_Bias(scalars), activation()),
            *(_Bias(scalars), _convolution(wide, wide, 1), _norm(norm, wide)),
            *(_Scale(scalars), _Bias(scalars)),
        )
        self.stride, self.extra = stride, wide - channels
        self.activation = activation()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shortcut = x[..., :: self.stride, :: self.stride]
        shortcut = F.pad(shortcut, (0, 0, 0, 0, 0, self.extra))
        result: torch.Tensor = self.activation(shortcut + self.branch(x))
        return result


class _Bias(nn.Module):
    """One trainable number that is added to everything; the identity where ``rate`` is None.

    Its gradient is multiplied by ``rate``.
    """

    START = 0.0

    def __init__(self, rate: float | None) -> None:
        super().__init__()
        self.rate = rate
        self.value = None if rate is None else nn.Parameter(torch.full((1,), self.START))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.value is None or self.rate is None:
            return x
        return self.apply_to(x, torch.lerp(self.value.detach(), self.value, self.rate))

    def apply_to(self, x: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return x + value


class _Scale(_Bias):
    """One trainable number that everything is multiplied by, likewise."""

    START = 1.0

    def apply_to(self, x: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return x * value


def _norm(norm: Norm | None, channels: int) -> nn.Module:
    return nn.Identity() if norm is None else norm(channels)


def _convolution(inputs: int, outputs: int, stride: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)


def _he_(layer: nn.Conv2d, factor: float, generator: torch.Generator | None) -> None:
    fan_in = layer.weight[0].numel()
    layer.weight.normal_(0.0, factor * (2 / fan_in) ** 0.5, generator=generator)
