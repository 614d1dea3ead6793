"""Kernel maps in each of the four cases of KER Theorem 5.11, and bounds put to them.

The four cases are told apart by ``kappa(0)`` and ``kappa'(1)``: 1, no mean, ``kappa(0) = 0``; with
a mean, 2, ``kappa'(1) < 1``; 3, ``kappa'(1) = 1``; 4, ``kappa'(1) > 1``. In each case there are
three families: activations in use, polynomials chosen by hand, and random power series. A batch of
maps counts as one member.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

import signalprop as sp
from signallab.case import Case
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.limits import power_series

__all__ = [
    "ACTIVATIONS",
    "BY_HAND",
    "STARTS",
    "Bound",
    "Trial",
    "column",
    "critical_mean",
    "maps",
    "shifted",
    "trials",
    "written",
]

#: Of starts ``(s, 1, ..)``, layers ``(l,)`` and a map: what bounds ``|rho_l - rho*|``.
Bound = Callable[[Any, Any, sp.KernelMap], Any]

A = sp.activations
#: Activations that are in the case as they are, once scaled to ``E phi(X)^2 = 1``.
ACTIVATIONS: Mapping[int, tuple[Activation, ...]] = {
    1: (A.tanh, A.erf, A.sin, A.sign, A.cube),
    2: (A.sigmoid, A.softplus),
    3: (A.relu, A.leaky_relu(), A.exp),
    4: (A.gelu, A.elu, A.silu, A.step),
}

#: Polynomials ``sum_k w_k rho^k`` by their weights: the simplest of a case, and extreme ones.
BY_HAND: Mapping[int, Mapping[str, list[float]]] = {
    1: {
        "(3ρ + 2ρ³)/5": [0, 0.6, 0, 0.4],
        "ρ²": [0, 0, 1],
        "0.99ρ + 0.01ρ²": [0, 0.99, 0.01],
    },
    2: {"(2 + ρ + ρ²)/4": [0.5, 0.25, 0.25], "0.3 + 0.69ρ + 0.01ρ³": [0.3, 0.69, 0, 0.01]},
    3: {
        "(1 + ρ²)/2": [0.5, 0, 0.5],
        "(1 + ρ)²/4": [0.25, 0.5, 0.25],
        "0.02 + 0.97ρ + 0.01ρ³": [0.02, 0.97, 0, 0.01],
    },
    4: {
        "(1 + 2ρ²)/3": [1 / 3, 0, 2 / 3],
        "0.6 + 0.4ρ⁴": [0.6, 0, 0, 0, 0.4],
        "0.01 + 0.99ρ³": [0.01, 0, 0, 0.99],
        "0.001 + 0.989ρ + 0.01ρ³⁰": [0.001, 0.989, *[0.0] * 28, 0.01],
    },
}

NEAR_ENDS = np.array([1e-8, 1e-6, 1e-4, 1e-2])
#: Starts in (-1, 1), as close to both ends as 1e-8; not 0, from which a mean of 1e-17 would move.
STARTS: Floats = np.concatenate([NEAR_ENDS - 1, np.linspace(-0.95, 0.95, 34), 1 - NEAR_ENDS])
ROUNDING = 1e-14  # of a distance to a fixed point that is neither 0 nor 1


def critical_mean(phi: Activation) -> float:
    """Return the mean, in standard deviations of the activation, that brings it into case 3.

    Standardized, ``phi + c`` has ``kappa'(1) = E phi'^2 / (1 + c^2)``; so ``c^2 = E phi'^2 - 1``.
    It is infinite for activations with jumps.

    >>> round(critical_mean(A.sin) ** 2 + 1, 12)    # coth(1)
    1.313035285499
    """
    slope = float(sp.KernelMap(phi.standardized()).derivative(1.0))
    return float(np.sqrt(slope - 1))


def shifted(phi: Activation, constant: float) -> Activation:
    """Return ``phi + constant``, scaled to ``E phi(X)^2 = 1``.

    >>> round(float(sp.KernelMap(shifted(A.identity, 1.0))(0.0)), 12)   # (1 + x) / sqrt 2
    0.5
    """
    return replace(phi, shift=phi.shift + constant).normalized()


def maps(case: int, series: int, largest_order: int, seed: Any) -> dict[str, sp.KernelMap]:
    """Return the members of a case by name, first the polynomials, then activations and batches.

    The two batches are ``series`` random power series of orders up to ``largest_order``, and pairs
    of orders that lie far apart. Order 0 gets as much weight as brings ``kappa'(1)`` to where the
    case wants it: anywhere below 1, at 1, or anywhere between 1 and its value without a mean.

    >>> list(maps(2, 5, 4, seed=0))[-2:]
    ['random series', 'pairs of orders']
    """
    stream = sp.random.as_stream(seed)
    batches = {
        "random series": power_series.random_series(series, largest_order, stream.child("series")),
        "pairs of orders": power_series.pair_series(
            [1, 2, 3, 5, 10, 30, 100], [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]
        ),
    }
    members = {name: sp.KernelMap.from_series(w) for name, w in BY_HAND[case].items()}
    members |= {phi.name: sp.KernelMap(phi.normalized()) for phi in ACTIVATIONS[case]}
    if case == 1:
        others = [A.selu, *(phi for c in (2, 3, 4) for phi in ACTIVATIONS[c])]
        members |= {f"{f.name}, standardized": sp.KernelMap(f.standardized()) for f in others}
    if case == 3:
        members["|x|"] = sp.KernelMap(A.leaky_relu(-1.0).normalized())
        members |= {
            f"{f.name} + constant": sp.KernelMap(shifted(f.standardized(), critical_mean(f)))
            for f in (A.tanh, A.gelu, A.elu)
        }
    for name, weights in batches.items():
        share = stream.child(name, case).numpy().random(len(weights))
        members[name] = sp.KernelMap.from_series(_brought(weights, case, share))
    return members


def _brought(weights: Floats, case: int, share: Floats) -> Floats:
    """Centred weights with the constant that puts them in the case."""
    if case == 1:
        return weights
    excess = weights @ np.arange(weights.shape[1]) - 1
    slope: Any = {2: share, 3: 1.0, 4: 1 + share * excess}[case]
    return power_series.with_constant(weights, slope)


@dataclass(frozen=True, eq=False)
class Trial:
    """A map, or a batch of maps, followed from many starts to see whether a bound holds.

    >>> trial = Trial("ρ²", sp.KernelMap.from_series([0, 0, 1.0]), np.array([0.5]), depth=3)
    >>> trial.distances
    array([[0.25      , 0.0625    , 0.00390625]])
    >>> trial.against(lambda start, layer, k: start / 2**layer).left
    0.25
    """

    name: str
    kernel: sp.KernelMap
    starts: Floats
    depth: int
    case: int = 1

    @property
    def hypotheses(self) -> dict[str, bool]:
        """What KER Theorem 5.11 supposes in this case, and whether it is so, of all maps."""
        k = self.kernel
        mean, slope = np.asarray(k(0.0)), np.asarray(k.derivative(1.0))
        of_case = {
            1: {"κ(0) = 0": mean <= 1e-15},
            2: {"κ(0) > 0": mean > 1e-15, "κ′(1) < 1": slope < 1 - 1e-11},
            3: {"κ(0) > 0": mean > 1e-15, "κ′(1) = 1": abs(slope - 1) <= 1e-11},
            4: {"κ(0) > 0": mean > 1e-15, "κ′(1) > 1": slope > 1 + 1e-11},
        }
        common = {
            "κ(1) = 1": abs(np.asarray(k(1.0)) - 1) < 1e-12,
            "not linear": np.asarray(k.nonlinearity) > 0,
            "−1 < ρ₀ < 1": abs(self.starts) < 1,
        }
        return {name: bool(np.all(true)) for name, true in (common | of_case[self.case]).items()}

    @cached_property
    def distances(self) -> Floats:
        """``|rho_l - rho*|`` for l = 1..depth: ``(starts, *maps, depth)``."""
        return np.asarray(self.kernel.approach(self._start[..., 0], self.depth)[..., 1:])

    @property
    def _start(self) -> Floats:
        """The starts, ``(starts, 1, ..)``: one axis for the maps of a batch, one for layers."""
        return self.starts.reshape(-1, *[1] * np.ndim(self.kernel(0.0)), 1)

    def against(self, bound: Bound) -> Case:
        """Return distance and bound at the start, map and layer where their ratio is largest.

        At a fixed point inside (0, 1) a distance ends at rounding, which is taken off.
        """
        allowed = np.asarray(bound(self._start, np.arange(1, self.depth + 1), self.kernel))
        inside = column(self.kernel.fixed_point().value)
        noise = np.where((inside > 0) & (inside < 1), ROUNDING, 0.0)
        left = np.maximum(self.distances - noise, 0)
        right = np.broadcast_to(allowed, left.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(left > 0, left / right, 0.0)
        return self.closest(left, right, ratio)

    def closest(self, left: Floats, right: Floats, ratio: Floats) -> Case:
        """Return both sides ``(starts, *maps, depth)`` where their ratio is largest, and where."""
        place = np.unravel_index(int(ratio.argmax()), ratio.shape)
        number = f" (number {place[1] + 1})" if len(place) == 3 else ""
        start, layer = float(self.starts[place[0]]), int(place[-1]) + 1
        return Case(
            float(left[place]),
            float(right[place]),
            self.hypotheses,
            words=f"{self.name}{number} from {written(start)} in layer {layer}",
            where={"layer": layer, "start": start},
        )


def trials(case: int, series: int, largest_order: int, depth: int, seed: Any) -> dict[str, Trial]:
    """Return a trial from :data:`STARTS` of each member of a case (:func:`maps`), by name."""
    members = maps(case, series, largest_order, seed)
    return {name: Trial(name, kernel, STARTS, depth, case) for name, kernel in members.items()}


def column(value: Any) -> Any:
    """Return a number of a map, or one of each map of a batch, to broadcast against layers.

    >>> column(np.zeros(3)).shape
    (3, 1)
    """
    return np.asarray(value)[..., None]


def written(start: float) -> str:
    """Return a start as text, by its distance from the nearer end if that is small.

    >>> written(0.5), written(1 - 1e-8), written(-0.9999)
    ('ρ₀ = 0.5', '1 − ρ₀ = 10⁻⁸', '1 + ρ₀ = 10⁻⁴')
    """
    power = np.log10(1 - abs(start))
    if abs(power - round(power)) > 1e-6:
        return f"ρ₀ = {start:.3g}".replace("-", "−")
    return f"1 {'−' if start > 0 else '+'} ρ₀ = 10⁻{'⁰¹²³⁴⁵⁶⁷⁸⁹'[-round(power)]}"
