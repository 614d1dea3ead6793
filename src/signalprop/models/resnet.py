"""ResNet-50 and smaller networks of its family (He, Zhang, Ren and Sun 2016)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import nn

__all__ = ["ResNet"]

EXPANSION = 4  # a block ends with four times the channels that it works on
Norm = Callable[[int], nn.Module]


class ResNet(nn.Module):
    """Bottleneck blocks on images ``(n, 3, height, width)``; by default ResNet-50.

    Stage i has ``blocks[i]`` blocks that work on ``widths[i]`` channels and end with four times as
    many; each stage but the first halves height and width. ``norm`` makes the normalization for a
    number of channels. The mean over pixels and a linear head end it. With ``photographs`` the
    first layers are those of the original, a 7 x 7 convolution of stride 2 and a maximum over 3 x 3
    of stride 2; without, for images as small as CIFAR-10's, one 3 x 3 convolution.

    >>> net = ResNet([4, 8], [1, 1])
    >>> net(torch.rand(2, 3, 8, 8)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self,
        widths: Sequence[int] = (64, 128, 256, 512),
        blocks: Sequence[int] = (3, 4, 6, 3),
        *,
        outputs: int = 10,
        norm: Norm = nn.BatchNorm2d,
        photographs: bool = False,
    ) -> None:
        super().__init__()
        if len(widths) != len(blocks) or not len(widths):
            raise ValueError(
                "widths and blocks must name as many stages, at least one, got "
                f"{len(widths)} and {len(blocks)}"
            )
        if min([outputs, *widths, *blocks]) < 1:
            raise ValueError(
                "widths, blocks and outputs must be at least 1, got "
                f"{list(widths)}, {list(blocks)} and {outputs}"
            )
        channels = widths[0]
        kernel, stride = (7, 2) if photographs else (3, 1)
        first = _convolution(3, channels, kernel, stride)
        self.stem = nn.Sequential(first, norm(channels), nn.ReLU())
        if photographs:
            self.stem.append(nn.MaxPool2d(3, stride=2, padding=1))
        stages = []
        for i, (width, count) in enumerate(zip(widths, blocks, strict=True)):
            for j in range(count):
                stages.append(_Bottleneck(channels, width, 2 if i and not j else 1, norm))
                channels = EXPANSION * width
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(channels, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs ``(n, outputs)``."""
        features = self.stages(self.stem(x)).mean((-2, -1))
        result: torch.Tensor = self.head(features)
        return result


class _Bottleneck(nn.Module):
    """``relu(shortcut(x) + branch(x))``; the branch narrows, convolves and widens.

    The stride is in the 3 x 3 convolution. Where the shapes of ``x`` and of the branch differ the
    shortcut is a 1 x 1 convolution, elsewhere the identity.
    """

    def __init__(self, channels: int, width: int, stride: int, norm: Norm) -> None:
        super().__init__()
        wide = EXPANSION * width
        self.branch = nn.Sequential(
            *(_convolution(channels, width, 1, 1), norm(width), nn.ReLU()),
            *(_convolution(width, width, 3, stride), norm(width), nn.ReLU()),
            *(_convolution(width, wide, 1, 1), norm(wide)),
        )
        same = stride == 1 and channels == wide
        projection = [] if same else [_convolution(channels, wide, 1, stride), norm(wide)]
        self.shortcut = nn.Sequential(*projection)
        self.relu = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.relu(self.shortcut(x) + self.branch(x))
        return result


def _convolution(inputs: int, outputs: int, kernel: int, stride: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
