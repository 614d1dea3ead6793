"""NormReLU in closed form: COND Eq. 4 and the displays of its Appendix I.1.

``c`` is the kink, ``gamma`` the variance of the input; both may be arrays that broadcast. All
follows from ``E (sX - c)_+ = s p(u) - c P(X > u)`` with ``u = c/s`` and the Gaussian density p.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from signalprop._arrays import on_tensors
from signalprop.limits.quadrature import density
from signalprop.theory._formula import formula

__all__ = [
    "C",
    "cond_equation_4_scale",
    "cond_equation_4_shift",
    "cond_norm_relu_bias",
    "cond_norm_relu_length",
    "cond_norm_relu_length_slope",
    "cond_norm_relu_mean",
]

#: The kink of NormReLU without a subscript.
C = -1.5975


@formula()
@on_tensors("c")
def cond_equation_4_shift(c: Any) -> Any:
    """COND Eq. 4: ``b(c) = (1 - Phi(c)) c - p(c)``, minus the mean of ``max(X - c, 0)``.

    >>> round(float(cond_equation_4_shift(C)), 4)
    -1.6209
    """
    return _above(c) * c - density(c)


@formula()
@on_tensors("c")
def cond_equation_4_scale(c: Any) -> Any:
    """COND Eq. 4: ``lambda(c)``, the inverse standard deviation of ``max(X - c, 0)``.

    >>> round(float(cond_equation_4_scale(C)), 4)
    1.05
    """
    above, at = _above(c), density(c)
    variance = above * (1 - above) * c**2 + (2 * above - 1) * at * c + above - at**2
    return variance**-0.5


@formula()
@on_tensors("gamma", "c")
def cond_norm_relu_mean(gamma: Any, c: Any = C) -> Any:
    """COND App. I.1: ``a_0`` at variance gamma, the mean of NormReLU of ``N(0, gamma)``.

    >>> cond_norm_relu_mean([0.5, 1.0, 2.0]).round(4)
    array([-0.0215,  0.    ,  0.0715])
    """
    gamma, c = _pair(gamma, c)
    root = gamma.sqrt()
    mean = root * density(c / root) - _above(c / root) * c
    return cond_equation_4_scale(c) * (mean + cond_equation_4_shift(c))


@formula()
@on_tensors("gamma", "c")
def cond_norm_relu_length(gamma: Any, c: Any = C) -> Any:
    """COND App. I.1: ``sh_l(gamma)``, the mean square of NormReLU of ``N(0, gamma)``.

    >>> cond_norm_relu_length([0.5, 1.0, 2.0]).round(4)
    array([0.54  , 1.    , 1.7546])
    """
    gamma, c = _pair(gamma, c)
    root, b = gamma.sqrt(), cond_equation_4_shift(c)
    inside = (c**2 + gamma - 2 * c * b) * _above(c / root)
    edge = (2 * b - c) * root * density(c / root)
    return cond_equation_4_scale(c) ** 2 * (inside + edge + b**2)


@formula()
@on_tensors("gamma", "c")
def cond_norm_relu_length_slope(gamma: Any, c: Any = C) -> Any:
    """COND App. I.1: the derivative of ``sh_l`` in gamma.

    >>> cond_norm_relu_length_slope(1.0).round(4)
    np.float64(0.8428)
    """
    gamma, c = _pair(gamma, c)
    root = gamma.sqrt()
    edge = cond_equation_4_shift(c) / root * density(c / root)
    return cond_equation_4_scale(c) ** 2 * (_above(c / root) + edge)


@formula()
@on_tensors("gamma", "c")
def cond_norm_relu_bias(gamma: Any, c: Any = C) -> Any:
    """COND App. I.1: ``bias(gamma)``, the share of the squared mean in the mean square.

    >>> cond_norm_relu_bias([0.5, 1.0, 2.0]).round(6)
    array([0.000855, 0.      , 0.002916])
    """
    mean = cond_norm_relu_mean(gamma, c)
    return mean**2 / cond_norm_relu_length(gamma, c)


def _above(u: Tensor) -> Tensor:
    """``P(X > u)``, to relative accuracy far to the right too."""
    result: Tensor = torch.special.ndtr(-u)
    return result


def _pair(gamma: Tensor, c: Any) -> tuple[Tensor, Tensor]:
    if not bool((gamma > 0).all()):
        raise ValueError(f"gamma must be positive, got {gamma.tolist()!r:.80}")
    return gamma, torch.as_tensor(c, dtype=gamma.dtype)
