"""Activations as functions of balls, and Gaussian expectations that are proven enclosures.

References: F. Johansson, *Arb: efficient arbitrary-precision midpoint-radius interval arithmetic*,
IEEE Trans. Comput. 66 (2017); the integrals are those of his *Numerical integration in
arbitrary-precision ball arithmetic*, ICMS 2018: adaptive, with an error bound from the values of
the integrand on complex ellipses.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import torch.nn.functional as F
from flint import acb, arb, ctx, fmpq

from signalprop import activations as A
from signalprop.activations import Activation

__all__ = [
    "Function",
    "Number",
    "ball",
    "derivative",
    "function",
    "hermite_coefficient",
    "mean_square",
]

#: What becomes a ball: floats as they are, fractions and decimal texts enclosed.
Number = float | str | Fraction | fmpq | arb
#: An analytic function of a complex ball.
Analytic = Callable[[acb], acb]


def ball(x: Number) -> arb:
    """Return a ball that contains the number: a float exactly, a fraction or a text enclosed.

    >>> ball(Fraction(1, 3)).overlaps(1 / arb(3)), ball("0.1").is_exact(), ball(0.5).is_exact()
    (True, False, True)
    """
    return arb(fmpq(x.numerator, x.denominator)) if isinstance(x, Fraction) else arb(x)


@dataclass(frozen=True)
class Function:
    """A function on the line, analytic between its kinks, that does not grow too fast.

    ``pieces`` are the function on the ``len(kinks) + 1`` intervals from the left to the right;
    ``|f(x)| <= factor (1 + |x|)^power exp(rate |x|)`` for all x, which bounds the tails of
    expectations. Either the power or the rate is 0.

    >>> square = Function((lambda z: z * z,), (), arb(1), 2)
    >>> mean_square(square).contains(3)
    True
    """

    pieces: tuple[Analytic, ...]
    kinks: tuple[arb, ...]
    factor: arb
    power: int
    rate: arb = field(default_factory=arb)

    def __post_init__(self) -> None:
        if self.power and self.rate != 0:
            raise ValueError(f"rate must be 0 beside a power, got {self.rate} and {self.power}")

    def __call__(self, x: Number) -> arb:
        """Return an enclosure of the values on the ball x; across a kink the pieces are united.

        >>> function(A.relu)(2.0).contains(2), function(A.relu)(arb(0, 1)).contains(0.5)
        (True, True)
        """
        at = ball(x)
        first = sum(bool(at > kink) for kink in self.kinks)
        last = len(self.kinks) - sum(bool(at < kink) for kink in self.kinks)
        values = [piece(acb(at)).real for piece in self.pieces[first : last + 1]]
        return functools.reduce(arb.union, values)


def function(phi: Activation) -> Function:
    """Return an activation as a function of balls, its gain, scale and shift as exact floats.

    >>> function(A.tanh)(1).str(8)
    '[0.76159416 +/- 4.05e-9]'
    """
    form = _form(phi)
    pieces = [functools.partial(_affine, phi, value) for value, _ in form.pieces]
    growth = abs(arb(phi.scale)) * form.factor * _stretch(phi, form.power) + abs(arb(phi.shift))
    return _ordered(phi, form, pieces, growth, form.power)


def derivative(phi: Activation) -> Function:
    """Return the derivative of an activation without jumps, almost everywhere.

    >>> derivative(A.relu)(-1).contains(0), derivative(A.relu)(1).contains(1)
    (True, True)
    """
    form = _form(phi)
    if form.jumps:
        raise ValueError(f"phi must have no jumps to be differentiated, got {phi.name}")
    pieces = [functools.partial(_slope, phi, slope) for _, slope in form.pieces]
    growth = abs(arb(phi.scale) * arb(phi.gain)) * form.steepest * _stretch(phi, form.steep_power)
    return _ordered(phi, form, pieces, growth, form.steep_power)


def hermite_coefficient(f: Function, order: int) -> arb:
    """Return the Hermite coefficient ``E f(X) he_order(X)``, enclosed, for X standard Gaussian.

    >>> hermite_coefficient(function(A.relu), 0).overlaps(1 / (2 * arb.pi()).sqrt())
    True
    """
    if order < 0:
        raise ValueError(f"order must be at least 0, got {order}")
    return _integral(f, lambda value, z: value * _polynomial(order, z), _tail(f).sqrt())


def mean_square(f: Function) -> arb:
    """Return ``E f(X)^2``, enclosed, for X standard Gaussian.

    >>> mean_square(function(A.relu)).contains(0.5)
    True
    """
    return _integral(f, lambda value, z: value * value, _tail(f))


def _integral(f: Function, term: Callable[[acb, acb], acb], tail: arb) -> arb:
    """Return ``E term(f(X), X)``: integrals of the pieces up to the reach, and the tail's ball."""
    reach = _reach()
    ends = [-reach, *(min(max(kink, -reach), reach) for kink in f.kinks), reach]
    total = acb(0)
    for piece, (start, end) in zip(f.pieces, itertools.pairwise(ends), strict=True):
        total += acb.integral(functools.partial(_weighted, piece, term), start, end)
    return (total / (2 * acb.pi()).sqrt()).real + arb(0, tail.upper())


def _weighted(piece: Analytic, term: Callable[[acb, acb], acb], z: acb, _: bool) -> acb:
    return term(piece(z), z) * (-z * z / 2).exp()


def _reach() -> arb:
    """Where integrals are cut: beyond it a Gaussian has less mass than the precision squared."""
    return arb(math.ceil(math.sqrt(4 * math.log(2) * ctx.prec)) + 4)


def _tail(f: Function) -> arb:
    r"""Bound ``E f(X)^2`` over ``|X| > reach``: there ``1 + |x| <= 2 |x|``, and the moments of a
    Gaussian beyond a point are incomplete gamma functions. Of an exponential it is
    ``E exp(2 r |X|) = 2 exp(2 r^2) P(X > reach - 2 r)`` over ``|X| > reach``.

    By Cauchy and Schwarz its root bounds the tail of ``E f(X) he_k(X)``, as ``E he_k(X)^2 = 1``.
    """
    if f.rate != 0:
        beyond: arb = ((_reach() - 2 * f.rate) / arb(2).sqrt()).erfc()
        return f.factor**2 * (2 * f.rate**2).exp() * beyond
    p, half = f.power, arb(1) / 2
    moment = arb(2) ** p * (_reach() ** 2 / 2).gamma_upper(p + half) / arb.pi().sqrt()
    bound: arb = f.factor**2 * 4**p * moment
    return bound


def _polynomial(order: int, z: acb) -> acb:
    """The normalised Hermite polynomial by its recursion of three terms."""
    before, now = acb(0), acb(1)
    for k in range(order):
        before, now = now, (z * now - arb(k).sqrt() * before) / arb(k + 1).sqrt()
    return now


@dataclass(frozen=True)
class _Form:
    """Value and slope on each piece, the kinks, and the growth of both, at one ``rate``."""

    pieces: tuple[tuple[Analytic, Analytic], ...]
    kinks: tuple[float, ...] = ()
    factor: float = 1.0
    power: int = 0
    steepest: float = 1.0
    steep_power: int = 0
    rate: float = 0.0
    jumps: bool = False


def _sigmoid(z: acb) -> acb:
    return 1 / (1 + (-z).exp())


def _log_of_one_more(z: acb) -> acb:
    return (1 + z.exp()).log(analytic=True)  # not finite where the cut is met


def _erf_slope(z: acb) -> acb:
    return 2 * (-z * z).exp() / acb.pi().sqrt()


def _phi(z: acb) -> acb:
    """The distribution function of a standard Gaussian."""
    return (1 + (z / acb(2).sqrt()).erf()) / 2


def _density(z: acb) -> acb:
    return (-z * z / 2).exp() / (2 * acb.pi()).sqrt()


def _inner(z: acb) -> acb:
    """What the tanh of GELU's approximation is taken of."""
    return (2 / acb.pi()).sqrt() * (z + 0.044715 * z**3)


def _gelu_tanh(z: acb) -> acb:
    return z * (1 + _inner(z).tanh()) / 2


def _gelu_tanh_slope(z: acb) -> acb:
    steep = (2 / acb.pi()).sqrt() * (1 + 3 * 0.044715 * z**2)
    return (1 + _inner(z).tanh() + z * steep / _inner(z).cosh() ** 2) / 2


_ZERO = (lambda z: acb(0), lambda z: acb(0))
_ONE = (lambda z: acb(1), lambda z: acb(0))
_LINE = (lambda z: z, lambda z: acb(1))
_SELU = (1.6732632423543772848170429916717, 1.0507009873554804934193349852946)  # torch's doubles


def _bent(left: float) -> _Form:
    """Slope ``left`` below 0 and 1 above."""
    line = (lambda z: left * z, lambda z: acb(left))
    steep = max(abs(left), 1.0)
    return _Form((line, _LINE), (0.0,), factor=steep, power=1, steepest=steep)


def _hinge(threshold: float) -> _Form:
    line = (lambda z: z - threshold, lambda z: acb(1))
    return _Form((_ZERO, line), (threshold,), factor=1 + abs(threshold), power=1)


def _saturating(scale: float, slope: float) -> _Form:
    """``scale * slope * (exp(x) - 1)`` below 0 and ``slope * x`` above: ELU and SELU."""
    low = arb(scale) * arb(slope)
    curve = (lambda z: low * (z.exp() - 1), lambda z: low * z.exp())
    line = (lambda z: slope * z, lambda z: acb(slope))
    return _Form((curve, line), (0.0,), factor=2.0, power=1, steepest=2.0)  # SELU needs 1.76


#: Forms by the torch functions of the activations; bounds of growth hold for every real x.
_FORMS: Mapping[object, _Form] = {
    A.identity.function: _Form((_LINE,), power=1),
    A.cube.function: _Form(
        ((lambda z: z**3, lambda z: 3 * z * z),), power=3, steepest=3.0, steep_power=2
    ),
    A.tanh.function: _Form(((lambda z: z.tanh(), lambda z: 1 / z.cosh() ** 2),)),
    A.sin.function: _Form(((lambda z: z.sin(), lambda z: z.cos()),)),
    # the slope is 2 exp(-x^2) / sqrt(pi) < 2
    A.erf.function: _Form(((lambda z: z.erf(), _erf_slope),), steepest=2.0),
    A.sigmoid.function: _Form(((_sigmoid, lambda z: _sigmoid(z) * _sigmoid(-z)),)),
    # log(1 + e^x) <= log 2 + |x|; cut at 0, where nothing bends, so that each exponential is small
    A.softplus.function: _Form(
        ((_log_of_one_more, _sigmoid), (lambda z: z + _log_of_one_more(-z), _sigmoid)),
        kinks=(0.0,),
        power=1,
    ),
    # |x| density(x) < 1/4, and |x| sigmoid(x) sigmoid(-x) <= |x| exp(-|x|) < 1
    A.gelu.function: _Form(
        ((lambda z: z * _phi(z), lambda z: _phi(z) + z * _density(z)),), power=1, steepest=2.0
    ),
    A.silu.function: _Form(
        ((lambda z: z * _sigmoid(z), lambda z: _sigmoid(z) * (1 + z * _sigmoid(-z))),),
        power=1,
        steepest=2.0,
    ),
    # x u' <= 3 u for the inner u of x > 0, and u / cosh(u)^2 < 1/2
    A.gelu_tanh.function: _Form(((_gelu_tanh, _gelu_tanh_slope),), power=1, steepest=2.0),
    A.exp.function: _Form(((lambda z: z.exp(), lambda z: z.exp()),), rate=1.0),
    A.relu.function: _hinge(0.0),
    A.elu.function: _saturating(1.0, 1.0),
    A.selu.function: _saturating(*_SELU),
    A.sign.function: _Form(((lambda z: acb(-1), lambda z: acb(0)), _ONE), (0.0,), jumps=True),
    A.step.function: _Form((_ZERO, _ONE), (0.0,), jumps=True),
}


def _form(phi: Activation) -> _Form:
    if isinstance(phi.function, functools.partial):
        given = phi.function.keywords
        if phi.function.func is F.leaky_relu:
            return _bent(given["negative_slope"])
        if set(given) == {"threshold"}:  # NormReLU, before its scale and shift
            return _hinge(given["threshold"])
    elif phi.function in _FORMS:
        return _FORMS[phi.function]
    raise ValueError(
        f"phi must have a known analytic form, got {phi.name}: there are identity, cube, tanh, "
        "sin, erf, sigmoid, softplus, gelu, gelu_tanh, silu, exp, relu, leaky_relu, elu, selu, "
        "norm_relu, sign and step"
    )


def _affine(phi: Activation, value: Analytic, z: acb) -> acb:
    return phi.scale * value(phi.gain * z) + phi.shift


def _slope(phi: Activation, slope: Analytic, z: acb) -> acb:
    return arb(phi.scale) * arb(phi.gain) * slope(phi.gain * z)


def _stretch(phi: Activation, power: int) -> arb:
    """How much a gain can raise ``(1 + |x|)^power``."""
    return abs(arb(phi.gain)).max(arb(1)) ** power


def _ordered(
    phi: Activation, form: _Form, pieces: Sequence[Analytic], factor: arb, power: int
) -> Function:
    """Put pieces and kinks in the order of the line, which a negative gain turns around."""
    kinks = [arb(kink) / arb(phi.gain) for kink in form.kinks]
    turn = -1 if phi.gain < 0 else 1
    rate = abs(arb(phi.gain)) * form.rate
    return Function(tuple(pieces[::turn]), tuple(kinks[::turn]), factor, power, rate)
