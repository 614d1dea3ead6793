"""How fast norms come to 1 (COND Theorem 37), for activations that bend towards the axis.

The activation enters by its norm transfer ``sh_l(gamma) = E s(sqrt(gamma) X)^2``, which is
:class:`signalprop.LengthMap` of the activation with second moment 1.
"""

from __future__ import annotations

from typing import Any

import torch

from signalprop._arrays import on_tensors
from signalprop.theory._formula import formula

__all__ = ["cond_theorem_37", "cond_theorem_37_alpha"]


@formula()
@on_tensors("value", "slope")
def cond_theorem_37_alpha(value: Any, slope: Any, lower: float = 0.5) -> Any:
    """COND Theorem 37: the rate ``alpha``, from ``sh_l(lower)`` and the slope of ``sh_l`` at 1.

    With ``lower = 0.5`` it is the printed ``min(2 sh_l(0.5) - 1, 1 - sh_l'(1))``. For another lower
    end of the squared norms, which Remark 38 leaves open, 1 minus the slope of the chord from there
    to ``(1, 1)`` takes the place of the first entry.

    >>> cond_theorem_37_alpha(0.75, 0.25)
    np.float64(0.5)
    """
    if not 0 <= lower < 1:
        raise ValueError(f"lower must lie in [0, 1), got {lower}")
    return torch.minimum(1 - (1 - value) / (1 - lower), 1 - slope)


@formula()
@on_tensors("layers", "gamma", "alpha")
def cond_theorem_37(layers: Any, gamma: Any, alpha: Any) -> Any:
    """COND Theorem 37 mended: ``(1 - alpha)^L |gamma - 1|`` bounds the distance of norms from 1.

    Squared norms, from ``gamma`` on. Printed are a square on the left and one on the right.

    >>> cond_theorem_37([0, 1], 3.0, 0.5)
    array([2., 1.])
    """
    return (1 - alpha) ** layers * abs(gamma - 1)
