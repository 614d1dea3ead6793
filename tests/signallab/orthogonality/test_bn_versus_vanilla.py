"""The walk of two samples against a plain loop, closed forms and the law of one layer."""

import numpy as np
import pytest
from scipy import stats

import signalprop as sp
from signallab.orthogonality import bn_versus_vanilla as lab
from signalprop.random import Stream

STREAM = Stream(5)
NEAR, RIGHT = "nearly parallel", "orthogonal"


def by_loop(network: str, width: int, layers: int, runs: int) -> np.ndarray:
    """``|cos|`` at the last layer, with weights drawn and rows normalized by hand."""
    rng, found = np.random.default_rng(3), []
    for _ in range(runs):
        h = np.zeros((width, 2))
        h[0], h[1, 1] = (1, 0.999), 0.001
        if network == "without BN":
            h[0, 1], h[1, 1] = 0, 1
        for _ in range(layers - 1):
            h = rng.normal(0, width**-0.5, (width, width)) @ h
            if network == "with BN":
                h /= np.sqrt(width) * np.linalg.norm(h, axis=1, keepdims=True)
        found.append(abs(h[:, 0] @ h[:, 1]) / np.linalg.norm(h[:, 0]) / np.linalg.norm(h[:, 1]))
    return np.array(found)


@pytest.mark.parametrize(
    ("network", "start", "layers"), [("with BN", NEAR, 6), ("without BN", RIGHT, 9)]
)
def test_paths_have_the_law_of_a_plain_loop(network, start, layers):
    found = lab.cosines(network, start, 16, layers, 1500, STREAM)[:, -1]
    assert stats.ks_2samp(found, by_loop(network, 16, layers, 1500)).pvalue > 1e-6


def test_inputs_are_the_authors():
    for start, cosine in ((NEAR, 0.999 / np.hypot(0.999, 0.001)), (RIGHT, 0.0)):
        path = lab.cosines("with BN", start, 8, 2, 1, STREAM)
        assert path[0, 0] == pytest.approx(cosine, abs=1e-15)


def test_mean_reduction_mirrors_two_samples_and_normalizing_samples_keeps_angles():
    assert lab.cosines("BN with mean reduction", RIGHT, 32, 3, 4, STREAM)[:, 1:].min() > 0.999
    plain, each = (
        lab.cosines(name, RIGHT, 16, 12, 1500, STREAM)[:, -1]
        for name in ("without BN", "each sample normalized")
    )
    assert stats.ks_2samp(plain, each).pvalue > 1e-6


@pytest.mark.parametrize("width", [3, 6])
def test_log_sine_falls_at_the_digamma_rate(width):
    change = lab.change_of_log_sine(width, 10, 4000, STREAM)
    off = change.mean() + sp.theory.vanilla_collapse_rate(width)
    assert abs(off) < 5.5 * stats.sem(change)  # a rate of 1/d is off by ten and more
    assert abs(change.mean() + 1 / width) > 8 * stats.sem(change)


def test_second_order_of_the_plateau():
    """Of two samples ``E cos^2 = 2/(3d) (1 + 7/(9d) + ...)``, from the resultant of the ACG law."""
    width = 16
    path = lab.cosines("with BN", RIGHT, width, 26, 6000, STREAM)[:, 10:]
    ratio = (path**2).mean(axis=1) * 3 * width / 2
    assert abs(ratio.mean() - 1 - 7 / (9 * width)) < 5.5 * stats.sem(ratio) + 3 / width**2
    assert ratio.mean() > 1 + 2 * stats.sem(ratio)


def test_readings_choose_layers_from_one_on():
    path = np.arange(12.0).reshape(2, 6)
    np.testing.assert_array_equal(lab.readings(path, [1, 6]), [[0, 5], [6, 11]])
    np.testing.assert_array_equal(lab.readings(path, [2], (4, 6)), [[1, 4], [7, 10]])


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="network must be one of"):
        lab.cosines("with LN", RIGHT, 8, 2, 1, STREAM)
    with pytest.raises(ValueError, match="start must be one of"):
        lab.cosines("with BN", "parallel", 8, 2, 1, STREAM)
