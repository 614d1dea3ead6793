"""Two samples against matrices of another activation; bounds by hand; statistics by simulation."""

import numpy as np
import pytest
from scipy import stats

import signalprop as sp
from signallab.meanfield import surrogate_law as lab
from signalprop.random import Stream


def test_distance_against_matrices_of_gelu():
    """E (1 - dT/dmuhat)_+ under the surrogate law, the Gram matrices of GELU written out."""
    width, phi = 6, sp.activations.gelu
    a, b = (float(phi(np.array([x]))[0]) for x in (1.0, -1.0))
    grams = [
        (k * np.outer([a, b], [a, b]) + (width - k) * np.outer([b, a], [b, a])) / width
        for k in range(1, width)
    ]
    chances = stats.binom.pmf(np.arange(1, width), width, 0.5)
    mean = sp.limits.gram_fixed_point(phi, 2).matrix()
    h = np.random.default_rng(0).normal(size=(200_000, width, 2)) @ np.linalg.cholesky(mean).T

    def log_density(g):
        form = np.einsum("kri,ij,krj->k", h, np.linalg.inv(g), h)
        return -form / 2 - width / 2 * np.log(np.linalg.det(g))

    ratio = sum(
        p * np.exp(log_density(g) - log_density(mean)) for p, g in zip(chances, grams, strict=True)
    )
    lost = np.maximum(1 - ratio, 0)
    assert abs(lost.mean() - lab.distance(width)) < 6 * stats.sem(lost)


def test_distance_of_the_narrowest():
    """One row: a singular Gram matrix. Two rows: half of the mass is where it should be."""
    assert [lab.distance(d) for d in (1, 2)] == pytest.approx([1, 0.5], abs=1e-8)


def test_limit():
    """sup_x of 2 (Phi(x) - Phi(x / sqrt 2)), and the sequence that goes to it."""
    x = np.linspace(0, 3, 100_001)
    best = np.max(2 * (stats.norm.cdf(x) - stats.norm.cdf(x / np.sqrt(2))))
    assert pytest.approx(best, rel=1e-8) == lab.LIMIT
    off = [abs(lab.distance(d) - lab.LIMIT) for d in (64, 256, 1024)]
    assert off[0] > 3 * off[1] > 9 * off[2] > 0


def test_from_input_by_hand():
    assert lab.from_input(3, 0) == pytest.approx(7 / 8)
    assert lab.from_input(3, 3) == pytest.approx(7 / 8)
    assert lab.from_input(2, 1) == pytest.approx(0.5, abs=1e-8)
    assert lab.from_input(40, 20) == pytest.approx(lab.distance(40))
    assert lab.from_input(40, 12) == pytest.approx(lab.from_input(40, 28), abs=1e-4)


def test_bounds_by_hand():
    assert lab.bound_3_3(200) == pytest.approx(8 / 200 * np.log(100))
    assert lab.bound_b_3(160_000) == pytest.approx(1e-4 * np.log(100))
    case = lab.one_layer(100, 3.0, lambda width: 7.0)
    assert (case.left, case.right) == (lab.distance(100), 21.0)
    assert all(case.hypotheses.values())
    assert not all(lab.one_layer(40).hypotheses.values())  # eps = 4/sqrt(40) > exp(-1/2)


def test_near_the_limit():
    case = lab.near_the_limit(4, limit=0.5, constant=3)
    assert (case.left, case.right) == (pytest.approx(abs(lab.distance(4) - 0.5)), 0.25)


def test_invariant_by_hand():
    case = lab.invariant(128, 2.0, 0.25, lambda width: 0.03, depth=2)
    assert case.left == lab.distance(128)
    assert case.right == pytest.approx(0.75**2 + 0.24)
    assert all(case.hypotheses.values())
    assert lab.invariant(128, 2.0, 0.25, lambda width: 0.03).right == pytest.approx(0.24)
    every = lab.invariant(20, 1.0, None, lambda width: 1.0)
    assert every.right == 2.0**20
    assert all(every.hypotheses.values())
    assert not all(lab.invariant(64, 1.0, 0.9).hypotheses.values())  # 1 - alpha < 0.166


def test_gaussian_rows_by_hand():
    case = lab.gaussian_rows(0.1, 1)
    assert case.right == pytest.approx(0.015)
    x = np.linspace(0, 5, 100_001)
    best = np.max(2 * (stats.norm.cdf(x) - stats.norm.cdf(x / np.sqrt(1.1))))
    assert case.left == pytest.approx(best, rel=1e-7)
    assert lab.gaussian_rows(0.1, 9, lambda delta, rows: delta * rows).right == pytest.approx(0.9)


def test_finite_chain_by_hand():
    """Two states, stay with 0.7 and 0.6: pi = (4, 3)/7, contraction 0.3, from (1, 0)."""
    chain = [[0.7, 0.3], [0.4, 0.6]]
    case = lab.finite_chain(chain, [1, 0])
    assert (case.left, case.right) == (pytest.approx(0.7 - 4 / 7), pytest.approx(0.3 * 3 / 7))
    case = lab.finite_chain(chain, [1, 0], which="3.8", faster=0.5)
    assert (case.left, case.right) == (pytest.approx(0.35 * 3 / 7), pytest.approx(0.3))


def test_a_rate_for_single_states_by_hand():
    """Four states, a half kept with 3/4: of the distance 3/4 of a state and 1/2 of a half, 1/4
    is left."""
    chain = lab.two_groups(4, 0.5)
    np.testing.assert_allclose(chain @ np.ones(4), 1)
    np.testing.assert_allclose(chain[:2, :2], 3 / 8)
    case = lab.from_single_states(chain, [0.5, 0.5, 0, 0], times=1.5)
    assert (case.left, case.right) == (pytest.approx(1 / 4), pytest.approx(1.5 * 1 / 3 * 1 / 2))
    assert case.hypotheses == {"the rate serves a start in any one state": True}
    stuck = lab.from_single_states([[0, 1], [1, 0]], [1, 0])
    assert stuck.hypotheses == {"the rate serves a start in any one state": False}


@pytest.mark.parametrize("direction", lab.DIRECTIONS)
def test_excess_by_simulation(direction):
    u = np.random.default_rng(2).normal(size=(400_000, 4))
    u -= u.mean(axis=1, keepdims=True)
    u /= u.std(axis=1, keepdims=True)
    square = (np.tanh(u[:, :2]) @ direction) ** 2
    found = lab.excess(sp.activations.tanh, 4, direction)
    assert found == pytest.approx(square.var() / square.mean() ** 2 / 2, rel=0.02)


def test_best_interval():
    low, high = lab.best_interval(0.7, 50)
    for end in (low, high):
        first = stats.norm.pdf(end, 50, np.sqrt(100))
        assert first == pytest.approx(stats.norm.pdf(end, 50, np.sqrt(170)))


def test_one_step_is_a_lower_bound_that_nears_its_limit():
    """With one sample's square for two samples of ReLU, R is twice a share of d coin tosses."""
    width = 200
    runs = lab.one_step(sp.activations.relu, 2, width, 4000, Stream(0))
    k = np.arange(1, width + 1)
    low, high = lab.best_interval(0.5, width)
    ratio = 2 * k / width
    outside = stats.chi2.cdf(low / ratio, width) + stats.chi2.sf(high / ratio, width)
    base = stats.chi2.cdf(low, width) + stats.chi2.sf(high, width)
    expected = stats.binom.pmf(k, width, 0.5) @ (outside - base)
    assert abs(runs.mean() - expected) < 6 * stats.sem(runs)
    assert expected < lab.distance(width)


def test_along_depth_of_two_samples_is_one_step_from_layer_two_on():
    frame = lab.along_depth(sp.activations.relu, 2, 100, 3, 3000, Stream(1))
    step = lab.one_step(sp.activations.relu, 2, 100, 3000, Stream(2))
    for _, layer in frame[frame["layer"] > 1].groupby("layer"):
        off = layer["excess"].mean() - step.mean()
        assert abs(off) < 6 * np.hypot(stats.sem(layer["excess"]), stats.sem(step))
    assert sorted(frame["layer"].unique()) == [1, 2, 3, 4]


def test_limiting_distance_of_three_samples():
    """u is on a circle: the covariance of z z^T by the angle, its eigenvalues written out."""
    angle = (np.arange(4000) + 0.5) * 2 * np.pi / 4000
    turns = np.stack([angle, angle + 2 * np.pi / 3, angle - 2 * np.pi / 3])
    x = np.maximum(np.sqrt(2) * np.cos(turns), 0)
    z = np.linalg.solve(np.linalg.cholesky(x @ x.T / 4000), x)
    squares = np.einsum("ik,jk->ijk", z, z).reshape(9, -1)
    largest = np.linalg.eigvalsh(np.cov(squares, bias=True))[-1] / 2
    found = lab.limiting_distance(sp.activations.relu, 3, 100_000, Stream(3))
    assert found["largest"] == pytest.approx(largest, rel=0.02)
    assert found["distance"] > lab.LIMIT + 0.1
    two = lab.limiting_distance(sp.activations.gelu, 2, 100_000, Stream(4))
    assert abs(two["distance"] - lab.LIMIT) < 6 * two["standard error"]


def test_excess_of_each_run_belongs_to_its_ratio():
    """P(outside) of R times a chi-squared number, R that of the run, less that of the number."""
    frame = lab.along_depth(sp.activations.relu, 3, 40, 2, 5, Stream(5))
    best = max(lab.excess(sp.activations.relu, 3, v) for v in lab.DIRECTIONS)
    low, high = lab.best_interval(best, 40)
    law = stats.gamma(20, scale=2 * frame["ratio"].to_numpy())
    base = stats.gamma(20, scale=2)
    expected = base.cdf(high) - base.cdf(low) - law.cdf(high) + law.cdf(low)
    np.testing.assert_allclose(frame["excess"], expected, atol=1e-10)


def test_omitted_constant_by_hand():
    """At t^2 = ln(2/(3 eps^2)) the two terms of (B.44) are equal but for the factor t^2."""
    eps = 0.2
    t = np.sqrt(np.log(2 / (3 * eps**2)))
    case = lab.omitted_constant(eps, 3.0, one=1.0)
    assert case.left == pytest.approx(1.5 * t**2 * eps**2 + np.exp(-(t**2)))
    assert case.right == pytest.approx(3 * 0.04 * (1 + np.log(25)))
