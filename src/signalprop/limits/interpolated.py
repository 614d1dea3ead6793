"""The kernel of any activation: a power series inside, and Chebyshev in the angle at both ends.

Near ``rho = 1`` the power series of a non-smooth activation converges slowly and the kernel has a
square-root singularity there; as a function of the angle ``acos(rho)`` it is smooth. What is
interpolated is ``kappa'(rho) = E phi'(X) phi'(Y)``, and its integral from the end divided by its
leading power of the angle, so that ``1 - kappa(1 - delta)`` keeps its relative accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.fft import dct
from torch import Tensor

from signalprop.limits.closed import Series, angle_of
from signalprop.limits.expansions import hermite_coefficients
from signalprop.limits.quadrature import (
    conditional_mean,
    density,
    gaussian_expectation,
    product_on_circle,
    resolve,
)

if TYPE_CHECKING:
    from signalprop.activations import Activation

__all__ = ["Interpolated", "interpolate", "jumps"]

INNER = 0.5  # the series serves |rho| <= INNER, where 64 terms reach 1e-19
WIDEST = math.acos(INNER)
ROUGH = 3e-13  # accuracy of an interpolant of slopes that are differences


@dataclass(frozen=True, eq=False)
class Chebyshev:
    """A Chebyshev series on ``[0, WIDEST]``."""

    coefficients: Tensor

    @staticmethod
    def fit(function: Callable[[Tensor], Tensor], accuracy: float = 1e-14) -> Chebyshev:
        """Interpolate at Chebyshev points, as many as it takes for the coefficients to decay."""
        for size in (24, 48, 96, 192, 384):
            points = np.cos((np.arange(size) + 0.5) * math.pi / size)
            values = function(torch.from_numpy(WIDEST * (points + 1) / 2)).numpy()
            c = dct(values, type=2) / size
            c[0] /= 2
            tail = np.abs(c[-size // 8 :]).max() / np.abs(values).max()
            if tail <= accuracy:
                return Chebyshev(torch.from_numpy(c))
            if size >= 96 and tail ** (384 / size) > accuracy:  # at a geometric rate
                break
        raise ValueError(f"384 Chebyshev points do not reach {accuracy:g}")

    @property
    def size(self) -> float:
        """A bound of the values."""
        return float(self.coefficients.abs().sum())

    def __call__(self, x: Tensor) -> Tensor:
        """Evaluate by Clenshaw's recurrence."""
        y = 4 * x / WIDEST - 2
        ahead, now = torch.zeros_like(x), torch.zeros_like(x)
        for c in self.coefficients.flip(0)[:-1].tolist():
            ahead, now = now, c + y * now - ahead
        return self.coefficients[0] + y / 2 * now - ahead


@dataclass(frozen=True, eq=False)
class End:
    """The kernel near one end, as functions of the angle from it.

    ``slope`` is ``kappa'`` (times ``sin(angle)`` if there are jumps) and ``rise`` the integral of
    ``kappa'`` from the end, divided by ``1 - cos(angle)`` (by the angle if there are jumps).
    """

    slope: Chebyshev
    rise: Chebyshev
    jumps: bool

    def derivative(self, angle: Tensor) -> Tensor:
        """Return ``kappa'`` at an angle from the end."""
        return self.slope(angle) / torch.sin(angle) if self.jumps else self.slope(angle)

    def integral(self, angle: Tensor) -> Tensor:
        """Return the integral of ``kappa'`` between the end and an angle from it."""
        power = angle if self.jumps else 2 * torch.sin(angle / 2) ** 2
        return self.rise(angle) * power


@dataclass(frozen=True, eq=False)
class Interpolated:
    """The kernel of an activation from its series and its two ends.

    Its functions take float64 tensors of any shape, elementwise. Each of three
    pieces has the form that converges geometrically there: the series for ``|rho| <= 1/2``,
    Chebyshev in the angle at the ends.

    >>> from signalprop.activations import tanh
    >>> interpolate(tanh).complement(torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64))
    tensor([0.0000, 0.3943, 0.7886], dtype=torch.float64)
    """

    series: Series
    right: End
    left: End
    variance: float
    at_left: float  # kappa(-1) - kappa(0)

    def centered(self, rho: Tensor) -> Tensor:
        """Return ``kappa(rho) - kappa(0)``."""
        return _pieces(
            rho,
            lambda r: self.at_left + self.left.integral(angle_of(1 + r)),
            self.series.centered,
            lambda r: self.variance - self.right.integral(angle_of(1 - r)),
        )

    def derivative(self, rho: Tensor) -> Tensor:
        """Return ``kappa'(rho)``."""
        return _pieces(
            rho,
            lambda r: self.left.derivative(angle_of(1 + r)),
            self.series.derivative,
            lambda r: self.right.derivative(angle_of(1 - r)),
        )

    def complement(self, delta: Tensor) -> Tensor:
        """Return ``kappa(1) - kappa(1 - delta)``."""
        near = delta < 1 - INNER
        result = torch.empty_like(delta)
        result[near] = self.right.integral(angle_of(delta[near]))
        result[~near] = self.variance - self.centered(1 - delta[~near])
        return result


def _pieces(rho: Tensor, *pieces: Callable[[Tensor], Tensor]) -> Tensor:
    """Apply the three functions on ``[-1, -INNER)``, ``[-INNER, INNER]`` and ``(INNER, 1]``."""
    masks = (rho < -INNER, rho.abs() <= INNER, rho > INNER)
    result = torch.empty_like(rho)
    for mask, piece in zip(masks, pieces, strict=True):
        if mask.any():
            result[mask] = piece(rho[mask])
    return result


def interpolate(phi: Activation) -> Interpolated:
    """Compute the kernel of ``phi`` once, to about 1e-13 of ``kappa(1)``.

    An activation too steep for it (a gain in the hundreds, say) is a ``ValueError``.

    >>> from signalprop.activations import tanh
    >>> end = torch.ones(1, dtype=torch.float64)
    >>> float(abs(interpolate(tanh).centered(end) - tanh.variance)) < 1e-13   # kappa(1) = E phi^2
    True
    """
    weights = torch.from_numpy(hermite_coefficients(phi, 64) ** 2)
    mirrored = (*phi.kinks, *(-t for t in phi.kinks))
    opposite = gaussian_expectation(lambda x: (phi(x) - phi.mean) * (phi(-x) - phi.mean), mirrored)
    try:
        return Interpolated(Series(weights), _end(phi, 1), _end(phi, -1), phi.variance, opposite)
    except ValueError as error:
        raise ValueError(f"the kernel of {phi.name} is not resolved: {error}") from error


def _end(phi: Activation, sign: int) -> End:
    """Interpolate the kernel near ``rho = sign``."""
    heights = _jumps(phi)
    # where the slope is rough, from differences, what resolves the values resolves it
    resolved = phi.derivative if phi.exact_slope else phi
    _, grid = resolve(lambda x: resolved(x) ** 2, phi.kinks)

    def slope(angle: float) -> float:
        cosine, sine = sign * math.cos(angle), math.sin(angle)
        smooth = product_on_circle(phi.derivative, phi.derivative, cosine, sine, grid)
        if not heights:
            return smooth
        positions = torch.tensor(tuple(heights), dtype=torch.float64)
        density_at = torch.tensor(tuple(heights.values()), dtype=torch.float64) * density(positions)
        std = torch.full_like(positions, sine)
        beside = conditional_mean(phi.derivative, cosine * positions, std, grid)
        mixed = 2 * float((density_at * beside).sum())
        return sine * (smooth + mixed) + _pairs_of_jumps(heights, cosine, sine)

    curve = Chebyshev.fit(
        lambda angles: torch.tensor([slope(a) for a in angles.tolist()], dtype=torch.float64),
        1e-14 if phi.exact_slope else ROUGH,
    )
    if len(grid.knots) > len(grid.kinks):  # steep: what is narrow may lie between the points
        for angle in 10.0 ** -np.arange(1, 17):
            here = slope(float(angle))
            if abs(float(curve(torch.tensor(angle))) - here) > 1e-12 * max(abs(here), curve.size):
                raise ValueError(f"its slope changes within an angle of {angle:.0e}")
    return End(curve, Chebyshev.fit(lambda a: _mean_rise(curve, a, bool(heights))), bool(heights))


def _jumps(phi: Activation) -> dict[float, float]:
    """Return the heights of the jumps of ``phi`` by their positions."""
    return {t: right - left for t, (left, right) in jumps(phi).items()}


def jumps(phi: Activation) -> dict[float, tuple[float, float]]:
    """Return the values left and right of the jumps of ``phi``, by their positions.

    >>> from signalprop.activations import sign
    >>> jumps(sign)
    {0.0: (-1.0, 1.0)}
    """
    sides = {}
    for t in phi.kinks:
        step = 1e-13 * max(1.0, abs(t * phi.gain)) / abs(phi.gain)
        left, right = float(phi(t - step)), float(phi(t + step))
        if abs(right - left) > 1e-9 * max(abs(left), abs(right), abs(phi.scale)):
            sides[t] = left, right
    return sides


def _pairs_of_jumps(heights: dict[float, float], cosine: float, sine: float) -> float:
    """Return ``sin(angle)`` times the bivariate densities at all pairs of jumps."""
    sign = math.copysign(1.0, cosine)
    return sum(
        a * b * math.exp(-((s - sign * t) ** 2) / (2 * sine**2) - sign * s * t / (1 + abs(cosine)))
        for s, a in heights.items()
        for t, b in heights.items()
    ) / (2 * math.pi)


def _mean_rise(slope: Chebyshev, angles: Tensor, jumps: bool) -> Tensor:
    """Integrate ``kappa'`` from the end to each angle, and divide by its leading power."""
    nodes, weights = np.polynomial.legendre.leggauss(len(slope.coefficients) + 16)
    u = angles[:, None] * torch.from_numpy((nodes + 1) / 2)
    du = angles[:, None] * torch.from_numpy(weights / 2)
    if jumps:
        return (slope(u) * du).sum(-1) / angles
    return (slope(u) * torch.sin(u) * du).sum(-1) / (2 * torch.sin(angles / 2) ** 2)
