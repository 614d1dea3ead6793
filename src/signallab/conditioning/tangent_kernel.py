"""The neural tangent kernel: COND Eq. 7, Lemma 26, Theorems 5, 9 and 27.

Kernels come *relative*, over their diagonal, unless a name says otherwise.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.condition_number import INPUTS, WELL_POSED
from signallab.conditioning.off_diagonal_decay import SEPARATIONS
from signallab.conditioning.reference import ACTIVATIONS
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "SMOOTH",
    "along_depth",
    "diagonal",
    "end_of_case_two",
    "entries",
    "equation_7",
    "errors",
    "largest_entry",
    "largest_term",
    "lemma_26",
    "lowest",
    "networks",
    "random_maps",
    "relative",
    "tangent",
    "wide_enough",
]

#: Activations whose dual has a finite slope at 1; that of the step is infinite.
SMOOTH: Mapping[str, sp.Activation] = {k: v for k, v in ACTIVATIONS.items() if k != "step"}

Bound = Literal["as printed", "B", "sharpest"]


def _dual(activation: str) -> sp.KernelMap:
    return sp.KernelMap(SMOOTH[activation])


def _mu(k: sp.KernelMap) -> Floats:
    return np.asarray(np.minimum(k.nonlinearity, 1.0))  # 1 up to rounding


def tangent(k: sp.KernelMap, rho: Floats, depth: int) -> Floats:
    """Return the relative tangent kernel for 0..depth layers: ``(*rho, .., depth + 1)``.

    >>> tangent(sp.KernelMap.from_series([0, 0, 1.0]), np.array(0.5), 1).round(6)
    array([0.5 , 0.25])
    """
    path = np.asarray(k.iterate(rho, depth))
    slopes = _along(k, path)
    return np.asarray(theory.cond_tangent(path, slopes, k.derivative(1.0)))


def _along(k: sp.KernelMap, path: Floats) -> Floats:
    """The slopes at ``path``, whose last axis is the layers: those are the first of a batch."""
    return np.asarray(np.moveaxis(np.asarray(k.derivative(np.moveaxis(path, -1, 0))), 0, -1))


def equation_7(activation: str, rho: float, depth: int, *, shift: int = 1) -> Case:
    """COND Eq. 7 beside the recursion from layer to layer, of the kernel itself, not relative.

    ``shift`` is 0 as printed, and 1 with the inner exponent ``h' - 1``.

    >>> case = equation_7("second Hermite", 0.5, 1)
    >>> round(float(case.left), 12), round(case.right, 12)
    (0.75, 0.75)
    """
    k = _dual(activation)
    path = np.asarray(k.iterate(rho, depth))
    left = theory.cond_equation_7(path, k.derivative(path), shift)
    gram = np.array([[1.0, rho], [rho, 1.0]])
    right = float(np.asarray(sp.ntk(gram, SMOOTH[activation], depth))[0, 1])
    return Case(left, right, words=f"{activation}, ρ = {rho:g}, {depth} layers")


def diagonal(activation: str, depth: int, *, extra: int = 0) -> Case:
    """COND, proof of Theorem 5: the closed form of the diagonal beside the recursion.

    On three inputs, whose entries are ``left``; ``extra`` layers make a rival.

    >>> diagonal("second Hermite", 2).left
    array([7., 7., 7.])
    """
    gram = WELL_POSED["8 of the random directions"][:3, :3]
    left = np.diag(np.asarray(sp.ntk(gram, SMOOTH[activation], depth)))
    top = float(_dual(activation).derivative(1.0))
    right = theory.cond_theorem_5_diagonal(top, depth + extra)
    return Case(left, np.full(3, right), {"slope > 1": top > 1}, f"{activation}, {depth} layers")


def networks(
    activations: Sequence[str],
    rho: float,
    widths: Sequence[int],
    depths: Sequence[int],
    runs: int,
    stream: Stream,
) -> pd.DataFrame:
    """Return tangent kernels of two inputs of cosine ``rho`` in networks of finite width.

    ``activation, layer, width, run, kernel``, where ``layer`` is the depth of the network. In each
    network the gradient of the output by the weights of a layer is an outer product, of what
    enters the layer and what comes back to it; so kernels are sums of products of inner products.

    >>> networks(["tanh"], 0.5, [8], [1, 2], 3, sp.Stream(0)).shape
    (6, 5)
    """
    rows = []
    for name in activations:
        for width in widths:
            for depth in depths:
                for run, rng in enumerate(stream.child(name, width, depth).runs(runs)):
                    value = _one(SMOOTH[name], rho, width, depth, rng)
                    rows.append((name, depth, width, run, value))
    return pd.DataFrame(rows, columns=["activation", "layer", "width", "run", "kernel"])


def _one(phi: sp.Activation, rho: float, width: int, depth: int, rng: np.random.Generator) -> float:
    x = np.array([[1.0, rho], [0.0, math.sqrt(1 - rho**2)]])  # inputs are columns
    entering, slopes, weights = [x], [], []
    for layer in range(depth):
        w = rng.standard_normal((width, 2 if layer == 0 else width))
        u = w @ entering[-1]
        weights.append(w)
        slopes.append(np.asarray(phi.derivative(u)) / math.sqrt(width))
        entering.append(np.asarray(phi(u)) / math.sqrt(width))
    total = float(entering[-1][:, 0] @ entering[-1][:, 1])  # by the last weights v
    back = rng.standard_normal((width, 1)) * slopes[-1]
    for layer in reversed(range(depth)):
        total += float(entering[layer][:, 0] @ entering[layer][:, 1] * (back[:, 0] @ back[:, 1]))
        if layer:
            back = (weights[layer].T @ back) * slopes[layer - 1]
    return total


def errors(found: pd.DataFrame, rho: float, *, shift: int = 1) -> pd.DataFrame:
    """Return ``found`` with the ``error``: its distance from Eq. 7, printed with ``shift = 0``.

    >>> rows = pd.DataFrame({"activation": ["second Hermite"], "layer": 1, "kernel": 1.0})
    >>> round(float(errors(rows, 0.5)["error"][0]), 12)
    0.25
    """
    limit = {
        (name, depth): float(equation_7(str(name), rho, int(depth), shift=shift).left)
        for name, depth in found[["activation", "layer"]].drop_duplicates().itertuples(index=False)
    }
    places = zip(found["activation"], found["layer"], strict=True)
    return found.assign(error=np.abs(found["kernel"] - [limit[place] for place in places]))


def wide_enough(found: pd.DataFrame, rho: float, share: float) -> pd.DataFrame:
    """Return the mean error of the widest networks over the limit, and the width for ``share``.

    The width at which the mean error is a ``share`` of the limit, if errors go on falling with the
    square root of the width.

    >>> rows = pd.DataFrame({"activation": ["second Hermite"], "layer": 1, "width": 100})
    >>> wide_enough(rows.assign(kernel=0.9), 0.5, 0.01).iloc[0, 3:].round(6).tolist()    # of 0.75
    [0.2, 40000.0]
    """
    rows = []
    for (name, depth), part in errors(found, rho).groupby(["activation", "layer"], sort=False):
        widest = int(part["width"].max())
        limit = float(equation_7(str(name), rho, int(depth)).left)
        off = float(part.loc[part["width"] == widest, "error"].mean()) / abs(limit)
        needed = widest * (off / share) ** 2
        row = {"activation": name, "layers": depth, "width": widest, "mean error": off}
        rows.append(row | {f"width for {share:.0%}": needed})
    return pd.DataFrame(rows)


def random_maps(count: int, largest: int, stream: Stream) -> dict[str, sp.KernelMap]:
    """Return batches of dual activations: random power series, and pairs of orders.

    The pairs of orders 1 and 2 are the quadratics.

    >>> list(random_maps(3, 5, sp.Stream(0)))
    ['random series', 'pairs of orders']
    """
    pairs = sp.limits.pair_series([1, 2, 3, 5, 10, 40], [0.01, 0.1, 0.5, 0.9, 0.99])
    weights = {"random series": sp.limits.random_series(count, largest, stream)}
    return {
        n: sp.KernelMap.from_series(w) for n, w in (weights | {"pairs of orders": pairs}).items()
    }


def lemma_26(name: str, k: sp.KernelMap, *, sharper: bool = False, factor: float = 1.0) -> Case:
    """COND Lemma 26, of ``|s'(rho)|``: how far the slope falls below that at 1, beside the claim.

    The largest quotient of ``mu (1 - |rho|)`` by ``1 - |s'(rho)| / s'(1)`` over 2000 correlations,
    which is at most 1. ``sharper`` has ``2 mu / (1 + mu)`` for mu, ``factor`` makes a rival.

    >>> round(float(lemma_26("square", sp.KernelMap.from_series([0, 0, 1.0])).left), 12)
    1.0
    """
    rho = np.linspace(-1, 1, 2001)[1:-1].reshape(-1, *[1] * np.ndim(k(0.0)))
    top = np.asarray(k.derivative(1.0))
    bound = theory.cond_lemma_26_sharper if sharper else theory.cond_lemma_26
    claimed = factor * (1 - bound(rho, _mu(k)))
    fallen = 1 - np.abs(np.asarray(k.derivative(rho))) / top
    return Case(
        float((claimed / fallen).max()), 1.0, {"finite": bool(np.isfinite(top).all())}, name
    )


@functools.cache
def relative(inputs: str, activation: str, depth: int) -> Floats:
    """Return the relative tangent kernel without its diagonal, ``(depth + 1, n, n)``.

    >>> relative("2 inputs of cosine 0.5", "second Hermite", 1)[1].round(6)
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    gram = {**INPUTS, **WELL_POSED}[inputs]
    rows, columns = np.triu_indices(len(gram), k=1)
    result = np.zeros((depth + 1, *gram.shape))
    result[:, rows, columns] = tangent(_dual(activation), gram[rows, columns], depth).T
    return result + result.swapaxes(-1, -2)


def _bound(bound: Bound, depth: int, delta: Floats | float, mu: Floats, ahead: int) -> Floats:
    """The bound for 0..depth layers, ``(.., depth + 1)``, with delta and mu broadcast."""
    if bound == "sharpest":
        return np.asarray(theory.cond_tangent_sharpest(delta, mu, depth + ahead))[..., ahead:]
    layers = np.arange(depth + 1.0) + ahead
    of = theory.cond_theorem_5 if bound == "as printed" else theory.cond_b
    return np.asarray(of(layers, np.asarray(delta)[..., None], mu[..., None]))


def entries(
    name: str, k: sp.KernelMap, depth: int, bound: Bound = "as printed", *, ahead: int = 0
) -> Case:
    """COND Theorem 5: ``|K_ij| / K_11`` beside its bound, where their quotient is largest.

    From both ends and the middles of all :data:`SEPARATIONS`, in the layers from ``2 L_0`` on, or
    in all layers for the other bounds, up to ``depth``. ``ahead`` layers make a rival.

    >>> round(entries("square", sp.KernelMap.from_series([0, 0, 1.0]), 3, "sharpest").left, 12)
    1.0
    """
    mu = _mu(k)
    starts = (1 - SEPARATIONS[:, None]) * np.array([1.0, -1.0, 0.5, -0.5])
    true = np.abs(tangent(k, starts.reshape(*starts.shape, *[1] * np.ndim(mu)), depth))
    deltas = SEPARATIONS.reshape(-1, 1, *[1] * np.ndim(mu))
    allowed = _bound(bound, depth, deltas, mu, ahead)
    seen = (true > 1e-280) & (np.arange(depth + 1) >= 1)
    if bound == "as printed":
        first = 2 * np.asarray(theory.cond_l_0(deltas, mu))[..., None]
        seen = seen & (np.arange(depth + 1) >= first)
    ratio = np.where(seen, true / np.maximum(allowed, 1e-280), 0.0)
    at = np.unravel_index(int(ratio.argmax()), ratio.shape)
    return Case(float(ratio[at]), 1.0, words=f"{name}, δ = {SEPARATIONS[at[0]]:g}, {at[-1]} layers")


def _last(inputs: str, activation: str, delta: float, beyond: int) -> tuple[int, int]:
    """``2 L_0`` and ``4 L_0 + beyond``."""
    start = int(theory.cond_l_0(delta, _mu(_dual(activation))))
    return 2 * start, 4 * start + beyond


def largest_entry(
    inputs: str, activation: str, beyond: int, bound: Bound = "as printed", *, ahead: int = 0
) -> Case:
    """COND Theorem 5 on a set of inputs: the largest ``|K_ij| / K_11``, in the worst layer.

    As printed from ``2 L_0`` layers on, else from one, to ``4 L_0 + beyond``.

    >>> case = largest_entry("2 inputs of cosine 0.9", "second Hermite", 0, "sharpest")
    >>> round(case.left, 9) == round(case.right, 9)
    True
    """
    delta = float(theory.cond_assumption_a(INPUTS[inputs]))
    first, last = _last(inputs, activation, delta, beyond)
    true = np.abs(relative(inputs, activation, last)).max((-2, -1))
    return _worst(true, inputs, activation, delta, first, bound, ahead)


def lowest(
    inputs: str,
    activation: str,
    beyond: int,
    bound: Bound = "as printed",
    *,
    ahead: int = 0,
    everywhere: bool = False,
) -> Case:
    """COND Theorem 9: ``1 - lambda_min / K_11`` beside its bound, in the worst layer.

    ``everywhere`` drops the condition ``L >= 2 L_0``, as Section 3.3 does.

    >>> case = lowest("2 inputs of cosine 0.5", "second Hermite", 1, "sharpest")
    >>> round(case.left, 9) == round(case.right, 9)
    True
    """
    delta = float(theory.cond_assumption_b(WELL_POSED[inputs]))
    first, last = _last(inputs, activation, delta, beyond)
    true = -np.linalg.eigvalsh(relative(inputs, activation, last))[:, 0]
    start = 0 if everywhere else first
    return _worst(np.asarray(true), inputs, activation, delta, start, bound, ahead)


def _worst(
    true: Floats,
    inputs: str,
    activation: str,
    delta: float,
    first: int,
    bound: Bound,
    ahead: int,
) -> Case:
    allowed = _bound(bound, len(true) - 1, delta, _mu(_dual(activation)), ahead)
    first = max(first, 1) if bound == "as printed" else 1
    ratio = np.where(true > 1e-280, true / np.maximum(allowed, 1e-280), 0.0)
    at = first + int(ratio[first:].argmax())
    words = f"{activation}, {inputs}, {at} layers"
    return Case(float(true[at]), float(allowed[at]), {"0 < δ < 1": 0 < delta < 1}, words)


def largest_term(
    delta: float,
    mu: float,
    layers: int,
    *,
    shift: int = 1,
    sharper: bool = False,
    ahead: int = 0,
) -> Case:
    """COND, proof of Theorem 27: the largest ``B(h-1) prod (1 - mu (1 - B(h'-1)))``, h' >= h.

    Beside ``2 B(L/2)``, or ``B(L)`` if ``sharper``. The index is that of Eq. 7 mended; with ``shift
    = 0`` it is the printed one, ``B(h')``.

    >>> case = largest_term(0.5, 1.0, 2, sharper=True)
    >>> float(case.left), float(case.right)
    (0.125, 0.125)
    """
    b = np.asarray(theory.cond_b(np.arange(layers + 1.0), delta, mu))
    factors = 1 - mu * (1 - b[1 - shift :][:layers])
    terms = [b[h - 1] * np.prod(factors[h - 1 :]) for h in range(1, layers + 2)]
    bound = theory.cond_b if sharper else theory.cond_theorem_5
    right = bound(float(layers + ahead), delta, mu)
    return Case(max(terms), right, words=f"δ = {delta:g}, μ = {mu:g}, {layers} layers")


def end_of_case_two(delta: float, mu: float, beyond: int, *, start: float = 1.0) -> Case:
    """COND, proof of Theorem 27: ``(1 - mu/2)^(L/2 - L_0) = 2 B(L/2)`` at ``L = 2 L_0 + beyond``.

    ``start`` is the coefficient of ``L_0``; another makes a rival.

    >>> case = end_of_case_two(0.4, 1.0, 0)    # L_0 = 1
    >>> case.left, round(float(case.right), 12)
    (1.0, 0.8)
    """
    first = float(theory.cond_l_0(delta, mu))
    layers = 2 * first + beyond
    left = (1 - mu / 2) ** (layers / 2 - start * first)
    right = theory.cond_theorem_5(layers, delta, mu)
    return Case(left, right, words=f"δ = {delta:g}, μ = {mu:g}, L = 2 L₀ + {beyond}")


def along_depth(inputs: str, activation: str, depth: int) -> pd.DataFrame:
    """Return the largest relative entry by depth, that of the top layer, and their bounds.

    >>> rows = along_depth("10 inputs of cosine 0.9", "second Hermite", 1)
    >>> rows["tangent kernel"].round(6).tolist()
    [0.9, 0.81]
    """
    gram, k = INPUTS[inputs], _dual(activation)
    delta, mu = float(theory.cond_assumption_a(gram)), _mu(k)
    printed = _bound("as printed", depth, delta, mu, 0)
    late = np.arange(depth + 1) >= 2 * float(theory.cond_l_0(delta, mu))
    return pd.DataFrame(
        {
            "depth": np.arange(depth + 1),
            "tangent kernel": np.abs(relative(inputs, activation, depth)).max((-2, -1)),
            "best bound": _bound("sharpest", depth, delta, mu, 0),
            "B at depth L": _bound("B", depth, delta, mu, 0),
            "Theorem 5": np.where(late, printed, np.nan),
        }
    )
