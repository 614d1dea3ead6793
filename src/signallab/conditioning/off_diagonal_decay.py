"""Kernel entries off the diagonal: COND Assumption A, Lemmas 20 to 22, Theorem 3, L_0 and B."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.reference import (
    ACTIVATIONS,
    GRAMS,
    directions,
    equicorrelated,
    fan,
    off_diagonal,
)
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream
from signalprop.theory.conditioning.decay import Rounding

__all__ = [
    "SEPARATIONS",
    "chains",
    "decay",
    "depths",
    "entries",
    "errors",
    "exponents",
    "falls",
    "maps",
    "mirrored",
    "one_step",
    "order_of_l_0",
    "paths",
    "product",
    "readings",
    "separation",
    "sets_of_inputs",
]

#: Separations of two inputs; the last two are beyond 1/2, where L_0 is 0.
SEPARATIONS: Floats = np.array([1e-3, 0.01, 0.1, 0.3, 0.4, 0.48, 0.6, 0.9])
GAPS: Floats = np.linspace(0.0, 1.0, 2001)[1:-1]
SMALLEST = 1e-280  # of a correlation, where doubles end

Bound = Literal["B", "sharpest", "B, a layer ahead", "sharpest, a layer ahead"]


def sets_of_inputs() -> dict[str, tuple[Floats, float]]:
    """Return unit inputs by name, as a Gram matrix, with the separation that they have by design.

    Of random directions the separation is found by a loop over pairs.

    >>> round(sets_of_inputs()["a fan of 3"][1], 12)
    0.5
    """
    x = directions()
    closest = max(abs(float(a @ b)) for i, a in enumerate(x) for b in x[:i])
    found: dict[str, tuple[Floats, float]] = {
        "20 random directions": (GRAMS["20 random directions"], 1 - closest)
    }
    for n, rho in [(10, 0.9), (5, 0.2), (4, -1 / 3)]:
        found[f"{n} inputs of cosine {rho:.2g}"] = (equicorrelated(n, rho), 1 - abs(rho))
    for n in (3, 8, 12):
        found[f"a fan of {n}"] = (fan(n) @ fan(n).T, 1 - math.cos(math.pi / n))
    return found


def separation(name: str, *, signed: bool = False, mean: bool = False) -> Case:
    """COND Assumption A: the largest delta of a set of inputs, beside the one it has by design.

    ``signed`` leaves out the absolute value, ``mean`` takes the mean over pairs for the largest.

    >>> case = separation("10 inputs of cosine 0.9")
    >>> round(float(case.left), 12), round(case.right, 12)
    (0.1, 0.1)
    """
    gram, right = sets_of_inputs()[name]
    pairs = gram[np.triu_indices(len(gram), k=1)]
    left = float(theory.cond_assumption_a(gram - np.diag(np.diag(gram)) + np.eye(len(gram))))
    if signed or mean:
        values = pairs if signed else np.abs(pairs)
        left = 1 - float(values.mean() if mean else values.max())
    return Case(left, right, words=name)


def readings(mu: float, delta: float, depth: int, rounding: Rounding = "up") -> Case:
    """Return the quadratic map's correlation beside ``B``, in the layer where it comes nearest.

    The map ``(1 - mu) rho + mu rho^2`` from ``1 - delta`` is the worst that ``mu`` allows. The
    brackets of ``L_0`` are rounded ``up``, ``down`` or not at all (``none``).

    >>> case = readings(1.0, 0.4, 3, "down")
    >>> round(case.left, 12), case.right, case.words
    (0.36, 0.25, 'μ = 1, δ = 0.4, layer 1')
    """
    k = sp.KernelMap.from_series([0, 1 - mu, mu])
    true = np.asarray(k.iterate(1 - delta, depth))[1:]
    bound = theory.cond_b(np.arange(1.0, depth + 1), delta, mu, rounding)
    at = int(np.argmax(true / bound))
    words = f"μ = {mu:g}, δ = {delta:g}, layer {at + 1}"
    return Case(float(true[at]), float(bound[at]), words=words)


def falls(mu: float, delta: float, depth: int, *, first: float = 1.0, step: float = 1.0) -> Case:
    """``B(L + step)`` beside ``B(L)``, where the quotient is largest: does B rise with depth?

    For L = ``first``, ``first + step``, .., ``depth``. From layer 0 on, and at half layers, it may.

    >>> falls(1.0, 0.4, 4).words, round(falls(1.0, 0.48, 4, step=0.5).left, 6)
    ('μ = 1, δ = 0.4, layer 1', 0.353553)
    """
    layers = np.arange(first, depth + step, step)
    b = np.asarray(theory.cond_b(layers, delta, mu))
    at = int(np.argmax(b[1:] / b[:-1]))
    words = f"μ = {mu:g}, δ = {delta:g}, layer {layers[at]:g}"
    return Case(float(b[at + 1]), float(b[at]), words=words)


def order_of_l_0(nu: float, delta: float, *, constant: float = 1.0, power: float = 1.0) -> Case:
    """Return ``L_0`` beside ``log(1/delta) / (nu log(3/2))``, for ``delta < 1/2``.

    Right because ``log(1 + x) >= 2 log(3/2) x`` on [0, 1/2]. ``constant`` and another ``power`` of
    ``nu`` make rivals.

    >>> case = order_of_l_0(1.0, 0.1)
    >>> float(case.left), round(case.right, 6)
    (4.0, 5.678874)
    """
    right = constant * math.log(1 / delta) / (nu**power * math.log(1.5))
    hypotheses = {"δ < 1/2": delta < 0.5}
    return Case(float(theory.cond_l_0(delta, nu)), right, hypotheses, f"ν = {nu:g}, δ = {delta:g}")


def maps(series: int, largest: int, stream: Stream) -> dict[str, sp.KernelMap]:
    """Return dual activations by name: those in use, and batches of power series made to attack.

    The batches are random series of orders up to ``largest``, and pairs of orders that lie far
    apart. The pairs of orders 1 and 2 are the quadratic maps.

    >>> list(maps(3, 5, sp.Stream(0)))[-2:]
    ['random series', 'pairs of orders']
    """
    batches = {
        "random series": sp.limits.random_series(series, largest, stream),
        "pairs of orders": sp.limits.pair_series(
            [1, 2, 3, 5, 10, 40], [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]
        ),
    }
    in_use = {name: sp.KernelMap(phi) for name, phi in ACTIVATIONS.items()}
    return in_use | {name: sp.KernelMap.from_series(w) for name, w in batches.items()}


def _mu(k: sp.KernelMap) -> Floats:
    return np.asarray(np.minimum(k.nonlinearity, 1.0))  # 1 up to rounding


def mirrored(name: str, k: sp.KernelMap, *, factor: float = 1.0) -> Case:
    """COND Lemma 21, first inequality: ``|s(-r)| <= factor s(r)`` for r in (0, 1).

    >>> mirrored("square", sp.KernelMap.from_series([0, 0, 1.0])).words
    'square'
    """
    r = GAPS.reshape(-1, *[1] * np.ndim(k(0.0)))
    left, right = np.abs(k(-r)), np.asarray(k(r))
    return Case(float(np.max(left / (factor * right))), 1.0, words=name)


def product(name: str, k: sp.KernelMap, *, factor: float = 1.0) -> Case:
    """COND, proof of Lemma 21: ``s(1 - delta) <= (1 - delta)(1 - mu delta)``.

    Compared are the distances to 1, which keep their digits: the smallest quotient of
    ``1 - s(1 - delta)`` by ``delta (1 + mu - mu delta)`` is at least 1. ``factor`` goes to ``mu``.

    >>> round(product("square", sp.KernelMap.from_series([0, 0, 1.0])).left, 12)
    1.0
    """
    delta = GAPS.reshape(-1, *[1] * np.ndim(k(0.0)))
    mu = factor * _mu(k)
    left = delta * (1 + mu - mu * delta) / np.asarray(k.complement(delta))
    return Case(float(left.max()), 1.0, words=name)


def one_step(name: str, k: sp.KernelMap, *, share: float = 0.5) -> Case:
    """COND Lemma 21: ``1 - (1 + mu/2) delta`` up to 1/2, ``(1 - mu/2)(1 - delta)`` beyond.

    ``left`` is the worst quotient of each branch; ``share`` stands for the 1/2 of ``mu/2``.

    >>> one_step("square", sp.KernelMap.from_series([0, 0, 1.0])).left.round(6)
    array([1.  , 0.999])
    """
    mu = _mu(k)
    shape = (-1, *[1] * np.ndim(mu))
    near, far = GAPS[GAPS <= 0.5].reshape(shape), GAPS[GAPS > 0.5].reshape(shape)
    first = (1 + share * mu) * near / np.asarray(k.complement(near))
    second = np.asarray(k(1 - far)) / ((1 - share * mu) * (1 - far))
    return Case(np.array([first.max(), second.max()]), np.ones(2), words=name)


def paths(k: sp.KernelMap, deltas: Floats, depth: int) -> Floats:
    """Return ``|rho_L|`` for L = 1..depth, ``(deltas, 4, .., depth)``.

    From 1 - delta, from delta - 1, and from half of both.

    >>> paths(sp.KernelMap.from_series([0, 0, 1.0]), np.array([0.5]), 2)[0, 0]
    array([0.25  , 0.0625])
    """
    starts = (1 - deltas[:, None]) * np.array([1.0, -1.0, 0.5, -0.5])
    whole = np.asarray(k.iterate(starts.reshape(*starts.shape, *[1] * np.ndim(k(0.0))), depth))
    return np.asarray(np.abs(whole[..., 1:]))


def decay(
    name: str, k: sp.KernelMap, depth: int, bound: Bound = "B", *, factor: float = 1.0
) -> Case:
    """COND Lemma 22: ``|rho_L|`` beside its bound, where their quotient is largest.

    From all :data:`SEPARATIONS`. ``bound`` is ``B``, ``sharpest`` (the quadratic map), or one of
    them ``, a layer ahead``; ``factor`` goes to ``mu``.

    >>> round(decay("square", sp.KernelMap.from_series([0, 0, 1.0]), 3, "sharpest").left, 12)
    1.0
    """
    mu = np.clip(factor * _mu(k), None, 1.0)
    true = paths(k, SEPARATIONS, depth)
    deltas = SEPARATIONS.reshape(-1, 1, *[1] * np.ndim(mu))
    ratio = _quotient(true, _allowed(bound, depth, deltas, mu))
    place = np.unravel_index(int(ratio.argmax()), ratio.shape)
    words = f"{name}, δ = {SEPARATIONS[place[0]]:g}, layer {place[-1] + 1}"
    return Case(float(ratio[place]), 1.0, words=words)


def entries(
    inputs: str, activation: str, depth: int, bound: Bound = "B", *, missing: int = 0
) -> Case:
    """COND Theorem 3: the largest ``|Kbar_ij|`` off the diagonal beside its bound.

    At the depth up to ``depth`` where it comes nearest. ``missing`` is how many layers the feature
    map has less: 1 as printed in Section 3.1.

    >>> case = entries("10 inputs of cosine 0.9", "second Hermite", 2)
    >>> round(case.left, 6), round(case.right, 6), case.words
    (0.81, 0.85, 'second Hermite, 10 inputs of cosine 0.9, layer 1')
    """
    gram, phi = GRAMS[inputs], ACTIVATIONS[activation]
    delta = float(theory.cond_assumption_a(gram))
    layers = list(range(1 - missing, depth + 1 - missing))
    largest = np.abs(off_diagonal(gram, phi, layers)).max((-2, -1))
    allowed = _allowed(bound, depth, delta, _mu(sp.KernelMap(phi)))
    at = int(_quotient(largest, allowed).argmax())
    words = f"{activation}, {inputs}, layer {at + 1}"
    return Case(float(largest[at]), float(allowed[at]), {"0 < δ < 1": 0 < delta < 1}, words)


def _quotient(true: Floats, allowed: Floats) -> Floats:
    return np.where(true > SMALLEST, true / np.maximum(allowed, SMALLEST), 0.0)


def _allowed(bound: Bound, depth: int, delta: float | Floats, mu: Floats) -> Floats:
    """The bound for L = 1..depth: ``(.., depth)``, with delta and mu broadcast."""
    name, _, ahead = bound.partition(", ")
    shift = 1 if ahead == "a layer ahead" else 0
    if name == "B":
        layers = np.arange(1.0, depth + 1) + shift
        return np.asarray(theory.cond_b(layers, np.asarray(delta)[..., None], mu[..., None]))
    return np.asarray(theory.cond_sharpest(delta, mu, depth + shift))[..., 1 + shift :]


def depths(delta: float, level: float, shown: int) -> pd.DataFrame:
    """Return how many layers bring ``1 - delta`` to ``level``: in truth, at worst, and by ``B``.

    Beside them the correlation after ``shown`` layers, in truth and by ``B``.

    >>> depths(0.1, 0.1, 4).iloc[0, 2:5].tolist()    # the second Hermite polynomial
    [5, 5, 7]
    """
    rows = []
    for name, phi in ACTIVATIONS.items():
        k = sp.KernelMap(phi)
        mu, most = float(_mu(k)), 600
        curves = {
            "layers, in truth": np.asarray(k.iterate(1 - delta, most)),
            "layers, at worst": theory.cond_sharpest(delta, mu, most),
            "layers, by B": theory.cond_b(np.arange(most + 1.0), delta, mu),
        }
        needed = {column: int(np.argmax(curve <= level)) for column, curve in curves.items()}
        after = {
            f"after {shown} layers": float(curves["layers, in truth"][shown]),
            f"B after {shown} layers": float(curves["layers, by B"][shown]),
        }
        rows.append({"activation": name, "μ": mu, **needed, **after})
    return pd.DataFrame(rows)


def chains(
    activations: Sequence[str],
    rho: float,
    widths: Sequence[int],
    depth: int,
    runs: int,
    seed: Stream,
) -> dict[str, dict[int, Floats]]:
    """Return the kernel ``Phi(x) . Phi(y)`` in networks of finite width, ``(runs, depth)`` each.

    Of two unit inputs of inner product ``rho``, for each activation and width; layers 1 to depth.

    >>> chains(["tanh"], 0.5, [8], 2, 3, sp.Stream(0))["tanh"][8].shape
    (3, 2)
    """

    def kernel(phi: sp.Activation, width: int, stream: Stream) -> Floats:
        net = sp.Chain(width, layers=[phi])
        path = net.run(sp.inputs.with_correlation(rho), depth, runs, stream)
        return np.asarray(path.measure(sp.gram).values)[:, 1:, 0, 1] / width

    return {
        name: {m: kernel(ACTIVATIONS[name], m, seed.child(name, m)) for m in widths}
        for name in activations
    }


def errors(
    found: Mapping[str, Mapping[int, Floats]], rho: float, layers: Sequence[int], *, lag: int = 0
) -> pd.DataFrame:
    """Return ``|k - limit|`` run by run: ``activation, layer, width, run, error``.

    ``lag`` compares with the limit some layers further on: a rival.

    >>> rows = errors({"tanh": {4: np.zeros((2, 3))}}, 0.0, [1, 3])
    >>> len(rows), float(rows["error"].max())
    (4, 0.0)
    """
    parts = []
    for name, by_width in found.items():
        limit = np.asarray(sp.KernelMap(ACTIVATIONS[name]).iterate(rho, max(layers) + lag))
        for width, values in by_width.items():
            for layer in layers:
                off = np.abs(values[:, layer - 1] - limit[layer + lag])
                run = {"run": np.arange(len(off)), "error": off}
                parts.append(
                    pd.DataFrame({"activation": name, "layer": layer, "width": width, **run})
                )
    return pd.concat(parts, ignore_index=True)


def exponents(rows: pd.DataFrame, batches: int) -> Floats:
    """Return the slope of log mean error against log width: ``(batches, activations * layers)``.

    Runs are split into ``batches`` that are independent of each other.

    >>> rows = pd.DataFrame({"activation": "a", "layer": 1, "width": [1, 1, 4, 4]})
    >>> exponents(rows.assign(run=[0, 1, 0, 1], error=[1.0, 1, 0.5, 0.5]), 2)
    array([[-0.5],
           [-0.5]])
    """
    batch = rows["run"] % batches
    mean = rows.groupby([batch, "activation", "layer", "width"], sort=False)["error"].mean()
    table = np.log(mean.unstack("width"))
    widths = np.log(table.columns.to_numpy(dtype=float))
    slopes = np.polyfit(widths, table.to_numpy().T, 1)[0]
    return np.asarray(slopes.reshape(batches, -1))
