"""One neuron per data point (DEC, Discussion)."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import linprog

from signalprop._arrays import on_tensors

__all__ = ["isolable", "one_neuron_per_point"]


@on_tensors("x")
def one_neuron_per_point(
    x: torch.Tensor, unit_response: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weight ``(..., n, d)`` and bias ``(..., n)`` of ReLU neurons that fire for one sample.

    For samples ``x`` ``(..., n, d)`` of one norm, ``w_i = x_i`` and ``b_i = -(|x_i|^2 + max_{j !=
    i} x_i . x_j) / 2``, so that ``relu(x W^T + b)`` is diagonal. DEC proposes such an
    initialization without saying how; this is one way. With ``unit_response`` neuron and bias are
    rescaled so that each fires with 1.

    Why it is right: of equal-norm vectors ``x_i`` has the largest product with itself; the
    threshold lies half-way to the next, so the own response is positive and all others are
    negative.

    Samples of unequal norms, of which one has not the largest product with itself, or of which two
    coincide, raise a ``ValueError`` (centre and normalize them; `isolable` tells what is possible
    at all).

    >>> x = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> w, b = one_neuron_per_point(x)
    >>> np.maximum(x @ w.T + b, 0)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    if x.ndim < 2 or x.shape[-2] < 2:
        raise ValueError(f"x must be (..., n, d) with n >= 2, got shape {tuple(x.shape)}")
    products = x @ x.mT
    if not bool(torch.isfinite(products).all()):
        raise ValueError("x has products that are not finite: scale x down first")
    own = products.diagonal(dim1=-2, dim2=-1)
    others = products - torch.diag_embed(torch.full_like(own, torch.inf))
    nearest = others.amax(-1)
    response = (own - nearest) / 2
    bad = response <= 8 * torch.finfo(x.dtype).eps * own
    if bool(bad.any()):
        raise ValueError(
            f"x has {int(bad.sum())} samples whose own product is not the largest: "
            "they must be distinct and of one norm"
        )
    size = response if unit_response else torch.ones_like(response)
    return x / size[..., None], -(own + nearest) / 2 / size


@on_tensors("x")
def isolable(x: torch.Tensor) -> torch.Tensor:
    """Return for each sample of ``x`` ``(n, d)`` whether any half-space holds it and no other one.

    Decided by a linear program for each sample: is there w with ``w . (x_i - x_j) >= 1`` for all
    j? That is, is ``x_i`` a corner of the convex hull and no other sample in the same place.

    >>> isolable([[0.0], [1.0], [2.0]])
    array([ True, False,  True])
    """
    if x.ndim != 2 or x.shape[0] < 2:
        raise ValueError(f"x must be (n, d) with n >= 2, got shape {tuple(x.shape)}")
    samples = x.detach().cpu().to(torch.float64).numpy()
    found = [_separable(np.delete(samples, i, 0) - sample) for i, sample in enumerate(samples)]
    return torch.tensor(found, device=x.device)


def _separable(differences: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bool:
    n, d = differences.shape
    scale = np.abs(differences).max()
    if scale == 0:
        return False
    bounds = (None, None)
    result = linprog(np.zeros(d), differences / scale, -np.ones(n), bounds=bounds, method="highs")
    return bool(result.status == 0)
