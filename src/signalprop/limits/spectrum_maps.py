"""The linear chain with batch normalization (not centred) at infinite width, as a map of spectra.

A *spectrum* is the vector of squared singular values of a representation, ``(..., n)``,
non-negative with sum 1; the flat one, ``1/n`` each, is that of orthogonal samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signalprop._arrays import Floats, as_tensor

__all__ = [
    "expected_spectrum",
    "infinite_width_path",
]

STEP = 0.25  # of the trapezoidal rule in log theta; its error is about exp(-pi^2 / STEP) = 1e-17


def expected_spectrum(spectrum: Any) -> Floats:
    """Return ``p_i = E[s_i w_i^2 / sum_k s_k w_k^2]``, w standard Gaussian: ORTH Eq. 13.

    It is the diagonal of the mean of ``H^T H`` one layer on, in the singular basis. Shape
    ``(..., n)`` in and out.

    Why it is right: ``p_i = s_i int_0^inf (1 + 2 t s_i)^{-1} prod_k (1 + 2 t s_k)^{-1/2} dt`` (ORTH
    Eq. 15). In ``log t`` the integrand is analytic and decays exponentially both ways in a strip
    of half-width pi, and does not grow there with n up to pi/2, so that the trapezoidal rule is
    exact to rounding.

    >>> expected_spectrum([0.5, 0.5])
    array([0.5, 0.5])
    >>> expected_spectrum([0.9, 0.1])  # sqrt(s_i) / (sqrt(s_1) + sqrt(s_2)) for n = 2
    array([0.75, 0.25])
    """
    s = _shares(spectrum)
    if s.shape[-1] == 1:
        return np.ones_like(s)
    smallest = np.min(s, where=s > 0, initial=1.0)
    t = np.exp(np.arange(-40, 80 - np.log(smallest), STEP))
    factors = 1 + 2 * t * s[..., None]  # (..., n, points)
    shared = t * np.exp(-0.5 * np.log(factors).sum(axis=-2, keepdims=True))
    shares: Floats = s * (shared / factors).sum(axis=-1) * STEP
    return shares


def infinite_width_path(spectrum: Any, depth: int) -> Floats:
    """Return the spectra of layers ``0..depth`` at infinite width, ``(depth + 1, ..., n)``.

    At infinite width ``H^T H`` equals its conditional mean, since its variance is at most 1/d (ORTH
    Lemma 6): a layer applies :func:`expected_spectrum`.

    >>> infinite_width_path([0.9, 0.1], 2)[:, 1].round(4)
    array([0.1  , 0.25 , 0.366])
    """
    if depth < 0:
        raise ValueError(f"depth must not be negative, got {depth}")
    path = [_shares(spectrum)]
    for _ in range(depth):
        path.append(expected_spectrum(path[-1]))
    return np.stack(path)


def _shares(spectrum: Any) -> Floats:
    s: Floats = as_tensor(spectrum, "spectrum").detach().cpu().double().numpy()
    total = s.sum(axis=-1, keepdims=True) if s.ndim else np.zeros(1)
    if not np.all(s >= 0) or not np.all(total > 0) or not np.isfinite(total).all():
        raise ValueError(
            "spectrum must be non-negative with a positive and finite sum along its last axis"
        )
    shares: Floats = s / total
    return shares
