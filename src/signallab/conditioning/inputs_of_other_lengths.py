"""Norms of representations, layer by layer (COND Appendix D.1 and D.4), in the limit of width.

All activations here have second moment 1 under N(0, 1), so that 1 is a fixed point of the norms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.limits.quadrature import gaussian_expectation

__all__ = [
    "COVERED",
    "NAMED",
    "SMOOTH",
    "alphas",
    "bounded_rates",
    "by_weight_variance",
    "concave_and_rising",
    "decrease",
    "derivatives",
    "distances",
    "hypotheses",
    "iterated",
    "leaning_erf",
    "rate",
    "shifted_relu",
    "signs_in_the_proof",
    "stays_away",
    "transfers",
]

A = sp.activations
FLOOR = 1e-13  # what rounding leaves of a distance from 1


def _leaning(x: Tensor, slope: float) -> Tensor:
    return slope * x + torch.erf(x)


def leaning_erf(slope: float) -> Activation:
    """Return ``slope x + erf(x)``: odd, increasing, concave on the right, and without a bound.

    >>> leaning_erf(0.5)(2.0).round(6)
    np.float64(1.995322)
    """
    return Activation(f"{slope:g} x + erf", lambda x: _leaning(x, slope))


def shifted_relu(shift: float) -> Activation:
    """Return ``max(x, 0) - shift`` with second moment 1: COND Appendix D.4 has the shift 1.

    >>> round(float(shifted_relu(1.0).second_moment), 12)
    1.0
    """
    return Activation(f"max(x, 0) − {shift:g}", lambda x: F.relu(x) - shift, (0.0,)).normalized()


#: Twice differentiable, as Theorem 37 and Lemma 39 ask for.
SMOOTH: Mapping[str, Activation] = {
    "tanh": A.tanh,
    "erf": A.erf,
    "arctan": Activation("arctan", torch.atan),
    "asinh": Activation("asinh", torch.asinh),
    "x/3 + erf": leaning_erf(1 / 3),
}
#: With a kink or a bend at 0, for which the result "will hold" too (Appendix D.4).
KINKED: Mapping[str, Activation] = {
    "softsign": Activation("softsign", F.softsign, (0.0,)),
    "SELU": A.selu,
    "ReLU": A.relu,
    "leaky ReLU": A.leaky_relu(0.1),
}
#: All that the conditions of Theorem 37 cover here, divided by their root mean square.
COVERED: Mapping[str, Activation] = {
    name: phi.normalized() for name, phi in {**SMOOTH, **KINKED}.items()
}
#: Those that Appendix D.4 names, as functions: nothing subtracted, nothing divided.
NAMED: Mapping[str, Activation] = {
    **{name: KINKED[name] for name in ("ReLU", "leaky ReLU", "SELU")},
    "sigmoid": A.sigmoid,
    **{name: SMOOTH[name] for name in ("tanh", "arctan")},
}


def rate(phi: Activation, lower: float = 0.5) -> float:
    """Return the rate of COND Theorem 37 for squared norms from ``lower`` on.

    >>> round(rate(COVERED["erf"]), 4)
    0.4351
    """
    lengths = sp.LengthMap(phi)
    return float(
        theory.cond_theorem_37_alpha(float(lengths(lower)), float(lengths.derivative(1.0)), lower)
    )


def alphas(members: Mapping[str, Activation] = COVERED) -> pd.DataFrame:
    """Return the two entries of the minimum in COND Theorem 37, and the coefficient mu.

    >>> alphas({"ReLU": COVERED["ReLU"]}).iloc[0, 1:].astype(float).abs().round(9).tolist()
    [0.0, 0.0]
    """
    rows = []
    for name, phi in members.items():
        lengths = sp.LengthMap(phi)
        below, above = 2 * float(lengths(0.5)) - 1, 1 - float(lengths.derivative(1.0))
        rows.append({"activation": name, "rate below 1": below, "rate above 1": above})
    return pd.DataFrame(rows)


def iterated(
    name: str,
    starts: Sequence[float],
    depth: int,
    *,
    lower: float = 0.5,
    rate_from: float | None = None,
    factor: float = 1.0,
    squares: tuple[int, int] = (1, 1),
) -> Case:
    """COND Theorem 37: distances of squared norms from 1, through ``depth`` layers, and the bound.

    ``squares`` are the exponents of the squared norm on the left and of the bracket on the right:
    (2, 2) is the print. The rate is that of squared norms from ``rate_from`` (else ``lower``) on,
    times ``factor``.

    >>> case = iterated("erf", [0.5], 1)
    >>> bool(np.isclose(case.left[0, 1], case.right[0, 1]))    # sharp in the first layer
    True
    """
    phi, start = COVERED[name], np.asarray(starts, dtype=float)
    alpha = factor * rate(phi, lower if rate_from is None else rate_from)
    path = np.asarray(sp.LengthMap(phi).iterate(start, depth))
    left = np.abs(path ** squares[0] - 1)
    bracket = np.abs(start - 1)[:, None] ** squares[1]
    layers = np.arange(depth + 1)
    right = bracket * theory.cond_theorem_37(layers, 2.0, np.minimum(alpha, 1)) + FLOOR
    shape = hypotheses(name, phi)
    stated = {
        f"squared norm ≥ {lower:g}": bool((start >= lower).all()),
        "second moment 1": abs(phi.second_moment - 1) < 1e-12,
        "0 at 0, increasing, bends towards the axis": bool((shape.left <= shape.right).all()),
    }
    return Case(left, right, stated, words=name)


def distances(
    name: str, starts: Sequence[float], depth: int, members: Mapping[str, Activation] = COVERED
) -> pd.DataFrame:
    """Return ``|gamma_l - 1|`` and the bound of COND Theorem 37, a row a start and layer.

    >>> distances("erf", [2.0], 1).round(3).values.tolist()
    [['from 2', 0, 1.0, 1.0], ['from 2', 1, 0.271, 0.565]]
    """
    phi = members[name]
    path = np.abs(np.asarray(sp.LengthMap(phi).iterate(np.asarray(starts), depth)) - 1)
    layers = np.arange(depth + 1)
    parts = [
        {
            "start": f"from {start:g}",
            "layer": layers,
            "distance": row,
            "bound": theory.cond_theorem_37(layers, start, rate(phi)),
        }
        for start, row in zip(starts, path, strict=True)
    ]
    return pd.concat([pd.DataFrame(part) for part in parts], ignore_index=True)


def bounded_rates(name: str, members: Mapping[str, Activation] = COVERED) -> Case:
    """COND Remark 38: ``alpha`` lies in [0, 1], as ``1 - alpha <= 1`` and ``alpha <= 1``.

    >>> bounded_rates("ReLU").left.round(9)
    array([1., 0.])
    """
    alpha = rate(members[name])
    return Case(np.array([1 - alpha, alpha]), np.ones(2), words=name)


def concave_and_rising(name: str, members: Mapping[str, Activation] = COVERED) -> Case:
    """COND Lemma 39: the norm transfer on (0, 8], its steps and bends signed to be at most 0.

    >>> case = concave_and_rising("erf")
    >>> bool((case.left <= case.right).all())
    True
    """
    gamma = np.linspace(0.02, 8, 400)
    values = np.asarray(sp.LengthMap(members[name])(gamma))
    left = np.concatenate([-np.diff(values), np.diff(values, 2)])
    return Case(left, np.full(left.shape, FLOOR), words=name)


def derivatives(name: str, gamma: float, terms: tuple[float, float, float] = (1, 1, -1)) -> Case:
    """First and second derivative of the norm transfer: COND's displays, and differences of it.

    ``left`` holds ``E s s' z / sqrt(gamma)`` and the three terms of the second derivative, the
    first ``E s'^2 z^2 / (2 gamma)``, the second ``E s s'' z^2 / (2 gamma)``, the third
    ``E s s' z / (2 gamma^(3/2))``, with the factors ``terms``. ``right`` are central differences
    of the norm transfer, of order four.

    >>> case = derivatives("erf", 1.0)
    >>> bool(np.allclose(case.left, case.right, rtol=1e-7))
    True
    """
    phi, root = COVERED[name], math.sqrt(gamma)

    def bent(x: Tensor) -> Tensor:
        second: Tensor = torch.func.jvp(phi.derivative, (x,), (torch.ones_like(x),))[1]
        return second

    slope = gaussian_expectation(lambda z: phi(root * z) * phi.derivative(root * z) * z)
    first = gaussian_expectation(lambda z: (phi.derivative(root * z) * z) ** 2) / (2 * gamma)
    second = gaussian_expectation(lambda z: phi(root * z) * bent(root * z) * z**2) / (2 * gamma)
    third = slope / (2 * gamma**1.5)
    found = [slope / root, terms[0] * first + terms[1] * second + terms[2] * third]
    h = 0.01 * gamma
    values = np.asarray(sp.LengthMap(phi)(gamma + h * np.arange(-2, 3)))
    differences = [
        values @ [1, -8, 0, 8, -1] / (12 * h),
        values @ [-1, 16, -30, 16, -1] / 12 / h**2,
    ]
    return Case(np.array(found), np.array(differences), words=f"{name}, γ = {gamma:g}")


def signs_in_the_proof(name: str, sign: int = 1) -> Case:
    """COND, proof of Lemma 39: ``s'(z)^2 z^2 - s(z) s'(z) z``, said to be at most 0 for all z.

    ``sign = -1`` is what the proof announces, at least 0.

    >>> bool((signs_in_the_proof("tanh").left <= 1e-12).all())
    True
    """
    phi, z = COVERED[name], np.linspace(-6, 6, 1201)
    slope = np.asarray(phi.derivative(z))
    values = sign * z * slope * (z * slope - np.asarray(phi(z)))
    return Case(values, np.full(values.shape, FLOOR), words=name)


def hypotheses(name: str, phi: Activation) -> Case:
    """Conditions of COND Theorem 37 on an activation, each as a number that is to be at most 0.

    Value at 0 in size; steps down; bends up on the right, bends down on the left. Entries in this
    order, on a grid of [-6, 6]; ``right`` is what rounding leaves.

    >>> case = hypotheses("sigmoid", A.sigmoid)
    >>> (case.left > case.right).tolist()
    [True, False, False, False]
    """
    x = np.linspace(0, 6, 601)
    right, left = np.asarray(phi(x)), np.asarray(phi(-x))
    worst = [
        abs(float(phi(0.0))),
        max(float(-np.diff(right).min()), float(np.diff(left).max())),
        float(np.diff(right, 2).max()),
        float(-np.diff(left, 2).min()),
    ]
    return Case(np.array(worst), np.full(4, FLOOR), words=name)


def transfers(members: Mapping[str, Activation], gamma: Floats) -> pd.DataFrame:
    """Return norm transfers on a grid: columns activation, squared norm, squared norm after.

    >>> transfers({"ReLU": COVERED["ReLU"]}, np.array([2.0]))["one layer later"].round(9).tolist()
    [2.0]
    """
    parts = [
        {
            "activation": name,
            "squared norm": gamma,
            "one layer later": np.asarray(sp.LengthMap(phi)(gamma)),
        }
        for name, phi in members.items()
    ]
    return pd.concat([pd.DataFrame(part) for part in parts], ignore_index=True)


def stays_away(start: float, shift: float, depth: int, distance: float = 0.1) -> Case:
    """Whether squared norms of ``max(x, 0) - shift`` end ``distance`` away from 1, or farther.

    With ``m = 1/sqrt(2 pi)`` and the second moment ``S = 1/2 - 2 m shift + shift^2`` a layer is
    ``(gamma/2 - 2 m shift sqrt(gamma) + shift^2) / S``. What grows beyond 1e12 is left there.

    >>> case = stays_away(2.0, 1.0, 50)
    >>> round(float(case.right), 9)
    0.0
    """
    m = 1 / math.sqrt(2 * math.pi)
    second = 0.5 - 2 * m * shift + shift**2
    gamma = start
    for _ in range(depth):
        gamma = min((gamma / 2 - 2 * m * shift * math.sqrt(gamma) + shift**2) / second, 1e12)
    return Case(distance, abs(gamma - 1), words=f"start {start:g}, shift {shift:g}")


def decrease(gamma: float, phi: Activation) -> Case:
    """Whether the norm transfer falls from ``gamma`` to 1.01 gamma: left after, right before.

    >>> case = decrease(0.1, shifted_relu(1.0))
    >>> bool(case.left < case.right)
    True
    """
    before, after = np.asarray(sp.LengthMap(phi)(np.array([gamma, 1.01 * gamma])))
    return Case(float(after), float(before) * (1 - 1e-6), words=f"{phi.name} at γ = {gamma:g}")


def by_weight_variance(
    variances: Sequence[float], starts: Sequence[float], depth: int, shift: float = 1.0
) -> pd.DataFrame:
    """Return squared norms after ``depth`` layers of ``max(x, 0) - shift``, not normalized.

    A row for each variance of the weights (times the width), a column for each start.

    >>> by_weight_variance([1.0], [1.0], 1).round(3).values.tolist()
    [[1.0, 0.702]]
    """
    phi = Activation(f"max(x, 0) − {shift:g}", lambda x: F.relu(x) - shift, (0.0,))
    rows = []
    for variance in variances:
        path = np.asarray(sp.LengthMap(phi, variance).iterate(np.asarray(starts), depth))
        ends = {f"from {s:g}": end for s, end in zip(starts, path[:, -1], strict=True)}
        rows.append({"weight variance": variance, **ends})
    return pd.DataFrame(rows)
