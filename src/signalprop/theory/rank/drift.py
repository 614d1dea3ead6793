"""How one linear layer with batch normalization moves ``||M||_F^2``: RANK Lemma 12 and around it.

``M = H H^T / N`` is the matrix of second moments, with ones on its diagonal. A layer maps H to
``(I + gamma W) H``, the entries of W uniform on ``[-sqrt 3, sqrt 3]``, and scales each row back.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from signalprop._arrays import Floats, on_tensors
from signalprop.theory._formula import formula

__all__ = [
    "expected_frobenius",
    "rank_example_14",
    "rank_lemma_12",
    "rank_proposition_13",
]


@formula(m=2)
@on_tensors("m")
def rank_lemma_12(m: Any) -> Any:
    """RANK Eq. 48: the drift ``delta_F(M) = 2d^2 - 2|M|^2 - 8 tr M^3 + 8 tr diag(M^2)^2``.

    ``(...)`` for ``(..., d, d)``. In the mean ``||M||_F^2`` grows by ``gamma^2 delta_F(M)``, to
    leading order in gamma.

    >>> import numpy as np
    >>> float(rank_lemma_12(np.eye(3))), float(rank_lemma_12(np.ones((3, 3))))
    (12.0, 0.0)
    """
    square = m @ m
    norm = square.diagonal(dim1=-2, dim2=-1)
    cube = (square * m).sum((-2, -1))
    return 2 * m.shape[-1] ** 2 - 2 * norm.sum(-1) - 8 * cube + 8 * norm.square().sum(-1)


@formula(eigenvalues=1)
@on_tensors("eigenvalues")
def rank_proposition_13(eigenvalues: Any) -> Any:
    """RANK Eq. 50: the drift by the eigenvalues of M, ``(..., d)``, if its rows have equal norms.

    ``2d^2 - 2|l|_2^2 - 8|l|_3^3 + 8|l|_2^4 / d``: with the square inside the trace, as in Eq. 82.

    >>> float(rank_proposition_13([3.0, 0.0, 0.0]))
    0.0
    """
    d = eigenvalues.shape[-1]
    second = eigenvalues.square().sum(-1)
    return 2 * d**2 - 2 * second - 8 * (eigenvalues**3).sum(-1) + 8 * second.square() / d


@formula()
def rank_example_14(d: int) -> float:
    """RANK Example 14: the change of ``||M||_F^2`` over ``gamma^4``, to leading order in gamma.

    For ``M = gamma^2 I + (1 - gamma^2) 1 1^T`` it is ``-4 d (d - 1) (2 d - 1)``, of order ``d^3``;
    the document has an order of ``d^2``.

    >>> rank_example_14(4)
    -336.0
    """
    return -4.0 * d * (d - 1) * (2 * d - 1)


@formula(m=2)
def expected_frobenius(m: Floats, gamma: float, nodes: int = 6) -> float:
    """Return the mean of ``||M_+||_F^2`` over the weights of one layer, for one M ``(d, d)``.

    By Gauss and Legendre's cubature with ``nodes`` points a weight, exact to the order
    ``2 nodes - 1`` in gamma: for small d, since ``nodes^d`` points are taken. Needs
    ``gamma < 1 / (sqrt 3 d)``, where no row can vanish.

    Why it is right: entry ij of ``M_+`` is the cosine, in the metric M, of the rows
    ``a_i = e_i + gamma w_i`` of ``I + gamma W``. Rows are independent, so the mean of its square is
    ``tr(P_i P_j)`` with ``P_i`` the mean projection on ``M^{1/2} a_i``: d integrals over one row
    each instead of one over all of W.

    >>> import numpy as np
    >>> round(expected_frobenius(np.ones((3, 3)), 0.1), 12)      # rank one stays
    9.0
    >>> round((expected_frobenius(np.eye(3), 0.01) - 3) / 0.01**2, 1)
    12.0
    """
    d = len(m)
    if not 0 <= gamma < 1 / (math.sqrt(3) * d):
        raise ValueError(f"gamma must lie in [0, 1/(sqrt(3) d) = {3**-0.5 / d:.3g}), got {gamma}")
    points, weights = np.polynomial.legendre.leggauss(nodes)
    grid = np.sqrt(3) * np.stack(np.meshgrid(*[points] * d, indexing="ij"), -1).reshape(-1, d)
    mass = np.stack(np.meshgrid(*[weights / 2] * d, indexing="ij"), -1).reshape(-1, d).prod(-1)
    values, vectors = np.linalg.eigh(m)
    root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    projections = []
    for unit in np.eye(d):
        row = (unit + gamma * grid) @ root
        projections.append((row * (mass / (row**2).sum(-1))[:, None]).T @ row)
    whole = np.sum(projections, axis=0)
    return float(d + (whole**2).sum() - np.sum(np.square(projections)))
