"""The map of the cube in balls, beside quadrature in doubles, many digits and exact moments."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb

from signallab.meanfield import cubed, one_apart
from signallab.meanfield.stability_of_the_fixed_point import apart_path
from signalprop.activations import cube
from signalprop.limits import gram_fixed_point


@pytest.mark.parametrize("ratio", [0.5, 1.0, 4.0, 17.0])
@pytest.mark.parametrize("n", [4, 6, 8])
def test_the_map_is_that_of_the_quadrature(n, ratio):
    found = cubed.entries(n)
    shares = cubed.shares(arb(ratio), 3, n)
    sums = [float(cubed._sum(row, shares)) for row in found.values()]
    assert sums == pytest.approx(one_apart.entries(cube, n, ratio), rel=1e-8)
    after = float(cubed.next_ratio(arb(ratio), n))
    assert after == pytest.approx(one_apart.next_ratio(cube, n, ratio), rel=1e-8)


def test_shares_hold_many_digits():
    n, ratio, power = 6, 5, 4
    for k, ball in enumerate(cubed.shares(arb(ratio), power, n)):

        def term(x, k=k):
            whole = 1 - x**2 + ratio * x**2
            return (1 - x**2) ** (power - k + 1) * (ratio * x**2) ** k / whole**power

        with mpmath.workdps(30):
            exact = mpmath.quad(term, [0, 1]) / mpmath.quad(lambda x: 1 - x**2, [0, 1])
            assert ball.contains(arb(mpmath.nstr(exact, 25)))
    assert float(sum(cubed.shares(arb(ratio), 1, n))) == pytest.approx(1)


@pytest.mark.parametrize("ratio", [1.0, 4.0, 20.0])
def test_elasticity_is_a_difference_of_logarithms(ratio):
    step = 1e-4
    up, down = (one_apart.next_ratio(cube, 6, ratio * np.exp(s * step)) for s in (1, -1))
    slope = np.log(up / down) / (2 * step)
    assert float(cubed.elasticity(arb(ratio))) == pytest.approx(slope, rel=1e-6)


def test_boxes_hold_their_points():
    for centre in (3.0, 9.0, 30.0):
        box = arb(centre, 0.05)
        for at in (centre - 0.04, centre, centre + 0.05):
            assert cubed.next_ratio(box).contains(cubed.next_ratio(arb(at)).mid())
            assert cubed.elasticity(box).contains(cubed.elasticity(arb(at)).mid())


@pytest.mark.parametrize("n", [4, 6, 8])
def test_the_fixed_point(n):
    point = gram_fixed_point(cube, n)
    assert float(cubed.condition(n)) == pytest.approx(point.condition_number)
    at_one = cubed.elasticity(arb(1), n)
    assert float(at_one) == pytest.approx(point.multiplier_points, rel=1e-9)
    assert bool(at_one > 1) == (n > 4)
    assert cubed.next_ratio(arb(1), n).contains(1)


def test_no_layer_comes_near_the_fixed_point():
    found = cubed.repelled()
    path = apart_path("cube", 6, 4.0, 12)
    assert path["error"].min() > float(found.left) > 15
    assert path["error"].iloc[0] * 117 / 40 * 0.95**100 == pytest.approx(float(found.right))
    double = 2 * path["error"].iloc[0] * 0.95**100
    assert float(cubed.repelled(kappa=False).right) == pytest.approx(double)


def test_all_ratios_have_one_limit():
    ratios = np.array([2.0, 5.0, 32.0])
    for _ in range(70):
        ratios = np.array([float(cubed.next_ratio(arb(ratio))) for ratio in ratios])
    (limit,) = [at for at, stable in one_apart.branches(cube, 6, 8, 32, points=4) if stable]
    assert ratios == pytest.approx(limit, rel=1e-3)


def test_where_the_bound_is_above_nothing_is_certified():
    for depth, alpha in ((0, Fraction(1, 20)), (200, Fraction(1, 1000))):
        with pytest.raises(ValueError, match="must refute"):
            cubed.repelled(alpha=alpha, depth=depth)


def test_a_batch_that_is_odd_is_refused():
    with pytest.raises(ValueError, match="even"):
        cubed.shares(arb(1), 3, 5)


def test_what_is_not_so_is_not_proved(monkeypatch):
    monkeypatch.setattr(cubed, "TRAPPED", 3)  # the logarithm does not contract there
    cubed._hypotheses.cache_clear()
    with pytest.raises(ArithmeticError):
        cubed.repelled()
    cubed._hypotheses.cache_clear()
