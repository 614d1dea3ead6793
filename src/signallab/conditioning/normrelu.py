"""NormReLU: its definition, closed forms and printed numbers (COND Section 7 and Appendix I.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop.limits.quadrature import gaussian_expectation
from signalprop.theory.conditioning.shifted_relu import C

__all__ = [
    "CONSTANTS",
    "FACT_1",
    "as_printed",
    "beside_selu",
    "closed_forms",
    "curvature",
    "features",
    "inflection",
    "kinks",
    "normalized",
    "norms_by_kink",
    "numbers",
    "ordered",
    "shapes",
    "slopes_by_kink",
]

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805  # Klambauer et al. (2017)

#: What Section 7 prints, and what Fact 1 does: the decimals are those of the print.
CONSTANTS = {"λ": "1.05", "b": "-1.6209", "the scale of SELU": "1.05"}
FACT_1 = {"norm transfer at 0.5": "0.5399", "its slope at 1": "0.8428"}
FACT_1 |= {"bias at 0.5": "0.00086", "bias at 2": "0.0029"}


def normalized(
    c: float,
    scale: Callable[[float], Any] = theory.cond_equation_4_scale,
    shift: Callable[[float], Any] = theory.cond_equation_4_shift,
) -> Case:
    """Mean and second moment of NormReLU_c by quadrature, beside 0 and 1: COND Eqs. 2 and 4.

    Other functions for ``scale`` and ``shift`` are rivals.

    >>> normalized(-1.0, scale=lambda c: 1.0).left[1].round(4)
    np.float64(0.7511)
    """
    factor, offset = float(scale(c)), float(shift(c))

    def phi(x: torch.Tensor) -> torch.Tensor:
        return factor * (torch.relu(x - c) + offset)

    moments = (gaussian_expectation(phi, [c]), gaussian_expectation(lambda x: phi(x) ** 2, [c]))
    return Case(np.array(moments), np.array([0.0, 1.0]), words=f"c = {c:g}")


def closed_forms(
    gamma: float, c: float = C, forms: Sequence[Callable[..., Any]] | None = None
) -> Case:
    """Mean, length and slope of the length at variance gamma: closed forms, and quadrature.

    ``left`` holds ``forms``, those of COND Appendix I.1, functions of gamma and c. ``right`` comes
    from the activation by its definition, normalized by its numerical moments.

    >>> closed_forms(1.0).left.round(4)
    array([0.    , 1.    , 0.8428])
    """
    forms = forms or (
        theory.cond_norm_relu_mean,
        theory.cond_norm_relu_length,
        theory.cond_norm_relu_length_slope,
    )
    lengths = sp.LengthMap(sp.activations.norm_relu(c))
    right = [lengths.mean(gamma), lengths(gamma), lengths.derivative(gamma)]
    left = [float(form(gamma, c)) for form in forms]
    return Case(np.array(left), np.array(right, dtype=float), words=f"γ = {gamma:g}, c = {c:g}")


def kinks() -> dict[str, float]:
    """Return the kink that is printed, and the one that gives the scale of SELU in all digits.

    >>> {name: round(c, 4) for name, c in kinks().items()}
    {'printed': -1.5975, 'for the scale of SELU': -1.5908}
    """
    from scipy.optimize import brentq  # slow to load, and few need it

    def excess(c: float) -> float:
        return float(theory.cond_equation_4_scale(c)) - SELU_SCALE

    return {"printed": C, "for the scale of SELU": float(brentq(excess, -2, -1, xtol=1e-15))}


def numbers(c: float = C) -> dict[str, float]:
    """Return the numbers of :data:`CONSTANTS` and :data:`FACT_1`, recomputed.

    >>> round(numbers()["bias at 2"], 8)
    0.00291553
    """
    values = {
        "λ": theory.cond_equation_4_scale(c),
        "b": theory.cond_equation_4_shift(c),
        "the scale of SELU": SELU_SCALE,
        "norm transfer at 0.5": theory.cond_norm_relu_length(0.5, c),
        "its slope at 1": theory.cond_norm_relu_length_slope(1.0, c),
        "bias at 0.5": theory.cond_norm_relu_bias(0.5, c),
        "bias at 2": theory.cond_norm_relu_bias(2.0, c),
    }
    return {name: float(value) for name, value in values.items()}


def as_printed(
    name: str,
    printed: Mapping[str, str],
    *,
    values: Mapping[str, float] | None = None,
    units: float = 0.5,
) -> Case:
    """How far a recomputed number is from the print: at most ``units`` of its last place.

    Half a unit is what rounding leaves, one unit what cutting off does. ``values`` are
    :func:`numbers` unless given.

    >>> case = as_printed("its slope at 1", FACT_1)
    >>> round(float(case.left), 2), case.right
    (0.33, 0.5)
    """
    text = printed[name]
    unit = 10.0 ** -len(text.partition(".")[2])
    value = (values or numbers())[name]
    return Case(abs(value - float(text)) / unit, units, words=f"{name}, printed as {text}")


def beside_selu(points: int = 801, farthest: float = 4.0) -> pd.DataFrame:
    """Return NormReLU, SELU and their difference on ``[-farthest, farthest]``, kinks included.

    >>> beside_selu(3).columns.tolist()
    ['x', 'NormReLU', 'SELU', 'NormReLU − SELU']
    """
    x = np.union1d(np.linspace(-farthest, farthest, points), [C, 0.0])
    ours, theirs = sp.activations.norm_relu()(x), sp.activations.selu(x)
    return pd.DataFrame(
        {"x": x, "NormReLU": ours, "SELU": theirs, "NormReLU − SELU": ours - theirs}
    )


def features(feature: str, c: float = C) -> Case:
    """One feature of the curves of COND Figure 2, read from them (left) and in closed form.

    Features: "floor", "value at 0", "slope", "largest gap" (to SELU, at the kink).

    >>> case = features("floor")
    >>> round(float(case.left), 6), round(float(case.right), 6)
    (-1.701925, -1.701925)
    """
    rows = beside_selu().set_index("x")
    drawn, gap = rows["NormReLU"], rows["NormReLU − SELU"]
    scale, b = float(theory.cond_equation_4_scale(c)), float(theory.cond_equation_4_shift(c))
    selu_at_kink = SELU_SCALE * SELU_ALPHA * np.expm1(c)
    found = {
        "floor": (drawn.min(), scale * b),
        "value at 0": (drawn[0.0], scale * (b - c)),
        "slope": (drawn[4.0] - drawn[3.0], scale),
        "largest gap": (gap.abs().max(), abs(scale * b - selu_at_kink)),
    }
    left, right = found[feature]
    return Case(float(left), float(right), words=feature)


def shapes(low: float = 0.5, high: float = 2.0, points: int = 3000) -> pd.DataFrame:
    """Return the norm transfer and the bias on a grid: COND Figure 6.

    >>> shapes(points=2).round(4).values.tolist()
    [[0.5, 0.54, 0.0009], [2.0, 1.7546, 0.0029]]
    """
    gamma = np.linspace(low, high, points)
    return pd.DataFrame(
        {
            "squared norm γ": gamma,
            "norm transfer": theory.cond_norm_relu_length(gamma),
            "bias": theory.cond_norm_relu_bias(gamma),
        }
    )


def curvature(
    curve: str, low: float = 0.5, high: float = 2.0, *, form: Callable[..., Any] | None = None
) -> Case:
    """Second differences of a curve of COND Figure 6, signed so that none is to be positive.

    "norm transfer" is said to be concave, "bias" convex. ``form`` is another function of gamma that
    is claimed to have the shape.

    >>> bool((curvature("bias").left <= 0).all())
    True
    """
    gamma = np.linspace(low, high, 3000)
    forms = {"norm transfer": theory.cond_norm_relu_length, "bias": theory.cond_norm_relu_bias}
    values = (form or forms[curve])(gamma)
    sign = 1 if curve == "norm transfer" else -1
    bent = sign * np.diff(values, 2)
    return Case(bent, np.zeros_like(bent), words=f"{curve} on [{low:g}, {high:g}]")


def ordered(part: str, *, form: Callable[..., Any] = theory.cond_norm_relu_bias) -> Case:
    """First differences of the curves of COND Fact 1, signed so that none is to be positive.

    Parts: "norm transfer" is to rise on [0.5, 2], the bias ``form`` to fall on [0.5, 1] ("bias
    below 1") and to rise on [1, 2] ("bias above 1"), so that its minimum is at 1.

    >>> bool((ordered("bias below 1").left <= 0).all())
    True
    """
    ends = {"norm transfer": (0.5, 2.0), "bias below 1": (0.5, 1.0), "bias above 1": (1.0, 2.0)}
    gamma = np.linspace(*ends[part], 1500)
    values = (theory.cond_norm_relu_length if part == "norm transfer" else form)(gamma)
    steps = np.diff(values) * (1 if part == "bias below 1" else -1)
    return Case(steps, np.zeros_like(steps), words=part)


def slopes_by_kink(low: float = -3.0, high: float = 0.75, points: int = 151) -> pd.DataFrame:
    """Return the slope of the norm transfer at its fixed point 1 for a range of kinks.

    >>> slopes_by_kink(-1.0, 0.0, 2)["slope at 1"].round(4).tolist()
    [0.7712, 1.0]
    """
    c = np.linspace(low, high, points)
    slope = theory.cond_norm_relu_length_slope(np.ones_like(c), c)
    return pd.DataFrame({"kink c": c, "slope at 1": slope})


def norms_by_kink(
    kinks: Sequence[float], starts: Sequence[float], depths: Sequence[int]
) -> pd.DataFrame:
    """Return squared norms after some depths, of inputs of several lengths, for several kinks.

    >>> norms_by_kink([0.0], [4.0], [0, 1]).round(3).values.tolist()    # standardized ReLU
    [[0.0, 4.0, 4.0, 4.467]]
    """
    rows = []
    for c in kinks:
        lengths = sp.LengthMap(sp.activations.norm_relu(c))
        for start in starts:
            path = np.asarray(lengths.iterate(start, max(depths)))
            after = {f"after {depth}": path[depth] for depth in depths}
            rows.append({"kink c": c, "squared norm": start, **after})
    return pd.DataFrame(rows)


def inflection(c: float = C) -> float:
    """Return the variance beyond which the norm transfer is convex, for a kink c < 0.

    Its second derivative is ``lambda^2 p(u) (c - b + b c^2 / gamma) / (2 gamma^(3/2))``.

    >>> round(inflection(), 2)
    176.93
    """
    b = float(theory.cond_equation_4_shift(c))
    return b * c**2 / (b - c)
