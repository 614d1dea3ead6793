"""Activations without a mean: KER Theorem 5.8, Remark 5.9, Corollary 5.10 and Figure 5.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.kernels import large_mean, one_rate_two_cases
from signallab.kernels.families import Bound, Trial, column
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.limits import quadrature

__all__ = [
    "ROWS",
    "bare",
    "bound_of_case",
    "corollary",
    "factor_of_a_layer",
    "finite_width",
    "nonlinear_part",
    "only_zero_attracts",
    "row",
    "slopes_at_zero",
]

A = sp.activations
INSIDE = np.concatenate([-np.linspace(0.002, 0.998, 499), np.linspace(0.002, 0.998, 499)])
STRICTLY = 1e-8  # by how much less than 1 counts as less, far more than rounding
JUMPS = {"sign": 2.0, "step": 1.0}  # at 0, of activations whose derivative does not tell

#: KER Figure 5.1 with polynomials of ours, weights ``c_0^2, c_1^2, ...``, one for each case.
ROWS: Mapping[int, list[float]] = {
    1: [0.0, 0.5, 0.0, 0.5],
    2: [0.5, 0.3, 0.2],
    3: [0.4, 0.3, 0.2, 0.1],
    4: [0.25, 0.25, 0.0, 0.5],
}


def slopes_at_zero(activations: Sequence[Activation]) -> pd.DataFrame:
    """Return ``kappa'(0) = c_1^2`` of standardized activations, computed in three ways.

    From the map; from the Hermite coefficient ``E phi(X) X``; and as ``(E phi')^2``, with a jump of
    height h at 0 adding ``h / sqrt(2 pi)`` to the mean.

    >>> slopes_at_zero([A.sign]).iloc[0, 1:].astype(float).round(9).tolist()    # 2/pi
    [0.636619772, 0.636619772, 0.636619772]
    """
    rows = []
    for phi in activations:
        standard = phi.standardized()
        k = sp.KernelMap(standard)
        mean = quadrature.gaussian_expectation(standard.derivative, standard.kinks)
        mean += JUMPS.get(phi.name, 0.0) * standard.scale / np.sqrt(2 * np.pi)
        rows.append(
            {
                "activation": phi.name,
                "slope of the map": float(k.derivative(0.0)),
                "Hermite coefficient, squared": float(k.hermite_coefficients(1)[1] ** 2),
                "mean of the derivative, squared": float(mean**2),
            }
        )
    return pd.DataFrame(rows)


def only_zero_attracts(
    name: str, kernel: sp.KernelMap, *, nonlinear: bool = True, by: float = STRICTLY
) -> Case:
    """KER Theorem 5.8, last sentence: nothing in (-1, 1) but 0 is fixed, and 1 and -1 repel.

    ``left`` is the largest ``|kappa(rho)|/|rho|`` over 998 points, and ``1/kappa'(1)``; both are
    to be less than 1. The first says that every cosine moves towards 0, so that nothing else is
    fixed; the second that 1 repels. -1 is fixed only by odd maps, which repel there as at 1.
    ``nonlinear`` adds the hypothesis that the print omits. ``by`` is how much less is claimed.

    >>> only_zero_attracts("square", sp.KernelMap.from_series([0, 0, 1.0])).left
    array([0.998, 0.5  ])
    """
    rho = INSIDE.reshape(-1, *[1] * np.ndim(kernel(0.0)))
    shrinkage = float(np.max(np.abs(kernel(rho) / rho)))
    escape = float(np.max(1 / np.asarray(kernel.derivative(1.0))))
    hypotheses = {
        "κ(0) = 0": bool(np.all(np.abs(kernel(0.0)) < 1e-12)),
        "κ(1) = 1": bool(np.all(np.abs(np.asarray(kernel(1.0)) - 1) < 1e-12)),
    }
    if nonlinear:
        hypotheses["not linear"] = bool(np.all(np.asarray(kernel.nonlinearity) > 0))
    right = np.full(2, 1 - by)
    return Case(np.array([shrinkage, escape]), right, hypotheses, words=name)


def factor_of_a_layer(members: Mapping[str, sp.KernelMap], points: int = 400) -> pd.DataFrame:
    """Return by which factor a layer multiplies the potential, for cosines in (0, 1).

    Columns: map, correlation, factor, and the rate of KER Theorem 5.8.

    >>> rows = factor_of_a_layer({"m": sp.KernelMap.from_series([0, 0.5, 0.5])}, 3)
    >>> rows["factor"].round(3).tolist()    # from 1/2, the slope at 0, to 2/3
    [0.5, 0.6, 0.667]
    """
    gap = 1 - np.linspace(1e-4, 1 - 1e-4, points)
    parts = []
    for name, k in members.items():
        after = np.asarray(k.complement(gap))
        factor = (1 - after) / after / ((1 - gap) / gap)
        rate = theory.ker_theorem_5_8_alpha(float(k.derivative(0.0)))
        parts.append(
            pd.DataFrame({"map": name, "correlation": 1 - gap, "factor": factor, "rate": rate})
        )
    return pd.concat(parts, ignore_index=True)


def bare(start: Any, layer: Any, k: sp.KernelMap) -> Any:
    """Return ``alpha^l |rho_0|``: KER Theorem 5.8 for the cosine in the place of the potential.

    >>> bare(0.5, np.array([0, 1]), sp.KernelMap.from_series([0, 0, 1.0]))
    array([0.5 , 0.25])
    """
    return abs(start) * theory.ker_theorem_5_8_alpha(column(k.derivative(0.0))) ** layer


def corollary(*, signed: bool = False, factor: float = 1.0, power: float = 1.0) -> Bound:
    """KER Corollary 5.10: ``|rho_0| / (1 - |rho_0|) alpha^l`` bounds ``|rho_l|``.

    As printed with ``signed``: ``rho_0`` above. The rate times ``factor``, or the denominator to
    another ``power``, are rivals.

    >>> square = sp.KernelMap.from_series([0, 0, 1.0])
    >>> float(corollary(signed=True)(-0.5, 1, square)[0]), float(corollary()(-0.5, 1, square)[0])
    (-0.5, 0.5)
    """

    def bound(start: Any, layer: Any, k: sp.KernelMap) -> Any:
        rate = factor * theory.ker_theorem_5_8_alpha(column(k.derivative(0.0)))
        above = start if signed else abs(start)
        return above / (1 - abs(start)) ** power * rate**layer

    return bound


def nonlinear_part(
    phi: Activation, *, at_one: bool = False, factor: float = 1.0, order: int = 60
) -> Case:
    """KER Remark 5.9: ``sum_{k>=2} c_k^2`` is at most ``1 - kappa'(0)``.

    If ``kappa'(0) = 1`` it is 0, and the activation linear. ``left`` comes from Hermite
    coefficients up to ``order``, ``right`` from the map. ``at_one`` is the print: ``kappa'(1)``
    equal to 1 is to force it to 0, so ``|kappa'(1) - 1|`` bounds it, up to a constant.

    >>> case = nonlinear_part(A.exp)
    >>> round(float(case.left), 6), round(float(case.right), 6)    # 1 - 2/e and 1 - 1/e
    (0.264241, 0.632121)
    """
    k = sp.KernelMap(phi.normalized())
    weights = np.asarray(k.hermite_coefficients(order)) ** 2
    right = abs(float(k.derivative(1.0)) - 1) if at_one else 1 - float(k.derivative(0.0))
    return Case(float(weights[2:].sum()), factor * right, words=phi.name)


def bound_of_case(case: int) -> Bound:
    """Return the bound of ``|rho_l - rho*|`` that holds in a case of KER Theorem 5.11.

    As printed in cases 2 and 3, repaired in 1 and 4.

    >>> bound_of_case(2)(0.5, np.array([1]), sp.KernelMap.from_series([0.5, 0.5]))
    array([0.25])
    """

    def critical(start: Any, layer: Any, k: sp.KernelMap) -> Any:
        return theory.ker_theorem_5_11_3(
            start, layer, column(k(0.0)), column(np.asarray(k.derivative(0.0)))
        )

    repaired = one_rate_two_cases.repaired()
    bounds = {1: one_rate_two_cases.repaired_1, 2: large_mean.geometric(), 3: critical, 4: repaired}
    return bounds[case]


def row(case: int, start: float, depth: int, *, bound: Bound | None = None) -> Case:
    """Follow one row of :data:`ROWS`, and compare with the bound of its case, or another.

    Distances to the fixed point that the case has: 0 in case 1, 1 in cases 2 and 3, and in case 4
    the root of the polynomial inside (0, 1).

    >>> round(row(2, -0.8, 1).left, 6)    # 1 - 0.5 + 0.24 - 0.128
    0.612
    """
    kernel = sp.KernelMap(A.Activation.from_hermite(list(np.sqrt(ROWS[case]))))
    trial = Trial(f"case {case}", kernel, np.array([start]), depth, case)
    return trial.against(bound or bound_of_case(case))


def finite_width(
    phi: Activation,
    start: float,
    widths: Sequence[int],
    depth: int,
    runs: int,
    stream: sp.Stream,
    device: str = "cpu",
) -> pd.DataFrame:
    """Return root mean squares over runs of the cosine in networks, beside the map and its bound.

    A column for the layer, one for each width, one for infinite width and one for KER Theorem 5.8.

    >>> finite_width(A.tanh, 0.9, [8], 2, 3, sp.Stream(0)).shape
    (3, 4)
    """
    layers = np.arange(depth + 1)
    columns: dict[str, Floats] = {}
    for width in widths:
        net = sp.Chain(width, layers=[phi.standardized()])
        inputs, purpose = sp.inputs.with_correlation(start), stream.child(phi.name, width)
        path = net.run(inputs, depth, runs, purpose, device=device)
        rho = np.asarray(path.measure(sp.cosine_similarity).values)[..., 0, 1]
        columns[f"width {width}"] = np.sqrt((rho**2).mean(axis=0))
    k = sp.KernelMap(phi.standardized())
    columns["infinite width"] = np.asarray(k.iterate(start, depth))
    columns["Theorem 5.8"] = one_rate_two_cases.repaired_1(np.array(start), layers, k)
    return pd.DataFrame({"layer": layers} | columns)
