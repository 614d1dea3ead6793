"""How far the Gram matrix of one layer of finite width is from its mean (MF App. B.1).

Inequalities that hold "up to an absolute constant" return their right side with constant 1.
Numpy arrays broadcast; ``width`` is d, ``batch`` is n.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop._arrays import Numbers
from signalprop.theory._formula import formula

__all__ = [
    "mf_equation_b_13",
    "mf_equation_b_14",
    "mf_lemma_b_1",
    "mf_lemma_b_2",
    "mf_linear_moments",
]


@formula()
def mf_lemma_b_1(width: Numbers, batch: Numbers, growth: Numbers) -> Any:
    """MF Lemma B.1: the scale ``eps = B n / sqrt(d)`` of ``|C_d - C|_F``, B = ``growth``.

    >>> float(mf_lemma_b_1(width=100, batch=5, growth=1.0))
    0.5
    """
    return growth * batch / np.sqrt(width)


@formula()
def mf_lemma_b_2(width: Numbers, batch: Numbers, growth: Numbers, inverse_norm: Numbers) -> Any:
    """MF Lemma B.2: the scale ``eps = B |C^-1| n / sqrt(d)`` of ``|C^-1 C_d - I|_F``.

    The print has ``|C^-1|_n``: the n has slipped, as the proof (B replaced by ``|C^-1| B``) shows.

    >>> float(mf_lemma_b_2(width=100, batch=5, growth=1.0, inverse_norm=2.0))
    1.0
    """
    return mf_lemma_b_1(width, batch, growth) * inverse_norm


@formula()
def mf_equation_b_13(t: Numbers, width: Numbers, batch: Numbers, growth: Numbers) -> Any:
    """MF Eq. B.13: ``P(|C_d - C|_F >= t) <= this``, B = ``growth``; the fraction of B.11, reduced.

    Bernstein's bound for averages of d numbers of mean zero within ``2 B n``, but for its factor 2.

    >>> round(float(mf_equation_b_13(t=4.0, width=10, batch=2, growth=1.0)), 4)
    0.0235
    """
    room = np.multiply(batch, growth)
    return np.exp(-width * np.square(t) / (8 * room**2 * (1 + t / (6 * room))))


@formula()
def mf_equation_b_14(t: Numbers, width: Numbers) -> Any:
    """MF Eq. B.14 as printed: ``P(|C_d - C|_F >= t sqrt(8) B n / sqrt(d)) <= this``.

    The change of variable in B.13 gives ``sqrt(2) t / (3 sqrt(d))`` where the print has
    ``t / (3 sqrt(2) d)``: smaller, so that the printed bound is the stronger one.

    >>> round(float(mf_equation_b_14(t=1.0, width=100)), 4)
    0.3687
    """
    return np.exp(-(np.asarray(t) ** 2) / (1 + t / (3 * np.sqrt(2) * width)))


@formula()
def mf_linear_moments(trace_square: float, square_trace: float, width: int, depth: int) -> Any:
    """Exact ``(E tr G_l^2, E (tr G_l)^2)`` of the linear chain without BN, layers 0 to ``depth``.

    ``G_l = h_l^T h_l / d``, ``h_{l+1} = W_l h_l``, W of variance 1/d (the other curve of MF-F3.1).
    Given G, the next one is Wishart of d degrees of freedom and mean G, which gives
    ``s' = (1 + 1/d) s + t/d``, ``t' = t + 2 s/d`` (Isserlis). As ``E G_l = G_0``, the mean square
    distance is ``E |G_l - G_0|_F^2 = s_l - s_0``. Shape (depth + 1, 2).

    >>> mf_linear_moments(2.0, 4.0, width=4, depth=1)
    array([[2. , 4. ],
           [3.5, 5. ]])
    """
    step = np.array([[1 + 1 / width, 1 / width], [2 / width, 1.0]])
    moments = [np.array([trace_square, square_trace])]
    for _ in range(depth):
        moments.append(step @ moments[-1])
    return np.stack(moments)
