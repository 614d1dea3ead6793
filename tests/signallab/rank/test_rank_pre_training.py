"""Starts that raise or break the rank: laws, the scaling of layers, the scores, the best rate."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

import signalprop as sp
from signallab.rank import rank_pre_training as lab
from signalprop.random import Stream


@pytest.fixture(scope="module")
def setting():
    """Sixty-four random images of twenty numbers, ten classes."""
    x = torch.randn(64, 20, generator=Stream(0).torch())
    labels = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 1).long()
    return lab.Setting(
        x, labels, width=16, depth=4, stream=Stream(1), batch=8, iterations=12,
        rates=(0.1, 0.05), seeds=2, climb_batch=16, probe=32, records=3,
    )  # fmt: skip


def test_both_laws_have_one_variance_and_one_of_them_one_sign(setting):
    symmetric, one_sided = (
        lab.networks(setting, lab.Start("batch norm", law), range(200)).hidden[1][0].weight.detach()
        for law in ("pytorch_default", "one_sided_uniform")
    )
    for weight in (symmetric, one_sided):
        assert float(weight.var()) == pytest.approx(1 / (3 * 16), rel=0.02)
    assert 0 <= float(one_sided.min()) < float(one_sided.max()) <= 2 / 16**0.5
    # The same draws, moved: RANK compares U[-1/sqrt d, 1/sqrt d] with U[0, 2/sqrt d].
    torch.testing.assert_close(one_sided - symmetric, torch.full_like(symmetric, 16**-0.5))


def test_pre_training_is_that_of_the_library_and_leaves_normalized_networks_alone(setting):
    net = lab.networks(setting, lab.Start(steps=3), [1])
    expected = lab.networks(setting, lab.Start(), [1])
    assert not torch.equal(net.hidden[0][0].weight, expected.hidden[0][0].weight)
    sp.initializers.rank_pretraining_(
        expected, setting.images, 3, rate=0.1, batch=16, seed=setting.stream
    )
    torch.testing.assert_close(net.hidden[3][0].weight, expected.hidden[3][0].weight)
    with pytest.raises(ValueError, match="network must be one of no normalization"):
        lab.networks(setting, lab.Start("vanilla"), [0])


def test_unit_size_scales_each_layer_by_one_factor(setting):
    plain, scaled = (
        lab.networks(setting, lab.Start(steps=2, unit_size=unit), [0, 1]) for unit in (False, True)
    )
    for h in scaled.states(setting.images[:16]):
        torch.testing.assert_close(h.square().mean((1, 2)), torch.ones(2), rtol=1e-4, atol=0)
    for before, after in zip(plain.hidden, scaled.hidden, strict=True):
        factor = (after[0].weight / before[0].weight)[:, :1, :1]
        torch.testing.assert_close(after[0].weight, factor * before[0].weight)
        torch.testing.assert_close(after[0].bias, factor[:, 0] * before[0].bias)
    torch.testing.assert_close(plain.head.weight, scaled.head.weight)


def test_training_records_each_network_and_its_ratio(setting):
    found = lab.trained(setting, {"plain": lab.Start(), "two steps": lab.Start(steps=2)})
    assert sorted(found["iteration"].unique()) == [0, 4, 8, 12]
    assert len(found) == 2 * 4 * 4
    net = lab.networks(setting, lab.Start(steps=2), [0, 1])
    with torch.no_grad():
        ratios = [sp.rank_ratio(net.features(x).double()) for x in setting.images[:32].split(8)]
    row = found.query("start == 'two steps' and iteration == 0 and run == 1 and rate == 0.05")
    expected = float(torch.stack(ratios).mean(0)[1])
    assert float(row["r"].iloc[0]) == pytest.approx(expected, rel=1e-2)


def test_ratios_are_those_of_unseen_images(setting):
    found = lab.ratios(setting, lab.Start("batch norm"), 3)
    net = lab.networks(setting, lab.Start("batch norm"), [2])
    h = net.features(setting.images[-16:])[0].detach().double().numpy()
    values = np.linalg.eigvalsh(h.T @ h)
    assert found[2] == pytest.approx(values.sum() ** 2 / (values**2).sum(), rel=1e-6)
    longer, none = (lab.ratios(setting, lab.Start(steps=steps, climb=0.5), 3) for steps in (20, 0))
    assert float(longer.mean()) > float(none.mean())


def test_a_dead_network_has_no_ratio_and_does_not_stop_the_others(setting):
    net = lab.networks(setting, lab.Start(), [0, 1, 2])
    with torch.no_grad():
        for parameter in net.hidden[2].parameters():
            parameter[1] = 0
        net.hidden[3][0].bias[1] = -1
        net.head.weight[2] = torch.inf
    found = lab._ratio(net, setting.images[:8].expand(3, 8, 20), None)
    assert bool(torch.isnan(found[1]))
    assert bool((found[[0, 2]] >= 1).all())


def test_the_best_rate_is_that_of_the_end_and_none_that_diverged():
    columns = ["rate", "run", "iteration", "accuracy"]
    rows = [(0.1, 0, 0, 0.9), (0.1, 1, 0, 0.9), (0.1, 0, 5, 0.2), (0.1, 1, 5, 0.9)]
    rows += [(0.2, 0, 0, 0.1), (0.2, 1, 0, 0.1), (0.2, 0, 5, 0.6), (0.2, 1, 5, 0.7)]
    rows += [(0.3, 0, 5, 1.0), (0.3, 1, 5, np.nan)]
    toy = pd.DataFrame(rows, columns=columns).assign(start="a")
    best = lab.at_best_rate(toy)
    assert set(best["rate"]) == {0.2}
    assert list(best["iteration"]) == [0, 0, 5, 5]
    with pytest.raises(sp.training.Diverged, match="a: every rate diverged"):
        lab.at_best_rate(toy[toy["rate"] == 0.3].assign(accuracy=np.nan))


def test_gradient_lengths_are_those_of_one_network_alone(setting):
    starts = {"plain": lab.Start(), "batch norm": lab.Start("batch norm")}
    found = lab.gradient_lengths(setting, starts, 2)
    assert len(found) == 2 * 2 * 5  # starts, runs, four hidden layers and the head
    net = lab.networks(setting, lab.Start(), [1]).double()
    x, y = setting.images[-16:].double(), setting.labels[-16:]
    rows = found.query("start == 'plain' and run == 1").set_index("layer")
    torch.nn.functional.cross_entropy(net(x)[0], y).backward()
    for layer, weight in ((1, net.hidden[0][0].weight), (5, net.head.weight)):
        assert rows["weights"][layer] == pytest.approx(float(weight.grad.norm()), rel=1e-9)
    # By what leaves the last hidden layer, from the definition of the loss.
    h = net.features(x)[0].detach()
    p = torch.softmax(net.head(h[None])[0], 1) - torch.nn.functional.one_hot(y, 10)
    assert rows["outputs"][5] == pytest.approx(float(p.detach().norm() / 16), rel=1e-9)
    by_features = p @ net.head.weight[0] / 16
    assert rows["outputs"][4] == pytest.approx(float(by_features.norm()), rel=1e-9)


def test_where_all_units_are_one_normalization_hides_the_weights_from_the_loss(setting):
    deep = replace(setting, depth=10, climb_batch=64)
    one_sided = {"one": lab.Start("batch norm", "one_sided_uniform")}
    rows = lab.gradient_lengths(deep, one_sided, 1).set_index("layer")
    middle = rows.loc[7:9]
    assert float((middle["weights"] / middle["outputs"]).max()) < 1e-3
    plain = lab.gradient_lengths(deep, {"plain": lab.Start("batch norm")}, 1).set_index("layer")
    assert float((plain["weights"] / plain["outputs"]).loc[7:9].min()) > 1


def test_best_accuracy_is_over_rates_and_a_guess_where_all_diverged():
    rows = [("a", rate, run, at) for rate in (0.1, 0.01) for run in (0, 1) for at in (0, 9)]
    records = pd.DataFrame(rows, columns=["start", "rate", "run", "iteration"])
    records["accuracy"] = [0.9, 0.4, 0.9, np.nan, 0.9, 0.2, 0.9, np.nan]
    assert lab.best_accuracy(records).to_dict() == {("a", 0): 0.4, ("a", 1): 0.1}
