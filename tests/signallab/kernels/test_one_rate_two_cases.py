"""The bounds against the printed formulas, written out by hand, at (1 + 2 rho^2)/3 and the cube."""

import numpy as np
import pytest

import signalprop as sp
from signallab.kernels import families
from signallab.kernels import one_rate_two_cases as lab

QUADRATIC = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])  # rho* = 1/2, kappa'(rho*) = 2/3
CUBE = sp.KernelMap.from_series([0, 0.6, 0, 0.4])  # kappa'(0) = 0.6, kappa'(1) = 1.8
LAYERS = np.array([0, 1, 5])


def potential(rho):
    return rho / (1 - rho)


def test_case_1_as_printed():
    bound = lab.printed_1(np.array(-0.1), LAYERS, CUBE)
    np.testing.assert_allclose(potential(bound), 0.1 / 0.9 / 1.8**LAYERS, rtol=1e-12)


def test_case_1_repaired():
    bound = lab.repaired_1(np.array(-0.1), LAYERS, CUBE)
    np.testing.assert_allclose(potential(bound), 0.1 / 0.9 / 1.4**LAYERS, rtol=1e-12)


def test_case_4_as_printed():
    """alpha is the largest of 2/3, 2/3 and (1/2)/(4/3) = 3/8."""
    bound = lab.printed_4(np.array(-0.9), LAYERS, QUADRATIC)
    np.testing.assert_allclose(bound, 1.4 / 0.1 * (2 / 3) ** LAYERS, rtol=1e-12)


@pytest.mark.parametrize(("start", "stretch"), [(-0.9, 5), (0.3, 1), (0.75, 2)])
def test_repaired(start, stretch):
    distance = abs(start - 0.5)
    options = {"": 0.75, "smaller": 0.6, "local": 2 / 3}
    bounds = [lab.repaired(), lab.repaired(0.8), lab.repaired(local=True)]
    for bound, rate in zip(bounds, options.values(), strict=True):
        values = bound(np.array(start), LAYERS, QUADRATIC)
        np.testing.assert_allclose(values, distance * stretch * rate**LAYERS, rtol=1e-11)
    bare = lab.repaired(stretched=False)(np.array(start), LAYERS, QUADRATIC)
    np.testing.assert_allclose(bare, distance * 0.75**LAYERS, rtol=1e-11)


def test_repaired_without_a_mean_is_the_corollary():
    """rho* = 0: |rho_0| / (1 - |rho_0|) times 1/(2 - kappa'(0)) a layer."""
    values = lab.repaired()(np.array(-0.2), LAYERS, CUBE)
    np.testing.assert_allclose(values, 0.25 / 1.4**LAYERS, rtol=1e-12)


def test_the_printed_escape_is_too_fast_in_exact_arithmetic():
    """1 - rho grows by 4/3 a layer at most: after 46 layers from 1e-8 it is below 0.006."""
    gap = 1e-8
    for _ in range(46):
        gap = gap * (4 - 2 * gap) / 3
    assert gap < 0.006
    assert 0.5 - gap > 0.5e8 * (2 / 3) ** 46
    trial = families.Trial("", QUADRATIC, np.array([1 - 1e-8]), 46)
    assert trial.distances[0, -1] == pytest.approx(0.5 - gap, rel=1e-6)


def test_attained_near_one():
    rows = lab.attained_near_one(np.linspace(0, 0.99, 7))
    np.testing.assert_allclose(rows["factor of one layer"], rows["1/(2 − κ′(0))"], rtol=1e-7)


def test_start_that_shows():
    gaps = 10.0 ** -np.arange(1, 10)
    assert np.isnan(lab.start_that_shows(QUADRATIC, lab.repaired(), 120, gaps))
    found = lab.start_that_shows(QUADRATIC, lab.printed_4, 120, gaps)
    frame = lab.bounds_of(QUADRATIC, 1 - found, 120, {"printed": lab.printed_4})
    assert (frame["distance"] > frame["printed"] + 1e-12).any()
    frame = lab.bounds_of(QUADRATIC, 1 - 10 * found, 120, {"printed": lab.printed_4})
    assert not (frame["distance"] > frame["printed"] + 1e-12).any()


def test_entries_of_a_quadratic():
    row = lab.entries({"m": QUADRATIC}).iloc[0, 1:].astype(float)
    np.testing.assert_allclose(row, [1 / 2, 2 / 3, 2 / 3, 3 / 8, 3 / 4, 3 / 4], rtol=1e-9)


def test_second_reading():
    """At (1 + 4 rho^4)/5 by the formula, and at the quadratic, where it exceeds 1 and is cut."""
    k = sp.KernelMap.from_series([0.2, 0, 0, 0, 0.8])
    root, slope = float(k.fixed_point().value), float(k.fixed_point().multiplier)
    rate = max(0.8, slope, (1 - root) / (1 - slope))
    bound = lab.second_reading(np.array(0.5), LAYERS, k)
    np.testing.assert_allclose(bound, abs(0.5 - root) / 0.5 * min(rate, 1) ** LAYERS, rtol=1e-12)
    assert lab.second_reading(np.array(0.0), LAYERS, QUADRATIC)[-1] == pytest.approx(0.5)
