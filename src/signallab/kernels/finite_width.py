"""Networks of finite width beside the kernel map: KER Eqs. 5.1, 5.2, Propositions 5.1 and 5.2.

Layers are ``h -> phi(W h)`` without normalization. Cosines of pairs of inputs come as arrays
``(runs, activations, correlations, layers)``, their limits as ``(activations, correlations,
layers)``; layer 0 is the input, and the activations are those of :data:`ACTIVATIONS`, in order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import stats

import signalprop as sp
from signallab.case import Case
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.limits.lengths import pair_moments
from signalprop.random import Stream

__all__ = [
    "ACTIVATIONS",
    "by_definition",
    "by_lengths",
    "by_map",
    "exponential",
    "exponents",
    "gaussian_cosines",
    "input_cosine",
    "on_one_coordinate",
    "rademacher_limit",
    "sparse_limit",
    "spread_out",
    "student_cosine",
    "under_law",
    "with_linear",
]

A = sp.activations
#: Scaled to ``E phi(X)^2 = 1``.
ACTIVATIONS: Mapping[str, Activation] = {
    "tanh": A.tanh.normalized(),
    "ReLU": A.relu.normalized(),
    "GELU": A.gelu.normalized(),
}
LARGEST = 1e100  # entries of exponential networks are cut here, so that they stay finite


def by_map(correlations: Sequence[float], depth: int) -> Floats:
    """Return what KER Proposition 5.1 says: the iterated kernel map of each activation.

    >>> by_map([0.0], 1)[1].round(6)    # ReLU: 0, then 1/pi
    array([[0.     , 0.31831]])
    """
    rho = np.array(correlations)
    maps = [sp.KernelMap(phi).iterate(rho, depth) for phi in ACTIVATIONS.values()]
    return np.stack(maps).round(14)  # 0 instead of the 1e-17 that rounding leaves


def by_lengths(correlations: Sequence[float], depth: int, length: float) -> Floats:
    """Return the cosines at infinite width from inputs of mean square ``length``.

    The recursion carries the mean squares along: pre-activations have the variance of the layer
    before, whatever that is.

    >>> by_lengths([0.0], 1, 16.0)[:, 0, 1].round(4)    # tanh, ReLU, GELU
    array([0.    , 0.3183, 0.3012])
    """
    cosines = np.empty((len(ACTIVATIONS), len(correlations), depth + 1))
    for of_one, phi in zip(cosines, ACTIVATIONS.values(), strict=True):
        moments = length * torch.tensor([*correlations, 1.0], dtype=torch.float64)
        for layer in range(depth + 1):
            mean_square = moments[-1]
            rho = moments / mean_square
            of_one[:, layer] = rho[:-1]
            stds = mean_square.sqrt().expand_as(rho)
            # a few integrals: the map of an activation would be built for each layer's length
            moments = pair_moments(phi, phi, stds, stds, rho)
    return cosines.round(14)


def with_linear(limits: Floats, name: str) -> Floats:
    """Return the limits with the identity in the place of the activation ``name``: a rival.

    >>> with_linear(by_map([0.5], 2), "tanh")[0]
    array([[0.5, 0.5, 0.5]])
    """
    changed = limits.copy()
    changed[list(ACTIVATIONS).index(name)] = limits[0, :, :1]
    return changed


def gaussian_cosines(
    width: int,
    correlations: Sequence[float],
    depth: int,
    runs: int,
    stream: Stream,
    *,
    length: float = 1.0,
    **options: Any,
) -> Floats:
    """Return cosines of inputs of mean square ``length`` in networks with Gaussian weights.

    ``(runs, activations, correlations, layers)``, each pair in networks of its own.

    >>> gaussian_cosines(20, [0.5], 2, 3, sp.Stream(0)).shape
    (3, 3, 1, 3)
    """

    def of_pair(name: str, rho: float) -> Floats:
        def inputs(width: int, runs: int, stream: Stream) -> torch.Tensor:
            return math.sqrt(length) * sp.inputs.with_correlation(rho)(width, runs, stream)

        net = sp.Chain(width, sp.gaussian(), layers=[ACTIVATIONS[name]])
        purpose = stream.child(name, f"{rho} {length}", width)
        return np.asarray(net.run(inputs, depth, runs, purpose, **options).measure(_cosine).values)

    pairs = [[of_pair(name, rho) for rho in correlations] for name in ACTIVATIONS]
    return np.moveaxis(np.array(pairs), 2, 0)


def _cosine(h: torch.Tensor) -> Any:
    return sp.cosine_similarity(h)[..., 0, 1]


def by_definition(
    phi: Activation,
    rho: float,
    width: int,
    depth: int,
    runs: int,
    stream: Stream,
    *,
    variance: float = 1.0,
) -> Floats:
    """Return ``rho_0 .. rho_depth`` by KER Eqs. 5.1 and 5.2, word for word: ``(runs, depth + 1)``.

    Written without :class:`signalprop.Chain`, to compare. Entries of weights have the variance
    ``variance / width``.

    >>> by_definition(A.tanh, 0.5, 20, 2, 3, sp.Stream(0))[:, 0].round(12)
    array([0.5, 0.5, 0.5])
    """
    rng = stream.numpy()
    cosines = np.empty((runs, depth + 1))
    for run in range(runs):
        first, second = np.linalg.qr(rng.standard_normal((width, 2)))[0].T * math.sqrt(width)
        x, y = first, rho * first + math.sqrt(1 - rho**2) * second
        for layer in range(depth + 1):
            if layer:
                w = rng.standard_normal((width, width)) * math.sqrt(variance / width)
                x, y = np.asarray(phi(w @ x)), np.asarray(phi(w @ y))
            cosines[run, layer] = x @ y / math.sqrt((x @ x) * (y @ y))
    return cosines


def input_cosine(
    width: int, correlations: Sequence[float], length: float, *, divided: bool = True
) -> Case:
    """KER Eq. 5.2 at layer 0: cosines of inputs of mean square ``length`` are their correlations.

    ``divided=False`` divides inner products by the width in place of the lengths.

    >>> input_cosine(30, [0.6, 0.25], 16.0).left.round(12)
    array([0.6 , 0.25])
    """
    pairs = [
        math.sqrt(length) * sp.inputs.with_correlation(rho)(width, 1, sp.Stream(0))[0]
        for rho in correlations
    ]
    cosines = [float(_cosine(x) if divided else x[0] @ x[1] / width) for x in pairs]
    words = f"width {width}, mean square {length:g}"
    return Case(np.array(cosines), np.array(correlations), words=words)


def exponents(errors: Mapping[int, Floats], size: int) -> Floats:
    """Return exponents of the root mean square error in the width: ``(groups, activations)``.

    ``errors`` are cosines minus their limits, ``(runs, activations, correlations, layers)``, by
    width. Each group of ``size`` runs gives an exponent of its own; the mean is over the group, all
    correlations and layers.

    >>> errors = {d: np.ones((4, 3, 1, 1)) / d**0.5 for d in (10, 100, 1000)}
    >>> exponents(errors, 2).round(12)
    array([[-0.5, -0.5, -0.5],
           [-0.5, -0.5, -0.5]])
    """
    widths = np.log(list(errors))
    squares = np.array([(e**2).mean(axis=(2, 3)) for e in errors.values()])
    grouped = squares.reshape(len(widths), -1, size, squares.shape[-1]).mean(axis=2)
    logs = np.log(grouped).reshape(len(widths), -1) / 2
    slopes: Floats = np.polyfit(widths, logs, 1)[0]
    return slopes.reshape(grouped.shape[1:])


def spread_out(width: int, correlations: Sequence[float]) -> Floats:
    """Return two vectors of signs for every correlation, ``(correlations, 2, width)``.

    >>> spread_out(10, [-0.6])[0].sum(0)
    array([2., 2., 0., 0., 0., 0., 0., 0., 0., 0.])
    """
    pairs = np.ones((len(correlations), 2, width))
    for pair, rho in zip(pairs, correlations, strict=True):
        count = width * (1 - rho) / 2
        if abs(count - round(count)) > 1e-9:
            raise ValueError(f"width must allow signs of correlation {rho}, got {width}")
        pair[1, width - round(count) :] = -1
    return pairs


def on_one_coordinate(width: int, correlations: Sequence[float]) -> Floats:
    """Return two vectors of mean square 1 in the plane of e_1 and e_2, the first along e_1.

    >>> on_one_coordinate(4, [0.6])[0]
    array([[2. , 0. , 0. , 0. ],
           [1.2, 1.6, 0. , 0. ]])
    """
    rho = np.array(correlations)
    pairs = np.zeros((len(rho), 2, width))
    pairs[:, 0, 0] = math.sqrt(width)
    pairs[:, 1, :2] = math.sqrt(width) * np.stack([rho, np.sqrt(1 - rho**2)], axis=1)
    return pairs


def under_law(law: sp.Law, pairs: Floats, depth: int, runs: int, stream: Stream) -> Floats:
    """Return cosines of pairs of inputs ``(correlations, 2, width)`` with weights of any law.

    ``(runs, activations, correlations, layers)``. One network carries all pairs and activations:
    each activation acts on its own copies of the inputs.

    >>> under_law(sp.rademacher(), spread_out(10, [0.6, 0.0]), 2, 4, sp.Stream(0)).shape
    (4, 3, 2, 3)
    """

    def each_its_own(h: torch.Tensor) -> torch.Tensor:
        groups = h.chunk(len(ACTIVATIONS), dim=-2)
        return torch.cat([p(g) for p, g in zip(ACTIVATIONS.values(), groups, strict=True)], dim=-2)

    def cosines(h: torch.Tensor) -> Any:
        return sp.cosine_similarity(h.reshape(*h.shape[:-2], -1, 2, h.shape[-1]))[..., 0, 1]

    count, _, width = pairs.shape
    inputs = np.tile(pairs.reshape(-1, width), (len(ACTIVATIONS), 1))
    path = sp.Chain(width, law, layers=[each_its_own]).run(
        inputs, depth, runs, stream, engine="direct"
    )
    values = np.asarray(path.measure(cosines).values)
    shaped = values.reshape(runs, depth + 1, len(ACTIVATIONS), count)
    return np.moveaxis(shaped, 1, -1)


def rademacher_limit(correlations: Sequence[float]) -> Floats:
    """Return the cosines of the first layer that inputs :func:`on_one_coordinate` tend to.

    With Rademacher weights pre-activations are ``s`` and ``rho s + sqrt(1 - rho^2) t`` with signs
    s and t: four cases at any width. ``(activations, correlations)``.

    >>> rademacher_limit([0.0])[1].round(12)    # ReLU
    array([0.5])
    """
    s, t = np.array([[-1.0], [1.0]]), np.array([[-1.0, 1.0]])
    quarter = np.full((2, 2), 0.25)
    return np.array(
        [
            [_ratio(phi, s + 0 * t, r * s + math.sqrt(1 - r**2) * t, quarter) for r in correlations]
            for phi in ACTIVATIONS.values()
        ]
    )


def sparse_limit(correlations: Sequence[float]) -> Floats:
    """Return the cosines of the first layer that inputs of :func:`spread_out` signs tend to.

    Sparse weights are 1 or -1 with probability ``1/2d`` each, else 0. Of coordinates where the
    signs agree, and of those where they do not, Poisson numbers of either kind are hit:
    pre-activations are ``a + b`` and ``a - b`` with independent Skellam laws of variance ``(1 +
    rho)/2`` and ``(1 - rho)/2``. ``(activations, correlations)``.

    >>> sparse_limit([-1.0, 1.0])[0].round(9)    # tanh of opposite and of equal inputs
    array([-1.,  1.])
    """
    n = np.arange(-30.0, 31.0)

    def probabilities(rho: float) -> Floats:
        laws = [_skellam(n, (1 + rho) / 2), _skellam(n, (1 - rho) / 2)]
        return np.multiply.outer(*laws)

    return np.array(
        [
            [_ratio(phi, n[:, None] + n, n[:, None] - n, probabilities(r)) for r in correlations]
            for phi in ACTIVATIONS.values()
        ]
    )


def _skellam(n: Floats, variance: float) -> Floats:
    """The law of a difference of two Poisson variables of mean ``variance / 2`` each."""
    if variance == 0:
        return np.asarray(n == 0, dtype=np.float64)
    return np.asarray(stats.skellam.pmf(n, variance / 2, variance / 2))


def _ratio(phi: Activation, x: Floats, y: Floats, probability: Floats) -> float:
    """``E phi(x) phi(y) / sqrt(E phi(x)^2 E phi(y)^2)`` over pairs of these probabilities."""
    a, b = np.asarray(phi(x)), np.asarray(phi(y))
    product, xx, yy = (float((probability * m).sum()) for m in (a * b, a * a, b * b))
    return product / math.sqrt(xx * yy)


def student_cosine(width: int) -> float:
    """Return the mean of the first cosine for ReLU, orthogonal signs and Student's weights.

    Exactly, as a ratio of expectations, at finite width. Pre-activations are ``A + B`` and ``A -
    B`` with independent sums of half of the entries each, so that for ReLU the ratio is ``E|A^2 -
    B^2| / 2``, which is the integral of ``G (1 - G)`` over ``a^2``, with ``G(a) = P(|A| <= a)``. An
    entry ``xi`` of 3 degrees of freedom and variance 1 has the characteristic function ``(1 + |t|)
    exp(-|t|)``, and inversion gives G.

    >>> round(student_cosine(10**8), 4)    # Gaussian: 1/pi
    0.3183
    """
    t = np.linspace(0, 40, 8001)[1:]
    scaled = t / math.sqrt(width)
    of_sum = np.exp(width / 2 * (np.log1p(scaled) - scaled)) / t
    a = np.concatenate([np.linspace(0, 8, 800), np.geomspace(8, 100, 201)[1:]])
    within = 2 / math.pi * np.array([t[0] * (np.sin(b * t) @ of_sum + b / 2) for b in a])
    # Beyond, one large entry makes a large sum, and 1 - G falls like a^-3.
    beyond = a[-1] ** 2 * 2 * width * stats.t.sf(a[-1] * math.sqrt(3 * width), 3)
    return float(np.trapezoid(within * (1 - within), a**2) + beyond)


def exponential(widths: Sequence[int], depth: int, runs: int, stream: Stream) -> pd.DataFrame:
    """Return cosine and second moment of orthogonal inputs under ``phi(x) = exp(x - 1)``.

    A row for each width, run and layer. Entries are cut at 1e100.

    >>> exponential([10], 1, 2, sp.Stream(0)).shape
    (4, 5)
    """

    def cut(h: torch.Tensor) -> torch.Tensor:
        return h.clamp(max=LARGEST)

    def second_moment(h: torch.Tensor) -> torch.Tensor:
        return h.square().mean(-1)[..., 0]

    parts = []
    for width in widths:
        net = sp.Chain(width, layers=[A.exp.normalized(), cut])
        start = sp.inputs.with_correlation(0.0)
        path = net.run(start, depth, runs, stream.child("exponential", width))
        found = path.measure_many({"cosine": _cosine, "second moment": second_moment})
        columns = {name: np.asarray(values.values).ravel() for name, values in found.items()}
        run, layer = np.divmod(np.arange(runs * (depth + 1)), depth + 1)
        parts.append(pd.DataFrame({"width": width, "run": run, "layer": layer} | columns))
    return pd.concat(parts, ignore_index=True)
