"""Least squares on the features of the top layer: COND Section 4.1 and Appendix E.

The loss is ``(1/n) |A w - y|^2`` with the features of n inputs as the rows of A. Both descents act
on the residuals ``r = A w - y`` through ``K = A A^T`` alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.reference import (
    ACTIVATIONS,
    directions,
    equicorrelated,
    excess,
    off_diagonal,
)
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "deep_kernel",
    "descent",
    "descent_steps",
    "epoch",
    "expected_average",
    "proof_step",
    "rate_by_depth",
    "sgd_steps",
    "smallest_eigenvalue",
    "steps_by_depth",
    "steps_by_inputs",
    "system",
    "theorem_44",
    "theorem_45",
    "theorem_50",
    "theorem_51",
]

CONDITION = 1.2  # of the kernel matrix, at most, at the depth of Theorem 44


def system(n: int, features: int, stream: Stream) -> tuple[Floats, Floats]:
    """Return a random ``(n, features)`` matrix with rows of unequal lengths, and n labels.

    >>> system(2, 5, sp.Stream(0))[0].shape
    (2, 5)
    """
    rng = stream.numpy()
    lengths = rng.uniform(0.5, 1.5, (n, 1))
    return lengths * rng.standard_normal((n, features)) / math.sqrt(features), rng.standard_normal(
        n
    )


def descent(a: Floats, y: Floats, step: float, count: int) -> Floats:
    """Return the losses of gradient descent from 0: ``(count + 1,)``.

    >>> descent(np.eye(2), np.array([1.0, 1.0]), 0.5, 2).round(4)
    array([1.    , 0.25  , 0.0625])
    """
    w, n = np.zeros(a.shape[1]), len(a)
    losses = []
    for _ in range(count + 1):
        residual = a @ w - y
        losses.append(float(residual @ residual) / n)
        w = w - step * 2 / n * (a.T @ residual)
    return np.array(losses)


def theorem_50(
    n: int,
    features: int,
    stream: Stream,
    *,
    exponent: float = 0.25,
    tall: bool = False,
    forgotten: bool = False,
) -> Case:
    """COND Theorem 50: the loss beside ``exp(-t / 4 kappa)``, at the step where it is nearest.

    The step size is ``n / (2 lambda_max)``, 1 over the smoothness of the loss. ``exponent`` stands
    for 1/4; ``tall`` swaps inputs and features, so that ``A^T A`` is invertible and not ``A A^T``;
    ``forgotten`` leaves the n out of the step size.

    >>> case = theorem_50(3, 6, sp.Stream(0))
    >>> case.left <= case.right
    True
    """
    rows, columns = (features, n) if tall else (n, features)
    a, y = system(rows, columns, stream)
    values = np.linalg.svd(a, compute_uv=False) ** 2
    kappa = float(values[0] / values[-1])
    step = (1 if forgotten else rows) / (2 * float(values[0]))
    losses = descent(a, y, step, math.ceil(20 * kappa))
    losses = losses / losses[0]
    bound = np.exp(-exponent * np.arange(len(losses)) / kappa)
    ratio = np.where(losses > 1e-24, losses / bound, 0.0)
    at = 1 + int(ratio[1:].argmax())
    words = f"{rows} inputs, {columns} features, step {at}"
    hypotheses = {"invertible": bool(values[-1] > 1e-9 * values[0])}
    return Case(float(losses[at]), float(bound[at]), hypotheses, words=words)


def expected_average(k: Floats, residual: Floats, step: float, count: int) -> tuple[Floats, Floats]:
    """Return expected losses of SGD on one input a step, without sampling: two ``(count,)``.

    First of the iterate, then of the average of all iterates so far. Exact: ``r`` becomes
    ``r - 2 step r_i K e_i`` for a uniform i, so second moments of r and of its running sum follow
    linear recursions.

    >>> expected_average(np.eye(2), np.array([1.0, 1.0]), 0.5, 3)[0]
    array([1.  , 0.5 , 0.25])
    """
    n = len(k)
    mean = np.eye(n) - 2 * step / n * k
    moment = np.outer(residual, residual)
    with_sum, of_sum = moment.copy(), moment.copy()
    last, average = [np.trace(moment) / n], [np.trace(moment) / n]
    for t in range(2, count + 1):
        drift = k @ moment
        noise = (k * np.diag(moment)) @ k
        moment = moment - 2 * step / n * (drift + drift.T) + 4 * step**2 / n * noise
        crossed = with_sum @ mean
        with_sum = crossed + moment
        of_sum = of_sum + crossed + crossed.T + moment
        last.append(np.trace(moment) / n)
        average.append(np.trace(of_sum) / n / t**2)
    return np.array(last), np.array(average)


def epoch(n: int, features: int, stream: Stream) -> tuple[Floats, Floats, float, float]:
    """Return K, the residual along its smallest eigenvector, beta and ``n beta / lambda_min``.

    >>> epoch(2, 5, sp.Stream(0))[0].shape
    (2, 2)
    """
    a, _ = system(n, features, stream)
    k = a @ a.T
    values, vectors = np.linalg.eigh(k)
    beta = float(np.diag(k).max())
    return k, vectors[:, 0], beta, n * beta / float(values[0])


def theorem_51(n: int, features: int, stream: Stream, *, factor: float = 8.0) -> Case:
    """COND Theorem 51: the expected loss of the average over an epoch beside half the first loss.

    An epoch has ``factor * n beta / lambda_min`` steps, of size ``1 / (2 beta)``. It starts along
    the smallest eigenvector.

    >>> case = theorem_51(3, 6, sp.Stream(0))
    >>> case.left < case.right
    True
    """
    k, residual, beta, unit = epoch(n, features, stream)
    _, average = expected_average(k, residual, 1 / (2 * beta), math.ceil(factor * unit))
    return Case(float(average[-1] / average[0]), 0.5, words=f"{n} inputs, {features} features")


def proof_step(n: int, features: int, stream: Stream, *, true_constants: bool = False) -> Case:
    """COND, proof of Theorem 51: from the second line of the chain to the third.

    At ``w = 0`` with rows of length 1, and ``|w - w*|^2`` in both lines. The print has
    ``-eta (w - w*).grad + eta^2 E|grad_i|^2 <= -eta L + eta^2 E[r_i^2 |a_i|^2]``; with
    ``true_constants`` it is ``-2 eta`` on the left, ``-4 eta`` and ``4 eta^2`` on the right.

    >>> case = proof_step(3, 6, sp.Stream(0))
    >>> case.left > case.right
    True
    """
    a, y = system(n, features, stream)
    a = a / np.linalg.norm(a, axis=1, keepdims=True)
    w = np.linalg.lstsq(a, y, rcond=None)[0]
    distance = float(w @ w)  # from w = 0
    gradients = -2 * y[:, None] * a
    beta = float((a**2).sum(1).max())
    eta = 1 / (2 * beta)
    inner, square = float(-w @ gradients.mean(0)), float((gradients**2).sum(1).mean())
    loss, weighted = float((y**2).mean()), float((y**2 * (a**2).sum(1)).mean())
    first, second = (2, 4) if true_constants else (1, 1)
    left = distance - first * eta * inner + eta**2 * square
    right = distance - second * eta * loss + second * eta**2 * weighted
    return Case(left, right * (1 + 1e-12), words=f"{n} inputs, {features} features")


@functools.cache
def deep_kernel(n: int, activation: str, dimension: int = 20) -> tuple[Floats, int]:
    """Return the kernel matrix of n random directions and its depth, that of COND Theorem 44.

    The depth is the first at which the proof of Corollary 4 promises a condition number of 1.2; it
    is of the order of ``log(n / delta) / mu``.

    >>> deep_kernel(5, "second Hermite")[1]
    6
    """
    x = directions(n, dimension)
    gram = x @ x.T
    np.fill_diagonal(gram, 1.0)
    phi = ACTIVATIONS[activation]
    mu = min(float(sp.KernelMap(phi).nonlinearity), 1.0)
    delta = float(theory.cond_assumption_a(gram))
    depth = 0
    while theory.cond_corollary_4_sharper(depth, n, delta, mu) > CONDITION - 1:
        depth += 1
    off = off_diagonal(gram, phi, [depth])[0]
    if not excess(off) <= CONDITION - 1:
        raise AssertionError(f"condition number {1 + float(excess(off))} at depth {depth}")
    return np.eye(n) + off, depth


def descent_steps(k: Floats, step: float, target: float) -> int:
    """Return how many steps of gradient descent bring the loss to ``target`` of the first one.

    Labels are 1, -1, 1, ... and the first weights 0.

    >>> descent_steps(np.eye(4), 1.0, 1e-3)    # halved residuals: a fourth of the loss a step
    5
    """
    n = len(k)
    residual = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    first, count = float(residual @ residual), 0
    while residual @ residual > target * first:
        residual = residual - 2 * step / n * (k @ residual)
        count += 1
        if count > 100_000:
            raise ValueError(f"step {step} does not reach {target} in {count} steps")
    return count


def theorem_44(
    n: int, activation: str, target: float, *, power: float = 0.0, first: int = 10
) -> Case:
    """COND Theorem 44: steps to the target for n inputs, beside twice those for ``first`` inputs.

    The step size is ``n^power / (4 lambda_max)``: printed is the power 0.

    >>> case = theorem_44(20, "second Hermite", 1e-3, power=1.0)
    >>> case.left, case.right
    (5, 10)
    """

    def steps(count: int) -> int:
        k, _ = deep_kernel(count, activation)
        return descent_steps(k, count**power / (4 * float(np.linalg.eigvalsh(k)[-1])), target)

    return Case(steps(n), 2 * steps(first), words=f"{n} inputs, {activation}")


def sgd_steps(k: Floats, step: float, target: float) -> int:
    """Return after how many steps of SGD the expected loss is ``target`` of the first one.

    >>> sgd_steps(np.eye(2), 0.5, 0.2)    # each step clears one of two residuals
    3
    """
    n = len(k)
    residual = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    count = 8 * n
    while True:
        last, _ = expected_average(k, residual, step, count)
        reached = np.flatnonzero(last <= target * last[0])
        if len(reached):
            return int(reached[0])
        count *= 4
        if count > 100_000:
            raise ValueError(f"step {step} does not reach {target} in {count} steps")


def theorem_45(
    n: int, activation: str, target: float, step: float, *, power: float = 0.0, first: int = 10
) -> Case:
    """COND Theorem 45: SGD's steps for n inputs, beside twice ``(n / first)^power`` those of few.

    Printed is the power 0: a number of steps that does not grow with n.

    >>> case = theorem_45(20, "second Hermite", 0.1, 0.5, power=1.0)
    >>> case.left < case.right
    True
    """
    many, few = (sgd_steps(deep_kernel(c, activation)[0], step, target) for c in (n, first))
    return Case(many, 2 * (n / first) ** power * few, words=f"{n} inputs, {activation}")


def smallest_eigenvalue(n: int, activation: str, *, power: float = 1.0, first: int = 10) -> Case:
    """COND, proof of Theorem 45: ``lambda_min = Omega(n)``, and mended ``Omega(n^power)``.

    ``left`` is half of what ``first`` inputs have, times ``(n / first)^power``.

    >>> case = smallest_eigenvalue(40, "second Hermite")
    >>> case.left > case.right
    True
    """
    many, few = (float(np.linalg.eigvalsh(deep_kernel(c, activation)[0])[0]) for c in (n, first))
    return Case(few / 2 * (n / first) ** power, many, words=f"{n} inputs, {activation}")


def _by_depth(n: int, rho: float, activation: str, depths: Sequence[int]) -> tuple[Floats, Floats]:
    off = off_diagonal(equicorrelated(n, rho), ACTIVATIONS[activation], list(depths))
    return np.eye(n) + off, 1 + excess(off)


def rate_by_depth(depth: int, activation: str, *, power: float = 1.0) -> Case:
    """COND Remark 46: log of the factor of the loss a step, beside ``2 log((k+1)/(k-1))``.

    For 10 inputs of cosine 0.9 after so many layers, with the best constant step
    ``n / (lambda_min + lambda_max)`` and ten steps run; k is the condition number to the ``power``.

    >>> case = rate_by_depth(2, "ReLU")
    >>> abs(case.left - case.right) < 1e-9
    True
    """
    k, kappa = _by_depth(10, 0.9, activation, [depth])
    values = np.linalg.eigvalsh(k[0])
    residual = np.where(np.arange(10) < 3, 2.0, -1.0)
    losses = [float(residual @ residual)]
    for _ in range(10):
        residual = residual - 2 / (values[0] + values[-1]) * (k[0] @ residual)
        losses.append(float(residual @ residual))
    x = float(kappa[0]) ** power
    left = float(np.log(losses[0] / losses[-1])) / 10
    return Case(left, 2 * math.log((x + 1) / (x - 1)), words=f"{activation}, layer {depth}")


def steps_by_depth(activations: Sequence[str], depth: int, target: float) -> pd.DataFrame:
    """Return the steps that the best constant step size needs: activation, layer, kappa, steps.

    >>> steps_by_depth(["second Hermite"], 1, 1e-3).columns.tolist()
    ['activation', 'layer', 'condition number', 'steps']
    """
    rows = []
    for name in activations:
        _, kappas = _by_depth(10, 0.9, name, range(depth + 1))
        for layer, kappa in enumerate(kappas):
            steps = math.log(1 / target) / (2 * math.log((kappa + 1) / (kappa - 1)))
            rows.append((name, layer, float(kappa), max(1, math.ceil(steps))))
    return pd.DataFrame(rows, columns=["activation", "layer", "condition number", "steps"])


def steps_by_inputs(
    sizes: Sequence[int], activation: str, target: float, step: float
) -> pd.DataFrame:
    """Return steps of both descents by the number of inputs, with the printed step and the mended.

    >>> steps_by_inputs([10], "second Hermite", 0.1, 0.5).shape
    (1, 5)
    """
    rows = []
    for n in sizes:
        k, depth = deep_kernel(n, activation)
        top = float(np.linalg.eigvalsh(k)[-1])
        rows.append(
            {
                "inputs": n,
                "layers": depth,
                "step 1/(4λ)": descent_steps(k, 1 / (4 * top), target),
                "step n/(4λ)": descent_steps(k, n / (4 * top), target),
                "one input a step": sgd_steps(k, step, target),
            }
        )
    return pd.DataFrame(rows)
