"""Depth and training: ranks and a network by hand, the choice of a rate, the time of waking."""

import numpy as np
import pandas as pd
import pytest
import torch

import signalprop as sp
from signallab.rank import depth_trainability as lab
from signalprop.random import Stream


@pytest.fixture(scope="module")
def setting():
    """Sixty-four random images of twenty numbers, ten classes."""
    x = torch.randn(64, 20, generator=Stream(0).torch())
    labels = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 1).long()
    return lab.Setting(
        x, labels, width=16, stream=Stream(1), batch=8, iterations=12, rates=(0.1, 0.05), seeds=2,
        probe=32, records=3,
    )  # fmt: skip


def test_ranks_before_training_are_those_of_the_hidden_layers(setting):
    found = lab.before_training(setting, "no normalization", 3, batch=24, runs=2)
    assert found.shape == (2, 3)
    net = sp.MLP(20, 16, 3, 10, seeds=[1], stream=setting.stream.child("rank"))
    h = setting.images[:24].numpy()
    for layer, block in enumerate(net.hidden):
        weight, bias = (p.detach().numpy()[0] for p in block[0].parameters())
        h = np.maximum(h @ weight.T + bias, 0)
        assert found[1, layer] == np.linalg.matrix_rank(h)


def test_a_layer_does_not_depend_on_how_deep_its_network_is(setting):
    deep = lab.before_training(setting, "batch norm", 5, batch=24, runs=2, measure=sp.rank_ratio)
    shallow = lab.before_training(setting, "batch norm", 2, batch=24, runs=2, measure=sp.rank_ratio)
    np.testing.assert_allclose(deep[:, :2], shallow, rtol=1e-5)


def test_both_precisions_write_the_same_network(setting):
    single, double = (
        lab.before_training(
            setting, "He weights", 4, batch=24, runs=2, measure=sp.rank_ratio, dtype=dtype
        )
        for dtype in (torch.float32, torch.float64)
    )
    np.testing.assert_allclose(single, double, rtol=1e-4)


def test_networks_differ_in_what_their_names_say(setting):
    net = {name: lab._networks(setting, name, 2, range(300), "rank") for name in lab.NETWORKS}
    plain, he = (next(iter(net[n].parameters())).detach() for n in ("batch norm", "He weights"))
    assert float(plain.var()) == pytest.approx(1 / (3 * 20), rel=0.05)
    assert float(he.var()) == pytest.approx(2 / 20, rel=0.05)
    normalized = net["batch norm"].states(setting.images)[-1].detach()
    assert float(normalized.square().mean()) == pytest.approx(0.5, abs=0.02)  # half of variance 1
    with pytest.raises(ValueError, match="network must be one of no normalization"):
        lab.before_training(setting, "plain", 2, 8, 1)


def test_training_is_gradient_descent_by_hand(setting):
    found = lab.trained(setting, [("no normalization", 2)])
    assert sorted(found["iteration"].unique()) == [0, 4, 8, 12]
    net = sp.MLP(20, 16, 2, 10, seeds=[1], stream=setting.stream.child("training"))
    order = sp.training.batches(setting.stream.child("training"), [1], 64, 8)
    for _, chosen in zip(range(12), order, strict=False):
        logits = net(setting.images[chosen])
        loss = torch.nn.functional.cross_entropy(logits[0], setting.labels[chosen][0])
        gradients = torch.autograd.grad(loss, list(net.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(net.parameters(), gradients, strict=True):
                parameter -= 0.05 * gradient
    right = net(setting.images[:32])[0].argmax(-1) == setting.labels[:32]
    row = found.query("run == 1 and rate == 0.05 and iteration == 12")
    assert float(row["accuracy"].iloc[0]) == pytest.approx(float(right.float().mean()), abs=1e-6)


def records(rows):
    columns = ["rate", "run", "iteration", "accuracy"]
    return pd.DataFrame(rows, columns=columns).assign(network="a", depth=3)


def test_the_best_rate_has_the_best_mean_at_the_end_and_none_that_diverged():
    rows = [(0.1, 0, 0, 0.9), (0.1, 1, 0, 0.9), (0.1, 0, 5, 0.2), (0.1, 1, 5, 0.9)]
    rows += [(0.2, 0, 5, 0.6), (0.2, 1, 5, 0.7), (0.3, 0, 5, 1.0), (0.3, 1, 5, np.nan)]
    toy = records(rows)
    best = lab.at_best_rate(toy)
    assert list(best["accuracy"]) == [0.6, 0.7]
    assert set(best["rate"]) == {0.2}
    with pytest.raises(sp.training.Diverged):
        lab.at_best_rate(toy[toy["rate"] == 0.3].assign(accuracy=np.nan))


def test_waking_is_the_first_record_above_the_level_in_every_run():
    toy = records(
        [(0.1, 0, i, a) for i, a in enumerate([0.1, 0.6, 0.4, 0.8])]
        + [(0.1, 1, i, a) for i, a in enumerate([0.1, 0.2, 0.5, 0.8])]
    )
    assert list(lab.awake_after(toy)["iteration"]) == [(1 + 3) / 2]
    assert lab.awake_after(toy, level=0.9)["iteration"].isna().all()
    assert lab.awake_after(toy[toy["iteration"] < 3])["iteration"].isna().all()
