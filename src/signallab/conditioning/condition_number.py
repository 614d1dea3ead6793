"""Condition numbers of the top-layer kernel: COND Corollaries 4 and 8, Theorem 7, Lemma 23.

Condition numbers come as their excess over 1, which keeps its digits. ``delta`` is the separation
of the inputs in Assumption A, or the smallest eigenvalue of their Gram matrix in Assumption B.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.reference import (
    ACTIVATIONS,
    GRAMS,
    equicorrelated,
    excess,
    off_diagonal,
)
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "INPUTS",
    "WELL_POSED",
    "constants",
    "corollary_4",
    "corollary_8",
    "curves",
    "first_words",
    "implies",
    "lemma_23",
    "power_series",
    "proof_of_corollary_8",
    "rank_of_noise",
    "rates",
    "reach_of_discs",
    "theorem_7",
    "unit_grams",
]

#: Gram matrices that satisfy Assumption A.
INPUTS: Mapping[str, Floats] = {**GRAMS, "2 inputs of cosine 0.9": equicorrelated(2, 0.9)}
#: Gram matrices that satisfy Assumption B; random directions are fewer than dimensions here.
WELL_POSED: Mapping[str, Floats] = {
    "10 inputs of cosine 0.9": GRAMS["10 inputs of cosine 0.9"],
    "2 inputs of cosine 0.5": equicorrelated(2, 0.5),
    "2 inputs of cosine 0.999": equicorrelated(2, 0.999),
    "8 of the random directions": GRAMS["20 random directions"][:8, :8],
}
TINY = 1e-290  # of an excess, where doubles end
ROUNDING = 1e-12


def _gram(inputs: str) -> Floats:
    return {**INPUTS, **WELL_POSED}[inputs]


@functools.cache
def _mu(activation: str) -> float:
    return min(float(sp.KernelMap(ACTIVATIONS[activation]).nonlinearity), 1.0)


@functools.cache
def _excess(inputs: str, activation: str, layers: tuple[int, ...]) -> Floats:
    """``kappa - 1`` of the kernel matrix after each of the ``layers``, ``(layers,)``."""
    return excess(off_diagonal(_gram(inputs), ACTIVATIONS[activation], layers))


def curves(inputs: str, activation: str, depth: int) -> pd.DataFrame:
    """Return the excess of the condition number by layer, and what bounds it.

    Columns: layer, truth, Corollary 4 and what its proof gives (from ``L_1`` on), and under
    Assumption B Corollary 8 and its sharper form.

    >>> curves("2 inputs of cosine 0.5", "second Hermite", 2)["truth"].round(6).tolist()
    [2.0, 0.666667, 0.133333]
    """
    gram = _gram(inputs)
    n, mu, layers = len(gram), _mu(activation), np.arange(depth + 1.0)
    a = float(theory.cond_assumption_a(gram))
    late = layers >= float(theory.cond_l_1(n, a, mu))
    columns: dict[str, Floats] = {
        "layer": layers,
        "truth": _excess(inputs, activation, tuple(range(depth + 1))),
        "Corollary 4": np.where(late, theory.cond_corollary_4(layers, n, a, mu), np.nan),
        "what its proof gives": np.where(
            late, theory.cond_corollary_4_sharper(layers, n, a, mu), np.nan
        ),
    }
    b = float(theory.cond_assumption_b(gram))
    if b > ROUNDING:
        columns["Corollary 8"] = theory.cond_corollary_8(layers, n, b, mu)
        columns["Corollary 8, sharper"] = theory.cond_corollary_8_sharper(layers, n, b, mu)
    return pd.DataFrame(columns)


def reach_of_discs(n: int, delta: float, mu: float, rounding: Literal["up", "down"] = "up") -> Case:
    """COND, proof of Corollary 25: ``(n - 1) B(L_1, delta) <= 1/2``, for either rounding.

    >>> case = reach_of_discs(8, 0.1, 1.0)
    >>> round(case.left, 6)
    0.4375
    """
    layers = theory.cond_l_1(n, delta, mu, rounding)
    left = (n - 1) * float(theory.cond_b(layers, delta, mu))
    return Case(left, 0.5, {"n > 1": n > 1}, words=f"n = {n}, δ = {delta:g}, μ = {mu:g}")


def corollary_4(
    inputs: str, activation: str, beyond: int, *, sharper: bool = False, ahead: int = 0
) -> Case:
    """COND Corollary 4: ``kappa - 1`` beside its bound, in the worst layer from ``L_1`` on.

    As far as ``L_1 + beyond``. ``sharper`` is ``2x / (1 - x)`` with ``x = (n - 1) q`` and the
    iterated parabola q in the place of B: what discs give. ``ahead`` layers make a rival.

    >>> case = corollary_4("10 inputs of cosine 0.9", "ReLU", 10)
    >>> case.left < case.right
    True
    """
    gram = INPUTS[inputs]
    n, mu = len(gram), _mu(activation)
    delta = float(theory.cond_assumption_a(gram))
    first = int(theory.cond_l_1(n, delta, mu))
    layers = tuple(range(first, first + beyond + 1))
    if sharper:
        q = theory.cond_sharpest(delta, mu, layers[-1] + ahead)[first + ahead :]
        bound = 2 * (n - 1) * q / (1 - (n - 1) * q)
    else:
        bound = theory.cond_corollary_4(np.array(layers, dtype=float) + ahead, n, delta, mu)
    return _worst(_excess(inputs, activation, layers), bound, layers, f"{activation}, {inputs}")


def first_words(inputs: str, shown: int) -> pd.DataFrame:
    """Return where Corollary 4 begins to speak, what it says there, and what is true.

    Beside it what is true after ``shown`` layers.

    >>> first_words("2 inputs of cosine 0.9", 1).iloc[0, 1:5].round(4).tolist()
    [5.0, 0.0711, 1.0, 4.0]
    """
    gram = INPUTS[inputs]
    n, delta = len(gram), float(theory.cond_assumption_a(gram))
    rows = []
    for name in ACTIVATIONS:
        mu = _mu(name)
        first = int(theory.cond_l_1(n, delta, mu))
        early, there = _excess(inputs, name, (min(shown, first), max(shown, first)))
        rows.append(
            {
                "activation": name,
                "L₁": first,
                "κ − 1 after L₁": float(there if first >= shown else early),
                "by the proof": float(theory.cond_corollary_4_sharper(first, n, delta, mu)),
                "as printed": float(theory.cond_corollary_4(first, n, delta, mu)),
                f"κ − 1 after {shown}": float(early if first >= shown else there),
            }
        )
    return pd.DataFrame(rows)


def constants(n: int, delta: float, mu: float, *, factor: float = 1.0) -> Case:
    """Return n beside the quotient of Corollary 4 as printed and as its proof gives it.

    The print has ``L - L_1`` in an exponent where the proof has ``L - L_0``, which costs
    ``(1 - mu/2)^(L_0 - L_1) >= n``. ``factor`` makes a rival.

    >>> round(constants(8, 0.1, 1.0).right, 6)
    9.142857
    """
    layers = float(theory.cond_l_1(n, delta, mu)) + 5
    printed = float(theory.cond_corollary_4(layers, n, delta, mu))
    proven = float(theory.cond_corollary_4_sharper(layers, n, delta, mu))
    return Case(factor * n, printed / proven, words=f"n = {n}, δ = {delta:g}, μ = {mu:g}")


def corollary_8(
    inputs: str, activation: str, depth: int, *, sharper: bool = False, factor: float = 1.0
) -> Case:
    """COND Corollary 8: ``kappa - 1`` beside ``(n/delta)(1 + mu/2)^-L``, in the worst layer.

    ``sharper`` is ``n (1/delta - 1)(1 + mu)^-L``; ``factor`` makes a rival.

    >>> case = corollary_8("2 inputs of cosine 0.999", "second Hermite", 1, sharper=True)
    >>> 0.99 < case.left / case.right < 1
    True
    """
    gram = WELL_POSED[inputs]
    n, mu = len(gram), _mu(activation)
    delta = float(theory.cond_assumption_b(gram))
    layers = tuple(range(1, depth + 1))
    bound = theory.cond_corollary_8_sharper if sharper else theory.cond_corollary_8
    right = factor * bound(np.array(layers, dtype=float), n, delta, mu)
    return _worst(_excess(inputs, activation, layers), right, layers, f"{activation}, {inputs}")


def proof_of_corollary_8(
    n: int, delta: float, mu: float, layers: int, *, factor: float = 1.0
) -> Case:
    """COND, proof of Corollary 25, part 2: every step of its two chains of inequalities.

    ``left`` has the terms of the chain that applies to so many layers, ``right`` the next ones.
    ``factor`` goes to the last term.

    >>> case = proof_of_corollary_8(3, 0.1, 1.0, 2)
    >>> case.left.round(4), case.right.round(4)
    (array([10.3333, 10.3333]), array([10.3333, 13.3333]))
    """
    b = float(theory.cond_b(float(layers), delta, mu))
    start = float(theory.cond_l_0(delta, mu))
    final = factor * float(theory.cond_corollary_8(layers, n, delta, mu))
    begin = (1 + (n - 1) * b) / (1 - b) - 1
    if layers <= start:
        grown = delta * (1 + mu / 2) ** layers
        chain = [begin, n * (1 - grown) / (1 - (1 - grown)), final]
    else:
        fallen = (1 - mu / 2) ** (layers - start)
        powers = (1 + mu / 2) ** -layers * (1 + mu / 2) ** start
        chain = [begin, n / 2 * fallen / (1 - fallen / 2), n * fallen, n * powers, final]
    return Case(
        np.array(chain[:-1]),
        np.array(chain[1:]),
        words=f"n = {n}, δ = {delta:g}, μ = {mu:g}, layer {layers}",
    )


def theorem_7(
    inputs: str,
    activation: str,
    depth: int,
    bound: Literal["B", "sharpest"] = "B",
    *,
    missing: int = 0,
) -> Case:
    """COND Theorem 7: ``1 - lambda_min`` beside ``B(L, delta)``, in the worst layer.

    Both sides as distances from 1, which tell deep layers apart. ``bound`` is ``B``, or
    ``sharpest``, the iterated parabola. ``missing`` layers make a rival.

    >>> case = theorem_7("2 inputs of cosine 0.5", "second Hermite", 1)
    >>> round(case.left, 9), round(case.right, 9)
    (0.25, 0.25)
    """
    gram = WELL_POSED[inputs]
    mu, delta = _mu(activation), float(theory.cond_assumption_b(gram))
    layers = tuple(range(1, depth + 1))
    if bound == "B":
        ceiling = theory.cond_b(np.array(layers, dtype=float), delta, mu)
    else:
        ceiling = theory.cond_sharpest(delta, mu, depth)[1:]
    shifted = [layer - missing for layer in layers]
    lowest = np.linalg.eigvalsh(off_diagonal(gram, ACTIVATIONS[activation], shifted))[:, 0]
    return _worst(np.asarray(-lowest, dtype=float), ceiling, layers, f"{activation}, {inputs}")


def power_series(count: int, order: int, stream: Stream) -> Floats:
    """Return random non-negative weights with a constant, ``(count, order + 1)``, of any sum.

    >>> power_series(2, 5, sp.Stream(0)).shape
    (2, 6)
    """
    weights = sp.limits.random_series(count, order, stream)
    rng = stream.child("constants").numpy()
    weights[:, 0] = rng.random(count)
    return np.asarray(weights * rng.uniform(0.1, 10, (count, 1)))


def unit_grams(count: int, n: int, dimension: int, stream: Stream) -> Floats:
    """Return Gram matrices of n random unit vectors, ``(count, n, n)``.

    >>> unit_grams(2, 3, 5, sp.Stream(0)).shape
    (2, 3, 3)
    """
    x = stream.numpy().standard_normal((count, n, dimension))
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    grams = x @ x.swapaxes(-1, -2)
    grams[:, np.arange(n), np.arange(n)] = 1.0
    return grams


def lemma_23(weights: Floats, gram: Floats, *, factor: float = 1.0, sign: float = 1.0) -> Case:
    """COND Lemma 23: ``f(1) - f(1 - delta)`` beside the smallest eigenvalue of ``f[K]``.

    f is the power series with ``weights``, and delta the smallest eigenvalue of K. ``factor``, and
    a ``sign`` of -1 for ``f(delta - 1)``, make rivals.

    >>> case = lemma_23(np.array([1.0, 0, 1]), equicorrelated(2, 0.5))
    >>> round(case.left, 9), round(case.right, 9)
    (0.75, 0.75)
    """
    delta = float(theory.cond_assumption_b(gram))
    f = np.polynomial.Polynomial(weights)
    values = f(gram)
    lowest = float(np.linalg.eigvalsh(values)[0])
    right = lowest + ROUNDING * float(np.abs(values).max()) * len(gram)
    hypotheses = {"f ≥ 0 by orders": bool((weights >= 0).all()), "K ≥ δ > 0": delta > 0}
    left = factor * float(f(1.0) - f(sign * (1 - delta)))
    return Case(left, right, hypotheses, words=f"n = {len(gram)}")


def implies(gram: Floats, *, factor: float = 1.0) -> Case:
    """COND, after Assumption B: its delta is at most that of Assumption A; ``factor`` is a rival.

    >>> implies(equicorrelated(2, 0.5)).words
    'n = 2'
    """
    left = factor * float(theory.cond_assumption_b(gram))
    return Case(left, float(theory.cond_assumption_a(gram)) + ROUNDING, words=f"n = {len(gram)}")


def rank_of_noise(
    n: int, dimension: int, noise: float, stream: Stream, *, share: float = 1.0
) -> Case:
    """Return the smallest eigenvalue of n equal inputs plus white noise, beside ``noise^2 / 100``.

    ``left`` is the threshold that counts as satisfying Assumption B, ``right`` the eigenvalue. With
    more inputs than dimensions it is 0, whatever the noise. A ``share`` of the noise is added.

    >>> rank_of_noise(5, 3, 0.1, sp.Stream(0)).right < 1e-12
    True
    """
    x = share * noise * stream.numpy().standard_normal((n, dimension)) / np.sqrt(dimension)
    x[:, 0] += 1
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    gram = x @ x.T
    np.fill_diagonal(gram, 1.0)
    right = max(float(theory.cond_assumption_b(gram)), 0.0)
    return Case(noise**2 / 100, right, words=f"n = {n}, d = {dimension}")


def rates(inputs: str, first: float = 1e-2, last: float = 1e-4) -> pd.DataFrame:
    """Return by which factor a layer shrinks ``kappa - 1``, between ``first`` and ``last``.

    Beside it ``1 - mu``, ``1/(1 + mu)`` and ``1 - mu/2``. Missing where the fall takes fewer than
    three layers.

    >>> rows = rates("10 inputs of cosine 0.9").set_index("activation")
    >>> round(float(rows.loc["ReLU", "measured"]), 2)
    0.73
    """
    rows = []
    for name in ACTIVATIONS:
        mu = _mu(name)
        values = _excess(inputs, name, tuple(range(1000 if mu < 0.05 else 200)))
        within = np.flatnonzero((values < first) & (values > last))
        measured = np.nan
        if len(within) > 2:
            measured = float(np.exp(np.polyfit(within, np.log(values[within]), 1)[0]))
        bounds = {"1 − μ": 1 - mu, "1/(1 + μ)": 1 / (1 + mu), "1 − μ/2": 1 - mu / 2}
        rows.append({"activation": name, "measured": measured, **bounds})
    return pd.DataFrame(rows)


def _worst(true: Floats, bound: Floats, layers: tuple[int, ...], words: str) -> Case:
    """Both sides in the layer where the bound is nearest, as long as doubles hold the numbers."""
    seen = true > TINY
    ratio = np.where(seen, true / np.maximum(bound, TINY), 0.0)
    at = int(ratio.argmax())
    return Case(float(true[at]), float(bound[at]), words=f"{words}, layer {layers[at]}")
