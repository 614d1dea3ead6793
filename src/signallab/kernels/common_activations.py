"""The activations in use: in which case of KER Theorem 5.11 each is, and how fast it goes there.

Two numbers of an activation ``phi`` decide: ``kappa(0) = (E phi)^2 / E phi^2``, the share of the
mean, and ``kappa'(1) = E phi'^2 / E phi^2``, where expectations are over a standard Gaussian
variable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import integrate, stats

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop.activations import Activation
from signalprop.random import Stream

__all__ = [
    "CONDITIONS",
    "PRINTED",
    "REPAIRED",
    "correlations",
    "distance_against_bound",
    "from_coefficients",
    "labelled",
    "moments",
    "summary",
]

A = sp.activations

#: The case printed above each panel of KER Figure 5.2, and the one that its numbers give.
PRINTED: Mapping[str, int] = {"tanh": 1, "ReLU": 2, "exp": 3, "GELU": 4}
REPAIRED: Mapping[str, int] = {**PRINTED, "ReLU": 3}

#: What makes a case, in formulas.
CONDITIONS: Mapping[int, str] = {
    1: r"$\kappa(0) = 0$",
    2: r"$\kappa(0) > 0$ and $\kappa'(1) < 1$",
    3: r"$\kappa(0) > 0$ and $\kappa'(1) = 1$",
    4: r"$\kappa(0) > 0$ and $\kappa'(1) > 1$",
}
SPEEDS = {
    "geometric": "{:.4f} a layer",
    "power": "as depth to the power −{:g}",
    "superlinear": "power {:g} a layer",
}
ROUNDING = 1e-14  # below it a distance to the fixed point is rounding


def moments(phi: Activation) -> tuple[float, float]:
    """Return ``kappa(0)`` and ``kappa'(1)`` by adaptive quadrature of the three expectations.

    It knows nothing of kernel maps, closed forms or Hermite polynomials. Not for a jump, where
    ``kappa'(1)`` is infinite.
    """

    def mean(f: Any) -> float:
        edges = [-12.0, *(b for b in sorted(phi.kinks) if abs(b) < 12), 0.0, 12.0]
        edges = sorted(set(edges))
        parts = [
            integrate.quad(lambda x: f(x) * stats.norm.pdf(x), a, b, epsabs=1e-14, limit=200)[0]
            for a, b in pairwise(edges)
        ]
        return float(sum(parts))

    square = mean(lambda x: float(phi(x)) ** 2)
    slope = mean(lambda x: float(phi.derivative(x)) ** 2)
    return mean(lambda x: float(phi(x))) ** 2 / square, slope / square


def labelled(case: Mapping[str, int], activations: Mapping[str, Activation]) -> Any:
    """The statement "activation ``name`` is in ``case[name]``", as a function of the name."""

    def statement(name: str) -> Case:
        at_zero, at_one = moments(activations[name])
        found = theory.ker_theorem_5_11_case(at_zero, at_one)
        words = f"{name}: $\\kappa(0) = {at_zero:.4g}$, $\\kappa'(1) = {at_one:.12g}$; the case is"
        return Case(float(found), float(case[name]), words=words)

    return statement


def from_coefficients(phi: Activation, count: int) -> tuple[float, float]:
    """Return ``kappa(0)`` and ``kappa'(1)`` from the first ``count`` coefficients, renormalized.

    This is how the author's later public code computes them, with 25 coefficients.
    """
    weights = sp.KernelMap(phi.normalized()).hermite_coefficients(count - 1) ** 2
    weights /= weights.sum()
    return float(weights[0]), float(weights @ np.arange(count))


def summary(name: str, phi: Activation) -> dict[str, Any]:
    """Return a row of the table of activations: the numbers that decide, and what they decide."""
    kernel = sp.KernelMap(phi.normalized())
    point, rate = kernel.fixed_point(), kernel.rate()
    slope = float(point.multiplier)
    at_zero, at_one = float(kernel(0.0)), float(kernel.derivative(1.0))
    case = theory.ker_theorem_5_11_case(at_zero, at_one)
    return {
        "activation": name,
        "κ(0)": at_zero if case > 1 else 0.0,
        "κ′(1)": at_one,
        "case": case,
        "angle in the end, °": float(np.degrees(np.arccos(point.value))),
        "speed": SPEEDS[rate.kind].format(rate.value),
        "proven rate": 1 / (2 - slope) if point.value < 1 else slope,
    }


def distance_against_bound(bound: Literal["printed", "repaired"], depth: int) -> Any:
    """The statement "``|rho_l - rho*|`` stays below the bound", as a function of phi and start.

    The bounds are those of KER Theorem 5.11; in cases 1 and 4 the printed ones are too small, and
    the repaired ones are those of the chapter on the two rates.
    """

    def statement(phi: Activation, rho0: float) -> Case:
        kernel = sp.KernelMap(phi.normalized())
        right = _bound(kernel, rho0, np.arange(depth + 1), bound)
        left = np.asarray(kernel.approach(rho0, depth))
        seen = left > ROUNDING
        return Case(left[seen], right[seen], words=f"{phi.name} from {rho0:g}")

    return statement


def _bound(kernel: sp.KernelMap, rho0: float, layers: Any, kind: str) -> Any:
    point = kernel.fixed_point()
    at_zero, at_one = float(kernel(0.0)), float(kernel.derivative(1.0))
    value, slope = float(point.value), float(point.multiplier)
    case = theory.ker_theorem_5_11_case(at_zero, at_one)
    if case == 2:
        return theory.ker_theorem_5_11_2(rho0, layers, slope)
    if case == 3:
        at = float(kernel.derivative(0.0))
        return theory.ker_theorem_5_11_3(rho0, layers, at_zero, at)
    if kind == "repaired":
        return theory.ker_theorem_5_11_4_repaired(rho0, layers, value, slope)
    if case == 1:
        potential = theory.ker_theorem_5_11_1(rho0, layers, at_one)
        return potential / (1 + potential)  # what |rho| / (1 - |rho|) <= potential says of |rho|
    return theory.ker_theorem_5_11_4(rho0, layers, at_zero, value, slope)


def correlations(
    activations: Mapping[str, Activation],
    width: int,
    depth: int,
    runs: int,
    stream: Stream,
    layers: Sequence[int],
    device: str = "cpu",
) -> pd.DataFrame:
    """Return layer, and by activation the mean cosine of two inputs, 0.5 at the input.

    Networks have that activation after every product and no normalization.
    """
    columns: dict[str, Any] = {"layer": list(layers)}
    for name, phi in activations.items():
        net = sp.Chain(width, layers=[phi])
        start = sp.inputs.with_correlation(0.5)
        path = net.run(start, depth, runs, stream.child(name), device=device)
        mean = path.measure(sp.cosine_similarity).mean()[:, 0, 1]
        columns[name] = np.asarray(mean)[list(layers)]
    return pd.DataFrame(columns)
