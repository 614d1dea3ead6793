"""Normalized networks against hand-made polynomials, simulation by numpy and closed forms."""

import math

import numpy as np
import pytest
from scipy import stats

import signalprop as sp
from signallab.kernels import normalization_layers as lab
from signallab.kernels.families import Trial

A = sp.activations


@pytest.mark.parametrize("norm", ["LN", "RMS"])
def test_normalized(norm):
    case = lab.normalized(norm, 16, sp.random.Stream(3))
    np.testing.assert_allclose(case.left, case.right, rtol=1e-12)
    np.testing.assert_allclose((case.right**2).mean(-1), 1, rtol=1e-12)
    mean = np.abs(case.right.mean(-1))
    assert (mean < 1e-12).all() if norm == "LN" else (mean > 0.1).all()
    fewer = lab.normalized(norm, 16, sp.random.Stream(3), freedom=1).right
    np.testing.assert_allclose(fewer, case.right * math.sqrt(15 / 16), rtol=1e-12)


def test_the_mean_that_is_not_subtracted_makes_ln_rms():
    of_ln, of_rms = (
        lab.normalized(norm, 16, sp.random.Stream(3), centre=False).right for norm in ("LN", "RMS")
    )
    np.testing.assert_allclose(of_ln, of_rms, rtol=1e-12)


def test_as_activation():
    x = np.linspace(-2, 2, 9)
    mean, variance = 1 / math.sqrt(2 * math.pi), 0.5 - 1 / (2 * math.pi)
    relu = np.maximum(x, 0)
    for placement in ("RMS before", "LN before", "RMS after"):
        psi = lab.as_activation(A.relu, placement)
        np.testing.assert_allclose(psi(x), relu * math.sqrt(2), rtol=1e-12)
    psi = lab.as_activation(A.relu, "LN after")
    np.testing.assert_allclose(psi(x), (relu - mean) / math.sqrt(variance), rtol=1e-12)
    psi = lab.as_activation(A.cube, "RMS after", 4.0)
    np.testing.assert_allclose(psi(x), x**3 / math.sqrt(15), rtol=1e-12)
    psi = lab.as_activation(lab.LINE_AND_CUBE, "LN after", 0.25)
    moment = 0.25 + 6 * 0.25**2 + 15 * 0.25**3  # E (X/2 + X^3/8)^2
    np.testing.assert_allclose(psi(x), (x / 2 + x**3 / 8) / math.sqrt(moment), atol=1e-12)
    before = lab.as_activation(lab.LINE_AND_CUBE, "LN before", 0.25)
    np.testing.assert_allclose(before(x), (x + x**3) / math.sqrt(22), atol=1e-12)


@pytest.mark.parametrize("placement", lab.PLACEMENTS)
def test_cosines_have_the_law_of_a_network_by_hand(placement):
    """Two layers of ReLU with the norm in its place, by numpy: the same law of the cosine."""
    width, runs, rho, rng = 40, 300, 0.6, np.random.default_rng(11)

    def norm(z):
        z = z - z.mean(axis=1, keepdims=True) if placement.startswith("LN") else z
        return z / np.sqrt((z**2).mean(axis=1, keepdims=True))

    by_hand = []
    for _ in range(runs):
        h = np.zeros((2, width))
        h[:, :2] = [[1, 0], [rho, math.sqrt(1 - rho**2)]]
        h *= math.sqrt(width)
        for _ in range(2):
            z = h @ rng.standard_normal((width, width)) / math.sqrt(width)
            before = placement.endswith("before")
            h = np.maximum(norm(z), 0) if before else norm(np.maximum(z, 0))
        by_hand.append(h[0] @ h[1] / np.linalg.norm(h[0]) / np.linalg.norm(h[1]))
    found = lab.cosines(A.relu, placement, rho, width, 2, runs, sp.random.Stream(5))
    assert found.shape == (runs, 3)
    np.testing.assert_allclose(found[:, 0], rho, atol=1e-6)
    assert stats.ks_2samp(found[:, 2], by_hand).pvalue > 1e-7


def test_measured_is_arranged_as_predicted():
    """At a width of 1,000 each mean lies near its own prediction and no further."""
    found = lab.measured(1000, [-0.5, 0.8], 2, 20, sp.random.Stream(2))
    theory = lab.predicted([-0.5, 0.8], 2)
    assert found.shape[1:] == theory.shape == (8, 2, 2)
    error = 8 * found.std(axis=0, ddof=1) / math.sqrt(20) + 5e-3
    assert (np.abs(found.mean(axis=0) - theory) < error).all()


def test_predicted():
    """The cube with a norm: 0.6 rho + 0.4 rho^3, twice."""
    cube = lambda rho: 0.6 * rho + 0.4 * rho**3  # noqa: E731
    psi = lambda phi, placement: A.cube.standardized()  # noqa: E731
    found = lab.predicted([0.5], 2, psi)
    np.testing.assert_allclose(found[3, 0], [cube(0.5), cube(cube(0.5))], rtol=1e-12)
    np.testing.assert_allclose(lab.predicted([0.5], 2, psi, earlier=1)[3, 0], [0.5, cube(0.5)])
    relu_after = lab.predicted([0.0], 1)[:, 0, 0]
    at_right_angles = [0, 0, 0, 0, 1 / math.pi, 1 / math.pi, 1 / math.pi, 0]
    np.testing.assert_allclose(relu_after, at_right_angles, atol=1e-15)


def test_exponents():
    """Each group has its own factor, which does not matter, and each network its exponent."""
    rng = np.random.default_rng(0)
    signs = rng.choice([-1, 1], size=(6, 2, 3)) * np.repeat([1.0, 2.0, 5.0], 2)[:, None, None]
    powers = np.array([-0.5, -0.8])[:, None]
    found = lab.exponents({d: signs * d**powers for d in (10, 30, 1000)}, groups=3)
    np.testing.assert_allclose(found, np.tile([-0.5, -0.8], (3, 1)), rtol=1e-12)


def test_rates_in_closed_form():
    """x + x^3 has 16 rho + 6 rho^3; ReLU has E phi'^2 = 1/2 and kappa'(0) = 1/4."""
    k = sp.KernelMap(lab.LINE_AND_CUBE)
    assert lab.printed(k) == pytest.approx(22 / 34)
    assert lab.repaired(k) == pytest.approx(11 / 14)
    variance = 0.5 - 1 / (2 * math.pi)
    k = sp.KernelMap(A.relu)
    assert lab.printed(k) == pytest.approx(2 * variance)
    assert lab.repaired(k) == pytest.approx(variance / (2 * variance - 0.25))


def test_members_have_the_rates_of_their_spectra():
    members = lab.members(20, 9, 3, sp.random.Stream(1))
    for name in ("ρ²", "random series", "tanh", "relu"):
        psi, own = members[name].trial.kernel, members[name].own
        np.testing.assert_allclose(lab.printed(own), 1 / psi.derivative(1.0), rtol=1e-9)
        np.testing.assert_allclose(lab.repaired(own), 1 / (2 - psi.derivative(0.0)), rtol=1e-9)
    own = members["random series"].own
    np.testing.assert_allclose(own(0.0) / own(1.0), lab.SHARE, rtol=1e-12)


def test_contraction_of_the_cube_by_hand():
    case = lab.members(3, 4, 2, sp.random.Stream(1))["cube, one layer"].contraction(lab.printed)
    assert case.left == pytest.approx(0.0604)
    assert case.right / (1 - case.right) == pytest.approx(5 / 81)


def test_alpha_below():
    """Orders 1 and 3 with 0.7 and 0.3: alpha = 1/1.6, and the share beyond order 1 is 0.3."""
    k = sp.KernelMap.from_series([0, 0.7, 0, 0.3])
    member = lab.Member(k, Trial("", k, np.array([0.5]), 1))
    case = member.alpha_below()
    assert (case.left, case.right) == (pytest.approx(1 / 1.6), 1.0)
    assert member.alpha_below(lambda share: 2 - share).right == pytest.approx(1.7)


def test_alpha_below_takes_the_worst_of_a_batch():
    k = sp.KernelMap.from_series([[0, 0.7, 0, 0.3], [0, 0.9, 0, 0.1], [0, 0.5, 0, 0.5]])
    case = lab.Member(k, Trial("", k, np.array([0.5]), 1)).alpha_below(lambda share: 1 + share)
    assert (case.left, case.right) == (pytest.approx(1 / 1.2), pytest.approx(1.1))


def test_rates_limits_and_curves():
    rows = lab.rates([A.cube, A.exp], 5).set_index("activation")
    assert rows.loc["cube"].tolist()[:3] == pytest.approx([5 / 9, 0.6, 5 / 7])
    assert rows["printed bound exceeded"].tolist() == ["yes", "no"]
    limits = lab.limits([A.relu, A.elu]).set_index("activation")
    assert limits["LN after"].tolist() == [0, 0]
    assert limits.loc["relu"].iloc[0] == 1
    at = limits.loc["elu"].iloc[0]
    assert float(sp.KernelMap(A.elu.normalized())(at)) == pytest.approx(at)
    curves = lab.curves(A.cube, 0.1, 1)
    assert curves.iloc[1].tolist() == pytest.approx([1, 0.0604 / 0.9396, 5 / 81, 5 / 63])


def test_first_layers_of_line_and_cube_by_hand():
    """q rho + 6 q^2 rho + 9 q^3 rho + 6 q^3 rho^3, divided by its value at 1."""
    q, starts = 0.01, np.linspace(0.05, 0.95, 19)
    line, bend = q + 6 * q**2 + 9 * q**3, 6 * q**3
    after = (line * starts + bend * starts**3) / (line + bend)
    ratio = after / (1 - after) / (starts / (1 - starts) * 11 / 14)
    case = lab.first_layers(lab.LINE_AND_CUBE, "RMS after", q)
    assert case.left / case.right == pytest.approx(ratio.max(), rel=1e-10)
    after_2 = (16 * after + 6 * after**3) / 22
    ratio = after_2 / (1 - after_2) / (after / (1 - after) * 11 / 14)
    case = lab.first_layers(lab.LINE_AND_CUBE, "RMS after", q, skip=True)
    assert case.left / case.right == pytest.approx(ratio.max(), rel=1e-10)
    before = lab.first_layers(lab.LINE_AND_CUBE, "LN before", q)
    same = lab.first_layers(lab.LINE_AND_CUBE, "LN before", 1.0)
    assert (before.left, before.right) == (same.left, same.right)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"norm must be LN or RMS, got 'BN'"):
        lab.normalized("BN", 8, sp.random.Stream(0))
    with pytest.raises(ValueError, match=r"placement must be one of RMS before.*, got 'LN'"):
        lab.as_activation(A.tanh, "LN")
