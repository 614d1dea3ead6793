"""Empirical covariance of bounded vectors: laws with exact tails, and layers (MF App. B.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import stats

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "OneSample",
    "Pairs",
    "average_of_norms",
    "bernstein",
    "change_of_variable",
    "deviations",
    "eps_1",
    "eps_2",
    "points",
    "relative_by_symmetric",
    "tail",
]

ROUNDING = 1e-12  # ties of a distance with a radius, in doubles


@dataclass(frozen=True)
class Pairs:
    """``x = scale (sqrt(condition), +-1)``, both signs equally likely: two samples.

    ``C = scale^2 diag(condition, 1)``, and ``C_d - C`` is ``scale^2 sqrt(condition) m`` beside the
    diagonal, m the mean of d signs. So all norms are multiples of ``|m|``, a binomial variable.
    ``phi`` of a normalized row of two entries is such a pair, turned by 45 degrees.

    >>> law = Pairs(4.0)
    >>> law.batch, law.growth, law.inverse_norm, float(law.norms(1.0, relative=False))
    (2, 2.5, 1.0, 2.8284271247461903)
    """

    condition: float = 1.0
    scale: float = 1.0
    batch: int = 2

    @property
    def growth(self) -> float:
        """B, the squared length of x over n."""
        return self.scale**2 * (self.condition + 1) / 2

    @property
    def inverse_norm(self) -> float:
        """``|C^-1|``, for a condition of 1 or more."""
        return self.scale**-2

    def norms(self, m: Any, relative: bool) -> Any:
        """``|C^-1 C_d - I|_F`` if ``relative``, else ``|C_d - C|_F``, for a mean sign m."""
        if relative:
            return np.abs(m) * np.sqrt(self.condition + 1 / self.condition)
        return np.abs(m) * self.scale**2 * np.sqrt(2 * self.condition)

    def probability(self, radius: float, width: int, relative: bool) -> float:
        """``P(norm >= radius)``, exact.

        >>> Pairs().probability(1.0, 2, relative=False)  # sqrt(2) |m|, m = -1, 0, 0, 1
        0.5
        """
        m, chances = _mean_of_signs(width)
        return float(chances[self.norms(m, relative) >= radius * (1 - ROUNDING)].sum())

    def __str__(self) -> str:
        return f"pairs of condition {self.condition:g}, scale {self.scale:g}"


@dataclass(frozen=True)
class OneSample:
    """``x`` uniform on the sphere of radius ``sqrt(n)``, and one of them only.

    ``C = I``, and ``|x x^T - I|_F = sqrt(n^2 - n)`` whatever x is: nothing is random.

    >>> OneSample(10).probability(9.4, 1, relative=False)
    1.0
    """

    batch: int
    growth: float = 1.0
    inverse_norm: float = 1.0

    def probability(self, radius: float, width: int, relative: bool) -> float:
        """``P(norm >= radius)``, 0 or 1; ``C^-1 C_d - I`` and ``C_d - C`` are the same."""
        if width != 1:
            raise ValueError(f"width must be 1 for one sample, got {width}")
        return float(np.sqrt(self.batch**2 - self.batch) >= radius * (1 - ROUNDING))

    def __str__(self) -> str:
        return "one sample on the sphere"


Law = Pairs | OneSample
Scale = Callable[[Law, int], float]


def eps_1(law: Law, width: int) -> float:
    """The scale of Lemma B.1.

    >>> eps_1(Pairs(), 100)
    0.2
    """
    return float(theory.mf_lemma_b_1(width, law.batch, law.growth))


def eps_2(law: Law, width: int) -> float:
    """The scale of Lemma B.2.

    >>> eps_2(Pairs(scale=0.5), 100)
    0.2
    """
    return float(theory.mf_lemma_b_2(width, law.batch, law.growth, law.inverse_norm))


def points(
    laws: list[Law], widths: list[int], ts: list[float], constants: Sequence[float] = (2.0,)
) -> list[dict[str, Any]]:
    """Return every law at every width and t up to ``sqrt(width)``; one sample at width 1 alone.

    >>> len(points([Pairs(), OneSample(3)], [1, 4], [0.5, 2.0]))
    4
    """
    return [
        {"law": law, "width": d, "t": t, "constant": c}
        for c in constants
        for law in laws
        for d in widths
        for t in ts
        if t <= np.sqrt(d) and (d == 1 or isinstance(law, Pairs))
    ]


def tail(
    law: Law,
    width: int,
    t: float,
    constant: float = 2.0,
    *,
    relative: bool = False,
    eps: Scale | None = None,
    times: Callable[[float, float], float] = lambda t, constant: constant * t,
    bound: Callable[[float, int], float] = lambda t, width: float(np.exp(-(t**2))),
) -> Case:
    """MF Lemma B.1, or B.2 if ``relative``: ``P(norm >= times(t, c) eps) <= bound(t, d)``.

    Printed are ``c t``, with a constant c that is left open, and ``exp(-t^2)``.

    >>> case = tail(OneSample(10), 1, 0.25)
    >>> case.left, round(case.right, 3)
    (1.0, 0.939)
    """
    scale = eps or (eps_2 if relative else eps_1)
    return Case(
        law.probability(times(t, constant) * scale(law, width), width, relative),
        bound(t, width),
        {"t is at most the square root of d": t <= np.sqrt(width)},
        words=f"{law}, n = {law.batch}, d = {width}, t = {t:g}, constant {constant:g}",
    )


def bernstein(value: float, width: int, t: float, centred: float = 0.0, sharp: float = 1) -> Case:
    """MF Eq. B.5 for ``X = 1`` (``value`` 1) or ``X = +-1`` (``value`` 0), K = 1.

    ``P(mean - centred E X >= t) <= 2 exp(-sharp (d t^2/2) / (1 + t/3))``; printed is no centring.

    >>> bernstein(1.0, 10, 0.9).left, bernstein(1.0, 10, 0.9, centred=1.0).left
    (1.0, 0.0)
    """
    if value:
        left = float(value - centred * value >= t)
    else:
        left = float(stats.binom.sf(np.ceil((1 + t) / 2 * width - ROUNDING) - 1, width, 0.5))
    right = 2 * np.exp(-sharp * width * t**2 / 2 / (1 + t / 3))
    words = f"X = {'1' if value else 'a random sign'}, d = {width}, t = {t:g}"
    return Case(left, float(right), words=words)


def average_of_norms(batch: int, width: int, t: float, centred: float = 0.0) -> Case:
    """MF Eqs. B.10 and B.11 for x uniform on the sphere of radius ``sqrt(n)``, t in units of n.

    Each norm ``|x x^T - I|_F`` is ``sqrt(n^2 - n)``, hence their average. ``centred`` is the share
    of this mean that is taken off before comparing with t.

    >>> average_of_norms(2, 100, 0.5).left
    1.0
    """
    norm = np.sqrt(batch**2 - batch)
    left = float(norm * (1 - centred) >= t * batch)
    right = float(theory.mf_equation_b_13(t * batch, width, batch, 1.0))
    return Case(left, right, words=f"n = {batch}, d = {width}, t = {t:g} n")


def change_of_variable(width: int, t: float, inner: Callable[[float, int], float]) -> Case:
    """MF Eq. B.13 at ``t sqrt(8) B n/sqrt(d)`` beside ``exp(-t^2/(1 + inner(t, d)))``, as in B.14.

    >>> case = change_of_variable(4, 3.0, lambda t, d: np.sqrt(2) * t / (3 * np.sqrt(d)))
    >>> bool(np.isclose(case.left, case.right))
    True
    """
    batch, growth = 3, 2.0  # they cancel
    radius = t * np.sqrt(8) * growth * batch / np.sqrt(width)
    left = float(theory.mf_equation_b_13(radius, width, batch, growth))
    return Case(left, float(np.exp(-(t**2) / (1 + inner(t, width)))), words=f"d = {width}, t = {t}")


def relative_by_symmetric(condition: float, m: float, power: float = 0.0) -> Case:
    """``|C^-1 C_d - I|_F <= condition^power |C^-1/2 C_d C^-1/2 - I|_F`` for pairs of mean sign m.

    The matrices are formed and multiplied, as the proof of Lemma B.2 has them.

    >>> case = relative_by_symmetric(4.0, 0.1)
    >>> round(case.left, 4), round(case.right, 4)
    (0.2062, 0.1414)
    """
    c = np.diag([condition, 1.0])
    c_d = np.array([[condition, np.sqrt(condition) * m], [np.sqrt(condition) * m, 1.0]])
    root = np.diag(np.diag(c) ** -0.5)
    left = np.linalg.norm(np.linalg.inv(c) @ c_d - np.eye(2))
    right = condition**power * np.linalg.norm(root @ c_d @ root - np.eye(2))
    return Case(float(left), float(right), words=f"condition {condition:g}, mean sign {m:g}")


def deviations(name: str, batch: int, width: int, runs: int, stream: Stream) -> pd.DataFrame:
    """Sample ``C_d`` of a layer, one row a run: three norms, each over its scale of the lemma.

    ``name`` is an activation after batch normalization (C its mean-field fixed point), "sphere",
    or "stretched": the sphere with axes whose squares go from 1 to 10^-4.

    >>> frame = deviations("relu", 4, 50, runs=3, stream=Stream(0))
    >>> list(frame), len(frame)
    (['absolute', 'relative', 'symmetric', 'condition'], 3)
    """
    phi, covariance = _features(name, batch)
    values, vectors = np.linalg.eigh(covariance)
    inverse, root = (vectors * values**power @ vectors.T for power in (-1.0, -0.5))
    samples = np.empty((runs, batch, batch))
    for run, generator in enumerate(stream.child(name, batch, width).runs(runs)):
        x = phi(generator.standard_normal((width, batch)))
        samples[run] = x.T @ x / width
    eps = theory.mf_lemma_b_1(width, batch, 1.0)
    unit = np.eye(batch)

    def norm(matrices: Floats) -> Floats:
        return np.asarray(np.linalg.norm(matrices, axis=(1, 2)))

    return pd.DataFrame(
        {
            "absolute": norm(samples - covariance) / eps,
            "relative": norm(inverse @ samples - unit) / (eps / values[0]),
            "symmetric": norm(root @ samples @ root - unit) / (eps / values[0]),
            "condition": values[-1] / values[0],
        }
    )


@cache
def _mean_of_signs(width: int) -> tuple[Floats, Floats]:
    """The values of a mean of random signs, and their probabilities."""
    k = np.arange(width + 1)
    return 2 * k / width - 1, np.asarray(stats.binom.pmf(k, width, 0.5))


def _features(name: str, batch: int) -> tuple[Callable[[Floats], Floats], Floats]:
    if name in ("sphere", "stretched"):
        axes = np.geomspace(1, 1e-4 if name == "stretched" else 1, batch)

        def on_sphere(g: Floats) -> Floats:
            radius = np.sqrt(np.mean(g**2, axis=-1, keepdims=True))
            return np.asarray(np.sqrt(axes) * g / radius)

        return on_sphere, np.diag(axes)
    phi = getattr(sp.activations, name)

    def layer(g: Floats) -> Floats:
        centred = g - g.mean(axis=-1, keepdims=True)
        unit = centred / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True))
        return np.asarray(phi(torch.from_numpy(unit)).numpy())

    return layer, sp.limits.gram_fixed_point(phi, batch).matrix()
