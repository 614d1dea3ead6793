"""How fast the isometry gap of a deep network falls: GRAD Theorem 6.1, Figure 6.1, Appendix C.2.

Spectra ``(d,)`` are those of ``X X^T``, scaled to sum to d. The fall of the gap in one layer,
averaged over the rotation, is exact: minus :func:`~.expected_isometry.expected_log_length`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signallab.gradients.expected_isometry import (
    expected_log_length,
    haar,
    spread,
    unit_rows,
)
from signallab.gradients.rotated_chain import (
    Descent,
    descent,
    extreme,
    gap_of,
    threshold,
)
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "INEQUALITIES",
    "displays",
    "eigenvalues_within",
    "figure_input",
    "first_term",
    "hitting_time",
    "inequality",
    "last_step",
    "nearly_isometric",
    "needed",
    "one_step",
    "roots",
    "second_phase",
    "sharper_large",
    "sharper_rate",
    "sharper_second_phase",
    "sharper_small",
    "sharper_time",
    "smallest_constants",
    "spectra",
    "table_of_deviations",
    "table_of_times",
    "theorem",
]


def eigenvalues_within(
    d: int,
    c: float,
    up: bool,
    limit: Callable[[int, float], float] = lambda d, c: c / (16 * d),
    scale: float = 1.0,
) -> Case:
    """GRAD Lemma C.8: a gap of ``limit(d, c)`` keeps eigenvalues within c of 1, at the extremes.

    ``scale`` multiplies X, which leaves its gap alone.

    >>> case = eigenvalues_within(2, 1.0, False)
    >>> bool(case.left < case.right)
    True
    """
    values = scale**2 * extreme(d, limit(d, c), up)
    end = values[0] if up else values[-1]
    words = f"d = {d}, c = {c:g}, the {'largest' if up else 'smallest'} eigenvalue"
    return Case(float(abs(end - 1)), c, words=words)


def table_of_deviations(sizes: Sequence[int], levels: Sequence[float]) -> pd.DataFrame:
    """Return the largest ``|lambda - 1| / c`` that Lemma C.8's gap allows, a column for each d.

    >>> table_of_deviations([2], [0.01]).round(2).values.tolist()
    [[0.01, 2.5]]
    """
    rows = []
    for c in levels:
        ends = [[eigenvalues_within(d, c, up).left for up in (False, True)] for d in sizes]
        rows.append((c, *(max(each) / c for each in ends)))
    return pd.DataFrame(rows, columns=["c", *(f"width {d}" for d in sizes)])


def spectra(d: int, count: int, stream: Stream, small: bool) -> list[Floats]:
    """Return spectra of gap at most (``small``) or above ``1 / (16 d)``, the extreme ones too.

    Random ones are drawn towards 1 where they have to be small.

    >>> len(spectra(3, 10, Stream(0), small=True))
    18
    """
    edge = threshold(d)
    gaps = [edge * f for f in (1e-4, 0.1, 0.5, 1)] if small else [edge * 1.001, 0.3, 3.0, 10.0]
    found = [extreme(d, psi, up) for psi in gaps for up in (False, True)]
    for values in d * sp.spectra.varied(d, 3 * count, stream)[1:]:
        shrunk = 1 + (values - 1) * 0.2 / d if small else values
        if shrunk[-1] > 0 and (gap_of(shrunk) <= edge) == small:
            found.append(shrunk)
    return found[: count + 8]


Bound = Callable[[int, float], float]


def sharper_small(d: int, psi: float) -> float:
    """Return ``2 psi / (3 (d + 2))``, also a lower bound for gaps up to ``1 / (16 d)``.

    Why it is right: the fall is at least ``S / (d (d + 2) lambda_max)`` with ``S = sum (lambda_k -
    1)^2``. By (C.56), ``lambda_max <= 3/2`` and ``psi <= S / d`` there.

    >>> round(sharper_small(2, 0.6), 12)
    0.1
    """
    return 2 * psi / (3 * (d + 2))


def sharper_large(d: int, psi: float) -> float:
    """Return ``1 / (20 d (d + 2))``, also a lower bound for gaps above ``1 / (16 d)``.

    Why it is right: ``S > 1/16`` there by (C.60), ``lambda_max <= 1 + sqrt S``, and ``S / (1 +
    sqrt S)`` grows with S: it is at least ``(1/16) / (5/4)``.

    >>> sharper_large(3, 1.0) == 1 / 300
    True
    """
    return 1 / (20 * d * (d + 2))


def one_step(eigenvalues: Any, bound: Bound, words: str = "") -> Case:
    """GRAD Lemma C.9: a lower ``bound(d, psi)`` on the fall of the gap, and the exact fall.

    >>> case = one_step([1.5, 0.5], theory.grad_lemma_c_9)
    >>> bool(case.left < case.right)
    True
    """
    psi, d = gap_of(eigenvalues), len(eigenvalues)
    total = {"the eigenvalues sum to d": bool(np.isclose(np.mean(eigenvalues), 1))}
    return Case(bound(d, psi), -expected_log_length(eigenvalues), total, words=words)


def displays(eigenvalues: Any, words: str = "", times: float = 1.0) -> Case:
    """GRAD (C.48), the fall of ``sigma / (2 d^2)``, and for small gaps (C.53), ``psi <= sigma``.

    Both are scaled so that the bound is 1; ``times`` multiplies sigma in the first, and divides it
    in the second.

    >>> case = displays([1.1, 0.9])
    >>> bool((case.left <= case.right).all()), len(case.left)
    (True, 2)
    """
    d, sigma = len(eigenvalues), spread(eigenvalues) / len(eigenvalues)
    left = [times * sigma / (2 * d**2) / -expected_log_length(eigenvalues)]
    if np.max(np.abs(np.asarray(eigenvalues) - 1)) <= 0.5:
        left.append(times * gap_of(eigenvalues) / sigma)
    return Case(np.array(left), np.ones(len(left)), words=words)


#: Numerical inequalities of the proofs by display: left and right side of an array.
INEQUALITIES: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "(C.52)": (lambda x: x - x**2, np.log1p),
    "(C.54)": (np.log1p, lambda x: x * (6 + x) / (6 + 4 * x)),
    "(C.99)": (lambda y: (1 - 2 * y) / (1 - y), lambda y: 1 - y),
    "(C.105) to (C.108)": (
        lambda y: np.sqrt(1 - y) + (1 - np.sqrt(1 - y)) * (1 - y),
        lambda y: 1 - y**2 / 2,
    ),
}


def inequality(display: str, x: Any, sides: Any = None) -> Case:
    """Return both sides of an inequality of the proofs on a grid, lifted so that both are positive.

    ``sides`` replaces those of :data:`INEQUALITIES`.

    >>> case = inequality("(C.52)", np.array([0.0, 0.5]))
    >>> bool((case.left <= case.right).all())
    True
    """
    left, right = sides or INEQUALITIES[display]
    x = np.asarray(x, dtype=float)
    return Case(left(x) + 10, right(x) + 10, words=display)


def roots(sign: int, radicand: int = 74) -> Case:
    """GRAD after (C.55): the roots of ``3 e^2 = (6 + 4 e) / 16`` and ``(1 ± sqrt radicand) / 24``.

    >>> case = roots(1, radicand=73)
    >>> bool(np.isclose(case.left, case.right))
    True
    """
    lower, upper = np.sort(np.roots([48, -4, -6]))
    printed = (1 + sign * np.sqrt(radicand)) / 24
    words = f"the {'larger' if sign > 0 else 'smaller'} root"
    return Case(float(upper if sign > 0 else lower), float(printed), words=words)


def sharper_rate(d: int, psi: float) -> float:
    """Return ``max(3 (d + 2) / 2, 20 d (d + 2) psi)``, a power of the width less than printed.

    >>> sharper_rate(2, 0.01), sharper_rate(2, 1.0)
    (6.0, 160.0)
    """
    return max(1.5 * (d + 2), 20 * d * (d + 2) * psi)


def theorem(path: Descent, layer: int, rate: Bound, words: str = "") -> Case:
    """GRAD Theorem 6.1: ``E psi(X_{l+1}) / psi(X_0) <= exp(-l / k)``, with ``rate(d, psi)`` as k.

    >>> path = Descent(np.array([[1.0, 0.5], [1.0, 0.7]]), np.zeros((2, 1, 3)))
    >>> theorem(path, 0, theory.grad_equation_c_73).left.tolist()
    [0.5, 0.7]
    """
    psi, d = float(path.gaps[0, 0]), path.log_lengths.shape[-1]
    known = {"X_0 is not degenerate": bool(np.isfinite(psi))}
    return Case(
        path.gaps[:, layer + 1] / psi,
        float(np.exp(-layer / rate(d, psi))),
        known,
        words=f"{words}, l = {layer}",
    )


def needed(sizes: Sequence[int], gaps: Sequence[float]) -> pd.DataFrame:
    """Return what one layer demands of k in Theorem 6.1, beside the printed and sharper k.

    For each d and gap the slower of the two extreme spectra decides; no other that was tried falls
    more slowly. ``constant`` is the C of ``k = C d^2 (1 + d psi)``.

    >>> row = needed([2], [1e-6]).iloc[0]
    >>> float(row["needed"].round(3)), float(row["printed"])  # 1 / log 2
    (1.443, 8.0)
    """
    rows = []
    for d in sizes:
        for psi in gaps:
            fall = -max(expected_log_length(extreme(d, psi, up)) for up in (False, True))
            k = -1 / np.log1p(-fall / psi)
            printed, shape = theory.grad_equation_c_73(d, psi), theory.grad_theorem_6_1(d, psi, 1.0)
            rows.append((d, psi, k, printed, sharper_rate(d, psi), k / shape))
    names = ["width", "gap", "needed", "printed", "sharper", "constant"]
    return pd.DataFrame(rows, columns=names)


def smallest_constants(
    paths: Sequence[Descent], stream: Stream, floor: float = 1e-13, draws: int = 400
) -> pd.DataFrame:
    """Return the smallest C of Theorem 6.1 that the mean gaps of each path allow, with an interval.

    It is the largest ``l / log(psi(X_0) / E psi(X_{l+1}))`` over l = 1, 2, ..., over
    ``d^2 (1 + d psi(X_0))``. ``low`` and ``high`` hold the middle 95 % over ``draws`` resamples of
    the runs. Left out are layers whose mean gap is below ``floor``, where rounding holds it up, and
    those where its standard error exceeds a fifth of it: there a few runs make the mean.

    >>> path = Descent(np.array([[1.0, 0.5, 0.25], [1.0, 0.5, 0.25]]), np.zeros((2, 2, 3)))
    >>> round(float(smallest_constants([path], Stream(0))["C by the runs"][0]), 4)  # 1 / (36 log 4)
    0.02
    """
    rows = []
    for k, path in enumerate(paths):
        psi, d, runs = float(path.gaps[0, 0]), path.log_lengths.shape[-1], len(path.gaps)
        means, errors = path.gaps.mean(axis=0), path.gaps.std(axis=0, ddof=1) / np.sqrt(runs)
        known = 2 + np.flatnonzero((means[2:] > floor) & (errors[2:] <= means[2:] / 5))
        draw = stream.numpy("runs", k).integers(runs, size=(draws, runs))
        shown = path.gaps[:, known]
        averages = np.stack([means[known], *shown[draw].mean(axis=1)])
        steps = ((known - 1) / np.log(psi / averages)).max(axis=1)
        found = steps / theory.grad_theorem_6_1(d, psi, 1.0)
        low, high = np.quantile(found[1:], [0.025, 0.975])
        rows.append((d, psi, found[0], low, high, needed([d], [psi])["constant"][0]))
    names = ["width", "gap", "C by the runs", "low", "high", "C of one layer"]
    return pd.DataFrame(rows, columns=names)


def nearly_isometric(d: int, runs: int, stream: Stream, epsilon: float = 1e-3) -> Floats:
    """Return inputs ``(runs, d, d)`` with eigenvalues ``1 ± epsilon``, half of each.

    >>> x = nearly_isometric(3, 2, Stream(0))
    >>> np.linalg.eigvalsh(x[0] @ x[0].T).round(4).tolist()
    [0.999, 1.0, 1.001]
    """
    offsets = np.sign(np.arange(d) - (d - 1) / 2)
    rotated: Floats = np.sqrt(1 + epsilon * offsets)[:, None] * haar(d, runs, stream.child("near"))
    return rotated


def figure_input(d: int, stream: Stream, share: float = 0.005) -> Floats:
    """Return ``(1 - share) I + share u v^T`` ``(d, d)`` with u, v uniform on the unit cube.

    >>> figure_input(3, Stream(0)).shape
    (3, 3)
    """
    u, v = stream.numpy("figure", d).random((2, d))
    x: Floats = (1 - share) * np.eye(d) + share * np.outer(u, v)
    return x


def sharper_time(d: int, psi: float) -> float:
    """Return ``20 d (d + 2) psi`` above the threshold, else 0: also a bound on ``E S``.

    Why it is right: up to the time S the gap falls by ``1 / (20 d (d + 2))`` a layer on average,
    and it cannot fall by more than psi in all.

    >>> sharper_time(2, 1.0)
    160.0
    """
    return 20 * d * (d + 2) * psi if psi > threshold(d) else 0.0


def hitting_time(path: Descent, bound: Bound = theory.grad_lemma_c_14, words: str = "") -> Case:
    """GRAD Lemma C.14: the first layer S with a gap of at most ``1 / (16 d)``, one number a run.

    >>> path = Descent(np.array([[1.0, 0.01], [1.0, 0.02]]), np.zeros((2, 1, 2)))
    >>> hitting_time(path).left.tolist()
    [1.0, 1.0]
    """
    d, psi = path.log_lengths.shape[-1], float(path.gaps[0, 0])
    return Case(path.hitting_times(threshold(d)), float(bound(d, psi)), words=words)


def table_of_times(sizes: Sequence[int], runs: int, stream: Stream) -> pd.DataFrame:
    """Return the mean time S from normalized Gaussian batches, beside the bounds on it.

    >>> list(table_of_times([2], 2, Stream(0)))
    ['width', 'gap', 'mean time', 'standard error', 'bound here', 'printed']
    """
    rows = []
    for d in sizes:
        x = unit_rows(stream.numpy("times", d).normal(size=(d, d)))
        path = descent(x, 15 * d, runs, stream.child("times", d))
        times, psi = path.hitting_times(threshold(d)), float(path.gaps[0, 0])
        error = times.std(ddof=1) / np.sqrt(runs)
        bounds = sharper_time(d, psi), theory.grad_lemma_c_14(d, psi)
        rows.append((d, psi, times.mean(), error, *bounds))
    names = ["width", "gap", "mean time", "standard error", "bound here", "printed"]
    return pd.DataFrame(rows, columns=names)


def first_term(d: int, excess: float, shift: int = 0) -> Case:
    """GRAD (C.113) at ``l = 1``: ``P(S >= 1) <= exp(-(l - shift) / k) 16 d psi``.

    The start is ``excess`` above the threshold, where S is at least 1 for sure.

    >>> case = first_term(2, 0.01)
    >>> bool(case.left > case.right)
    True
    """
    psi = threshold(d) * (1 + excess)
    right = 16 * d * psi * np.exp(-(1 - shift) / theory.grad_equation_c_73(d, psi))
    return Case(1.0, float(right), words=f"d = {d}, gap {1 + excess:g} / (16 d)")


def last_step(d: int, depth: int, mended: bool = False, power: float = 1.0) -> Case:
    """GRAD (C.110) to (C.111) over ``32 d^4``: the geometric sum and ``1 - exp(-L / (32 d^4))``.

    Printed, the sum runs from k = 0 to L; ``mended``, from 1 to L, as in the lemma. ``power``
    multiplies the exponent on the right.

    >>> bool(last_step(2, 10).left > last_step(2, 10).right)
    True
    """
    y = 1 / (32 * d**4)
    terms = depth + (0 if mended else 1)
    left = -np.expm1(terms * np.log1p(-y)) * (1 - y if mended else 1)
    return Case(float(left), float(-np.expm1(-power * depth * y)), words=f"d = {d}, L = {depth}")


def sharper_second_phase(d: int, psi: float, depth: int, power: float = 1.0) -> float:
    """Return ``min(sqrt(d psi), 1/4) sum_{j=1}^L r^j``, ``r^2 = 1 - 2 / (3 (d + 2))``.

    It is less than ``3 (d + 2) / 4`` at any depth. ``power`` is that of r.

    Why it is right: by Jensen's inequality ``E sqrt(psi') <= sqrt(E psi')``, and from S on the
    gap falls by r^2 a layer on average, from ``1 / (16 d)`` or less.

    >>> bool(sharper_second_phase(4, 9.0, 10**6) < 4.5)
    True
    """
    r = (1 - 2 / (3 * (d + 2))) ** (power / 2)
    return float(min(np.sqrt(d * psi), 0.25) * r * (1 - r**depth) / (1 - r))


def second_phase(
    path: Descent,
    depth: int,
    bound: Callable[[int, float, int], float] = theory.grad_lemma_c_15,
    words: str = "",
) -> Case:
    """GRAD Lemma C.15: ``sum_{l=S+1}^L sqrt(d psi(X_l))``, one number a run.

    >>> path = Descent(np.array([[1.0, 0.02, 0.02], [1.0, 0.02, 0.005]]), np.zeros((2, 2, 2)))
    >>> second_phase(path, 2).left.round(6).tolist()
    [0.2, 0.1]
    """
    d, psi = path.log_lengths.shape[-1], float(path.gaps[0, 0])
    after = np.arange(path.gaps.shape[1]) > path.hitting_times(threshold(d))[:, None]
    after &= np.arange(path.gaps.shape[1]) <= depth
    terms = np.sqrt(d * np.maximum(path.gaps, 0))  # rounding leaves gaps of -1e-16
    return Case(np.sum(terms * after, axis=1), bound(d, psi, depth), words=f"{words}, L = {depth}")
