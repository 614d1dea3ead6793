"""Gram maps of layers that act on a whole batch: one normalized by simulation, one recentred."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from signalprop._arrays import on_tensors
from signalprop.random import Stream, as_stream

__all__ = ["gram_map", "gram_path", "recentred_gram_map"]

ASYMMETRY = 1e-6  # what rounding to float32 may do to a Gram matrix, relative to its largest entry
FLAT = 1e-12  # variance over the batch, relative to the largest entry, that is only rounding


@on_tensors("gram")
def gram_map(
    gram: Tensor, phi: Callable[[Tensor], Tensor], samples: int = 200_000, seed: int | Stream = 0
) -> tuple[Tensor, Tensor]:
    """Return the next Gram matrix of MF Eq. 3.3 and the standard errors of its entries.

    ``gram`` is (..., n, n), symmetric and positive semi-definite (singular is fine), n >= 2. The
    mean runs over ``samples`` Gaussian vectors ``h ~ N(0, gram)``, batch-normalized, in float64;
    all leading dimensions share their normals, so that differences between neighbouring matrices
    are sharp.

    >>> import numpy as np
    >>> mean, error = gram_map(np.eye(3), torch.relu)
    >>> bool(abs(mean[0, 0] - 0.5) < 5 * error[0, 0])
    True
    """
    root = _root(gram.to(torch.float64))
    if samples < 2:
        raise ValueError(f"samples must be at least 2 for a standard error, got {samples}")
    generator = as_stream(seed).numpy("gram_map")
    normals = torch.from_numpy(generator.standard_normal((samples, gram.shape[-1]))).to(root)
    h = normals @ root
    centred = h - h.mean(dim=-1, keepdim=True)
    y = phi(centred / centred.square().mean(dim=-1, keepdim=True).sqrt())
    mean = y.mT @ y / samples
    variance = (y.square().mT @ y.square() / samples - mean.square()).clamp(min=0)
    return mean, (variance / (samples - 1)).sqrt()


@on_tensors("gram")
def gram_path(
    gram: Tensor,
    phi: Callable[[Tensor], Tensor],
    depth: int,
    samples: int = 200_000,
    seed: int | Stream = 0,
) -> Tensor:
    """Return the Gram matrices of layers 0 to ``depth``, shape (depth + 1, ..., n, n).

    Every layer is a :func:`gram_map` with draws of its own; the sampling errors of the layers
    are of the order ``samples**-0.5`` each and add up where the map does not contract.

    >>> import numpy as np
    >>> gram_path(np.eye(3), torch.tanh, depth=4, samples=1000).shape
    (5, 3, 3)
    """
    if depth < 0:
        raise ValueError(f"depth must not be negative, got {depth}")
    path = [gram.to(torch.float64)]
    for layer in range(depth):
        path.append(gram_map(path[-1], phi, samples, as_stream(seed).child(layer))[0])
    return torch.stack(path)


@on_tensors("gram")
def recentred_gram_map(gram: Tensor, kernel: Callable[[Tensor], Tensor]) -> Tensor:
    """Return the next Gram matrix ``(..., n, n)`` of recentring and a homogeneous activation.

    ``kernel`` is the kernel map of an activation with ``phi(c x) = c phi(x)`` for c > 0 (ReLU, say)
    as a function of correlations. A point at the mean is sent to zero.

    Why it is right: recentring makes ``C = H G H`` of G, ``H = I - 11^T/n``; lengths factor out of
    a homogeneous activation, so that the next matrix is the kernel map of the cosines of C times
    its norms.

    >>> import numpy as np
    >>> recentred_gram_map(np.eye(2), lambda rho: rho)  # the identity has this kernel map
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    if gram.ndim < 2 or gram.shape[-1] != gram.shape[-2] or not gram.shape[-1]:
        raise ValueError(f"gram must be (..., n, n) with n >= 1, got shape {tuple(gram.shape)}")
    centred = gram - gram.mean(dim=-1, keepdim=True)
    centred = centred - centred.mean(dim=-2, keepdim=True)
    lengths = centred.diagonal(dim1=-2, dim2=-1).clamp(min=0).sqrt()
    if bool((lengths.amax(dim=-1) == 0).any()):
        raise ValueError("gram must have points that differ: recentring sends all of them to zero")
    norms = lengths.unsqueeze(-1) * lengths.unsqueeze(-2)
    cosines = torch.where(norms > 0, centred / torch.where(norms > 0, norms, 1), 0)
    return norms * kernel(cosines.clamp(-1, 1))


def _root(gram: Tensor) -> Tensor:
    """Return the symmetric root of a Gram matrix that batch normalization can be applied to."""
    if gram.ndim < 2 or gram.shape[-1] != gram.shape[-2] or gram.shape[-1] < 2:
        raise ValueError(f"gram must be (..., n, n) with n >= 2, got shape {tuple(gram.shape)}")
    largest = gram.diagonal(dim1=-2, dim2=-1).amax(dim=-1)
    if bool(((gram - gram.mT).abs().amax(dim=(-2, -1)) > ASYMMETRY * largest).any()):
        raise ValueError("gram must be symmetric")
    values, vectors = torch.linalg.eigh(gram)
    if bool((values[..., 0] < -ASYMMETRY * largest).any()):
        raise ValueError(f"gram must be positive semi-definite, got {float(values.min()):.3g}")
    centred = gram.diagonal(dim1=-2, dim2=-1).mean(dim=-1) - gram.mean(dim=(-2, -1))
    if bool((centred <= FLAT * largest).any()):
        raise ValueError("gram must have points that differ: batch normalization divides by zero")
    root: Tensor = vectors * values.clamp(min=0).sqrt().unsqueeze(-2) @ vectors.mT
    return root
