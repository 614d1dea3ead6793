"""Closed forms against mpmath at 40 digits: values, slopes, and what is small at either end."""

import math

import mpmath as mp
import numpy as np
import pytest
import torch
from scipy.special import owens_t

from signalprop.activations import erf
from signalprop.limits.closed import (
    Arcsine,
    Exponential,
    Hinge,
    Ramp,
    Series,
    Sinh,
    Step,
    angle_minus_sine,
    angle_of,
    horner,
)

RHO = [-0.999, -0.6, -0.1, -1e-9, 1e-12, 0.3, 0.5, 0.9, 0.9999]
DELTA = [1e-16, 1e-12, 1e-7, 1e-3, 0.1, 0.7, 1.0, 1.5, 2.0]


def relu_kernel(rho):
    """The arc-cosine kernel of degree 1."""
    return (mp.sqrt(1 - rho**2) + (mp.pi - mp.acos(rho)) * rho) / (2 * mp.pi)


CASES = {
    "relu": (Hinge(0.0, 0.0, 1.0), relu_kernel),
    "leaky": (Hinge(0.0, 0.2, 0.8), lambda r: mp.mpf(0.2) * r + mp.mpf(0.8) ** 2 * relu_kernel(r)),
    "abs": (Hinge(0.0, -1.0, 2.0), lambda r: -r + 4 * relu_kernel(r)),
    "exp": (Exponential(2.25), lambda r: mp.exp(mp.mpf(2.25) * (1 + r))),
    "sin": (Sinh(2.25), lambda r: mp.exp(-mp.mpf(2.25)) * mp.sinh(mp.mpf(2.25) * r)),
    "sin, fast": (Sinh(900.0), lambda r: mp.exp(-900) * mp.sinh(900 * r)),
    "erf": (Arcsine(2 / 3, gap=1 / 3), lambda r: 2 / mp.pi * mp.asin(mp.mpf(2 / 3) * r)),
    "sign": (Arcsine(1.0), lambda r: 2 / mp.pi * mp.asin(r)),
    "step": (Arcsine(1.0, 0.25), lambda r: mp.asin(r) / (2 * mp.pi)),
    "series": (
        Series(torch.tensor([0.25, 0.0, 0.5, 0.25], dtype=torch.float64)),
        lambda r: mp.mpf(1) / 4 + r**2 / 2 + r**3 / 4,
    ),
}
cases = pytest.mark.parametrize(("form", "exact"), CASES.values(), ids=CASES.keys())


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


@cases
def test_centered(form, exact):
    with mp.workdps(40):
        expected = [float(exact(mp.mpf(r)) - exact(mp.mpf(0))) for r in RHO]
    np.testing.assert_allclose(form.centered(tensor(RHO)), expected, rtol=1e-13, atol=1e-300)


@cases
def test_derivative(form, exact):
    with mp.workdps(60):
        expected = [float(mp.diff(exact, mp.mpf(r), h=mp.mpf(10) ** -20)) for r in RHO]
    np.testing.assert_allclose(form.derivative(tensor(RHO)), expected, rtol=2e-13)


@cases
def test_complement(form, exact):
    with mp.workdps(60):
        expected = [float(exact(mp.mpf(1)) - exact(1 - mp.mpf(d))) for d in DELTA]
    # an even kernel has complement 0 at 2: there the error is relative to kappa(1)
    np.testing.assert_allclose(form.complement(tensor(DELTA)), expected, rtol=2e-14, atol=1e-15)
    small = slice(0, 4)
    np.testing.assert_allclose(
        form.complement(tensor(DELTA))[small], expected[small], rtol=2e-14, atol=0
    )


def shifted_relu(t, rho):
    """``E (X - t)+ (Y - t)+`` by a one-dimensional integral over X."""
    s = mp.sqrt((1 - rho) * (1 + rho))

    def inner(x):
        m = rho * x - t
        return m * mp.ncdf(m / s) + s * mp.npdf(m / s)

    return mp.quad(lambda x: (x - t) * mp.npdf(x) * inner(x), [t, t + s, t + 4 * s, 3, 8, 14])


@pytest.mark.parametrize("t", [-1.5975, 0.8])
def test_hinge_with_a_threshold(t):
    form = Hinge(t, 0.0, 1.0)
    with mp.workdps(30):
        at = {r: shifted_relu(mp.mpf(t), mp.mpf(r)) for r in (-0.9, 0.0, 0.4, 0.99)}
        top = mp.quad(lambda x: (x - t) ** 2 * mp.npdf(x), [t, 3, 8, 14])
        near = mp.mpf(10) ** -8
        close = float(top - shifted_relu(mp.mpf(t), 1 - near))
        expected = {r: float(v - at[0.0]) for r, v in at.items()}
        complement = {r: float(top - v) for r, v in at.items()}
    for r in at:
        assert float(form.centered(tensor(r))) == pytest.approx(expected[r], rel=1e-12)
        assert float(form.complement(tensor(1) - r)) == pytest.approx(complement[r], rel=1e-12)
    assert float(form.complement(tensor(1e-8))) == pytest.approx(close, rel=1e-12)


@pytest.mark.parametrize("t", [-3.0, -1.5975, 0.5, 3.0])
def test_slope_of_a_hinge_is_an_orthant_probability(t):
    rho = np.array([-0.999, -0.5, 0.0, 0.5, 0.999, 1 - 1e-10])
    above = math.erfc(t / math.sqrt(2)) / 2
    exact = above - 2 * owens_t(t, np.sqrt((1 - rho) / (1 + rho)))
    slope = Hinge(t, 0.0, 1.0).derivative(torch.from_numpy(rho))
    np.testing.assert_allclose(slope, exact, rtol=1e-12, atol=1e-16)


def test_infinite_slopes_are_infinite_not_nan():
    assert Arcsine(1.0).derivative(tensor([-1.0, 1.0])).tolist() == [math.inf, math.inf]


def test_batched_series():
    form = Series(tensor([[0.0, 1.0], [0.5, 0.5]]))
    assert form.centered(tensor(0.5)).tolist() == [0.5, 0.25]
    assert form.complement(tensor([0.5, 1.0])).tolist() == [0.5, 0.5]
    assert form.derivative(tensor(0.5)).tolist() == [1.0, 0.5]


def test_helpers():
    x = np.array([1e-8, 1e-3, 0.5, 0.99, 1.01, 3.0])
    with mp.workdps(40):
        exact = [float(mp.mpf(v) - mp.sin(mp.mpf(v))) for v in x]
        angles = [float(mp.acos(1 - mp.mpf(v) ** 2)) for v in x[:4]]
    np.testing.assert_allclose(angle_minus_sine(torch.from_numpy(x)), exact, rtol=1e-14)
    np.testing.assert_allclose(angle_of(torch.from_numpy(x[:4]) ** 2), angles, rtol=1e-14)
    assert float(horner(tensor([1.0, 2.0, 3.0]), tensor(2.0))) == 17.0


@pytest.mark.parametrize("gain", [1e-8, 1e-3, 1.0, 30.0, 1e3, 3e3, 1e8])
def test_erf_of_any_steepness(gain):
    form = erf.kernel(gain)
    rho = [-1 + 1e-9, -0.7, 1e-9, 0.3, 0.99, 1 - 2**-50, 1.0]
    with mp.workdps(50):
        q = mp.mpf(gain) ** 2
        slope = 2 * q / (1 + 2 * q)
        values = [float(2 / mp.pi * mp.asin(slope * mp.mpf(r))) for r in rho]
        slopes = [float(2 / mp.pi * slope / mp.sqrt(1 - (slope * mp.mpf(r)) ** 2)) for r in rho]
        at_one = mp.asin(slope)
        gaps = [float(2 / mp.pi * (at_one - mp.asin(slope * (1 - mp.mpf(d))))) for d in DELTA]
    np.testing.assert_allclose(form.centered(tensor(rho)), values, rtol=1e-13)
    np.testing.assert_allclose(form.derivative(tensor(rho)), slopes, rtol=1e-13)
    np.testing.assert_allclose(form.complement(tensor(DELTA)), gaps, rtol=1e-13)


@pytest.mark.parametrize("exponent", [1, 3, 6, 9, 12, 15])
def test_the_slope_of_relu_keeps_its_digits_near_minus_one(exponent):
    rho = -1 + 10.0**-exponent
    with mp.workdps(40):
        exact = float((mp.pi - mp.acos(mp.mpf(rho))) / (2 * mp.pi))
    assert float(Ramp().derivative(tensor(rho))) == pytest.approx(exact, rel=4e-16)


def test_no_way_from_1_is_no_way():
    """Also for jumps, whose two angles are both zero there."""
    for kernel in (Arcsine(1.0), Step(), Arcsine(0.5), Ramp()):
        assert float(kernel.complement(torch.zeros(1, dtype=torch.float64))) == 0


def test_whole_is_the_form_with_its_constant():
    """``E relu(a X) = a / sqrt(2 pi)`` and ``E step(X) = 1/2``, squared."""
    rho = torch.linspace(-1, 1, 11, dtype=torch.float64)
    for kernel, constant in ((Ramp(kink=1.7), 1.7**2 / (2 * math.pi)), (Step(), 0.25)):
        torch.testing.assert_close(kernel.whole(rho), kernel.centered(rho) + constant)
        near = torch.tensor([-1 + 1e-9], dtype=torch.float64)
        assert 0 < float(kernel.whole(near)) < 1e-4
