"""Inputs, bounds and slopes against formulas; errors against the chain that they come from."""

import math

import numpy as np
import pytest

from signallab.meanfield import error_depth_width_batch as lab
from signallab.meanfield.gram_recursion import chain, gram_of
from signalprop import activations, theory
from signalprop.limits import gram_fixed_point
from signalprop.random import Stream

STREAM = Stream(11)
NETWORKS = lab.Networks(6, 4, STREAM)


def test_neighbours_have_the_correlation():
    x = lab.neighbours(4, 0.5)(200_000, 1, STREAM)[0].numpy()
    expected = 0.5 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    np.testing.assert_allclose(x @ x.T / 200_000, expected, atol=0.02)  # 6 standard errors


@pytest.mark.parametrize("name", ["identity", "tanh"])
def test_errors_have_the_law_of_the_chain(name):
    """The library's chain, which draws otherwise; the linear one has singular Gram matrices."""
    runs, depth = 3000, 3
    errors = lab.Networks(runs, depth, STREAM).errors(name, 5, 30)
    path = chain(name, 30).run(lab.neighbours(5, 0.9), depth, runs, Stream(12))
    grams = path.measure(gram_of(name)).values
    goal = gram_fixed_point(getattr(activations, name), 5).matrix()
    expected = np.linalg.norm(grams - goal, axis=(2, 3))
    for power in (1, 2):
        ours, theirs = errors**power, expected**power
        error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / runs)
        assert np.all(abs(ours.mean(axis=0) - theirs.mean(axis=0)) < 5 * error)


def test_runs_do_not_depend_on_what_is_simulated_beside_them(monkeypatch):
    few = lab.Networks(7, 2, STREAM).errors("tanh", 4, 20)
    monkeypatch.setattr(lab, "TOGETHER", 3)
    lab._errors.cache_clear()
    np.testing.assert_allclose(lab.Networks(7, 2, STREAM).errors("tanh", 4, 20), few, rtol=1e-10)


def test_frames_hold_the_same_errors():
    layers = lab.by_layer(NETWORKS, ["relu", "tanh"], 5, 30)
    one = layers.query("activation == 'tanh' and run == 2 and layer == 3")["error"].item()
    assert one == NETWORKS.errors("tanh", 5, 30)[2, 3]
    batches = lab.by_batch(NETWORKS, ["tanh"], [4, 5], 30, [1, 3])
    same = batches.query("samples == 5 and run == 2 and layer == 3")["error"].item()
    assert same == one
    assert len(batches) == 2 * 2 * 6


def test_slopes_in_width_are_least_squares():
    widths = [20, 50, 90]
    slopes = lab.slopes_in_width(NETWORKS, "relu", 4, widths, 2)
    values = np.stack([NETWORKS.errors("relu", 4, d)[:, 2] for d in widths])
    for run in range(6):
        line = np.polyfit(np.log(widths), np.log(values[:, run]), 1)
        assert slopes[run] == pytest.approx(line[0])


def test_bound_is_that_of_the_library_and_its_powers_show():
    d, n, depth, alpha, kappa, start = 900, 7, 3, 0.4, 5.0, 1.0
    printed = theory.mf_theorem_3_2(d, n, depth, alpha, kappa)
    assert lab.scaled_bound()(d, n, depth, alpha, kappa, start) == pytest.approx(printed)
    far = lab.scaled_bound()(d, n, depth, alpha, kappa, 3.0) - printed
    assert far == pytest.approx(2 * kappa * 0.6**1.5)
    bare = lab.scaled_bound(kappa=0, logarithm=0)(d, n, 0, alpha, kappa, start)
    assert bare == pytest.approx(1 + 7 / 30 / math.sqrt(0.4))
    changed = lab.scaled_bound(rate=2, samples=0.5, width=1)(d, n, depth, alpha, kappa, start)
    noise = math.sqrt(7) / 900 * math.sqrt(math.log(900 / 7) / alpha)
    assert changed == pytest.approx(kappa * (0.6**3 + noise))


def test_theorem_takes_the_linearized_rate():
    seen = []
    case = lab.below(NETWORKS, lambda *sides: seen.append(sides) or 2.0)("gelu", 5, 30, 3)
    point = gram_fixed_point(activations.gelu, 5)
    errors = NETWORKS.errors("gelu", 5, 30)
    rate = 1 - point.contraction**2
    assert seen == [(30, 5, 3, rate, point.condition_number, errors[:, 0].mean())]
    np.testing.assert_array_equal(case.left, errors[:, 3])
    singular = lab.below(NETWORKS, lambda *sides: 2.0)("identity", 5, 30, 3)
    assert not singular.hypotheses["G* is not degenerate"]
    repels = lab.below(NETWORKS, lambda *sides: 2.0)("gelu", 45, 60, 3)
    assert not repels.hypotheses["G* attracts"]


def test_larger_later_is_a_difference():
    case = lab.larger_later(NETWORKS, "relu", (4, 30, 1), (5, 30, 3))
    expected = NETWORKS.errors("relu", 5, 30)[:, 3] - NETWORKS.errors("relu", 4, 30)[:, 1]
    np.testing.assert_array_equal(case.left, expected)
    assert case.right == 0


def test_larger_later_averages_over_both_ends():
    case = lab.larger_later(NETWORKS, "relu", (4, 30, (1, 3)), (5, 30, 3))
    before = NETWORKS.errors("relu", 4, 30)
    expected = NETWORKS.errors("relu", 5, 30)[:, 3] - sum(before[:, k] for k in (1, 2, 3)) / 3
    np.testing.assert_allclose(case.left, expected, rtol=1e-12)


def test_level_is_one_for_wide_networks():
    networks = lab.Networks(300, 15, STREAM, correlation=0.0)
    quotients = lab.level(networks, ["relu"], [5], 800, 40_000)[:, 0]
    error = quotients.std() / np.sqrt(300)
    assert abs(quotients.mean() - 1) < 6 * error + 0.03


def test_linear_plateau_grows_like_the_power_three_halves():
    """sqrt(n^2 (n - 2)/(n - 1) / (1 - ((n - 1)/(n + 1))^2)) = (n + 1)/2 sqrt(n (n - 2)/(n - 1))."""
    batches = np.array([20, 80])
    level = (batches + 1) / 2 * np.sqrt(batches * (batches - 2) / (batches - 1))
    expected = np.log(level[1] / level[0]) / np.log(4)
    slopes = lab.plateau_exponents(["identity", "identity"], batches.tolist(), 100, 3, STREAM)
    assert slopes.shape == (3, 2)
    np.testing.assert_allclose(slopes, expected, atol=1e-4)
