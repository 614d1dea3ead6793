"""The chain of GRAD Eq. 6.3, ``X_{l+1} = BN(W_l X_l)`` with Haar weights, and what it starts from.

Matrices are ``(..., d, d)``: rows are features, columns samples. Spectra are the eigenvalues of
``X X^T``, scaled to sum to d.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special

from signallab.gradients.expected_isometry import gap, haar, unit_rows
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = ["Descent", "descent", "extreme", "gap_of", "threshold", "with_spectrum"]


@dataclass(frozen=True)
class Descent:
    """Isometry gaps ``psi(X_l)`` ``(runs, depth + 1)``, and log lengths of the rows of ``W_l X_l``.

    The lengths are ``(runs, depth, d)``.
    """

    gaps: Floats
    log_lengths: Floats

    @property
    def log_norms(self) -> Floats:
        """``log ||J_BN(H_l)||`` ``(runs, depth)``, minus the log of the least length (LC.16)."""
        norms: Floats = -self.log_lengths.min(axis=-1)
        return norms

    def hitting_times(self, level: float) -> Floats:
        """The first layer with ``psi(X_l) <= level`` ``(runs,)``; all runs have to get there.

        >>> Descent(np.array([[0.3, 0.2, 0.1]]), np.zeros((1, 2, 3))).hitting_times(0.2).tolist()
        [1.0]
        """
        if (late := self.gaps[:, -1] > level).any():
            raise ValueError(f"depth must let all runs reach {level:g}; {late.sum()} did not")
        times: Floats = np.argmax(self.gaps <= level, axis=1).astype(float)
        return times


def descent(
    x: Floats,
    depth: int,
    runs: int,
    stream: Stream,
    rotations: Callable[[int, int, Stream], Floats] = haar,
) -> Descent:
    """Run the chain from ``x`` ``(d, d)``, the same for all runs, or ``(runs, d, d)``.

    ``rotations(d, runs, stream)`` draws the weights of a layer.

    >>> path = descent(np.eye(3), 4, 2, Stream(0))
    >>> bool(np.allclose(path.gaps, 0)), path.log_lengths.shape
    (True, (2, 4, 3))
    """
    d = x.shape[-1]
    x = np.broadcast_to(x, (runs, d, d))
    gaps, lengths = [gap(x)], []
    for layer in range(depth):
        h = rotations(d, runs, stream.child("layer", layer)) @ x
        lengths.append(np.log(np.linalg.norm(h, axis=-1)))
        x = unit_rows(h)
        gaps.append(gap(x))
    return Descent(np.stack(gaps, axis=1), np.stack(lengths, axis=1))


def threshold(d: int) -> float:
    """Where the proofs change regime, ``1 / (16 d)``.

    >>> threshold(2)
    0.03125
    """
    return 1 / (16 * d)


def gap_of(eigenvalues: Any) -> float:
    """Return the isometry gap of a spectrum, the log of its arithmetic over its geometric mean.

    >>> round(gap_of([1.0, 4.0]), 6)  # log(5/4)
    0.223144
    """
    values = np.asarray(eigenvalues, dtype=float)
    return float(np.log(values.mean()) - np.log(values).mean())


def extreme(d: int, psi: float, up: bool = False) -> Floats:
    """Return the spectrum of gap ``psi`` whose smallest (``up``: largest) eigenvalue is extreme.

    Why it is right: for a given one eigenvalue the gap is least where all others are equal, and it
    grows as that eigenvalue moves away from 1. Sorted, largest first.

    >>> extreme(2, float(np.log(5 / 4))).round(6).tolist()
    [1.6, 0.4]
    """
    if d < 2 or not 0 < d * psi < 700:
        raise ValueError(f"d >= 2 and d psi in (0, 700) are needed, got d = {d}, psi = {psi}")

    def off(logit: float) -> float:
        # The one eigenvalue is d s, s = 1 / (1 + e^-logit): its logarithms do not cancel.
        one, rest = -np.logaddexp(0, -logit), -np.logaddexp(0, logit)
        log_one, log_rest = np.log(d) + one, np.log(d) - np.log(d - 1) + rest
        return float(-(log_one + (d - 1) * log_rest) / d - psi)

    flat = -np.log(d - 1)
    bracket = (flat, flat + 2 * d * (psi + 2)) if up else (flat - 2 * d * (psi + 2), flat)
    logit = optimize.brentq(off, *bracket, xtol=1e-14)
    values: Floats = np.full(d, d / (d - 1) * special.expit(-logit))
    values[0 if up else -1] = d * special.expit(logit)
    return values


def with_spectrum(eigenvalues: Any, stream: Stream) -> Floats:
    """Return ``X`` ``(d, d)`` with these eigenvalues of ``X X^T`` and Haar singular vectors.

    Eigenvalues below 1e-20 of the largest would drown in the rounding of X.

    >>> x = with_spectrum([1.5, 0.5], Stream(0))
    >>> np.linalg.eigvalsh(x @ x.T).round(12).tolist()
    [0.5, 1.5]
    """
    values = np.asarray(eigenvalues, dtype=float)
    if not values.min() > 1e-20 * values.max():
        raise ValueError(f"eigenvalues must exceed 1e-20 of the largest, got {values.min():.2g}")
    u, v = haar(len(values), 2, stream.child("singular vectors"))
    x: Floats = u * np.sqrt(values) @ v
    return x
