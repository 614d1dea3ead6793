"""L_0 and B by counting layers and by following the worst map, a quadratic; the sharpest bound."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from signalprop import theory
from signalprop.limits.maps import KernelMap

SHARES = st.floats(0.01, 1.0)
SEPARATIONS = st.floats(1e-6, 0.999)


def layers_until_half(delta, nu):
    count = 0
    while delta < 0.5 * (1 - 1e-12):
        delta, count = delta * (1 + nu / 2), count + 1
    return count


@given(SEPARATIONS, SHARES)
@example(1 / 3, 1.0)
def test_l_0_counts_the_layers_that_bring_a_separation_to_one_half(delta, nu):
    assert float(theory.cond_l_0(delta, nu)) == layers_until_half(delta, nu)


@pytest.mark.parametrize(("rounding", "layers"), [("up", 4), ("down", 3), ("none", 3.969362295)])
def test_roundings(rounding, layers):
    assert theory.cond_l_0(0.1, 1.0, rounding) == pytest.approx(layers, rel=1e-9)
    assert theory.cond_l_1(10, 0.1, 1.0, rounding) == pytest.approx(
        layers + {"up": 4, "down": 3, "none": math.log2(10)}[rounding], rel=1e-9
    )
    assert theory.cond_l_2(10, 0.1, 1.0, rounding) == pytest.approx(
        2 * layers + {"up": 9, "down": 8, "none": 2 * math.log2(20)}[rounding], rel=1e-9
    )


@pytest.mark.parametrize("n", [2, 7, 60])
@pytest.mark.parametrize(("delta", "nu"), [(0.5, 0.1), (0.01, 0.37), (1e-4, 1.0)])
def test_l_1_and_l_2_are_where_the_discs_of_their_bounds_end(n, delta, nu):
    """Without rounding both are exact: n B = 1/2 at L_1, and 4 n B = 1 at half of L_2."""
    l_1, l_2 = (f(n, delta, nu, "none") for f in (theory.cond_l_1, theory.cond_l_2))
    assert n * theory.cond_b(l_1, delta, nu, "none") == pytest.approx(1 / 2, rel=1e-9)
    assert 4 * n * theory.cond_b(l_2 / 2, delta, nu, "none") == pytest.approx(1, rel=1e-9)


def test_b_by_hand():
    """delta = 0.1, nu = 1: 0.9, 0.85, 0.775, 0.6625, 0.49375, then halves."""
    expected = [0.9, 0.85, 0.775, 0.6625, 0.49375, 0.25, 0.125]
    np.testing.assert_allclose(theory.cond_b(np.arange(7.0), 0.1, 1.0), expected, rtol=1e-12)
    assert theory.cond_b(2.5, 0.1, 1.0) == pytest.approx(1 - 0.1 * 1.5**2.5, rel=1e-12)
    assert theory.cond_b(5.5, 0.1, 1.0) == pytest.approx(0.5**2.5, rel=1e-12)
    assert theory.cond_b(4.0, 0.1, 1.0, "down") == pytest.approx(0.25, rel=1e-12)


@settings(max_examples=30)
@given(SEPARATIONS, SHARES)
def test_b_lies_above_the_sharpest_bound_and_never_rises(delta, mu):
    bound = theory.cond_b(np.arange(101.0), delta, mu)
    assert np.all(theory.cond_sharpest(delta, mu, 100) <= bound * (1 + 1e-9))
    assert np.all(np.diff(bound[1:]) <= 1e-12)  # COND defines it from one layer on


@settings(max_examples=30)
@given(SEPARATIONS, SHARES)
def test_sharpest_is_the_quadratic_map(delta, mu):
    k = KernelMap.from_series([0, 1 - mu, mu])
    path = theory.cond_sharpest(delta, mu, 30)
    np.testing.assert_allclose(path, k.iterate(1 - delta, 30), rtol=1e-8)


def test_sharpest_broadcasts():
    assert theory.cond_sharpest(np.full((3, 1), 0.2), np.full(2, 0.5), 4).shape == (3, 2, 5)


@pytest.mark.parametrize(("delta", "nu"), [(0.0, 0.5), (1.5, 0.5), (0.5, 0.0), (0.5, 1.1)])
def test_bad_input(delta, nu):
    with pytest.raises(ValueError, match=r"must lie in \(0, 1\]"):
        theory.cond_l_0(delta, nu)
    with pytest.raises(ValueError, match="rounding must be"):
        theory.cond_l_0(0.1, 0.5, "ceil")
