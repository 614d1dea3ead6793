"""Does the chain of ORTH forget its start? The claim of the thesis, Sec. 2.2.2, at points.

A finite chain is a stochastic matrix, row x holding the law of the next state from x; a function of
its states is a vector. For the chain of representations there are two samples, and functions of the
orthogonality gap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import stats

import signalprop as sp
from signalbook.checks import LEVEL
from signallab.case import Case
from signalprop import theory
from signalprop.random import Stream

__all__ = [
    "FUNCTIONS",
    "WALK",
    "Representations",
    "deviations",
    "drift_at_dependent_samples",
    "forgets",
    "functions_of_the_walk",
    "sleeper",
    "smallest_drift",
    "walk",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]

#: Three states in a row: from the ends stay or step inwards, from the middle stay or step outwards.
WALK = np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]])
FAR_SHARE = 0.2  # of the runs that start far from orthogonal, the others orthogonal
NEARLY_PARALLEL = 0.999 * 2**-0.5  # a gap just below the largest one of two samples
BURN_IN = 50


def walk(
    function: tuple[float, ...],
    start: int,
    steps: int,
    bound: Callable[[int, Floats, float], float] | None = None,
) -> Case:
    """Return how far the mean of a function of the walk is from its stationary mean.

    The right side is the distance at the start: that of the thesis with ``alpha = 1``, which is
    more than any ``alpha < 1`` allows. ``bound(steps, function, distance at the start)`` takes its
    place.

    >>> case = walk((0.0, 1.0, -2.0), start=0, steps=1)
    >>> round(case.left, 12), round(case.right, 12)
    (0.5, 0.0)
    """
    phi = np.array(function)
    mean = theory.stationary_law(WALK) @ phi
    later = np.linalg.matrix_power(WALK, steps)[start] @ phi
    at_start = abs(phi[start] - mean)
    return Case(
        left=float(abs(later - mean)),
        right=float(at_start if bound is None else bound(steps, phi, float(at_start))),
        words=f"the walk on three states from state {start + 1}, "
        f"$\\varphi$ = ({', '.join(f'{value:g}' for value in function)}), step {steps}",
    )


def functions_of_the_walk(count: int, stream: Stream) -> list[tuple[float, ...]]:
    """Return functions of the three states: indicators, and normal values.

    >>> functions_of_the_walk(1, Stream(0))[0]
    (1.0, 0.0, 0.0)
    """
    drawn = stream.numpy("functions").standard_normal((count, 3))
    return [tuple(values) for values in [*np.eye(3).tolist(), *drawn.tolist()]]


@dataclass(frozen=True)
class Representations:
    """The chain of representations of two samples, and how well its stationary law is known.

    ``runs`` are independent networks from a start of choice, ``long_runs`` those for the stationary
    means, over ``long_layers`` layers after some that are left out.
    """

    width: int
    depth: int
    runs: int
    long_runs: int
    long_layers: int
    stream: Stream

    def gaps(self, x: Any, depth: int, runs: int, *names: str | int) -> Floats:
        """Return the orthogonality gap ``(runs, depth + 1)`` from a start ``(n, d)``."""
        normalize = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")
        chain = sp.Chain(self.width, layers=[normalize])
        path = chain.run(x, depth, runs, self.stream.child(*names))
        gaps: Floats = path.measure(sp.orthogonality_gap).values
        return gaps

    def start(self, gap: float, share: float) -> torch.Tensor:
        """Return batches ``(runs, 2, d)`` of that gap in a share of the runs, else orthogonal."""
        if not 0 <= gap < theory.largest_gap(2):
            raise ValueError(
                f"gap must lie in [0, {theory.largest_gap(2):.4g}), got {gap:.4g}: a wider chain "
                "has a smaller stationary gap"
            )
        far = np.where(np.arange(self.runs) < share * self.runs, gap, 0.0) / 2**0.5
        x = torch.zeros(self.runs, 2, self.width, dtype=torch.float64)
        x[:, 0, 0] = torch.from_numpy(np.sqrt(0.5 + far))
        x[:, 1, 1] = torch.from_numpy(np.sqrt(0.5 - far))
        return x


@cache
def _stationary(chain: Representations) -> Floats:
    """Gaps of long runs without their beginning, ``(long_runs, long_layers)``."""
    start = sp.inputs.gaussian_samples(2)
    depth = BURN_IN + chain.long_layers
    return chain.gaps(start, depth, chain.long_runs, "stationary")[:, BURN_IN + 1 :]


@cache
def _path(chain: Representations, function: str) -> tuple[Floats, float]:
    """The function by run and layer from its start, and how uncertain its stationary mean is.

    The stationary mean lies outside of its interval with the probability ``LEVEL``.
    """
    if function not in FUNCTIONS:
        raise ValueError(f"function must be one of {', '.join(FUNCTIONS)}, got {function!r}")
    settled = _stationary(chain)
    if function == "the gap":
        target, share = settled.mean(), FAR_SHARE
        values, long_values = (
            chain.gaps(chain.start(target / share, share), chain.depth, chain.runs, "mean"),
            settled,
        )
    else:
        median = np.median(settled)
        start = chain.start(NEARLY_PARALLEL, 0.5)
        values = (chain.gaps(start, chain.depth, chain.runs, "median") < median).astype(float)
        long_values = (settled < median).astype(float)
    means = long_values.mean(axis=1)
    reach = stats.t.isf(LEVEL / 2, len(means) - 1) * stats.sem(means)
    at_start = values[:, 0].mean()
    return values, float(abs(at_start - means.mean()) + reach)


#: Functions of a representation, whose mean at the start is made equal to the stationary mean: the
#: gap, from a start far from orthogonal in a fifth of the runs and orthogonal in the others; and
#: whether it is below its stationary median, one half nearly parallel, the other orthogonal.
FUNCTIONS = ("the gap", "the indicator of a small gap")


def deviations(chain: Representations, function: str) -> pd.DataFrame:
    """Return ``function, run, layer, deviation``: the value less the mean at the start.

    The start has the stationary mean, as far as it is known.

    >>> chain = Representations(32, 2, 10, 5, 20, Stream(0))
    >>> frame = deviations(chain, "the gap")
    >>> float(frame[frame["layer"] == 0]["deviation"].mean().round(12)) + 0.0
    0.0
    """
    values, _ = _path(chain, function)
    run, layer = np.indices(values.shape).reshape(2, -1)
    deviation = (values - values[:, 0].mean()).ravel()
    return pd.DataFrame({"function": function, "run": run, "layer": layer, "deviation": deviation})


def forgets(chain: Representations, function: str, layers: int, upwards: bool) -> Case:
    """Return how far the mean of a function has moved from that at the start, on one side.

    By the inequality of the thesis the mean of every layer is at most as far from the stationary
    mean as that of the input, so at most twice as far from the latter. How far the input's is
    from the stationary mean is known up to an interval, whose far end is taken.

    >>> chain = Representations(32, 2, 100, 50, 100, Stream(0))
    >>> forgets(chain, "the gap", 1, upwards=True).left.shape
    (100,)
    """
    values, distance = _path(chain, function)
    moved = values[:, layers] - values[:, 0].mean()
    return Case(
        left=moved if upwards else -moved,
        right=2 * distance,
        words=f"two samples at width {chain.width}, {function}, layer {layers}",
    )


def sleeper(
    common: float,
    steps: int,
    bound: Callable[[float, int], float] = lambda common, steps: 0.999**steps,
) -> Case:
    """Return the distance between the laws from two starts, for a chain that mostly stays.

    With probability ``common`` it moves to one of its two states at random, else it stays. The
    distance is total variation. ``bound`` is ``alpha^steps`` with an alpha below 1, or what takes
    its place. The drift condition of the thesis holds with the function L = (0, 1), gamma = 0 and
    K = 1.

    >>> sleeper(0.0, 10).left
    1.0
    """
    p = (1 - common) * np.eye(2) + common / 2
    later = np.linalg.matrix_power(p, steps)
    drift = np.array([0.0, 1.0])
    return Case(
        left=float(np.abs(later[0] - later[1]).sum() / 2),
        right=bound(common, steps),
        hypotheses={"a drift: E L(next) <= 0 L + 1": bool(np.all(p @ drift <= 1))},
        words=f"a chain of two states that stays with probability {1 - common / 2:g}, step {steps}",
    )


def drift_at_dependent_samples(
    samples: int,
    width: int,
    alpha: float,
    *,
    stream: Stream,
    rate: Callable[[float, float], float] = lambda alpha, smallest: 2 / 3 * alpha,
) -> Case:
    """Return Eq. (A.6) of the thesis for equal samples: vhat after a layer against its bound.

    ``(1 - rate) vhat + 1/sqrt d`` with vhat = 1/n. The printed rate is ``2/3 alpha``;
    ``rate(alpha, squared smallest singular value)`` takes its place.

    >>> case = drift_at_dependent_samples(2, 10_000, 0.5, stream=Stream(0))
    >>> round(case.left, 12), round(case.right, 4)
    (0.5, 0.3433)
    """
    z = torch.from_numpy(stream.numpy("dependent", width).standard_normal(width))
    normalize = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")
    vhat = float(sp.lyapunov_gap(normalize(z.repeat(samples, 1))))
    return Case(
        left=vhat,
        right=(1 - rate(alpha, 0.0)) / samples + width**-0.5,
        hypotheses={"alpha is a possible smallest singular value": 0 < alpha <= samples**-0.5},
        words=f"{samples} equal samples, width {width}, $\\alpha = {alpha:g}$",
    )


def smallest_drift(
    gammas: Iterable[float], samples: int, count: int, stream: Stream
) -> pd.DataFrame:
    """Return ``gamma, K, radius``: the least K with ``E vhat(next) <= gamma vhat + K`` everywhere.

    At infinite width, over ``count`` spectra, one of them with a missing direction. The radius is
    ``2 K / (1 - gamma)``: below it the cited theorem needs a common part of the next laws.

    >>> smallest_drift([0.5], 2, 10, Stream(0))
       gamma     K  radius
    0    0.5  0.25     1.0
    """
    spectra = sp.spectra.varied(samples, count, stream)
    now = 1 / samples - spectra[:, -1]
    later = 1 / samples - theory.expected_spectrum(spectra)[:, -1]
    gamma = np.array(list(gammas))
    needed = (later[None] - gamma[:, None] * now).max(axis=1)
    return pd.DataFrame({"gamma": gamma, "K": needed, "radius": 2 * needed / (1 - gamma)})
