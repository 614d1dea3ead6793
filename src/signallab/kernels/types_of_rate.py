"""Geometric or a power of the depth: how fast kernel maps converge, KER Remark 5.14."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.activations import Activation

__all__ = [
    "Fit",
    "IN_USE",
    "below_proven",
    "distances",
    "fit",
    "fits",
    "order",
    "proven",
    "rates",
]

A = sp.activations
#: The activations of the document and of common code, by name.
IN_USE: Mapping[str, Activation] = {
    "tanh": A.tanh,
    "sin": A.sin,
    "SELU": A.selu.standardized(),
    "sign": A.sign,
    "x³": A.cube,
    "sigmoid": A.sigmoid,
    "softplus": A.softplus,
    "ReLU": A.relu,
    "leaky ReLU": A.leaky_relu(0.1),
    "exponential": A.exp,
    "|x|": A.leaky_relu(-1.0),
    "GELU": A.gelu,
    "ELU": A.elu,
    "SiLU": A.silu,
    "step": A.step,
}
START = 0.5
FLOOR = 1e-11  # below it, distances to points inside (0, 1) are spoilt by rounding
Kind = Literal["geometric", "power"]


class Fit(NamedTuple):
    """Lines through the logarithm of the distance, against the depth and against its logarithm.

    ``factor`` is by what the distance falls a layer in the first, ``power`` the exponent in the
    second; ``errors`` are the root mean squares of what the lines leave.
    """

    factor: float
    power: float
    errors: dict[Kind, float]


def distances(k: sp.KernelMap, depth: int, start: float = START) -> Floats:
    """Return ``|rho_l - rho*|`` for l = 0..depth, as far as it exceeds rounding.

    >>> distances(sp.KernelMap.from_series([0.5, 0.5]), 3)
    array([0.5   , 0.25  , 0.125 , 0.0625])
    """
    path = np.asarray(k.approach(start, depth))
    small = np.flatnonzero(path < FLOOR)
    return path[: small[0]] if small.size else path


def fit(path: Floats) -> Fit:
    """Fit both laws to the second half of a sequence of distances.

    >>> geometric, harmonic = fit(0.5 ** np.arange(20)), fit(1 / np.arange(1, 9999.0))
    >>> round(geometric.factor, 12), round(harmonic.power, 3)
    (0.5, 1.0)
    """
    layers = np.arange(len(path) // 2, len(path), dtype=np.float64)
    logs = np.log(path[len(path) // 2 :])
    by_depth, geometric = _line(layers, logs)
    by_logarithm, power = _line(np.log(layers), logs)
    return Fit(float(np.exp(by_depth)), -by_logarithm, {"geometric": geometric, "power": power})


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """The slope of the line of least squares, and the root mean square of what it leaves."""
    slope, intercept = np.polyfit(x, y, 1)
    return float(slope), float(np.sqrt(np.mean((y - slope * x - intercept) ** 2)))


def fits(name: str, kind: Kind, path: Floats) -> Case:
    """KER Remark 5.14: the law that is claimed fits better than the other.

    ``left`` is what its line leaves, ``right`` what the other's does.

    >>> case = fits("halves", "geometric", 0.5 ** np.arange(20))
    >>> case.left < 1e-12 < case.right
    True
    """
    errors = fit(path).errors
    other: Kind = "power" if kind == "geometric" else "geometric"
    return Case(errors[kind], errors[other], words=f"{name}, {len(path) - 1} layers")


def proven(k: sp.KernelMap) -> float:
    """Return the geometric rate that is proven: ``kappa'(1)``, or ``1/(2 - kappa'(rho*))``; or 1.

    >>> round(proven(sp.KernelMap.from_series([1 / 3, 0, 2 / 3])), 12)
    0.75
    """
    point = k.fixed_point()
    slope = float(point.multiplier)
    return slope if point.value == 1 else float(theory.ker_theorem_5_8_alpha(slope))


def below_proven(name: str, k: sp.KernelMap, path: Floats, factor: float = 1.0) -> Case:
    """Return the fitted factor of a layer, at most ``factor`` times the proven rate.

    >>> half = sp.KernelMap.from_series([0.5, 0.5])
    >>> round(below_proven("half", half, distances(half, 20)).left, 12)
    0.5
    """
    rate = factor * proven(k)
    return Case(fit(path).factor, rate, {"the proven rate is below 1": rate < 1}, words=name)


def order(name: str, path: Floats, power: float, constant: float) -> Case:
    """Return the largest ``l^power |rho_l - rho*|`` over the layers, at most ``constant``.

    >>> order("harmonic", 1 / (1 + np.arange(100.0)), 1, 1.0).left
    0.99
    """
    scaled = np.arange(len(path)) ** power * path
    return Case(
        float(scaled.max()),
        constant,
        words=f"{name}, largest in layer {int(scaled.argmax())} of {len(path) - 1}",
    )


def rates(maps: Mapping[str, sp.KernelMap], paths: Mapping[str, Floats]) -> pd.DataFrame:
    """Return, of each map, its case, the law that fits, the fitted number and that of the map.

    >>> half = sp.KernelMap.from_series([0.5, 0.5])
    >>> rates({"half": half}, {"half": distances(half, 20)})["law that fits"].item()
    'geometric'
    """
    rows = []
    for name, k in maps.items():
        found, exact = fit(paths[name]), k.rate()
        kind = min(found.errors, key=found.errors.__getitem__)
        rows.append(
            {
                "activation": name,
                "case": theory.ker_theorem_5_11_case(float(k(0.0)), float(k.derivative(1.0))),
                "law that fits": kind,
                "factor or power, fitted": found.factor if kind == "geometric" else found.power,
                "from the map": exact.value,
                "proven rate": proven(k),
            }
        )
    return pd.DataFrame(rows)
