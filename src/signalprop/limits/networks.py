"""Kernels of whole networks at infinite width: of the outputs (NNGP) and of training (NTK).

The network has ``depth`` hidden layers and one output: ``u_1 = sw W_1 x + sb b_1`` and
``u_{l+1} = (sw / sqrt(m)) W_{l+1} phi(u_l) + sb b_{l+1}``, with all ``W`` and ``b`` standard
Gaussian and ``sw^2, sb^2`` the weight and bias variances. With the defaults, and unit inputs, it is
setup (1) of COND. Inputs come as their Gram matrix ``x_i . x_j`` of shape ``(..., n, n)``: divide
it by the dimension where the first layer has a factor ``1 / sqrt(d)``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, SupportsIndex

import torch
from torch import Tensor

from signalprop._arrays import on_tensors
from signalprop._threads import threads_for
from signalprop.activations import Activation
from signalprop.callables import as_activation
from signalprop.limits.interpolated import jumps
from signalprop.limits.pairs import Pairs, pairs_of

__all__ = ["nngp", "ntk"]

PARALLEL = 1e-15  # what rounding leaves of 1 - rho for parallel inputs
BLOCK = 65_536  # entries that go through all layers together: they stay in the cache

Depths = SupportsIndex | Iterable[SupportsIndex]


@on_tensors("gram")
def nngp(
    gram: Tensor,
    phi: Activation | Callable[..., Any],
    depth: Depths,
    weight_variance: float = 1.0,
    bias_variance: float = 0.0,
) -> Tensor:
    """Return the covariance of the outputs at initialisation, ``(..., n, n)``, in float64.

    ``depth`` counts hidden layers, as for `MLP`: 0 is a linear model.

    Of several depths at once, in one pass through the deepest: ``(depths, ..., n, n)``. Right
    because given layer ``l`` the units of layer ``l+1`` are independent Gaussians whose covariance
    is an average over ``m`` units, which converges (COND Lemma 20). For ``phi`` with
    ``E phi^2 = 1`` and unit inputs it is the ``depth``-fold kernel map.

    A layer errs by at most 1e-10 of ``sqrt(K_ii K_jj)``, for inputs of any lengths:
    :mod:`signalprop.limits.pairs` says by which way. What cannot be had at that accuracy
    is a ``ValueError``.

    >>> from signalprop.activations import relu, tanh
    >>> nngp([[1.0, 0.0], [0.0, 1.0]], relu.normalized(), depth=1).round(6)
    array([[1.     , 0.31831],
           [0.31831, 1.     ]])
    >>> nngp([[1.0, 0.5], [0.5, 4.0]], tanh, depth=range(1, 21)).shape
    (20, 2, 2)
    """
    return _network(gram, phi, depth, weight_variance, bias_variance, tangent=False)


@on_tensors("gram")
def ntk(
    gram: Tensor,
    phi: Activation | Callable[..., Any],
    depth: Depths,
    weight_variance: float = 1.0,
    bias_variance: float = 0.0,
) -> Tensor:
    """Return the neural tangent kernel, of all weights and biases: ``(..., n, n)``, in float64.

    ``depth`` counts hidden layers, as for `MLP`: 0 is a linear model.

    Of several depths at once, in one pass through the deepest: ``(depths, ..., n, n)``.
    ``T_1 = S_1``, ``T_{l+1} = S_{l+1} + weight_variance T_l * E phi'(u_l) phi'(u_l)``, with ``S_l``
    the covariances of ``u_l``: the gradient of the last layer, and those below it passed through
    one more layer. That is COND Eq. 7 with the inner exponent ``h' - 1`` in place of ``h'``. As
    accurate as :func:`nngp`; an activation with jumps has no tangent kernel: ``ValueError``.

    >>> from signalprop.activations import relu
    >>> ntk([[1.0]], relu.normalized(), depth=3).round(6)
    array([[4.]])
    >>> ntk([[2.0]], relu.normalized(), depth=range(1, 4)).ravel().round(6)
    array([4., 6., 8.])
    """
    return _network(gram, phi, depth, weight_variance, bias_variance, tangent=True)


@threads_for(BLOCK)
def _network(
    gram: Tensor,
    phi: Activation | Callable[..., Any],
    depth: Depths,
    weight_variance: float,
    bias_variance: float,
    tangent: bool,
) -> Tensor:
    """Return one kernel of the network at the depths."""
    phi = as_activation(phi)
    depths = _depths(depth)
    _check_gram(gram)
    if tangent and max(depths) > 0 and jumps(phi):
        raise ValueError(f"{phi.name} has jumps: its tangent kernel is infinite on the diagonal")
    first = weight_variance * gram.to("cpu", torch.float64) + bias_variance
    variances = first.diagonal(dim1=-2, dim2=-1)
    layers: list[_Layer] = []
    for _ in range(max(depths)):
        stds = variances.sqrt()
        layers.append(_Layer(stds, pairs_of(phi, stds, tangent), weight_variance, bias_variance))
        variances = layers[-1].next_variances()
    result = first.new_empty((len(depths), *first.shape))
    size = gram.shape[-1]
    rows = max(1, BLOCK * size // max(1, first.numel()))
    for start in range(0, size, rows):
        stop = min(start + rows, size)
        for layer, kernel in enumerate(_path(first[..., start:stop, start:], start, layers)):
            for place in (i for i, wanted in enumerate(depths) if wanted == layer):
                _fill(result[place], kernel, start, stop)
    if not bool(torch.isfinite(result).all()):
        raise ValueError(f"the kernel of {phi.name} is beyond double precision")
    result = result.to(gram.device)
    return result if isinstance(depth, Iterable) else result[0]


def _depths(depth: Depths) -> list[int]:
    depths = [operator.index(d) for d in (depth if isinstance(depth, Iterable) else [depth])]
    if not depths or min(depths) < 0:
        raise ValueError(f"depth must be at least 0, got {depth}")
    return depths


@dataclass(frozen=True)
class _Layer:
    """One hidden layer on a batch of known lengths."""

    stds: Tensor
    pairs: Pairs
    weight_variance: float
    bias_variance: float

    def next_variances(self) -> Tensor:
        """Return the variances of the next pre-activations ``(..., n)``."""
        return self.weight_variance * self.pairs.squares + self.bias_variance

    def __call__(self, start: int, covariance: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the next covariances of a block, and the factor of the tangent kernel."""
        stop = start + covariance.shape[-2]
        scale = self.stds[..., start:stop, None] * self.stds[..., None, start:]
        rho = torch.where(scale > 0, covariance / scale.clamp(min=1e-300), 0.0).clamp_(-1.0, 1.0)
        # parallel up to rounding is parallel: 1e-16 in rho would be 1e-8 in the slope of ReLU
        rho = torch.where(rho.abs() >= 1 - PARALLEL, rho.sign(), rho)
        rho.diagonal(dim1=-2, dim2=-1).fill_(1.0)
        moments, slopes = self.pairs.block(start, stop, rho)
        following = self.weight_variance * moments + self.bias_variance
        return following, None if slopes is None else self.weight_variance * slopes


def _path(covariance: Tensor, start: int, layers: list[_Layer]) -> Iterator[Tensor]:
    """Yield the kernel of a block after 0, 1, ... hidden layers: NTK if the layers give slopes."""
    kernel = covariance
    yield kernel
    for layer in layers:
        covariance, factor = layer(start, covariance)
        kernel = covariance if factor is None else torch.addcmul(covariance, kernel, factor)
        yield kernel


def _fill(result: Tensor, block: Tensor, start: int, stop: int) -> None:
    """Write the rows of a block and, mirrored, its columns."""
    result[..., start:stop, start:] = block
    result[..., stop:, start:stop] = block[..., stop - start :].mT
    square = result[..., start:stop, start:stop]
    square.copy_(square.triu() + square.triu(1).mT)


def _check_gram(gram: Tensor) -> None:
    """Refuse what is not the inner products of a batch."""
    if gram.ndim < 2 or gram.shape[-1] != gram.shape[-2]:
        raise ValueError(f"gram must be square matrices (..., n, n), got {tuple(gram.shape)}")
    squares = gram.diagonal(dim1=-2, dim2=-1)
    stds = squares.clamp(min=0).sqrt()
    slack = 1e-6 * float(gram.abs().max()) if gram.numel() else 0.0
    bound = stds[..., :, None] * stds[..., None, :] + slack
    if bool((squares < 0).any()) or bool((gram.abs() > bound).any()):
        raise ValueError("gram must hold inner products: |gram_ij|^2 <= gram_ii gram_jj")
    if bool(((gram - gram.mT).abs() > slack).any()):
        raise ValueError("gram must be symmetric")
