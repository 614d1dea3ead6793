"""One rotation and one batch normalization: GRAD Theorem 6.3 and the moments behind it.

``eigenvalues`` ``(..., d)`` are those of ``X X^T`` for ``X = BN(.)``: they sum to d.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop.theory._formula import formula

__all__ = ["grad_equation_c_35", "grad_equation_c_39", "grad_moments", "grad_theorem_6_3"]


@formula(eigenvalues=1)
def grad_theorem_6_3(eigenvalues: Any) -> Any:
    """GRAD Eq. 6.8: the factor ``1 / (1 - S / (2 d^2 (d + 2)))`` of the expected isometry.

    ``S = sum (lambda_k - 1)^2``. The mean isometry after a Haar rotation and batch normalization is
    at least the isometry before times this. Why it is right: (C.16) and (C.39).

    >>> round(float(grad_theorem_6_3([0.0, 2.0])), 6)  # 16/15
    1.066667
    """
    spread, d = _spread(eigenvalues)
    return 1 / (1 - spread / (2 * d**2 * (d + 2)))


@formula(eigenvalues=1)
def grad_equation_c_35(eigenvalues: Any, times: float = 1.0) -> Any:
    """GRAD (C.35): the bound ``1 - S / (2 d (d + 2) (d - 1))`` on the mean of ``a_i a_j``, i != j.

    ``a_i`` is the length of row i of ``W X`` for Haar W. ``times`` multiplies S.

    >>> float(grad_equation_c_35([0.5, 1.5]))  # S = 1/2
    0.96875
    """
    spread, d = _spread(eigenvalues)
    return 1 - times * spread / (2 * d * (d + 2) * (d - 1))


@formula(eigenvalues=1)
def grad_equation_c_39(eigenvalues: Any, times: float = 1.0) -> Any:
    """GRAD (C.39): the bound ``d^2 - S / (2 (d + 2))`` on the mean of ``(sum_i a_i)^2``.

    ``times`` multiplies S.

    >>> float(grad_equation_c_39([0.5, 1.5]))
    3.9375
    """
    spread, d = _spread(eigenvalues)
    return d**2 - times * spread / (2 * (d + 2))


@formula()
def grad_moments(d: int) -> tuple[float, float]:
    """GRAD (C.29), (C.31): ``E W_ik^2 W_jq^2`` and ``E W_ik^2 W_jk^2`` for i != j, k != q.

    W is Haar on O(d), d at least 2.

    >>> grad_moments(2)  # the means of cos^4 and of cos^2 sin^2
    (0.375, 0.125)
    """
    if d < 2:
        raise ValueError(f"d must be at least 2, got {d}")
    common = d * (d + 2) * (d - 1)
    return (d + 1) / common, (d - 1) / common


def _spread(eigenvalues: Any) -> tuple[Any, int]:
    """``S = sum (lambda_k - 1)^2`` and d."""
    values = np.asarray(eigenvalues, dtype=float)
    return np.sum((values - 1) ** 2, axis=-1), values.shape[-1]
