"""Laws for the layers of a module, the polar baseline, gains."""

import numpy as np
import pytest
import torch
from torch import nn

from signalprop import Stream
from signalprop.initializers import (
    gain_schedule,
    initialize_,
    orthogonal_,
)
from signalprop.models import MLP, conv_net


def test_initialize_fills_layers_from_the_law():
    net = conv_net([32, "relu", 32, "relu"], size=8)
    initialize_(net, "one_sided_uniform", seed=0, bias=True)
    kernel = net[2].weight.detach()
    high = 2 / np.sqrt(32 * 9)
    assert 0 <= float(kernel.min()) < 0.01 * high
    assert 0.99 * high < float(kernel.max()) <= high
    # RANK Fig. 7: the same variance 1/(3d) as the symmetric law.
    assert float(kernel.var()) == pytest.approx(1 / (3 * 32 * 9), rel=0.05)
    assert 0 < float(net[2].bias.detach().min()) < float(net[2].bias.detach().max()) <= high
    initialize_(net, "pytorch_default", seed=0)
    assert float(net[2].bias.detach().abs().max()) == 0
    assert float(net[2].weight.detach().var()) == pytest.approx(1 / (3 * 32 * 9), rel=0.05)


def test_initialize_is_keyed_by_layer():
    one, other = (nn.Sequential(nn.Linear(5, 5), nn.Linear(5, size)) for size in (2, 9))
    for net in (one, other):
        initialize_(net, "he", Stream(3))
    torch.testing.assert_close(one[0].weight, other[0].weight)
    assert not torch.equal(one[0].weight[:2], one[1].weight)
    with pytest.raises(ValueError, match="torch's own layers, got a signalprop Linear"):
        initialize_(MLP(3, 3, 1, 3), "he", 0)


def test_orthogonal_keeps_directions_and_mean_singular_value():
    net = MLP(9, 9, 2, 4, seeds=[0, 1], weights="xavier")
    old = net.hidden[1][0].weight.detach().clone()
    orthogonal_(net)
    new = net.hidden[1][0].weight.detach()
    sizes = torch.linalg.svdvals(new)
    torch.testing.assert_close(sizes, torch.linalg.svdvals(old).mean(-1, True).expand(2, 9))
    # The polar factor of W: W^T times it is symmetric and positive.
    polar = old.mT @ new
    torch.testing.assert_close(polar, polar.mT, rtol=1e-4, atol=1e-6)
    assert bool((torch.linalg.eigvalsh(polar) > 0).all())


def test_orthogonal_of_a_kernel():
    layer = nn.Conv2d(3, 8, 3)
    orthogonal_(layer)
    sizes = torch.linalg.svdvals(layer.weight.detach().flatten(1))
    torch.testing.assert_close(sizes, sizes.mean().expand(8))


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_weights_of_any_size_become_orthogonal(scale):
    layer = nn.Linear(3, 4)
    with torch.no_grad():
        layer.weight.mul_(scale)
    mean = torch.linalg.svdvals(layer.weight.detach() / scale).mean()
    orthogonal_(layer)
    sizes = torch.linalg.svdvals(layer.weight.detach() / scale)
    torch.testing.assert_close(sizes, mean.expand(3))


def test_weights_that_are_no_numbers_are_named():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    with torch.no_grad():
        net[1].weight[0, 0] = torch.nan
    with pytest.raises(ValueError, match="1 must be finite, got 1 NaN"):
        orthogonal_(net)


def test_gain_schedule():
    torch.testing.assert_close(gain_schedule(4, -0.4)[3], torch.tensor(4.0).double() ** -0.4)
    assert gain_schedule(0, -0.4).shape == (0,)
    with pytest.raises(ValueError, match="depth must be at least 0, got -1"):
        gain_schedule(-1, 1.0)
