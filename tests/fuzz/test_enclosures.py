"""Balls, functions of balls and what is proved with them: refused in words, or it holds."""

from fractions import Fraction

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from signalprop import limits

from .budget import fuzz
from .test_arrays import ACTIVATIONS
from .test_functions import MADE
from .test_options import attempt, numbers

flint = pytest.importorskip("flint")
sympy = pytest.importorskip("sympy")

from signalprop import certify  # noqa: E402  after the skip: it needs both

rationals = st.fractions(-9, 9, max_denominator=99)
texts = st.one_of(
    rationals.map(lambda x: f"{float(x):.3f}"), st.text("0123456789.-+e/", max_size=5)
)


@fuzz(x=st.one_of(rationals, numbers, texts))
def test_balls(x):
    found = attempt(certify.ball, x)
    if isinstance(x, Fraction):
        assert (found * x.denominator).contains(x.numerator)
    elif isinstance(x, float) and x == x:
        assert found == flint.arb(x)
    elif found is not None and (exact := attempt(Fraction, x)) is not None:
        assert (found * exact.denominator).contains(exact.numerator)


def near(ball, value, slack=1e-9):
    """Whether a ball holds a float, up to the error of the float."""
    return ball.overlaps(flint.arb(float(value), slack * max(1.0, abs(float(value)))))


@fuzz(
    name=st.sampled_from(sorted(ACTIVATIONS)),
    made=st.sampled_from([None, *sorted(MADE)]),
    a=numbers,
    x=st.floats(-9, 9),
)
def test_functions_of_balls(name, made, a, x):
    phi = ACTIVATIONS[name] if made is None else attempt(MADE[made], a, 3)
    assume(phi is not None and 1e-6 < abs(phi.gain) < 1e6 and abs(phi.scale) < 1e6)
    f = attempt(certify.function, phi)
    if f is not None:
        assert near(f(x), phi(x))
        slope = attempt(certify.derivative, phi)
        far = all(abs(x - kink) > 1e-6 for kink in phi.kinks)
        assert slope is None or not far or near(slope(x), phi.derivative(x), 1e-6)


@fuzz(
    name=st.sampled_from(sorted(ACTIVATIONS)),
    order=st.integers(-1, 6),
    gain=st.sampled_from([-1.5, 1.0]),
)
def test_moments_of_balls(name, order, gain):
    phi = ACTIVATIONS[name].gained(gain)
    f = attempt(certify.function, phi)
    coefficient = None if f is None else attempt(certify.hermite_coefficient, f, order)
    if coefficient is not None:
        assert near(coefficient, limits.hermite_coefficients(phi, order)[order])
        assert near(certify.mean_square(f), phi.second_moment)


@fuzz(
    name=st.sampled_from(["cube", "sign", "tanh"]),
    order=st.integers(-1, 4),
    rho=st.one_of(st.floats(-1, 1), numbers),
)
def test_kernels_of_balls(name, order, rho):
    phi = ACTIVATIONS[name]
    series = attempt(certify.kernel, phi, order)
    value = None if series is None else attempt(series, rho)
    if value is not None:
        assert near(value, limits.KernelMap(phi)(rho))
        assert near(series.total, phi.second_moment)


@fuzz(value=rationals, radius=st.sampled_from([0, 1e-9, 1e-3, 1.0]), printed=texts)
def test_printed_digits(value, radius, printed):
    ball = certify.ball(value) + flint.arb(0, radius)
    try:
        proof = attempt(certify.prove_digits, ball, printed)
    except ArithmeticError as unproved:
        assert "not proved to round" in str(unproved)  # noqa: PT017
        return
    if proof is not None:
        unit = Fraction(1, 10 ** len(printed.partition(".")[2]))
        assert abs(value - Fraction(printed)) < unit / 2
        assert 0 < proof.margin <= 0.5


@fuzz(
    terms=st.lists(st.integers(-3, 3), min_size=2, max_size=3),
    off=st.sampled_from([0, 1, 0.5]),
    below=st.booleans(),
)
def test_identities(terms, off, below):
    x = sympy.Symbol("x")
    factors = [x - term for term in terms]
    left, right = sympy.prod(factors), sympy.expand(sympy.prod(factors)) + off
    if below:
        left, right = 1 / left, 1 / right
    try:
        found = attempt(certify.prove_identity, left, right)
    except certify.NoIdentity as failure:
        assert off
        assert failure.difference != 0  # noqa: PT017
    else:
        assert (found is None) == isinstance(off, float)
        assert off != 1
