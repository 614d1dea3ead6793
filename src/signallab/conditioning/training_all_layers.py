"""Gradient descent on all layers: COND Section 4.2 and Appendix E.2.

In the limit of large width the residuals ``r`` of the loss ``|r|^2 / n`` obey
``r <- r - (2 eta / n) T r`` with the tangent kernel T, a fixed matrix (Jacot et al., 2018).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.reference import ACTIVATIONS, directions
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "beside_limit",
    "corollary_48",
    "depth_of_corollary_6",
    "first_good_depth",
    "kernels",
    "mended_47",
    "network_47",
    "rate_in_the_end",
    "rates",
    "remark_49_depth",
    "remark_49_shallow",
    "spectra",
    "steps",
    "tangent_condition",
    "theorem_47",
    "trained",
]

DIMENSION = 20  # of the inputs
FIRST = 10  # inputs, those of the smallest set
GOOD = 3.0  # the condition number that Corollary 6 aims at: discs of half the diagonal


@functools.cache
def kernels(n: int, activation: str, depth: int) -> tuple[Floats, Floats]:
    """Return the kernel matrix of the top layer and the tangent kernel, for n random directions.

    >>> [k.shape for k in kernels(5, "sine", 1)]
    [(5, 5), (5, 5)]
    """
    phi, gram = ACTIVATIONS[activation], _gram(n)
    return np.asarray(sp.nngp(gram, phi, depth)), np.asarray(sp.ntk(gram, phi, depth))


def _gram(n: int) -> Floats:
    x = directions(n, DIMENSION)
    gram = x @ x.T
    np.fill_diagonal(gram, 1.0)
    return gram


@functools.cache
def _map(activation: str) -> sp.KernelMap:
    return sp.KernelMap(ACTIVATIONS[activation])


def depth_of_corollary_6(n: int, activation: str) -> int:
    """Return ``L_2 = [2 log(2n) / -log(1 - mu/2)] + 2 L_0`` of COND Corollary 6.

    >>> depth_of_corollary_6(10, "sine")
    80
    """
    mu = float(_map(activation).nonlinearity)
    delta = float(theory.cond_assumption_a(_gram(n)))
    extra = math.ceil(2 * math.log(2 * n) / -math.log1p(-mu / 2))
    return extra + 2 * int(theory.cond_l_0(delta, mu))


def _ends(kernel: Floats) -> tuple[float, float]:
    values = np.linalg.eigvalsh(kernel)
    return float(values[0]), float(values[-1])


def _worst_start(kernel: Floats) -> Floats:
    """The residual with equal parts along the smallest and the largest eigenvector."""
    vectors = np.linalg.eigh(kernel)[1]
    return np.asarray(vectors[:, 0] + vectors[:, -1])


def _step(kernel: Floats, power: float) -> float:
    """``2 (n/2)^power / (lambda_min + lambda_max)``: power 0 is printed, power 1 is the mend."""
    return float(2 * (len(kernel) / 2) ** power / sum(_ends(kernel)))


def steps(tangent: Floats, step: float, target: float) -> int:
    """Return how many steps bring the loss to ``target`` of the first, from the worst start.

    >>> steps(np.diag([1.0, 3.0]), 0.5, 1e-3)    # residuals are halved
    5
    """
    residual = _worst_start(tangent)
    first, count = float(residual @ residual), 0
    while residual @ residual > target * first:
        residual = residual - 2 * step / len(tangent) * (tangent @ residual)
        count += 1
        if count > 100_000 or not residual @ residual < 1e100 * first:
            raise ValueError(f"step {step} does not reach {target} in {count} steps")
    return count


def theorem_47(n: int, activation: str, depth: int, target: float, *, power: float = 0.0) -> Case:
    """COND Theorem 47: steps to the target over kappa, beside twice those of the fewest inputs.

    The tangent kernel is in the step size; ``power`` 0 is the printed one, 1 has the missing n.

    >>> case = theorem_47(40, "sine", 4, 1e-3, power=1.0)
    >>> case.left < case.right
    True
    """

    def relative(count: int) -> float:
        tangent = kernels(count, activation, depth)[1]
        low, high = _ends(tangent)
        return steps(tangent, _step(tangent, power), target) * low / high

    return Case(relative(n), 2 * relative(FIRST), words=f"{n} inputs, {activation}, L = {depth}")


def mended_47(
    n: int, activation: str, depth: int, count: int, *, exponent: float = 4.0, plain: bool = False
) -> Case:
    """COND Theorem 47, mended: the loss beside ``exp(-exponent t / kappa)``, at its worst step.

    From the worst start with ``eta = n / (lambda_min + lambda_max)``; ``plain`` takes both
    eigenvalues from the kernel of the top layer. True because each residual keeps a share of at
    most ``(kappa - 1) / (kappa + 1) <= exp(-2 / kappa)``.

    >>> case = mended_47(10, "sine", 4, 5)
    >>> case.left < case.right
    True
    """
    top, tangent = kernels(n, activation, depth)
    low, high = _ends(tangent)
    residual = _worst_start(tangent)
    step = _step(top if plain else tangent, 1.0)
    losses = [residual @ residual]
    for _ in range(count):
        residual = residual - 2 * step / n * (tangent @ residual)
        losses.append(residual @ residual)
    share = np.array(losses[1:]) / losses[0]
    bound = np.exp(-exponent * np.arange(1, count + 1) * low / high)
    seen = share > 1e-20  # below are rounding errors
    ratio = np.where(seen, share / bound, 0.0)
    at = int(ratio.argmax())
    words = f"{n} inputs, {activation}, L = {depth}, step {at + 1}"
    return Case(float(share[at]), float(bound[at]), words=words)


def corollary_48(
    n: int,
    activation: str,
    target: float,
    *,
    part: float = 1.0,
    power: float = 0.0,
    share: float = 1.0,
    of_logarithm: float = 1.0,
) -> Case:
    """COND Corollary 48 and Theorem 14: steps to ``target``, beside twice ``log(1 / target)``.

    The unit are the steps of the fewest inputs to a tenth. The depth is ``part`` of ``L_2``, the
    step ``share`` of that of :func:`theorem_47` with this ``power``; ``of_logarithm`` is an
    exponent, 1 in the print.

    >>> case = corollary_48(20, "sine", 1e-6, power=1.0, share=0.5)
    >>> case.left, case.right
    (10, 24.0)
    """

    def needed(count: int, loss: float) -> int:
        depth = round(part * depth_of_corollary_6(count, activation))
        tangent = kernels(count, activation, depth)[1]
        return steps(tangent, share * _step(tangent, power), loss)

    logs = math.log10(1 / target) ** of_logarithm
    words = f"{n} inputs, {activation}, loss {target:g}"
    return Case(needed(n, target), round(2 * needed(FIRST, 0.1) * logs, 9), words=words)


def rates(n: int, activation: str, part: float, doublings: int) -> Floats:
    """Return ``log(first loss / loss) / t`` at the steps t = 4, 8, 16, ..: ``(doublings,)``.

    At infinite width and ``part`` of the depth ``L_2``, with half of the mended step size, from the
    worst start.

    >>> rates(10, "sine", 0.1, 2).round(3)
    array([1.346, 1.312])
    """
    tangent = kernels(n, activation, round(part * depth_of_corollary_6(n, activation)))[1]
    residual, step, losses = _worst_start(tangent), _step(tangent, 1.0) / 2, []
    for _ in range(2 ** (doublings + 1) + 1):
        losses.append(float(residual @ residual))
        residual = residual - 2 * step / n * (tangent @ residual)
    times = 4 * 2 ** np.arange(doublings)
    return np.array([math.log(losses[0] / losses[t]) / t for t in times])


def rate_in_the_end(n: int, activation: str, part: float, *, share: float = 0.5) -> float:
    """Return the limit of :func:`rates`, ``-2 log(1 - 2 share lambda_min / (sum of both ends))``.

    ``share`` is that of the mended step size; half of it leaves ``2 log(1 + 1 / kappa)``.

    >>> round(rate_in_the_end(10, "sine", 0.1), 3)
    1.235
    """
    depth = round(part * depth_of_corollary_6(n, activation))
    low, high = _ends(kernels(n, activation, depth)[1])
    return -2 * math.log1p(-2 * share * low / (low + high))


def tangent_condition(delta: float, activation: str, depth: int, n: int = FIRST) -> Floats:
    """Return kappa of the tangent kernel by depth, ``(depth + 1,)``, for n inputs of ``1 - delta``.

    ``(1 + (n - 1) q) / (1 - q)``, with q an entry over the diagonal.

    >>> tangent_condition(0.5, "sine", 1, n=2)[:1].round(6)
    array([3.])
    """
    kernel = _map(activation)
    paths = np.asarray(kernel.iterate(np.array([1 - delta, 1.0]), depth))
    slopes = np.asarray(kernel.derivative(paths))
    tangent = paths[:, 0]
    shares = [tangent[0] / tangent[1]]
    for layer in range(1, depth + 1):
        tangent = paths[:, layer] + tangent * slopes[:, layer - 1]
        shares.append(tangent[0] / tangent[1])
    q = np.array(shares)
    return np.asarray((1 + (n - 1) * q) / (1 - q))


def first_good_depth(delta: float, activation: str) -> int:
    """Return the first depth at which the tangent kernel of 10 inputs has kappa 3 at most.

    >>> first_good_depth(0.9, "sine")
    0
    """
    depth = 64
    while True:
        good = np.flatnonzero(tangent_condition(delta, activation, depth) <= GOOD)
        if len(good):
            return int(good[0])
        depth *= 2


def remark_49_depth(
    delta: float, activation: str, *, first: float = 1e-2, power: float = 1.0, factor: float = 1.0
) -> Case:
    """COND Remark 49: layers that a smaller delta costs, off ``log(first/delta) / log slope``.

    ``left`` is the difference, ``right`` the 2 layers that rounding can make; the slope is that of
    the dual activation at 1, by which a layer multiplies small separations. ``power`` of the
    logarithm and a ``factor`` make rivals.

    >>> case = remark_49_depth(1e-4, "sine")
    >>> case.left < case.right
    True
    """
    more = first_good_depth(delta, activation) - first_good_depth(first, activation)
    slope = float(_map(activation).derivative(1.0))
    expected = factor * math.log(first / delta) ** power / math.log(slope)
    return Case(abs(more - expected), 2.0, words=f"δ = {delta:g}, {activation}")


def remark_49_shallow(
    delta: float, activation: str, *, first: float = 1e-2, power: float = 1.0
) -> Case:
    """COND Remark 49: with one layer kappa grows like 1/delta.

    ``left`` is how many times larger kappa is than at ``first``, ``right`` the ratio of both to a
    ``power``. The next order is smaller by the factor ``first``: ``1 - q`` is a series in delta.

    >>> case = remark_49_shallow(1e-4, "sine")
    >>> abs(case.left / case.right - 1) < 0.03
    True
    """
    few, many = (float(tangent_condition(d, activation, 1)[1]) for d in (first, delta))
    return Case(many / few, (first / delta) ** power, words=f"δ = {delta:g}, {activation}")


@functools.cache
def trained(
    n: int,
    activation: str,
    depth: int,
    width: int,
    count: int,
    stream: Stream,
    *,
    power: float = 1.0,
) -> tuple[Floats, Floats]:
    """Return the losses of a network of setup (1) in training, and its first residuals.

    All weights take the same step ``2 (n/2)^power / (lambda_min + lambda_max)``, with eigenvalues
    of the infinite width; labels are 1, -1, 1, ... Shapes ``(count + 1,)`` and ``(n,)``.

    >>> trained(3, "erf", 1, 8, 2, sp.Stream(0))[0].shape
    (3,)
    """
    x, phi = torch.from_numpy(directions(n, DIMENSION)), ACTIVATIONS[activation]
    rng = stream.numpy()
    shapes = [(width, DIMENSION), *[(width, width)] * (depth - 1), (1, width)]
    weights = [torch.from_numpy(rng.standard_normal(s)).requires_grad_() for s in shapes]
    labels = torch.from_numpy(np.where(np.arange(n) % 2 == 0, 1.0, -1.0))
    step = _step(kernels(n, activation, depth)[1], power)

    def residuals() -> torch.Tensor:
        u = x @ weights[0].T
        for w in weights[1:]:
            u = phi(u) @ w.T / math.sqrt(width)
        return u[:, 0] - labels

    losses, start = [], residuals().detach().numpy()
    for _ in range(count + 1):
        loss = (residuals() ** 2).mean()
        losses.append(loss.item())
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for w, g in zip(weights, gradients, strict=True):
                w -= step * g
    return np.array(losses), np.asarray(start)


def network_47(
    n: int,
    activation: str,
    depth: int,
    width: int,
    count: int,
    stream: Stream,
    *,
    exponent: float = 1.0,
    power: float = 1.0,
) -> Case:
    """COND Theorem 47, mended: a network's loss beside ``exp(-exponent t / kappa)``, each step.

    The exponent 1 is a fourth of the limit's: a finite network has a kernel of its own. ``power``
    as in :func:`trained`.

    >>> network_47(3, "erf", 1, 8, 2, sp.Stream(0)).right.shape
    (2,)
    """
    losses, _ = trained(n, activation, depth, width, count, stream, power=power)
    low, high = _ends(kernels(n, activation, depth)[1])
    bound = np.exp(-exponent * np.arange(1, count + 1) * low / high)
    return Case(losses[1:] / losses[0], bound, words=f"width {width}, {activation}")


def beside_limit(
    n: int,
    activation: str,
    depth: int,
    width: int,
    count: int,
    streams: Sequence[Stream],
) -> pd.DataFrame:
    """Return losses of networks, of the linear dynamics and of the top layer's: one row a step.

    Columns: run, step, network, limit, top layer alone; each in parts of the first loss. The linear
    dynamics start from the network's own residuals; the last column has the kernel of the top
    layer, at the same step size.

    >>> beside_limit(3, "erf", 1, 8, 2, [sp.Stream(0)]).shape
    (3, 5)
    """
    kernel_of_top, tangent = kernels(n, activation, depth)
    step, frames = _step(tangent, 1.0), []
    for run, stream in enumerate(streams):
        losses, start = trained(n, activation, depth, width, count, stream)
        columns = {"run": run, "step": np.arange(count + 1), "network": losses / losses[0]}
        for name, kernel in {"limit": tangent, "top layer alone": kernel_of_top}.items():
            values, vectors = np.linalg.eigh(kernel)
            shrunk = (1 - 2 * step / n * values) ** np.arange(count + 1)[:, None]
            linear = ((shrunk * (vectors.T @ start)) ** 2).sum(1)
            columns[name] = linear / linear[0]
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def spectra(sizes: Sequence[int], activation: str, depth: int, target: float) -> pd.DataFrame:
    """Return what the tangent kernel does with n inputs: kappa, largest eigenvalue, steps.

    >>> spectra([10], "sine", 4, 1e-3).shape
    (1, 5)
    """
    rows = []
    for n in sizes:
        tangent = kernels(n, activation, depth)[1]
        low, high = _ends(tangent)
        rows.append(
            {
                "inputs": n,
                "κ": high / low,
                "λ max": high,
                "steps, 2/(λ + λ)": steps(tangent, _step(tangent, 0.0), target),
                "steps, n/(λ + λ)": steps(tangent, _step(tangent, 1.0), target),
            }
        )
    return pd.DataFrame(rows)
