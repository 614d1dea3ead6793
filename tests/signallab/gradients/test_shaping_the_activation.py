"""Shaped activations: Taylor bounds, the rate by hand, fits of known laws, gains under identity."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

import signalprop as sp
from signallab.gradients import deep_networks as deep
from signallab.gradients import shaping_the_activation as lab
from signalprop.random import Stream


@pytest.fixture(scope="module")
def setting():
    x = torch.randn(8, 12, generator=Stream(0).torch(), dtype=torch.float64)
    return deep.Setting(x, torch.arange(8), width=8, runs=2, stream=Stream(1))


@pytest.mark.parametrize("name", ["tanh", "sin"])
def test_activations_start_like_the_identity_and_are_nowhere_steeper(name):
    origin = lab.at_the_origin(name)
    np.testing.assert_allclose(origin.left, origin.right, atol=1e-15)
    assert lab.steepest(name).left == pytest.approx(1, abs=1e-12)
    other = lab.at_the_origin(name, sp.activations.erf)
    assert other.left[1] == pytest.approx(2 / np.sqrt(np.pi))
    assert lab.steepest(name, sp.activations.erf).left > 1.1


@pytest.mark.parametrize(("name", "cubic"), [("tanh", 1 / 3), ("sin", 1 / 6)])
def test_the_cubic_term_is_the_first_that_is_missing(name, cubic):
    small = lab.nearly_linear(name, 0.01)
    assert (small.left <= small.right).all()
    np.testing.assert_allclose(small.left[:10] / np.linspace(0.1, 4, 40)[:10] ** 3, cubic * 1e-4,
                               rtol=1e-3)  # fmt: skip
    np.testing.assert_allclose(small.left[:5], small.right[:5], rtol=1e-3)


def test_rates_are_differences_of_ten_layers(setting):
    found = lab.rates(setting, ["tanh"], [0.5, 1.0], depth=15, layers=[11, 13])
    assert len(found) == 2 * 2 * 2
    weights = deep.draw(setting.stream, 1, 15, 8, 12)
    network = deep.Network("tanh", lambda layer: 0.5)
    logs = deep.log_gradients(network, weights, setting.x, setting.labels, [15], [3, 13])[0]
    row = found.query("run == 1 and gain == 0.5 and layer == 13")
    assert float(row["rate"].iloc[0]) == pytest.approx((logs[0] - logs[1]) / 10)


def frame(function, gains=(0.3, 0.5, 0.7, 1.0)):
    signs = ((0, 1.1), (1, 0.9))
    rows = [("sin", 7, g, run, function(g) * sign) for g in gains for run, sign in signs]
    return pd.DataFrame(rows, columns=["activation", "layer", "gain", "run", "rate"])


def test_laws_find_the_exponent_of_a_power_and_of_a_window():
    measured = frame(lambda g: 0.2 * g**3)
    assert lab.law(measured, 0.3).value == pytest.approx(3)
    kinked = frame(lambda g: max(0.2 * g**3, 0.2 * 0.5**3), (0.3, 0.4, 0.5, 0.7, 1.0))
    found = lab.laws(kinked, [(0.3, 0.5), (0.5, 1.0)])
    assert found["c2"].tolist() == pytest.approx([0, 3], abs=1e-12)
    assert found["c1"][1] == pytest.approx(0.2)


def test_intervals_over_runs_beside_the_standard_error_of_a_mean():
    """One dependence on the gain and a random factor a run: log c1 moves with their mean."""
    factors = 1 + 0.01 * np.random.default_rng(0).standard_normal(12)
    rows = [(g, run, f * g**2) for g in (0.3, 0.5, 1.0) for run, f in enumerate(factors)]
    measured = pd.DataFrame(rows, columns=["gain", "run", "rate"])
    off, slope = lab.uncertain(measured, 0.3)
    error = factors.std(ddof=1) / np.sqrt(12) / factors.mean()
    assert off == pytest.approx(stats.t.ppf(0.975, 11) * error, rel=1e-3)
    assert slope == pytest.approx(0, abs=1e-12)
    found = lab.laws(measured.assign(activation="sin"), [(0.3, 1.0)])
    assert found["± c1"][0] == pytest.approx(off * found["c1"][0])


def test_explained_is_the_share_of_variance_and_sees_another_power():
    measured = frame(lambda g: 0.2 * g**3)
    assert lab.explained(measured, "sin", 7, 0.3).right == pytest.approx(1)
    assert lab.explained(measured, "sin", 7, 0.3, power=1).right == pytest.approx(1 - (2 / 3) ** 2)
    steep = frame(lambda g: np.exp(9 * g**4))
    log = np.log([0.3, 0.5, 0.7, 1.0])
    r = np.corrcoef(log, 9 * np.array([0.3, 0.5, 0.7, 1.0]) ** 4)[0, 1]
    assert lab.explained(steep, "sin", 7, 0.3).right == pytest.approx(r**2)


def test_gains_under_the_identity_are_a_factor_of_the_head(setting):
    case = lab.only_the_head(setting, 6, 0.4)
    np.testing.assert_allclose(case.left, case.right, atol=1e-9)
    unscaled = lab.only_the_head(setting, 6, 0.4, scaled=False)
    assert np.min(np.abs(unscaled.left - unscaled.right)) > 0.1


def test_partial_sums_stay_below_zeta_and_do_not_for_k_one():
    case = lab.partial_sums(2.0, 10**5)
    assert case.right == pytest.approx(np.pi**2 / 6)
    assert 0 < case.right - case.left < 1.1e-5
    assert lab.partial_sums(2.0, 10, other=1.0).left > case.right


def test_rates_beyond_the_floor_are_differences_within_a_run_and_layer():
    measured = pd.DataFrame(
        {"gain": [1, 1, 2], "layer": [5, 6, 5], "run": [0, 0, 1], "rate": [5.0, 7.0, 9.0]}
    )
    floor = pd.DataFrame({"layer": [5, 5, 6], "run": [1, 0, 0], "rate": [1.0, 2.0, 4.0]})
    found = lab.beyond(measured, floor).set_index(["layer", "run"])["rate"]
    assert found.to_dict() == {(5, 0): 3.0, (6, 0): 3.0, (5, 1): 8.0}
