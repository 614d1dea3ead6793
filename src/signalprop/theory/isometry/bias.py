"""How much isometry gains when the samples are normalized: ISO Theorem 4.3, its proof, Cor. 4.5.

``norms`` are the lengths of the samples, ``(..., n)``. With D their diagonal matrix ``G = D G~ D``,
where ``G~`` is the Gram matrix of the directions. So ``det G = det G~ prod(norms)^2`` and the gain
``I(G~) / I(G)`` depends on the lengths alone.
"""

from __future__ import annotations

from typing import Any

import torch

from signalprop._arrays import on_tensors
from signalprop.theory._formula import formula

__all__ = [
    "iso_corollary_4_5",
    "iso_equation_4_6",
    "iso_figure_4_1",
    "iso_normalization_gain",
    "iso_recentring_gain",
    "iso_theorem_4_3",
]


@formula(norms=1)
@on_tensors("norms")
def iso_theorem_4_3(norms: Any) -> Any:
    """ISO Eq. 4.3: the factor ``1 + var(a) / mean(a)^2`` by which isometry grows at least.

    It is the square of quadratic over arithmetic mean of the lengths.

    >>> float(iso_theorem_4_3([1.0, 3.0]))
    1.25
    """
    _check(norms)
    mean = norms.mean(-1, keepdim=True)
    return 1 + ((norms - mean) / mean).square().mean(-1)


@formula(norms=1)
@on_tensors("norms")
def iso_normalization_gain(norms: Any) -> Any:
    """Return ``I(G~) / I(G)`` of independent samples: ``mean(a^2) / prod(a)^(2/n)``.

    It is the square of quadratic over geometric mean of the lengths, and so 1 for equal lengths
    only.

    >>> round(float(iso_normalization_gain([1.0, 3.0])), 6)  # 5 / 3
    1.666667
    """
    _check(norms)
    return norms.square().mean(-1) * (-2 * norms.log().mean(-1)).exp()


@formula(norms=1)
@on_tensors("norms")
def iso_equation_4_6(norms: Any, d: int) -> Any:
    """ISO Eq. 4.6 as printed, with ``1/d`` where the line before has ``1/n``.

    >>> round(float(iso_equation_4_6([1.0, 3.0], d=4)), 6)  # half of 5 / 3
    0.833333
    """
    return iso_normalization_gain(norms) * (norms.shape[-1] / d)


@formula(norms=1)
@on_tensors("norms")
def iso_corollary_4_5(norms: Any, n: int) -> Any:
    """ISO Corollary 4.5 as printed: the factor with ``sum(a) / n`` for the mean of the d ``norms``.

    The norms ``(..., d)`` are those of the features over a batch of ``n`` samples.

    >>> float(iso_corollary_4_5([1.0, 1.0], n=4))
    2.0
    """
    _check(norms)
    center = norms.sum(-1, keepdim=True) / n
    return 1 + ((norms - center) / center).square().mean(-1)


@formula(x=2)
@on_tensors("x")
def iso_recentring_gain(x: Any) -> Any:
    """Return ``I(G') / I(G)`` for ``(..., n, d)``, G' the Gram matrix of the recentred samples.

    Recentring takes from each sample the mean m of its coordinates, and ``d m m^T`` from the Gram
    matrix. So the determinant shrinks by ``1 - d m^T G^-1 m`` (matrix determinant lemma), the trace
    by ``1 - d |m|^2 / tr G``. The samples must be linearly independent.

    >>> round(float(iso_recentring_gain([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])), 6)  # √(1/3) / (2/3)
    0.866025
    """
    d = x.shape[-1]
    gram = x @ x.transpose(-1, -2)
    means = x.mean(-1, keepdim=True)
    inner = (means * torch.linalg.solve(gram, means)).sum((-2, -1))
    trace = gram.diagonal(dim1=-2, dim2=-1).sum(-1)
    volume = (1 - d * inner).clamp_min(0) ** (1 / x.shape[-2])
    return volume / (1 - d * means.square().sum((-2, -1)) / trace)


@formula()
@on_tensors("a", "b", "angle")
def iso_figure_4_1(a: Any, b: Any, angle: Any) -> Any:
    """ISO Section 4.1: ``a b sin(angle) / (a^2 + b^2)``, volume over scale of two vectors.

    It is half of their isometry.

    >>> float(iso_figure_4_1(1.0, 1.0, 3.141592653589793 / 2))
    0.5
    """
    return a * b * angle.sin() / (a.square() + b.square())


def _check(norms: torch.Tensor) -> None:
    if norms.ndim == 0 or norms.shape[-1] == 0 or not bool((norms > 0).all()):
        raise ValueError(f"norms must be positive lengths (..., n), got {norms.tolist()!r:.80}")
