"""The coefficient of non-linearity (COND Definition 2 and Appendix C.4)."""

from __future__ import annotations

from typing import Any

import torch

from signalprop._arrays import on_tensors
from signalprop.theory._formula import formula
from signalprop.theory.conditioning.shifted_relu import cond_equation_4_scale

__all__ = ["cond_mu", "cond_norm_relu_mu"]


@formula()
def cond_mu(slope_at_zero: Any, at_zero: Any = 0.0, at_one: Any = 1.0) -> Any:
    """Return ``1 - s'(0) / (s(1) - s(0))`` of the dual activation s (COND Appendix C.4).

    That is ``1 - a_1^2 / sum_{i>=1} a_i^2``, the mean square distance of the normalized activation
    from the best straight line; with the defaults that of an activation which is normalized.

    >>> import math
    >>> round(cond_mu(math.e, math.e, math.e**2), 6)    # of exp: (e - 2) / (e - 1)
    0.418023
    """
    return 1 - slope_at_zero / (at_one - at_zero)


@formula()
@on_tensors("c")
def cond_norm_relu_mu(c: Any) -> Any:
    """Return ``1 - lambda(c)^2 (1 - Phi(c))^2``, of NormReLU_c (COND Appendix C.4).

    Right because ``E X max(X - c, 0) = P(X > c)``, by Stein's lemma.

    >>> cond_norm_relu_mu([-1.5975, 0.0]).round(4)
    array([0.0156, 0.2665])
    """
    return 1 - (cond_equation_4_scale(c) * torch.special.ndtr(-c)) ** 2
