"""One layer on all pairs of a batch: ``E phi(u_i) phi(u_j)`` and ``E phi'(u_i) phi'(u_j)``.

The cheapest way that holds: closed forms (:mod:`unequal`, and :mod:`piecewise` for what is linear
between kinks anywhere), the kernel map of inputs of one length (:mod:`maps`), an interpolant in
both lengths and the angle (:mod:`polar`). What is left are inputs of unequal lengths with a curved
activation that has kinks elsewhere than at 0 (hard swish), or one too steep to be interpolated:
a quadrature for each pair (:mod:`lengths`) if they are few, else Hermite series
(:mod:`series_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from signalprop.activations import Activation
from signalprop.limits.closed import Series
from signalprop.limits.lengths import LengthMap, grid_at_length, pair_moments
from signalprop.limits.maps import KernelMap
from signalprop.limits.piecewise import piecewise_linear
from signalprop.limits.polar import interpolate_pairs
from signalprop.limits.quadrature import conditional_mean
from signalprop.limits.series_pairs import SeriesPairs
from signalprop.limits.unequal import Form, closed_form

__all__ = ["Pairs", "pairs_of"]

EQUAL = 1e-13  # relative difference of variances that is rounding
CANCELLED = 1e-11  # relative error of a closed form that has lost too many digits
FEW = 100  # pairs that take a quadrature each


class Pairs(Protocol):
    """What a layer does to inputs of given lengths.

    ``squares`` ``(..., n)`` is ``E phi(u_i)^2``. :meth:`block` takes the inputs from ``start`` to
    ``stop`` against those from ``start`` on, with their correlations
    ``(..., stop - start, n - start)``, and gives moments and slopes of that shape (no slopes if
    they are not asked for).

    >>> from signalprop.activations import relu
    >>> layer = pairs_of(relu, torch.tensor([1.0, 2.0], dtype=torch.float64), tangent=False)
    >>> layer.squares
    tensor([0.5000, 2.0000], dtype=torch.float64)
    """

    squares: Tensor

    def block(self, start: int, stop: int, rho: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return moments and slopes of the pairs."""
        ...


def pairs_of(phi: Activation, stds: Tensor, tangent: bool) -> Pairs:
    """Return the cheapest way for inputs of standard deviations ``stds`` ``(..., n)``.

    >>> from signalprop.activations import relu, tanh
    >>> stds = torch.tensor([1.0, 2.0], dtype=torch.float64)
    >>> [type(pairs_of(phi, stds, tangent=True)).__name__ for phi in (relu, tanh)]
    ['ClosedPairs', 'InterpolatedPairs']
    """
    form = closed_form(phi)
    length = float(stds.mean())
    equal = length > 0 and bool(((stds - length).abs() <= EQUAL * length).all())
    series = phi.kernel is not None and isinstance(phi.kernel(phi.gain), Series)
    if form is not None and not (equal and series and abs(length - 1) <= EQUAL):
        return ClosedPairs(form, stds, tangent)  # else the map of a series keeps tiny values too
    off_zero = any(kink != 0 for kink in phi.kinks)
    if equal and (off_zero or abs(length - 1) <= EQUAL):
        return EqualPairs(phi, stds, length, tangent)
    if off_zero:
        closed = _in_pieces(phi, stds, tangent)
        if closed is not None:
            return closed
        reason = "is curved, with kinks elsewhere than at 0"
    else:
        try:
            return InterpolatedPairs(phi, stds, tangent)
        except ValueError as error:
            reason = f"is not resolved: {error}"
    if stds.numel() * (stds.shape[-1] + 1) // 2 <= FEW:
        return DirectPairs(phi, stds, tangent)
    return SeriesPairs(phi, stds, tangent, reason)


def _in_pieces(phi: Activation, stds: Tensor, tangent: bool) -> ClosedPairs | None:
    """Return the closed form of lines between kinks, where no digits cancel at these lengths."""
    form = piecewise_linear(phi)
    if form is None:
        return None
    closed = ClosedPairs(form, stds, tangent)
    exact = torch.as_tensor(LengthMap(phi)(stds**2))
    good = ((closed.squares - exact).abs() <= CANCELLED * exact) | (stds == 0)
    closed.squares = exact
    return closed if bool(good.all()) else None


class ClosedPairs:
    """By a closed form."""

    def __init__(self, form: Form, stds: Tensor, tangent: bool):
        self.form, self.stds, self.tangent = form, stds, tangent
        self.squares = form(stds, stds, torch.ones_like(stds))[0]

    def block(self, start: int, stop: int, rho: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return moments and slopes of the pairs."""
        a, b = self.stds[..., start:stop, None], self.stds[..., None, start:]
        moments, slopes = self.form(a, b, rho)
        return moments, slopes if self.tangent else None


class EqualPairs:
    """By the kernel map of one length."""

    def __init__(self, phi: Activation, stds: Tensor, length: float, tangent: bool):
        gain = 1.0 if abs(length - 1) <= EQUAL else length
        self.kernel = KernelMap(phi if gain == 1 else phi.gained(gain))
        self.variance, self.tangent = length**2, tangent
        self.squares = torch.as_tensor(self.kernel(torch.ones_like(stds)))

    def block(self, start: int, stop: int, rho: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return moments and slopes of the pairs."""
        slopes = self.kernel.derivative(rho) / self.variance if self.tangent else None
        return self.kernel(rho), slopes


class InterpolatedPairs:
    """By an interpolant in both lengths and the angle, made for the lengths of this batch.

    An input of length 0 is a constant: its pairs have the product of the means.
    """

    def __init__(self, phi: Activation, stds: Tensor, tangent: bool):
        self.squares = torch.as_tensor(LengthMap(phi)(stds**2))
        self.zero = stds == 0
        longest = float(stds.max()) or 1.0
        lengths, self.number = torch.unique(
            torch.where(self.zero, longest, stds), return_inverse=True
        )
        grid = grid_at_length(phi, longest**2)
        functions: list[Callable[[Tensor], Tensor]] = [phi]
        if tangent:
            functions.append(phi.derivative)
        self.parts = [interpolate_pairs(f, lengths, grid.reach) for f in functions]
        self.means = [conditional_mean(f, torch.zeros_like(stds), stds, grid) for f in functions]

    def block(self, start: int, stop: int, rho: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return moments and slopes of the pairs."""
        angle = torch.acos(rho)
        rows, columns = self.number[..., start:stop], self.number[..., start:]
        values = [part(rows, columns, angle) for part in self.parts]
        if bool(self.zero.any()):
            zero = _outer(torch.logical_or, self.zero, start, stop)
            products = [_outer(torch.mul, mean, start, stop) for mean in self.means]
            values = [torch.where(zero, p, v) for p, v in zip(products, values, strict=True)]
        return values[0], values[1] if len(values) > 1 else None


class DirectPairs:
    """By a quadrature for each pair."""

    def __init__(self, phi: Activation, stds: Tensor, tangent: bool):
        self.phi, self.stds, self.tangent = phi, stds, tangent
        self.squares = torch.as_tensor(LengthMap(phi)(stds**2))

    def block(self, start: int, stop: int, rho: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return moments and slopes of the pairs, each pair once."""
        moments = self._each_once(self.phi, start, stop, rho)
        slopes = self._each_once(self.phi.derivative, start, stop, rho) if self.tangent else None
        return moments, slopes

    def _each_once(
        self, f: Callable[[Tensor], Tensor], start: int, stop: int, rho: Tensor
    ) -> Tensor:
        rows, columns = torch.triu_indices(*rho.shape[-2:])
        a, b = self.stds[..., start:stop], self.stds[..., start:]
        upper = pair_moments(self.phi, f, a[..., rows], b[..., columns], rho[..., rows, columns])
        result = torch.empty_like(rho)
        result[..., rows, columns] = upper
        within = columns < stop - start
        result[..., columns[within], rows[within]] = upper[..., within]
        return result


def _outer(
    combine: Callable[[Tensor, Tensor], Tensor], values: Tensor, start: int, stop: int
) -> Tensor:
    """Return the values of the inputs of a block, combined in pairs."""
    return combine(values[..., start:stop, None], values[..., None, start:])
