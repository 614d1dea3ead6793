"""How fast correlations converge if the activation has a mean (COND Appendix C.3).

``mean`` is the squared mean of the activation, the dual activation at 0, ``gap`` is 1 less its
smallest fixed point, and ``mu`` the coefficient of non-affinity unless a name says otherwise.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from signalprop._arrays import on_tensors
from signalprop.theory._formula import formula

__all__ = [
    "cond_lemma_35_l_0",
    "cond_lemma_35_sharper",
    "cond_lemma_36_l_0",
    "cond_lemma_36_sharper",
    "cond_until_positive",
]


def _whole(layers: torch.Tensor) -> torch.Tensor:
    """Round up, but not for a last digit: 1 / 0.4999999999999999 is 2 layers, not 3."""
    return torch.ceil(layers * (1 - 1e-12))


@formula()
@on_tensors("delta", "mu", "gap", "mean")
def cond_lemma_35_l_0(delta: Any, mu: Any, gap: Any, mean: Any) -> Any:
    """COND Lemma 35: ``max([log(gap / 2 delta) / log(1 + mu gap/2)], [1 / mean])``, rounded up.

    The layers that bring a start near 1 half way to the fixed point, or a negative one above 0. For
    a fixed point at 1 the first entry is no number, and only the second is taken.

    >>> cond_lemma_35_l_0(0.01, 1.0, 0.5, 0.25)    # log 25 / log 1.25 = 14.4
    np.float64(15.0)
    """
    first = torch.log(gap / (2 * delta)) / torch.log1p(mu * gap / 2)
    first = torch.where(gap > 0, torch.ceil(first), torch.zeros_like(first))
    return torch.maximum(first, _whole(1 / mean))


@formula()
@on_tensors("mean")
def cond_until_positive(mean: Any) -> Any:
    """Return the layers after which no start is negative: ``[log 2 / -log(1 - mean)]``, rounded up.

    Sharper than COND's ``[1 / mean]``, and never more than ``1 / mean``. Right because
    ``1 - s(rho) <= (1 - s(0)) (1 - rho)`` for negative rho.

    >>> cond_until_positive([0.5, 0.1])
    array([1., 7.])
    """
    return _whole(-math.log(2) / torch.log1p(-mean))


@formula()
@on_tensors("layers", "delta", "mu", "gap")
def cond_lemma_35_sharper(layers: Any, delta: Any, mu: Any, gap: Any) -> Any:
    """Return ``gap (gap/delta - 1) (1 + mu gap)^-L``, a bound of how far above the fixed point.

    Right because each layer divides ``(rho - p) / (1 - rho)`` by ``1 + mu gap`` at least, which
    follows from Lemma 32 alone. It is 0 if no start lies above.

    >>> cond_lemma_35_sharper(2, 0.25, 1.0, 0.5)
    np.float64(0.2222222222222222)
    """
    return gap * (gap / delta - 1).clamp(min=0) * (1 + mu * gap) ** (-layers)


@formula()
@on_tensors("eps", "mu", "mean")
def cond_lemma_36_l_0(eps: Any, mu: Any, mean: Any, share: float = 0.5) -> Any:
    """COND Lemma 36: ``max([log(2/eps) / -log(1 - share eps mu)], [1 / mean])``, rounded up.

    With ``share = 1/2`` as stated, and 1 in the proof. ``mu`` is printed, the coefficient
    ``1 - (E X phi)^2`` of Definition 2; the proof has that of non-affinity.

    >>> cond_lemma_36_l_0(0.25, 1.0, 0.5)    # log 8 / -log(7/8) = 15.6
    np.float64(16.0)
    """
    first = torch.log(2 / eps) / -torch.log1p(-share * eps * mu)
    return torch.maximum(torch.ceil(first), _whole(1 / mean))


@formula()
def cond_lemma_36_sharper(layers: Any, mean: Any) -> Any:
    """Return ``1 / (mean L)``, which bounds ``1 - s^(L)(rho)`` in the critical case, from any rho.

    So ``L = 1 / (eps mean)`` layers do, without a logarithm. Right because a layer takes
    ``e = 1 - rho`` to ``e - mean e^2`` at most for ``e <= 1``, which adds ``mean`` to ``1/e``; and
    to ``(1 - mean) e`` at most beyond.

    >>> cond_lemma_36_sharper(10, 0.5)
    0.2
    """
    return 1 / (mean * layers)
