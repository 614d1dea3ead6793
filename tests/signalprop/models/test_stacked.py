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


def test_bad_lists_are_refused():
    with pytest.raises(ValueError, match="at least one module, got none"):
        Stacked([])
    for other in (nn.Linear(4, 2), nn.Linear(3, 2, bias=False), nn.Bilinear(3, 3, 2)):
        with pytest.raises(ValueError, match="modules must have one structure"):
            Stacked([nn.Linear(3, 2), other])
    with pytest.raises(ValueError, match="modules must have one structure"):
        Stacked([nn.Dropout(0.1), nn.Dropout(0.2)])
    with pytest.raises(ValueError, match="how must be one of auto, together, in turn"):
        Stacked([nn.Linear(3, 2)], how="fast")
    with pytest.raises(ValueError, match=r"x must be \(1, n, ...\)"):
        Stacked([nn.Linear(3, 2)])(torch.ones(4, 3))


class Deciding(nn.Module):
    """What it does depends on the numbers that come in."""

    def __init__(self):
        super().__init__()
        self.norm, self.linear = nn.BatchNorm1d(3), nn.Linear(3, 2)

    def forward(self, x):
        h = self.linear(self.norm(x))
        return h if bool((x > 0).any()) else -h


MAKERS = {
    "batch norm": (lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU()), True),
    "convolution": (lambda: nn.Sequential(nn.Unflatten(1, (1, 3)), nn.Conv1d(1, 2, 2)), False),
    "deciding": (Deciding, False),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("how", ["auto", "in turn"])
def test_any_module_is_as_alone_with_its_running_averages(name, how):
    make, together = MAKERS[name]
    nets = [make().double() for _ in range(3)]
    stacked = Stacked(nets, how)
    for step in range(3):
        x = (step + 1) * X.double()
        alone = torch.stack([net(xk) for net, xk in zip(nets, x, strict=True)])
        torch.testing.assert_close(stacked(x), alone)
    assert stacked._together == (together and how == "auto")
    stacked.eval()
    for k, (net, copied) in enumerate(zip(nets, stacked.each(), strict=True)):
        for key, value in net.state_dict().items():
            torch.testing.assert_close(copied.state_dict()[key], value)
        torch.testing.assert_close(stacked(X.double())[k], net.eval()(X[k].double()))


def test_together_or_not_at_all_if_so_asked():
    with pytest.raises(RuntimeError, match="vmap"):
        Stacked([Deciding()], how="together")(X[:1])


def test_an_error_of_the_module_is_its_own():
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        Stacked([nn.Linear(7, 2)])(X[:1])


def test_frozen_parameters_stay_frozen():
    net = nn.Linear(3, 2)
    net.weight.requires_grad_(False)
    assert not Stacked([net]).weight.requires_grad


def test_it_says_what_it_holds():
    assert "2 networks, Linear(in_features=3" in repr(Stacked([nn.Linear(3, 2)] * 2))
