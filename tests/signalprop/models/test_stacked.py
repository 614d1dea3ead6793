"""Modules side by side give what each gives alone, and learn by themselves."""

import pytest
import torch
from torch import nn

from signalprop import Stream
from signalprop.models import Stacked


def build(seed):
    generator = Stream(seed).torch("stacked")
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return net


X = torch.randn(3, 5, 3, generator=Stream(0).torch("x"))


def test_outputs_and_gradients_are_those_of_each_alone():
    nets = [build(seed) for seed in range(3)]
    stacked = Stacked(nets)
    outputs = stacked(X)
    outputs.square().sum().backward()
    for k, net in enumerate(nets):
        torch.testing.assert_close(outputs[k], net(X[k]))
        net(X[k]).square().sum().backward()
        for name, parameter in net.named_parameters():
            mine = getattr(stacked, name.replace(".", "_"))
            assert mine.shape == (3, *parameter.shape)
            torch.testing.assert_close(mine.grad[k], parameter.grad)


def test_it_takes_copies():
    nets = [build(seed) for seed in range(2)]
    stacked, before = Stacked(nets), [p.clone() for p in nets[0].parameters()]
    with torch.no_grad():
        for parameter in stacked.parameters():
            parameter.zero_()
    for now, then in zip(nets[0].parameters(), before, strict=True):
        assert torch.equal(now, then)
    assert not stacked(X[:2]).any()


def test_only_the_stacked_parameters_are_registered():
    names = [name for name, _ in Stacked([build(0), build(1)]).named_parameters()]
    assert names == ["0_weight", "0_bias", "2_weight", "2_bias"]


def test_the_mode_reaches_the_modules():
    net = Stacked([nn.Dropout(0.9), nn.Dropout(0.9)])
    ones = torch.ones(2, 50, 50)
    assert bool((net(ones) == 0).any())
    assert torch.equal(net.eval()(ones), ones)


def test_what_cannot_be_kept_apart_is_refused():
    with pytest.raises(ValueError, match="at least one module, got none"):
        Stacked([])
    with pytest.raises(ValueError, match="must have no buffers, got running_mean, running_var"):
        Stacked([nn.BatchNorm1d(3)])


def test_it_says_what_it_holds():
    assert "2 networks, Linear(in_features=3" in repr(Stacked([nn.Linear(3, 2)] * 2))
