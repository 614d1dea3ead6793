"""Closed classes, the exact law of one sample, and averages, by hand and against simulation."""

import numpy as np
import pytest
import torch
from scipy import stats

import signalprop as sp
from signallab.rank import invariant_laws as lab
from signalprop.random import Stream


@pytest.mark.parametrize("gamma", [0.05, 1.0, None])
def test_closed_classes_by_hand(gamma):
    """Odd functions keep every sign pattern; even ones make all samples equal."""
    for n in (1, 2, 4):
        for odd in ("identity", "tanh", "sin"):
            assert lab.closed_classes(odd, 3, n, gamma, Stream(0)) == 2 ** (n - 1)
        assert lab.closed_classes("square", 3, n, gamma, Stream(0)) == 1
    assert lab.one_law("tanh", 2, 2, gamma, Stream(0)).left == 2


def test_sum_of_uniforms():
    for d in (1, 2, 3):
        for t in (-0.7, 0.4):
            exact = lab._sum_above(t, np.ones(d))
            assert exact == pytest.approx(stats.irwinhall.sf((t + d) / 2, d), abs=1e-12)
    assert lab._sum_above(-5.0, np.ones(3)) == pytest.approx(1)
    # a U_1 + b U_2 > t with a = 2, b = 1/2, t = 1: the mean over U_2 of (1 - (1 - U_2/2)/2) / 2
    assert lab._sum_above(1.0, np.array([2.0, 0.5])) == pytest.approx(0.25)


@pytest.mark.parametrize("activation", ["exp", "tanh"])
def test_law_of_one_sample_against_simulation(activation):
    law, rng = lab.one_sample_law(activation, 2, 1.0), np.random.default_rng(1)
    runs, layers = 20_000, 40
    f, u = lab.ACTIVATIONS[activation], np.ones((runs, 2))
    for _ in range(layers):
        w = rng.uniform(-np.sqrt(3), np.sqrt(3), (runs, 2, 2))
        u = np.sign(u + np.einsum("rij,rj->ri", w, f(u)))
    seen = np.array([[np.mean((u[:, 0] == a) & (u[:, 1] == b)) for b in (1, -1)] for a in (1, -1)])
    np.testing.assert_allclose(seen, law, atol=5 * 0.5 / np.sqrt(runs))


def test_several_laws_are_refused():
    with pytest.raises(ValueError, match="one stationary law"):
        lab.one_sample_law("tanh", 2, 0.1)


def test_order_matters_for_weights_of_different_size():
    same = lab.order_does_not_matter("exp", 3, 1.0)
    np.testing.assert_allclose(same.left, same.right, atol=1e-12)
    other = lab.order_does_not_matter("exp", 3, 1.0, sizes=(1.0, 1.0, 2.0))
    assert np.abs(other.left - other.right).max() > 0.01


def test_order_of_units_is_kept_from_a_start_without_order():
    runs = 4000
    for twins in (False, True):
        found = lab.order_from_symmetric_start(
            "relu", 4, 6, 1.0, [1, 3], runs, Stream(3), twins=twins
        )
        scores = found.mean(axis=0) / (found.std(axis=0, ddof=1) / np.sqrt(runs))
        assert (scores[0] > 6) if twins else (np.abs(scores) < 6).all()


@pytest.mark.parametrize("activation", list(lab.ACTIVATIONS))
def test_which_layers_commute(activation):
    order = lab.commutes_with_order(activation, 3, 4, 0.4, Stream(2))
    assert order.left.shape == (6, 3, 4)
    np.testing.assert_allclose(order.left, order.right, atol=1e-12)
    one_side = lab.commutes_with_order(activation, 3, 4, 0.4, Stream(2), both_sides=False)
    assert np.abs(one_side.left - one_side.right).max() > 0.01
    signs = lab.commutes_with_signs(activation, 3, 4, 0.4, Stream(2))
    assert signs.left.shape == (8, 3, 4)
    odd = activation in ("identity", "tanh", "sin")
    assert np.allclose(signs.left, signs.right, atol=1e-12) == odd


def test_layer_by_hand():
    h, w = np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([[0.0, 1.0], [2.0, 0.0]])
    np.testing.assert_allclose(
        lab.layer(h, w, 1.0, "identity"), [[np.sqrt(2), 0], np.array([3, 1]) / np.sqrt(5)]
    )
    np.testing.assert_allclose(lab.layer(h, w, None, "identity"), [[1, -1], [1, 1]])


def test_observables_by_hand():
    h = torch.tensor([[[1.0, 3.0], [2.0, -1.0]]])  # two samples of two units
    values = {name: float(f(h)) for name, f in lab.OBSERVABLES.items()}
    assert values["M_12"] == 0.5
    assert values["M_12 squared"] == 0.25
    assert values["H_11 squared"] == 1.0
    assert values["H_11 H_12"] == 2.0


def test_agreement_of_runs_is_an_analysis_of_variance():
    args = (4, 400, 3, 10, Stream(3))
    blocks = lab.averages(4, None, *args[1:])
    which = list(lab.OBSERVABLES).index("H_11 squared")
    case = lab.agree_between_runs(None, ["H_11 squared"], *args, 0.01)
    assert case.left == pytest.approx(stats.f_oneway(*blocks[..., which]).statistic)
    assert case.right == pytest.approx(stats.f.ppf(0.99, 2, 27))
    two = lab.agree_between_runs(None, ["H_11 squared", "r(H)"], *args, 0.01)
    assert two.right == pytest.approx(stats.f.ppf(0.995, 2, 27))
    frame = lab.running_averages(4, None, *args[1:])
    last = frame[(frame["share of the layers"] == 1) & (frame["observable"] == "H_11 squared")]
    np.testing.assert_allclose(last["average so far"], blocks[..., which].mean(axis=1))


def test_rank_of_the_start_caps_the_ratio():
    found = lab.rank_by_start(16, [1, 2, 16], None, 400, 2, Stream(4))
    means = found.groupby("rank of the input").mean()
    assert means.loc[1, "ratio"] == pytest.approx(1)
    assert 1.5 < means.loc[2, "ratio"] < 2 < means.loc[16, "ratio"]
    case = lab.high_rank_without_full_rank(found, 16, 2)
    assert case.right == 4
    assert (case.left <= 2).all()


def test_mean_of_the_weights_lowers_the_ratio():
    found = lab.ratio_by_mean([16], [0.0, 2.0], 8, 200, 2, Stream(5))
    ratio = found.groupby("mean of the weights")["ratio"].mean()
    assert ratio[0.0] > 2
    assert ratio[2.0] == pytest.approx(1, abs=0.05)


def test_moments_under_groups():
    assert lab.moments_under_group(3, 4, True, Stream(6)).left == 1
    case = lab.moments_under_group(3, 4, False, Stream(6))
    h = Stream(6).numpy("group", 3, 4).normal(size=(3, 4))
    assert case.left - 1 == pytest.approx(float(sp.metrics.cosine_similarity(h)[0, 1]))
    assert all(case.hypotheses.values())


def test_symmetric_start():
    runs = lab.moment_from_symmetric_start("tanh", 3, 4, 0.3, [1, 5], 2000, Stream(7))
    assert runs.shape == (2000, 2)
    assert (abs(runs.mean(axis=0)) < 6 * runs.std(axis=0) / np.sqrt(2000)).all()


def test_the_pairs_compared_have_no_unit_in_common():
    """Without a branch a layer only scales the rows."""
    found = lab.order_from_symmetric_start("tanh", 4, 3, 0.0, [1], 2, Stream(8))
    h = Stream(8).numpy("order", "tanh", 4, 3).normal(size=(2, 4, 3))
    cosines = sp.metrics.cosine_similarity(h)
    np.testing.assert_allclose(found[:, 0], cosines[:, 0, 1] - cosines[:, 2, 3], rtol=1e-12)
