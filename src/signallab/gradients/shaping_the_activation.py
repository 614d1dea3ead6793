"""Activations with a gain, and the rate at which gradients explode: GRAD, Sections 6.4 and C.5.

Frames hold one row a measurement, columns named in words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import special, stats

import signalprop as sp
from signallab.case import Case
from signallab.gradients.deep_networks import (
    ACTIVATIONS,
    Network,
    Setting,
    Weights,
    draw,
    log_gradients,
    over_runs,
    shaped,
)
from signalprop._arrays import Floats

__all__ = [
    "GAP",
    "at_the_origin",
    "beyond",
    "law",
    "laws",
    "explained",
    "nearly_linear",
    "only_the_head",
    "partial_sums",
    "rate",
    "rates",
    "steepest",
    "uncertain",
]

#: Layers over which Eq. C.155 takes a difference.
GAP = 10

#: The cubic terms of tanh and sin: |phi(t) - t| is at most this times |t|^3 for all t.
CUBIC = {"tanh": 1 / 3, "sin": 1 / 6}


def at_the_origin(name: str, other: sp.Activation | None = None) -> Case:
    """GRAD, Section 6.4: value and slope of an activation at 0, beside 0 and 1.

    ``other`` takes the place of the activation of that name.

    >>> at_the_origin("tanh").left
    array([0., 1.])
    """
    phi = ACTIVATIONS[name] if other is None else other
    found = np.array([float(phi(0.0)), float(phi.derivative(0.0))])
    return Case(found, np.array([0.0, 1.0]), words=phi.name)


def steepest(name: str, other: sp.Activation | None = None, most: float = 1.0) -> Case:
    """GRAD, Section 6.4: the largest slope of an activation on [-20, 20], and ``most``.

    >>> bool(steepest("sin").left <= 1)
    True
    """
    phi = ACTIVATIONS[name] if other is None else other
    slopes = phi.derivative(np.linspace(-20, 20, 40001))
    return Case(float(np.max(slopes)), most, words=phi.name)


def nearly_linear(name: str, gain: float, power: float = 2.0, times: float = 1.0) -> Case:
    """GRAD, after Eq. 6.11: ``|phi(a x) / a - x| <= times c a^power |x|^3``, x from 0.1 to 4.

    c is the size of the cubic term, 1/3 for tanh and 1/6 for sin: the derivatives
    ``1 - phi'(t)``, tanh^2 and 1 - cos, are at most t^2 and t^2 / 2; integrate.

    >>> case = nearly_linear("sin", 0.5)
    >>> bool((case.left <= case.right).all())
    True
    """
    x = np.linspace(0.1, 4, 40)
    off = np.abs(np.asarray(ACTIVATIONS[name](gain * x)) / gain - x)
    allowed = times * CUBIC[name] * gain**power * x**3
    return Case(off, allowed, words=f"{name}, gain {gain:g}")


def rate(before: Floats, after: Floats) -> Floats:
    """GRAD Eq. C.155 with its sign mended: growth per layer of a log norm towards the input.

    ``before`` belongs to the layer that lies :data:`GAP` layers nearer to the input.

    >>> float(rate(np.array(3.0), np.array(1.0)))
    0.2
    """
    result: Floats = (before - after) / GAP
    return result


def rates(
    setting: Setting,
    activations: Sequence[str],
    gains: Sequence[float],
    depth: int,
    layers: Sequence[int],
) -> pd.DataFrame:
    """Return activation, gain, layer, run and rate of explosion in networks of constant gain."""
    ends = sorted({end for layer in layers for end in (layer - GAP, layer)})
    networks = {
        (name, gain): Network(name, lambda layer, gain=gain: gain)  # type: ignore[misc]
        for name in activations
        for gain in gains
    }
    frames = []
    for (name, gain), logs in over_runs(setting, networks, [depth], ends).items():
        for layer in layers:
            before, after = (logs[:, 0, ends.index(end)] for end in (layer - GAP, layer))
            frame = pd.DataFrame({"rate": rate(before, after)}).rename_axis("run").reset_index()
            frames.append(frame.assign(activation=name, gain=gain, layer=layer))
    return pd.concat(frames, ignore_index=True)


def beyond(measured: pd.DataFrame, floor: pd.DataFrame) -> pd.DataFrame:
    """Return ``measured`` less the rates of ``floor`` in the same run and layer.

    >>> rows = pd.DataFrame({"layer": [5, 5], "run": [0, 1], "rate": [0.5, 0.75]})
    >>> beyond(rows, rows.assign(rate=[0.25, 0.25]))["rate"].tolist()
    [0.25, 0.5]
    """
    both = measured.merge(floor[["layer", "run", "rate"]], on=["layer", "run"])
    both = both.assign(rate=both["rate_x"] - both["rate_y"])
    return both.drop(columns=["rate_x", "rate_y"])


def law(measured: pd.DataFrame, low: float, high: float = np.inf) -> sp.stats.Slope:
    """Return the fit ``c1 gain^c2`` to the mean rates of gains in ``[low, high]``.

    ``value`` is c2 with its interval, ``exp(intercept)`` is c1.

    >>> rows = [(g, r, 3 * g**2) for g in (0.2, 0.5, 1.0) for r in (0, 1)]
    >>> fit = law(pd.DataFrame(rows, columns=["gain", "run", "rate"]), 0.2)
    >>> round(fit.value, 6), round(float(np.exp(fit.intercept)), 6)
    (2.0, 3.0)
    """
    chosen = measured[measured["gain"].between(low, high)]
    means = chosen.groupby("gain")["rate"].mean()
    return sp.stats.exponent(np.array(means.index), np.array(means))


def explained(
    measured: pd.DataFrame, activation: str, layer: int, low: float, power: float | None = None
) -> Case:
    """GRAD, Figure C.1: ``c1 gain^c2`` explains 0.95 of the variance of the log mean rates.

    ``power`` is c2 if it is not to be fitted. Gains from ``low`` on.

    >>> rows = [("tanh", 5, g, r, 3 * g**2) for g in (0.2, 0.5, 1.0) for r in (0, 1)]
    >>> rows = pd.DataFrame(rows, columns=["activation", "layer", "gain", "run", "rate"])
    >>> round(explained(rows, "tanh", 5, 0.2).right, 6), explained(rows, "tanh", 5, 0.2, 0).right
    (1.0, 0.0)
    """
    chosen = measured.query("activation == @activation and layer == @layer and gain >= @low")
    means = np.log(chosen.groupby("gain")["rate"].mean())
    logs = np.log(means.index.to_numpy())
    if power is None:
        power = float(np.polyfit(logs, means, 1)[0])
    left = means - power * logs
    share = 1 - float(((left - left.mean()) ** 2).sum() / ((means - means.mean()) ** 2).sum())
    return Case(0.95, share, words=f"{activation}, layer {layer}")


def only_the_head(setting: Setting, depth: int, exponent: float, scaled: bool = True) -> Case:
    """With the identity, gains act as one factor on the head, the last gain.

    Left, the log norms of the gradients in all square matrices with gains; right, without gains and
    with the head times the last of them (or as it is, if not ``scaled``).
    """
    gain, layers = shaped(exponent), list(range(1, depth))
    weights = draw(setting.stream, 0, depth, setting.width, setting.x.shape[1])
    factor = gain(depth - 1) if scaled else 1.0
    other = Weights(weights.first, weights.square, factor * weights.head)
    pairs = ((Network("identity", gain), weights), (Network("identity"), other))
    left, right = (
        log_gradients(network, drawn, setting.x, setting.labels, [depth], layers)[0]
        for network, drawn in pairs
    )
    return Case(left, right, words=f"exponent {exponent:g}, depth {depth}")


def laws(measured: pd.DataFrame, windows: Sequence[tuple[float, float]]) -> pd.DataFrame:
    """Return the fits to the rates of each activation, all layers together, by window of gains.

    Each constant stands before the half-width of its interval over runs (:func:`uncertain`).
    """
    rows = []
    for name, part in measured.groupby("activation", sort=False):
        for low, high in windows:
            fit = law(part, low, high)
            c1, (off, c2_off) = float(np.exp(fit.intercept)), uncertain(part, low, high)
            window = f"{low:g} to {high:g}"
            rows.append((name, window, c1, c1 * off, fit.value, c2_off, fit.r_squared))
    columns = ["activation", "gains", "c1", "± c1", "c2", "± c2", "R squared"]
    return pd.DataFrame(rows, columns=columns)


def uncertain(measured: pd.DataFrame, low: float, high: float = np.inf) -> Floats:
    """Return half the widths of 95 % intervals of ``log c1`` and ``c2``, shape ``(2,)``.

    By the jackknife over n runs: the fit is made n times with one run left out, and the standard
    error is ``sqrt((n - 1) / n sum (fit_i - mean)^2)``, taken with Student's quantile. It says
    how far other draws of weights change the fit, not how far the law is from a power.

    >>> rows = [(g, r, (2 + r) * g**2) for g in (0.3, 0.5, 1.0) for r in (0, 1, 2)]
    >>> uncertain(pd.DataFrame(rows, columns=["gain", "run", "rate"]), 0.3).round(6)
    array([0.836819, 0.      ])
    """
    runs = measured["run"].unique()
    left_out = [law(measured[measured["run"] != run], low, high) for run in runs]
    fits = np.array([(fit.intercept, fit.value) for fit in left_out])
    error = np.sqrt((len(runs) - 1) * fits.var(axis=0))
    return np.asarray(stats.t.ppf(0.975, len(runs) - 1) * error)


def partial_sums(k: float, depth: int, other: float | None = None) -> Case:
    """GRAD, Section C.5: ``sum_l l^-k`` over ``depth`` layers is at most zeta(k), for k > 1.

    ``other`` takes the place of k on the left.

    >>> case = partial_sums(2.0, 1000)
    >>> bool(case.left < case.right)
    True
    """
    layers = np.arange(1.0, depth + 1)
    left = float(np.sum(layers ** -(k if other is None else other)))
    return Case(left, float(special.zeta(k)), {"k > 1": k > 1}, words=f"k = {k:g}, L = {depth}")
