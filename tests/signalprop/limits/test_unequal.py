"""Closed forms at unequal lengths against two-dimensional quadrature."""

import numpy as np
import pytest
import torch

from signalprop import activations as A
from signalprop.limits.lengths import pair_moments
from signalprop.limits.unequal import closed_form

COS = A.Activation("cos", torch.cos)
STDS = torch.tensor([0.3, 1.0, 2.0, 0.5, 1.7, 1e-3], dtype=torch.float64)
OTHERS = torch.tensor([0.7, 1.0, 0.2, 2.5, 1.7, 0.6], dtype=torch.float64)
RHO = torch.tensor([0.3, -0.9, 0.99, 0.0, -1.0, 1.0], dtype=torch.float64)


@pytest.mark.parametrize(
    "phi",
    [
        A.relu,
        A.relu.standardized(),
        A.leaky_relu(0.2).scaled(1.3),
        A.erf.gained(2.0),
        A.erf.standardized(),
        A.sin.gained(-1.5),
        COS.centered(),
        A.exp.gained(0.4).centered(),
        A.gelu.gained(1.4),
        A.gelu.standardized(),
        A.identity,
        A.cube.gained(-0.7),
        A.hermite(3).scaled(0.7),
        A.Activation.from_hermite([0.3, 0.2, 0.5, 0.1]).gained(1.3).centered(),
    ],
    ids=lambda phi: phi.name,
)
def test_forms_are_the_quadrature(phi):
    """To rounding of each pair's own size, so for short inputs too."""
    form = closed_form(phi)
    for ours, f in zip(form(STDS, OTHERS, RHO), (phi, phi.derivative), strict=True):
        ends = [pair_moments(phi, f, s, s, torch.ones_like(s)) for s in (STDS, OTHERS)]
        error = (ours - pair_moments(phi, f, STDS, OTHERS, RHO)).abs()
        assert (error <= 2e-14 * torch.sqrt(ends[0] * ends[1])).all()


@pytest.mark.parametrize("phi", [A.step.standardized(), A.sign, A.step.gained(-2.0)])
def test_jumps(phi):
    """The slope is the derivative of the moment, over the product of the deviations."""
    form, h = closed_form(phi), 1e-5
    rho = torch.tensor([0.3, -0.8, 0.0], dtype=torch.float64)
    a, b = STDS[:3], OTHERS[:3]
    moments, slopes = form(a, b, rho)
    torch.testing.assert_close(moments, pair_moments(phi, phi, a, b, rho), rtol=1e-13, atol=1e-14)
    change = (form(a, b, rho + h)[0] - form(a, b, rho - h)[0]) / (2 * h)
    torch.testing.assert_close(slopes * a * b, change, rtol=1e-8, atol=1e-9)


def test_what_has_no_closed_form():
    for phi in (A.tanh, A.silu, A.norm_relu(), A.gelu_tanh, A.Activation("own", torch.relu)):
        assert closed_form(phi) is None


def test_a_steep_erf_keeps_its_digits():
    """At correlation 1 - 1e-12 and gain 1e4, from the digits of 1 - rho."""
    delta, gain = 2.0**-40, 1e4
    phi = A.erf.gained(gain)
    one = torch.ones(1, dtype=torch.float64)
    moment = float(closed_form(phi)(one, one, one - delta)[0])
    sine = np.sqrt(delta * (2 - delta))
    # the arcsine of z is an arctangent of z over sqrt(1 - z^2), with 1 - z^2 in exact terms
    z2 = 2 * gain**2
    exact = 2 / np.pi * np.arctan2(z2 * (1 - delta), np.hypot(np.sqrt(1 + 2 * z2), z2 * sine))
    assert abs(moment / exact - 1) < 1e-15
