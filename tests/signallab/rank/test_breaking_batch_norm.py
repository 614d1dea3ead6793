"""Weights of one sign: the starts, the ratios, the choice of a rate."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch

import signalprop as sp
from signallab.rank import breaking_batch_norm as lab
from signalprop.random import Stream

MAKES = {
    "VGG": partial(sp.models.vgg, [4, 6], [1, 2], size=8, hidden=[6], norm=lab.BATCH_NORM),
    "ResNet": partial(sp.models.ResNet, [4, 6], [1, 1], norm=lab.BATCH_NORM),
}


@pytest.fixture(scope="module")
def setting():
    """Thirty-two random images of eight pixels, ten classes."""
    x = torch.randn(32, 3, 8, 8, generator=Stream(0).torch())
    labels = torch.arange(32) % 10
    return lab.Setting(
        x, labels, Stream(1), batch=8, iterations=4, rate=0.05, runs=2, probe=16, records=2
    )


@pytest.mark.parametrize("start", lab.SIGNS)
def test_moduli_are_one_sided_and_signs_as_named(setting, start):
    net, plain = (lab.network(setting, MAKES["VGG"], s, 1) for s in (start, "one sign"))
    for index in (3, 6):  # the second convolution and the third
        weight, moduli = net[index + 1].weight.detach(), plain[index + 1].weight.detach()
        torch.testing.assert_close(weight.abs(), moduli)
        signs = torch.sign(weight)
        varies = [bool((signs != signs.narrow(dim, 0, 1)).any()) for dim in range(signs.ndim)]
        expected = {
            "one sign": [False] * 4,
            "a sign for each output": [True, False, False, False],
            "a sign for each input": [False, True, False, False],
            "a sign for each weight": [True] * 4,
        }
        assert varies == expected[start]


def test_the_symmetric_start_is_torchs_and_others_are_refused(setting):
    weight = lab.network(setting, MAKES["ResNet"], "PyTorch's", 0).stages[0].branch[3].weight
    assert float(weight.detach().abs().max()) <= 1 / 6  # U[-1/sqrt 36, 1/sqrt 36]
    assert float(weight.detach().min()) < 0 < float(weight.detach().max())
    with pytest.raises(ValueError, match="start must be one of PyTorch's, one sign"):
        lab.network(setting, MAKES["VGG"], "two signs", 0)


def test_ratios_before_training_are_those_of_the_preactivations(setting):
    found = lab.before_training(setting, MAKES, ["one sign", "PyTorch's"], 16, runs=2)
    assert found.groupby("network")["layer"].max().to_dict() == {"VGG": 4, "ResNet": 7}
    net = lab.network(setting, MAKES["VGG"], "one sign", 1)
    with torch.no_grad():
        h = sp.models.preactivations(net, setting.images[-16:])[1].double().numpy()
    values = np.linalg.eigvalsh(h.T @ h)
    row = found.query("network == 'VGG' and start == 'one sign' and run == 1 and layer == 2")
    assert float(row["r"].iloc[0]) == pytest.approx(values.sum() ** 2 / (values**2).sum(), rel=1e-5)


def test_training_keeps_the_best_rate_of_each_start(setting):
    found = lab.learned(setting, MAKES, ["one sign", "PyTorch's"], [0.05, 1e-6])
    assert len(found) == 2 * 2 * 2 * 3
    assert found.groupby(["network", "start"])["rate"].nunique().max() == 1
    last = lab.at_the_end(found)
    assert set(last["iteration"]) == {4}
    assert last.loc[("VGG", "PyTorch's", 1), "rate"] in (0.05, 1e-6)


def test_the_best_rate_has_the_least_loss_and_none_that_diverged():
    rows = [(0.1, 0, 5, 1.0), (0.1, 1, 5, 2.0), (0.2, 0, 5, 1.1), (0.2, 1, 5, 1.2)]
    rows += [(0.3, 0, 5, 0.1), (0.3, 1, 5, np.nan)]
    toy = pd.DataFrame(rows, columns=["rate", "run", "iteration", "loss"])
    assert set(lab._at_best_rate(toy)["rate"]) == {0.2}
    assert set(lab._at_best_rate(toy[toy["rate"] == 0.3])["rate"]) == {0.3}
