"""Mean deduction: chains by hand, the rotation, VGG networks with either normalization."""

import numpy as np
import pytest
import torch
from torch import nn

import signalprop as sp
from signallab.rank import mean_deduction as lab
from signalprop.random import Stream

WIDTHS = [4, 4, 4, 8, 8]


@pytest.fixture(scope="module")
def setting():
    """Forty-eight random images of eight pixels, ten classes."""
    x = torch.randn(48, 3, 8, 8, generator=Stream(0).torch())
    labels = torch.arange(48) % 10
    return lab.Setting(
        x, labels, Stream(1), batch=8, iterations=4, rate=0.05, runs=2, probe=16, records=2
    )


def ratio(h):
    values = np.linalg.eigvalsh(h.T @ h)
    return values.sum() ** 2 / (values**2).sum()


def test_chains_start_from_their_samples_and_forget_one_with_the_mean():
    found = lab.chains(6, 5, 3, runs=2, center=True, stream=Stream(3))
    assert found.shape == (2, 4)
    h = Stream(3).child("x").numpy(1).standard_normal((5, 6))
    assert found[1, 0] == pytest.approx(ratio(h))
    both = {c: lab.chains(6, 5, 1, 400, center=c, stream=Stream(4)) for c in (True, False)}
    # Five samples with their mean off are four: after one layer the ratio is smaller.
    assert both[True][:, 1].mean() < both[False][:, 1].mean() < 5


@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("center", [True, False])
def test_a_layer_of_the_chain_by_hand(center, relu):
    stream = Stream(5)
    one = lab.chains(4, 7, 1, runs=1, center=center, stream=stream, relu=relu)[0]
    x = stream.child("x").numpy(0).standard_normal((7, 4))
    x = np.maximum(x, 0) if relu else x
    chain = sp.Chain(4, sp.uniform())
    z = chain.run(x[None], 1, 1, stream.child("weights"), engine="direct").states([1])
    z = np.asarray(z).reshape(7, 4)
    z = z - z.mean(axis=0) if center else z
    assert one[1] == pytest.approx(ratio(z / np.sqrt((z**2).mean(axis=0))), rel=1e-10)


@pytest.mark.parametrize("samples", [3, 8, 12])
def test_taking_the_mean_off_is_having_one_sample_less(samples):
    centred, fewer = lab.rotated(8, samples, 30, Stream(2))
    np.testing.assert_allclose(centred, fewer, rtol=1e-9)
    plain = lab.chains(8, samples, 30, 1, center=False, stream=Stream(2))[0, 1:]
    assert np.abs(centred - plain).max() > 1e-3


def test_networks_differ_in_the_mean_only(setting):
    with_mean, without = (lab._network(setting, name, WIDTHS, [6], 1) for name in lab.NORMS)
    torch.testing.assert_close(with_mean[0].weight, without[0].weight)
    h = {}
    for name, net in zip(lab.NORMS, (with_mean, without), strict=True):
        h[name] = sp.models.preactivations(net, setting.images)[0]
        squares = h[name].square().mean(0)
        torch.testing.assert_close(squares, torch.ones_like(squares), rtol=1e-3, atol=0)
    means = {name: float(values.detach().mean(0).abs().max()) for name, values in h.items()}
    assert means["with mean deduction"] < 1e-5
    assert means["without"] > 1e-3
    assert not any(isinstance(part, nn.BatchNorm2d) for part in with_mean.modules())
    with pytest.raises(ValueError, match="name must be one of with mean deduction, without"):
        lab._network(setting, "plain", WIDTHS, [6], 0)


def test_ratios_before_training_are_those_of_the_preactivations(setting):
    found = lab.before_training(setting, WIDTHS, [6], batch=16, runs=2)
    assert sorted(found["layer"].unique()) == list(range(1, 16 + 1 + 1))
    net = lab._network(setting, "without", WIDTHS, [6], 1)
    with torch.no_grad():
        h = sp.models.preactivations(net, setting.images[-16:])[2]
    row = found.query("normalization == 'without' and run == 1 and layer == 3")
    assert float(row["r"].iloc[0]) == pytest.approx(ratio(h.double().numpy()), rel=1e-6)


def test_training_records_the_ratios_of_two_layers(setting):
    found = lab.in_training(setting, WIDTHS, [6])
    assert sorted(found["iteration"].unique()) == [0, 2, 4]
    net = lab._network(setting, "without", WIDTHS, [6], 1)
    row = found.query("network == 'without' and run == 1 and iteration == 0").iloc[0]
    with torch.no_grad():
        states = [sp.models.preactivations(net, x) for x in setting.images[:16].split(8)]
    for name, layer in {"last hidden": 16, "last normalized": 15}.items():
        expected = np.mean([ratio(each[layer].double().numpy()) for each in states])
        assert float(row[name]) == pytest.approx(expected, rel=1e-5)
