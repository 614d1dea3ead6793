"""Couplings have the right laws and meet as often as possible; statements by hand."""

import numpy as np
import pytest
import torch
from scipy import stats

from signallab.meanfield import ergodicity as lab
from signallab.meanfield.gram_recursion import chain, gram_of
from signalprop.random import Stream

STREAM = Stream(12)


def test_kernels_are_stochastic_and_the_first_is_a_cycle():
    found = lab.kernels(5, 4, STREAM)
    assert len(found) == 5
    for kernel in found:
        np.testing.assert_allclose(kernel.sum(axis=1), 1)
        assert (kernel >= 0).all()
    np.testing.assert_array_equal(np.linalg.matrix_power(found[0], 4), np.eye(4))


def test_in_the_funnel_other_distances_grow_and_the_total_variation_does_not():
    _, funnel, *others = lab.kernels(3, 6, STREAM)
    np.testing.assert_allclose(funnel.sum(axis=1), 1)
    assert len(others) == 1
    after = lab.distance_after(funnel, 1, 4)
    assert after.left <= after.right + 1e-12
    for measure in (np.linalg.norm, lambda gap: np.abs(gap).max(), lambda gap: abs(gap[:2].sum())):
        grown = lab.distance_after(funnel, 1, 4, measure)
        assert grown.left > 1.15 * grown.right


def test_total_variation_is_the_largest_difference_over_events():
    gap = np.array([0.3, -0.1, 0.05, -0.25])
    events = [sum(gap[i] for i in range(4) if k >> i & 1) for k in range(16)]
    assert lab.total_variation(gap) == pytest.approx(max(events))


def test_distance_after_by_hand():
    """Two states that swap with 1/4: the distance 1/2 halves in a step."""
    kernel = np.array([[0.75, 0.25], [0.25, 0.75]])
    case = lab.distance_after(kernel, 1, 0)
    assert (case.left, case.right) == (pytest.approx(0.125), pytest.approx(0.25))


def test_close_pair_and_tie():
    x = lab.close_pair(4, 0.01)(50_000, 1, STREAM)[0].numpy()
    assert np.std(x[1] - x[0]) == pytest.approx(0.01, rel=0.05)
    assert np.corrcoef(x[0], x[2])[0, 1] == pytest.approx(0, abs=0.03)
    y = lab.tied(torch.from_numpy(x)).numpy()
    np.testing.assert_array_equal(y[1], x[0])
    np.testing.assert_array_equal(y[[0, 2, 3]], x[[0, 2, 3]])


def test_equal_samples_never_part_and_distinct_ones_do():
    frame = lab.layers_to_forget("tanh", 4, 60, [1.0, 1e-3, 0.0], 60, 5, STREAM)
    layers = frame["layers"]
    assert layers[0] <= layers[1] < layers[2] == np.inf


def test_probability_to_meet_is_the_overlap_of_two_densities():
    """Two neurons and two samples, entries N(0, 1) or N(0, 4): the squared radius decides."""
    runs = 60_000
    roots = [np.tile(scale * np.eye(2), (runs, 1, 1)) for scale in (1.0, 2.0)]
    first, second, met = lab._step(roots, 2, STREAM.numpy("meet"))
    r = 8 / 3 * np.log(16)  # where the densities cross: 16 exp(-r/2) = exp(-r/8)
    overlap = stats.chi2.sf(r, 4) + stats.chi2.cdf(r / 4, 4)
    assert met.mean() == pytest.approx(overlap, abs=6 * 0.5 / np.sqrt(runs))
    np.testing.assert_array_equal(first[met], second[met])
    assert not (first[~met] == second[~met]).any()
    assert stats.kstest(first[:, 0, 0], stats.norm.cdf).pvalue > 1e-7
    assert stats.kstest(second[:, 0, 0], stats.norm(scale=2).cdf).pvalue > 1e-7


def test_root_is_that_of_the_gram_matrix():
    h = STREAM.numpy("h").normal(size=(3, 4, 30))
    root = lab._root("relu", h)
    gram = gram_of("relu")(torch.from_numpy(h)).numpy()
    np.testing.assert_allclose(root @ root.transpose(0, 2, 1), gram, atol=1e-12)


def test_coupled_chains_meet_later_from_a_closer_pair():
    coupling = lab.Coupling("relu", 3, 40, 12, 300, STREAM)
    far, near = (lab.unmet(coupling, distance) for distance in (1.0, 1e-6))
    assert set(np.unique(far)) <= {0.0, 1.0}
    assert (np.diff(far, axis=1) <= 0).all()
    assert far.mean(axis=0)[5] + 0.2 < near.mean(axis=0)[5]
    assert near.mean(axis=0)[12] < 0.5


def test_coupling_is_an_upper_bound_of_a_difference_of_probabilities():
    """The first Gram entry under the chain itself, from both inputs."""
    coupling = lab.Coupling("relu", 3, 40, 3, 2000, STREAM)
    bound = lab.unmet(coupling, 0.1).mean(axis=0)
    values = [
        chain("relu", 40)
        .run(lab.close_pair(3, distance), 3, 2000, STREAM.child("law", repr(distance)))
        .measure(gram_of("relu"))
        .values[..., 0, 1]
        for distance in (0.1, 1.0)
    ]
    for layer in (1, 2, 3):
        gap = stats.ks_2samp(values[0][:, layer], values[1][:, layer]).statistic
        assert gap < bound[layer] + 0.1  # 0.1: sampling of 2000 runs at 1e-6, and of the bound


def test_apart_by_hand():
    coupling = lab.Coupling("tanh", 4, 30, 6, 20, STREAM)
    equal, distinct = (lab.apart(coupling, d, 6, 0.5) for d in (0.0, 1.0))
    np.testing.assert_array_equal(equal.left, 1)
    np.testing.assert_array_equal(distinct.left, 0)
    assert equal.right == 2 / 64
    assert lab.apart(coupling, 0.0, 6, 0.5, lambda d, k, a: d + k + a).right == 13


def test_unmet_below_asks_for_distinct_samples():
    coupling = lab.Coupling("relu", 3, 30, 4, 20, STREAM)
    case = lab.unmet_below(coupling, 0.5, 3, lambda distance, layer: distance + layer)
    assert case.right == 3.5
    assert all(case.hypotheses.values())
    np.testing.assert_array_equal(case.left, lab.unmet(coupling, 0.5)[:, 3])


def test_apart_is_the_difference_to_independent_samples(monkeypatch):
    shares = {0.25: 5.0, 1.0: 2.0}
    monkeypatch.setattr(lab, "_nearly_equal", lambda _, d: np.full((2, 4), shares[d]))
    case = lab.apart(lab.Coupling("relu", 3, 30, 3, 2, STREAM), 0.25, 3, 0.5)
    np.testing.assert_array_equal(case.left, 3)


def test_nearly_equal_is_below_a_millionth():
    """At layer 0 the squared distance is of the order of the square of that of the inputs."""
    coupling = lab.Coupling("tanh", 5, 200, 0, 5, STREAM)
    near, far = (lab._nearly_equal(coupling, d)[:, 0] for d in (1e-4, 1e-2))
    assert near.tolist() == [1] * 5
    assert far.tolist() == [0] * 5


def test_apart_enough_is_half_of_what_the_fixed_point_has():
    """Inputs at distance 0.9: at layer 0 more than half of that of independent samples, not all."""
    frame = lab.layers_to_forget("tanh", 4, 4000, [0.9, 0.3], 6, 3, STREAM)
    assert frame["layers"][0] == 0
    assert frame["layers"][1] > 0


def test_a_single_pair_of_chains_meets():
    unmet = lab.unmet(lab.Coupling("relu", 3, 10, 40, 1, STREAM), 0.5)
    assert unmet[0, 0] == 1
    assert unmet[0, -1] == 0
