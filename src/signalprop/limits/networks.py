"""Kernels of whole networks at infinite width: of the outputs (NNGP) and of training (NTK).

The network has ``depth`` hidden layers and one output: ``u_1 = sw W_1 x + sb b_1`` and
``u_{l+1} = (sw / sqrt(m)) W_{l+1} phi(u_l) + sb b_{l+1}``, with all ``W`` and ``b`` standard
Gaussian and ``sw^2, sb^2`` the weight and bias variances. With the defaults, and unit inputs, it is
setup (1) of COND. Inputs come as their Gram matrix ``x_i . x_j`` of shape ``(..., n, n)``: divide
it by the dimension where the first layer has a factor ``1 / sqrt(d)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from signalprop._arrays import Array, on_tensors
from signalprop.activations import Activation
from signalprop.limits.closed import Hinge
from signalprop.limits.lengths import pair_moments
from signalprop.limits.maps import KernelMap

__all__ = ["nngp", "ntk"]

PARALLEL = 1e-15  # what rounding leaves of 1 - rho for parallel inputs


@on_tensors("gram")
def nngp(
    gram: Array,
    phi: Activation,
    depth: int,
    weight_variance: float = 1.0,
    bias_variance: float = 0.0,
) -> Array:
    """Return the covariance of the outputs at initialisation, ``(..., n, n)``, in float64.

    Right because given layer ``l`` the units of layer ``l+1`` are independent Gaussians whose
    covariance is an average over ``m`` units, which converges (COND Lemma 20). For ``phi`` with
    ``E phi^2 = 1`` and unit inputs it is the ``depth``-fold kernel map. Inputs of one length cost
    one kernel map a layer; of different lengths a quadrature for each pair.

    >>> from signalprop.activations import relu
    >>> nngp([[1.0, 0.0], [0.0, 1.0]], relu.normalized(), depth=1).round(6)
    array([[1.     , 0.31831],
           [0.31831, 1.     ]])
    """
    return _network(gram, phi, depth, weight_variance, bias_variance)[0]


@on_tensors("gram")
def ntk(
    gram: Array,
    phi: Activation,
    depth: int,
    weight_variance: float = 1.0,
    bias_variance: float = 0.0,
) -> Array:
    """Return the neural tangent kernel, of all weights and biases: ``(..., n, n)``, in float64.

    ``T_1 = S_1``, ``T_{l+1} = S_{l+1} + weight_variance T_l * E phi'(u_l) phi'(u_l)``, with ``S_l``
    the covariances of ``u_l``: the gradient of the last layer, and those below it passed through
    one more layer. That is COND Eq. 7 with the inner exponent ``h' - 1`` in place of ``h'``.

    >>> from signalprop.activations import relu
    >>> ntk([[1.0]], relu.normalized(), depth=3).round(6)
    array([[4.]])
    """
    return _network(gram, phi, depth, weight_variance, bias_variance, tangent=True)[1]


def _network(
    gram: Array,
    phi: Activation,
    depth: int,
    weight_variance: float,
    bias_variance: float,
    tangent: bool = False,
) -> tuple[Tensor, Tensor]:
    assert isinstance(gram, Tensor)
    if depth < 0:
        raise ValueError(f"depth must be at least 0, got {depth}")
    _check_gram(gram)
    covariance = weight_variance * gram.to(torch.float64) + bias_variance
    kernel = covariance
    for _ in range(depth):
        moments, slopes = _layer(covariance, phi, tangent)
        covariance = weight_variance * moments + bias_variance
        kernel = covariance + weight_variance * kernel * slopes
    return covariance, kernel


def _check_gram(gram: Tensor) -> None:
    if gram.ndim < 2 or gram.shape[-1] != gram.shape[-2]:
        raise ValueError(f"gram must be square matrices (..., n, n), got {tuple(gram.shape)}")
    squares = gram.diagonal(dim1=-2, dim2=-1)
    bound = torch.sqrt((squares[..., :, None] * squares[..., None, :]).clamp(min=0))
    slack = 1e-6 * float(gram.abs().max()) if gram.numel() else 0.0
    if bool((squares < 0).any()) or bool((gram.abs() > bound + slack).any()):
        raise ValueError("gram must hold inner products: |gram_ij|^2 <= gram_ii gram_jj")
    if bool(((gram - gram.mT).abs() > slack).any()):
        raise ValueError("gram must be symmetric")


def _layer(covariance: Tensor, phi: Activation, tangent: bool) -> tuple[Tensor, Tensor]:
    """Return ``E phi(u) phi(v)`` and ``E phi'(u) phi'(v)`` (zeros if not asked for)."""
    variances = covariance.diagonal(dim1=-2, dim2=-1)
    stds = variances.sqrt()
    scale = stds[..., :, None] * stds[..., None, :]
    rho = torch.where(scale > 0, covariance / scale.clamp(min=1e-300), 0.0).clamp(-1.0, 1.0)
    # parallel up to rounding is parallel: 1e-16 in rho would be 1e-8 in the slope of ReLU
    rho = torch.where(1 - rho.abs() <= PARALLEL, rho.sign(), rho)
    rho.diagonal(dim1=-2, dim2=-1).fill_(1.0)
    length = float(variances.mean())
    if length > 0 and bool(((variances - length).abs() <= 1e-13 * length).all()):
        gain = 1.0 if abs(length - 1) <= 1e-13 else math.sqrt(length)
        kernel = KernelMap(phi if gain == 1 else phi.gained(gain))
        slopes = kernel.derivative(rho) / length if tangent else torch.zeros_like(rho)
        moments = kernel(rho)
    elif _is_homogeneous(phi):
        kernel = KernelMap(phi)
        slopes = kernel.derivative(rho) if tangent else torch.zeros_like(rho)
        moments = scale * kernel(rho)
    else:
        moments = _pairwise(phi, phi, stds, rho)
        slopes = _pairwise(phi, phi.derivative, stds, rho) if tangent else torch.zeros_like(rho)
    if not bool(torch.isfinite(slopes).all()):
        raise ValueError(f"{phi.name} has jumps: its tangent kernel is infinite on the diagonal")
    return moments, slopes


def _is_homogeneous(phi: Activation) -> bool:
    """Tell whether ``phi(a x) = a phi(x)`` for positive a: correlations do not see lengths."""
    if phi.kernel is None or phi.shift:
        return False
    form = phi.kernel(phi.gain)
    return isinstance(form, Hinge) and form.threshold == 0


def _pairwise(phi: Activation, f: Callable[[Tensor], Tensor], stds: Tensor, rho: Tensor) -> Tensor:
    """Return ``E f(u) f(v)`` for all pairs, each once, where ``f`` is ``phi`` or its derivative."""
    rows, columns = torch.triu_indices(*rho.shape[-2:])
    upper = pair_moments(phi, f, stds[..., rows], stds[..., columns], rho[..., rows, columns])
    result = torch.empty_like(rho)
    result[..., rows, columns] = upper
    result[..., columns, rows] = upper
    return result
