"""Balls contain what mpmath computes with 50 digits, and are as small as they should be."""

import mpmath
import numpy as np
import pytest
from flint import arb, ctx

from signalprop import activations as A
from signalprop.certify import Function, derivative, function, hermite_coefficient, mean_square

SMOOTH = [
    A.identity,
    A.cube,
    A.tanh,
    A.sin,
    A.erf,
    A.sigmoid,
    A.softplus,
    A.gelu,
    A.silu,
    A.gelu_tanh,
    A.exp,
]
KINKED = [A.relu, A.elu, A.selu, A.leaky_relu(0.1), A.norm_relu()]
JUMPS = [A.sign, A.step]
TURNED = [
    A.selu.gained(-2.0).scaled(-3.0),
    A.norm_relu().gained(-0.5),
    A.cube.gained(1.5),
    A.exp.gained(-0.5),
]
ALL = [*SMOOTH, *KINKED, *JUMPS, *TURNED]

SCALE, SLOPE = (
    mpmath.mpf(float(text))
    for text in ("1.6732632423543772848170429916717", "1.0507009873554804934193349852946")
)


def inner(x):
    return mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf(0.044715) * x**3)


#: Written anew for mpmath, with constants that are doubles as such.
EXACT = {
    "identity": lambda x: x,
    "cube": lambda x: x**3,
    "tanh": mpmath.tanh,
    "sin": mpmath.sin,
    "erf": mpmath.erf,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "gelu": lambda x: x * mpmath.ncdf(x),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "gelu_tanh": lambda x: x * (1 + mpmath.tanh(inner(x))) / 2,
    "exp": mpmath.exp,
    "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "relu": lambda x: max(x, mpmath.mpf(0)),
    "elu": lambda x: x if x > 0 else mpmath.expm1(x),
    "selu": lambda x: SLOPE * (x if x > 0 else SCALE * mpmath.expm1(x)),
    "sign": mpmath.sign,
    "step": lambda x: mpmath.mpf(x > 0),
}


def contains(enclosure: arb, number: mpmath.mpf) -> bool:
    """Whether the ball contains a number given to 50 digits, those digits' error allowed for."""
    return enclosure.overlaps(arb(mpmath.nstr(number, 45), 1e-40))


@pytest.fixture
def fifty():
    with mpmath.workdps(50):
        yield


@pytest.mark.parametrize("phi", ALL, ids=lambda phi: phi.name)
def test_values_and_slopes_are_those_of_the_activation(phi):
    f = function(phi)
    for x in np.linspace(-3.05, 3.07, 23):
        assert float(f(float(x)) - arb(float(phi(float(x))))) == pytest.approx(0, abs=1e-13)
        if phi not in JUMPS:
            slope = arb(float(phi.derivative(float(x))))
            assert float(derivative(phi)(float(x)) - slope) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("phi", ALL, ids=lambda phi: phi.name)
def test_growth_is_bounded_as_said(phi):
    f = function(phi)
    slopes = [] if phi in JUMPS else [(derivative(phi), phi.derivative)]
    for bounded, values in [(f, phi), *slopes]:
        x = np.concatenate([-np.geomspace(1e-3, 60, 200), np.geomspace(1e-3, 60, 200)])
        most = float(bounded.factor) * (1 + np.abs(x)) ** bounded.power
        most = most * np.exp(float(bounded.rate) * np.abs(x))
        assert (np.abs(values(x)) <= most * (1 + 1e-12)).all()


@pytest.mark.parametrize("name", EXACT)
def test_a_ball_contains_the_value_in_many_digits(name, fifty):
    f, rng = function(getattr(A, name)), np.random.default_rng(0)
    for x in rng.normal(size=20) * 3:
        assert contains(f(float(x)), EXACT[name](mpmath.mpf(float(x))))


@pytest.mark.parametrize("name", sorted({*EXACT} - {"sign", "step"}))
def test_a_ball_contains_the_slope_in_many_digits(name, fifty):
    f, rng = derivative(getattr(A, name)), np.random.default_rng(1)
    for x in rng.normal(size=5) * 3:
        with mpmath.workdps(90):  # differences, which lose half of the digits
            slope = mpmath.diff(EXACT[name], mpmath.mpf(float(x)))
        assert contains(f(float(x)), slope)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tanh", "gelu", "elu", "exp"])
def test_expectations_contain_those_in_many_digits(name, fifty):
    f, exact = function(getattr(A, name)), EXACT[name]
    knots = sorted({*mpmath.linspace(-16, 16, 17), mpmath.mpf(0)})
    third = (mpmath.mpf(1) / mpmath.sqrt(6)).__mul__
    ctx.prec = 160
    try:
        mean = mpmath.quad(lambda x: exact(x) * mpmath.npdf(x), knots)
        square = mpmath.quad(lambda x: exact(x) ** 2 * mpmath.npdf(x), knots)
        cubic = mpmath.quad(lambda x: exact(x) * third(x**3 - 3 * x) * mpmath.npdf(x), knots)
        assert contains(hermite_coefficient(f, 0), mean)
        assert contains(mean_square(f), square)
        assert contains(hermite_coefficient(f, 3), cubic)
        assert hermite_coefficient(f, 3).rad() < arb("1e-40")
    finally:
        ctx.prec = 53


@pytest.mark.parametrize("phi", ALL, ids=lambda phi: phi.name)
def test_moments_are_those_of_the_library(phi):
    assert float(hermite_coefficient(function(phi), 0)) == pytest.approx(phi.mean, abs=1e-12)
    assert float(mean_square(function(phi))) == pytest.approx(phi.second_moment, rel=1e-12)


def test_across_a_kink_the_ball_unites_both_sides():
    around = function(A.sign)(arb(0, 0.1))
    assert around.contains(-1)
    assert around.contains(1)
    assert not function(A.sign)(arb(0.2, 0.1)).contains(-1)


def test_what_has_no_form_is_refused():
    with pytest.raises(ValueError, match=r"phi must have a known analytic form, got exp_square"):
        function(A.exp_square)
    with pytest.raises(ValueError, match=r"phi must have no jumps to be differentiated, got sign"):
        derivative(A.sign)
    with pytest.raises(ValueError, match=r"order must be at least 0, got -1"):
        hermite_coefficient(function(A.tanh), -1)


def test_an_exponential_grows_by_a_rate_and_no_power():
    square = hermite_coefficient(function(A.exp), 2) ** 2
    assert square.overlaps(arb(1).exp() / 2)  # E exp(X) he_2(X) = sqrt(e / 2)
    assert mean_square(function(A.exp.gained(3.0))).overlaps(arb(18).exp())
    with pytest.raises(ValueError, match="rate must be 0 beside a power"):
        Function((lambda z: z * z.exp(),), (), arb(1), 1, arb(1))
