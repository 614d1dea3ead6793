"""Rates towards a cosine below 1: KER Theorem 5.11, cases 1 and 4, and the rate that holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.kernels.families import Bound, column
from signalprop import theory
from signalprop._arrays import Floats

__all__ = [
    "attained_near_one",
    "bounds_of",
    "contracting",
    "entries",
    "printed_1",
    "printed_4",
    "rates_of_case_1",
    "repaired",
    "repaired_1",
    "second_reading",
    "start_that_shows",
]

Rate = Callable[[sp.KernelMap], Any]


def contracting(rate: Rate) -> Bound:
    """KER Eq. 5.7 with any rate: ``|rho_l| / (1 - |rho_l|)`` falls by the factor ``rate`` a layer.

    Turned into a bound of ``|rho_l|``, as a potential p belongs to the cosine ``p / (1 + p)``.

    >>> bound = contracting(lambda k: 0.5)
    >>> bound(0.5, np.array([1]), sp.KernelMap.from_series([0, 0, 1.0])).round(6)
    array([0.333333])
    """

    def bound(start: Any, layer: Any, k: sp.KernelMap) -> Any:
        potential = theory.ker_potential(start) * column(rate(k)) ** layer
        return potential / (1 + potential)

    return bound


#: KER Eq. 5.7 as printed, and with the rate of Theorem 5.8.
printed_1 = contracting(lambda k: 1 / k.derivative(1.0))
repaired_1 = contracting(lambda k: theory.ker_theorem_5_8_alpha(k.derivative(0.0)))


def printed_4(start: Any, layer: Any, k: sp.KernelMap) -> Any:
    """KER Eq. 5.10 as printed.

    >>> k = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])
    >>> printed_4(0.0, np.array([1]), k).round(6)
    array([0.333333])
    """
    return theory.ker_theorem_5_11_4(start, layer, column(k(0.0)), *_fixed(k))


def second_reading(start: Any, layer: Any, k: sp.KernelMap) -> Any:
    """Return case 4 with ``1 - kappa'(rho*)`` below in the third rate, as its proof has it once.

    The rate is cut at 1, since it is said to be less.

    >>> k = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])
    >>> second_reading(0.0, np.array([1]), k)
    array([0.5])
    """
    value, slope = _fixed(k)
    rate = np.maximum(np.maximum(1 - column(k(0.0)), slope), (1 - value) / (1 - slope))
    return abs(start - value) / (1 - abs(start)) * np.minimum(rate, 1) ** layer


def repaired(factor: float = 1.0, *, stretched: bool = True, local: bool = False) -> Bound:
    """Return the bound that holds in cases 1 and 4, or a rival of it.

    ``|rho_0 - rho*| max(1, (1 - rho*)/(1 - |rho_0|)) / (2 - kappa'(rho*))^l``. The rate times
    ``factor``, without the maximum, or with the slope ``kappa'(rho*)`` for the rate, which rules
    in the end, are the rivals.

    >>> k = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])
    >>> repaired()(0.75, np.array([0, 1]), k)
    array([0.5  , 0.375])
    """

    def bound(start: Any, layer: Any, k: sp.KernelMap) -> Any:
        value, slope = _fixed(k)
        rate = slope if local else 1 / (2 - slope)
        stretch = np.maximum(1, (1 - value) / (1 - abs(start))) if stretched else 1
        return abs(start - value) * stretch * (factor * rate) ** layer

    return bound


def rates_of_case_1(members: Mapping[str, sp.KernelMap]) -> pd.DataFrame:
    """Return the slope at 0, which is the rate in the end, beside the two proven ones.

    >>> cube = sp.KernelMap(sp.activations.cube.normalized())
    >>> rates_of_case_1({"cube": cube}).iloc[0, 1:].astype(float).round(4).tolist()
    [0.6, 0.5556, 0.7143]
    """
    return pd.DataFrame(
        {
            "map": name,
            "slope at 0, the rate in the end": float(k.derivative(0.0)),
            "1/κ′(1), printed": 1 / float(k.derivative(1.0)),
            "1/(2 − κ′(0)), Theorem 5.8": theory.ker_theorem_5_8_alpha(float(k.derivative(0.0))),
        }
        for name, k in members.items()
    )


def entries(members: Mapping[str, sp.KernelMap]) -> pd.DataFrame:
    """Return the three printed rates of case 4, the repaired one, and the escape from 1.

    >>> entries({"m": sp.KernelMap.from_series([1 / 3, 0, 2 / 3])}).iloc[0, 1:].round(3).tolist()
    [0.5, 0.667, 0.667, 0.375, 0.75, 0.75]
    """
    rows = []
    for name, k in members.items():
        value, slope = (float(number[0]) for number in _fixed(k))
        below, within, above = theory.ker_theorem_5_11_4_alphas(float(k(0.0)), value, slope)
        rows.append(
            {
                "map": name,
                "fixed point": value,
                "1 − κ(0)": below,
                "κ′(ρ*)": within,
                "(1 − ρ*)/(2 − κ′(ρ*))": above,
                "1/(2 − κ′(ρ*)), repaired": 1 / (2 - within),
                "1/κ′(1), escape from 1": 1 / float(k.derivative(1.0)),
            }
        )
    return pd.DataFrame(rows)


def attained_near_one(slopes: Floats, gap: float = 1e-8) -> pd.DataFrame:
    """Return by which factor one layer shrinks the potential at ``1 - gap``, and what is proven.

    The maps are ``s rho + (1 - s) rho^2``, one for each slope s at 0; of those with this slope
    they are the slowest near 1, where the factor tends to ``1 / kappa'(1) = 1 / (2 - s)``.

    >>> attained_near_one(np.array([0.5])).round(6).values.tolist()
    [[0.5, 0.666667, 0.666667]]
    """
    k = sp.KernelMap.from_series(np.stack([0 * slopes, slopes, 1 - slopes], axis=-1))
    after = np.asarray(k.complement(gap))
    return pd.DataFrame(
        {
            "κ′(0)": slopes,
            "factor of one layer": (1 - after) / after / ((1 - gap) / gap),
            "1/(2 − κ′(0))": theory.ker_theorem_5_8_alpha(slopes),
        }
    )


def bounds_of(
    k: sp.KernelMap, start: float, depth: int, bounds: Mapping[str, Bound]
) -> pd.DataFrame:
    """Return the distance to the fixed point and bounds of it, layer by layer from one start.

    >>> bounds_of(sp.KernelMap.from_series([0, 0, 1.0]), 0.5, 1, {"repaired": repaired()})
       layer  distance  repaired
    0      0      0.50       1.0
    1      1      0.25       0.5
    """
    layers = np.arange(depth + 1)
    curves = {name: bound(np.array(start), layers, k) for name, bound in bounds.items()}
    return pd.DataFrame({"layer": layers, "distance": k.approach(start, depth), **curves})


def start_that_shows(k: sp.KernelMap, bound: Bound, depth: int, gaps: Floats) -> float:
    """Return the largest of ``gaps`` for which the start ``1 - gap`` exceeds a bound; NaN if none.

    >>> k = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])
    >>> start_that_shows(k, repaired(), 60, np.array([1e-4, 1e-8]))
    nan
    """
    for gap in sorted(gaps, reverse=True):
        allowed = bound(np.array(1 - gap), np.arange(depth + 1), k)
        if np.any(k.approach(1 - gap, depth) > allowed + 1e-12):
            return float(gap)
    return float("nan")


def _fixed(k: sp.KernelMap) -> tuple[Any, Any]:
    """The attracting fixed point and the slope there, to broadcast against layers."""
    point = k.fixed_point()
    return column(point.value), column(point.multiplier)
