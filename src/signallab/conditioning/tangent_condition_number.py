"""Condition numbers of the tangent kernel: COND Corollaries 6, 10 and 28.

Condition numbers come as their excess over 1, which keeps its digits. Kernels are relative, over
their diagonal, which no condition number sees. ``delta`` is the separation of the inputs in
Assumption A, or the smallest eigenvalue of their Gram matrix in Assumption B.
"""

from __future__ import annotations

import functools
import math
from typing import Literal

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.condition_number import INPUTS, WELL_POSED
from signallab.conditioning.reference import excess
from signallab.conditioning.tangent_kernel import SMOOTH, relative, tangent
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.theory.conditioning.decay import Rounding

__all__ = [
    "SLOPED",
    "Bound",
    "chain",
    "corollary_6",
    "corollary_10",
    "curves",
    "discs",
    "first_words",
    "half",
    "late_factor",
    "loss",
    "search",
]

Bound = Literal["as printed", "by the proof", "that of the top layer", "sharpest"]

#: Activations whose dual has a slope at 0, without NormReLU, which gets to its last rate too late.
SLOPED = [name for name in SMOOTH if name not in ("second Hermite", "NormReLU")]
DELTAS: Floats = np.array([0.01, 0.03, 0.1, 0.25, 0.3, 0.35, 0.4, 0.49, 0.6, 0.8, 0.99])
TINY = 1e-290  # of an excess, where doubles end


@functools.cache
def _mu(activation: str) -> float:
    return min(float(sp.KernelMap(SMOOTH[activation]).nonlinearity), 1.0)


@functools.cache
def _excess(inputs: str, activation: str, depth: int) -> Floats:
    """``kappa - 1`` of the tangent kernel for 0..depth layers, ``(depth + 1,)``."""
    return excess(relative(inputs, activation, depth))


def corollary_6(
    inputs: str, activation: str, beyond: int, bound: Bound = "as printed", *, ahead: int = 0
) -> Case:
    """COND Corollary 6: ``kappa - 1`` beside its bound, in the worst layer up to ``L_2 + beyond``.

    From ``L_2`` layers on as printed and as its proof ends; from ``L_1`` on with the bound that the
    proof of Corollary 4 gives for the top layer, and with ``2x / (1 - x)``, the ``sharpest``, where
    ``x = (n - 1) t_L`` has the relative tangent kernel of the parabola. ``ahead`` layers make a
    rival.

    >>> case = corollary_6("2 inputs of cosine 0.9", "second Hermite", 0, "sharpest")
    >>> round(case.left / case.right, 9)
    1.0
    """
    gram = INPUTS[inputs]
    n, mu = len(gram), _mu(activation)
    delta = float(theory.cond_assumption_a(gram))
    late = int(theory.cond_l_2(n, delta, mu))
    layers = np.arange(late + beyond + 1.0)
    first = late if bound in ("as printed", "by the proof") else theory.cond_l_1(n, delta, mu)
    if bound == "sharpest":
        x = (n - 1) * theory.cond_tangent_sharpest(delta, mu, late + beyond + ahead)[ahead:]
        right = 2 * x / np.maximum(1 - x, TINY)
    else:
        of = {
            "as printed": theory.cond_corollary_6,
            "by the proof": theory.cond_corollary_6_proven,
            "that of the top layer": theory.cond_corollary_4_sharper,
        }
        right = of[bound](layers + ahead, n, delta, mu)
    true = _excess(inputs, activation, late + beyond)
    return _worst(true, right, int(first), f"{activation}, {inputs}")


def corollary_10(
    inputs: str, activation: str, depth: int, bound: Bound = "as printed", *, ahead: int = 0
) -> Case:
    """COND Corollary 10: ``kappa - 1`` beside its bound, in the worst layer from 1 to ``depth``.

    Without the condition ``L >= 4 L_0``. The ``sharpest`` is ``n t_L / (1 - t_L)``, with the
    relative tangent kernel of the parabola; that of the top layer ``n (1/delta - 1)(1 + mu)^-L``.

    >>> case = corollary_10("2 inputs of cosine 0.5", "second Hermite", 2, "sharpest")
    >>> round(case.left / case.right, 9)
    1.0
    """
    gram = WELL_POSED[inputs]
    n, mu = len(gram), _mu(activation)
    delta = float(theory.cond_assumption_b(gram))
    true = _excess(inputs, activation, depth)
    right = n * _invertible(bound, depth, np.asarray(delta), np.asarray(mu), ahead)
    return _worst(true, right, 1, f"{activation}, {inputs}")


def _invertible(bound: Bound, depth: int, delta: Floats, mu: Floats, ahead: int) -> Floats:
    """The bound under Assumption B over n, for 0..depth layers: ``(.., depth + 1)``."""
    if bound == "sharpest":
        t = np.asarray(theory.cond_tangent_sharpest(delta, mu, depth + ahead))[..., ahead:]
        return np.asarray(t / (1 - t))
    layers = np.arange(depth + 1.0) + ahead
    of = theory.cond_corollary_8_sharper
    if bound == "as printed":
        of = theory.cond_corollary_10
    return np.asarray(of(layers, 1, delta[..., None], mu[..., None]))


def search(
    name: str,
    k: sp.KernelMap,
    depth: int,
    bound: Bound = "as printed",
    *,
    ahead: int = 0,
    factor: float = 1.0,
) -> Case:
    """COND Corollary 10 on inputs of one common cosine, for each map of a batch.

    For n such inputs ``kappa - 1`` is ``n t / (1 - t)`` with the relative kernel t at that cosine,
    and all bounds have the factor n too, which is left out. Over separations :data:`DELTAS` and 1
    to ``depth`` layers, from ``4 L_0`` on for the bound as printed; ``ahead`` and ``factor`` make
    rivals.

    >>> square = sp.KernelMap.from_series([0, 0, 1.0])
    >>> round(float(search("square", square, 3, "sharpest").left), 9)
    1.0
    """
    mu = np.asarray(np.minimum(k.nonlinearity, 1.0))
    deltas = DELTAS.reshape(-1, *[1] * np.ndim(mu))
    t = np.asarray(tangent(k, 1 - deltas, depth))
    right = factor * _invertible(bound, depth, deltas, mu, ahead)
    seen = (t > TINY) & (np.arange(depth + 1) >= 1)
    if bound == "as printed":
        first = 4 * np.asarray(theory.cond_l_0(deltas, mu))[..., None]
        seen = seen & (np.arange(depth + 1) >= first)
    ratio = np.where(seen, t / (1 - t) / np.maximum(right, TINY), 0.0)
    at = np.unravel_index(int(ratio.argmax()), ratio.shape)
    return Case(float(ratio[at]), 1.0, words=f"{name}, δ = {DELTAS[at[0]]:g}, {at[-1]} layers")


def loss(n: int, delta: float, mu: float, *, factor: float = 1.0) -> Case:
    """Return ``4 n^2`` beside the quotient of Corollary 6 as printed and as its proof gives it.

    The print has ``L_2`` in the exponent where the proof has ``L_0``. ``factor`` makes a rival.

    >>> round(loss(8, 0.5, 1.0).right, 6)    # (8/7) 2^8
    292.571429
    """
    layers = float(theory.cond_l_2(n, delta, mu)) + 5
    printed = float(theory.cond_corollary_6(layers, n, delta, mu))
    proven = float(theory.cond_corollary_6_proven(layers, n, delta, mu))
    return Case(factor * 4 * n**2, printed / proven, words=f"n = {n}, δ = {delta:g}, μ = {mu:g}")


def discs(n: int, delta: float, mu: float, rounding: Rounding = "up") -> Case:
    """COND, proof of Corollary 28: ``2 (n - 1) B(L/2) <= 1/2`` at ``L = L_2``.

    >>> round(discs(8, 0.1, 1.0).left, 6)
    0.4375
    """
    layers = theory.cond_l_2(n, delta, mu, rounding)
    left = 2 * (n - 1) * float(theory.cond_b(layers / 2, delta, mu, rounding))
    return Case(left, 0.5, {"n > 1": n > 1}, words=f"n = {n}, δ = {delta:g}, μ = {mu:g}")


def half(delta: float, mu: float, *, half: float = 0.5) -> Case:
    """COND, proof of Corollary 28: ``(1 - mu/2)^(L_0) <= 1/2``; another ``half`` makes a rival.

    >>> half(0.4, 1.0).left, half(0.5, 1.0).left
    (0.5, 1.0)
    """
    left = (1 - mu / 2) ** float(theory.cond_l_0(delta, mu))
    return Case(left, half, {"0 < δ < 1": 0 < delta < 1}, words=f"δ = {delta:g}, μ = {mu:g}")


def chain(delta: float, mu: float, beyond: int, *, n: int = 10, factor: float = 1.0) -> Case:
    """COND, proof of Corollary 28, part 2: each link of its chain, at ``L = 4 L_0 + beyond``.

    ``left`` has the terms of the chain, ``right`` the next ones; ``factor`` goes to the last.

    >>> case = chain(0.1, 1.0, 1)    # L = 17
    >>> case.left.round(3), case.right.round(3)
    (array([0.462, 0.462, 0.884, 3.226]), array([0.462, 0.884, 3.226, 6.372]))
    """
    start = float(theory.cond_l_0(delta, mu))
    layers = 4 * start + beyond
    b = float(theory.cond_b(layers / 2, delta, mu))
    y = (1 - mu / 2) ** (layers / 2 - start)
    links = [
        2 * n * b / (1 - 2 * b),
        n * y / (1 - y),
        2 * n * y,
        2 * n * (1 + mu / 2) ** (start - layers / 2),
        factor * float(theory.cond_corollary_10(layers, n, delta, mu)),
    ]
    words = f"δ = {delta:g}, μ = {mu:g}, L = 4 L₀ + {beyond}"
    return Case(np.array(links[:-1]), np.array(links[1:]), {"L > 2 L₀": layers > 2 * start}, words)


def first_words(inputs: str) -> pd.DataFrame:
    """Return where Corollary 6 begins to speak, what is true there, and where it says 2.

    ``kappa - 1`` after ``L_2`` layers: the truth, what the proof gives and the print; then the
    first depth at which the printed bound of ``kappa`` is at most 2, and the first at which that is
    true, as far as ``L_2``.

    >>> first_words("2 inputs of cosine 0.9")["L₂"].tolist()[:2]
    [12, 46]
    """
    gram = INPUTS[inputs]
    n, delta = len(gram), float(theory.cond_assumption_a(gram))
    rows = []
    for name in SMOOTH:
        mu = _mu(name)
        late = int(theory.cond_l_2(n, delta, mu))
        true = _excess(inputs, name, late)
        two = 2 * (late + math.log(4 * n) / -math.log1p(-mu / 2))
        rows.append(
            {
                "activation": name,
                "L₂": late,
                "κ − 1 after L₂": float(true[-1]),
                "by the proof": float(theory.cond_corollary_6_proven(late, n, delta, mu)),
                "as printed": float(theory.cond_corollary_6(late, n, delta, mu)),
                "κ ≤ 2 as printed": math.ceil(two - 1e-9),
                "κ ≤ 2 in truth": int(np.argmax(true <= 1)),
            }
        )
    return pd.DataFrame(rows)


def late_factor(activation: str, *, of_top_layer: bool = False) -> Case:
    """Return by which factor a late layer shrinks ``(kappa - 1) / (L + 1)``, for a pair of inputs.

    Beside ``s'(0) / s'(1)``, or ``s'(0)``, the rate of the top layer. After ``30 / mu`` layers.

    >>> case = late_factor("ReLU")
    >>> round(case.left, 2), round(case.right, 2)
    (0.5, 0.5)
    """
    k = sp.KernelMap(SMOOTH[activation])
    depth = math.ceil(30 / _mu(activation))
    before, after = tangent(k, np.array(0.9), depth)[-2:]
    left = float(after / before) * depth / (depth + 1)
    slope = float(k.derivative(0.0))
    right = slope if of_top_layer else slope / float(k.derivative(1.0))
    return Case(left, right, words=f"{activation}, {depth} layers")


def curves(inputs: str, activation: str, depth: int) -> pd.DataFrame:
    """Return ``kappa - 1`` of the tangent kernel by depth, and what bounds it.

    Columns: depth, truth, Corollary 6 and what its proof gives (from ``L_2`` on), and under
    Assumption B Corollary 10 (from ``4 L_0`` on) and its sharpest form.

    >>> curves("2 inputs of cosine 0.9", "second Hermite", 1)["truth"].round(6).tolist()
    [18.0, 8.526316]
    """
    gram = {**INPUTS, **WELL_POSED}[inputs]
    n, mu, layers = len(gram), _mu(activation), np.arange(depth + 1.0)
    a = float(theory.cond_assumption_a(gram))
    late = layers >= float(theory.cond_l_2(n, a, mu))
    columns: dict[str, Floats] = {
        "depth": layers,
        "truth": _excess(inputs, activation, depth),
        "Corollary 6": np.where(late, theory.cond_corollary_6(layers, n, a, mu), np.nan),
        "what its proof gives": np.where(
            late, theory.cond_corollary_6_proven(layers, n, a, mu), np.nan
        ),
    }
    b = float(theory.cond_assumption_b(gram))
    if b > 1e-12:
        late = layers >= 4 * float(theory.cond_l_0(b, mu))
        printed = np.where(late, theory.cond_corollary_10(layers, n, b, mu), np.nan)
        columns["Corollary 10"] = printed
        sharpest = _invertible("sharpest", depth, np.asarray(b), np.asarray(mu), 0)
        columns["Corollary 10, sharpest"] = n * sharpest
    return pd.DataFrame(columns)


def _worst(true: Floats, bound: Floats, first: int, words: str) -> Case:
    """Both sides in the layer where the bound is nearest, as long as doubles hold the numbers."""
    seen = (true > TINY) & (np.arange(len(true)) >= first)
    ratio = np.where(seen, true / np.maximum(bound, TINY), 0.0)
    at = int(ratio.argmax()) if seen.any() else first
    return Case(float(true[at]), max(float(bound[at]), TINY), words=f"{words}, {at} layers")
