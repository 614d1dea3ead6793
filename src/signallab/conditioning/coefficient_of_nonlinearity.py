"""How far an activation is from a line: COND Definitions 2 and 18, Lemma 19 and Appendix C.4.

Everything is computed twice, from integrals over the line or the plane and from a formula of COND.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

import signalprop as sp
from signallab.case import Case
from signallab.conditioning.reference import ACTIVATIONS
from signallab.kernels.kernel_maps import by_quadrature
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.limits.quadrature import bivariate_expectation, gaussian_expectation
from signalprop.random import Stream

__all__ = [
    "CLOSED",
    "NEARLY_LINEAR",
    "ROWS",
    "Row",
    "best_line",
    "cell",
    "coefficient",
    "dual",
    "dual_of_derivative",
    "in_range",
    "norm_relu",
    "norm_relu_numbers",
    "polynomials",
    "remainder",
    "slope",
    "table_of_coefficients",
]

A = sp.activations
ORDER = 300  # of series at |rho| <= 0.85, where what is cut is below 1e-20
INSIDE: Floats = np.linspace(-0.85, 0.85, 18)

#: The coefficient of non-linearity where there is a closed form.
CLOSED: Mapping[str, float] = {
    "second Hermite": 1.0,
    "ReLU": (math.pi - 2) / (2 * math.pi - 2),
    "step": (math.pi - 2) / math.pi,
    "exponential": (math.e - 2) / (math.e - 1),
    "erf": 1 - 2 / 3 / math.asin(2 / 3),
    "sine": 1 - 1 / math.sinh(1),
    "NormReLU": float(theory.cond_norm_relu_mu(-1.5975)),
}


def slope(phi: Activation) -> float:
    """Return ``a_1 = E X phi(X)``, the slope of the best straight line.

    >>> round(slope(A.relu), 12)
    0.5
    """
    return gaussian_expectation(lambda x: x * phi(x), phi.kinks)


def remainder(phi: Activation) -> float:
    """Return ``E (phi(X) - a_1 X)^2``, what the best line through 0 leaves.

    >>> round(remainder(A.hermite(2)), 12)
    1.0
    """
    a = slope(phi)
    return gaussian_expectation(lambda x: (phi(x) - a * x) ** 2, phi.kinks)


def coefficient(name: str, *, power: int = 2, normalized: bool = True) -> Case:
    """COND Definition 2: ``1 - (E X phi(X))^2``, beside a closed form.

    ``left`` also has what the best line leaves. Where no closed form is known, ``right`` is
    ``1 - s'(0)`` of the dual activation s. ``power`` stands for the square; without ``normalized``
    the activation is taken as it comes, of its own mean and length.

    >>> coefficient("ReLU").left.round(6)
    array([0.266529, 0.266529])
    """
    phi = ACTIVATIONS[name] if normalized else ACTIVATIONS[name].base
    closed = CLOSED.get(name)
    if closed is None:
        closed = theory.cond_mu(float(sp.KernelMap(phi).derivative(0.0)))
    left = np.array([1 - abs(slope(phi)) ** power, remainder(phi)])
    return Case(left, np.full(2, closed), words=name)


def table_of_coefficients() -> pd.DataFrame:
    """Return the coefficient of each activation, and what its definition gives un-normalized.

    >>> table_of_coefficients().shape
    (9, 4)
    """
    rows = []
    for name, phi in ACTIVATIONS.items():
        base = phi.base
        rows.append(
            {
                "activation": name,
                "μ": 1 - slope(phi) ** 2,
                "slope of the best line": round(slope(phi), 12) + 0.0,
                "1 − a₁², not normalized": 1 - slope(base) ** 2,
            }
        )
    return pd.DataFrame(rows)


def best_line(names: list[str], x: Floats) -> pd.DataFrame:
    """Return activations and their best lines: ``activation, input, value, line``.

    >>> best_line(["tanh"], np.array([0.0])).columns.tolist()
    ['activation', 'input', 'value', 'line']
    """
    parts = []
    for name in names:
        phi = ACTIVATIONS[name]
        line = slope(phi) * x
        part = {"activation": name, "input": x, "value": np.asarray(phi(x)), "line": line}
        parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)


def dual(name: str, *, factorials: bool = False, power: int = 2) -> Case:
    """COND facts 1 and 3: ``E phi(w.x) phi(w.y)`` beside ``sum_i a_i^2 rho^i``.

    ``left`` is an integral over the plane spanned by x and y. ``factorials`` takes probabilists'
    polynomials as they are, with ``E h_i^2 = i!`` (as far as order 20), and ``power`` stands for
    the square.

    >>> case = dual("sine")
    >>> bool(np.allclose(case.left, case.right, rtol=1e-12))
    True
    """
    phi = ACTIVATIONS[name]
    a = np.asarray(sp.KernelMap(phi).hermite_coefficients(ORDER))
    if factorials:
        a = a[:21] * np.sqrt(special.factorial(np.arange(21)))
    right = np.polynomial.polynomial.polyval(INSIDE, np.abs(a) ** power)
    return Case(by_quadrature(phi, INSIDE), right, words=name)


def dual_of_derivative(name: str, *, lag: int = 1) -> Case:
    """COND fact 5: ``E phi'(X) phi'(Y)`` beside ``sum_i i a_i^2 rho^(i-1)``.

    ``lag`` stands for the 1 in the exponent.

    >>> case = dual_of_derivative("tanh")
    >>> bool(np.allclose(case.left, case.right, rtol=1e-10))
    True
    """
    phi = ACTIVATIONS[name]
    a = np.asarray(sp.KernelMap(phi).hermite_coefficients(ORDER))
    weights = (np.arange(ORDER + 1) * a**2)[lag:]
    left = bivariate_expectation(INSIDE, phi.derivative, kinks=phi.kinks)
    return Case(np.asarray(left), np.polynomial.polynomial.polyval(INSIDE, weights), words=name)


#: Hermite weights 0.999 on the line and 0.001 on order 3.
NEARLY_LINEAR = Activation.from_hermite([0, math.sqrt(0.999), 0, math.sqrt(0.001)], "nearly linear")


def polynomials(count: int, degree: int, stream: Stream) -> list[Activation]:
    """Return random polynomials that are normalized and not linear.

    >>> [round(phi.second_moment, 9) for phi in polynomials(2, 5, sp.Stream(0))]
    [1.0, 1.0]
    """
    weights = sp.limits.random_series(count, degree, stream)
    signs = stream.child("signs").numpy().choice([-1.0, 1.0], weights.shape)
    return [
        Activation.from_hermite(list(row), f"polynomial {i + 1}")
        for i, row in enumerate(signs * np.sqrt(weights))
    ]


def in_range(phi: Activation, *, above: float = 1e-9, most: float = 1.0) -> Case:
    """COND Lemma 19: ``0 < mu <= 1``. ``above`` is what counts as positive, far above rounding.

    >>> in_range(NEARLY_LINEAR).right.round(6)
    array([0.001, 1.   ])
    """
    mu = 1 - slope(phi) ** 2
    normalized = abs(phi.mean) < 1e-9 and abs(phi.second_moment - 1) < 1e-9
    hypotheses = {"normalized": normalized, "not linear": remainder(phi) > 1e-12}
    return Case(np.array([above, mu]), np.array([mu, most]), hypotheses, words=phi.name)


@dataclass(frozen=True)
class Row:
    """A row of the table of Appendix C.4: an un-normalized activation, its dual and coefficient.

    ``series`` has the coefficients of the dual from order 0 on, as far as they are printed.
    """

    phi: Activation
    series: tuple[float, ...]
    closed: Callable[[Floats], Floats]
    coefficient: float


PI = math.pi
#: The table of COND Appendix C.4 as printed. In the copy at hand the 2 pi below the closed form of
#: ReLU is damaged ("-1/2 pi"); it is read as 2 pi, which the series next to it confirms.
ROWS: Mapping[str, Row] = {
    "identity": Row(A.identity, (0, 1, 0, 0, 0, 0), lambda r: r, 0),
    "second Hermite": Row(A.hermite(2), (0, 0, 1, 0, 0, 0), lambda r: r**2, 1),
    "ReLU": Row(
        A.relu,
        (1 / (2 * PI), 1 / 4, 1 / (2 * PI), 0, 1 / (48 * PI), 0),
        lambda r: (np.sqrt(1 - r**2) + (PI - np.arccos(r)) * r) / (2 * PI),
        (PI - 2) / (2 * PI - 2),
    ),
    "step": Row(
        A.step,
        (1 / 4, 1 / (2 * PI), 0, 1 / (12 * PI), 0, 3 / (80 * PI)),
        lambda r: (PI - np.arccos(r)) / (2 * PI),
        (PI - 2) / PI,
    ),
    "exponential": Row(
        A.exp,
        tuple(math.exp(3) / math.factorial(i) for i in range(4)),
        lambda r: np.exp(r + 3),
        (math.e - 2) / (math.e - 1),
    ),
}
MENDED: Mapping[str, Row] = {
    **ROWS,
    "ReLU": Row(
        A.relu,
        (1 / (2 * PI), 1 / 4, 1 / (4 * PI), 0, 1 / (48 * PI), 0),
        ROWS["ReLU"].closed,
        ROWS["ReLU"].coefficient,
    ),
    "exponential": Row(
        A.exp,
        tuple(math.e / math.factorial(i) for i in range(4)),
        lambda r: np.exp(r + 1),
        ROWS["exponential"].coefficient,
    ),
}


def cell(row: str, column: str, *, mended: bool = False, power: int = 2, mean: bool = True) -> Case:
    """Return a cell of the table beside integrals: ``series``, ``closed form`` or ``coefficient``.

    ``left`` is printed, or ``mended``; ``right`` comes from integrals of the activation: Hermite
    coefficients to the ``power`` 2, the integral over the plane, and what the best line leaves of
    the variance (of the second moment, if the ``mean`` is not taken off). Beside a coefficient
    stands what it lacks to 1, so that 0 has something to be compared with.

    >>> cell("ReLU", "coefficient").left.round(6), cell("ReLU", "coefficient").right.round(6)
    (array([0.266529, 0.733471]), array([0.266529, 0.733471]))
    """
    entry = (MENDED if mended else ROWS)[row]
    phi = entry.phi
    if column == "series":
        left = np.array(entry.series)
        right = np.abs(sp.limits.hermite_coefficients(phi, len(left) - 1)) ** power
    elif column == "closed form":
        left, right = entry.closed(INSIDE), by_quadrature(phi, INSIDE)
    elif column == "coefficient":
        left = np.array([entry.coefficient, 1 - entry.coefficient])
        share = abs(slope(phi)) ** power / (phi.variance if mean else phi.second_moment)
        right = np.array([1 - share, share])
    else:
        raise ValueError(f"column must be series, closed form or coefficient, got {column!r}")
    return Case(left, right, words=f"{column} of {row}")


def norm_relu(c: float, *, below: bool = False, power: int = 2) -> Case:
    """COND Appendix C.4: the coefficient of NormReLU_c by formula, beside integrals.

    ``left`` is what the best line leaves of NormReLU_c. ``below`` puts Phi(c) in the place of
    ``1 - Phi(c)``, ``power`` stands for the square.

    >>> case = norm_relu(0.0)
    >>> round(case.left, 9), round(case.right, 9)
    (0.266528897, 0.266528897)
    """
    right = float(theory.cond_norm_relu_mu(c))
    if below or power != 2:
        share = special.ndtr(c) if below else special.ndtr(-c)
        right = 1 - (float(theory.cond_equation_4_scale(c)) * share) ** power
    return Case(remainder(A.norm_relu(c)), right, words=f"c = {c:.3g}")


def norm_relu_numbers(c: float) -> Case:
    """COND Appendix C.4: ``lambda``, ``Phi`` and ``mu`` of the kink c, and their printed values.

    ``left`` is how far they are from what is printed, ``right`` half a unit of its last digit.

    >>> case = norm_relu_numbers(-1.5975)
    >>> bool((case.left < case.right).all())
    True
    """
    phi = A.norm_relu(c)
    values = np.array([phi.scale, special.ndtr(c), remainder(phi)])
    printed, units = np.array([1.05, 0.0551, 0.0156]), np.array([0.01, 0.0001, 0.0001])
    return Case(np.abs(values - printed), units / 2, where={"values": values}, words=f"c = {c}")
