"""Enclosures of kernel maps against closed forms and the library's own quadrature."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx

import signalprop as sp
from signalprop import activations as A
from signalprop.certify import PowerSeries, iterates, kernel


def relu_kernel(rho: arb) -> arb:
    """Cho and Saul's closed form, in balls."""
    return ((1 - rho**2).sqrt() + rho * (arb.pi() - rho.acos())) / (2 * arb.pi())


#: Kernel maps in closed form, for mpmath.
CLOSED = {
    "relu": lambda r: (mpmath.sqrt(1 - r**2) + r * (mpmath.pi - mpmath.acos(r))) / (2 * mpmath.pi),
    "erf": lambda r: 2 / mpmath.pi * mpmath.asin(2 * r / 3),
    "sin": lambda r: mpmath.sinh(r) / mpmath.e,
    "exp": lambda r: mpmath.exp(1 + r),
    "step": lambda r: mpmath.mpf(1) / 4 + mpmath.asin(r) / (2 * mpmath.pi),
    "cube": lambda r: 9 * r + 6 * r**3,
}


@pytest.fixture
def many_digits():
    ctx.prec = 170
    with mpmath.workdps(50):
        yield
    ctx.prec = 53


@pytest.mark.parametrize("name", CLOSED)
def test_balls_of_maps_slopes_and_iterates_contain_fifty_digits(name, many_digits):
    """At random points, and with a short series, so that the tail has to be in the ball."""
    kappa, exact = kernel(getattr(A, name), order=10), CLOSED[name]
    scaled = kappa.stable()
    top = exact(mpmath.mpf(1))
    for rho in np.random.default_rng(2).uniform(-0.95, 0.95, 12):
        at = mpmath.mpf(float(rho))
        assert contains(kappa(float(rho)), exact(at))
        if kappa.slope_tail is not None:
            with mpmath.workdps(110):  # a difference, which loses half of the digits
                slope = mpmath.diff(exact, at)
            assert contains(kappa.slope(float(rho)), slope)
            assert contains(kappa.quotient(float(rho)), (top - exact(at)) / (1 - at))
        path = [at]
        for _ in range(4):
            path.append(exact(path[-1]) / top)
        assert all(map(contains, iterates(scaled, float(rho), 4), path))


def contains(enclosure, number):
    """Whether the ball contains a number given to 50 digits, those digits' error allowed for."""
    return enclosure.overlaps(arb(mpmath.nstr(number, 45), 1e-40))


@pytest.fixture(scope="module")
def relu():
    return kernel(A.relu, order=12)


def test_the_series_of_relu_contains_its_closed_form(relu):
    for rho in np.linspace(-0.99, 0.99, 21):
        assert relu(float(rho)).overlaps(relu_kernel(arb(float(rho))))
        slope = (arb.pi() - arb(float(rho)).acos()) / (2 * arb.pi())
        assert relu.slope(float(rho)).overlaps(slope)
        quotient = (arb(0.5) - relu_kernel(arb(float(rho)))) / (1 - arb(float(rho)))
        assert relu.quotient(float(rho)).overlaps(quotient)
    assert relu(0.3).rad() < arb("1e-9")
    assert relu.total.contains(0.5)
    assert relu.slope(1).contains(0.5)
    assert relu.quotient(1).contains(0.5)


def test_the_tail_is_needed(relu):
    """Without what lies beyond the order the value at 0.9 is not enclosed: the tail does work."""
    cut = PowerSeries(relu.coefficients)
    assert not cut(0.9).overlaps(relu_kernel(arb(0.9)))
    assert not cut.slope(0.9).overlaps((arb.pi() - arb(0.9).acos()) / (2 * arb.pi()))
    assert not cut.quotient(0.9).overlaps((arb(0.5) - relu_kernel(arb(0.9))) / (arb(1) - arb(0.9)))


def test_a_ball_of_correlations_contains_each(relu):
    for centre in (-0.7, -0.01, 0.0, 0.01, 0.6):
        wide = arb(centre, 0.05)
        for rho in np.linspace(centre - 0.0499, centre + 0.0499, 7):
            at = arb(float(rho))
            assert relu(wide).overlaps(relu_kernel(at))
            assert relu.quotient(wide).overlaps((arb(0.5) - relu_kernel(at)) / (1 - at))


@pytest.mark.parametrize("phi", [A.relu.gained(2.0), A.norm_relu()], ids=lambda phi: phi.name)
def test_kernels_are_those_of_the_library(phi):
    ours, theirs = kernel(phi, order=16), sp.KernelMap(phi)
    for rho in (-0.8, 0.0, 0.5):
        assert float(ours(rho).mid()) == pytest.approx(
            float(theirs(rho)), abs=float(ours(rho).rad()) + 1e-12
        )
        slope = ours.slope(rho)
        assert float(slope.mid()) == pytest.approx(
            float(theirs.derivative(rho)), abs=float(slope.rad()) + 1e-10
        )


def test_changes_of_the_series():
    kappa = PowerSeries((arb(1), arb(2), arb(3)), tail=arb(2), slope_tail=arb(9))
    assert kappa.total == 8
    assert kappa.stable().total.contains(1)
    assert kappa.stable().slope_tail == arb(9) / 8
    assert kappa.centred().coefficients == (0, 2, 3)
    assert kappa.centred().tail == 2


def test_iterates_contain_the_exact_path():
    third = arb(Fraction(1, 3).numerator) / 3
    kappa = PowerSeries((third, third, third))
    exact = [Fraction(1, 2)]
    for _ in range(6):
        exact.append((1 + exact[-1] + exact[-1] ** 2) / 3)
    path = iterates(kappa, Fraction(1, 2), 6)
    assert len(path) == 7
    assert all(
        (p - arb(e.numerator) / e.denominator).contains(0) for p, e in zip(path, exact, strict=True)
    )


def test_jumps_have_no_slope():
    step = kernel(A.step, order=5)
    assert step.slope_tail is None
    assert step(0.5).overlaps(arb(1) / 3)  # 1/4 + asin(1/2) / (2 pi)
    with pytest.raises(ValueError, match="slope_tail must be known"):
        step.slope(0.5)
    with pytest.raises(ValueError, match="slope_tail must be known"):
        step.quotient(0.5)


@pytest.mark.parametrize("rho", [1.5, -2, "nan"])
def test_no_correlation_is_refused(rho):
    with pytest.raises(ValueError, match=r"rho must lie in \[-1, 1\], got"):
        PowerSeries((arb(1),))(rho)


def test_an_order_below_one_is_refused():
    with pytest.raises(ValueError, match="order must be at least 1, got 0"):
        kernel(A.tanh, order=0)
