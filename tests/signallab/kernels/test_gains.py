"""Kernels of sines with a gain, beside the library's kernel maps in doubles."""

import numpy as np
import pytest
from flint import arb

import signalprop as sp
from signallab.kernels import gains
from signallab.regions import corners, regions

SIDES = {"gain": gains.GAINS, "correlation": (0, 1)}


@pytest.mark.parametrize("gain", [0.6, 1.3, 2.5])
@pytest.mark.parametrize("rho", [0.1, 0.5, 0.9])
def test_rooms_are_those_of_the_kernel_map(gain, rho):
    k = sp.KernelMap(sp.activations.sin.gained(gain).normalized())
    g, h = float(k(rho)) / rho, (1 - float(k(rho))) / (1 - rho)
    slopes = float(k.derivative(0.0)), float(k.derivative(1.0))
    t = gain**2
    for inverse, r in ((gains.of_theorem_5_8, 2 - slopes[0]), (gains.of_case_1, slopes[1])):
        assert float(inverse(arb(t)).mid()) == pytest.approx(r, rel=1e-6)
        found = float(gains.room(inverse)(arb(gain), arb(rho)).mid())
        assert found == pytest.approx(np.sinh(t) / t * (h - r * g), rel=1e-5, abs=1e-6)
    sharper = float(gains.room_of_case_1(arb(gain), arb(rho)).mid())
    assert sharper == pytest.approx(np.log(h / (g * slopes[1])), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("box", [((0.5, 0.6), (0.0, 0.1)), ((2.0, 2.3), (0.9, 1.0))])
def test_the_room_on_a_box_contains_that_at_its_points(box):
    (low, high), (left, right) = box
    found = gains.room_of_case_1(arb(low).union(arb(high)), arb(left).union(arb(right)))
    for gain in np.linspace(low, high, 5):
        for rho in np.linspace(left, right, 5):
            assert found.overlaps(gains.room_of_case_1(arb(float(gain)), arb(float(rho))))


def test_all_gains_are_proved():
    proof = gains.prove_all_gains()
    assert proof.boxes > 100
    room = gains.room(gains.of_theorem_5_8)
    values = [
        float(room(arb(float(g)), arb(float(r))).mid())
        for g in np.linspace(*gains.GAINS, 20)
        for r in np.linspace(0, 1, 20)
    ]
    assert 0 < proof.margin <= min(values)


def test_the_region_of_failure():
    found = regions(gains.room_of_case_1, SIDES, 1 / 16)
    assert set(found["the bound"]) == {"holds", "fails", "undecided"}
    boxes = corners(found, "gain", "correlation")
    wide, high = boxes[:, 1, 0] - boxes[:, 0, 0], boxes[:, 2, 1] - boxes[:, 1, 1]
    assert (wide * high).sum() == pytest.approx(2.5)
    for words, (gain, rho) in zip(found["the bound"], boxes.mean(axis=1), strict=True):
        at = gains.room(gains.of_case_1)(arb(gain), arb(rho))
        assert words == "undecided" or (words == "holds") == bool(at > 0)
