"""The factor of GRAD Theorem 6.3 and what it is made of: by hand, by integrals over the group."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from signalprop import theory


def test_the_factor_by_hand():
    """S = 0.64 + 0.25 + 0.01 + 1.96 = 2.86, d = 4."""
    values = [0.2, 0.5, 0.9, 2.4]
    assert theory.grad_theorem_6_3(values) == pytest.approx(1 / (1 - 2.86 / 192))
    assert theory.grad_equation_c_35(values) == pytest.approx(1 - 2.86 / 144)
    assert theory.grad_equation_c_39(values, times=2) == pytest.approx(16 - 2 * 2.86 / 12)
    stacked = theory.grad_theorem_6_3([values, [1.0] * 4])
    np.testing.assert_allclose(stacked, [192 / 189.14, 1])


@pytest.mark.parametrize("epsilon", [0.1, 0.6, 0.99])
def test_the_plane_keeps_to_all_three(epsilon):
    """Squared lengths ``1 ± epsilon cos 2 theta``: elliptic integrals of both kinds."""
    values = [1 - epsilon, 1 + epsilon]
    product = 2 / np.pi * special.ellipe(epsilon**2)
    assert product <= theory.grad_equation_c_35(values) < product + epsilon**2 / 4
    assert 2 + 2 * product <= theory.grad_equation_c_39(values)
    assert theory.grad_theorem_6_3(values) <= 2 / np.pi * special.ellipk(epsilon**2)


def test_the_theorem_follows_from_its_displays():
    """(C.35) summed over pairs is (C.39), and d^2 over that is the factor."""
    values = np.array([0.3, 0.7, 2.0])
    square = 3 + 6 * theory.grad_equation_c_35(values)
    assert theory.grad_equation_c_39(values) == pytest.approx(square)
    assert theory.grad_theorem_6_3(values) == pytest.approx(9 / square)


@pytest.mark.parametrize("d", [2, 3, 7])
def test_moments_obey_the_sum_rules(d):
    """The second row has length 1, and rows are orthogonal."""
    apart, together = (
        Fraction(moment).limit_denominator(10**6) for moment in theory.grad_moments(d)
    )
    assert (d - 1) * apart + together == Fraction(1, d)
    fourth = Fraction(3, d * (d + 2))  # the mean of W_11^4
    assert (d - 1) * together + fourth == Fraction(1, d)


def test_moments_of_a_sampler():
    draw = np.random.default_rng(0).normal(size=(40_000, 3, 3))
    w = np.linalg.qr(draw)[0]
    for found, q in zip(theory.grad_moments(3), (1, 0), strict=True):
        products = (w[:, 0, 0] * w[:, 1, q]) ** 2
        assert products.mean() == pytest.approx(found, abs=6 * products.std() / 200)


def test_moments_need_two_rows():
    with pytest.raises(ValueError, match="d must be at least 2, got 1"):
        theory.grad_moments(1)
