"""Sides of the certified counterexamples, each beside an evaluation in doubles."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import signalprop as sp
from signallab.conditioning import certificates as certified
from signalprop import theory


def sides(found):
    return float(found.left), float(found.right)


@pytest.mark.parametrize("gamma", [Fraction(1, 2), Fraction(3, 2), Fraction(2)])
def test_moments_of_norm_relu(gamma):
    mean, square = certified.norm_relu(gamma)
    assert float(square) == pytest.approx(theory.cond_norm_relu_length(float(gamma)), rel=1e-12)
    bias = theory.cond_norm_relu_bias(float(gamma))
    assert float(mean**2 / square) == pytest.approx(bias, abs=1e-15)


def test_printed_digits():
    length = theory.cond_norm_relu_length(0.5)
    assert sides(certified.norm_transfer_in_print()) == pytest.approx((length, 0.53995))
    assert sides(certified.rate_below_one_in_print()) == pytest.approx((2 * length - 1, 0.07985))


def test_relu():
    k = sp.KernelMap(sp.activations.relu)
    squares = np.asarray(k.hermite_coefficients(3)) ** 2
    assert sides(certified.series_of_relu()) == pytest.approx((squares[2], 2 * squares[2]))
    assert float(certified.odd_coefficient_of_relu().right) == pytest.approx(squares[3], abs=1e-12)


def test_normalized_activations():
    phi = sp.activations.relu.standardized()
    assert sides(certified.outputs_of_the_normalized()) == pytest.approx((1, float(phi(1.0))))
    found = certified.mean_of_the_normalized()
    both = (float(phi(1.0)) + float(phi(-1.0))) / 2
    relu = sp.activations.relu
    scale, mean = phi.scale, relu.mean
    assert sides(found) == pytest.approx((2 * both, scale * (2 * 0.5 - mean)))


def test_kernels():
    left, right = sides(certified.index_of_the_slope())
    assert (left, right) == pytest.approx((0.49 - 0.7 * 2 * 0.49, 0.49 + 2 * 0.49))
    assert sides(certified.norm_of_one_sample(5)) == (0.2, 0)


@pytest.mark.parametrize("gamma", [0.5, 0.8, 1.0, 1.7, 2.0])
def test_derivatives_of_norm_relu(gamma):
    h = 1e-4
    for ours, form in (
        (certified._norm_transfer, theory.cond_norm_relu_length),
        (certified._mean, theory.cond_norm_relu_mean),
    ):
        low, here, high = (float(form(gamma + k * h)) for k in (-1, 0, 1))
        value, slope, bend = (float(x.mid()) for x in ours(arb(gamma)))
        assert value == pytest.approx(here, abs=1e-12)
        assert slope == pytest.approx((high - low) / (2 * h), rel=1e-6)
        assert bend == pytest.approx((high - 2 * here + low) / h**2, rel=1e-4)
    low, here, high = (theory.cond_norm_relu_bias(gamma + k * h) for k in (-1, 0, 1))
    bend = float(certified._bend_of_the_bias(arb(gamma)).mid())
    assert bend == pytest.approx((high - 2 * here + low) / h**2, rel=1e-3)


def test_shapes_of_norm_relu_are_proved():
    for proofs in (certified.bends_of_norm_relu(), certified.rises_of_norm_relu()):
        assert all(proof.margin > 0 for proof in proofs)
    grid = np.linspace(0.5, 2, 200)
    least = min(float(certified._bend_of_the_bias(arb(g)).mid()) for g in grid)
    assert certified.bends_of_norm_relu()[1].margin <= least
