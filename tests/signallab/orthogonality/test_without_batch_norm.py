"""Products of Gaussian matrices against plain products, determinants and closed forms."""

import numpy as np
import pytest
from scipy import integrate, stats

import signalprop as sp
from signallab.orthogonality import without_batch_norm as lab
from signalprop.random import Stream

STREAM = Stream(0).child("test_without_batch_norm")
SKEWED = (0.6, 0.3, 0.1)


def test_distance_is_that_of_the_gap_of_the_product():
    frame = lab.distance_by_layer([3], depth=4, runs=500, stream=STREAM, every=2)
    assert frame["layer"].unique().tolist() == [0, 2, 4]
    assert np.allclose(frame.query("layer == 0")["log of the distance"], np.log(np.sqrt(2 / 3)))
    w = STREAM.numpy("by hand").standard_normal((500, 4, 3, 3))
    gaps = [sp.orthogonality_gap(np.linalg.multi_dot(list(run))) for run in w]
    ours = frame.query("layer == 4")["log of the distance"]
    assert stats.ks_2samp(ours, np.log(np.sqrt(2 / 3) - np.array(gaps))).pvalue > 1e-7


def test_rates_at_width_two_by_an_integral():
    """Of two rows of a plane, E log |det| - 2 E log(length): the angle is uniform."""
    mean_log_sine = integrate.quad(lambda t: np.log(np.sin(t)) / np.pi, 0, np.pi)[0]
    for of in ("distance", "ratio"):
        found = lab.rates([2], 200, 400, STREAM, of=of)
        assert found.shape == (400, 1)
        error = found.std() / 20
        assert abs(found.mean() - 2 * mean_log_sine) < 6 * error
        assert 6 * error < abs(mean_log_sine) / 4


def test_ratio_is_of_the_two_largest():
    """Its rate is that of the area over the squared length: the first two exponents."""
    e = lab.exponents([4], 100, 30, STREAM)
    ratio = lab.rates([4], 100, 30, STREAM, of="ratio")[:, 0]
    assert np.allclose(ratio, e[:, 1] - e[:, 0])


@pytest.mark.parametrize("d", [2, 5])
def test_exponents_against_lengths_of_gaussian_frames(d):
    """log of a chi-square, sampled: the first exponent of variance-1 weights, and the second."""
    found = lab.exponents([d], 300, 200, STREAM)
    for i in (0, 1):
        logs = np.log(STREAM.numpy("chi", d, i).chisquare(d - i, 100_000))
        error = np.hypot(found[:, i].std() / np.sqrt(200), logs.std() / np.sqrt(100_000))
        assert abs(found[:, i].mean() - logs.mean()) < 6 * error
        closed = lab.newman([d])[i]
        assert abs(closed - logs.mean()) < 6 * logs.std() / np.sqrt(100_000)


def test_newman_in_numbers():
    euler = 0.5772156649015329
    assert np.allclose(lab.newman([2]), np.log(2) - euler - np.array([0, 2 * np.log(2)]))
    assert np.allclose(lab.newman([2, 3], factor=0.5, shift=1), 0.5 * lab.newman([3, 4]))


def test_uniform_weights_have_draws_of_their_own():
    plain, uniform = (lab.rates([3], 40, 20, STREAM, weights=w) for w in ("gaussian", sp.uniform()))
    assert np.all(uniform < 0)
    assert not np.any(np.isclose(plain, uniform))


def test_the_lemma_halves_the_rate():
    draw = {"depth": 100, "runs": 20, "stream": STREAM}
    case = lab.falls_with_some_rate(0.25)(2, **draw)
    assert np.allclose(case.left, lab.rates([2], **draw)[:, 0] / 2)
    assert case.right == pytest.approx(-np.log(2) / 2)
    assert all(case.hypotheses.values())
    assert not all(lab.falls_with_some_rate(0.0)(2, **draw).hypotheses.values())


def test_displays_in_numbers():
    """Shares 0.6, 0.3, 0.1: sum of squares 0.46."""
    twice = tuple(2 * s for s in SKEWED)
    for spectrum in (SKEWED, twice):
        case = lab.a15(3.0)(spectrum)
        assert (case.left, case.right) == pytest.approx((0.3, 1.5))
        case = lab.a16(2.0)(spectrum)
        assert (case.left, case.right) == pytest.approx((0.16, 1.5))
        assert lab.a16(1, lambda n: n - 1)(spectrum).right == pytest.approx(1.0)
        case = lab.a17(2.0)(spectrum)
        assert case.left == pytest.approx(np.sqrt(2 / 3) - np.sqrt(0.46 - 1 / 3))
        assert case.right == pytest.approx(2 * np.sqrt(0.16 + 0.09 + 0.01))


def test_terms_in_numbers():
    p = np.array(SKEWED)
    logs = {name: term(p) for name, term in lab.TERMS.items()}
    assert np.exp(logs["A.15, left"]) == pytest.approx(0.3)
    assert np.exp(2 * logs["A.16, left"]) == pytest.approx(0.4)
    assert np.exp(4 * logs["A.18, right"]) == pytest.approx(6 * 0.3 * 2 * 0.16)
    assert np.exp(2 * logs["A.18, right, repaired"]) == pytest.approx(6 * 0.09)
    flat = np.array([0.6, 0.2, 0.2])  # here the second of the two is smaller still
    assert np.exp(2 * lab.TERMS["A.18, right, repaired"](flat)) == pytest.approx(2 * 0.16)


def test_rates_of_the_terms():
    rates = lab.terms_of_the_proof(3).set_index("term")["rate over -delta"]
    assert rates.tolist() == pytest.approx([1, 0.5, 0.75, 1], abs=1e-8)
    assert lab.falls_like("A.15, left")(3).right == 1


def test_spectra_decrease():
    found = [point["spectrum"] for point in lab.spectra([2, 5], 20, STREAM)]
    assert {len(s) for s in found} == {2, 5}
    assert all(np.all(np.diff(s) <= 0) for s in found)
    assert min(s[1] / s[0] for s in found) <= 1e-3


def test_without_normalization_the_gap_grows_and_with_it_stays():
    frame = lab.gap_by_scaled_depth(2, [4, 16], 3, 50, STREAM)
    mean = frame.groupby(["network", "depth over width"])["orthogonality gap"].mean()
    assert set(frame["network"]) == {"no BN, width 4", "no BN, width 16", "BN, width 16"}
    for name in ("no BN, width 4", "no BN, width 16"):
        curve = mean[name]
        assert curve.index[[0, -1]].tolist() == [0, 3]
        assert curve.iloc[0] == pytest.approx(0, abs=1e-6)
        assert curve.iloc[-1] > 0.5
    assert mean["BN, width 16"].max() < 0.4
    deep = sp.Chain(16, layers=[sp.FrobeniusNorm()]).run(
        sp.inputs.orthogonal_samples(2), 48, 50, STREAM.child("scaling", 16)
    )
    last = deep.measure(sp.orthogonality_gap).values[:, -1].mean()
    assert mean["no BN, width 16"].iloc[-1] == pytest.approx(last)


def test_orthogonal_weights_stretch_nothing():
    assert lab.largest_gap_met(3, 8, 50, 4, STREAM) < 1e-6


def test_the_largest_gap_met_is_over_layers_and_runs(monkeypatch):
    """With Gaussian weights in their place the gap starts at 0 and comes close to 0.82."""
    monkeypatch.setattr(sp, "orthogonal", sp.gaussian)
    assert lab.largest_gap_met(3, 8, 50, 4, STREAM) > 0.7
