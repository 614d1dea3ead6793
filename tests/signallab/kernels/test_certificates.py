"""Sides of the certified counterexamples, each beside the chapter's own evaluation in doubles."""

from fractions import Fraction

import numpy as np
import pytest

import signalprop as sp
from signallab.kernels import certificates as certified
from signallab.kernels import (
    contraction_to_zero,
    hermite_expansions,
    normalization_layers,
    one_rate_two_cases,
    proof_of_the_cases,
)

CUBE = sp.KernelMap.from_series([0, 0.6, 0, 0.4])
QUADRATIC = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])
SQUARE = sp.KernelMap.from_series([0, 0, 1.0])


def sides(found):
    return float(found.left), float(found.right)


def potential(rho):
    return rho / (1 - rho)


def test_a_line_fixes_every_cosine():
    line = sp.KernelMap.from_series([0, 1.0])
    found = certified.linear_map(Fraction(1, 3))
    assert sides(found) == pytest.approx((line(1 / 3), 1 / 3))
    with pytest.raises(ValueError, match="must refute"):
        certified.growing_cosine(Fraction(-9, 10))


def test_the_corollary_from_a_negative_start():
    bound = contraction_to_zero.corollary(signed=True)(-0.5, np.array([1]), SQUARE)
    assert sides(certified.negative_start()) == pytest.approx((SQUARE(-0.5), bound[0]))


def test_rates_of_cases_1_and_4():
    allowed = one_rate_two_cases.printed_1(0.1, np.array([1]), CUBE)[0]
    expected = potential(CUBE(0.1)), potential(allowed)
    assert sides(certified.rate_of_case_1()) == pytest.approx(expected)
    assert sides(certified.rate_with_a_norm()) == pytest.approx(expected)
    gap = 2.0**-20
    left = QUADRATIC.approach(1 - gap, 40)[-1]
    right = one_rate_two_cases.printed_4(1 - gap, np.array([40]), QUADRATIC)[0]
    assert sides(certified.rate_of_case_4(Fraction(gap), 40)) == pytest.approx((left, right))


def test_displays_of_the_proof():
    rho = Fraction(3, 4)
    after = QUADRATIC(0.75)
    allowed = proof_of_the_cases.conclusion(QUADRATIC) * (0.75 - 0.5) / 0.25
    assert sides(certified.factor_above(rho)) == pytest.approx(
        ((after - 0.5) / (1 - after), allowed)
    )
    case = proof_of_the_cases.balance(sp.activations.exp, mean=0.0)
    assert sides(certified.slope_of_the_exponential()) == pytest.approx((case.left, case.right))
    case = proof_of_the_cases.not_larger("m", QUADRATIC, "everywhere", at=np.array([-0.1]))
    assert sides(certified.growing_cosine()) == pytest.approx((case.left, case.right))


def test_short_inputs():
    phi = sp.activations.Activation.from_hermite([0.0, 4.0, 0.0, 6**0.5], "x + x^3")
    case = normalization_layers.first_layers(phi, "LN after", 0.01)
    assert sides(certified.short_inputs()) == pytest.approx((case.left, case.right))


def test_relu_and_mehler():
    relu = sp.KernelMap(sp.activations.relu.normalized())
    assert sides(certified.relu_at_the_boundary()) == pytest.approx((relu.derivative(1.0), 1))
    case = hermite_expansions.mehler_series(power=lambda rho: 1.0, terms=40)(0.0, 0.0, -0.9)
    assert sides(certified.mehler_without_powers()) == pytest.approx((case.right, case.left))
