"""Convolutional networks from a plan: VGG, ORTH Table 3; and convolution as a product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import nn

__all__ = ["conv_net", "orth_table_3", "unfold_rows", "vgg"]

TOKENS = ("norm", "relu", "pool")


def conv_net(
    plan: Sequence[int | str],
    *,
    channels: int = 3,
    size: int = 32,
    outputs: int = 10,
    hidden: Sequence[int] = (),
    dropout: float = 0.0,
    first_stride: int = 1,
    norm: Callable[[int], nn.Module] | None = None,
    bias: bool = True,
) -> nn.Sequential:
    """Return a convolutional network for images ``(n, channels, size, size)``.

    ``plan`` lists its layers: a number is a convolution with that many output channels (kernel 3,
    padding 1), ``"relu"``, ``"pool"`` (maximum over 2 x 2) and ``"norm"`` (what ``norm`` makes for
    a number of channels) are what they say. Linear layers of the sizes ``hidden``, each after
    ``dropout`` and followed by ReLU, and a linear head end it. Weights are torch's; see
    `signalprop.initializers` for others.

    >>> net = conv_net([8, "relu", "pool", 16, "relu"], size=16)
    >>> net(torch.ones(2, 3, 16, 16)).shape
    torch.Size([2, 10])
    """
    numbers = [token for token in plan if isinstance(token, int)]
    if min([channels, size, outputs, first_stride, *hidden, *numbers]) < 1:
        raise ValueError(
            "channels, size, outputs, first_stride and the numbers of hidden and plan must be at "
            f"least 1, got {channels}, {size}, {outputs}, {first_stride}, {list(hidden)} and "
            f"{numbers}"
        )
    layers: list[nn.Module] = []
    stride = first_stride
    for token in plan:
        if isinstance(token, int):
            layers.append(nn.Conv2d(channels, token, 3, stride=stride, padding=1, bias=bias))
            channels, size, stride = token, -(-size // stride), 1
        elif token == "norm" and norm is not None:
            layers.append(norm(channels))
        elif token == "relu":
            layers.append(nn.ReLU())
        elif token == "pool" and size >= 2:
            layers.append(nn.MaxPool2d(2))
            size //= 2
        else:
            raise ValueError(
                f"plan must hold channel numbers and {', '.join(TOKENS)} (norm if one is given, "
                f"pool from 2 pixels on), got {token!r} at {size} pixels"
            )
    layers.append(nn.Flatten())
    sizes = [channels * size * size, *hidden]
    for one, next_one in pairwise(sizes):
        layers += [nn.Dropout(dropout), nn.Linear(one, next_one, bias=bias), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], outputs, bias=bias))


def vgg(
    widths: Sequence[int] = (64, 128, 256, 512, 512),
    repeats: Sequence[int] = (2, 2, 4, 4, 4),
    *,
    size: int = 32,
    outputs: int = 10,
    hidden: Sequence[int] = (512, 512),
    dropout: float = 0.0,
    norm: Callable[[int], nn.Module] | None = None,
) -> nn.Sequential:
    """Return a VGG network for images ``(n, 3, size, size)``; by default VGG-19 for CIFAR-10.

    Stage i has ``repeats[i]`` convolutions to ``widths[i]`` channels, each followed by what
    ``norm`` makes for that number of channels, if given, and by ReLU. A maximum over 2 x 2 pixels
    ends the stage, as long as there are pixels left to pool. Linear layers of the sizes ``hidden``
    and a linear head follow. The defaults are configuration E of Simonyan and
    Zisserman (2015), 16 + 3 = 19 layers with weights, with the linear layers that are common for
    CIFAR-10; the original, for photographs, is
    ``vgg(size=224, outputs=1000, hidden=(4096, 4096), dropout=0.5)``.

    >>> net = vgg([4, 8], [1, 2], size=8, hidden=[16], norm=nn.BatchNorm2d)
    >>> [type(layer).__name__ for layer in net[:4]]
    ['Conv2d', 'BatchNorm2d', 'ReLU', 'MaxPool2d']
    """
    if len(widths) != len(repeats) or not len(widths):
        raise ValueError(
            "widths and repeats must name as many stages, at least one, got "
            f"{len(widths)} and {len(repeats)}"
        )
    plan: list[int | str] = []
    pixels = size
    for width, count in zip(widths, repeats, strict=True):
        for _ in range(count):
            plan += [width, "norm", "relu"] if norm is not None else [width, "relu"]
        if pixels >= 2:
            plan.append("pool")
            pixels //= 2
    return conv_net(plan, size=size, outputs=outputs, hidden=hidden, dropout=dropout, norm=norm)


def orth_table_3(
    convolutions: int = 20,
    *,
    published: bool = True,
    widths: tuple[int, int, int] = (64, 192, 256),
    hidden: Sequence[int] = (4096, 4096),
    size: int = 32,
    dropout: float = 0.5,
) -> nn.Sequential:
    """Return the network of ORTH Table 3 with 20 or 80 (or other numbers of) convolutions.

    The table says ``Linear(1024, 4096)`` after 3 poolings of 32 x 32 images, but 256 channels of 4
    x 4 pixels are 4096 features. It fits with stride 2 in the first convolution, which the code
    that its authors published has; that code also puts one of the repeated 256-channel
    convolutions, as 192 to 192, after the second. ``published=True`` builds that,
    ``published=False`` the table line by line, where the first linear layer then has 4096 inputs.
    Both use padding 1, which the table leaves out; without it a 32 x 32 image would be used up.

    >>> net = orth_table_3(20)
    >>> sum(isinstance(layer, nn.Conv2d) for layer in net)
    20
    >>> next(layer for layer in net if isinstance(layer, nn.Linear))
    Linear(in_features=1024, out_features=4096, bias=True)
    """
    extra: list[int | str] = [widths[1], "relu"] if published else []
    repeats = convolutions - 4 - published
    if repeats < 0:
        raise ValueError(f"convolutions must be at least {4 + published}, got {convolutions}")
    plan: list[int | str] = [
        *(widths[0], "pool", "relu"),
        *(widths[1], "pool", "relu"),
        *extra,
        *(widths[2], widths[2], "relu"),
        *(token for _ in range(repeats) for token in (widths[2], "relu")),
        *("pool", "relu"),
    ]
    stride = 2 if published else 1
    return conv_net(plan, size=size, hidden=hidden, dropout=dropout, first_stride=stride)


def unfold_rows(
    images: torch.Tensor, kernel: int = 3, padding: int = 0, stride: int = 1
) -> torch.Tensor:
    """Return the patches of images ``(n, c, h, w)`` as rows, ``(n * positions, c * kernel^2)``.

    ORTH Eq. 21: a convolution is the product of these rows with the kernel as a matrix,
    ``conv2d(W, x) = fold(unfold_rows(x) @ W.flatten(1).T)``, where folding puts each position's
    result at its pixel. This is so by definition, as each output pixel is the inner product of its
    patch and W.

    >>> unfold_rows(torch.arange(9.0).reshape(1, 1, 3, 3), kernel=2)[0]
    tensor([0., 1., 3., 4.])
    """
    if images.ndim != 4:
        raise ValueError(f"images must be (n, c, h, w), got shape {tuple(images.shape)}")
    fits = min(images.shape[2:]) + 2 * padding >= kernel >= 1
    if (
        not fits
        or padding < 0
        or stride < 1
        or 0 in images.shape[1:]
        or not images.is_floating_point()
    ):
        raise ValueError(
            "kernel must fit on floating images, padding be at least 0 and stride 1, got "
            f"{kernel}, {padding}, {stride} and {images.dtype} of shape {tuple(images.shape)}"
        )
    patches = nn.functional.unfold(images, kernel, padding=padding, stride=stride)
    return patches.mT.flatten(0, 1)
