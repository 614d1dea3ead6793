"""Networks with a normalization layer: what it does to the kernel map, and at which rate (KER 5.6).

A norm stands *before* or *after* the activation phi. At infinite width the pair acts like another
activation psi: phi divided by the root of its second moment, or, for layer norm after it, phi
standardized.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signallab.kernels.families import ACTIVATIONS as BY_CASE
from signallab.kernels.families import BY_HAND, STARTS, Trial
from signallab.kernels.one_rate_two_cases import contracting
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.limits import power_series
from signalprop.random import Stream

__all__ = [
    "ACTIVATIONS",
    "LINE_AND_CUBE",
    "NETWORKS",
    "PLACEMENTS",
    "Member",
    "as_activation",
    "cosines",
    "curves",
    "exponents",
    "first_layers",
    "limits",
    "measured",
    "member",
    "members",
    "normalized",
    "predicted",
    "printed",
    "rates",
    "repaired",
]

#: Of an activation's own map: the factor of the potential a layer.
Alpha = Callable[[sp.KernelMap], Any]

A = sp.activations
PLACEMENTS = ("RMS before", "LN before", "RMS after", "LN after")
ACTIVATIONS: tuple[Activation, ...] = (
    *(phi for case in (1, 2, 3, 4) for phi in BY_CASE[case]),
    A.selu,
)
#: Bends, has no mean, and unlike ``x^3`` alone sees how long its input is.
LINE_AND_CUBE = replace(Activation.from_hermite([0, 4, 0, math.sqrt(6)]), name="x + x³")
#: What is simulated: one activation without a mean and one with.
NETWORKS: tuple[tuple[Activation, str], ...] = tuple(
    (phi, placement) for phi in (A.tanh, A.relu) for placement in PLACEMENTS
)
SHARE = 0.3  # of the second moment that the mean has in the made-up series


def normalized(
    norm: str, width: int, stream: Stream, freedom: int = 0, centre: bool = True
) -> Case:
    """Return KER Eq. 5.13 on 50 vectors: the layers of this library and torch's, and the formula.

    The formula is written out; ``freedom`` is what its divisor d is lessened by, ``centre`` says
    whether LN subtracts the mean.

    >>> case = normalized("RMS", 8, Stream(0))
    >>> case.left.shape, bool(np.allclose(case.left, case.right))
    ((2, 50, 8), True)
    """
    _check_norm(norm)
    z = 3 + 2 * stream.numpy("vectors", width).normal(size=(50, width))
    ours, torchs = (
        (sp.LayerNorm(), torch.nn.LayerNorm(width, eps=0.0, elementwise_affine=False))
        if norm == "LN"
        else (sp.RMSNorm(), torch.nn.RMSNorm(width, eps=0.0, elementwise_affine=False))
    )
    both = np.stack([np.asarray(layer(torch.from_numpy(z))) for layer in (ours, torchs)])
    part = z - z.mean(axis=1, keepdims=True) if norm == "LN" and centre else z
    formula = part / np.sqrt((part**2).sum(axis=1, keepdims=True) / (width - freedom))
    return Case(both, np.stack([formula, formula]), words=f"{norm}, width {width}")


def as_activation(phi: Activation, placement: str, mean_square: float = 1.0) -> Activation:
    """Return psi, which activation and norm together are at infinite width.

    With a norm before the activation the length of the input does not matter. With one after it
    the first layer sees pre-activations of the ``mean_square`` of the input.

    >>> as_activation(A.relu, "RMS before", 4.0).second_moment.__round__(12)
    1.0
    """
    _check_placement(placement)
    seen = phi if placement.endswith("before") else phi.gained(math.sqrt(mean_square))
    return seen.standardized() if placement == "LN after" else seen.normalized()


def cosines(
    phi: Activation,
    placement: str,
    rho: float,
    width: int,
    depth: int,
    runs: int,
    stream: Stream,
    device: str = "cpu",
) -> Floats:
    """Return the cosines of two inputs in networks of finite width, ``(runs, depth + 1)``.

    >>> cosines(A.tanh, "LN after", 0.6, 64, 1, 2, Stream(0)).shape
    (2, 2)
    """
    _check_placement(placement)
    norm: Any = sp.LayerNorm() if placement.startswith("LN") else sp.RMSNorm()
    layers = [norm, phi] if placement.endswith("before") else [phi, norm]
    seed = stream.child(phi.name, placement, f"{rho}", width, depth)
    inputs = sp.inputs.with_correlation(rho)
    path = sp.Chain(width, layers=layers).run(inputs, depth, runs, seed, device=device)
    return np.asarray(path.measure(sp.cosine_similarity).values[..., 0, 1])


def measured(
    width: int,
    correlations: Sequence[float],
    depth: int,
    runs: int,
    stream: Stream,
    device: str = "cpu",
) -> Floats:
    """Return the cosines in layers 1 to ``depth`` of :data:`NETWORKS`.

    Shape ``(runs, networks, correlations, depth)``.

    >>> measured(16, [0.6], 2, 3, Stream(0)).shape
    (3, 8, 1, 2)
    """
    found = [
        [cosines(*net, rho, width, depth, runs, stream, device)[:, 1:] for rho in correlations]
        for net in NETWORKS
    ]
    return np.moveaxis(np.array(found), 2, 0)


def predicted(
    correlations: Sequence[float],
    depth: int,
    psi: Callable[[Activation, str], Activation] = as_activation,
    earlier: int = 0,
) -> Floats:
    """Return the same at infinite width, ``(networks, correlations, depth)``, for a choice of psi.

    ``earlier`` takes the cosines of so many layers before.

    >>> predicted([0.5], 1, lambda phi, placement: A.cube.normalized())[0].round(3).tolist()
    [[0.35]]
    """
    start = np.asarray(correlations)
    paths = [np.asarray(sp.KernelMap(psi(*net)).iterate(start, depth)) for net in NETWORKS]
    return np.array(paths)[..., 1 - earlier : depth + 1 - earlier]


def exponents(errors: Mapping[int, Floats], groups: int) -> Floats:
    """Return the exponent of the root mean square error in the width, ``(groups, networks)``.

    ``errors`` holds by width what is left of cosine minus theory, ``(runs, networks, inputs)``.
    Runs are split into groups, each of which gives an exponent by a fit of its own.

    >>> exponents({d: np.full((4, 1, 1), d**-0.5) for d in (10, 100)}, groups=2).round(12).tolist()
    [[-0.5], [-0.5]]
    """
    widths = list(errors)
    parts = [np.array_split(errors[d] ** 2, groups) for d in widths]
    log_rms = [[np.log(p.mean(axis=(0, 2))) / 2 for p in split] for split in parts]
    log_widths = np.log(widths) - np.log(widths).mean()
    weights = log_widths / (log_widths**2).sum()
    return np.asarray(np.tensordot(weights, np.array(log_rms), axes=1))


@dataclass(frozen=True, eq=False)
class Member:
    """An activation's own map, or a batch of them, and the standardized version psi on trial.

    >>> trial = Trial("cube", sp.KernelMap(A.cube.standardized()), np.array([0.1]), depth=1)
    >>> case = Member(sp.KernelMap(A.cube), trial).contraction(printed)
    >>> bool(case.left > case.right), case.words
    (True, 'cube from ρ₀ = 0.1 in layer 1')
    """

    own: sp.KernelMap
    trial: Trial

    def contraction(self, alpha: Alpha) -> Case:
        """Return the cosine with layer norm after the activation beside the bound with ``alpha``.

        KER Eq. 5.14 bounds the potential ``|rho| / (1 - |rho|)``, which is turned into a bound of
        ``|rho|``; at the start and layer (and map) where the bound is tightest.
        """
        return self.trial.against(contracting(lambda _: alpha(self.own)))

    def alpha_below(self, bound: Callable[[Any], Any] = lambda share: 1.0) -> Case:
        """Return the printed alpha beside a function of the share of psi beyond order 1.

        >>> k = sp.KernelMap.from_series([0, 0.5, 0.5])
        >>> member = Member(k, Trial("", k, STARTS, 1))
        >>> member.alpha_below(lambda share: 1 / (1 + share)).right.round(6)
        np.float64(0.666667)
        """
        alpha, share = np.asarray(printed(self.own)), np.asarray(self.trial.kernel.nonlinearity)
        right = np.broadcast_to(bound(share), alpha.shape)
        at = int(np.argmax(alpha / right))
        nonlinear = {"non-linear": bool(np.all(share > 0))}
        return Case(alpha.flat[at], right.flat[at], nonlinear, words=self.trial.name)


def member(phi: Activation, depth: int) -> Member:
    """Return an activation and its standardized version, from all starts."""
    psi = sp.KernelMap(phi.standardized())
    return Member(sp.KernelMap(phi), Trial(phi.name, psi, STARTS, depth))


def members(series: int, largest_order: int, depth: int, stream: Stream) -> dict[str, Member]:
    """Return what the rate is put to, by name.

    First one layer of ``x^3`` from one start, to be checked by hand; then :data:`ACTIVATIONS`,
    polynomials, and batches of ``series`` random spectra and of pairs of orders, both with a mean
    and scaled.

    >>> list(members(2, 4, 3, Stream(0)))[-2:]
    ['random series', 'pairs of orders']
    """
    psi = sp.KernelMap(A.cube.standardized())
    by_hand = Trial("cube, one layer", psi, np.array([0.1]), 1)
    found = [Member(sp.KernelMap(A.cube), by_hand)]
    found += [member(phi, depth) for phi in ACTIVATIONS]
    weights = {name: np.array(w, dtype=float) for name, w in BY_HAND[1].items()}
    weights["random series"] = power_series.random_series(series, largest_order, stream)
    weights["pairs of orders"] = power_series.pair_series(
        [1, 2, 3, 5, 10, 30, 100], [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]
    )
    found += [_made_up(name, w, depth) for name, w in weights.items()]
    return {member.trial.name: member for member in found}


def printed(k: sp.KernelMap) -> Any:
    """KER Eq. 5.14: ``(kappa(1) - kappa(0)) / kappa'(1)``; 0 for an activation that jumps.

    >>> printed(sp.KernelMap(A.cube)).round(6), printed(sp.KernelMap(A.sign))
    (np.float64(0.555556), np.float64(0.0))
    """
    return theory.ker_theorem_5_15_alpha(k(0.0), k(1.0), k.derivative(1.0))


def repaired(k: sp.KernelMap) -> Any:
    """Return the rate of KER Theorem 5.8 for psi, in terms of the map of phi.

    >>> repaired(sp.KernelMap(A.cube)).round(6)     # 15 / (30 - 9)
    np.float64(0.714286)
    """
    return theory.ker_theorem_5_15_alpha_repaired(k(0.0), k(1.0), k.derivative(0.0))


def rates(phis: Sequence[Activation], depth: int) -> pd.DataFrame:
    """Return the rates with layer norm after each activation, and whether the printed one holds.

    >>> rates([A.exp], 30).iloc[0].tolist()[-1]
    'no'
    """
    rows = []
    for phi in phis:
        of_phi = member(phi, depth)
        own, psi = of_phi.own, of_phi.trial.kernel
        case = of_phi.contraction(printed)
        rows.append(
            {
                "activation": phi.name,
                "printed rate": float(printed(own)),
                "rate in the end": float(psi.derivative(0.0)),
                "rate of Theorem 5.8": float(repaired(own)),
                "printed bound exceeded": "yes" if case.left > case.right * (1 + 1e-9) else "no",
            }
        )
    return pd.DataFrame(rows)


def curves(phi: Activation, rho: float, depth: int) -> pd.DataFrame:
    """Return the potential at infinite width with layer norm after phi, and two bounds of it.

    >>> curves(A.exp, 0.5, 1).columns.tolist()
    ['layer', 'infinite width', 'bound as printed', 'bound, repaired']
    """
    own, psi = sp.KernelMap(phi), sp.KernelMap(phi.standardized())
    layers = np.arange(depth + 1)
    start = theory.ker_potential(rho)
    return pd.DataFrame(
        {
            "layer": layers,
            "infinite width": theory.ker_potential(psi.iterate(rho, depth)),
            "bound as printed": theory.ker_theorem_5_15(
                rho, layers, float(own(0.0)), float(own(1.0)), float(own.derivative(1.0))
            ),
            "bound, repaired": start * repaired(own) ** layers,
        }
    )


def limits(phis: Sequence[Activation]) -> pd.DataFrame:
    """Return where cosines go, with a norm that keeps the mean and with one that does not.

    >>> limits([A.relu]).iloc[0, 1:].astype(float).tolist()
    [1.0, 0.0]
    """
    return pd.DataFrame(
        {
            "activation": phi.name,
            "norm before, or RMS after": float(sp.KernelMap(phi.normalized()).fixed_point().value),
            "LN after": float(sp.KernelMap(phi.standardized()).fixed_point().value),
        }
        for phi in phis
    )


def first_layers(
    phi: Activation,
    placement: str,
    mean_square: float,
    *,
    alpha: Alpha = repaired,
    skip: bool = False,
) -> Case:
    """Return the potential after the first layer beside alpha times that of the input.

    With ``skip`` the second layer beside the first. phi must have mean 0. At the start where the
    ratio is largest.

    >>> case = first_layers(A.tanh, "LN after", 0.01)
    >>> bool(case.left > case.right)
    True
    """
    starts = np.linspace(0.05, 0.95, 19)
    first = sp.KernelMap(as_activation(phi, placement, mean_square))
    later = sp.KernelMap(as_activation(phi, placement))
    before = np.asarray(first(starts)) if skip else starts
    after = np.asarray((later if skip else first)(before))
    left = np.asarray(theory.ker_potential(after))
    right = np.asarray(theory.ker_potential(before)) * alpha(sp.KernelMap(phi))
    at = int(np.argmax(left / right))
    return Case(
        float(left[at]),
        float(right[at]),
        {"mean 0": abs(phi.mean) < 1e-12, "non-linear": bool(later.nonlinearity > 0)},
        words=f"{phi.name}, {placement}, inputs of mean square {mean_square:g}, "
        f"ρ₀ = {starts[at]:.2f}",
    )


def _made_up(name: str, weights: Floats, depth: int) -> Member:
    """A spectrum without a mean as psi; phi has twice its standard deviation, and a mean."""
    own = 4 * weights
    own[..., 0] = 4 * SHARE / (1 - SHARE)
    psi = sp.KernelMap.from_series(weights)
    return Member(sp.KernelMap.from_series(own), Trial(name, psi, STARTS, depth))


def _check_norm(norm: str) -> None:
    if norm not in ("LN", "RMS"):
        raise ValueError(f"norm must be LN or RMS, got {norm!r}")


def _check_placement(placement: str) -> None:
    if placement not in PLACEMENTS:
        raise ValueError(f"placement must be one of {', '.join(PLACEMENTS)}, got {placement!r}")
