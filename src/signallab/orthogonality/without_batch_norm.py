"""Linear networks without batch normalization: Lemma A.8 of the thesis and its proof.

``S_l = W_l ... W_1`` with Gaussian ``width x width`` matrices acts on the identity, so that samples
and features are as many. ``delta`` is :func:`signalprop.theory.vanilla_collapse_rate`. A *spectrum*
holds the squared singular values, decreasing; its *shares* are its entries over their sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import digamma

import signalprop as sp
from signallab.case import Case
from signallab.orthogonality.gap_depth_width import chain
from signalprop import theory
from signalprop.random import Stream
from signalprop.weights import Law

__all__ = [
    "TERMS",
    "a15",
    "a16",
    "a17",
    "distance_by_layer",
    "exponents",
    "falls_like",
    "falls_with_some_rate",
    "gap_by_scaled_depth",
    "largest_gap_met",
    "newman",
    "rates",
    "spectra",
    "terms_of_the_proof",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Spectrum = tuple[float, ...]

RATIO = 1e-10  # of the two largest squares, where exponents are read; they are off by its order


def distance_by_layer(
    widths: Iterable[int], depth: int, runs: int, stream: Stream, *, every: int = 10
) -> pd.DataFrame:
    """Return ``width, run, layer, log of the distance`` of the gap from its largest value.

    >>> frame = distance_by_layer([2], depth=20, runs=3, stream=Stream(0))
    >>> frame["layer"].unique().tolist()
    [0, 10, 20]
    """
    layers = np.arange(0, depth + 1, every)
    frames = []
    for width in widths:
        values = _log_distance(width, *_log_volumes(width, depth, runs, stream))[:, layers]
        run = np.repeat(np.arange(runs), len(layers))
        place = {"width": width, "run": run, "layer": np.tile(layers, runs)}
        frames.append(pd.DataFrame({**place, "log of the distance": values.ravel()}))
    return pd.concat(frames, ignore_index=True)


def rates(
    widths: Iterable[int],
    depth: int,
    runs: int,
    stream: Stream,
    *,
    of: str = "distance",
    weights: Law | str = "gaussian",
) -> Floats:
    """Return the change a layer past the first quarter, ``(runs, widths)``.

    ``of="distance"``: of the log distance of the gap from its largest value; ``of="ratio"``: of
    ``log(sigma_2^2 / sigma_1^2)``, up to a bounded term that has no rate.
    """
    columns = []
    for width in widths:
        e1, e2 = _log_volumes(width, depth, runs, stream, weights)
        columns.append(_change(_log_distance(width, e1, e2) if of == "distance" else e2 - 2 * e1))
    return np.stack(columns, axis=1)


def exponents(widths: Iterable[int], depth: int, runs: int, stream: Stream) -> Floats:
    """Return the rates of ``log sigma_1^2`` and ``log sigma_2^2``, ``(runs, 2 widths)``.

    For weights of variance 1: a factor of sqrt(width) in every matrix adds log(width). The first is
    the rate of the squared length of S_l, the second that of its squared area over the length.
    """
    columns = []
    for width in widths:
        e1, e2 = _log_volumes(width, depth, runs, stream)
        columns += [_change(e1) + np.log(width), _change(e2 - e1) + np.log(width)]
    return np.stack(columns, axis=1)


def newman(widths: Iterable[int], *, factor: float = 1, shift: int = 0) -> Floats:
    """Return ``factor (log 2 + digamma((d - i + 1 + shift)/2))``, i = 1, 2, for each width d.

    Printed in A.13 is the factor 1/2; true is 1.

    >>> newman([2]).round(4)
    array([ 0.1159, -1.2704])
    """
    freedom = np.array([d - i + 1 + shift for d in widths for i in (1, 2)])
    values: Floats = factor * (np.log(2) + digamma(freedom / 2))
    return values


def falls_with_some_rate(part: float) -> Callable[..., Case]:
    """Return Lemma A.8 with ``part`` of delta for its constant.

    Points are ``width, depth, runs, stream``. ``left`` holds the change a layer of
    ``1/2 log|V - sqrt((n-1)/n)|``, a number for each run.
    """

    def statement(width: int, depth: int, runs: int, stream: Stream) -> Case:
        rate = rates([width], depth, runs, stream)[:, 0] / 2
        delta = float(theory.vanilla_collapse_rate(width))
        return Case(rate, -part * delta, {r"$\delta > 0$": part * delta > 0}, f"width {width}")

    return statement


def spectra(batches: Iterable[int], count: int, stream: Stream) -> list[dict[str, Any]]:
    """Return points ``spectrum``: for each n, varied ones and some close to rank one.

    >>> len(spectra([2, 4], 10, Stream(0)))
    26
    """
    found: list[dict[str, Any]] = []
    for n in batches:
        varied = map(tuple, sp.spectra.varied(n, count, stream.child("spectra")).tolist())
        near = [(1.0, *([ratio] * (n - 1))) for ratio in (0.1, 0.01, 1e-3)]
        found += [{"spectrum": s} for s in [*varied, *near]]
    return found


def a15(factor: float) -> Callable[..., Case]:
    """Return A.15 without the limit: ``p_2 <= factor sigma_2^2 / sigma_1^2``; printed is 1."""

    def statement(spectrum: Spectrum) -> Case:
        p = _shares(spectrum)
        return Case(p[1], factor * spectrum[1] / spectrum[0], words=_words(spectrum))

    return statement


def a16(power: float, count: Callable[[int], float] = lambda n: float(n)) -> Callable[..., Case]:
    """Return A.16 without the limit: ``(1 - p_1)^power <= count(n) sigma_2^2 / sigma_1^2``.

    Printed is ``power=1/2``, from ``1/(2 l)`` on the left beside ``1/l`` on the right.
    """

    def statement(spectrum: Spectrum) -> Case:
        rest = _shares(spectrum)[1:].sum()
        right = count(len(spectrum)) * spectrum[1] / spectrum[0]
        return Case(rest**power, right, words=_words(spectrum))

    return statement


def a17(factor: float) -> Callable[..., Case]:
    """Return A.17: ``|V - sqrt((n-1)/n)| <= factor ||p - e_1||``; printed is 1."""

    def statement(spectrum: Spectrum) -> Case:
        p = _shares(spectrum)
        rest = p[1:].sum()
        pairs = p[0] * rest + (rest**2 - (p[1:] ** 2).sum()) / 2  # of p_i p_j, i < j
        left = np.exp(theory.log_distance_from_rank_one(0.0, np.log(pairs), len(p)))
        right = float(np.hypot(rest, np.linalg.norm(p[1:])))  # p_1 - 1 without cancellation
        return Case(float(left), factor * right, words=_words(spectrum))

    return statement


def _a16_left(p: Floats) -> float:
    return float(np.log(p[1:].sum()) / 2)


def _a18_right(p: Floats) -> float:
    rest = p[1:].sum()
    return float(np.log(2 * len(p) * p[1]) / 4 + np.log(2 * rest**2) / 4)


def _a18_repaired(p: Floats) -> float:
    rest = p[1:].sum()
    return float(max(np.log(2 * len(p) * p[1] ** 2), np.log(2 * rest**2)) / 2)


#: Logarithms of the proof, as functions of the shares p.
TERMS: dict[str, Callable[[Floats], float]] = {
    "A.15, left": lambda p: float(np.log(p[1])),
    "A.16, left": _a16_left,
    "A.18, right": _a18_right,
    "A.18, right, repaired": _a18_repaired,
}


def falls_like(term: str) -> Callable[..., Case]:
    """Return "the term of the proof falls like ``sigma_2^2/sigma_1^2``", that is with rate -delta.

    ``left`` is its exponent, from a spectrum (1, r, ..., r) with a tiny r to one with r/10. Points
    are ``samples``.

    >>> round(falls_like("A.16, left")(samples=2).left, 6)
    0.5
    """

    def statement(samples: int) -> Case:
        logs = [TERMS[term](_shares((1.0, *([r] * (samples - 1))))) for r in (RATIO, RATIO / 10)]
        return Case(float((logs[0] - logs[1]) / np.log(10)), 1.0, words=f"{samples} samples")

    return statement


def terms_of_the_proof(samples: int) -> pd.DataFrame:
    """Return the rates of the terms of the proof in units of -delta: ``term, rate over -delta``."""
    found = [{"term": t, "rate over -delta": falls_like(t)(samples).left} for t in TERMS]
    return pd.DataFrame(found)


def gap_by_scaled_depth(
    samples: int,
    widths: Iterable[int],
    times: int,
    runs: int,
    stream: Stream,
    *,
    device: str = "cpu",
) -> pd.DataFrame:
    """Return ``network, run, depth over width, orthogonality gap`` from orthogonal samples.

    Up to ``times`` widths deep, without batch normalization at all widths and with it at the
    largest.
    """
    widths = list(widths)
    networks = {f"no BN, width {d}": (d, _plain(d)) for d in widths}
    networks[f"BN, width {max(widths)}"] = (max(widths), chain(max(widths)))
    frames = []
    for name, (width, net) in networks.items():
        start, draw = sp.inputs.orthogonal_samples(samples), stream.child("scaling", width)
        path = net.run(start, times * width, runs, draw, device=device)
        gap = path.measure(sp.orthogonality_gap, every=max(1, width // 8))
        run, layer = np.indices(gap.values.shape)
        place = {"network": name, "run": run.ravel()}
        place["depth over width"] = np.asarray(gap.layers)[layer.ravel()] / width
        frames.append(pd.DataFrame({**place, "orthogonality gap": gap.values.ravel()}))
    return pd.concat(frames, ignore_index=True)


def largest_gap_met(samples: int, width: int, depth: int, runs: int, stream: Stream) -> float:
    """Return the largest gap of orthogonal samples under orthogonal weights, no normalization."""
    path = _plain(width, sp.orthogonal()).run(
        sp.inputs.orthogonal_samples(samples), depth, runs, stream.child("orthogonal")
    )
    return float(path.measure(sp.orthogonality_gap).values.max())


def _plain(width: int, weights: Law | None = None) -> sp.Chain:
    """A linear chain that is only kept from overflowing."""
    return sp.Chain(width, weights or sp.gaussian(), layers=[sp.FrobeniusNorm()])


@cache
def _log_volumes(
    width: int, depth: int, runs: int, stream: Stream, weights: Law | str = "gaussian"
) -> tuple[Floats, Floats]:
    """log e_1 and log e_2 of the squared singular values, each ``(runs, layers 0..depth)``."""
    draw = stream.child("volumes", str(weights), width)
    values = sp.log_volumes(width, depth, runs, draw, weights=weights).values
    return values[..., 0], values[..., 1]


def _log_distance(width: int, e1: Floats, e2: Floats) -> Floats:
    values: Floats = theory.log_distance_from_rank_one(e1, e2, width)
    return values


def _change(curve: Floats) -> Floats:
    """The mean change a layer ``(runs,)`` past the first quarter, where the start is forgotten."""
    depth = curve.shape[1] - 1
    change: Floats = (curve[:, -1] - curve[:, depth // 4]) / (depth - depth // 4)
    return change


def _shares(spectrum: Spectrum) -> Floats:
    values: Floats = np.array(spectrum) / np.sum(spectrum)
    return values


def _words(spectrum: Spectrum) -> str:
    return f"squared singular values {', '.join(f'{s:.4g}' for s in spectrum)}"
