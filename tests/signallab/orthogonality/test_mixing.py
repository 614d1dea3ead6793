"""Points of the claim about mixing against exact fractions, simulation and small cases by hand."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import ks_2samp

import signalprop as sp
from signallab.orthogonality import mixing as lab
from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(0).child("test_mixing")
CHAIN = lab.Representations(32, 3, 2000, 100, 200, STREAM)


def test_the_walk_in_fractions():
    """Law after three steps from the left end, by hand with exact fractions."""
    p = [[Fraction(x) for x in row] for row in lab.WALK.tolist()]
    law = [Fraction(1), Fraction(0), Fraction(0)]
    for _ in range(3):
        law = [sum(law[x] * p[x][y] for x in range(3)) for y in range(3)]
    phi = (0.3, -1.0, 2.5)
    stationary = [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]
    assert [sum(stationary[x] * p[x][y] for x in range(3)) for y in range(3)] == stationary
    mean = sum(float(w) * f for w, f in zip(stationary, phi, strict=True))
    later = sum(float(w) * f for w, f in zip(law, phi, strict=True))
    case = lab.walk(phi, 0, 3)
    assert case.left == pytest.approx(abs(later - mean))
    assert case.right == pytest.approx(abs(phi[0] - mean))
    other = lab.walk(phi, 2, 3, bound=lambda steps, f, at_start: steps + np.ptp(f) + at_start)
    assert other.right == pytest.approx(3 + 3.5 + abs(phi[2] - mean))


def test_functions_of_the_walk_include_all_indicators():
    found = np.array(lab.functions_of_the_walk(5, STREAM))
    np.testing.assert_array_equal(found[:3], np.eye(3))
    assert found.shape == (8, 3)
    assert len(np.unique(found, axis=0)) == 8


@pytest.mark.parametrize("gap", [0.0, 0.3, 0.7])
def test_a_start_has_the_gap_it_says(gap):
    measured = sp.orthogonality_gap(CHAIN.start(gap, 0.25))
    np.testing.assert_allclose(measured[:500], gap, atol=1e-12)
    np.testing.assert_allclose(measured[500:], 0, atol=1e-12)


def test_impossible_gaps_are_refused():
    with pytest.raises(ValueError, match="gap must lie in"):
        CHAIN.start(0.8, 0.5)


def test_gaps_are_those_of_explicit_weights():
    rng, expected = np.random.default_rng(1), []
    x = np.array([[0.9, 0.0], [0.0, 0.1]]) @ np.eye(2, 32)
    for _ in range(2000):
        h = x
        for _ in range(2):
            h = h @ rng.standard_normal((32, 32))
            h = h / np.linalg.norm(h, axis=0) / np.sqrt(32)
        expected.append(np.linalg.norm(h @ h.T - np.eye(2) / 2))
    ours = CHAIN.gaps(x, 2, 2000, "test")[:, 2]
    assert ks_2samp(ours, expected).pvalue > 1e-7


@pytest.mark.parametrize("function", lab.FUNCTIONS)
def test_the_start_has_the_stationary_mean(function):
    """From independent long runs; for the gap also the closed form, to order 1/d."""
    frame = lab.deviations(CHAIN, function)
    assert abs(frame[frame["layer"] == 0]["deviation"].mean()) < 1e-12
    assert frame.groupby("layer").size().tolist() == [2000] * 4
    settled = CHAIN.gaps(np.eye(2, 32), 40, 2000, "another")[:, -1]
    values, distance = lab._path(CHAIN, function)
    other = lab.Representations(32, 3, 2000, 100, 200, STREAM.child("other"))
    if function == "the gap":
        assert values[:, 0].mean() == pytest.approx(theory.stationary_gap(2, 32), rel=0.05)
        target = settled
    else:
        assert values[:, 0].mean() == 0.5
        target = settled < np.median(lab._stationary(other))
    spread = np.std(target) / np.sqrt(2000)
    assert abs(values[:, 0].mean() - target.mean()) < distance + 8 * spread


def test_forgets_is_one_side_of_the_deviation():
    frame = lab.deviations(CHAIN, "the gap")
    second = frame[frame["layer"] == 2]["deviation"].to_numpy()
    up, down = (lab.forgets(CHAIN, "the gap", 2, upwards=side) for side in (True, False))
    np.testing.assert_allclose(up.left, second)
    np.testing.assert_allclose(down.left, -second)
    assert up.right == down.right == 2 * lab._path(CHAIN, "the gap")[1]
    assert 0 < up.right < 0.02


def test_unknown_functions_are_refused():
    with pytest.raises(ValueError, match="function must be one of"):
        lab.forgets(CHAIN, "the rank", 1, upwards=True)


def test_the_sleeper_forgets_at_the_rate_of_its_common_part():
    """The two laws agree from the first move on, whose time is geometric."""
    for common, steps in ((0.25, 3), (0.5, 7)):
        case = lab.sleeper(common, steps, bound=lambda common, steps: common + steps)
        assert case.left == pytest.approx((1 - common) ** steps)
        assert case.right == common + steps
        assert all(case.hypotheses.values())
    assert lab.sleeper(0.0, 1000).left == 1
    assert lab.sleeper(0.0, 1000).right == pytest.approx(np.exp(1000 * np.log(0.999)))


def test_drift_at_dependent_samples_in_numbers():
    case = lab.drift_at_dependent_samples(3, 100, 0.3, stream=STREAM)
    assert case.left == pytest.approx(1 / 3, abs=1e-12)
    assert case.right == pytest.approx((1 - 0.2) / 3 + 0.1)
    changed = lab.drift_at_dependent_samples(
        3, 100, 0.3, stream=STREAM, rate=lambda alpha, smallest: alpha**2 + smallest
    )
    assert changed.right == pytest.approx(0.91 / 3 + 0.1)
    impossible = lab.drift_at_dependent_samples(3, 100, 0.6, stream=STREAM)
    assert not all(impossible.hypotheses.values())


def test_smallest_drift_is_reached_by_dependent_samples():
    """They stay at 1/n, so that K >= (1 - gamma) / n; the contraction of the others asks less."""
    frame = lab.smallest_drift([0.0, 0.5, 0.9], 4, 30, STREAM)
    np.testing.assert_allclose(frame["K"], (1 - frame["gamma"]) / 4, rtol=1e-9)
    np.testing.assert_allclose(frame["radius"], 1 / 2, rtol=1e-9)
