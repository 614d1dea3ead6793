"""Kernels of shifted sines: closed forms in balls beside the library's kernel maps in doubles."""

import numpy as np
import pytest
from flint import arb

from signallab.kernels import shifted_sines as sines

PLACES = [(0.5, 0.99), (0.8, 0.2), (1.3, 0.5), (2.0, 0.0), (2.0, 1.0)]
RHO = [0.05, 0.4, 0.6, 0.95]


def at(function, *values):
    return function(*(arb(float(value)) for value in values))


@pytest.mark.parametrize(("gain", "share"), [(0.7, 0.3), (1.6, 0.8)])
def test_the_closed_form_is_that_of_a_shifted_sine(gain, share):
    angle = np.arccos(np.sqrt(share))
    x, w = np.polynomial.hermite_e.hermegauss(40)
    w = w / w.sum()
    rho = 0.6
    y = rho * x[:, None] + np.sqrt(1 - rho**2) * x
    product = np.sin(gain * x + angle)[:, None] * np.sin(gain * y + angle)
    square = (w * np.sin(gain * x + angle) ** 2).sum()
    expected = np.einsum("i,j,ij", w, w, product) / square
    assert float(sines.in_doubles(gain, share)(rho)) == pytest.approx(expected, rel=1e-10)


def test_without_its_mean_it_is_the_standardized_cosine():
    k = sines.in_doubles(1.2, 0.0, mean=False)
    assert float(k(0.5)) == pytest.approx((np.cosh(0.72) - 1) / (np.cosh(1.44) - 1))


@pytest.mark.parametrize(("gain", "share"), PLACES)
@pytest.mark.parametrize("rho", RHO)
def test_functions_are_those_of_the_map(gain, share, rho):
    k, centred = (sines.in_doubles(gain, share, mean=mean) for mean in (True, False))
    g, h = float(centred(rho)) / rho, (1 - float(centred(rho))) / (1 - rho)
    room = h - (2 - float(centred.derivative(0.0))) * g
    assert float(at(sines.room_of_the_odds, gain, share, rho).mid()) == pytest.approx(
        room, abs=1e-12
    )
    quotient = (1 - float(k(rho))) / (1 - rho)
    slope = (quotient - float(k.derivative(rho))) / (1 - rho)
    assert float(at(sines.bend, gain, share, rho).mid()) == pytest.approx(slope, rel=1e-6)
    lower = at(sines.distance_to_the_diagonal, gain, share, rho).lower()
    assert float(lower) <= (float(k(-rho)) + rho) / (rho * (1 - rho))


@pytest.mark.parametrize(
    "function", [sines.room_of_the_odds, sines.bend, sines.distance_to_the_diagonal]
)
def test_a_box_contains_its_points(function):
    box = [(0.9, 1.1), (0.3, 0.5), (0.4, 0.7)]
    whole = function(*(arb(a).union(arb(b)) for a, b in box))
    rng = np.random.default_rng(0)
    for point in rng.uniform(*np.transpose(box), (20, 3)):
        assert whole.lower() <= at(function, *point).upper()
        if function is not sines.distance_to_the_diagonal:  # which is a bound, and no value
            assert whole.overlaps(at(function, *point))


def test_all_sines_are_proved():
    for proof in (sines.prove_the_odds(), *sines.prove_the_attractor()):
        assert proof.boxes > 100
        assert proof.margin > 0
