"""Norm transfers against closed forms (erf: an arcsine; ReLU with a shift: by hand) and mpmath."""

import numpy as np
import pytest
from mpmath import mp

import signalprop as sp
from signallab.conditioning import inputs_of_other_lengths as lab

A = sp.activations
STARTS = [0.5, 0.8, 3.0]


def erf_transfer(gamma):
    return np.arcsin(2 * gamma / (1 + 2 * gamma)) / np.arcsin(2 / 3)


def erf_alpha(lower=0.5):
    below = 1 - (1 - erf_transfer(lower)) / (1 - lower)
    above = 1 - (erf_transfer(1 + 1e-6) - erf_transfer(1 - 1e-6)) / 2e-6
    return min(below, above), above


@pytest.mark.parametrize("lower", [0.25, 0.5])
def test_iterated(lower):
    case = lab.iterated("erf", STARTS, 3, lower=lower)
    path = [np.array(STARTS)]
    for _ in range(3):
        path.append(erf_transfer(path[-1]))
    np.testing.assert_allclose(case.left, np.abs(np.array(path).T - 1), atol=1e-12)
    layers = (1 - erf_alpha(lower)[0]) ** np.arange(4)
    np.testing.assert_allclose(
        case.right, np.abs(np.array(STARTS) - 1)[:, None] * layers, rtol=1e-7
    )
    assert all(case.hypotheses.values())


def test_iterated_as_printed_and_rivals():
    printed = lab.iterated("erf", STARTS, 1, squares=(2, 2))
    start = np.array(STARTS)
    np.testing.assert_allclose(printed.left[:, 0], np.abs(start**2 - 1), rtol=1e-12)
    np.testing.assert_allclose(printed.right[:, 0], (start - 1) ** 2, rtol=1e-9)
    faster = lab.iterated("erf", STARTS, 1, factor=1.5)
    expected = (1 - 1.5 * erf_alpha()[0]) * np.abs(start - 1)
    np.testing.assert_allclose(faster.right[:, 1], expected, rtol=1e-9)
    elsewhere = lab.iterated("erf", STARTS, 1, rate_from=0.25)
    expected = (1 - erf_alpha(0.25)[0]) * np.abs(start - 1)
    np.testing.assert_allclose(elsewhere.right[:, 1], expected, rtol=1e-9)
    assert not lab.iterated("erf", [0.3], 1).hypotheses["squared norm ≥ 0.5"]


def test_alphas_of_erf():
    row = lab.alphas({"erf": lab.COVERED["erf"]}).iloc[0]
    assert row["rate below 1"] == pytest.approx(2 * erf_transfer(0.5) - 1)
    assert row["rate above 1"] == pytest.approx(erf_alpha()[1], rel=1e-7)


def test_bounded_rates():
    alpha = erf_alpha()[0]
    np.testing.assert_allclose(lab.bounded_rates("erf").left, [1 - alpha, alpha], rtol=1e-7)
    wild = lab.bounded_rates("", {"": A.norm_relu(0.5)})
    assert (wild.left > wild.right).any()


def test_distances():
    rows = lab.distances("erf", [2.0], 2)
    path = [2.0, erf_transfer(2.0), erf_transfer(erf_transfer(2.0))]
    np.testing.assert_allclose(rows["distance"], np.array(path) - 1, rtol=1e-10)
    np.testing.assert_allclose(rows["bound"], (1 - erf_alpha()[0]) ** np.arange(3), rtol=1e-7)


def test_concave_and_rising_sees_either():
    cube = lab.concave_and_rising("", {"": A.cube.normalized()})
    assert (cube.left > cube.right).any()
    dip = lab.concave_and_rising("", {"": lab.shifted_relu(1.0)})
    assert (dip.left[:399] > dip.right[:399]).any()
    assert (dip.left[399:] > dip.right[399:]).any()
    for name in ("tanh", "SELU"):
        case = lab.concave_and_rising(name)
        assert (case.left <= case.right).all()


@pytest.mark.parametrize("gamma", [0.3, 2.0])
def test_derivatives_of_erf(gamma):
    """sh_l = arcsin(2g/(1+2g))/arcsin(2/3), differentiated by mpmath."""
    exact = [
        float(mp.diff(lambda g: mp.asin(2 * g / (1 + 2 * g)) / mp.asin(mp.mpf(2) / 3), gamma, n))
        for n in (1, 2)
    ]
    case = lab.derivatives("erf", gamma)
    np.testing.assert_allclose(case.left, exact, rtol=1e-11)
    np.testing.assert_allclose(case.right, exact, rtol=1e-6)


def test_derivatives_are_linear_in_their_terms():
    parts = [
        lab.derivatives("tanh", 0.7, terms).left[1] for terms in [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    ]
    assert lab.derivatives("tanh", 0.7).left[1] == pytest.approx(parts[0] + parts[1] - parts[2])
    assert parts[0] > 0 > parts[1]
    first = lab.derivatives("tanh", 0.7).left[0]
    assert parts[2] == pytest.approx(first / 1.4)


def test_signs_in_the_proof_of_erf():
    scale = lab.COVERED["erf"].scale
    case = lab.signs_in_the_proof("erf", sign=-1)
    slope = scale * 2 / np.sqrt(np.pi) * np.exp(-1.0)
    at_one = scale * float(mp.erf(1))
    assert case.left[700] == pytest.approx(-slope * (slope - at_one))


@pytest.mark.parametrize(
    ("phi", "broken"),
    [
        (A.sigmoid, 0),
        (A.relu.standardized(), 0),
        (A.Activation("falling", lambda x: -x), 1),
        (A.Activation("falling on the right", lambda x: -abs(x)), 1),
        (A.Activation("falling on the left", abs), 1),
        (A.cube, 2),
        (A.Activation("left", lambda x: -(x**2) * (x < 0) + 0.0), 3),
    ],
)
def test_hypotheses_one_by_one(phi, broken):
    case = lab.hypotheses("", phi)
    assert (case.left > case.right)[broken]
    good = lab.hypotheses("", lab.NAMED["SELU"])
    assert (good.left <= good.right).all()


def test_transfers():
    rows = lab.transfers({"erf": lab.COVERED["erf"]}, np.array([0.5, 2.0]))
    np.testing.assert_allclose(rows["one layer later"], erf_transfer(rows["squared norm"]))


@pytest.mark.parametrize("shift", [0.2, 1.0])
def test_stays_away_iterates_the_norm_transfer(shift):
    path = np.asarray(sp.LengthMap(lab.shifted_relu(shift)).iterate(2.5, 3))
    case = lab.stays_away(2.5, shift, 3)
    assert case.right == pytest.approx(abs(path[-1] - 1), rel=1e-9)
    assert case.left == 0.1


def test_decrease():
    case = lab.decrease(0.5, lab.COVERED["erf"])
    assert case.left == pytest.approx(erf_transfer(0.505))
    assert case.right == pytest.approx(erf_transfer(0.5), rel=2e-6)


def test_leaning_erf():
    assert float(lab.leaning_erf(0.25)(-2.0)) == pytest.approx(-0.5 - float(mp.erf(2)))


def test_by_weight_variance():
    """A layer is v (g/2 - 2 m sqrt(g) + 1) with m = 1/sqrt(2 pi)."""
    rows = lab.by_weight_variance([1.0, 2.5], [0.3, 4.0], 2)
    for row in rows.to_numpy():
        for start, end in zip([0.3, 4.0], row[1:], strict=True):
            g = start
            for _ in range(2):
                g = row[0] * (g / 2 - 2 / np.sqrt(2 * np.pi) * np.sqrt(g) + 1)
            assert end == pytest.approx(g, rel=1e-11)
