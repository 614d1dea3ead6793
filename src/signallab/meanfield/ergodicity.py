"""Does the chain of representations forget its input, and how fast (MF Eq. 3.4, Assumption 3.1)?

Total variation is bounded from both sides. From below: the difference of the probabilities of one
event. From above: two copies of the chain, run so that they meet as soon as they can, and stay
together from there; the laws differ at most by the probability that they have not met.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signallab.meanfield.gram_recursion import activation
from signalprop import theory
from signalprop.limits import gram_fixed_point
from signalprop.random import Stream

__all__ = [
    "Coupling",
    "apart",
    "close_pair",
    "distance_after",
    "kernels",
    "layers_to_forget",
    "tied",
    "total_variation",
    "unmet",
    "unmet_below",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Layer = Callable[[torch.Tensor], Any]

SAME = 1e-6  # squared distance of two samples, over their size, below which they count as equal


def kernels(count: int, states: int, stream: Stream) -> list[Floats]:
    """Return transition matrices: a cycle, which never mixes, and random ones with many zeros.

    From five states on also a funnel, where laws spread and come together again: distances other
    than the total variation grow there for sure, and among random chains for most draws only.

    >>> kernels(1, 3, Stream(0))[0]
    array([[0., 1., 0.],
           [0., 0., 1.],
           [1., 0., 0.]])
    """
    draw = stream.numpy("kernels", states)
    cycle = np.roll(np.eye(states), 1, axis=1)
    fixed = [cycle, _funnel(states)] if states >= 5 else [cycle]
    rows = np.full(states, 0.3)
    return [*fixed, *(draw.dirichlet(rows, size=states) for _ in range(count - len(fixed)))]


def _funnel(states: int) -> Floats:
    """From the last but one to all in the middle, from these to the last, then to the first."""
    kernel = np.zeros((states, states))
    kernel[0, [0, -2]] = 0.9, 0.1  # the first is left now and then
    kernel[1:-2, -1] = 1.0
    kernel[-2, 1:-2] = 1 / (states - 3)
    kernel[-1, 0] = 1.0
    return kernel


def total_variation(difference: Floats) -> float:
    """Return the largest difference over events of two laws on finitely many states.

    >>> total_variation(np.array([0.5, -0.25, -0.25]))
    0.5
    """
    return float(np.abs(difference).sum() / 2)


def distance_after(
    kernel: Floats,
    steps: int,
    start: int,
    measure: Callable[[Floats], float] = total_variation,
) -> Case:
    """The distance to the stationary law after a step more, against that before.

    >>> case = distance_after(np.array([[0.5, 0.5], [0.5, 0.5]]), 0, 0)
    >>> round(case.left, 12), round(case.right, 12)
    (0.0, 0.5)
    """
    stationary = theory.stationary_law(kernel)
    before = np.linalg.matrix_power(kernel, steps)[start]
    left, right = measure(before @ kernel - stationary), measure(before - stationary)
    words = f"a chain of {len(kernel)} states from state {start + 1}, step {steps + 1}"
    return Case(left, right, words=words)


def close_pair(n: int, distance: float) -> sp.inputs.Input:
    """Return Gaussian samples of which the second is the first plus ``distance`` times noise.

    >>> x = close_pair(3, 0.0)(4, 1, Stream(0))[0]
    >>> bool((x[0] == x[1]).all())
    True
    """
    plain = sp.inputs.gaussian_samples(n)

    def draw(width: int, runs: int, stream: Stream) -> torch.Tensor:
        x = plain(width, runs, stream)
        x[:, 1] = x[:, 0] + distance * x[:, 1]
        return x

    return draw


def tied(h: torch.Tensor) -> torch.Tensor:
    """Return the batch with sample 2 replaced by sample 1: what equal samples are without rounding.

    >>> tied(torch.tensor([[1.0, 2.0], [1.0, 3.0]]))
    tensor([[1., 2.],
            [1., 2.]])
    """
    return torch.cat([h[..., :1, :], h[..., :1, :], h[..., 2:, :]], dim=-2)


def layers_to_forget(
    name: str,
    n: int,
    width: int,
    distances: Sequence[float],
    depth: int,
    runs: int,
    stream: Stream,
) -> pd.DataFrame:
    """Return ``distance, layers``: the layers until a close pair of samples has come apart.

    Apart means that the squared distance of the two after the activation is half of what G* has for
    it, or more. ``layers`` is the median over the runs; infinite if not within the depth.

    >>> layers_to_forget("relu", 3, 20, [1.0], 9, 3, Stream(0))["distance"].tolist()
    [1.0]
    """
    point = gram_fixed_point(activation(name), n)
    enough = point.diagonal - point.off_diagonal
    rows = []
    for distance in distances:
        draw = stream.child("forget", name, n, repr(distance))
        before, gap = _layers(name, tie=distance == 0)
        path = sp.Chain(width, before=before).run(close_pair(n, distance), depth, runs, draw)
        far = path.measure(gap).values[..., 0] >= enough
        first = np.where(far.any(axis=1), far.argmax(axis=1), np.inf)
        rows.append({"distance": distance, "layers": float(np.median(first))})
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Coupling:
    """Pairs of chains of MF Eq. 3.1: one from a close pair, the other from independent samples.

    >>> Coupling("relu", 3, 20, 4, 5, Stream(0)).runs
    5
    """

    name: str
    n: int
    width: int
    depth: int
    runs: int
    stream: Stream


def unmet(coupling: Coupling, distance: float) -> Floats:
    """Return whether the two chains have not met by each layer: ``(runs, depth + 1)``, 0 or 1.

    Given both Gram matrices G and G', the next batches have the densities p and p' of d independent
    Gaussian rows. The first is drawn from p, and taken by the second as well with probability
    ``min(1, p'/p)``; else the second is drawn from the rest of p'. So they are equal with
    probability ``1 - tv(p, p')``, the largest possible. Chains that have met go on together.

    >>> unmet(Coupling("relu", 3, 20, 4, 5, Stream(0)), 1.0)[:, 0]
    array([1., 1., 1., 1., 1.])
    """
    return _unmet(coupling, distance)


def unmet_below(
    coupling: Coupling, distance: float, layer: int, bound: Callable[[float, int], float]
) -> Case:
    """Mixing from a close pair: the chance of not having met, one a run, against a bound.

    It is at least the total variation between the laws from the close pair and from independent
    samples. ``bound`` knows distance and layer.

    >>> unmet_below(Coupling("relu", 3, 20, 4, 5, Stream(0)), 1.0, 4, lambda e, l: 2.0).right
    2.0
    """
    words = f"{coupling.name}, {coupling.n} samples, a pair at distance {distance:g}, layer {layer}"
    left = unmet(coupling, distance)[:, layer]
    return Case(left, bound(distance, layer), {"all samples differ": distance > 0}, words=words)


def apart(
    coupling: Coupling,
    distance: float,
    layer: int,
    alpha: float,
    bound: Callable[[float, int, float], float] = lambda distance, layer, alpha: (
        (1 - alpha) ** layer
    ),
) -> Case:
    """MF Assumption 3.1 from below: probability that samples 1 and 2 are nearly equal, of two laws.

    The left side has the mean ``P(A) - P'(A)``, at most the total variation between the laws of two
    chains at that layer: from a close pair, and from independent samples. By the assumption it is
    at most ``2 (1 - alpha)^layer``, by the triangle inequality over the stationary law; ``bound``
    replaces half of that.

    >>> case = apart(Coupling("relu", 3, 20, 4, 5, Stream(0)), 0.0, 4, 0.5)
    >>> float(case.left.mean()), case.right
    (1.0, 0.125)
    """
    equal = [_nearly_equal(coupling, d)[:, layer] for d in (distance, 1.0)]
    words = f"{coupling.name}, {coupling.n} samples, two of them at distance {distance:g}, layer "
    words += f"{layer}, $\\alpha = {alpha:g}$"
    return Case(equal[0] - equal[1], 2 * bound(distance, layer, alpha), words=words)


def _layers(
    name: str, tie: bool
) -> tuple[list[Layer], Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]]:
    """Return the layers before the weights, and the squared distance and size of samples 1 and 2.

    Both are averages over the neurons. ``tie`` keeps the two samples equal against rounding.
    """
    before: list[Layer] = [*([tied] if tie else []), sp.BatchNorm(), activation(name)]

    def gap(h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = h
        for layer in before:
            y = layer(y)
        return (y[..., 0, :] - y[..., 1, :]).square().mean(-1), y[..., 0, :].square().mean(-1)

    return before, gap


@cache
def _nearly_equal(coupling: Coupling, distance: float) -> Floats:
    """Whether samples 1 and 2 of the Gram matrix nearly coincide, ``(runs, depth + 1)``."""
    before, gap = _layers(coupling.name, tie=distance == 0)

    def close(h: torch.Tensor) -> torch.Tensor:
        square, size = gap(h)
        near: torch.Tensor = (square < SAME * size).double()
        return near

    draw = coupling.stream.child("pair", coupling.name, coupling.n, repr(distance))
    chain = sp.Chain(coupling.width, before=before)
    path = chain.run(close_pair(coupling.n, distance), coupling.depth, coupling.runs, draw)
    values: Floats = path.measure(close).values
    return values


@cache
def _unmet(coupling: Coupling, distance: float) -> Floats:
    c = coupling
    draw = c.stream.child("coupling", c.name, c.n, repr(distance))
    generator = draw.numpy("steps")
    first = close_pair(c.n, distance)(c.width, c.runs, draw.child("first")).numpy()
    second = sp.inputs.gaussian_samples(c.n)(c.width, c.runs, draw.child("second")).numpy()
    separate = np.ones(c.runs, dtype=bool)
    found = np.ones((c.runs, c.depth + 1))
    for layer in range(1, c.depth + 1):
        roots = [_root(c.name, h[separate]) for h in (first, second)]
        first[separate], second[separate], met = _step(roots, c.width, generator)
        separate[np.flatnonzero(separate)[met]] = False
        found[:, layer] = separate
        if not separate.any():
            found[:, layer:] = 0
            break
    return found


def _root(name: str, h: Floats) -> Floats:
    """A root L of the next covariance, ``(runs, n, n)``: ``L L^T = G``, from the batch itself."""
    y = activation(name)(sp.BatchNorm()(torch.from_numpy(h)))
    upper = torch.linalg.qr(y.mT / h.shape[-1] ** 0.5, mode="r").R
    root: Floats = upper.mT.numpy()
    return root


def _step(
    roots: Sequence[Floats], width: int, generator: np.random.Generator
) -> tuple[Floats, Floats, Any]:
    """Draw both next batches ``(runs, n, width)`` and whether they are the same."""
    runs, n = roots[0].shape[:2]

    def draw(root: Floats) -> Floats:
        drawn: Floats = root @ generator.standard_normal((len(root), n, width))
        return drawn

    def log_ratio(x: Floats, to: Floats, of: Floats) -> Floats:
        """log of the density with root ``to`` over that with root ``of``, at x."""
        logs = []
        for root in (to, of):
            size = np.log(np.abs(np.diagonal(root, axis1=1, axis2=2))).sum(axis=1)
            white = np.linalg.solve(root, x)
            logs.append(-width * size - (white**2).sum(axis=(1, 2)) / 2)
        difference: Floats = logs[0] - logs[1]
        return difference

    first = draw(roots[0])
    met = np.log(generator.random(runs)) <= log_ratio(first, roots[1], roots[0])
    second = first.copy()
    open_runs = np.flatnonzero(~met)
    while open_runs.size:
        one, other = roots[0][open_runs], roots[1][open_runs]
        proposal = draw(other)
        kept = np.log(generator.random(len(one))) > log_ratio(proposal, one, other)
        second[open_runs[kept]] = proposal[kept]
        open_runs = open_runs[~kept]
    return first, second, met
