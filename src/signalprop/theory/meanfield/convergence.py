"""How near the Gram matrices of a deep chain are to their fixed point (MF Thm. 3.2, App. B).

Inequalities that hold "up to an absolute constant" return their right side with constant 1.
Numpy arrays broadcast; ``width`` is d, ``batch`` is n, ``alpha`` the mixing rate of Assumption 3.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop._arrays import Numbers
from signalprop.theory._formula import formula

__all__ = [
    "mf_equation_3_8",
    "mf_equation_3_9",
    "mf_lemma_3_3",
    "mf_lemma_b_3",
    "mf_lemma_b_4",
    "mf_lemma_b_5",
    "mf_lemma_b_7",
    "mf_theorem_3_2",
    "mf_theorem_b_6",
]


@formula()
def mf_theorem_3_2(
    width: Numbers, batch: Numbers, depth: Numbers, alpha: Numbers, condition: Numbers
) -> Any:
    """MF Theorem 3.2: bound of ``|G_l - G*|_F``, with ``condition`` = kappa(G*).

    >>> round(float(mf_theorem_3_2(width=1000, batch=10, depth=20, alpha=0.5, condition=1.0)), 4)
    0.9607
    """
    _check_alpha(alpha)
    noise = batch / np.sqrt(width) * np.sqrt(np.log(_more_wide_than_batch(width, batch)) / alpha)
    return condition * (np.subtract(1, alpha) ** (np.asarray(depth) / 2) + noise)


@formula()
def mf_equation_3_9(width: Numbers, batch: Numbers, depth: Numbers, alpha: Numbers) -> Any:
    """MF Eq. 3.9: the simplified law ``(1 - alpha)^(l/2) + n / sqrt(d)``, for bounded kappa(G*).

    >>> float(mf_equation_3_9(width=100, batch=1, depth=4, alpha=0.5))
    0.35
    """
    _check_alpha(alpha)
    return np.subtract(1, alpha) ** (np.asarray(depth) / 2) + batch / np.sqrt(width)


@formula()
def mf_lemma_3_3(width: Numbers, batch: Numbers, inverse_norm: Numbers) -> Any:
    """MF Lemma 3.3: bound of ``|T(muhat) - muhat|_tv``, with ``inverse_norm`` = ``|G*^-1|``.

    Lemma B.3, its restatement, has the square of ``inverse_norm`` where this has its first power.

    >>> round(float(mf_lemma_3_3(width=1000, batch=10, inverse_norm=1.0)), 4)
    0.4605
    """
    return inverse_norm * batch**2 / width * np.log(_more_wide_than_batch(width, batch))


@formula()
def mf_equation_3_8(step: Numbers, alpha: Numbers) -> Any:
    """MF Eq. 3.8: ``|muhat - mu*|_tv <= |T(muhat) - muhat|_tv / alpha``.

    >>> mf_equation_3_8(step=0.1, alpha=0.5)
    0.2
    """
    _check_alpha(alpha)
    return step / alpha


@formula()
def mf_lemma_b_3(epsilon: Numbers) -> Any:
    """MF Lemma B.3: ``eps^2 ln(1/eps)``, eps of Lemma B.2 for C = G*; infinite for eps >= 1.

    At ``eps >= 1`` the printed value is not positive, and the lemma says nothing.

    >>> round(float(mf_lemma_b_3(0.1)), 5), float(mf_lemma_b_3(2.0))
    (0.02303, inf)
    """
    if np.any(np.asarray(epsilon) <= 0):
        raise ValueError(f"epsilon must be positive, got {epsilon}")
    return np.where(np.asarray(epsilon) < 1, -np.square(epsilon) * np.log(epsilon), np.inf)[()]


@formula()
def mf_lemma_b_4(epsilon: Numbers, alpha: Numbers) -> Any:
    """MF Lemma B.4: bound of ``|muhat - mu*|_tv``.

    >>> round(float(mf_lemma_b_4(0.1, alpha=0.5)), 5)
    0.04605
    """
    return mf_equation_3_8(mf_lemma_b_3(epsilon), alpha)


@formula()
def mf_lemma_b_5(epsilon: Numbers, alpha: Numbers, depth: Numbers) -> Any:
    """MF Lemma B.5: bound of ``|mu_l - muhat|_tv``.

    >>> round(float(mf_lemma_b_5(0.1, alpha=0.5, depth=10)), 5)
    0.04703
    """
    return np.subtract(1, alpha) ** np.asarray(depth) + mf_lemma_b_4(epsilon, alpha)


@formula()
def mf_theorem_b_6(
    t: Numbers, depth: Numbers, alpha: Numbers, epsilon: Numbers, norm: Numbers
) -> Any:
    """MF Theorem B.6: bound of ``P(|G* - G|_F >= t)``, ``norm`` = ``|G*|``, eps with kappa(G*).

    >>> round(float(mf_theorem_b_6(t=1.0, depth=10, alpha=0.5, epsilon=0.1, norm=1.0)), 5)
    0.04703
    """
    tail = norm**2 * np.subtract(1, alpha) ** np.asarray(depth) + mf_lemma_b_4(epsilon, alpha)
    return tail / np.square(t)


@formula()
def mf_lemma_b_7(t: Numbers, probability: Numbers) -> Any:
    """MF Lemma B.7: lower bound of tv from ``probability`` = ``P(|G*^-1 G - I|_F^2 >= t)``.

    A total variation is at most 1: as printed it fails where ``t * probability`` exceeds 100.

    >>> float(mf_lemma_b_7(t=50.0, probability=1.0))
    0.5
    """
    return np.multiply(t, probability)[()] / 100


def _check_alpha(alpha: Numbers) -> None:
    if not np.all((np.asarray(alpha) > 0) & (np.asarray(alpha) <= 1)):
        raise ValueError(f"alpha must lie in (0, 1], got {alpha}")


def _more_wide_than_batch(width: Numbers, batch: Numbers) -> Any:
    ratio = np.divide(width, batch)
    if np.any(ratio < 1):
        raise ValueError(f"width must be at least batch for ln(d/n) >= 0, got {width} and {batch}")
    return ratio
