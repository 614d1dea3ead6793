"""What all chapters on conditioning share: activations, sets of inputs, kernel matrices.

Activations are *normalized* in COND's sense (Eq. 2): mean 0 and second moment 1 under N(0, 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import signalprop as sp
from signalprop._arrays import Floats
from signalprop.activations import Activation

__all__ = ["ACTIVATIONS", "GRAMS", "directions", "equicorrelated", "excess", "fan", "off_diagonal"]

A = sp.activations

#: Normalized activations by their names in words: those of COND's table, then further ones.
ACTIVATIONS: Mapping[str, Activation] = {
    name: phi.standardized()
    for name, phi in {
        "second Hermite": A.hermite(2),
        "ReLU": A.relu,
        "step": A.step,
        "exponential": A.exp,
        "tanh": A.tanh,
        "erf": A.erf,
        "sine": A.sin,
        "SELU": A.selu,
        "NormReLU": A.norm_relu(),
    }.items()
}


def directions(n: int = 20, dimension: int = 10, seed: int = 0) -> Floats:
    """Return n fixed random unit vectors, ``(n, dimension)``: one set of inputs for all chapters.

    >>> bool(np.allclose((directions() ** 2).sum(1), 1))
    True
    """
    x = np.random.default_rng(seed).standard_normal((n, dimension))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def equicorrelated(n: int = 10, rho: float = 0.9) -> Floats:
    """Return the Gram matrix of n unit vectors with pairwise inner product ``rho``.

    >>> equicorrelated(2, 0.5)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    if n < 2 or not -1 / (n - 1) <= rho <= 1:
        raise ValueError(f"rho must lie in [-1/(n-1), 1] with n >= 2, got n = {n}, rho = {rho}")
    return (1 - rho) * np.eye(n) + rho


def fan(n: int = 12) -> Floats:
    """Return n unit vectors in the plane at the angles ``pi k / n``, ``(n, 2)``.

    >>> fan(2).round(12)
    array([[1., 0.],
           [0., 1.]])
    """
    angles = np.pi * np.arange(n) / n
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _gram(x: Floats) -> Floats:
    product = x @ x.T
    np.fill_diagonal(product, 1.0)
    return product


#: Gram matrices of the three sets, by their names in words.
GRAMS: Mapping[str, Floats] = {
    "20 random directions": _gram(directions()),
    "10 inputs of cosine 0.9": equicorrelated(),
    "a fan of 12": _gram(fan()),
}


def off_diagonal(gram: Floats, phi: Activation, depths: Sequence[int]) -> Floats:
    """Return ``Kbar - I``, the top-layer kernel without its diagonal: ``(len(depths), n, n)``.

    Without the diagonal a kernel near the identity keeps its digits.

    >>> off_diagonal(equicorrelated(2, 0.5), A.hermite(2), [0, 2])[:, 0]
    array([[0.    , 0.5   ],
           [0.    , 0.0625]])
    """
    rows, columns = np.triu_indices(len(gram), k=1)
    layers = list(depths)
    values = sp.KernelMap(phi).iterate(gram[rows, columns], layers[-1], layers)
    result = np.zeros((len(layers), *gram.shape))
    result[:, rows, columns] = np.asarray(values).T
    return result + result.swapaxes(-1, -2)


def excess(off: Floats) -> Floats:
    """Return ``kappa - 1`` of ``I + off`` ``(..., n, n)`` to relative accuracy.

    Infinite if that is singular. ``(h - l) / (1 + l)`` with the extreme eigenvalues h and l of
    ``off``. Divide a kernel matrix of constant diagonal by that diagonal first.

    >>> round(float(excess(np.array([[0.0, 1e-20], [1e-20, 0.0]]))) * 1e20, 12)
    2.0
    """
    values = np.linalg.eigvalsh(off)
    low, high = values[..., 0], values[..., -1]
    floor = 1 + low
    singular = floor <= off.shape[-1] * np.finfo(float).eps * (1 + high)
    return np.where(singular, np.inf, (high - low) / np.where(singular, 1, floor))
