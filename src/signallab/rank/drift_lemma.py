"""How one layer moves the Frobenius norm of M: RANK Lemma 12, Proposition 13 and Example 14."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy
import torch
from torch.autograd import functional

from signallab.case import Case
from signalprop import theory, weights
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "NODES",
    "by_eigenvalues",
    "correlations",
    "display_78",
    "equal_rows",
    "errors",
    "falls",
    "first_order",
    "leading_eigenvalue",
    "nearly_rank_one",
    "order",
    "remainder",
    "simulated",
    "square_outside",
]

Drift = Callable[[Any], Any]

#: Points a weight of the cubature, by width: about 1e5 points or fewer in all.
NODES: Mapping[int, int] = {2: 20, 3: 12, 4: 8, 5: 7, 6: 5, 7: 4, 8: 3}

FLOOR = 0.03  # of the largest remainder of a width


def correlations(d: int, stream: Stream) -> dict[str, Floats]:
    """Return M ``(d, d)`` with unit diagonals by name: at random, deficient, near rank one.

    >>> {name: m.shape for name, m in correlations(3, Stream(0)).items()}["of rank 2"]
    (3, 3)
    """
    draw = stream.numpy("correlations", d)

    def gram(samples: int) -> Floats:
        rows = draw.normal(size=(d, samples))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        product: Floats = rows @ rows.T
        return product

    return {
        "the identity": np.eye(d),
        "random, d samples": gram(d),
        "random, 3 d samples": gram(3 * d),
        "of rank 2": gram(2),
        "cosines of 0.9": 0.1 * np.eye(d) + 0.9 * np.ones((d, d)),
    }


def remainder(m: Floats, gamma: float, drift: Drift = theory.rank_lemma_12) -> float:
    """Return ``(E|M_+|^2 - |M|^2) / gamma^2 - delta_F(M)``, the O(gamma) of RANK Eq. 48, exactly.

    >>> abs(remainder(np.eye(3), 0.01)) < 0.01
    True
    """
    moved = theory.expected_frobenius(m, gamma, NODES[len(m)]) - float((m**2).sum())
    return moved / gamma**2 - float(drift(m))


def errors(d: int, gammas: Floats, stream: Stream, drift: Drift = theory.rank_lemma_12) -> Any:
    """Return the size of the remainder by matrix and gamma, as a frame.

    >>> len(errors(2, np.array([0.1, 0.2]), Stream(0)))
    10
    """
    return pd.DataFrame(
        {"matrix": name, "gamma": g, "remainder": abs(remainder(m, g, drift))}
        for name, m in correlations(d, stream).items()
        for g in gammas
    )


def order(
    d: int,
    stream: Stream,
    claimed: float = 1.0,
    drift: Drift = theory.rank_lemma_12,
    floor: float = FLOOR,
) -> Case:
    """The order in gamma of the remainder is at least as claimed: exponents over three halvings.

    One matrix in a few hundred has a second order that is nearly 0, and the fourth beside it bends
    the line. So a remainder counts as ``floor`` times the largest of the width at least: what is
    smaller does not speak against an upper bound. ``right`` has one exponent for each matrix.

    >>> order(3, Stream(0)).right.round(1)
    array([2., 2., 2., 2., 2.])
    """
    gammas = 0.05 / np.sqrt(d) / 2.0 ** np.arange(4)
    found = errors(d, gammas, stream, drift)
    sizes = found.pivot(index="gamma", columns="matrix", values="remainder")
    counted = np.maximum(sizes.to_numpy(), floor * sizes.max(axis=1).to_numpy()[:, None])
    exponents = np.polyfit(np.log(sizes.index), np.log(counted), 1)[0]
    return Case(np.full(len(exponents), claimed), exponents, words=f"d = {d}")


def simulated(m: Floats, gamma: float, pairs: int, stream: Stream) -> Floats:
    """Return ``(|M_+|^2 - |M|^2) / gamma^2`` of ``pairs`` draws, each the mean over W and -W.

    >>> simulated(np.ones((3, 3)), 0.01, 4, Stream(0)).round(6).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    d = len(m)
    values = np.zeros(pairs)
    for at, generator in enumerate(stream.runs(pairs)):
        w = weights.uniform().sample(d, d, [generator])[0].numpy()
        for sign in (1, -1):
            a = np.eye(d) + sign * gamma * w
            moved = a @ m @ a.T
            norms = np.sqrt(moved.diagonal())
            values[at] += ((moved / norms / norms[:, None]) ** 2).sum() / 2
    drift: Floats = (values - (m**2).sum()) / gamma**2
    return drift


def display_78(
    m: Floats, words: str = "", printed: tuple[float, float, float] = (1, -8, 4)
) -> Case:
    """RANK Eqs. 74 and 78 for all i != j, over gamma^2, beside Taylor's formula by differentiation.

    The expectations of Eq. 76 come from the coefficients of ``W M + M W^T``, which is linear in W,
    and the derivatives of Eq. 77 from automatic differentiation. ``printed`` are the three factors
    of Eq. 78. The sum over all pairs is ``delta_F`` and stands last.

    >>> case = display_78(np.eye(2))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    d = len(m)
    basis = np.eye(d * d).reshape(d * d, d, d)  # the entries of W, one by one
    change = basis @ m + m @ basis.swapaxes(1, 2)
    plain, triple, quartic = printed
    square = m @ m
    taylor, claimed = [], []
    for i in range(d):
        for j in set(range(d)) - {i}:
            x = torch.tensor([m[i, i], m[i, j], m[j, j]], dtype=torch.float64)
            gradient, hessian = _derivatives(x)
            parts = np.stack([change[:, i, i], change[:, i, j], change[:, j, j]])
            mean = np.array([np.trace(m), 0.0, np.trace(m)])
            taylor.append(gradient @ mean + (hessian * (parts @ parts.T)).sum() / 2)
            claimed.append(
                -2 * d * m[i, j] ** 2
                + plain * (square[j, j] + square[i, i])
                + triple * m[i, j] * square[i, j]
                + quartic * m[i, j] ** 2 * (square[i, i] + square[j, j])
            )
    left = np.array([*taylor, sum(taylor)])
    return Case(left, np.array([*claimed, float(theory.rank_lemma_12(m))]), words=words)


def _derivatives(x: torch.Tensor) -> tuple[Floats, Floats]:
    """Gradient and Hessian of the squared cosine."""
    # torch.func would load torch's compiler
    gradient = functional.jacobian(_squared_cosine, x)  # type: ignore[no-untyped-call]
    hessian = functional.hessian(_squared_cosine, x)  # type: ignore[no-untyped-call]
    return gradient.numpy(), hessian.numpy()


def _squared_cosine(x: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = x[1] ** 2 / (x[0] * x[2])
    return result


def equal_rows(stream: Stream, count: int) -> dict[str, Floats]:
    """Return matrices M with a unit diagonal and rows of one norm: circulant, and of Hadamard kind.

    >>> m = equal_rows(Stream(0), 1)["circulant 0"]
    >>> bool(np.ptp((m**2).sum(axis=1)) < 1e-12)
    True
    """
    found = {}
    for run in range(count):
        draw = stream.numpy("equal rows", run)
        signs = scipy.linalg.circulant(draw.choice([-1.0, 1.0], size=draw.integers(3, 13)))
        found[f"circulant {run}"] = signs @ signs.T / len(signs)
        vectors = scipy.linalg.hadamard(8) / np.sqrt(8)
        values = draw.exponential(size=8) ** 2
        found[f"Hadamard {run}"] = vectors * (values / values.mean()) @ vectors.T
    return found


def by_eigenvalues(m: Floats, words: str = "", formula: Drift = theory.rank_proposition_13) -> Case:
    """RANK Eqs. 49 and 50 at a matrix M: drift and ``tr M^3``, by entries and by eigenvalues.

    >>> case = by_eigenvalues(np.ones((3, 3)))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    drift: Any = theory.rank_lemma_12(m)
    values = np.linalg.eigvalsh(m)
    left = np.array([float(drift), float(np.trace(m @ m @ m))])
    return Case(left, np.array([float(formula(values)), float((values**3).sum())]), words=words)


def square_outside(values: Floats) -> Floats:
    """Return Eq. 50 with the bracket of Eq. 49 as printed, ``(tr diag(M^2))^2 = |l|_2^4``.

    >>> round(float(square_outside(np.array([3.0, 0.0, 0.0]))), 9)
    432.0
    """
    d = values.shape[-1]
    second = (values**2).sum(-1)
    inside: Any = theory.rank_proposition_13(values)
    result: Floats = inside + 8 * second**2 * (1 - 1 / d)
    return result


def nearly_rank_one(d: int, gamma: float) -> Floats:
    """Return the M of RANK Example 14: ``gamma^2 I + (1 - gamma^2) 1 1^T``.

    It is the only one, up to signs of units: a unit diagonal and rows of one norm force the leading
    eigenvector to have entries of one modulus.

    >>> np.linalg.eigvalsh(nearly_rank_one(3, 0.5)).round(12).tolist()
    [0.25, 0.25, 2.5]
    """
    result: Floats = gamma**2 * np.eye(d) + (1 - gamma**2) * np.ones((d, d))
    return result


def falls(d: int, gamma: float, claimed: Callable[[int], float] = lambda d: d**2) -> Case:
    """RANK Example 14: ``claimed(d) gamma^4`` is at most the mean fall of ``|M|_F^2``.

    >>> case = falls(3, 0.01)
    >>> round(case.right / 0.01**4)
    120
    """
    m = nearly_rank_one(d, gamma)
    fall = float((m**2).sum()) - theory.expected_frobenius(m, gamma, NODES[d])
    return Case(claimed(d) * gamma**4, fall, words=f"d = {d}, gamma = {gamma:g}")


def first_order(d: int, step: float = 1e-4, factor: Callable[[int], float] = lambda d: 1) -> Case:
    """RANK Eq. 83: the coefficients of gamma^2 in ``|l|_2^2``, ``|l|_3^3`` and ``|l|_2^4``.

    Over d, ``d^2`` and ``d^3``, by central differences in gamma^2; printed are -2, -3 and -4, here
    times a ``factor``.

    >>> first_order(3).left.round(6)
    array([-4., -6., -8.])
    """

    def norms(x: float) -> Any:
        top = d - x * (d - 1)
        second = top**2 + (d - 1) * x**2
        return np.array([second, top**3 + (d - 1) * x**3, second**2])

    slope = (norms(step) - norms(-step)) / (2 * step) / float(d) ** np.array([1, 2, 3])
    return Case(slope, factor(d) * np.array([-2.0, -3.0, -4.0]), words=f"d = {d}")


def leading_eigenvalue(d: int, gamma: float, pairs: int, stream: Stream) -> Floats:
    """Return the fall of the leading eigenvalue in Example 14 over ``gamma^4``, a number a draw.

    Each is the mean over W and -W, which cancels what is odd in gamma.

    >>> leading_eigenvalue(2, 0.01, 3, Stream(0)).shape
    (3,)
    """
    m = nearly_rank_one(d, gamma)
    w = weights.uniform().sample(d, d, stream.runs(pairs)).numpy()
    fall = np.zeros(pairs)
    for sign in (1, -1):
        a = np.eye(d) + sign * gamma * w
        moved = a @ m @ a.swapaxes(1, 2)
        norms = np.sqrt(np.einsum("kii->ki", moved))
        values = np.linalg.eigvalsh(moved / norms[:, None] / norms[..., None])
        fall += (d - gamma**2 * (d - 1) - values[:, -1]) / 2
    return fall / gamma**4
