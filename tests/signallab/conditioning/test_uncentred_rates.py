"""Bounds of Lemmas 34 to 36 beside quadratic maps worked by hand and loops."""

import math

import numpy as np
import pytest

import signalprop as sp
from signallab.conditioning import uncentred_rates as lab

# (1 + 2 rho^2)/3: fixed points 1/2 and 1, coefficient 2/3, beta 1/6, slope 2/3 at 1/2
QUADRATIC = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])
CUBIC = sp.KernelMap.from_series([0.1, 0.2, 0, 0.7])
CRITICAL = sp.KernelMap.from_series([0.5, 0, 0.5])


def test_above_is_attained_in_the_middle():
    """At 3/4: 3/4 - (1 + 9/8)/3 = 1/24 = beta / 4."""
    case = lab.above("", QUADRATIC)
    assert (case.left, case.right) == (pytest.approx(1 / 24), pytest.approx(1 / 24))
    assert lab.above("", QUADRATIC, factor=1.5).left == pytest.approx(1 / 16)
    everywhere = lab.above("", QUADRATIC, sharper=True)
    assert everywhere.left == pytest.approx(everywhere.right, rel=1e-8)
    assert lab.above("", CUBIC).left < 0.99 * lab.above("", CUBIC).right


def test_below_and_its_rivals():
    case = lab.below("", QUADRATIC)
    assert 0.99 < case.left / case.right <= 1
    at_zero = lab.below("", QUADRATIC, value=True)
    assert at_zero.left / at_zero.right == pytest.approx(4 / 3, abs=0.01)  # slope over value
    assert (
        lab.below("", QUADRATIC, factor=0.5).left > 1.9 * lab.below("", QUADRATIC, factor=0.5).right
    )


def test_negative_by_hand():
    """Of (1 + rho)/2 the sharper form is an equality, the printed one off by rho/2."""
    line = sp.KernelMap.from_series([0.5, 0.5])
    sharper = lab.negative("", line, sharper=True)
    assert sharper.left == pytest.approx(sharper.right)
    printed = lab.negative("", line)
    assert printed.left / printed.right == pytest.approx(1, abs=1e-5)
    rival = lab.negative("", line, sharper=True, factor=1.5)
    assert rival.left / rival.right == pytest.approx(2)


def test_lemma_35_against_a_loop():
    found = lab.distances(QUADRATIC, 60)
    printed = upper = 0.0
    for i, delta in enumerate(lab.SEPARATIONS):
        first = max(math.ceil(math.log(0.25 / delta) / math.log(7 / 6)), 3)
        for j, start in enumerate((1 - delta, delta - 1)):
            rho = start
            for layer in range(61):
                distance = abs(rho - 0.5)
                assert found[j, i, layer] == pytest.approx(distance, abs=1e-8)
                if layer >= first:
                    printed = max(printed, distance / (0.75 * (5 / 6) ** (layer - first)))
                if layer >= 2:  # log 2 / log 1.5 = 1.7
                    above = 0.5 * max(0.5 / delta - 1, 0) * (4 / 3) ** -layer
                    upper = max(upper, distance / max(above, 0.5 * (2 / 3) ** (layer - 2)))
                rho = (1 + 2 * rho**2) / 3
    assert lab.lemma_35("", QUADRATIC, found).left == pytest.approx(printed, rel=1e-6)
    sharper = lab.lemma_35("", QUADRATIC, found, sharper=True).left
    assert sharper == pytest.approx(upper, rel=1e-6)
    assert lab.lemma_35("", QUADRATIC, found, sharper=True, rate=3).left > sharper
    assert not lab.lemma_35("", sp.KernelMap.from_series([0, 0, 1.0]), found).hypotheses["a mean"]


def test_lemma_35_at_one_by_hand():
    """(1 + rho)/2 halves the distance; from -1 it is 2 / 2^L, and L_2 = 1."""
    line = sp.KernelMap.from_series([0.5, 0.5])
    sharper = lab.lemma_35_at_one("", line, 20, sharper=True)
    assert sharper.left == pytest.approx(1)
    printed = lab.lemma_35_at_one("", line, 20)  # from two layers on
    assert printed.left == pytest.approx(0.5)
    assert lab.lemma_35_at_one("", line, 20, sharper=True, power=2).left == pytest.approx(2.0**19)
    assert not lab.lemma_35_at_one("", QUADRATIC, 5).hypotheses["some map of the kind"]


def test_critical_maps_are_critical_and_sum_to_one():
    for k in lab.critical_maps(20, 8, sp.Stream(1)).values():
        np.testing.assert_allclose(k(1.0), 1, atol=1e-12)
        np.testing.assert_allclose(k.derivative(1.0), 1, atol=1e-9)
        assert np.asarray(k(0.0)).min() > 0


def test_slope_near_one_by_hand():
    """(1 + rho^2)/2: 1 - s'(1 - a) = a, mu~ = 1/2, mu = 1. (2 + rho^3)/3: mu~ = 1/3, mu = 1."""
    for sharper in (False, True):
        case = lab.slope_near_one("", CRITICAL, sharper=sharper)
        assert case.left == pytest.approx(case.right)
    cubic = sp.KernelMap.from_series([2 / 3, 0, 0, 1 / 3])
    ratio = lab.slope_near_one("", cubic)  # 2a/3 of 2a - a^2
    assert ratio.left / ratio.right == pytest.approx(2 / 3 / (2 - 199 / 200), rel=1e-2)
    ratio = lab.slope_near_one("", cubic, sharper=True)
    assert ratio.left / ratio.right == pytest.approx(1 / (2 - 199 / 200), rel=1e-2)


def test_critical_against_a_loop():
    path = [2.0]
    for _ in range(300):
        path.append(path[-1] - path[-1] ** 2 / 2)  # at -1 it jumps to 1, where e = 0
    path_zero = [1.0]
    for _ in range(300):
        path_zero.append(path_zero[-1] - path_zero[-1] ** 2 / 2)
    assert path[1] == 0
    for share, mu in ((0.5, 1.0), (1.0, 1.0), (0.5, 0.5)):
        worst = 0.0
        for level in lab.LEVELS:
            layers = max(math.ceil(math.log(2 / level) / -math.log(1 - share * level * mu)), 2)
            if layers <= 300:
                worst = max(worst, path_zero[layers] / level)
        case = lab.critical("", CRITICAL, 300, share=share, affine=mu == 0.5)
        assert case.left == pytest.approx(worst, rel=1e-9)
    rate = max(path_zero[layer] * layer / 2 for layer in range(1, 301))
    assert lab.critical_rate("", CRITICAL, 300).left == pytest.approx(rate, rel=1e-9)
    assert lab.critical_rate("", CRITICAL, 300, factor=0.5).left == pytest.approx(2 * rate)


def test_depths_and_growth():
    rows = lab.depths("exponential", np.array([0.1, 0.01]))
    path = 2.0
    for _layer in range(rows["layers"][0]):
        path = 1 - math.exp(-path)  # of exp: s(rho) = e^(rho - 1)
    assert path <= 0.1 < -math.log(1 - path)
    np.testing.assert_allclose(rows["1 / (ε s(0))"], [10 * math.e, 100 * math.e])
    case = lab.growth("absolute value")
    assert case.left == pytest.approx(0.5, abs=0.01)
    first, last = math.log(1e8 / (9 * math.pi**2 / 8)), math.log(1e12 / (9 * math.pi**2 / 8))
    rival = lab.growth("absolute value", logarithm=True).right
    assert rival == pytest.approx(1 + math.log(last / first) / (last - first), abs=1e-3)


def test_curves_begin_at_their_layers():
    rows = lab.curves("step", 60, 0.1)
    assert rows["truth"].is_monotonic_decreasing
    seen = rows.dropna()
    assert (seen["truth"] <= seen["Lemma 35"] * (1 + 1e-9)).all()
    assert (seen["truth"] <= seen["sharper"] * (1 + 1e-9)).all()
